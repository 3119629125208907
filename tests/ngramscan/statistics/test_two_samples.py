"""Means of two independent samples, against enumeration, scipy and simulations."""

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, t, ttest_ind
from statsmodels.stats.proportion import confint_proportions_2indep

from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.power import ALPHA
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.two_samples import compare_samples, estimate_accuracy
from tests.support.sizes import sets, slow

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


@pytest.mark.parametrize(
    ("k", "n", "k_other", "n_other"),
    [
        pytest.param(3, 10, 9, 12, id="3 of 10 and 9 of 12"),
        pytest.param(0, 5, 5, 5, id="none and all"),
        pytest.param(40, 80, 55, 90, id="40 of 80 and 55 of 90"),
        pytest.param(2, 4, 2, 4, id="equal shares"),
    ],
)
def test_right_and_wrong_answers_have_fisher_s_test_and_newcombe_s_limits(
    k: int, n: int, k_other: int, n_other: int
) -> None:
    found = compare_samples(right(k, n), right(k_other, n_other), 0.9)
    assert found.p.value == pytest.approx(fisher(k, n, k_other, n_other))
    assert found.p.n == n + n_other
    theirs = confint_proportions_2indep(k_other, n_other, k, n, method="newcomb", alpha=0.1)
    assert found.difference.limits == pytest.approx(theirs)


def test_the_detectable_share_is_found_with_80_percent_power() -> None:
    found = compare_samples(right(16, 40), right(10, 25)).detectable or 0.0
    chances = np.outer(binom.pmf(range(41), 40, 0.4), binom.pmf(range(26), 25, 0.4 + found))
    shown = [
        [b / 25 > a / 40 and fisher(a, 40, b, 25) <= ALPHA for b in range(26)] for a in range(41)
    ]
    assert float(chances[np.array(shown)].sum()) == pytest.approx(0.8, abs=0.01)
    assert compare_samples(right(9, 10), right(9, 10)).detectable is None
    # A single one is found, by p = 1 / 41.
    assert compare_samples(right(0, 40), right(1, 1)).detectable == pytest.approx(0.8)


def test_at_the_level_of_its_p_value_an_interval_of_grades_ends_at_zero() -> None:
    a, b = generator(3).beta(2, 5, 30), generator(4).beta(3, 5, 18)
    found = compare_samples(a, b)
    low, _ = compare_samples(a, b, 1 - found.p.value).difference.limits
    assert low == pytest.approx(0, abs=1e-6)
    assert 0.01 < found.p.value < 0.5
    assert compare_samples(b, a).p.value == pytest.approx(found.p.value)
    degrees = ttest_ind(a, b * a.std(ddof=1) / b.std(ddof=1), equal_var=False).df
    factor = float(t.ppf(0.975, degrees) + t.ppf(0.8, degrees)) * math.sqrt(1 / 30 + 1 / 18)
    assert found.detectable == pytest.approx(factor * a.std(ddof=1))
    assert compare_samples([0.8, 0.9], [0.4, 0.6]).detectable is None
    assert compare_samples(a, a + 1e-7).p.value == pytest.approx(1, abs=1e-4)
    pairs = compare_samples([0.2, 0.3], [0.4, 0.6])
    assert pairs.detectable == pytest.approx(0.1 / 2**0.5 * (t.ppf(0.975, 2) + t.ppf(0.8, 2)))


def of_spread(draw: np.random.Generator, n: int, mean: float, spread: float) -> Floats:
    size = mean * (1 - mean) / spread**2 - 1
    return draw.beta(mean * size, (1 - mean) * size, n)


@pytest.mark.parametrize(
    ("n", "n_other", "times"),
    [
        pytest.param(200, 30, 20, id="a few sets"),
        slow(200, 30, 1000, id="200 and 30"),
        slow(60, 60, 1000, id="60 and 60"),
    ],
)
def test_graded_gains_are_found_as_often_as_said(n: int, n_other: int, times: int) -> None:
    draw, spread, found = generator(2), 0.25, []
    first = of_spread(draw, 20_000, 0.4, spread)[:n]
    gained = 0.4 + (compare_samples(first, right(1, n_other)).detectable or 0.0)
    for _ in range(sets(times)):
        a, b = of_spread(draw, n, 0.4, spread), of_spread(draw, n_other, gained, spread)
        found.append(compare_samples(a, b).p.value <= ALPHA)
    chance = 3 * math.sqrt(0.16 / len(found))
    assert 0.75 - chance <= np.mean(found) <= 0.85 + chance
