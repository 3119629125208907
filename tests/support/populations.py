"""Documents whose number is known, and occurrences drawn from them.

Documents have lengths only where it matters that a part of them is hidden. The shapes are those for
which the coverage of intervals is told in docs/docnorm.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngramscan.prevalence.estimators import Draws

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

N_DOCUMENTS = 100_000
SEED = 20261121


# Counts per document


class Drawn(NamedTuple):
    """Occurrences drawn at random, one set per row."""

    documents: Integers
    """The document of each, by number."""
    shares: Floats
    """One over the occurrences in the document."""
    first: Floats
    """1 for the first occurrence of its document, else 0."""


@dataclass(frozen=True)
class Population:
    """Documents with at least one occurrence each; their occurrences are numbered through."""

    counts: Integers

    @property
    def documents(self) -> int:
        return self.counts.size

    @property
    def occurrences(self) -> int:
        return int(self.counts.sum())

    def draw(self, random: np.random.Generator, sets: int, n: int, *, repeats: bool) -> Drawn:
        """Draw n occurrences a number of times, independently or, without repeats, different."""
        if repeats:
            return self.at(random.integers(0, self.occurrences, (sets, n)))
        drawn = [random.choice(self.occurrences, n, replace=False) for _ in range(sets)]
        return self.at(np.array(drawn, dtype=np.int64))

    def at(self, occurrences: Integers) -> Drawn:
        """Return the occurrences with these numbers."""
        starts = np.cumsum(self.counts) - self.counts
        documents = np.searchsorted(starts, occurrences, side="right") - 1
        first = (starts[documents] == occurrences).astype(np.float64)
        return Drawn(documents, 1 / self.counts[documents], first)


_Shape = Callable[[np.random.Generator, int], Integers]


def _zipf(random: np.random.Generator, n: int) -> Integers:
    counts = np.arange(1, 3001)
    weights = counts**-1.75
    return random.choice(counts, n, p=weights / weights.sum())


def _mixture(random: np.random.Generator, n: int) -> Integers:
    kind, many = random.random(n), random.poisson(150, n).clip(1)
    return np.where(kind < 0.70, 1, np.where(kind < 0.95, random.geometric(1 / 25, n), many))


def _poisson_gamma(random: np.random.Generator, n: int) -> Integers:
    counts = random.poisson(random.gamma(0.5, 10, 4 * n))
    return counts[counts > 0][:n]


def _with_ones(share: float, typical: int, log_sd: float) -> _Shape:
    """Return a shape: one occurrence in that share of documents, lognormal counts in the others."""

    def counts(random: np.random.Generator, n: int) -> Integers:
        many = np.exp(random.normal(np.log(typical), log_sd, n)).round().astype(np.int64)
        return np.where(random.random(n) < share, 1, many.clip(1))

    return counts


_CONSTANT: dict[str, _Shape] = {
    "always 1": lambda _, n: np.ones(n, dtype=np.int64),
    "always 15": lambda _, n: np.full(n, 15, dtype=np.int64),
}
_VARIED: dict[str, _Shape] = {
    "narrative-like": lambda random, n: random.geometric(1 / 1.08, n),
    "geometric": lambda random, n: random.geometric(1 / 15, n),
    "geometric, mean 5": lambda random, n: random.geometric(1 / 5, n),
    "Poisson-gamma": _poisson_gamma,
    "lognormal": lambda random, n: np.exp(random.normal(np.log(5), 1.5, n)).round().clip(1),
    "Zipf": _zipf,
    "mixture": _mixture,
}
# Documents with one occurrence are many among the documents, and few among the draws: one draw in
# 61, 201, 200 and 112.
_RARE_KINDS: dict[str, _Shape] = {
    "a fifth with 1, others about 15": _with_ones(0.2, 15, 0.25),
    "half with 1, others about 200": _with_ones(0.5, 200, 0.3),
    "a third with 1, others about 100": _with_ones(1 / 3, 100, 0.5),
    "nine tenths with 1, others about 1000": _with_ones(0.9, 1000, 0.5),
}


@cache
def population(shape: str, n_documents: int = N_DOCUMENTS) -> Population:
    """Return documents of a shape, always the same."""
    make = (_CONSTANT | _VARIED | _RARE_KINDS)[shape]
    return Population(make(np.random.default_rng(SEED), n_documents).astype(np.int64))


# Documents with lengths, seen through a window

CONTEXT = 10_000
PATTERN_LENGTH = 12


@dataclass(frozen=True)
class Texts:
    """Documents as lengths and places of matches: for each match, in their order, …"""

    documents: Integers
    """… its document,"""
    starts: Integers
    """its first byte in it,"""
    lengths: Integers
    """the length of its document,"""
    counts: Integers
    """and the matches in it."""

    @property
    def n_documents(self) -> int:
        return int(self.documents[-1]) + 1

    @property
    def _cut_before(self) -> Flags:
        return self.starts > CONTEXT

    @property
    def _cut_after(self) -> Flags:
        return self.lengths - self.starts - PATTERN_LENGTH > CONTEXT

    def _matches_within(self, before: int, after: int) -> Integers:
        """Count the matches of the same document that start so near."""
        # Documents lie apart from each other on one line.
        line = self.documents * 4 * int(self.lengths.max()) + self.starts
        low = np.searchsorted(line, line - before, side="left")
        return np.searchsorted(line, line + after, side="right") - low

    def first(self) -> Draws:
        """Return the shares of all matches by the rule of the first occurrence."""
        none_before = self._matches_within(CONTEXT, 0) == 1
        lowest = (none_before & ~self._cut_before).astype(np.float64)
        return Draws(lowest, none_before.astype(np.float64), none_before.size)

    def size_bias(self) -> Draws:
        """Return one over the matches: those that are seen, and the most that can be hidden."""
        seen = self._matches_within(CONTEXT, CONTEXT)
        window = np.minimum(self.starts, CONTEXT) + PATTERN_LENGTH
        window += np.minimum(self.lengths - self.starts - PATTERN_LENGTH, CONTEXT)
        # A match may also lie across each end that is cut.
        across = self._cut_before.astype(np.int64) + self._cut_after
        most_hidden = (self.lengths - window) // PATTERN_LENGTH + across
        return Draws(1 / (seen + most_hidden), 1 / seen, seen.size)

    def combined(self) -> Draws:
        """Return one over the matches where each of them shows all, else the first occurrence."""
        cut = self._cut_before | self._cut_after
        shows_all, first = np.bincount(self.documents, cut)[self.documents] == 0, self.first()
        lowest = np.where(shows_all, 1 / self.counts, first.lowest)
        highest = np.where(shows_all, 1 / self.counts, first.highest)
        return Draws(lowest, highest, cut.size, ~shows_all)


@cache
def texts(median_length: int, matches_per_document: float) -> Texts:
    """Return documents whose matches lie anywhere, more of them in longer documents."""
    random = np.random.default_rng(SEED)
    lengths = np.exp(random.normal(np.log(median_length), 1.25, 10_000)).astype(np.int64).clip(60)
    density = random.gamma(1, 1, lengths.size) * matches_per_document / lengths.mean()
    slots = lengths // PATTERN_LENGTH
    counts = np.minimum(random.poisson(density * lengths).clip(1), slots)
    documents = np.repeat(np.arange(lengths.size), counts)
    slot = (random.random(documents.size) * slots[documents]).astype(np.int64)
    # Two matches are never in the same place.
    documents, slot = np.unique(np.stack([documents, slot]), axis=1)
    times = np.bincount(documents)[documents]
    return Texts(documents, slot * PATTERN_LENGTH, lengths[documents], times)
