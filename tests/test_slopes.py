"""Slopes over groups: other libraries, brute force, and data whose slope is known."""

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS, WLS
from statsmodels.tools import add_constant

from ngramscan.statistics.slopes import (
    permutation_test,
    pseudo_values,
    rank_correlation,
    residuals,
    slope_test,
)
from tests.support.cases import case_table, objects
from tests.support.sizes import sets, slow

C4 = objects("shift_ciphers")[0]["counts"]
"""How often each shift cipher is named in C4: one group is far from the others."""


def fitted(x: Any, y: Any, weights: Any, covariates: Any) -> Any:
    return WLS(y, add_constant(np.column_stack([x, *covariates])), weights).fit()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(5, 12), st.integers(0, 2))
def test_slopes_and_pseudo_values_are_those_of_statsmodels(seed: int, n: int, more: int) -> None:
    random = np.random.default_rng(seed)
    x, y, *covariates = random.normal(size=(2 + more, n))
    weights = random.integers(1, 9, n)
    found = residuals(x, y, weights, covariates)
    assert found
    slope = fitted(x, y, weights, covariates).params[1]
    assert found.slope == pytest.approx(slope)
    rest = [np.arange(n) != group for group in range(n)]
    without = [
        fitted(x[kept], y[kept], weights[kept], [each[kept] for each in covariates])
        for kept in rest
    ]
    jackknife = np.array([fit.params[1] for fit in without])
    values = pseudo_values(found)
    assert values is not None
    assert values == pytest.approx(slope + (n - 1) * (jackknife.mean() - jackknife), rel=1e-6)
    plain = residuals(x, y, np.ones(n), covariates)
    given = np.column_stack([np.ones(n), *covariates])
    assert plain
    assert plain.correlation == pytest.approx(
        np.corrcoef(OLS(x, given).fit().resid, OLS(y, given).fit().resid)[0, 1]
    )


def test_answers_weigh_alike_and_groups_are_the_clusters() -> None:
    random = np.random.default_rng(3)
    sizes = random.integers(1, 6, 30)
    x = np.repeat(random.normal(size=30), sizes)
    group = np.repeat(np.arange(30), sizes)
    y = 0.1 * x + random.normal(size=x.size)
    means = np.bincount(group, y) / sizes
    found = residuals(x[np.unique(group, return_index=True)[1]], means, sizes)
    assert found
    assert found.slope == pytest.approx(OLS(y, add_constant(x)).fit().params[1])


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


@pytest.mark.parametrize(*case_table("no_slopes"))
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


class Design(NamedTuple):
    """A population of groups: accuracies rise with log counts by a known slope."""

    counts: str
    """`ciphers`: those of C4; `lognormal`."""
    groups: int
    answers: int
    """Answers of each method in a group."""
    apart: float
    """Standard deviation of the groups' accuracies, most of it shared by the methods."""
    is_graded: bool = False

    def draw(self, random: np.random.Generator, *slopes: float) -> Any:
        """Return the logarithms of counts, and the mean accuracies of two methods."""
        n, m = self.groups, self.answers
        counts = np.exp(random.normal(3, 2.5, n)).astype(int)
        if self.counts == "ciphers":
            counts = np.array(C4) if n == 25 else random.choice(C4, n, replace=n > 25)
        x = np.log10(counts + 0.5)
        shared, own = random.normal(0, self.apart, n), random.normal(0, self.apart / 2, (2, n))
        rates = 0.4 + np.outer(slopes, x - 1) + 0.7 * shared + own
        rates = rates.clip(0.01, 0.99)[:, :, None]
        if self.is_graded:
            return x, random.beta(2 * rates, 2 - 2 * rates, (2, n, m)).mean(axis=2)
        luck, same = random.random((2, n, m)), random.random((n, m)) < 0.5
        return x, (np.where(same, luck[0], luck) < rates).mean(axis=2)


def rates_of(design: Design, runs: int, draws: int) -> dict[str, float]:
    """Return how often intervals cover and tests of true nulls reject: docs/comparing.md."""
    random, slopes = np.random.default_rng(20261128), (0.08, 0.12)
    found: dict[str, list[bool]] = {}
    for _ in range(runs):
        for truth in (slopes, (0.0, 0.0)):
            x, (first, second) = design.draw(random, *truth)
            for name, y, true in (
                ("slope", first, truth[0]),
                ("difference", second - first, truth[1] - truth[0]),
            ):
                both = residuals(x, y, np.full(design.groups, design.answers))
                slope, p = slope_test(both, random, name == "difference", draws, 0.95)
                if any(truth) and slope and slope.low is not None:
                    low, high = slope.limits
                    found.setdefault(f"{name} covered", []).append(low <= true <= high)
                if not any(truth) and p:
                    found.setdefault(f"{name} rejected", []).append(p.value <= 0.05)
    return {name: float(np.mean(values)) for name, values in found.items()}


DESIGNS = [
    Design(counts, groups, answers, apart, is_graded)
    for counts in ("ciphers", "lognormal")
    for groups in (10, 25, 100)
    for answers, apart in ((1, 0.0), (20, 0.0), (20, 0.12))
    for is_graded in (False, True)
]


QUICK = [(DESIGNS[place], sets(60), 199) for place in (4, 10, -1)]
MANY = [slow(one, 1000, 999) for one in DESIGNS]


@pytest.mark.parametrize(("design", "runs", "draws"), [*QUICK, *MANY])
def test_how_often_intervals_cover_and_tests_err(design: Design, runs: int, draws: int) -> None:
    rates, chance = rates_of(design, runs, draws), 3 * (0.05 * 0.95 / runs) ** 0.5
    names = ("slope", "difference")
    assert not [one for one in names if abs(rates[f"{one} covered"] - 0.95) > 0.03 + chance]
    assert not [one for one in names if rates[f"{one} rejected"] > 0.055 + chance]
