"""The bootstrap-t: against enumeration of all draws, Student's t, and known populations."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from ngramscan.statistics import resampling
from ngramscan.statistics.resampling import bootstrap_t
from ngramscan.statistics.sign_tests import sign_flip_test, signed_rank_test
from tests.support.paired_answers import graded, right_or_wrong
from tests.support.sizes import holds, sets, slow

Floats = NDArray[np.float64]
Make = Callable[[np.random.Generator, int], Floats]


def enumerated(values: Sequence[float], counts: Sequence[int]) -> tuple[Floats, Floats]:
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


def test_limits_and_p_are_those_of_all_draws() -> None:
    values, counts = [-3.0, 1.0, 2.0], [1, 5, 4]
    sums = np.repeat(values, counts)
    distances, chances = enumerated(values, counts)
    distance = float(stats.ttest_1samp(sums, 0).statistic)
    estimate, p = bootstrap_t(sums, np.random.default_rng(3), draws=100_000)
    assert p is not None
    assert p.value == pytest.approx(2 * chances[distances >= distance - 1e-9].sum(), rel=0.03)
    rare = distances[np.searchsorted(chances.cumsum(), 0.975)]
    student = stats.t(9).ppf(0.975)
    assert rare > student + 1, "else the draws do not matter"
    error = stats.sem(sums)
    assert estimate.limits == pytest.approx((1 - error * rare, 1 + error * student), rel=1e-6)


@pytest.mark.parametrize("distinct", [3, 60])
def test_sums_of_draws_vary_as_sums_of_items_with_replacement_do(distinct: int) -> None:
    items = np.arange(60.0) % distinct
    rows = np.stack([items, items**2 / distinct, np.ones(60), items])
    sums = resampling.drawn_sums(rows, np.random.default_rng(4), 40_000)
    assert (sums[0] > 0).all()
    assert sums.mean(axis=1) == pytest.approx(rows.sum(axis=1), rel=0.01)
    assert np.cov(sums) == pytest.approx(60 * np.cov(rows, ddof=0), rel=0.04)


@pytest.mark.parametrize("distance", [3.9, -3.9])
def test_neither_limits_nor_p_are_closer_than_those_of_student_s_t(
    distance: float,
) -> None:
    near, far = np.linspace(-1, 1, 999), np.linspace(-4, 4, 999)
    assert resampling._rare_distances(far, 4, 0.95) == (far[24], far[-25])
    assert resampling._rare_distances(near, 4, 0.95) == pytest.approx(stats.t(3).interval(0.95))
    found = [resampling._p_value(near, distance, 4, 999) for distance in (3.0, -3.0)]
    assert [p.value for p in found] == pytest.approx([2 * stats.t(3).sf(3.0)] * 2)
    drawn = resampling._p_value(far, distance, 1000, 999)
    q = (1 + np.sum(far >= 3.9)) / 1000  # of one side; the data are one more draw
    expected = 2 * q, 2 * (q * (1 - q) / 999) ** 0.5
    assert (drawn.value, drawn.standard_error) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sums", "reason"),
    [
        pytest.param([1.0], "only 1 problem", id="one problem"),
        pytest.param([1.0, 0.0] * 4, "only 8 problems", id="eight problems"),
        pytest.param(
            [1e6] * 9 + [1e-6] * 90, "only 9 of 99 problems differ", id="nine that matter"
        ),
        pytest.param([0.0] * 30, "all differences are equal", id="no difference"),
        pytest.param([0.1] * 30, "all differences are equal", id="one difference of all"),
    ],
)
def test_sums_without_an_interval_have_a_reason(sums: list[float], reason: str) -> None:
    estimate, p = bootstrap_t(sums, np.random.default_rng(0))
    assert estimate.value == pytest.approx(sum(sums) / len(sums))
    assert (estimate.low, estimate.high, p) == (None, None, None)
    assert estimate.note == f"no interval: {reason}"


@pytest.mark.parametrize(
    "sums",
    [
        pytest.param([1.0] * 9 + [1e-3] * 90, id="ninety small ones matter, too"),
        pytest.param([1.0, 1.005] * 15, id="nearly equal"),
    ],
)
def test_sums_that_hardly_vary_are_tested(sums: list[float]) -> None:
    assert bootstrap_t(sums, np.random.default_rng(0)).p is not None


def test_a_ratio_counts_the_items_that_are_not_zero() -> None:
    assert resampling.Ratio(np.array([0.0, 0, 0, 1]), np.array([0.0, 1, 1, 1])).n == 3


def test_studentized_intervals_need_ten_items_that_are_not_too_unequal() -> None:
    few = resampling.Studentized(np.array([2.0]), np.array([0.1]))
    found = resampling.studentized_interval(few, few, 9, 0.95, 0.0, 10.0)
    assert found.note == "no interval: 9 items; 10 are needed"
    far = resampling.studentized_interval(few, few, 10, 0.95, 1.0, 1.5).note
    assert far.endswith("too few or too unequal: a limit is over 1.5 times as large or as small")
    narrow = resampling.Studentized(np.array([2.0]), np.array([0.01]))
    assert not resampling.studentized_interval(narrow, narrow, 10, 0.95, 0.0, 10.0).note


def test_too_few_draws_for_a_level_have_a_p_value_and_no_interval() -> None:
    values = np.random.default_rng(1).normal(size=30)
    estimate, p = bootstrap_t(values, np.random.default_rng(0), draws=100, level=0.99)
    assert (estimate.low, estimate.high) == (None, None)
    assert estimate.note == "no interval: 100 draws are too few for a level of 0.99"
    assert p is not None


# Populations whose mean is zero
LOST = [0.5, 0.3, 0.15, 0.05]
SYMMETRIC: dict[str, Make] = {
    "normal": lambda draw, n: draw.normal(size=n),
    "Student's t with 3 degrees": lambda draw, n: draw.standard_t(3, size=n),
    "normal, 60% zeros": lambda draw, n: draw.normal(size=n) * (draw.random(n) < 0.4),
    "differences of grades": lambda draw, n: np.rint(
        7 * np.diff(draw.beta(0.3, 0.3, (n, 2)), axis=1)
    ).ravel(),
}
SKEWED: dict[str, Make] = {
    "exponential": lambda draw, n: draw.exponential(size=n) - 1,
    "1 − χ² with 1 degree": lambda draw, n: 1 - draw.chisquare(1, size=n),
    "exponential, 70% zeros": lambda draw, n: draw.gamma(draw.random(n) < 0.3) - 0.3,
    "gains of .1, 10% losses of .9": lambda draw, n: np.where(draw.random(n) < 0.9, 0.1, -0.9),
    "lognormal, log-sd 1": lambda draw, n: draw.lognormal(size=n) - np.exp(0.5),
    "lognormal, log-sd 1.5": lambda draw, n: draw.lognormal(0, 1.5, n) - np.exp(1.125),
    "a grade lost, 5% gain 7": lambda draw, n: draw.choice(np.array([-1.0, 0, 1, 7]), n, p=LOST),
}


def error_rates(make: Make, n: int, runs: int, draws: int, shift: float = 0.0) -> dict[str, float]:
    """Return how often each test finds a mean other than zero, of those that could be made."""
    draw = np.random.default_rng(17)
    found: dict[str, list[float]] = {"bootstrap-t": [], "sign flips": [], "signed ranks": []}
    for _ in range(runs):
        values = make(draw, n) + shift
        if p := bootstrap_t(values, draw, draws=draws).p:
            found["bootstrap-t"].append(p.value)
        found["sign flips"].append(sign_flip_test(values, draw, draws).value)
        found["signed ranks"].append(signed_rank_test(values).value)
    return {test: float(np.mean(np.array(values) <= 0.05)) for test, values in found.items()}


@pytest.mark.parametrize("n", [30, slow(100)])
@pytest.mark.parametrize("name", [*SYMMETRIC, *SKEWED])
def test_how_often_tests_of_a_true_mean_of_zero_err(name: str, n: int) -> None:
    runs = sets(60)
    rates = error_rates((SYMMETRIC | SKEWED)[name], n, runs, draws=399)
    chance = 3 * np.sqrt(0.05 * 0.95 / runs)
    if name in SYMMETRIC:
        assert rates["bootstrap-t"] <= 0.055 + chance
    else:
        assert rates["bootstrap-t"] <= min(rates["sign flips"] + 0.015 + chance / 3, 0.15 + chance)
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


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"sums": []}, "at least one sum", id="nothing"),
        pytest.param({"sums": [math.nan] * 3}, "none missing", id="missing sums"),
        pytest.param({"draws": 0}, "a draw", id="no draw"),
        pytest.param({"sizes": [1, 0, 1]}, "a positive size", id="a size of zero"),
        pytest.param({"sizes": [1, 1]}, "each sum needs a positive size", id="too few sizes"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, Any], problem: str) -> None:
    arguments: dict[str, Any] = {"sums": [1, 2, 3]} | change
    with pytest.raises(ValueError, match=problem):
        bootstrap_t(generator=np.random.default_rng(0), **arguments)


Pair = tuple[Floats, Floats]


@pytest.mark.parametrize(
    ("make", "truth"),
    [
        pytest.param(lambda draw: graded(draw, 50, 1, 0, 0.3), 0.3, id="grades of 50 problems"),
        pytest.param(
            lambda draw: right_or_wrong(draw, 100, 5, (0.5, 0.6)),
            0.1,
            id="five models, 100 problems",
        ),
        slow(
            lambda draw: right_or_wrong(draw, 50, 5, (0.5, 0.6)), 0.1, id="five models, 50 problems"
        ),
        slow(lambda draw: right_or_wrong(draw, 100, 1, (0.5, 0.6)), 0.1, id="right and wrong"),
        slow(lambda draw: right_or_wrong(draw, 200, 5, (0.9, 0.95)), 0.05, id="mostly right"),
        slow(lambda draw: graded(draw, 1000, 1, 0, 0.3), 0.3, id="grades of 1,000 problems"),
    ],
)
def test_intervals_cover_the_mean_of_one_model_and_of_several(
    make: Callable[[np.random.Generator], Pair], truth: float
) -> None:
    draw, covered = np.random.default_rng(7), []
    for _ in range(sets(100)):
        baseline, treatment = make(draw)
        problems, models = baseline.shape
        sums = (treatment - baseline).sum(axis=1)
        low, high = bootstrap_t(sums, draw, np.full(problems, models), 999).estimate.limits
        covered.append(low - 1e-12 <= truth <= high + 1e-12)
    assert abs(np.mean(covered) - 0.95) <= 0.005 + 2.5 * np.sqrt(0.95 * 0.05 / len(covered))


def test_p_is_small_exactly_where_the_interval_excludes_zero() -> None:
    draw, small, runs = np.random.default_rng(4), 0, sets(80)
    for _ in range(runs):
        estimate, p = bootstrap_t(draw.chisquare(1, size=25) - 0.4, draw, draws=399, level=0.9)
        assert p is not None
        assert (p.value <= 0.1) == (not holds(estimate, 0))
        small += p.value <= 0.1
    assert runs / 6 < small < 5 * runs / 6


def test_problems_of_different_sizes_are_drawn_whole() -> None:
    draw = np.random.default_rng(9)
    sizes = draw.integers(1, 6, 40).astype(np.float64)
    sums = draw.exponential(size=40) * sizes - 0.8 * sizes

    def mean_and_error(sums: Floats, sizes: Floats) -> tuple[Any, Any]:
        mean = sums.sum(axis=-1) / sizes.sum(axis=-1)
        squares = (sums - mean[..., None] * sizes) ** 2
        return mean, np.sqrt(40 / 39 * squares.sum(axis=-1)) / sizes.sum(axis=-1)

    mean, error = mean_and_error(sums, sizes)
    chosen = draw.integers(0, 40, (20_000, 40))
    means, errors = mean_and_error(sums[chosen], sizes[chosen])
    distances = (means - mean) / errors
    estimate, p = bootstrap_t(sums, np.random.default_rng(1), sizes, draws=20_000)
    assert p
    assert estimate.value == pytest.approx(mean)
    student = stats.t.ppf(0.975, 39)
    near, far = np.quantile(distances, [0.025, 0.975])
    expected = mean - max(far, student) * error, mean - min(near, -student) * error
    assert estimate.limits == pytest.approx(expected, abs=0.1 * error)
    distance = mean / error
    tail = (distances >= distance).mean() if mean > 0 else (distances <= distance).mean()
    expected_p = max(2 * tail, 2 * stats.t.sf(abs(distance), 39))
    assert p.value == pytest.approx(expected_p, abs=0.01)


def test_a_p_value_that_was_drawn_has_a_standard_error() -> None:
    values = 1.3 - np.random.default_rng(2).chisquare(1, size=40)
    found = [bootstrap_t(values, np.random.default_rng(seed), draws=2000).p for seed in range(40)]
    drawn = [(p.value, p.standard_error) for p in found if p and p.standard_error]
    assert len(drawn) == 40
    spread, _ = np.std(drawn, axis=0)
    assert spread == pytest.approx(np.mean(drawn, axis=0)[1], rel=0.3)


def test_limits_of_many_values_are_nearly_those_of_scipy() -> None:
    values = np.random.default_rng(0).normal(1, 2, 1500)
    ours = bootstrap_t(values, np.random.default_rng(1), draws=20_000).estimate
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=2, batch=500
    ).confidence_interval
    assert ours.value == pytest.approx(values.mean(), rel=1e-12)
    width = float(theirs.high - theirs.low)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.02 * width)
