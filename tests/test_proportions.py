"""Shares and their differences, against published figures, scipy and simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from ngramscan.statistics.proportions import (
    Pairs,
    effective_size,
    mcnemar,
    paired_difference,
    share_ratio,
    wilson,
)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3.
        pytest.param(81, 263, 0.2553, 0.3662, id="81 of 263"),
        pytest.param(15, 148, 0.0624, 0.1605, id="15 of 148"),
        pytest.param(0, 20, 0.0, 0.1611, id="0 of 20"),
        pytest.param(1, 29, 0.0061, 0.1718, id="1 of 29"),
    ],
)
def test_wilson_s_interval_is_the_published_one(k: int, n: int, low: float, high: float) -> None:
    share = wilson(k, n)
    assert (share.low, share.high) == pytest.approx((low, high), abs=5e-5)


def test_wilson_s_interval_is_scipy_s() -> None:
    for k, n in [(0, 1), (1, 1), (3, 7), (60, 200), (1000, 1000)]:
        for level in (0.8, 0.95, 0.99):
            share = wilson(k, n, level)
            theirs = binomtest(k, n).proportion_ci(level, method="wilson")
            assert (share.low, share.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
            assert share.low is not None
            assert share.high is not None
            assert share.low <= share.value <= share.high


@pytest.mark.parametrize(("k", "n"), [(1, 0), (-1, 2), (3, 2)])
def test_no_share_of_nothing(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        wilson(k, n)


@pytest.mark.parametrize(
    ("cells", "difference", "low", "high"),
    [
        # Altman et al. 2000, Statistics with Confidence, table 6.2.
        pytest.param((14, 0, 5, 22), 0.122, 0.011, 0.226, id="14, 5, 0, 22"),
        # Fagerland et al. 2014, Statistics in Medicine 33, 2850-2875.
        pytest.param((1, 7, 1, 12), -0.286, -0.507, -0.026, id="1, 1, 7, 12"),
        # Newcombe 1998, Statistics in Medicine 17, 2635-2650, table II, method 10.
        pytest.param((36, 12, 2, 0), -0.2, -0.3404, -0.0569, id="36, 12, 2, 0"),
        pytest.param((20, 12, 2, 16), -0.2, -0.3292, -0.0562, id="20, 12, 2, 16"),
        # In closed form, from Wilson's lower limit of 54 of 54: 1 - sqrt(2) z² / (54 + z²).
        pytest.param((0, 54, 0, 0), -1.0, -1.0, -0.90608, id="0, 54, 0, 0"),
    ],
)
def test_newcombe_s_interval_is_the_published_one(
    cells: tuple[int, int, int, int], difference: float, low: float, high: float
) -> None:
    found = paired_difference(Pairs(*cells))
    assert (found.value, found.low, found.high) == pytest.approx((difference, low, high), abs=6e-4)


def test_the_difference_turns_its_sign_with_the_order() -> None:
    one, other = paired_difference(Pairs(5, 9, 2, 30)), paired_difference(Pairs(5, 2, 9, 30))
    assert other.low is not None
    assert other.high is not None
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_pairs_that_are_all_alike_do_not_differ() -> None:
    for cells in ((9, 0, 0, 0), (0, 0, 0, 9), (4, 0, 0, 5)):
        found = paired_difference(Pairs(*cells))
        assert found.value == 0
        assert found.low is not None
        assert found.high is not None
        assert found.low <= 0 <= found.high
    with pytest.raises(ValueError, match="expected"):
        paired_difference(Pairs(0, 0, 0, 0))


def test_mcnemar_s_p_is_the_binomial_test_s() -> None:
    for b, c in [(0, 1), (5, 0), (3, 11), (40, 60), (7, 7), (700, 801)]:
        assert mcnemar(b, c) == pytest.approx(float(binomtest(b, b + c).pvalue), rel=1e-9)
        assert mcnemar(b, c) == mcnemar(c, b)
    assert mcnemar(0, 0) == 1


@pytest.mark.parametrize(
    ("n", "first", "both"), [(40, 0.3, 0.2), (200, 0.6, 0.45), (200, 0.1, 0.05)]
)
def test_newcombe_s_interval_covers_the_difference(n: int, first: float, both: float) -> None:
    second = 0.5
    cells = [both, first - both, second - both, 1 - first - second + both]
    draws = np.random.default_rng(1).multinomial(n, cells, 2000)
    hits = []
    for cell in draws.tolist():
        found = paired_difference(Pairs(*cell))
        assert found.low is not None
        assert found.high is not None
        hits.append(found.low <= second - first <= found.high)
    assert 0.93 <= np.mean(hits) <= 0.97


@pytest.mark.parametrize(("share", "other"), [(0.5, 0.1), (0.3, 0.3), (0.9, 0.04)])
def test_the_interval_covers_the_ratio(share: float, other: float) -> None:
    random = np.random.default_rng(2)
    n, n_other = 150, 200
    hits = []
    for _ in range(2000):
        found = share_ratio(
            (int(random.binomial(n, share)), n), (int(random.binomial(n_other, other)), n_other)
        )
        assert found.low is not None
        assert found.high is not None
        hits.append(found.low <= share / other <= found.high)
    assert 0.93 <= np.mean(hits) <= 0.98


def test_a_share_of_zero_has_a_ratio_and_says_so() -> None:
    found = share_ratio((69, 100), (0, 200))
    assert found.value == pytest.approx(69.5 / 100.5 / (0.5 / 200.5))
    assert "a half" in found.note
    assert found.low is not None
    assert found.high is not None
    assert 10 < found.low < found.value < found.high
    assert share_ratio((1, 2), (1, 4)).value == 2
    with pytest.raises(ValueError, match="samples"):
        share_ratio((0, 0), (1, 2))


@pytest.mark.parametrize("sizes", [None, (61.5, 110.25), (12.0, 9.5)])
def test_the_interval_of_a_ratio_is_made_of_wilson_s(sizes: tuple[float, float] | None) -> None:
    found = share_ratio((60, 90), (30, 120), 0.9, sizes)
    limits = [
        proportion_confint(share * n, n, alpha=0.1, method="wilson")
        for share, n in zip((2 / 3, 1 / 4), sizes or (90, 120), strict=True)
    ]
    (low, high), (low_other, high_other) = limits
    down, up = math.log(2 / 3 / low), math.log(high / (2 / 3))
    down_other, up_other = math.log(1 / 4 / low_other), math.log(high_other / (1 / 4))
    assert found.value == pytest.approx(8 / 3)
    assert found.low == pytest.approx(8 / 3 / math.exp(math.hypot(down, up_other)))
    assert found.high == pytest.approx(8 / 3 * math.exp(math.hypot(up, down_other)))


@pytest.mark.parametrize("counts", [((5, 40), (0, 60)), ((0, 40), (9, 60))])
def test_the_interval_of_a_ratio_with_a_zero_has_halves(
    counts: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    (k, n), (k_other, n_other) = counts
    found = share_ratio(*counts)
    expected = confint_proportions_2indep(
        k, n, k_other, n_other, compare="ratio", method="log-adjusted", correction=False
    )
    assert (found.low, found.high) == pytest.approx(expected)
    smaller = share_ratio(*counts, sizes=(n / 2, n_other / 2))
    halved = confint_proportions_2indep(
        k / 2, n / 2, k_other / 2, n_other / 2, compare="ratio", method="log-adjusted"
    )
    assert smaller.value == found.value
    assert smaller.low is not None
    assert smaller.high is not None
    assert smaller.high / smaller.low == pytest.approx(halved[1] / halved[0])


def test_few_clusters_are_worth_less_by_the_quantiles_of_t() -> None:
    marked, problems = [1, 1, 0, 1, 0, 0, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4]
    # Sums of residuals are 1, 0, -1, 0; the variance 4/3 × 2, over that of independent ones, 8/4.
    worth = 8 / (4 / 3)
    assert effective_size(marked, problems) == pytest.approx(worth)
    expected = worth * (norm.ppf(0.975) / t.ppf(0.975, 3)) ** 2
    assert effective_size(marked, problems, 0.95) == pytest.approx(expected)
    assert effective_size(marked, [1] * 8, 0.95) == 1


def test_outputs_to_one_problem_count_as_many_as_they_are_worth() -> None:
    alike = np.repeat([True, False, True, True, False] * 20, 4)
    problems = np.repeat(np.arange(100), 4)
    assert effective_size(alike, problems) == pytest.approx(100, rel=0.02)
    assert effective_size(alike, np.arange(400)) == pytest.approx(400, rel=0.01)
    assert effective_size([True] * 8, [1, 1, 2, 2, 3, 3, 4, 4]) == 8
    assert effective_size([True, False], [1, 1]) == 2


def test_the_interval_of_alike_outputs_covers_the_share() -> None:
    random = np.random.default_rng(3)
    hits = []
    problems = np.repeat(np.arange(200), 5)
    for _ in range(1000):
        chances = random.beta(1, 2, 200)
        marked = random.random(1000) < np.repeat(chances, 5)
        n = effective_size(marked, problems)
        share = wilson(float(marked.mean()) * n, n)
        assert share.low is not None
        assert share.high is not None
        hits.append(share.low <= 1 / 3 <= share.high)
    assert 0.93 <= np.mean(hits) <= 0.97
    assert not math.isnan(n)
