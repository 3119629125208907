"""Simulate how often intervals of judged means and of ranks, and adjusted tests, hold.

    python -m benchmarks.levels_judged [judges|differences|ranks|adjusted] [SETS]

Each line has a population, the number of labels and of outputs, and shares of sets, ± standard
error: how often the interval of the corrected mean covers the truth, that of the judge alone, and
how wide the first is, relative to the interval of the labels alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalcore.paired_tests import compare_pairs
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.judged_means import JudgedMean
from ngramscan.statistics.p_values import benjamini_hochberg, holm
from ngramscan.statistics.ranks import PairTest, estimate_ranks

Floats = NDArray[np.float64]


class Drawn(NamedTuple):
    """Values by people and by the judge of the same outputs, and the true mean of the former."""

    people: Floats
    judge: Floats
    truth: float


@dataclass(frozen=True, slots=True)
class Population:
    """A kind of outputs and of judge."""

    name: str
    draw: Callable[[np.random.Generator, int], Drawn]
    least: int
    most: int = 1


def _judge(
    generator: np.random.Generator, right: Floats, sensitivity: float, specificity: float
) -> Floats:
    chance = np.where(right == 1, sensitivity, 1 - specificity)
    return (generator.random(right.size) < chance).astype(float)


def judged_accuracy(share: float, sensitivity: float, specificity: float) -> Population:
    """Return right and wrong outputs, and a judge that errs in both directions."""

    def draw(generator: np.random.Generator, n: int) -> Drawn:
        right = (generator.random(n) < share).astype(float)
        return Drawn(right, _judge(generator, right, sensitivity, specificity), share)

    name = f"accuracy {share:g}, judge {sensitivity:g} / {specificity:g}"
    return Population(name, draw, 0)


def judged_difference(
    shares: tuple[float, float],
    first: tuple[float, float],
    second: tuple[float, float],
    together: float = 0.5,
) -> Population:
    """Return differences of two methods, whose outputs the judge takes differently."""

    def draw(generator: np.random.Generator, n: int) -> Drawn:
        hardness = generator.random(n)
        is_same = generator.random(n) < together
        other = np.where(is_same, hardness, generator.random(n))
        baseline = (hardness < shares[0]).astype(float)
        treatment = (other < shares[1]).astype(float)
        judged = _judge(generator, treatment, *second) - _judge(generator, baseline, *first)
        return Drawn(treatment - baseline, judged, shares[1] - shares[0])

    judges = f"judges {first[0]:g} / {first[1]:g} and {second[0]:g} / {second[1]:g}"
    return Population(f"accuracies {shares[0]:g} and {shares[1]:g}, {judges}", draw, -1)


def graded_points(lenient: float) -> Population:
    """Return grades in sevenths, and a judge that is too lenient and never far from the middle."""
    grades, shares = np.array([0, 1, 6, 7]) / 7, [0.5, 0.2, 0.1, 0.2]

    def draw(generator: np.random.Generator, n: int) -> Drawn:
        people = generator.choice(grades, n, p=shares)
        noise = generator.normal(lenient, 0.2, n)
        judge = np.clip(np.round((0.6 * people + noise) * 7) / 7, 0, 1)
        return Drawn(people, judge, float(grades @ shares))

    return Population(f"grades in sevenths, judge adds {lenient:g}", draw, 0)


ACCURACIES = [
    judged_accuracy(share, sensitivity, specificity)
    for share in (0.1, 0.5, 0.9)
    for sensitivity, specificity in ((0.9, 0.8), (0.99, 0.97), (0.6, 0.5), (0.8, 1.0))
]
ACCURACIES += [graded_points(0.3), graded_points(0.0)]
DIFFERENCES = [
    judged_difference((0.5, 0.5), (0.9, 0.9), (0.9, 0.7)),
    judged_difference((0.6, 0.7), (0.95, 0.95), (0.95, 0.95)),
    judged_difference((0.3, 0.3), (0.7, 0.8), (0.9, 0.6)),
    judged_difference((0.9, 0.9), (0.97, 0.8), (0.99, 0.5)),
    judged_difference((0.4, 0.6), (0.95, 0.9), (0.8, 0.95), together=0.9),
]
SIZES = ((20, 200), (50, 100), (50, 500), (100, 1000), (200, 2000))
"""Labels, and outputs that are judged."""


class Covered(NamedTuple):
    """Shares of sets in which an interval covers the truth, and its relative width."""

    corrected: float
    judge_alone: float
    labels_alone: float
    width: float
    """Mean width of the corrected interval over that of the labels alone."""


def simulate(population: Population, labelled: int, n: int, sets: int, seed: int = 5) -> Covered:
    """Return how often each of three intervals covers the truth."""
    generator = np.random.default_rng(seed)
    covered, widths = np.zeros(3), np.zeros(2)
    for _ in range(sets):
        drawn = population.draw(generator, n)
        labels = np.full(n, np.nan)
        chosen = generator.permutation(n)[:labelled]
        labels[chosen] = drawn.people[chosen]
        bounds = population.least, population.most
        limits = [
            JudgedMean(drawn.judge, labels, *bounds).estimate().limits,
            BoundedMean(drawn.judge, *bounds).estimate().limits,
            BoundedMean(labels[chosen], *bounds).estimate().limits,
        ]
        covered += [low <= drawn.truth <= high for low, high in limits]
        widths += [limits[0][1] - limits[0][0], limits[2][1] - limits[2][0]]
    corrected, judge_alone, labels_alone = (covered / sets).tolist()
    return Covered(corrected, judge_alone, labels_alone, float(widths[0] / widths[1]))


def rank_coverage(shares: Sequence[float], n: int, sets: int, seed: int = 6) -> float:
    """Return how often the limits of ranks cover all true ranks at once."""
    generator, held = np.random.default_rng(seed), 0
    truths = [1 + sum(other > share for other in shares) for share in shares]
    pairs = [(i, j) for i in range(len(shares)) for j in range(i + 1, len(shares))]
    for _ in range(sets):
        hardness = generator.random(n)
        scores = []
        for share in shares:
            own = np.where(generator.random(n) < 0.5, hardness, generator.random(n))
            scores.append((own < share).astype(float))
        tests = {}
        for i, j in pairs:
            result = compare_pairs(scores[j], scores[i], generator)
            tests[i, j] = PairTest(result.difference.value, result.p.value)
        ranks = estimate_ranks([float(one.mean()) for one in scores], tests)
        held += all(
            rank.low <= truth <= rank.high for rank, truth in zip(ranks, truths, strict=True)
        )
    return held / sets


RANKED = {
    "five equal": [0.6] * 5,
    "ten equal": [0.6] * 10,
    "two groups of five": [0.5] * 5 + [0.6] * 5,
    "ten, a point apart": [0.5 + 0.01 * place for place in range(10)],
    "one ahead of nine equal": [0.8] + [0.6] * 9,
}


def adjusted_findings(effects: int, tests: int, sets: int, seed: int = 7) -> dict[str, Floats]:
    """Return the share of effects found and of findings that are false, for both adjustments."""
    from scipy.special import ndtr

    generator = np.random.default_rng(seed)
    adjustments = {"holm": holm, "bh": benjamini_hochberg}
    shares = {name: np.zeros(2) for name in adjustments}
    for _ in range(sets):
        z = generator.normal(size=tests)
        z[:effects] += 3.0
        p_values = (2 * ndtr(-np.abs(z))).tolist()
        for name, adjust in adjustments.items():
            is_found = np.array(adjust(p_values), dtype=float) <= 0.05
            false = is_found[effects:].sum() / max(1, is_found.sum())
            shares[name] += [is_found[:effects].mean(), false]
    return {name: share / sets for name, share in shares.items()}


def _error(share: float, sets: int) -> float:
    return math.sqrt(max(share * (1 - share), 0.25 / sets) / sets)


def coverage_lines(populations: Sequence[Population], sets: int) -> Iterator[str]:
    """Yield how intervals of judged means cover, for each population and size."""
    for population in populations:
        for labelled, n in SIZES:
            found = simulate(population, labelled, n, sets)
            error = _error(found.corrected, sets)
            yield (
                f"{population.name}, {labelled} of {n}: {found.corrected:.3f} ± {error:.3f},"
                f" judge alone {found.judge_alone:.2f}, labels alone {found.labels_alone:.3f},"
                f" width {found.width:.2f}"
            )


def rank_lines(sets: int) -> Iterator[str]:
    """Yield how limits of ranks cover all at once."""
    for name, shares in RANKED.items():
        for n in (50, 200):
            share = rank_coverage(shares, n, sets)
            yield f"{name}, {n} problems: {share:.3f} ± {_error(share, sets):.3f}"


def adjustment_lines(sets: int) -> Iterator[str]:
    """Yield what adjusted tests find, and which share of it is false."""
    for effects, tests in ((20, 200), (2, 20), (10, 20)):
        for name, (power, false) in adjusted_findings(effects, tests, sets).items():
            findings = f"found {power:.2f}, false {false:.3f}"
            yield f"{effects} effects in {tests} tests, {name}: {findings}"


PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "judges": partial(coverage_lines, ACCURACIES),
    "differences": partial(coverage_lines, DIFFERENCES),
    "ranks": rank_lines,
    "adjusted": adjustment_lines,
}


def main(part: str = "judges", sets: str = "600") -> None:
    """Print the lines of one part."""
    for line in PARTS[part](int(sets)):
        print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
