"""Planned comparisons: published formulas, statsmodels, and simulations of the planned problems."""

import math
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from benchmarks import levels_means as levels
from evalcore.paired_tests import Settings, compare_pairs
from evalcore.pilots import AssumedClusters, assume_variation, make_design
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.planning import (
    Design,
    McNemarDesign,
    StudentDesign,
    TiltingDesign,
    needed_n,
    normal_sample,
)
from ngramscan.statistics.power import mcnemar_power
from tests.support.paired_answers import answers_in_epochs
from tests.support.sizes import sets, slow


def connor(discordance: float, difference: float, power_quantile: float = 0.8416212) -> float:
    """Return the number of pairs for McNemar's test: Connor 1987, doi:10.2307/2531961."""
    at_null = 1.9599640 * math.sqrt(discordance)
    at_difference = power_quantile * math.sqrt(discordance - difference**2)
    return ((at_null + at_difference) / difference) ** 2


@pytest.mark.parametrize(
    ("discordance", "difference"),
    [
        pytest.param(0.2, 0.05, id="a fifth differ, 5 points"),
        pytest.param(0.3, 0.1, id="three tenths differ, 10 points"),
        pytest.param(0.5, 0.05, id="half differ, 5 points"),
        pytest.param(0.1, 0.02, id="a tenth differ, 2 points"),
    ],
)
def test_the_needed_pairs_of_mcnemar_s_test_are_connor_s(
    discordance: float, difference: float
) -> None:
    found = needed_n(McNemarDesign(discordance), difference)
    assert found == pytest.approx(connor(discordance, difference), rel=0.02)


def test_the_needed_pairs_of_student_s_test_are_statsmodels_s() -> None:
    theirs = TTestPower().solve_power(effect_size=0.25, alpha=0.05, power=0.9)
    assert needed_n(StudentDesign(0.2), 0.05, 0.9) == math.ceil(theirs)


DESIGNS: list[Any] = [
    pytest.param(McNemarDesign(0.3), 0.1, id="right and wrong answers"),
    pytest.param(StudentDesign(0.4), 0.1, id="graded answers, by bootstrap"),
    pytest.param(TiltingDesign(normal_sample(0.4)), 0.1, id="graded answers, by tilting"),
    pytest.param(TiltingDesign(normal_sample(0.05)), 0.02, id="answers that hardly vary"),
]


@pytest.mark.parametrize(("design", "difference"), DESIGNS)
def test_the_needed_number_is_the_first_with_the_power(design: Design, difference: float) -> None:
    n = needed_n(design, difference)
    assert n is not None
    assert design.power_at(n, difference) >= 0.8 - 1e-9
    assert design.power_at(n - 1, difference) < 0.8
    assert design.detectable(n) == pytest.approx(difference, rel=0.02)
    assert (design.detectable(n) or 1.0) <= difference + 1e-9


@pytest.mark.parametrize(("design", "difference"), DESIGNS)
def test_power_rises_with_the_number_of_problems_and_the_difference(
    design: Design, difference: float
) -> None:
    by_n = [design.power_at(n, difference) for n in (20, 60, 200, 600, 2000)]
    assert by_n == sorted(by_n)
    assert by_n[-1] > by_n[0]
    assert design.power_at(100, difference) < design.power_at(100, 1.5 * difference)


def test_a_smaller_discordance_than_the_difference_is_impossible() -> None:
    assert McNemarDesign(0.01).power_at(100, 0.1) == mcnemar_power(100, 0.1, 0.1)


def test_no_number_is_given_beyond_ten_million() -> None:
    assert needed_n(McNemarDesign(0.5), 1e-5) is None


def test_one_problem_has_no_power() -> None:
    design = TiltingDesign(normal_sample(0.1))
    assert (design.power_at(1, 0.5), design.detectable(1)) == (0.0, None)
    assert StudentDesign(0.1).power_at(1, 0.5) == 0.0
    assert StudentDesign(0.1).detectable(1) is None


def test_power_of_a_window_of_counts_is_that_of_all() -> None:
    # With 50,000 pairs the window leaves out most counts; the normal approximation is exact there.
    n = round(connor(0.3, 0.01))
    assert mcnemar_power(n, 0.3, 0.01) == pytest.approx(0.8, abs=0.002)


@pytest.mark.parametrize("epochs", [1, 4])
def test_the_planned_problems_find_the_difference_as_often_as_planned(epochs: int) -> None:
    big = answers_in_epochs(np.random.default_rng(1), 200_000, 2, 0.6)
    first, second, _ = (values.reshape(2, -1) for values in big)
    accuracies = float(first.mean()), float(second.mean())
    agreement = float((first == second).mean())
    self_agreement = float(np.mean([(own[0] == own[1]).mean() for own in (first, second)]))
    variation = assume_variation(accuracies, agreement, self_agreement)
    design = make_design(variation, epochs, AssumedClusters())
    n = needed_n(design, accuracies[1] - accuracies[0])
    assert n is not None
    draw, runs = np.random.default_rng(2), sets(150)
    found = sum(
        compare_pairs(*answers[:2], draw, Settings(), answers[2]).p.value <= 0.05
        for answers in (answers_in_epochs(draw, n, epochs, 0.6) for _ in range(runs))
    )
    assert found / runs == pytest.approx(0.8, abs=2.5 * math.sqrt(0.16 / runs))


def test_the_planned_clusters_find_the_difference_as_often_as_planned() -> None:
    size, icc = 5, 0.3
    clusters = AssumedClusters(size, icc)
    variation = assume_variation((0.5, 0.6), 0.6, None)
    design = make_design(variation, 1, clusters)
    n = needed_n(design, 0.1)
    assert n is not None
    draw, runs, found = np.random.default_rng(4), sets(150), 0
    for _ in range(runs):
        # A problem has the difference of its cluster with the probability √icc.
        values = draw.choice([-1.0, 0.0, 1.0], (n, size + 1), p=[0.15, 0.6, 0.25])
        is_shared = draw.random((n, size)) < math.sqrt(icc)
        sums = np.where(is_shared, values[:, :1], values[:, 1:]).sum(axis=1)
        found += BoundedMean(sums, -1, 1, np.full(n, size)).test(0.0).value <= 0.05
    assert found / runs == pytest.approx(0.8, abs=2.5 * math.sqrt(0.16 / runs))


@pytest.mark.parametrize(
    ("name", "n"),
    [
        pytest.param("uniform", 50, id="uniform"),
        pytest.param("80 % zeros, gains of .3", 100, id="sparse gains"),
        pytest.param("sevenths, half ties", 100, id="grades with ties"),
        pytest.param("normal, sd .03", 30, id="values that hardly vary"),
        *(slow(name, n) for name in levels.SPREADS for n in (50, 100, 200, 500)),
    ],
)
def test_a_detectable_gain_of_graded_answers_is_found_as_often_as_it_says(
    name: str, n: int
) -> None:
    pilots, per_pilot = sets(15), 10
    power = levels.power_at_detectable(name, n, pilots, per_pilot)
    # Pilots estimate the spread: few of 90 % zeros are none.
    assert 0.66 <= power <= 0.92
