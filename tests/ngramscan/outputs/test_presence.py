"""The test of presence: against exact tests, and where the truth is known."""

from itertools import permutations, product
from statistics import variance

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, fisher_exact, hypergeom

from ngramscan.outputs.presence import (
    _ALIKE,
    FEWEST_PAIRS,
    PresenceTest,
    Sides,
    hypergeometric_tail,
)
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
MANY = [slow(design, ratio, 40) for design, ratio in product(DESIGNS, (0.5, 1, 2))]


@pytest.mark.parametrize(("design", "length_ratio", "runs"), [*SMALL, *MANY], ids=str)
def test_false_discoveries_are_as_few_as_stated_and_power_is_kept(
    design: Design, length_ratio: float, runs: int, subtests: pytest.Subtests
) -> None:
    for factors in FACTORS if runs == 40 else ("none", "topics"):
        for planted in (0, 30) if runs == 40 else (30,):
            population = Population(factors, planted, length_ratio=length_ratio)
            with subtests.test(population=population):
                ours, fisher = simulate(design, population, runs=runs)
                assert ours.false_share <= Q + 2 * ours.error, population
                if fisher_is_valid(design, population):
                    assert ours.power >= 0.9 * fisher.power - 0.02, population


def p_of(design: Design, presence: Flags) -> tuple[PresenceTest, float]:
    """Return the test, and the p-value of what is in some outputs."""
    test = PresenceTest(Sides(*design.outputs()))
    outputs = np.flatnonzero(presence)
    return test, float(test.p_values(np.zeros(1, int), outputs, np.ones(outputs.size, int))[0])


@pytest.mark.parametrize("problems", [(5, 9), (30, 120), (120, 30)], ids=str)
def test_one_output_for_each_problem_has_fisher_s_exact_test(problems: tuple[int, int]) -> None:
    random, design = np.random.default_rng(1), Design(problems)
    is_own = design.outputs()[0]
    for _ in range(20):
        presence = drawn(random, is_own)
        own, others = presence[is_own], presence[~is_own]
        table = np.array([[own.sum(), (~own).sum()], [others.sum(), (~others).sum()]])
        test, p = p_of(design, presence)
        assert not test.paired
        assert p == pytest.approx(fisher_exact(table, "greater").pvalue, rel=1e-9)


def test_one_output_of_each_side_to_a_problem_has_mcnemar_s_exact_test() -> None:
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


def test_longer_outputs_are_compared_in_parts_of_equal_length() -> None:
    design = Design((200, 200))
    is_own = design.outputs()[0]
    sizes = np.where(is_own, 1000, 500)
    test = PresenceTest(Sides(*design.outputs()), sizes)
    assert test.part == pytest.approx(0.5)
    # Once in 80 outputs that are twice as long, and in 40 others: no difference in the rates.
    outputs = np.concatenate([np.flatnonzero(is_own)[:80], np.flatnonzero(~is_own)[:40]])
    positions, counts = np.zeros(1, int), np.ones(120, int)
    assert test.p_values(positions, outputs, counts)[0] == pytest.approx(0.5, abs=0.1)
    equal = PresenceTest(Sides(*design.outputs()))
    assert equal.p_values(positions, outputs, counts)[0] < 1e-4
    assert PresenceTest(Sides(*design.outputs()), 1500 - sizes).part == 1


def test_several_outputs_to_a_problem_count_as_the_definition_says() -> None:
    random = np.random.default_rng(3)
    design = Design((20, 30), (3, 4))
    is_own, problems = design.outputs()
    sides = Sides(is_own, problems)
    for _ in range(10):
        presence = random.random(is_own.size) < np.where(is_own, 0.5, 0.3)
        outputs = np.flatnonzero(presence)
        counts = np.ones(outputs.size, int)
        found = PresenceTest(sides).p_values(np.zeros(1, int), outputs, counts)[0]
        shares: dict[bool, list[float]] = {True: [], False: []}
        alike = 0.0
        for problem in np.unique(problems):
            chosen = problems == problem
            has = presence[chosen].tolist()
            shares[bool(is_own[chosen][0])].append(float(np.mean(has)))
            alike += float(np.mean([a and b for a, b in permutations(has, 2)]))
        total = sum(shares[True]) + sum(shares[False])
        mean = total / 50
        # So many outputs that are alike are added, each to a problem of the mean size.
        added = _ALIKE * (20 / 3 + 30 / 4) / 50
        rho = np.clip(((alike + added) / (total + added) - mean) / (1 - mean), 0, 1)
        per_output = [1 / m + rho * (1 - 1 / m) for m in (3, 4)]
        own, others = sum(shares[True]) / per_output[0], sum(shares[False]) / per_output[1]
        sizes = 20 / per_output[0], 30 / per_output[1]
        assert found == pytest.approx(hypergeometric_tail([own], [own + others], *sizes)[0])


@pytest.mark.parametrize(
    ("others", "paired"),
    [
        pytest.param(range(15, 35), True, id="sides are alike"),
        pytest.param(range(60, 80), False, id="sides are not alike"),
    ],
)
def test_copies_on_one_side_have_the_test_with_the_smaller_variance(
    others: range, paired: bool
) -> None:
    """Three copies of an output to each of 80 problems, and one of the others to each."""
    design = Design((80, 80), (3, 1), shared=True)
    is_own, problems = design.outputs()
    has = np.where(is_own, problems < 30, np.isin(problems, others))
    _, p = p_of(design, has)
    both = len({*range(30)} & {*others})
    in_pairs = binomtest(30 - both, 50 - 2 * both, alternative="greater").pvalue
    unpaired = fisher_exact(np.array([[30, 50], [20, 60]]), "greater").pvalue
    assert p == pytest.approx(in_pairs if paired else unpaired)
