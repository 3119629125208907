"""Means of two independent samples, against enumeration, scipy and simulations."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, fisher_exact, ttest_ind

from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.power import ALPHA
from ngramscan.statistics.proportions import independent_difference, wilson
from ngramscan.statistics.two_samples import (
    compare_samples,
    detectable_shares,
    estimate_accuracy,
    estimate_mean,
)
from tests.support.sizes import sets

Floats = NDArray[np.float64]


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def right(k: int, n: int) -> list[float]:
    return [1.0] * k + [0.0] * (n - k)


def fisher(k: int, n: int, k_other: int, n_other: int) -> float:
    """Return the share of all tables with these margins that are as improbable."""
    total = k + k_other
    ways = {
        x: comb(n, x) * comb(n_other, total - x)
        for x in range(max(0, total - n_other), min(n, total) + 1)
    }
    rare = sum(way for way in ways.values() if way <= ways[k])
    return float(Fraction(rare, comb(n + n_other, total)))


def test_right_and_wrong_answers_are_compared_by_fisher_s_exact_test() -> None:
    for k, n, k_other, n_other in [(570, 950, 11, 12), (0, 5, 3, 3), (7, 9, 2, 8), (4, 4, 4, 4)]:
        found = compare_samples(right(k, n), right(k_other, n_other))
        assert found.p.value == pytest.approx(fisher(k, n, k_other, n_other), rel=1e-9)
        assert (found.p.procedure, found.p.standard_error) == ("Fisher's exact test", None)
        assert found.difference.value == pytest.approx(k_other / n_other - k / n)
    assert found.difference.limits == pytest.approx((-0.4899, 0.4899), abs=1e-4)
    assert (found.p.value, found.detectable) == (1, None)


def test_the_p_value_of_graded_values_is_where_the_interval_ends_at_zero() -> None:
    draw = generator(3)
    for n, n_other, mean in ((6, 3, 0.9), (40, 12, 0.5), (200, 30, 0.7)):
        a, b = averages(draw, n, 0.4), averages(draw, n_other, mean)
        found = compare_samples(a, b)
        assert (found.p.procedure, found.p.standard_error) == ("nonparametric tilting", None)
        assert found.difference.value == pytest.approx(b.mean() - a.mean())
        at_p = compare_samples(a, b, level=1 - found.p.value).difference.limits
        assert min(map(abs, at_p)) == pytest.approx(0, abs=1e-6)
        mirrored = compare_samples(b, a)
        assert mirrored.p.value == pytest.approx(found.p.value, rel=1e-4)
        assert mirrored.difference.limits == pytest.approx(
            [-end for end in found.difference.limits][::-1]
        )


def test_the_p_value_of_many_graded_values_is_nearly_welch_s() -> None:
    draw = generator(4)
    a = of_spread(draw, 3000, 0.5, 0.2)
    b = of_spread(draw, 2000, 0.5, 0.25)
    b = np.clip(b + a.mean() + 0.012 - b.mean(), 0, 1)
    ours, theirs = compare_samples(a, b).p.value, ttest_ind(a, b, equal_var=False).pvalue
    assert 0.01 < theirs < 0.3
    assert ours == pytest.approx(theirs, rel=0.15)


def test_samples_without_any_variance_have_a_p_value_and_limits() -> None:
    same = compare_samples([0.5] * 6, [0.5] * 3)
    assert (same.p.value, same.difference.value, same.detectable) == (1, 0, None)
    low, high = same.difference.limits
    assert -0.8 < low < 0 < high < 0.8
    few, many = (compare_samples([0.25] * n, [0.75] * n).p.value for n in (4, 60))
    assert few > 0.05 > many > 0
    single = compare_samples([0.25, 0.5, 0.75], [1.0])
    assert (single.p.value, single.detectable) == (1, None)
    low, high = single.difference.limits
    assert low < 0.5 == single.difference.value < high
    assert compare_samples([0.0] * 3000, [0.5, *[1.0] * 3000]).p.value == 0


def test_problems_with_unequal_numbers_of_scores_are_clusters() -> None:
    values, problems = [1, 0, 1, 1, 0, 1, 0], ["a", "a", "b", "c", "d", "e", "f"]
    clusters = ClusteredShare(np.array(values, np.float64), np.array([0, 0, 1, 2, 3, 4, 5]))
    assert estimate_accuracy(values, problems) == clusters.estimate(0.95)
    assert estimate_accuracy(values, range(7)) == wilson(4, 7)


def test_a_mean_of_right_answers_has_wilson_s_interval_and_a_graded_one_a_narrower() -> None:
    assert estimate_mean(right(7, 12), True) == wilson(7, 12)
    assert estimate_mean([1.0] * 12, True) == wilson(12, 12)
    low, high = estimate_mean([0.5] * 12, False).limits
    widest = wilson(6, 12).limits
    assert widest[0] < low < 0.5 < high < widest[1]
    values = generator().normal(0.5, 0.01, 5000)
    low, high = estimate_mean(values, False).limits
    assert high - low == pytest.approx(2 * 1.96 * 0.01 / math.sqrt(5000), rel=0.2)


@pytest.mark.parametrize(("first", "second"), [([], [1]), ([1], []), ([0.5], [])])
def test_nothing_to_compare_is_refused(first: Any, second: Any) -> None:
    with pytest.raises(ValueError, match="at least one sum is needed"):
        compare_samples(first, second)
    for is_binary in (True, False):
        with pytest.raises(ValueError, match="at least one"):
            estimate_mean([], is_binary)


SIZES = [
    pytest.param(40, 8, id="40 and 8"),
    pytest.param(60, 60, id="60 and 60", marks=pytest.mark.slow),
    pytest.param(200, 30, id="200 and 30", marks=pytest.mark.slow),
    pytest.param(950, 12, id="950 and 12", marks=pytest.mark.slow),
]


def all_results(n: int, n_other: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the p-values and the limits of all results of right and wrong answers."""
    p, limits = np.empty((n + 1, n_other + 1)), np.empty((n + 1, n_other + 1, 2))
    for k in range(n + 1):
        for k_other in range(n_other + 1):
            table = np.array([[k, n - k], [k_other, n_other - k_other]])
            p[k, k_other] = fisher_exact(table).pvalue
            means = wilson(k, n), wilson(k_other, n_other)
            limits[k, k_other] = independent_difference(*means).limits
    return p, limits


@pytest.mark.parametrize(("n", "n_other"), SIZES)
def test_binary_differences_cover_reject_and_are_found_as_often_as_said(
    n: int, n_other: int
) -> None:
    """Without chance: every result, weighted with its probability."""
    p, limits = all_results(n, n_other)

    def chance(of: NDArray[np.bool_], share: float, other: float) -> float:
        ways = binom.pmf(range(n + 1), n, share), binom.pmf(range(n_other + 1), n_other, other)
        return float(ways[0] @ of @ ways[1])

    shares = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
    covers = [
        chance((limits[..., 0] <= other - one) & (other - one <= limits[..., 1]), one, other)
        for one in shares
        for other in shares
    ]
    assert 0.945 < np.mean(covers) < 0.96
    assert min(covers) > 0.92
    assert max(chance(p <= ALPHA, one, one) for one in np.linspace(0.01, 0.99, 99)) <= ALPHA
    for share in (0.05, 0.3, 0.5, 0.7, 0.85, 0.95):
        gain = detectable_shares(share, n, n_other)
        if gain is None:
            assert chance(p <= ALPHA, share, 1.0) < 0.85
        else:
            assert 0.75 <= chance(p <= ALPHA, share, share + gain) <= 0.85


def averages(draw: np.random.Generator, n: int, mean: float, answers: int = 4) -> Floats:
    """Return the shares of right answers to problems of different difficulty."""
    return draw.binomial(answers, draw.beta(mean, 1 - mean, n)) / answers


def of_spread(draw: np.random.Generator, n: int, mean: float, spread: float) -> Floats:
    size = mean * (1 - mean) / spread**2 - 1
    return draw.beta(mean * size, (1 - mean) * size, n)


def mostly_zero(draw: np.random.Generator, n: int) -> Floats:
    """Return values of which four of five are 0, the others from Beta(1, 3); the mean is .05."""
    return np.where(draw.random(n) < 0.8, 0.0, draw.beta(1, 3, n))


GRADED = [
    pytest.param(150, 12, 40, id="a few sets"),
    pytest.param(950, 12, 250, id="950 and 12", marks=pytest.mark.slow),
    pytest.param(200, 30, 250, id="200 and 30", marks=pytest.mark.slow),
    pytest.param(60, 60, 250, id="60 and 60", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("n", "n_other", "times"), GRADED)
def test_graded_differences_cover_and_are_not_found_where_there_are_none(
    n: int, n_other: int, times: int
) -> None:
    draw, runs = generator(), sets(times)
    covers = []
    for mean in (0.3, 0.6, 0.85):
        covers.append(0.0)
        for _ in range(runs):
            a, b = averages(draw, n, 0.6), averages(draw, n_other, mean)
            means = estimate_mean(a, False), estimate_mean(b, False)
            low, high = independent_difference(*means).limits
            covers[-1] += (low <= mean - 0.6 <= high) / runs
    assert 0.93 - 3 * math.sqrt(0.05 * 0.95 / runs / 3) < np.mean(covers)
    pairs = (
        lambda: (averages(draw, n, 0.6), averages(draw, n_other, 0.6)),
        # Equal means of unequal variance: the permutation of Welch's statistic finds .06 to .08.
        lambda: (of_spread(draw, n, 0.6, 0.1), right(draw.binomial(n_other, 0.6), n_other)),
        lambda: (mostly_zero(draw, n), mostly_zero(draw, n_other)),
        lambda: (mostly_zero(draw, n), right(draw.binomial(n_other, 0.05), n_other)),
    )
    for make in pairs:
        found = np.mean([compare_samples(*make()).p.value <= ALPHA for _ in range(runs)])
        assert found <= ALPHA + 2.5 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    ("n", "n_other", "times"),
    [
        pytest.param(200, 30, 50, id="a few sets"),
        pytest.param(200, 30, 1000, id="200 and 30", marks=pytest.mark.slow),
        pytest.param(60, 60, 1000, id="60 and 60", marks=pytest.mark.slow),
    ],
)
def test_graded_gains_are_found_as_often_as_said(n: int, n_other: int, times: int) -> None:
    draw, spread, found = generator(2), 0.25, []
    gain = compare_samples(of_spread(draw, 20_000, 0.4, spread)[:n], right(1, n_other)).detectable
    assert gain is not None
    for _ in range(sets(times)):
        a, b = of_spread(draw, n, 0.4, spread), of_spread(draw, n_other, 0.4 + gain, spread)
        found.append(compare_samples(a, b).p.value <= ALPHA)
    chance = 3 * math.sqrt(0.16 / len(found))
    assert 0.75 - chance <= np.mean(found) <= 0.85 + chance
