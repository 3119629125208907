"""The bootstrap-t: against enumeration of all draws, Student's t, and known populations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from ngramscan.statistics.resampling import bootstrap_mean, bootstrap_t
from ngramscan.statistics.sign_tests import sign_flip_test, signed_rank_test

Floats = NDArray[np.float64]


def enumerated(values: list[float], counts: list[int]) -> tuple[Floats, Floats]:
    """Return every distance that a draw can have, and its probability: of data with few values."""
    n, shares = sum(counts), np.array(counts) / sum(counts)
    mean = float(np.dot(values, shares))
    distances, chances = [], []
    for draw in combinations_with_replacement(range(len(values)), n):
        times = [draw.count(place) for place in range(len(values))]
        drawn = np.repeat(values, times)
        if np.ptp(drawn):
            distances.append((drawn.mean() - mean) / (drawn.std(ddof=1) / np.sqrt(n)))
            ways = factorial(n) / prod(factorial(count) for count in times)
            chances.append(ways * float(np.prod(shares**times)))
    order = np.argsort(distances)
    return np.array(distances)[order], np.array(chances)[order] / sum(chances)


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([0.1, -0.9], [13, 1]),
        ([-1.0, 0.5, 7.0], [8, 3, 2]),
        ([-1.0, 1.0], [3, 13]),
        ([3.0, 1.0, -2.0], [5, 9, 2]),
    ],
)
def test_all_draws_give_the_same_interval_and_p(values: list[float], counts: list[int]) -> None:
    data = np.repeat(values, counts)
    distances, chances = enumerated(values, counts)
    error = float(stats.sem(data))
    t, student = data.mean() / error, stats.t.ppf(0.975, data.size - 1)
    far = distances >= t - 1e-9 if t > 0 else distances <= t + 1e-9
    p = max(min(1.0, 2 * chances[far].sum()), stats.ttest_1samp(data, 0).pvalue)
    estimate, found = bootstrap_t(data, np.random.default_rng(1), draws=200_000)
    assert found is not None
    assert found.value == pytest.approx(p, abs=0.004)
    assert estimate.value == pytest.approx(data.mean())
    below = chances.cumsum()
    least = distances[np.searchsorted(below, 0.025)]
    most = distances[np.searchsorted(below, 0.975)]
    assert (estimate.low, estimate.high) == pytest.approx(
        (data.mean() - max(most, student) * error, data.mean() - min(least, -student) * error),
        abs=0.03 * error,
    )


def test_symmetric_differences_have_no_narrower_interval_than_student_s() -> None:
    values = np.random.default_rng(3).standard_t(3, size=40) + 0.4
    estimate, p = bootstrap_t(values, np.random.default_rng(1))
    theirs = stats.ttest_1samp(values, 0)
    interval = theirs.confidence_interval()
    assert p is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert p.value >= theirs.pvalue * (1 - 1e-12)
    assert estimate.low <= interval.low + 1e-12 <= interval.high <= estimate.high + 2e-12


def test_p_is_small_exactly_where_the_interval_excludes_zero() -> None:
    draw = np.random.default_rng(4)
    small = 0
    for _ in range(300):
        estimate, p = bootstrap_t(draw.chisquare(1, size=25) - 0.4, draw, draws=399, level=0.9)
        assert p is not None
        assert estimate.low is not None
        assert estimate.high is not None
        assert (p.value <= 0.1) == (not estimate.low <= 0 <= estimate.high)
        small += p.value <= 0.1
    assert 50 < small < 250


def by_hand(sums: Floats, sizes: Floats, draws: int) -> Floats:
    """Return distances of draws, one at a time, by the definition."""
    draw, n = np.random.default_rng(8), sums.size
    mean, distances = sums.sum() / sizes.sum(), []
    for _ in range(draws):
        chosen = draw.integers(0, n, n)
        s, m = sums[chosen], sizes[chosen]
        ratio = s.sum() / m.sum()
        error = np.sqrt(n / (n - 1) * ((s - ratio * m) ** 2).sum()) / m.sum()
        distances.append((ratio - mean) / error)
    return np.array(distances)


def test_problems_of_different_sizes_are_drawn_whole() -> None:
    draw = np.random.default_rng(9)
    sizes = draw.integers(1, 6, 40).astype(np.float64)
    sums = draw.exponential(size=40) * sizes - 0.8 * sizes
    mean = sums.sum() / sizes.sum()
    error = np.sqrt(40 / 39 * ((sums - mean * sizes) ** 2).sum()) / sizes.sum()
    distances = by_hand(sums, sizes, 20_000)
    least, most = np.quantile(distances, [0.025, 0.975])
    student = stats.t.ppf(0.975, 39)
    estimate, p = bootstrap_t(sums, np.random.default_rng(1), sizes, draws=20_000)
    assert estimate.value == pytest.approx(mean)
    assert (estimate.low, estimate.high) == pytest.approx(
        (mean - max(most, student) * error, mean - min(least, -student) * error), abs=0.1 * error
    )
    assert p is not None
    tail = (distances >= mean / error).mean() if mean > 0 else (distances <= mean / error).mean()
    assert p.value == pytest.approx(max(2 * tail, 2 * stats.t.sf(abs(mean / error), 39)), abs=0.01)


def test_a_p_value_that_was_drawn_has_a_standard_error() -> None:
    values = 1.3 - np.random.default_rng(2).chisquare(1, size=40)
    found = [bootstrap_t(values, np.random.default_rng(seed), draws=2000).p for seed in range(40)]
    p_values = [p.value for p in found if p is not None]
    errors = [p.standard_error for p in found if p is not None and p.standard_error]
    assert len(errors) == 40
    assert np.std(p_values) == pytest.approx(np.mean(errors), rel=0.3)


@pytest.mark.parametrize(
    ("sums", "reason"),
    [
        ([1.0], "only 1 problem"),
        ([1.0, 0.0] * 4, "only 8 problems"),
        ([1.0] * 9 + [0.0] * 90, "only 9 of 99 problems differ"),
        ([0.0] * 30, "all differences are equal"),
        ([0.1] * 30, "all differences are equal"),
    ],
)
def test_there_is_neither_interval_nor_p_and_a_reason(sums: list[float], reason: str) -> None:
    estimate, p = bootstrap_t(sums, np.random.default_rng(0))
    assert (estimate.low, estimate.high, p) == (None, None, None)
    assert estimate.note == f"no interval: {reason}"
    assert estimate.value == pytest.approx(sum(sums) / len(sums))


def test_a_level_that_the_draws_can_not_show_has_no_interval() -> None:
    values = np.random.default_rng(1).normal(size=30)
    estimate, p = bootstrap_t(values, np.random.default_rng(0), draws=100, level=0.99)
    assert (estimate.low, estimate.high) == (None, None)
    assert estimate.note == "no interval: 100 draws are too few for a level of 0.99"
    assert p is not None


# Populations whose mean is zero

GRADES = [0.3, 0.1, 0.05, 0.05, 0.05, 0.05, 0.1, 0.3]


def lognormal(spread: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda draw, n: np.exp(spread * draw.normal(size=n)) - np.exp(spread**2 / 2)


SYMMETRIC: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda draw, n: draw.normal(size=n),
    "Student's t with 3 degrees": lambda draw, n: draw.standard_t(3, size=n),
    "normal, 60 % zeros": lambda draw, n: draw.normal(size=n) * (draw.random(n) < 0.4),
    "two grades of 0 to 7": lambda draw, n: np.diff(draw.choice(8, p=GRADES, size=(2, n)), axis=0)[
        0
    ].astype(np.float64),
}
SKEWED: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "exponential": lambda draw, n: draw.exponential(size=n) - 1,
    "1 − χ² with 1 degree": lambda draw, n: 1 - draw.chisquare(1, size=n),
    "exponential, 70 % zeros": lambda draw, n: (
        draw.exponential(size=n) * (draw.random(n) < 0.3) - 0.3
    ),
    "gains of .1, 10 % losses of .9": lambda draw, n: np.where(draw.random(n) < 0.9, 0.1, -0.9),
    "lognormal, log-sd 1": lognormal(1.0),
    "lognormal, log-sd 1.5": lognormal(1.5),
    "a grade lost, 5 % gain 7": lambda draw, n: draw.choice(
        [-1.0, 0.0, 1.0, 7.0], p=[0.5, 0.3, 0.15, 0.05], size=n
    ),
}


def error_rates(
    make: Callable[[np.random.Generator, int], Floats],
    n: int,
    runs: int,
    draws: int,
    shift: float = 0.0,
) -> dict[str, float]:
    """Return how often each test finds a mean other than zero, of those that could be made."""
    draw = np.random.default_rng(17)
    found: dict[str, list[bool]] = {"bootstrap-t": [], "sign flips": [], "signed ranks": []}
    for _ in range(runs):
        values = make(draw, n) + shift
        p = bootstrap_t(values, draw, draws=draws).p
        if p:
            found["bootstrap-t"].append(p.value <= 0.05)
        found["sign flips"].append(sign_flip_test(values, draw, draws).value <= 0.05)
        found["signed ranks"].append(signed_rank_test(values).value <= 0.05)
    return {test: float(np.mean(small)) for test, small in found.items()}


@pytest.mark.parametrize("name", ["normal", "normal, 60 % zeros"])
def test_symmetric_differences_are_found_no_more_often_than_stated(name: str) -> None:
    assert error_rates(SYMMETRIC[name], 30, runs=400, draws=399)["bootstrap-t"] <= 0.08


@pytest.mark.parametrize("name", ["1 − χ² with 1 degree", "gains of .1, 10 % losses of .9"])
def test_skewed_differences_mislead_the_other_tests_more(name: str) -> None:
    rates = error_rates(SKEWED[name], 30, runs=400, draws=399)
    assert rates["bootstrap-t"] <= 0.08
    assert rates["sign flips"] > rates["bootstrap-t"]
    assert rates["signed ranks"] > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("name", [*SYMMETRIC, *SKEWED])
def test_error_rates_in_many_runs(name: str, n: int) -> None:
    rates = error_rates((SYMMETRIC | SKEWED)[name], n, runs=4000, draws=999)
    if name in SYMMETRIC:
        assert rates["bootstrap-t"] <= 0.06
    else:
        assert rates["bootstrap-t"] <= min(rates["sign flips"] + 0.015, 0.15)
        assert rates["signed ranks"] > rates["sign flips"]


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize(("name", "spread"), [("normal", 1), ("Student's t with 3 degrees", 1.7)])
def test_true_differences_are_found_nearly_as_often_as_by_sign_flips(
    name: str, spread: float, n: int
) -> None:
    rates = error_rates(SYMMETRIC[name], n, runs=4000, draws=999, shift=2.8 * spread / n**0.5)
    assert rates["sign flips"] > 0.7
    assert rates["bootstrap-t"] > rates["sign flips"] - 0.08


@pytest.mark.parametrize("seed", range(3))
def test_limits_are_scipy_s_but_for_the_widening(seed: int) -> None:
    values = np.random.default_rng(seed).normal(1, 2, 1500)
    ours = bootstrap_mean(values, np.random.default_rng(1), draws=20_000)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=2, batch=500
    ).confidence_interval
    assert ours.value == pytest.approx(values.mean(), rel=1e-12)
    width = theirs.high - theirs.low
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.02 * width)


def test_few_and_many_different_values_are_drawn_alike() -> None:
    few = np.repeat([-1.0, 0.0, 1.0, 1.0], 100)
    # So slightly different that every value has to be drawn by itself.
    many = few + np.linspace(-1e-6, 1e-6, few.size)
    one, other = (
        bootstrap_mean(values, np.random.default_rng(3), draws=40_000) for values in (few, many)
    )
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=4e-3)


def test_draws_of_sums_of_different_sizes_weigh_each_difference_the_same() -> None:
    draw = np.random.default_rng(9)
    sizes = draw.integers(1, 6, 400)
    sums = draw.normal(size=400) * sizes
    found = bootstrap_mean(sums, draw, sizes, draws=20_000)
    mean = sums.sum() / sizes.sum()
    error = np.sqrt(((sums - mean * sizes) ** 2).sum()) / sizes.sum()
    assert found.value == pytest.approx(mean)
    assert (found.low, found.high) == pytest.approx(
        (mean - 1.96 * error, mean + 1.96 * error), abs=0.1 * error
    )


def test_the_same_seed_gives_the_same_limits() -> None:
    values = np.random.default_rng(0).normal(size=30)
    one, other = (bootstrap_mean(values, np.random.default_rng(4)) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"sums": []}, "at least one sum", id="nothing"),
        pytest.param({"sums": [np.nan] * 3}, "none missing", id="a gap"),
        pytest.param({"draws": 0}, "a draw", id="no draws"),
        pytest.param({"sizes": [1, 0, 1]}, "a positive size", id="a problem without answers"),
        pytest.param({"sizes": [1, 1]}, "for each sum", id="sizes of other problems"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, object], problem: str) -> None:
    arguments: dict[str, Any] = {"sums": [1, 2, 3], "generator": np.random.default_rng(0)}
    with pytest.raises(ValueError, match=problem):
        bootstrap_mean(**{**arguments, **change})


def graded(
    draw: np.random.Generator, problems: int, models: int, correlation: float, effect: float = 0.0
) -> tuple[Floats, Floats]:
    """Return values of two methods; differences on one problem have the correlation."""
    baseline = draw.normal(size=(problems, models))
    shared = draw.normal(size=(problems, 1)) * np.sqrt(correlation)
    own = draw.normal(size=(problems, models)) * np.sqrt(1 - correlation)
    return baseline, baseline + shared + own + effect


def right_or_wrong(
    draw: np.random.Generator, problems: int, models: int, shares: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return right and wrong answers of two methods, some problems easier for all models.

    Some problems also suit all models better with one of the methods: a correlation of one half.
    """
    easy = draw.normal(size=(problems, 1)) * np.sqrt(0.3)
    first, second = (
        easy
        + draw.normal(size=(problems, 1)) * np.sqrt(0.5)
        + draw.normal(size=(problems, models)) * np.sqrt(0.2)
        < special.ndtri(share)
        for share in shares
    )
    return first.astype(np.float64), second.astype(np.float64)


def coverage(
    make: Callable[[np.random.Generator], tuple[Floats, Floats]],
    truth: float,
    runs: int,
) -> float:
    """Return the share of bootstrap intervals that have the truth in them."""
    draw, covered = np.random.default_rng(7), 0
    for _ in range(runs):
        baseline, treatment = make(draw)
        models = baseline.shape[1]
        sums = (treatment - baseline).sum(axis=1)
        found = bootstrap_mean(sums, draw, np.full(sums.size, models), 999)
        assert found.low is not None
        assert found.high is not None
        covered += found.low - 1e-12 <= truth <= found.high + 1e-12
    return covered / runs


def test_intervals_of_graded_answers_cover_their_mean() -> None:
    share = coverage(lambda draw: graded(draw, 50, 1, 0.0, 0.3), 0.3, runs=600)
    assert 0.93 <= share <= 0.97


def test_intervals_by_problem_cover_the_mean_of_several_models() -> None:
    share = coverage(lambda draw: right_or_wrong(draw, 100, 5, (0.5, 0.6)), 0.1, runs=600)
    assert 0.93 <= share <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "truth"),
    [
        (lambda draw: graded(draw, 50, 1, 0.0, 0.3), 0.3),
        (lambda draw: right_or_wrong(draw, 50, 5, (0.5, 0.6)), 0.1),
        (lambda draw: right_or_wrong(draw, 100, 1, (0.5, 0.6)), 0.1),
        (lambda draw: right_or_wrong(draw, 200, 5, (0.9, 0.95)), 0.05),
        (lambda draw: graded(draw, 1000, 1, 0.0, 0.3), 0.3),
    ],
)
def test_coverage_in_many_runs(
    make: Callable[[np.random.Generator], tuple[Floats, Floats]], truth: float
) -> None:
    assert 0.94 <= coverage(make, truth, runs=8000) <= 0.96
