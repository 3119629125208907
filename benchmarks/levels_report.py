"""Levels and coverage behind the sentences of a report, by simulation.

    python benchmarks/levels_report.py [SETS]

Prints, for each population, its numbers of problems, the share of sets (600 by default) in which a
test rejects a true null hypothesis, or an interval has the true value, with the standard error.
First differences and means of what outputs copy, as `trace` estimates them; then shares of labels
of judges; then null reports with one or several kinds of rows, and how many claim anything.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngramscan.reporting.kinds import all_kinds
from ngramscan.reporting.page.results import Results
from ngramscan.reporting.sentences.assemble import sentences
from ngramscan.reporting.sentences.sentence import Sentence
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.estimates import fields_of
from ngramscan.statistics.p_values import holm
from ngramscan.statistics.proportions import (
    Pairs,
    mid_p_mcnemar,
    paired_difference,
    stratified_share,
)

Draw = np.random.Generator
Floats = NDArray[np.float64]
SETS = 600
LEVEL = 0.95


class Differences(NamedTuple):
    """Differences of copied shares, one or several for each problem, whose true mean is 0."""

    name: str
    draw: Callable[[Draw, int], Floats]
    """Draw so many problems."""


class Shares(NamedTuple):
    """Copied shares of outputs, several for each problem."""

    name: str
    mean: float
    draw: Callable[[Draw, int], tuple[Floats, Floats]]
    """Draw the sums and sizes of so many problems."""


def whole_or_little(share: float, copied: float) -> Callable[[Draw, int], Floats]:
    """Return a population: one prompt copies some outputs whole, the other a little everywhere."""

    def drawn(draw: Draw, n: int) -> Floats:
        whole = np.where(draw.random(n) < share, copied, 0.0)
        mean = share * copied
        return whole - draw.beta(200 * mean, 200 * (1 - mean), n)

    return drawn


def both_copy_some(share: float) -> Callable[[Draw, int], Floats]:
    """Return a population: each prompt copies parts of its own outputs, alike."""

    def drawn(draw: Draw, n: int) -> Floats:
        sides = np.where(draw.random((2, n)) < share, draw.beta(1, 3, (2, n)), 0.0)
        return np.asarray(sides[0] - sides[1])

    return drawn


def both_copy_much(draw: Draw, n: int) -> Floats:
    """Draw differences of two prompts whose outputs are copied by a third or so."""
    ease = draw.normal(0, 0.5, n)
    sides = 1 / (1 + np.exp(0.7 - ease - draw.normal(0, 0.5, (2, n))))
    return np.asarray(sides[0] - sides[1])


def rare_halves(draw: Draw, n: int) -> Floats:
    """Draw differences where a tenth of the outputs of one prompt is copied by half."""
    return np.where(draw.random(n) < 0.1, draw.uniform(0.3, 0.7, n), 0.0) - draw.beta(10, 190, n)


DIFFERENCES = (
    Differences("5% copied whole, the other .05 everywhere", whole_or_little(0.05, 1.0)),
    Differences("5% copied by .9, the other .045 everywhere", whole_or_little(0.05, 0.9)),
    Differences("2% copied whole, the other .02 everywhere", whole_or_little(0.02, 1.0)),
    Differences("20% copied whole, the other .2 everywhere", whole_or_little(0.2, 1.0)),
    Differences("10% copied by half, the other .05 everywhere", rare_halves),
    Differences("each copies parts of 30%", both_copy_some(0.3)),
    Differences("each copies parts of 5%", both_copy_some(0.05)),
    Differences("a third of all words of both", both_copy_much),
)


def shares_of(
    sizes_of: Callable[[Draw, int], NDArray[np.int64]], alike: float, mean: float
) -> Callable[[Draw, int], tuple[Floats, Floats]]:
    """Return a population of problems with some sizes, whose outputs are more or less alike."""

    def drawn(draw: Draw, n: int) -> tuple[Floats, Floats]:
        sizes = sizes_of(draw, n)
        centres = draw.beta(mean * alike, (1 - mean) * alike, n)
        sums = np.array(
            [
                draw.beta(max(20 * centre, 1e-3), max(20 * (1 - centre), 1e-3), size).sum()
                for centre, size in zip(centres, sizes, strict=True)
            ]
        )
        return sums, sizes.astype(np.float64)

    return drawn


def geometric(draw: Draw, n: int) -> NDArray[np.int64]:
    """Draw sizes that are often 1 and sometimes 10."""
    return draw.geometric(0.4, n).astype(np.int64)


def two_of_ten(_: Draw, n: int) -> NDArray[np.int64]:
    """Return sizes of 1, but of 10 for a twentieth of the problems."""
    return np.where(np.arange(n) < max(1, n // 20), 10, 1)


def six_or_one(_: Draw, n: int) -> NDArray[np.int64]:
    """Return sizes of six models for half of the problems, and of one for the others."""
    return np.where(np.arange(n) % 2 == 0, 6, 1)


SHARES = tuple(
    Shares(
        f"{name}, mean {mean:g}, alike {1 / (alike + 1):.2f}", mean, shares_of(sizes, alike, mean)
    )
    for name, sizes in (
        ("1, 2, … outputs (geometric)", geometric),
        ("10 outputs of 5% of the problems, else 1", two_of_ten),
        ("6 outputs or 1", six_or_one),
    )
    for alike, mean in ((1.0, 0.05), (1.0, 0.3), (5.0, 0.05), (5.0, 0.5))
)


def share_of(hits: int, sets: int) -> str:
    """Return a share with its standard error."""
    share = hits / sets
    return f"{share:.3f} ± {math.sqrt(share * (1 - share) / sets):.3f}"


def level_of(population: Differences, n: int, sets: int, seed: int = 1) -> int:
    """Return in how many sets the test of `trace --differences` finds a difference."""
    draw = np.random.default_rng([seed, n])
    return sum(
        BoundedMean(population.draw(draw, n), -1, 1).test(0.0).value <= 1 - LEVEL
        for _ in range(sets)
    )


def coverage_of(population: Shares, n: int, sets: int, seed: int = 1) -> int:
    """Return in how many sets the interval of a mean of copied shares has the true mean."""
    draw = np.random.default_rng([seed, n])
    covered = 0
    for _ in range(sets):
        sums, sizes = population.draw(draw, n)
        low, high = BoundedMean(sums, 0, 1, sizes).estimate(LEVEL).limits
        covered += low <= population.mean <= high
    return covered


class Strata(NamedTuple):
    """Outputs in strata, of which some are drawn and judged."""

    name: str
    shares: tuple[float, ...]
    """The share of the label in each stratum."""
    size: int
    """Outputs of a stratum."""
    drawn: int


STRATA = tuple(
    Strata(f"{name}, {drawn} of {size} in each of {len(shares)} strata", shares, size, drawn)
    for name, shares in (
        ("share .5", (0.5,) * 4),
        ("share .1", (0.1,) * 4),
        ("share .02", (0.02,) * 4),
        ("shares 0 to .6", (0.0, 0.2, 0.4, 0.6)),
        ("shares .1 or .9", (0.1, 0.1, 0.9, 0.9)),
        ("shares 0 or 1", (0.0, 0.0, 1.0, 1.0)),
        ("share .3, many strata", (0.3,) * 20),
    )
    for size, drawn in ((200, 10), (200, 50), (1000, 25))
)


def label_coverage_of(population: Strata, sets: int, seed: int = 1) -> int:
    """Return in how many samples the interval of a label's share has the share of all outputs."""
    draw = np.random.default_rng(seed)
    marked = [round(share * population.size) for share in population.shares]
    truth, covered = sum(marked) / population.size / len(marked), 0
    for _ in range(sets):
        strata = [
            (
                int(draw.hypergeometric(one, population.size - one, population.drawn)),
                population.drawn,
                population.size,
            )
            for one in marked
        ]
        low, high = stratified_share(strata, LEVEL).limits
        covered += low - 1e-12 <= truth <= high + 1e-12
    return covered


class NullPage(NamedTuple):
    """A page of comparisons of methods that are equally accurate."""

    families: int
    tests: int
    """Comparisons of each family, of 100 problems each."""


NULL_PAGES = tuple(NullPage(families, tests) for families in (1, 2, 4, 6, 12) for tests in (1, 6))


def null_rows(page: NullPage, draw: Draw) -> list[dict[str, Any]]:
    """Return rows of `compare`: three of ten problems have one right answer."""
    rows = []
    for family, count in enumerate([page.tests] * page.families):
        tests = []
        for number in range(count):
            differing = int(draw.binomial(100, 0.3))
            more = int(draw.binomial(differing, 0.5))
            both = (100 - differing) // 2
            pairs = Pairs(both, differing - more, more, 100 - differing - both)
            estimate = paired_difference(pairs, LEVEL)
            tests.append(
                {
                    "dataset": f"d{number}",
                    "model": "m",
                    "rule": f"r{family}",
                    "baseline": "cot",
                    "treatment": "pot",
                    "n": 100,
                    **fields_of("difference", estimate),
                    "p": mid_p_mcnemar(differing - more, more),
                    "family": f"rule r{family}, single models",
                    "family_tests": count,
                }
            )
        adjusted = holm([row["p"] for row in tests])
        rows += [row | {"p_holm": p} for row, p in zip(tests, adjusted, strict=True)]
    return rows


def claims(said: Sequence[Sentence]) -> bool:
    """Tell whether a sentence calls a method more or less accurate."""
    return any(re.search("is (more|less) accurate", sentence.text) for sentence in said)


def false_claims(page: NullPage, sets: int, seed: int = 1) -> tuple[int, int]:
    """Return how many pages claim something, and how many if each family had the whole level."""
    draw = np.random.default_rng([seed, *page])
    kind = next(kind for kind in all_kinds() if kind.name == "compare")
    by_page = by_family = 0
    for _ in range(sets):
        rows = null_rows(page, draw)
        results = Results(kind, "null", (*rows[0],), rows)
        by_page += claims(sentences(results))
        by_family += claims(sentences(results, families=1))
    return by_page, by_family


def lines(sets: int) -> Iterator[str]:
    """Yield the tables, as Markdown."""
    sizes = (20, 60, 200)
    heads = " | ".join(f"n = {n}" for n in sizes)
    rules = "---:|" * len(sizes)
    yield f"| differences whose mean is 0: level of `trace --differences` | {heads} |\n|---|{rules}"
    for differences in DIFFERENCES:
        found = [share_of(level_of(differences, n, sets), sets) for n in sizes]
        yield f"| {differences.name} | {' | '.join(found)} |"
    yield f"\n| means with unequal numbers of outputs: coverage | {heads} |\n|---|{rules}"
    for shares in SHARES:
        found = [share_of(coverage_of(shares, n, sets), sets) for n in sizes]
        yield f"| {shares.name} | {' | '.join(found)} |"
    yield "\n| shares of labels of a judged sample | coverage |\n|---|---:|"
    for strata in STRATA:
        yield f"| {strata.name} | {share_of(label_coverage_of(strata, sets), sets)} |"
    yield "\n| null page | false claims | with the whole level for each family |\n|---|---:|---:|"
    for page in NULL_PAGES:
        name = f"families: {page.families}, comparisons in each: {page.tests}"
        both = [share_of(hits, sets) for hits in false_claims(page, sets)]
        yield f"| {name} | {' | '.join(both)} |"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else SETS):
        print(line, flush=True)
