"""Shares, their differences and tests, against published figures, scipy and simulations."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, hypergeom
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.p_values import holm
from ngramscan.statistics.proportions import (
    Pairs,
    finite_share,
    independent_difference,
    mcnemar,
    mid_p_mcnemar,
    paired_difference,
    share_ratio,
    wilson,
)
from tests.support.sizes import sets

Cells = tuple[int, int, int, int]


def holds(found: Estimate, truth: float) -> bool:
    low, high = found.limits
    return low <= truth <= high


def check_coverage(hits: list[bool], above: float = 0.01) -> None:
    """Check 95% coverage up to chance, and up to what the interval may cover too much."""
    chance = 3 * math.sqrt(0.95 * 0.05 / len(hits))
    assert 0.945 - chance <= np.mean(hits) <= 0.95 + above + chance


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
    assert wilson(k, n).limits == pytest.approx((low, high), abs=5e-5)


def test_wilson_s_interval_is_scipy_s() -> None:
    for k, n in [(0, 1), (1, 1), (3, 7), (60, 200), (1000, 1000)]:
        for level in (0.8, 0.95, 0.99):
            share = wilson(k, n, level)
            theirs = binomtest(k, n).proportion_ci(level, method="wilson")
            assert share.limits == pytest.approx((theirs.low, theirs.high), abs=1e-12)
            assert holds(share, share.value)


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
    cells: Cells, difference: float, low: float, high: float
) -> None:
    found = paired_difference(Pairs(*cells))
    assert (found.value, *found.limits) == pytest.approx((difference, low, high), abs=6e-4)
    both, first, second, neither = cells
    low, high = paired_difference(Pairs(both, second, first, neither)).limits
    assert found.limits == pytest.approx((-high, -low))


def test_pairs_that_are_all_alike_do_not_differ() -> None:
    for cells in ((9, 0, 0, 0), (0, 0, 0, 9), (4, 0, 0, 5)):
        found = paired_difference(Pairs(*cells))
        assert found.value == 0
        assert holds(found, 0)


@pytest.mark.parametrize(
    ("n", "first", "both"), [(40, 0.3, 0.2), (200, 0.6, 0.45), (200, 0.1, 0.05)]
)
def test_newcombe_s_interval_covers_the_difference(n: int, first: float, both: float) -> None:
    second = 0.5
    cells = [both, first - both, second - both, 1 - first - second + both]
    draws = np.random.default_rng(1).multinomial(n, cells, sets(1000)).tolist()
    check_coverage([holds(paired_difference(Pairs(*one)), second - first) for one in draws])


def mid_p(better: int, worse: int) -> Fraction:
    """Return the share of sign assignments further from equal, with half of those as far."""
    n, distance = better + worse, abs(better - worse)
    ways = {k: comb(n, k) for k in range(n + 1)}
    further = sum(way for k, way in ways.items() if abs(2 * k - n) > distance)
    as_far = sum(way for k, way in ways.items() if abs(2 * k - n) == distance)
    return Fraction(2 * further + as_far, 2 ** (n + 1))


@given(better=st.integers(0, 400), worse=st.integers(0, 400))
@example(better=700, worse=801)
@example(better=1500, worse=0)
@settings(max_examples=25)
def test_p_values_of_pairs_are_scipy_s_and_those_of_all_tables(better: int, worse: int) -> None:
    exact = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert mcnemar(worse, better) == mcnemar(better, worse) == pytest.approx(exact, rel=1e-9)
    expected = float(mid_p(better, worse)) if better + worse else 1.0
    assert mid_p_mcnemar(worse, better) == pytest.approx(expected, rel=1e-10)


def test_the_published_example_of_the_mid_p_value() -> None:
    # Fagerland, Lydersen & Laake 2013, table 1: 1 child against 7 changed.
    assert mid_p_mcnemar(1, 7) == mid_p_mcnemar(7, 1) == 0.0390625
    assert mcnemar(1, 7) == 0.0703125


CELLS = {
    # both right, only the baseline, only the treatment, neither
    "equal, a tenth differ": (0.85, 0.05, 0.05, 0.05),
    "equal, a third differ": (0.35, 0.15, 0.15, 0.35),
    "equal, seven tenths differ": (0.15, 0.35, 0.35, 0.15),
    "55% against 67%": (0.48, 0.07, 0.19, 0.26),
    "85% against 95%": (0.83, 0.02, 0.12, 0.03),
    "30% against 40%": (0.10, 0.20, 0.30, 0.40),
}


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("name", CELLS)
def test_the_mid_p_test_errs_as_it_says_and_rarely_contradicts_the_interval(
    name: str, n: int
) -> None:
    runs = sets(3000)
    drawn = np.random.default_rng(13).multinomial(n, CELLS[name], size=runs)
    rates = dict.fromkeys(("mid", "exact", "mid disagrees", "exact disagrees"), 0.0)
    for (both, worse, better, neither), count in zip(
        *(part.tolist() for part in np.unique(drawn, axis=0, return_counts=True)), strict=True
    ):
        excludes = not holds(paired_difference(Pairs(both, worse, better, neither)), 0)
        for test, p in (("mid", mid_p_mcnemar(worse, better)), ("exact", mcnemar(worse, better))):
            rates[test] += (p <= 0.05) * count / runs
            rates[f"{test} disagrees"] += (excludes != (p <= 0.05)) * count / runs
    if name.startswith("equal"):
        assert rates["exact"] <= rates["mid"] <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    else:
        assert rates["mid disagrees"] <= 0.03
        assert rates["exact disagrees"] > rates["mid disagrees"] + 0.015


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.5, 1.0]), min_size=1, max_size=30))
@settings(max_examples=10)
def test_holm_is_statsmodels_s(p_values: list[float]) -> None:
    theirs = multipletests(p_values, method="holm")[1]
    *found, not_made = holm([*p_values, None])
    assert found == pytest.approx(list(theirs), abs=1e-10)
    assert (not_made, holm([])) == (None, [])


def test_what_is_no_share_no_pair_or_no_p_value_is_refused() -> None:
    for k, n in ((1, 0), (-1, 2), (3, 2)):
        with pytest.raises(ValueError, match="0 <= k <= n"):
            wilson(k, n)
    with pytest.raises(ValueError, match="0 <= k <= n"):
        paired_difference(Pairs(0, 0, 0, 0))
    with pytest.raises(ValueError, match="cannot be negative"):
        mid_p_mcnemar(-1, 3)
    with pytest.raises(ValueError, match="samples"):
        share_ratio((0, 0), (1, 2))
    for wrong in (float("nan"), -0.1, 1.1):
        with pytest.raises(ValueError, match="outside 0 to 1"):
            holm([0.2, wrong, 0.1])


@pytest.mark.parametrize(("share", "other"), [(0.5, 0.1), (0.3, 0.3), (0.9, 0.04)])
def test_the_interval_covers_the_ratio(share: float, other: float) -> None:
    drawn = np.random.default_rng(2).binomial((150, 200), (share, other), (sets(1000), 2)).tolist()
    found = [share_ratio((k, 150), (k_other, 200)) for k, k_other in drawn]
    check_coverage([holds(one, share / other) for one in found], above=0.02)


def test_a_share_of_zero_has_a_ratio_and_says_so() -> None:
    found = share_ratio((69, 100), (0, 200))
    assert found.value == pytest.approx(69.5 / 100.5 / (0.5 / 200.5))
    assert "a half" in found.note
    low, high = found.limits
    assert 10 < low < found.value < high
    assert share_ratio((1, 2), (1, 4)).value == 2


@pytest.mark.parametrize("sizes", [None, (61.5, 110.25), (12.0, 9.5)])
def test_the_interval_of_a_ratio_is_made_of_wilson_s(sizes: tuple[float, float] | None) -> None:
    found = share_ratio((60, 90), (30, 120), 0.9, sizes)
    (low, high), (low_other, high_other) = (
        proportion_confint(share * n, n, alpha=0.1, method="wilson")
        for share, n in zip((2 / 3, 1 / 4), sizes or (90, 120), strict=True)
    )
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
    found, smaller = share_ratio(*counts), share_ratio(*counts, sizes=(n / 2, n_other / 2))
    expected = confint_proportions_2indep(
        k, n, k_other, n_other, compare="ratio", method="log-adjusted", correction=False
    )
    assert found.limits == pytest.approx(expected)
    halved = confint_proportions_2indep(
        k / 2, n / 2, k_other / 2, n_other / 2, compare="ratio", method="log-adjusted"
    )
    assert smaller.value == found.value
    low, high = smaller.limits
    assert high / low == pytest.approx(halved[1] / halved[0])


def least_and_most(k: int, n: int, population: int) -> tuple[float, float]:
    """Return the shares that neither one-sided mid-p value rejects, of all that are possible."""
    kept = []
    for marked in range(k, population - n + k + 1):
        ways = [comb(marked, x) * comb(population - marked, n - x) for x in range(n + 1)]
        below, above = (2 * sum(tail) + ways[k] for tail in (ways[:k], ways[k + 1 :]))
        if min(below, above) > Fraction(5, 100) * comb(population, n):
            kept.append(marked / population)
    return min(kept), max(kept)


def test_a_share_of_a_finite_population_has_the_limits_that_enumeration_gives() -> None:
    for population in (1, 2, 7, 20, 41):
        for n in {1, population // 3, population - 1, population} - {0}:
            for k in range(n + 1):
                found, (low, high) = (
                    finite_share(k, n, population),
                    least_and_most(k, n, population),
                )
                assert found.value == k / n
                assert found.limits == (min(low, k / n), max(high, k / n))
                assert n < population or found.limits == (k / n, k / n)


@pytest.mark.parametrize("numbers", [(1, 0, 5), (3, 2, 5), (-1, 2, 5), (2, 6, 5)])
def test_an_impossible_sample_of_a_population_is_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="0 <= k <= n <= population"):
        finite_share(*numbers)


@pytest.mark.parametrize(
    ("population", "part"),
    [
        (100, 0.3),
        (300, 0.5),
        pytest.param(300, 0.9, marks=pytest.mark.slow),
        pytest.param(1319, 0.2, marks=pytest.mark.slow),
        pytest.param(1319, 0.76, marks=pytest.mark.slow),
        pytest.param(3000, 0.1, marks=pytest.mark.slow),
    ],
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


NEWCOMBE = [
    # Newcombe 1998, Statistics in Medicine 17, 873-890, table II, method 10.
    ((56, 70), (48, 80), (0.0524, 0.3339)),
    ((9, 10), (3, 10), (0.1705, 0.8090)),
    ((6, 7), (2, 7), (0.0582, 0.8062)),
    ((5, 56), (0, 29), (-0.0381, 0.1926)),
    ((0, 10), (0, 20), (-0.1611, 0.2775)),
    ((0, 10), (0, 10), (-0.2775, 0.2775)),
    ((10, 10), (0, 20), (0.6791, 1.0)),
    ((10, 10), (0, 10), (0.6075, 1.0)),
]


@pytest.mark.parametrize(("one", "other", "limits"), NEWCOMBE)
def test_a_difference_of_independent_shares_has_the_published_interval(
    one: tuple[int, int], other: tuple[int, int], limits: tuple[float, float]
) -> None:
    found = independent_difference(wilson(*other), wilson(*one))
    assert found.value == pytest.approx(one[0] / one[1] - other[0] / other[1])
    assert found.limits == pytest.approx(limits, abs=6e-5)
    theirs = confint_proportions_2indep(*one, *other, method="newcomb")
    assert found.limits == pytest.approx(theirs, abs=1e-9)
