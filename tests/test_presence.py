"""The test of presence: against exact tests, and where the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, fisher_exact, hypergeom

from ngramscan.outputs.presence import FEWEST_PAIRS, PresenceTest, Sides, hypergeometric_tail
from tests.support.keyness_designs import FACTORS, Design, Population, Q, simulate
from tests.support.sizes import sets

Flags = NDArray[np.bool_]


def p_of(design: Design, presence: Flags) -> tuple[PresenceTest, float]:
    """Return the test, and the p-value of what is in some outputs."""
    test = PresenceTest(Sides(*design.outputs()))
    outputs = np.flatnonzero(presence)
    return test, float(test.p_values(np.zeros(1, int), outputs, np.ones(outputs.size, int))[0])


# Exact tests


def drawn(random: np.random.Generator, is_own: Flags) -> Flags:
    """Return what is in more outputs of one side, and in one at least."""
    presence = random.random(is_own.size) < np.where(is_own, *random.random(2))
    presence[random.integers(is_own.size)] = True
    return presence


@pytest.mark.parametrize("problems", [(5, 9), (30, 120), (120, 30)])
def test_one_output_per_problem_is_fisher_s_exact_test(problems: tuple[int, int]) -> None:
    random, design = np.random.default_rng(1), Design(problems)
    is_own = design.outputs()[0]
    for _ in range(20):
        presence = drawn(random, is_own)
        own, others = presence[is_own], presence[~is_own]
        table = np.array([[own.sum(), (~own).sum()], [others.sum(), (~others).sum()]])
        test, p = p_of(design, presence)
        assert not test.paired
        assert p == pytest.approx(fisher_exact(table, "greater").pvalue, rel=1e-9)


def test_one_output_per_side_and_problem_is_mcnemar_s_exact_test() -> None:
    random, design = np.random.default_rng(2), Design((80, 80), shared=True)
    is_own = design.outputs()[0]
    for _ in range(20):
        presence = drawn(random, is_own)
        first = int((presence[is_own] & ~presence[~is_own]).sum())
        second = int((~presence[is_own] & presence[~is_own]).sum())
        expected = binomtest(first, first + second, alternative="greater").pvalue if first else 1.0
        test, p = p_of(design, presence)
        assert test.paired
        assert p == pytest.approx(expected, rel=1e-9)


def test_the_hypergeometric_tail_is_that_of_scipy_and_grows_between_integers() -> None:
    random = np.random.default_rng(4)
    for total, drawn in [(2, 1), (40, 9), (150, 30), (5000, 40)]:
        marked = random.integers(0, total + 1, 200)
        low, high = np.maximum(0, drawn + marked - total), np.minimum(drawn, marked)
        found = random.integers(low, high + 1)
        p = hypergeometric_tail(found, marked, drawn, total - drawn)
        expected = hypergeom.sf(found - 1, total, marked, drawn)
        np.testing.assert_allclose(p, expected, rtol=1e-8, atol=1e-14)
    steps = np.linspace(1, 20, 191)
    p = hypergeometric_tail(steps, np.full(steps.size, 20.0), 30, 120)
    assert (np.diff(p) < 0).all()


def test_sides_are_sorted_and_both_there() -> None:
    ordered, unsorted = [0, 1], [1, 0]
    cases = ([True, True], ordered), ([True, False], unsorted), ([False, True], [0, 0])
    for is_own, problems in cases:
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


def test_longer_outputs_are_compared_in_parts_of_equal_length() -> None:
    design = Design((200, 200))
    is_own = design.outputs()[0]
    sizes = np.where(is_own, 1000, 500)
    test = PresenceTest(Sides(*design.outputs()), sizes)
    assert test.part == pytest.approx(0.5)
    # Once in 80 outputs that are twice as long, and in 40 others: no difference in the rates.
    outputs = np.concatenate([np.flatnonzero(is_own)[:80], np.flatnonzero(~is_own)[:40]])
    p = test.p_values(np.zeros(1, int), outputs, np.ones(120, int))
    assert p[0] == pytest.approx(0.5, abs=0.1)
    equal = PresenceTest(Sides(*design.outputs()))
    assert equal.p_values(np.zeros(1, int), outputs, np.ones(120, int))[0] < 1e-4
    assert PresenceTest(Sides(*design.outputs()), 1500 - sizes).part == 1


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


@pytest.mark.parametrize(
    ("design", "length_ratio"),
    [
        (Design((60, 60)), 1),
        (Design((60, 60), (1, 1), shared=True), 2),
        (Design((60, 60), (3, 3), shared=True), 1),
        (Design((30, 120), (1, 5)), 2),
        (Design((30, 120), (5, 1), shared=True), 1),
        (Design((120, 30), (3, 3)), 1),
    ],
    ids=str,
)
def test_false_discoveries_are_as_few_as_stated_and_power_is_kept(
    design: Design, length_ratio: float
) -> None:
    for factors in ("none", "topics"):
        population = Population(factors, length_ratio=length_ratio)
        found, fisher = simulate(design, population, runs=sets(8))
        assert found.false_share <= Q + 2 * found.error
        if fisher_is_valid(design, population):
            assert found.power >= 0.9 * fisher.power


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("length_ratio", [0.5, 1, 2])
def test_false_discoveries_in_many_simulations(design: Design, length_ratio: float) -> None:
    for factors in FACTORS:
        for planted in (0, 30):
            population = Population(factors, planted, length_ratio=length_ratio)
            found, fisher = simulate(design, population, runs=40)
            assert found.false_share <= Q + 2 * found.error, population
            if fisher_is_valid(design, population):
                assert found.power >= 0.9 * fisher.power - 0.02, population
