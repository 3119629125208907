"""Shares of outputs with problems as clusters: by hand, by enumeration, and in simulations."""

import math
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta, norm, t

from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.proportions import Pairs, mcnemar, paired_difference, share_ratio, wilson
from ngramscan.statistics.streams import stream
from tests.support.sizes import holds, sets, slow

Integers = NDArray[np.int64]


Outputs = list[tuple[int, int]]


def size_by_pairs(outputs: Outputs, by_problem: bool, level: float) -> float:
    """Return the effective size by its definition, from all pairs of outputs."""
    problems = sorted({problem for problem, _ in outputs})
    own = [[has for other, has in outputs if other == problem] for problem in problems]
    several = [values for values in own if len(values) > 1]

    def unlike(pairs: list[tuple[int, int]]) -> float:
        return sum((a - b) ** 2 for a, b in pairs) / len(pairs) / 2

    within = sum(unlike([*combinations(values, 2)]) for values in several)
    between = np.mean([unlike([*product(*two)]) for two in combinations(own, 2)])
    rho = 1 - min(float(within / (len(several) * between + 0.25)), 1.0)
    weights = [1.0 if by_problem else len(values) for values in own]
    per_output = [w / len(values) for w, values in zip(weights, own, strict=True)]
    apart = sum(w * w * len(values) for w, values in zip(per_output, own, strict=True))
    variance = apart + rho * (sum(w * w for w in weights) - apart)
    m = np.array([len(values) for values in several], dtype=float)
    error = 2 * np.mean(((1 - rho) * (1 + (m - 1) * rho)) ** 2 / (m * (m - 1)))
    error /= max(len(several) - 1, 1)
    squares = [w * w for w in weights]
    relative = ((sum(squares) - apart) / variance) ** 2 * error
    outweighed = 0.4 * rho * (max(squares) / sum(squares) - 1 / len(own))
    degrees = 1 / max(relative / 2 + outweighed, 1e-9)
    tail = (1 + level) / 2
    return float(sum(weights) ** 2 / variance * (norm.ppf(tail) / t.ppf(tail, degrees)) ** 2)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=3, max_size=14).filter(
        lambda outputs: 1 < len({problem for problem, _ in outputs}) < len(outputs)
    ),
    st.booleans(),
    st.sampled_from([0.9, 0.95]),
)
@settings(max_examples=80, deadline=None)
def test_the_effective_size_is_that_of_its_definition(
    outputs: Outputs, by_problem: bool, level: float
) -> None:
    problems, marked = zip(*outputs, strict=True)
    found = ClusteredShare(marked, problems, by_problem).effective_size(level)
    assert found == pytest.approx(size_by_pairs(outputs, by_problem, level), rel=1e-7)


def test_a_share_may_be_the_mean_of_those_of_the_problems() -> None:
    marked, problems = [1, 1, 1, 0, 0], [1, 1, 1, 2, 3]
    assert ClusteredShare(marked, problems).value == 3 / 5
    assert ClusteredShare(marked, problems, by_cluster=True).value == 1 / 3
    single = ClusteredShare([1, 0, 1], [1, 1, 1]).estimate()
    assert single.limits == pytest.approx(wilson(2 / 3, 1).limits)


def test_grades_count_for_as_many_answers_as_vary_as_much() -> None:
    scores = [0.2, 0.4, 1.0, 0.5, 0.5, 0.0, 0.9]
    n, mean = len(scores), float(np.mean(scores))
    as_many = n * mean * (1 - mean) / float(np.var(scores, ddof=1))
    size = as_many * float(norm.ppf(0.975) / t.ppf(0.975, n - 1)) ** 2
    found, expected = ClusteredShare(scores, range(n)).estimate(), wilson(mean * size, size)
    assert (found.value, *found.limits) == pytest.approx((mean, *expected.limits))


@pytest.mark.parametrize(
    "pairs", [Pairs(14, 0, 5, 22), Pairs(1, 7, 1, 12), Pairs(20, 12, 2, 16)], ids=str
)
def test_pairs_of_single_outputs_have_newcombe_s_interval(pairs: Pairs) -> None:
    counts = [pairs.both, pairs.only_first, pairs.only_second, pairs.neither]
    sides = np.repeat([(1, 1), (1, 0), (0, 1), (0, 0)], counts, axis=0).T
    first, second = (ClusteredShare(side, np.arange(sum(counts)), True) for side in sides)
    found, expected = first.difference(second), paired_difference(pairs)
    assert (found.value, *found.limits) == pytest.approx((expected.value, *expected.limits))
    p = mcnemar(pairs.only_first, pairs.only_second)
    assert first.p_value(second, stream(1, "a")) == pytest.approx(p)


def test_at_the_level_of_its_p_value_an_interval_of_shares_ends_at_0() -> None:
    draw, found = np.random.default_rng(35), []
    problems = [np.repeat(np.arange(10), draw.integers(1, most, 10)) for most in (6, 4)]
    for of, share in zip(problems, (0.2, 0.85), strict=True):
        found.append(ClusteredShare(draw.random(of.size) < share, of, True))
    p = found[0].p_value(found[1], stream(1, "a"))
    assert p * 2**10 != round(p * 2**10), "that of sign flips is the larger one"
    assert found[0].difference(found[1], 1 - p).limits[0] == pytest.approx(0, abs=1e-6)


# Simulations


class Population(NamedTuple):
    """Chances of a marker have a beta distribution over problems: their mean and correlation."""

    share: float
    correlation: float

    def of(self, ranks: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chances at ranks in (0, 1)."""
        total = (1 - self.correlation) / self.correlation
        chances = beta.ppf(ranks, self.share * total, (1 - self.share) * total)
        return np.asarray(chances, dtype=np.float64)


def outputs_per_problem(design: str, n: int, random: np.random.Generator) -> Integers:
    """Return the sizes of clusters: `5`, `geometric 5` on average, or `30 × 2` for the first."""
    kind, *numbers = design.split()
    if kind == "geometric":
        return random.geometric(1 / int(numbers[0]), n)
    sizes = np.full(n, int(numbers[-1] if numbers else kind))
    if numbers:
        sizes[0] *= int(kind)
    return sizes


def share_coverage(
    design: str, n: int, populations: list[Population], runs: int
) -> dict[Population, float]:
    random = np.random.default_rng(5)
    found = {}
    for population in populations:
        total = (1 - population.correlation) / population.correlation
        ends = population.share * total, (1 - population.share) * total
        hits = []
        for _ in range(runs):
            problems = np.repeat(np.arange(n), outputs_per_problem(design, n, random))
            marked = random.random(problems.size) < random.beta(*ends, n)[problems]
            hits.append(holds(ClusteredShare(marked, problems).estimate(), population.share))
        found[population] = float(np.mean(hits))
    return found


EVERY = [
    Population(share, correlation)
    for share, correlation in product((0.05, 0.2, 0.5, 0.9, 0.95), (0.05, 0.2, 0.5, 0.9))
]


HARDEST = [Population(0.1, 0.9), Population(0.05, 0.5), Population(0.5, 0.05)]


@pytest.mark.parametrize("n", [20, slow(60)])
@pytest.mark.parametrize("runs", [150, slow(1000)])
@pytest.mark.parametrize(
    "design",
    ["2", "5", "20", "geometric 3", "geometric 10", "10 × 1", "10 × 5", "30 × 2", "100 × 1"],
)
def test_the_interval_of_a_share_covers_it(design: str, runs: int, n: int) -> None:
    coverage = share_coverage(design, n, EVERY if runs == 1000 else HARDEST, runs)
    mean, least = np.mean([*coverage.values()]), min(coverage, key=coverage.__getitem__)
    assert coverage[least] >= (0.93 if runs == 1000 else 0.945 - 3 * math.sqrt(0.05 * 0.95 / runs))
    assert mean <= (0.98 if design.isdigit() else 1.0)


class Sides(NamedTuple):
    """Two sides that answer problems: a part of them the same, with chances that agree or not."""

    shares: tuple[float, float]
    correlation: float
    outputs: tuple[str, str]
    shared: float
    """The part of each side's problems that the other answers too."""
    alike: bool
    """Shared problems have equal ranks on both sides."""

    def draw(
        self, n: int, random: np.random.Generator, by_problem: bool
    ) -> tuple[ClusteredShare, ClusteredShare]:
        ranks = random.random(n), random.random(n)
        shift = n - round(n * self.shared)
        if self.alike:
            ranks[1][: n - shift] = ranks[0][shift:]
        found = []
        for side in (0, 1):
            chances = Population(self.shares[side], self.correlation).of(ranks[side])
            problems = np.repeat(np.arange(n), outputs_per_problem(self.outputs[side], n, random))
            marked = random.random(problems.size) < chances[problems]
            found.append(ClusteredShare(marked, problems + shift * side, by_problem))
        return found[0], found[1]


EVERY_RATIO = [
    Sides(*chosen)
    for chosen in product(
        ((0.5, 0.5), (0.7, 0.3), (0.9, 0.1), (0.3, 0.1)),
        (0.1, 0.4, 0.7),
        (("1", "1"), ("1", "4"), ("5", "5")),
        (0, 0.5, 1),
        (True, False),
    )
]


def ratio_coverage(sides: Sides, n: int, runs: int) -> float:
    random, truth = np.random.default_rng(6), sides.shares[0] / sides.shares[1]
    drawn = (sides.draw(n, random, False) for _ in range(runs))
    return float(np.mean([holds(own.ratio(others, 0.95), truth) for own, others in drawn]))


@pytest.mark.parametrize(
    ("n", "every", "runs"), [(60, 29, 60), *(slow(n, 1, 400) for n in (20, 50, 120))]
)
def test_the_interval_of_a_ratio_covers_it(n: int, every: int, runs: int) -> None:
    coverage = {sides: ratio_coverage(sides, n, runs) for sides in EVERY_RATIO[::every]}
    least = min(coverage, key=coverage.__getitem__)
    mean = np.mean([*coverage.values()])
    assert 0.93 <= mean <= 0.975  # without the pairing, .99 where the problems are the same
    assert coverage[least] >= 0.93 - 3 * math.sqrt(0.95 * 0.05 / runs)


DIFFERENCES = [
    Sides((0.5, 0.5), 0.1, ("5", "5"), 1, True),
    Sides((0.5, 0.5), 0.8, ("5", "5"), 1, False),
    Sides((0.1, 0.1), 0.1, ("1", "5"), 1, True),
    Sides((0.8, 0.5), 0.4, ("geometric 4", "geometric 4"), 1, True),
]
EVERY_DIFFERENCE = [
    Sides(shares, correlation, outputs, 1, alike)
    for shares, correlation, outputs, alike in product(
        ((0.5, 0.5), (0.9, 0.9), (0.1, 0.1), (0.8, 0.5), (0.9, 0.3), (0.3, 0.1)),
        (0.1, 0.4, 0.8),
        (("2", "2"), ("5", "5"), ("1", "5"), ("geometric 4", "geometric 4")),
        (True, False),
    )
]


def of_differences(sides: Sides, n: int, runs: int) -> tuple[float, float]:
    """Return the coverage of the interval, and how often p is at most .05."""
    random, truth = np.random.default_rng(7), sides.shares[1] - sides.shares[0]
    hits, found = [], []
    for number in range(runs):
        first, second = sides.draw(n, random, True)
        hits.append(holds(first.difference(second), truth))
        found.append(first.p_value(second, stream(1, str(number))) <= 0.05)
    return float(np.mean(hits)), float(np.mean(found))


@pytest.mark.parametrize(
    ("every", "n", "runs"),
    [(DIFFERENCES, 20, sets(50)), *(slow(EVERY_DIFFERENCE, n, 300) for n in (20, 60))],
    ids=["a few", "all of 20", "all of 60"],
)
def test_differences_of_problems_are_covered_and_tested_at_their_level(
    every: list[Sides], n: int, runs: int, subtests: pytest.Subtests
) -> None:
    chance, coverages = 3 * math.sqrt(0.95 * 0.05 / runs), []
    for sides in every:
        with subtests.test(sides=sides):
            coverage, share_found = of_differences(sides, n, runs)
            assert coverage >= 0.94 - chance, sides
            if sides.shares[0] == sides.shares[1]:
                assert share_found <= 0.05 + chance, sides
            else:
                assert share_found > 0.5 or every is EVERY_DIFFERENCE, sides
            coverages.append(coverage)
    assert 0.93 <= np.mean(coverages) <= 0.985


@pytest.mark.parametrize("by_problem", [False, True], ids=["of outputs", "of problems"])
@pytest.mark.parametrize(("k", "n"), [(8, 12), (0, 12), (7, 49), (3, 3), (1, 1)])
def test_one_output_for_each_problem_leaves_wilson_s_interval_as_it_is(
    k: int, n: int, by_problem: bool
) -> None:
    assert ClusteredShare(np.arange(n) < k, np.arange(n), by_problem).estimate() == wilson(k, n)


@pytest.mark.parametrize(("k", "n"), [(8, 12), (0, 12), (20, 20)])
def test_copies_of_outputs_count_once(k: int, n: int) -> None:
    marked, problems = np.tile(np.arange(n) < k, 5), np.tile(np.arange(n), 5)
    found = ClusteredShare(marked, problems).estimate()
    assert (found.value, *found.limits) == pytest.approx((k / n, *wilson(k, n).limits))


def test_shares_of_different_problems_are_independent() -> None:
    own, others = [1, 1, 0, 1], [0, 1, 0, 0, 0]
    found = ClusteredShare(own, [1, 2, 3, 4]).ratio(ClusteredShare(others, [5, 6, 7, 8, 9]), 0.95)
    assert found == share_ratio((3, 4), (1, 5), 0.95, (4, 5), 0.0)


def test_the_same_answers_to_the_same_problems_have_a_narrower_ratio() -> None:
    marked = np.arange(60) % 3 == 0
    own, same, other = (ClusteredShare(marked, np.arange(60) + start) for start in (0, 0, 60))
    paired, apart = own.ratio(same, 0.95).limits, own.ratio(other, 0.95).limits
    assert apart[0] < paired[0] / 1.3 < 1 < paired[1] * 1.3 < apart[1]


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=2, max_size=25))
@settings(max_examples=60, deadline=None)
def test_with_more_outputs_on_one_side_the_interval_agrees_with_a_small_p(
    outputs: list[tuple[bool, bool, bool]],
) -> None:
    first, second, third = zip(*outputs, strict=True)
    numbers = np.arange(len(outputs))
    own = ClusteredShare(first, numbers, True)
    others = ClusteredShare([*second, *third], [*numbers, *numbers], True)
    p = own.p_value(others, stream(1, "row"))
    assert 0 <= p <= 1
    assert p > 0.05 or not holds(own.difference(others), 0)


def test_the_order_of_problems_does_not_matter_to_the_test() -> None:
    random = np.random.default_rng(8)
    problems = np.repeat(np.arange(60), random.integers(1, 40, 60))
    first, second = (random.random(problems.size) < share for share in (0.47, 0.5))
    names = random.permutation(60)

    def p_of(numbers: Integers) -> float:
        shares = [ClusteredShare(marked, numbers, True) for marked in (first, second)]
        return shares[0].p_value(shares[1], stream(1, "row"))

    # The differences have no common unit, so that signs are drawn.
    assert 0.02 < p_of(problems) == p_of(names[problems]) < 0.98
