"""Shares, their differences and tests, against published figures, scipy and simulations."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, binomtest, hypergeom
from statsmodels.stats.proportion import confint_proportions_2indep

from ngramscan.statistics.proportions import (
    Pairs,
    finite_share,
    independent_difference,
    mcnemar,
    mid_p_mcnemar,
    paired_difference,
    share_ratio,
    stratified_share,
    wilson,
)
from tests.support.sizes import holds, sets, slow

Cells = tuple[int, int, int, int]


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 7), (60, 200), (1000, 1000)])
def test_wilson_s_interval_is_scipy_s(k: int, n: int, level: float) -> None:
    share = wilson(k, n, level)
    theirs = binomtest(k, n).proportion_ci(level, method="wilson")
    assert share.limits == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert holds(share, share.value)


@pytest.mark.parametrize(
    ("cells", "difference", "low", "high"),
    [
        pytest.param(
            [14, 0, 5, 22],
            0.122,
            0.011,
            0.226,
            id="Altman et al. 2000, Statistics with Confidence, table 6.2",
        ),
        pytest.param(
            [1, 7, 1, 12],
            -0.286,
            -0.507,
            -0.026,
            id="Fagerland et al. 2014, Statistics in Medicine 33, 2850-2875",
        ),
        pytest.param(
            [36, 12, 2, 0],
            -0.2,
            -0.3404,
            -0.0569,
            id="Newcombe 1998, Statistics in Medicine 17, 2635-2650, table II, method 10",
        ),
        pytest.param(
            [20, 12, 2, 16], -0.2, -0.3292, -0.0562, id="Newcombe 1998, another of table II"
        ),
        pytest.param(
            [0, 54, 0, 0],
            -1.0,
            -1.0,
            -0.90608,
            id="in closed form, from Wilson's lower limit of 54 of 54: 1 - sqrt(2) z² / (54 + z²)",
        ),
    ],
)
def test_newcombe_s_interval_is_the_published_one(
    cells: Cells, difference: float, low: float, high: float
) -> None:
    found = paired_difference(Pairs(*cells))
    assert (found.value, *found.limits) == pytest.approx((difference, low, high), abs=6e-4)
    both, first, second, neither = cells
    low, high = paired_difference(Pairs(both, second, first, neither)).limits
    assert found.limits == pytest.approx((-high, -low))


def test_mcnemar_s_test_is_the_binomial_one_or_its_mid_p() -> None:
    pairs = ((0, 5), (3, 9), (7, 7), (60, 41))
    exact = [binomtest(first, first + second).pvalue for first, second in pairs]
    seen = [
        binom.pmf(first, first + second, 0.5) / (1 + (first == second)) for first, second in pairs
    ]
    assert [mcnemar(*pair) for pair in pairs] == pytest.approx(exact)
    assert [mid_p_mcnemar(*pair) for pair in pairs] == pytest.approx(np.subtract(exact, seen))
    assert (mcnemar(0, 0), mid_p_mcnemar(0, 0)) == (1, 1)


@pytest.mark.parametrize(
    ("sample", "other"), [((12, 40), (5, 50)), ((30, 31), (3, 9))], ids=["a few of many", "most"]
)
def test_ratios_of_shares_combine_their_wilson_intervals_on_the_log_scale(
    sample: tuple[int, int], other: tuple[int, int]
) -> None:
    found = share_ratio(sample, other, 0.9, (sample[1], other[1]), 0.0)
    (low, high), (low_other, high_other) = (
        binomtest(*counts).proportion_ci(0.9, method="wilson") for counts in (sample, other)
    )
    p, q = sample[0] / sample[1], other[0] / other[1]
    below = np.hypot(np.log(p / low), np.log(high_other / q))
    above = np.hypot(np.log(high / p), np.log(q / low_other))
    expected = p / q, p / q * np.exp(-below), p / q * np.exp(above)
    assert (found.value, *found.limits) == pytest.approx(expected)


def test_ratios_with_a_share_of_zero_have_the_intervals_of_other_software() -> None:
    pairs = ((0, 4), (4, 0), (0, 0))
    limits = [share_ratio((k, 20), (other, 30), 0.9, (20, 30), 0.5).limits for k, other in pairs]
    theirs = [
        confint_proportions_2indep(
            k, 20, other, 30, compare="ratio", method="log-adjusted", alpha=0.1
        )
        for k, other in pairs
    ]
    assert np.array(limits) == pytest.approx(np.array(theirs))


@pytest.mark.parametrize(("k", "n"), [(1, 0), (-1, 2), (3, 2)])
def test_what_is_no_share_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        wilson(k, n)


@pytest.mark.parametrize(("k", "n", "population"), [(1, 0, 5), (3, 2, 5), (-1, 2, 5), (2, 6, 5)])
def test_what_is_no_share_of_a_population_is_refused(k: int, n: int, population: int) -> None:
    with pytest.raises(ValueError, match="0 <= k <= n <= population"):
        finite_share(k, n, population)


def test_what_is_no_pair_of_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="0 <= k <= n"):
        paired_difference(Pairs(0, 0, 0, 0))
    with pytest.raises(ValueError, match="cannot be negative"):
        mid_p_mcnemar(-1, 3)
    with pytest.raises(ValueError, match="samples"):
        share_ratio((0, 0), (1, 2), 0.95, (0, 2), 0.0)


@pytest.mark.parametrize(
    ("population", "part"),
    [(100, 0.3), (300, 0.5), slow(300, 0.9), slow(1319, 0.2), slow(1319, 0.76), slow(3000, 0.1)],
)
def test_the_interval_of_a_finite_population_covers_its_share(population: int, part: float) -> None:
    """Without chance: every sample, weighted with its probability."""
    n, marked = round(population * part), np.arange(1, population)
    covers = np.zeros(marked.size)
    for k in range(n + 1):
        low, high = (
            round(limit * population, 6) for limit in finite_share(k, n, population).limits
        )
        is_covered = (low <= marked) & (marked <= high)
        covers[is_covered] += hypergeom.pmf(k, population, marked[is_covered], n)
    assert 0.945 < covers.mean() < 0.965
    assert covers.min() > 0.91


def test_shares_of_strata_are_weighted_by_size_as_by_hand() -> None:
    found = stratified_share([(2, 4, 100), (3, 3, 3), (0, 5, 25)])
    assert found.value == pytest.approx((50 + 3 + 0) / 128)
    share, variance = found.value, 0.0
    for k, n, size in ((2, 4, 100), (0, 5, 25)):  # all of the other one were drawn
        expected = (k + share) / (n + 1)
        spread = expected * (1 - expected) * (n + 1) ** 2 / (n * n + n + 1)
        variance += (size / 128) ** 2 * (1 - n / size) / n * spread
    draws = share * (1 - share) / variance
    assert draws < 1 / ((100 / 128) ** 2 * 0.96 / 4 + (25 / 128) ** 2 * 0.8 / 5)
    assert found.limits == pytest.approx(wilson(share * draws, draws).limits)
    everything = stratified_share([(2, 4, 4), (3, 3, 3)])
    assert (everything.value, everything.limits) == (5 / 7, (5 / 7, 5 / 7))
    none = stratified_share([(0, 20, 10_000), (0, 20, 10_000)])
    assert none.limits == pytest.approx(wilson(0, 40).limits, abs=2e-4)


@pytest.mark.parametrize("strata", [[], [(1, 0, 5)], [(3, 2, 5)], [(1, 6, 5)]], ids=str)
def test_what_is_no_share_of_strata_is_refused(strata: list[tuple[int, int, int]]) -> None:
    with pytest.raises(ValueError, match="strata with 0 <= k <= n <= size"):
        stratified_share(strata)


# Sizes are as unequal as those of failures: cells of good models have few. In the second, the
# shares are far from one share in all.
@pytest.mark.parametrize(
    ("sizes", "n", "marked", "most"),
    [
        ([60, 150, 90], 20, [15, 40, 22], 0.96),
        ([60, 150, 90], 20, [30, 30, 70], 0.995),
        ([60, 150, 25], 20, [3, 9, 2], 0.98),
        ([40, 9, 12, 80], 5, [10, 4, 3, 20], 0.98),
        ([40, 9, 12, 80], 5, [2, 1, 1, 4], 0.98),
        ([5, 30, 12, 40, 25, 9, 14], 2, [1, 10, 3, 8, 15, 2, 7], 0.98),
        ([5, 30, 12, 40, 25, 9, 14], 2, [0, 2, 1, 1, 2, 0, 1], 0.98),
        ([10, 20, 30, 40, 10, 20, 30, 40], 1, [5, 4, 20, 11, 2, 15, 3, 20], 0.98),
    ],
    ids=str,
)
def test_the_interval_over_strata_covers_the_share(
    sizes: tuple[int, ...], n: int, marked: tuple[int, ...], most: float
) -> None:
    """Without chance: every sample, weighted with its probability."""
    truth = sum(marked) / sum(sizes)
    chances = [
        np.asarray(hypergeom.pmf(np.arange(n + 1), size, k, n))
        for size, k in zip(sizes, marked, strict=True)
    ]
    mean = covered = 0.0
    for drawn in itertools.product(range(n + 1), repeat=len(sizes)):
        if chance := math.prod(of[k] for of, k in zip(chances, drawn, strict=True)):
            found = stratified_share([(k, n, size) for k, size in zip(drawn, sizes, strict=True)])
            mean += chance * found.value
            covered += chance * holds(found, truth)
    assert mean == pytest.approx(truth)
    assert 0.94 < covered < most


CELLS = {
    # both right, only the baseline, only the treatment, neither
    "equal, a tenth differ": (0.85, 0.05, 0.05, 0.05),
    "equal, seven tenths differ": (0.15, 0.35, 0.35, 0.15),
    "55% against 67%": (0.48, 0.07, 0.19, 0.26),
    "85% against 95%": (0.83, 0.02, 0.12, 0.03),
}


@pytest.mark.parametrize("name", CELLS)
def test_paired_differences_are_covered_and_tested_at_their_level(name: str) -> None:
    """The mid-p test errs as it says and rarely contradicts Newcombe's interval."""
    runs, (_, worse, better, _) = sets(1500), CELLS[name]
    drawn = np.random.default_rng(13).multinomial(60, CELLS[name], size=runs)
    rates: Counter[str] = Counter()
    for cells, count in zip(*np.unique(drawn, axis=0, return_counts=True), strict=True):
        pairs = Pairs(*cells.tolist())
        interval, p = paired_difference(pairs), mid_p_mcnemar(*cells[1:3].tolist())
        found = {
            "covers": holds(interval, better - worse),
            "errs": p <= 0.05,
            "contradicts": holds(interval, 0) == (p <= 0.05),
        }
        rates.update({name: int(count) for name, is_so in found.items() if is_so})
    chance = 3 * math.sqrt(0.05 * 0.95 / runs)
    assert 0.945 - chance <= rates["covers"] / runs <= 0.97 + chance
    assert rates["contradicts"] / runs <= 0.03
    assert worse != better or rates["errs"] / runs <= 0.05 + chance


@pytest.mark.parametrize(
    ("share", "other"),
    [
        (0.5, 0.1),
        (0.3, 0.3),
        (0.9, 0.04),
    ],
)
def test_the_interval_covers_the_ratio_of_shares(share: float, other: float) -> None:
    drawn = np.random.default_rng(2).binomial((150, 200), (share, other), (sets(800), 2)).tolist()
    found = [share_ratio((k, 150), (k_other, 200), 0.95, (150, 200), 0.0) for k, k_other in drawn]
    chance = 3 * math.sqrt(0.95 * 0.05 / len(found))
    assert (
        0.945 - chance <= np.mean([holds(ratio, share / other) for ratio in found]) <= 0.97 + chance
    )


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        pytest.param(81, 263, 0.2553, 0.3662, id="81 of 263"),
        pytest.param(15, 148, 0.0624, 0.1605, id="15 of 148"),
        pytest.param(0, 20, 0.0, 0.1611, id="0 of 20"),
        pytest.param(1, 29, 0.0061, 0.1718, id="1 of 29"),
    ],
)
def test_wilson_s_interval_is_the_published_one(k: int, n: int, low: float, high: float) -> None:
    """Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3."""
    assert wilson(k, n).limits == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("n", [20, 100])
def test_wilson_s_interval_covers_the_share(n: int) -> None:
    """Without chance: every count, weighted with its probability."""
    limits = np.array([wilson(k, n).limits for k in range(n + 1)])
    shares = np.linspace(0.02, 0.98, 97)
    covers = [
        binom.pmf(range(n + 1), n, share) @ ((limits[:, 0] <= share) & (share <= limits[:, 1]))
        for share in shares
    ]
    assert 0.945 < np.mean(covers) < 0.96
    assert min(covers) > 0.88


def least_and_most(k: int, n: int, population: int) -> tuple[float, float]:
    """Return the shares that neither one-sided mid-p value rejects, of all that are possible."""
    kept = []
    for marked in range(k, population - n + k + 1):
        ways = [math.comb(marked, x) * math.comb(population - marked, n - x) for x in range(n + 1)]
        below, above = (2 * sum(tail) + ways[k] for tail in (ways[:k], ways[k + 1 :]))
        if min(below, above) > Fraction(5, 100) * math.comb(population, n):
            kept.append(marked / population)
    return min(kept), max(kept)


@pytest.mark.parametrize(
    ("n", "population"), [(1, 1), (1, 2), (2, 7), (6, 7), (6, 20), (20, 20), (13, 41), (40, 41)]
)
def test_a_share_of_a_finite_population_has_enumerated_limits(n: int, population: int) -> None:
    for k in range(n + 1):
        found, (low, high) = finite_share(k, n, population), least_and_most(k, n, population)
        assert found.value == k / n
        assert found.limits == (min(low, k / n), max(high, k / n))
        assert n < population or found.limits == (k / n, k / n)


@pytest.mark.parametrize(
    ("sample", "other", "limits"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((0, 10), (0, 10), (-0.2775, 0.2775)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
    ids=str,
)
def test_a_difference_of_independent_shares_has_the_published_interval(
    sample: tuple[int, int], other: tuple[int, int], limits: tuple[float, float]
) -> None:
    """Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10."""
    found = independent_difference(wilson(*other), wilson(*sample))
    assert found.value == pytest.approx(sample[0] / sample[1] - other[0] / other[1])
    assert found.limits == pytest.approx(limits, abs=6e-5)
    theirs = confint_proportions_2indep(*sample, *other, method="newcomb")
    assert found.limits == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("cells", [(9, 0, 0, 0), (0, 0, 0, 9), (4, 0, 0, 5)], ids=str)
def test_pairs_that_are_all_alike_do_not_differ(cells: Cells) -> None:
    found = paired_difference(Pairs(*cells))
    assert found.value == 0
    assert holds(found, 0)


def test_the_published_example_of_the_mid_p_value() -> None:
    """Fagerland, Lydersen & Laake 2013, table 1: 1 child against 7 changed."""
    assert mid_p_mcnemar(1, 7) == mid_p_mcnemar(7, 1) == 0.0390625
    assert mcnemar(1, 7) == 0.0703125
