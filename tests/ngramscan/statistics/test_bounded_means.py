"""Means between bounds: Wilson's interval, their own p-values, and simulations."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from benchmarks import levels_means as levels
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.proportions import wilson
from ngramscan.statistics.resampling import bootstrap_t
from tests.support.sizes import sets, slow

Floats = NDArray[np.float64]
Make = Callable[[np.random.Generator, int], Floats]


def by_definition(values: Floats, mean: float, least: float, most: float) -> float:
    """Return the p-value with the variance of weights that are found as a constrained minimum.

    Of all weights with that mean, the tilted ones are nearest to those of the sample (least
    Kullback–Leibler divergence).
    """
    n, bound = len(values), least if values.mean() > mean else most
    points = np.append(values, bound) - mean
    own = np.append(np.ones(n), 0.2) / (n + 0.2)

    def divergence(weights: Floats) -> float:
        return float(weights @ np.log(np.maximum(weights, 1e-300) / own))

    sums = optimize.LinearConstraint(np.stack([np.ones(n + 1), points]), [1, 0], [1, 0])
    options: Any = {"maxiter": 1000, "ftol": 1e-14}
    found = optimize.minimize(
        divergence, own, bounds=[(0, 1)] * (n + 1), constraints=sums, options=options
    )
    assert found.success
    variance = float(found.x @ points**2)
    distance = abs(values.mean() - mean) / math.sqrt(variance / n)
    return 2 * float(stats.t.sf(distance, n - 1))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([0, 0, 0, 0.5, 0.25, 1], id="half zeros"),
        pytest.param([0.1, 0.4, 0.4, 0.9], id="four values"),
        pytest.param([0.25, 0.25], id="two equal values"),
    ],
)
def test_p_values_are_those_of_the_definition_and_limits_have_them(values: list[float]) -> None:
    found = BoundedMean(values, 0, 1)
    means, own = (0.05, 0.35, 0.8), np.array(values)
    expected = [by_definition(own, mean, 0, 1) for mean in means]
    assert [found.test(mean).value for mean in means] == pytest.approx(expected, rel=1e-3)
    estimate = found.estimate(0.9)
    assert [found.test(limit).value for limit in estimate.limits] == pytest.approx([0.1, 0.1])
    fourfold = BoundedMean(4 * np.array(values), 0, 1, [4] * len(values)).estimate(0.9)
    assert fourfold.limits == pytest.approx(estimate.limits)


@pytest.mark.parametrize(
    ("ones", "n"),
    [
        (0, 12),
        (3, 12),
        (12, 12),
        (1, 3),
    ],
)
def test_values_at_the_bounds_have_wilson_s_interval_with_student_s_t(ones: int, n: int) -> None:
    level = 1 - 2 * float(stats.norm.sf(stats.t.ppf(0.975, n - 1)))
    found = BoundedMean([1] * ones + [0] * (n - ones), 0, 1).estimate()
    assert (found.value, *found.limits) == pytest.approx((ones / n, *wilson(ones, n, level).limits))
    wide = BoundedMean([1] * ones + [-1] * (n - ones), -1, 1).estimate()
    assert wide.limits == pytest.approx([2 * limit - 1 for limit in found.limits])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param([[]], "at least one sum", id="nothing"),
        pytest.param([[0.5, 0.5], [1]], "a positive size for each", id="too few sizes"),
        pytest.param([[0.5], [0]], "a positive size for each", id="a size of zero"),
        pytest.param([[math.nan]], "missing or not from 0 to 1", id="missing"),
        pytest.param([[1.2]], "missing or not from 0 to 1", id="above 1"),
        pytest.param([[-0.1]], "missing or not from 0 to 1", id="below 0"),
    ],
)
def test_what_is_no_mean_is_refused(arguments: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        BoundedMean(arguments[0], 0, 1, *arguments[1:])


def test_one_heavy_problem_alone_shows_nothing() -> None:
    points, differences = np.ones(40), np.zeros(40)
    points[0], differences[0] = 200, 0.4
    found = BoundedMean(differences * points, -1, 1, points)
    low, high = found.estimate().limits
    assert low < -0.5
    assert high > 0.5
    assert found.test(0.0).value > 0.5


@pytest.mark.parametrize("name", levels.DIFFERENCES)
def test_equal_sizes_change_nothing(name: str) -> None:
    values = levels.DIFFERENCES[name].draw(np.random.default_rng(8), 50)
    plain = BoundedMean(values, -1, 1)
    weighted = BoundedMean(7 * values, -1, 1, [7] * 50)
    assert weighted.estimate().limits == pytest.approx(plain.estimate().limits, abs=1e-9)
    assert weighted.test(0.01).value == pytest.approx(plain.test(0.01).value, abs=1e-9)


def test_a_little_more_weight_changes_little() -> None:
    values = np.random.default_rng(9).uniform(-0.5, 0.7, 100)
    points = np.where(np.arange(100) % 2, 1.0, 1.2)
    (low, high), (plain_low, plain_high) = (
        mean.estimate().limits
        for mean in (BoundedMean(values * points, -1, 1, points), BoundedMean(values, -1, 1))
    )
    assert (high - low) / (plain_high - plain_low) < 1.05


UNEQUAL = [(sizes, name) for sizes in levels.SIZES for name in levels.DIFFERENCES]
BRIEFLY = [
    ("100 of 1, 3 of 30", "60 % differ, equal"),
    ("90 of 1, 10 of 10", "30 % differ, equal"),
    ("lognormal, log-sd 1, 40", "40 % differ, +20"),
    ("uniform 5 to 30, 18", "30 % differ, equal"),
]


@pytest.mark.parametrize(
    ("sizes", "differences"),
    [*BRIEFLY, *(slow(*case) for case in UNEQUAL if case not in BRIEFLY)],
)
def test_means_of_unequal_problems_miss_the_truth_as_rarely_as_they_say(
    sizes: str, differences: str
) -> None:
    runs = sets(150)
    make = partial(levels.draw_weighted, sizes=sizes, differences=differences)
    assert levels.misses(make, runs) <= 0.06 + 2 * math.sqrt(0.06 * 0.94 / runs)


@pytest.mark.parametrize("gain", [0.0, 0.3])
@pytest.mark.parametrize("epochs", levels.EPOCHS)
def test_means_of_unequal_epochs_miss_the_truth_as_rarely_as_they_say(
    epochs: str, gain: float
) -> None:
    runs = sets(100)
    make = partial(levels.draw_epochs, epochs=epochs, gain=gain)
    assert levels.misses(make, runs) <= 0.06 + 2 * math.sqrt(0.06 * 0.94 / runs)


# Coverage


def mostly_zero(share: float, values: Make) -> Make:
    return lambda draw, n: np.where(draw.random(n) < share, 0.0, values(draw, n))


VALUES: dict[str, tuple[Make, float]] = {
    "ones": (lambda draw, n: np.ones(n), 1),
    "quarters": (lambda draw, n: np.full(n, 0.25), 0.25),
    "Beta(.5, .5)": (lambda draw, n: draw.beta(0.5, 0.5, n), 0.5),
    "Beta(2, 5)": (lambda draw, n: draw.beta(2, 5, n), 2 / 7),
    "Beta(.2, 2)": (lambda draw, n: draw.beta(0.2, 2, n), 1 / 11),
    "nine of ten small": (lambda draw, n: np.where(draw.random(n) < 0.1, 1, 0.05), 0.145),
}
MEANS: dict[str, tuple[Make, float]] = {
    f"{share:.0%} zeros, {name}": (mostly_zero(share, make), (1 - share) * mean)
    for share in (0.5, 0.7, 0.8, 0.9, 0.95)
    for name, (make, mean) in VALUES.items()
    # At n = 20 Wilson's lower limit of a single one is above this mean, .007.
    if not (share == 0.95 and name == "nine of ten small")
} | {
    f"four epochs, success {a:g} of {a + b:g}": (
        lambda draw, n, a=a, b=b: draw.binomial(4, draw.beta(a, b, n)) / 4,
        a / (a + b),
    )
    for a, b in ((0.02, 0.98), (0.05, 0.95), (0.1, 0.9), (1, 9), (0.3, 0.3), (5, 5))
}
BRIEF = ["80% zeros, Beta(.5, .5)", "90% zeros, Beta(.2, 2)", "70% zeros, nine of ten small"]


def misses(make: Make, truth: float, bounds: tuple[float, float], n: int, runs: int) -> float:
    """Return how often an interval excludes the true mean."""
    draw, missed = np.random.default_rng(11), 0
    for _ in range(runs):
        missed += BoundedMean(make(draw, n), *bounds).test(truth).value <= 0.05
    return missed / runs


@pytest.mark.parametrize("n", [20, *(slow(n) for n in (10, 50, 200))])
@pytest.mark.parametrize("name", [*BRIEF, *(slow(name) for name in MEANS if name not in BRIEF)])
def test_intervals_cover_means_of_values_that_are_mostly_zero(name: str, n: int) -> None:
    make, truth = MEANS[name]
    runs = sets(200)
    assert misses(make, truth, (0, 1), n, runs) <= 0.07 + 2 * math.sqrt(0.07 * 0.93 / runs)


def gains(share: float, loss: float, spread: float = 0.0) -> Make:
    """Return differences of which most are small gains and some are losses; their mean is 0."""
    gain = share * loss / (1 - share)
    return lambda draw, n: np.where(
        draw.random(n) < share, -loss, gain + spread * draw.uniform(-1, 1, n)
    )


def epochs(answers: int) -> Make:
    """Return differences of the shares of right answers to problems of different difficulty."""

    def make(draw: np.random.Generator, n: int) -> Floats:
        difficulty = draw.beta(1, 1, n)
        first, second = (draw.binomial(answers, difficulty) / answers for _ in range(2))
        return second - first

    return make


def lopsided(draw: np.random.Generator, n: int) -> Floats:
    """Return sums over five models: a twentieth of the problems is gained by all of them."""
    gained = draw.random(n) < 0.05
    return np.where(gained, 1.0, -draw.binomial(5, 0.05 / 0.95, n) / 5)


DIFFERENCES: dict[str, Make] = {
    "normal": lambda draw, n: np.clip(draw.normal(0, 0.3, n), -1, 1),
    "means of 4 answers": epochs(4),
    "gains of .047, 5 % losses of .9": gains(0.05, 0.9),
    "gains of .1, 10 % losses of .9": gains(0.1, 0.9),
    "gains of .2, 20 % losses of .8": gains(0.2, 0.8),
    "gains around .1, 10 % losses of .9": gains(0.1, 0.9, 0.1),
    "half zeros, gains of .1, losses of .9": mostly_zero(0.5, gains(0.1, 0.9)),
    "80 % zeros, gains of .3, losses of .7": mostly_zero(0.8, gains(0.3, 0.7)),
    "a seventh lost by half, 1 gained by 5 %": lambda draw, n: draw.choice(
        np.array([-1 / 7, 0, 1 / 7, 1]), n, p=[0.5, 0.3, 0.15, 0.05]
    ),
    "five models, lopsided": lopsided,
}


@pytest.mark.parametrize("n", [20, *(slow(n) for n in (10, 30, 50, 200))])
@pytest.mark.parametrize("name", DIFFERENCES)
def test_no_difference_is_found_where_there_is_none(name: str, n: int) -> None:
    runs = sets(120)
    found = misses(DIFFERENCES[name], 0.0, (-1, 1), n, runs)
    assert found <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(np.random.default_rng(5).random(10), id="uniform"),
        pytest.param(np.random.default_rng(5).random(60) ** 9, id="mostly small"),
        pytest.param(np.full(3, 0.3), id="equal"),
        pytest.param(np.zeros(10), id="zeros"),
    ],
)
def test_limits_have_a_p_value_of_one_minus_the_level_within_the_bounds(values: Floats) -> None:
    mean = BoundedMean(values, 0, 1)
    low, high = mean.estimate(0.9).limits
    assert 0 <= low <= mean.value <= high <= 1
    p_values = [mean.test(limit).value for limit in (low, high) if limit not in {0, 1}]
    assert p_values == pytest.approx([0.1] * len(p_values), abs=1e-6)
    mirrored = BoundedMean(1 - values, 0, 1).estimate(0.9)
    assert mirrored.limits == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_a_single_value_has_no_limits_but_the_bounds() -> None:
    single = BoundedMean([0.4], 0, 1)
    assert (single.estimate().limits, single.test(0.9).value) == ((0, 1), 1)


def test_the_order_of_problems_of_unequal_sizes_does_not_matter() -> None:
    draw = np.random.default_rng(6)
    sums, sizes = draw.integers(-5, 6, 40) / 3, draw.integers(2, 6, 40)
    order = draw.permutation(40)
    ordered, shuffled = (
        BoundedMean(sums, -1, 1, sizes),
        BoundedMean(sums[order], -1, 1, sizes[order]),
    )
    assert ordered.value == pytest.approx(sums.sum() / sizes.sum())
    assert ordered.estimate() == shuffled.estimate()
    assert ordered.test(0.0) == shuffled.test(0.0)


def test_a_difference_of_zero_but_for_rounding_errors_is_none() -> None:
    values = [0.1, 0.2, -0.3, 0.7, -0.6, -0.1] * 5
    assert BoundedMean(values, -1, 1).test(0.0).value == 1
    few = [1.0] + [0.05] * 9 + [0.0] * 10
    assert BoundedMean(few, 0, 1).test(0.0725).value == 1


def test_differences_are_found_nearly_as_often_as_by_resampling() -> None:
    draw, found, runs = np.random.default_rng(4), np.zeros(2), sets(100)
    for _ in range(runs):
        values = np.clip(draw.normal(0.12, 0.3, 60), -1, 1)
        drawn = bootstrap_t(values, draw, draws=399).p
        assert drawn is not None
        found += BoundedMean(values, -1, 1).test(0.0).value <= 0.05, drawn.value <= 0.05
    ours, theirs = found / runs
    assert theirs > 0.75
    assert ours > theirs - 0.1
