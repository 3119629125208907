"""The test of presence: against exact tests, and where the truth is known."""

from itertools import product
from statistics import variance

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import hypergeom

from ngramscan.outputs.presence import FEWEST_PAIRS, PresenceTest, Sides, hypergeometric_tail
from tests.support.keyness_designs import FACTORS, Design, Population, Q, simulate
from tests.support.sizes import slow

Flags = NDArray[np.bool_]


# Exact tests


def drawn(random: np.random.Generator, is_own: Flags) -> Flags:
    """Return what is in more outputs of one side, and in one at least."""
    presence = random.random(is_own.size) < np.where(is_own, *random.random(2))
    presence[random.integers(is_own.size)] = True
    return presence


@pytest.mark.parametrize(("total", "drawn"), [(2, 1), (40, 9), (150, 30), (5000, 40)])
def test_the_hypergeometric_tail_is_that_of_scipy(total: int, drawn: int) -> None:
    random = np.random.default_rng(4)
    marked = random.integers(0, total + 1, 200)
    low, high = np.maximum(0, drawn + marked - total), np.minimum(drawn, marked)
    found = random.integers(low, high + 1)
    p = hypergeometric_tail(found, marked, drawn, total - drawn)
    expected = hypergeom.sf(found - 1, total, marked, drawn)
    np.testing.assert_allclose(p, expected, rtol=1e-8, atol=1e-14)


def test_the_hypergeometric_tail_falls_between_integers() -> None:
    steps = np.linspace(1, 20, 191)
    p = hypergeometric_tail(steps, np.full(steps.size, 20.0), 30, 120)
    assert (np.diff(p) < 0).all()


@pytest.mark.parametrize(
    ("is_own", "problems"),
    [
        pytest.param([True, True], [0, 1], id="one side"),
        pytest.param([True, False], [1, 0], id="not sorted by problem"),
        pytest.param([False, True], [0, 0], id="not sorted by side"),
    ],
)
def test_sides_that_are_not_sorted_or_not_both_there_are_refused(
    is_own: list[bool], problems: list[int]
) -> None:
    with pytest.raises(ValueError, match="sorted by problem"):
        Sides(is_own, problems)


@pytest.mark.parametrize(
    ("design", "paired"),
    [
        pytest.param(Design((60, 60), shared=True), True, id="all problems in common"),
        pytest.param(Design((60, 60)), False, id="none in common"),
        pytest.param(Design((30, 120), shared=True), False, id="one side answers many more"),
        pytest.param(Design((100, 115), shared=True), True, id="one side answers a few more"),
        pytest.param(Design((FEWEST_PAIRS - 1,) * 2, shared=True), False, id="few problems"),
    ],
)
def test_problems_are_paired_where_that_loses_little(design: Design, paired: bool) -> None:
    test = PresenceTest(Sides(*design.outputs()))
    assert test.paired == paired
    assert test.problems == ((min(design.problems),) * 2 if paired else design.problems)


def test_the_part_of_longer_outputs_is_above_the_ratio_of_lengths() -> None:
    own, others = [30.0, 50.0], [10.0, 14.0, 24.0]
    error = (variance(others) / 3 + 0.16 * variance(own) / 2) ** 0.5 / 40
    test = PresenceTest(Sides([1] * 2 + [0] * 3, range(5)), own + others)
    assert test.part == pytest.approx(0.4 + error)


# False discoveries and power


DESIGNS = [
    Design(problems, models, shared)
    for problems in [(60, 60), (30, 120), (120, 30), (200, 200)]
    for models in [(1, 1), (5, 5), (1, 5), (5, 1)]
    for shared in (False, True)
]


def fisher_is_valid(design: Design, population: Population) -> bool:
    """Tell whether outputs are independent within the sides, and equally long."""
    independent = design.models == (1, 1) or population.factors == "none"
    return independent and population.length_ratio == 1


SMALL = [
    (Design((60, 60)), 1, 8),
    (Design((60, 60), (3, 3), shared=True), 1, 8),
    (Design((30, 120), (1, 5)), 2, 8),
]
MANY = [slow(*each, 40) for each in product(DESIGNS, (0.5, 1, 2))]


@pytest.mark.parametrize(("design", "length_ratio", "runs"), [*SMALL, *MANY], ids=str)
def test_false_discoveries_are_as_few_as_stated_and_power_is_kept(
    design: Design, length_ratio: float, runs: int
) -> None:
    for factors in FACTORS if runs == 40 else ("none", "topics"):
        for planted in (0, 30) if runs == 40 else (30,):
            population = Population(factors, planted, length_ratio=length_ratio)
            found, fisher = simulate(design, population, runs=runs)
            assert found.false_share <= Q + 2 * found.error, population
            if fisher_is_valid(design, population):
                assert found.power >= 0.9 * fisher.power - 0.02, population
