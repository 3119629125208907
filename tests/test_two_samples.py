"""Means of two independent samples, against enumeration, scipy and simulations."""

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.power import ALPHA
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.two_samples import compare_samples, estimate_accuracy
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


SIZES = [
    pytest.param(40, 8, id="40 and 8"),
    pytest.param(60, 60, id="60 and 60", marks=pytest.mark.slow),
    pytest.param(200, 30, id="200 and 30", marks=pytest.mark.slow),
    pytest.param(950, 12, id="950 and 12", marks=pytest.mark.slow),
]


def averages(draw: np.random.Generator, n: int, mean: float, answers: int = 4) -> Floats:
    """Return the shares of right answers to problems of different difficulty."""
    return draw.binomial(answers, draw.beta(mean, 1 - mean, n)) / answers


def of_spread(draw: np.random.Generator, n: int, mean: float, spread: float) -> Floats:
    size = mean * (1 - mean) / spread**2 - 1
    return draw.beta(mean * size, (1 - mean) * size, n)


def mostly_zero(draw: np.random.Generator, n: int) -> Floats:
    """Return values of which four of five are 0, the others from Beta(1, 3); the mean is .05."""
    return np.where(draw.random(n) < 0.8, 0.0, draw.beta(1, 3, n))


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
