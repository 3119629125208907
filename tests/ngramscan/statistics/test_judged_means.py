"""Means by a judge that errs, corrected by labels: by hand, by regression and in simulations."""

import math

import numpy as np
import pytest

from benchmarks.levels_judged import (
    Population,
    graded_points,
    judged_accuracy,
    judged_difference,
    simulate,
)
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.judged_means import CORRECTED, JudgedMean

NAN = math.nan


def made(n: int, labelled: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return a judge's values of outputs, and labels of the first ones."""
    drawn = judged_accuracy(0.6, 0.9, 0.7).draw(np.random.default_rng(seed), n)
    return drawn.judge, np.where(np.arange(n) < labelled, drawn.people, NAN)


def test_the_value_is_the_mean_of_labels_moved_along_their_regression() -> None:
    judged, labels = made(300, 60)
    slope, _ = np.polyfit(judged[:60], labels[:60], 1)
    found = JudgedMean(judged, labels, 0, 1)
    expected = labels[:60].mean() + slope * (judged.mean() - judged[:60].mean())
    assert found.judge_weight == pytest.approx(slope)
    assert found.value == pytest.approx(expected)
    assert (found.n_labelled, found.labelled_problems) == (60, 60)
    assert found.judged == judged.mean()


def test_limits_combine_those_of_the_judge_and_of_the_errors_left() -> None:
    judged, labels = made(300, 60)
    found = JudgedMean(judged, labels, 0, 1)
    share = found.judge_weight
    errors = BoundedMean(labels[:60] - share * judged[:60], -share, 1).estimate()
    mean = BoundedMean(judged, 0, 1).estimate()
    down = math.hypot(share * (mean.value - mean.limits[0]), errors.value - errors.limits[0])
    up = math.hypot(share * (mean.limits[1] - mean.value), errors.limits[1] - errors.value)
    assert found.estimate().limits == pytest.approx((found.value - down, found.value + up))


@pytest.mark.parametrize("end", [0, 1])
def test_the_p_value_of_a_limit_is_one_minus_the_level(end: int) -> None:
    judged, labels = made(200, 50)
    found = JudgedMean(judged, labels, 0, 1)
    p = found.test(found.estimate(0.9).limits[end])
    assert p.value == pytest.approx(0.1)
    assert (p.procedure, p.n) == (CORRECTED, 50)


@pytest.mark.parametrize(
    ("of_labels", "weight"),
    [
        pytest.param(lambda judged: judged, 1.0, id="a judge that is always right counts whole"),
        pytest.param(lambda judged: 1 - judged, 0.0, id="one that is always wrong does not count"),
        pytest.param(lambda judged: 0 * judged + 1, 0.0, id="nor one that says nothing"),
    ],
)
def test_the_share_of_the_judge_is_from_0_to_1(of_labels: object, weight: float) -> None:
    judged, labels = made(200, 50)
    assert callable(of_labels)
    labels = np.where(np.isnan(labels), NAN, of_labels(judged))
    found = JudgedMean(judged, labels, 0, 1)
    assert found.judge_weight == weight
    truth = judged.mean() if weight else np.nanmean(labels)
    assert found.value == pytest.approx(truth)


def test_a_judge_that_does_not_vary_leaves_the_labels_alone() -> None:
    labels = np.where(np.arange(100) < 40, np.arange(100) % 2, NAN)
    found = JudgedMean(np.ones(100), labels, 0, 1)
    assert found.estimate().limits == pytest.approx(
        BoundedMean(labels[:40], 0, 1).estimate().limits
    )


def test_labels_of_all_outputs_give_their_mean() -> None:
    judged, labels = made(80, 80)
    assert JudgedMean(judged, labels, 0, 1).value == pytest.approx(labels.mean())


def test_fewer_than_ten_labelled_problems_have_only_a_value() -> None:
    judged, labels = made(200, 9)
    found = JudgedMean(judged, labels, 0, 1)
    estimate = found.estimate()
    assert found.value == pytest.approx(judged.mean() + (labels[:9] - judged[:9]).mean())
    assert (estimate.low, estimate.high, found.test(0.5).value) == (None, None, 1.0)
    assert estimate.note == "no interval: 9 labelled problems; 10 are needed"


def test_values_that_are_certain_have_no_error_to_correct() -> None:
    judged, labels = made(200, 50)
    certain = np.zeros(100)
    both, given = np.append(judged, certain), np.append(labels, certain * NAN)
    can_err = np.arange(300) < 200
    found = JudgedMean(both, given, 0, 1, can_err=can_err)
    alone = JudgedMean(judged, labels, 0, 1)
    assert found.judge_weight == alone.judge_weight
    assert found.value == pytest.approx(alone.value * 2 / 3)


def test_answers_to_one_problem_are_one_observation() -> None:
    judged, labels = made(200, 50)
    alone = JudgedMean(judged, labels, 0, 1)
    twice = JudgedMean(
        np.repeat(judged, 2), np.repeat(labels, 2), 0, 1, problems=np.repeat(np.arange(200), 2)
    )
    assert twice.estimate().limits == pytest.approx(alone.estimate().limits)
    assert (twice.n_labelled, twice.labelled_problems) == (100, 50)


def test_weights_count_as_repetitions_do() -> None:
    judged, labels = made(60, 30)
    problems, times = np.arange(60), np.where(np.arange(60) % 3, 1, 2)
    weighed = JudgedMean(judged, labels, 0, 1, problems, times)
    repeated = JudgedMean(
        np.repeat(judged, times), np.repeat(labels, times), 0, 1, np.repeat(problems, times)
    )
    assert weighed.value == pytest.approx(repeated.value)
    assert weighed.estimate().limits == pytest.approx(repeated.estimate().limits)


def test_methods_corrected_alike_differ_by_the_corrected_difference() -> None:
    first, of_first = made(200, 50, seed=1)
    second, of_second = made(200, 50, seed=2)
    difference = JudgedMean(second - first, of_second - of_first, -1, 1)
    baseline = difference.correct(first, of_first)
    assert difference.correct(second, of_second) - baseline == pytest.approx(difference.value)


def test_a_value_beyond_its_bounds_is_at_the_bound() -> None:
    judged = np.arange(100) % 2.0
    labels = np.where(np.arange(100) == 1, 0.0, NAN)  # the judge is wrong in the only one
    assert JudgedMean(judged, labels, 0, 1).value == 0.0


def test_no_label_is_an_error() -> None:
    with pytest.raises(ValueError, match="no value has a label"):
        JudgedMean([0, 1], [NAN, NAN], 0, 1)


SETS, ERROR = 120, 0.02


@pytest.mark.parametrize(
    ("population", "labelled", "n"),
    [
        pytest.param(judged_accuracy(0.5, 0.9, 0.7), 20, 200, id="half right, lenient judge"),
        pytest.param(judged_accuracy(0.8, 0.7, 0.9), 50, 300, id="most right, strict judge"),
        pytest.param(graded_points(0.3), 40, 200, id="grades that the judge draws together"),
        pytest.param(
            judged_difference((0.5, 0.5), (0.9, 0.9), (0.9, 0.7)),
            50,
            300,
            id="equal methods, of which the judge favours one",
        ),
    ],
)
def test_the_interval_covers_where_that_of_the_judge_alone_does_not(
    population: Population, labelled: int, n: int
) -> None:
    found = simulate(population, labelled, n, SETS)
    assert found.corrected >= 0.95 - 2.5 * ERROR
    assert found.judge_alone < 0.8


def test_a_good_judge_makes_the_interval_of_the_labels_narrower() -> None:
    found = simulate(judged_accuracy(0.5, 0.97, 0.97), 50, 500, 30)
    assert found.width < 0.75
