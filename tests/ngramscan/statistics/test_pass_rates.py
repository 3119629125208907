"""pass@k and pass^k: all subsets one by one, the commands, and simulations."""

from itertools import combinations

import numpy as np
import pytest

from benchmarks.levels_clusters import cover_pass_rate
from ngramscan.statistics.pass_rates import PassRate
from tests.support.sizes import sets, slow


@pytest.mark.parametrize("n", range(1, 8))
def test_a_rate_is_the_share_of_sets_of_answers_that_pass(n: int) -> None:
    for n_right in range(n + 1):
        answers = [True] * n_right + [False] * (n - n_right)
        for k in range(1, n + 1):
            drawn = [*combinations(answers, k)]
            any_right, all_right = np.mean([*map(any, drawn)]), np.mean([*map(all, drawn)])
            assert PassRate(k).estimate(n, n_right) == pytest.approx(any_right)
            assert PassRate(k, all_right=True).estimate(n, n_right) == pytest.approx(all_right)


def test_a_rate_is_the_product_of_the_published_code() -> None:
    """As Chen et al. 2021 compute it, for sizes at which binomials overflow floats."""
    n, n_right, k = 2000, 13, 100
    expected = 1 - float(np.prod(1 - k / np.arange(n - n_right + 1, n + 1)))
    assert PassRate(k).estimate(n, n_right) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("n", "n_right"), [(4, 2), (5, 6), (5, -1)])
def test_no_rate_without_enough_answers(n: int, n_right: int) -> None:
    with pytest.raises(ValueError, match="pass@5 from"):
        PassRate(5).estimate(n, n_right)


@pytest.mark.parametrize(
    ("rate", "chances"),
    [
        pytest.param(PassRate(5), "beta(.3, 1.2)", id="pass@5"),
        pytest.param(PassRate(5, all_right=True), "beta(.5, .5)", id="pass^5"),
        *(
            slow(rate, chances)
            for rate in (PassRate(5), PassRate(2, all_right=True))
            for chances in ("all .3", "half 0, half .5", "a tenth .9, others .02")
        ),
    ],
)
def test_intervals_cover_rates(rate: PassRate, chances: str) -> None:
    found = cover_pass_rate(np.random.default_rng(3), sets(120), 60, 10, rate, chances)
    assert 0.93 - 2.5 * found.error <= found.value <= 1
