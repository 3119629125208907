"""Slopes over groups: other libraries, brute force, and data whose slope is known."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, stats
from statsmodels.regression.linear_model import OLS, WLS
from statsmodels.tools import add_constant

from benchmarks.levels_links import rates
from ngramscan.statistics.resampling import bootstrap_t
from ngramscan.statistics.slopes import (
    SlopeErrors,
    permutation_test,
    rank_correlation,
    residuals,
    slope_test,
)
from tests.support.sizes import sets, slow
from tests.support.slope_populations import CLUSTERED, EQUAL, SLOPES, UNEQUAL, Population


def fitted(x: Any, y: Any, weights: Any, covariates: Any) -> Any:
    return WLS(y, add_constant(np.column_stack([x, *covariates])), weights).fit()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(5, 12), st.integers(0, 2))
def test_slopes_and_errors_are_those_of_statsmodels(seed: int, n: int, more: int) -> None:
    random = np.random.default_rng(seed)
    x, y, *covariates = random.normal(size=(2 + more, n))
    weights = random.integers(1, 9, n)
    weighted = residuals(x, y, weights, covariates)
    assert weighted
    assert weighted.slope == pytest.approx(fitted(x, y, weights, covariates).params[1])
    plain = residuals(x, y, np.ones(n), covariates)
    assert plain
    fit = fitted(x, y, np.ones(n), covariates)
    error = np.linalg.norm(SlopeErrors(plain).sums(plain.y))
    assert error == pytest.approx(fit.get_robustcov_results("HC2").bse[1])
    given = np.column_stack([np.ones(n), *covariates])
    assert plain.correlation == pytest.approx(
        np.corrcoef(OLS(x, given).fit().resid, OLS(y, given).fit().resid)[0, 1]
    )


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(9, 20), st.booleans())
def test_errors_and_degrees_of_freedom_are_those_of_their_definition(
    seed: int, n: int, has_clusters: bool
) -> None:
    """Bell & McCaffrey 2002, with the matrices written out."""
    random = np.random.default_rng(seed)
    x, y, covariate = random.normal(size=(3, n))
    clusters = np.arange(n) if not has_clusters else np.append(np.arange(n - 4) // 2, [90] * 4)
    design = np.column_stack([np.ones(n), covariate, x])
    inverse = np.linalg.inv(design.T @ design)
    hat = design @ inverse @ design.T
    left = np.eye(n) - hat
    columns = []
    for cluster in np.unique(clusters):
        own = np.flatnonzero(clusters == cluster)
        root = linalg.fractional_matrix_power(left[np.ix_(own, own)], -0.5)
        weights = np.zeros(n)
        weights[own] = root @ (inverse @ design.T)[2, own]
        columns.append(left @ weights)
    products = np.array(columns) @ np.array(columns).T
    found = residuals(x, y, np.ones(n), [covariate])
    assert found
    errors = SlopeErrors(found, clusters)
    assert np.linalg.norm(errors.sums(found.y)) == pytest.approx(
        np.linalg.norm(np.array(columns) @ y), rel=1e-6
    )
    degrees = np.trace(products) ** 2 / np.trace(products @ products)
    assert errors.degrees == pytest.approx(degrees, rel=1e-6)


@pytest.mark.parametrize(
    ("y", "procedure"),
    [
        pytest.param(
            [0.1, 0.4, 0.2, 0.5, 0.9, 0.3, 0.5, 0.6, 0.4, 0.6, 0.8, 0.7],
            "permutation, 999 draws",
            id="the permutation test has the larger p",
        ),
        pytest.param(
            [0.1, 0.33, 0.05, 0.49, 0.84, 0.26, 0.4, 0.51, 0.32, 0.59, 0.74, 0.7],
            "t, 4.6 degrees of freedom",
            id="the t test has the larger p",
        ),
    ],
)
def test_the_interval_is_students_and_p_the_larger_of_two(y: Any, procedure: str) -> None:
    x = np.array([0.0, 0.3, 0.5, 0.9, 1.4, 1.6, 2.0, 2.1, 2.2, 2.9, 3.4, 4.0])
    found = residuals(x, y, np.ones(12))
    assert found
    slope, p = slope_test(found, np.random.default_rng(1), False, 999, 0.9)
    fit = OLS(y, add_constant(x)).fit().get_robustcov_results("HC2")
    degrees = SlopeErrors(found).degrees
    half = stats.t.ppf(0.95, degrees) * fit.bse[1]
    assert slope
    assert p
    assert slope.limits == pytest.approx((fit.params[1] - half, fit.params[1] + half))
    student = 2 * stats.t.sf(fit.params[1] / fit.bse[1], degrees)
    permuted = permutation_test(found, np.random.default_rng(1), 999)
    assert p.value == pytest.approx(max(student, permuted.value))
    assert p.procedure == procedure


@pytest.mark.parametrize(
    ("y", "note"),
    [
        pytest.param(
            [0.0] * 10 + [1.0] * 2,
            "fewer than 3 groups have another accuracy",
            id="two groups differ",
        ),
        pytest.param(
            [1.0] * 11 + [0.0], "fewer than 3 groups have another accuracy", id="one group differs"
        ),
        pytest.param([0.1 * n for n in range(12)], "accuracies are on one line", id="a line"),
    ],
)
def test_values_without_spread_have_a_p_and_no_interval(y: Any, note: str) -> None:
    found = residuals(np.arange(12.0), y, np.ones(12))
    slope, p = slope_test(found, np.random.default_rng(1), False, 199)
    assert slope
    assert p
    assert (slope.low, slope.note.startswith("no interval: ")) == (None, True)
    assert note in slope.note


def test_clusters_of_one_group_are_groups() -> None:
    random = np.random.default_rng(2)
    x, y = random.normal(size=(2, 30))
    found = residuals(x, y, np.ones(30))
    (slope, p), (same, same_p) = (
        slope_test(found, np.random.default_rng(1), True, 199, clusters=clusters)
        for clusters in (None, [f"c{n:02}" for n in range(30)])
    )
    assert slope
    assert same
    assert slope.limits == pytest.approx(same.limits)
    assert p == same_p


def test_the_only_cluster_with_another_count_gives_no_interval() -> None:
    x, y = np.array([1.0] * 9 + [2.0, 2.0, 2.0]), np.linspace(0, 1, 12) ** 2
    found = residuals(x, y, np.ones(12))
    slope, p = slope_test(found, np.random.default_rng(1), clusters=np.arange(12) // 3)
    assert slope
    assert (slope.low, p) == (None, None)
    assert slope.note.endswith("but for one cluster the counts are")


def test_p_is_the_share_of_all_orders_with_a_slope_as_far_from_zero() -> None:
    x = np.array([0.0, 0.3, 0.5, 0.9, 1.4, 4.0])
    y = np.array([0.1, 0.4, 0.2, 0.5, 0.9, 0.3])

    def distance(y: Any) -> float:
        fit = OLS(y, add_constant(x)).fit()
        return float(abs(fit.params[1]) / fit.get_robustcov_results("HC3").bse[1])

    every = np.array([distance(np.array(order)) for order in permutations(y)])
    found = residuals(x, y, np.ones(6))
    assert found
    p = permutation_test(found, np.random.default_rng(1), 20_000)
    exact = (every >= distance(y) - 1e-9).mean()
    assert p.value == pytest.approx(exact, abs=4 * (exact / 20_000) ** 0.5)


@pytest.mark.parametrize(
    ("x", "y", "lack"),
    [
        pytest.param([5] * 12, [*range(12)], "slope", id="counts do not vary"),
        pytest.param([1, 2], [0, 1], "slope", id="two points"),
        pytest.param([9] + [5] * 11, [*range(12)], "interval", id="one count differs"),
        pytest.param([*range(12)], [0.3] * 12, "interval", id="accuracies do not vary"),
    ],
)
def test_there_is_nothing_where_counts_or_accuracies_do_not_vary(x: Any, y: Any, lack: str) -> None:
    slope, p = slope_test(
        residuals(x, y, np.ones(len(x))), np.random.default_rng(1), False, 99, 0.9
    )
    assert p is None
    if lack == "slope":
        assert slope is None
    else:
        assert slope
        assert (slope.low, slope.note[:11]) == (None, "no interval")


def test_rounding_errors_are_ties() -> None:
    first, second = [1, 2, 3, 4, 5], [0.3, 0.1 + 0.2, 0.5, 0.2, 0.9]
    rho = stats.spearmanr(first, np.round(second, 9)).statistic
    assert rank_correlation(first, second) == pytest.approx(rho)


def test_a_covariate_that_determines_the_counts_leaves_no_slope() -> None:
    x = np.arange(12.0)
    assert residuals(x, x**2, np.ones(12), [1e9 * x + 3]) is None


def describe(population: Population) -> str:
    return population.title


GRADED = Population("graded answers", groups=15, answers="dominant", is_graded=True)
QUICK = [
    pytest.param(population, sets(100), id=f"a few sets, {population.title}")
    for population in (UNEQUAL[0], UNEQUAL[5], UNEQUAL[11], CLUSTERED[1], GRADED)
]
MANY = [slow(made, 600, id=made.title) for made in (*EQUAL, *UNEQUAL, *CLUSTERED)]


@pytest.mark.parametrize(("population", "runs"), [*QUICK, *MANY])
def test_how_often_intervals_cover_and_tests_err(population: Population, runs: int) -> None:
    found, chance = rates(population, runs), 3 * (0.05 * 0.95 / runs) ** 0.5
    names = ("slope", "difference")
    assert not [name for name in names if found[f"{name} covered"] < 0.93 - chance]
    assert not [name for name in names if found[f"{name} rejected"] > 0.06 + chance]


def width_of_resampling(x: Any, y: Any, random: np.random.Generator) -> float:
    """Return the width of the bootstrap-t interval of the jackknife's pseudo-values."""
    n = x.size
    slope = np.polyfit(x, y, 1)[0]
    without = np.array([np.polyfit(np.delete(x, k), np.delete(y, k), 1)[0] for k in range(n)])
    values = slope + (n - 1) * (without.mean() - without)
    low, high = bootstrap_t(values, random, None, 499).estimate.limits
    return high - low


@pytest.mark.parametrize("population", EQUAL, ids=describe)
def test_intervals_are_no_wider_than_by_resampling_of_equal_clusters(
    population: Population,
) -> None:
    random = np.random.default_rng(8)
    ratios = []
    for _ in range(40):
        sample = population.draw(random, SLOPES)
        y = sample.means[0]
        slope, _ = slope_test(residuals(sample.x, y, np.ones(y.size)), random, False, 1)
        assert slope
        low, high = slope.limits
        ratios.append((high - low) / width_of_resampling(sample.x, y, random))
    assert np.median(ratios) < 1.05


def test_a_dominant_group_makes_weighted_slopes_worse() -> None:
    """Weights by answers would let one group of 25 determine the slope."""
    random = np.random.default_rng(4)
    slopes = []
    for _ in range(200):
        sample = UNEQUAL[0].draw(random, SLOPES)
        choices = (np.ones(25), sample.answers)
        designs = [residuals(sample.x, sample.means[0], weights) for weights in choices]
        slopes.append([design.slope for design in designs if design])
    equal, weighted = np.std(slopes, axis=0)
    assert equal < weighted
