"""Means of two independent samples, against enumeration, scipy and simulations."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, t, ttest_ind
from statsmodels.stats.proportion import confint_proportions_2indep

from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.power import ALPHA
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.two_samples import (
    compare_samples,
    detectable_shares,
    estimate_accuracy,
    estimate_mean,
)
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


def test_right_answers_have_wilson_s_interval_and_grades_a_narrower() -> None:
    assert estimate_mean(right(7, 12), True) == wilson(7, 12)
    assert estimate_mean([1.0] * 12, True) == wilson(12, 12)
    low, high = estimate_mean([0.5] * 12, False).limits
    lowest, highest = wilson(6, 12).limits
    assert lowest < low < 0.5 < high < highest
    values = generator().normal(0.5, 0.01, 5000)
    low, high = estimate_mean(values, False).limits
    assert high - low == pytest.approx(2 * 1.96 * 0.01 / math.sqrt(5000), rel=0.2)


@pytest.mark.parametrize(
    ("first", "second"), [([], [1]), ([1], []), ([0.5], [])], ids=["first", "second", "of grades"]
)
def test_a_sample_without_any_value_is_refused(first: list[float], second: list[float]) -> None:
    with pytest.raises(ValueError, match="at least one sum is needed"):
        compare_samples(first, second)


def test_the_procedure_of_a_comparison_is_named() -> None:
    answers = compare_samples(right(7, 9), right(2, 8)).p
    assert (answers.procedure, answers.standard_error) == ("Fisher's exact test", None)
    grades = compare_samples([0.2, 0.3, 0.9], [0.4, 0.6]).p
    assert (grades.procedure, grades.standard_error) == ("nonparametric tilting", None)


def test_the_p_value_of_many_graded_values_is_nearly_welch_s() -> None:
    draw = generator(4)
    a, b = of_spread(draw, 3000, 0.5, 0.2), of_spread(draw, 2000, 0.5, 0.25)
    b = np.clip(b + a.mean() + 0.012 - b.mean(), 0, 1)
    ours, theirs = compare_samples(a, b).p.value, ttest_ind(a, b, equal_var=False).pvalue
    assert 0.01 < theirs < 0.3
    assert ours == pytest.approx(theirs, rel=0.15)


@pytest.mark.parametrize(("n", "n_other"), [(40, 8), slow(60, 60), slow(200, 30), slow(950, 12)])
def test_differences_of_right_answers_are_covered_and_tested(
    n: int, n_other: int, subtests: pytest.Subtests
) -> None:
    """Without chance: every result, weighted with its probability."""
    p, limits = np.empty((n + 1, n_other + 1)), np.empty((n + 1, n_other + 1, 2))
    for k, k_other in product(range(n + 1), range(n_other + 1)):
        compared = compare_samples(right(k, n), right(k_other, n_other))
        p[k, k_other], limits[k, k_other] = compared.p.value, compared.difference.limits

    def chance(results: NDArray[np.bool_], share: float, second: float) -> float:
        ways = binom.pmf(range(n + 1), n, share), binom.pmf(range(n_other + 1), n_other, second)
        return float(ways[0] @ results @ ways[1])

    covers = []
    for share, second in product((0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95), repeat=2):
        difference = second - share
        holds = (limits[..., 0] <= difference) & (difference <= limits[..., 1])
        covers.append(chance(holds, share, second))
    assert 0.945 < np.mean(covers) < 0.96
    assert min(covers) > 0.92
    errors = [chance(p <= ALPHA, share, share) for share in np.linspace(0.01, 0.99, 99)]
    assert max(errors) <= ALPHA
    for share in (0.05, 0.3, 0.5, 0.7, 0.85, 0.95):
        with subtests.test(share=share):
            gain = detectable_shares(share, n, n_other)
            if gain is None:
                assert chance(p <= ALPHA, share, 1.0) < 0.85
            else:
                assert 0.75 <= chance(p <= ALPHA, share, share + gain) <= 0.85


def averages(draw: np.random.Generator, n: int, mean: float, answers: int = 4) -> Floats:
    """Return the shares of right answers to problems of different difficulty."""
    return draw.binomial(answers, draw.beta(mean, 1 - mean, n)) / answers


def mostly_zero(draw: np.random.Generator, n: int) -> Floats:
    """Return values of which four of five are 0, the others from Beta(1, 3); the mean is .05."""
    return np.where(draw.random(n) < 0.8, 0.0, draw.beta(1, 3, n))


Samples = tuple[Floats, Floats]


@pytest.mark.parametrize(
    ("n", "n_other", "runs"),
    [
        pytest.param(150, 12, 40, id="150 and 12, a few sets"),
        slow(950, 12, 250, id="950 and 12"),
        slow(200, 30, 250, id="200 and 30"),
        slow(60, 60, 250, id="60 and 60"),
    ],
)
def test_differences_of_grades_are_covered(n: int, n_other: int, runs: int) -> None:
    draw, covered = generator(), []
    for mean in (0.3, 0.6, 0.85):
        for _ in range(sets(runs)):
            samples = averages(draw, n, 0.6), averages(draw, n_other, mean)
            low, high = compare_samples(*samples).difference.limits
            covered.append(low <= mean - 0.6 <= high)
    assert 0.93 - 3 * math.sqrt(0.05 * 0.95 / len(covered)) < np.mean(covered)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda draw: (averages(draw, 150, 0.6), averages(draw, 12, 0.6)), id="alike"),
        pytest.param(
            lambda draw: (
                of_spread(draw, 150, 0.6, 0.1),
                np.array(right(draw.binomial(12, 0.6), 12)),
            ),
            id="unequal variances",
        ),
        pytest.param(
            lambda draw: (mostly_zero(draw, 150), mostly_zero(draw, 12)), id="mostly zero"
        ),
        pytest.param(
            lambda draw: (mostly_zero(draw, 150), np.array(right(draw.binomial(12, 0.05), 12))),
            id="mostly zero and mostly wrong",
        ),
    ],
)
def test_no_difference_of_grades_is_found_where_there_is_none(
    make: Callable[[np.random.Generator], Samples],
) -> None:
    draw, runs = generator(), sets(40)
    found = np.mean([compare_samples(*make(draw)).p.value <= ALPHA for _ in range(runs)])
    assert found <= ALPHA + 2.5 * math.sqrt(0.05 * 0.95 / runs)
