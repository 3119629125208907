"""Which n-grams distinguish some texts from others: frequencies, effect, evidence.

Occurrences in one text are not independent: a text that has a word once tends to have it again. Nor
are texts about the same problem. So tests and intervals take problems as clusters. G2, which treats
occurrences as independent, only ranks n-grams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.outputs.ngram_rates import frequencies
from ngramscan.outputs.ngrams import Least, Ngrams, count_ngrams
from ngramscan.outputs.presence import PresenceTest, Sides
from ngramscan.outputs.tokens import Tokens, usual_forms

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KeynessRow:
    """One n-gram that is more frequent in the outputs of a method than in others."""

    ngram: str
    """As it is spaced most often in the outputs of the method."""
    n: int
    """Its length in words or characters."""
    count: int
    """Occurrences in the outputs of the method."""
    other_count: int
    per_million: float
    """Occurrences per million n-grams of this length."""
    other_per_million: float
    documents: int
    """Outputs of the method that have it."""
    document_share: float
    other_documents: int
    other_document_share: float
    g2: float
    """Log-likelihood ratio statistic of the counts."""
    log_ratio: float
    """Binary logarithm of the ratio of the rates: 1 is twice as frequent, 2 four times."""
    log_ratio_low: float
    log_ratio_high: float
    """Limits of its interval, with problems as clusters."""
    dispersion: float
    """DP over the outputs of the method: 0 evenly spread, 1 all in one of the smallest."""
    p: float
    """One-sided: a larger share of the outputs has it. This is not a test of G2."""
    q: float
    """The least share of false discoveries at which this one counts as one."""
    level: float
    """The share of intervals that cover the truth."""


USUAL_LEAST = Least(10, 5)


@dataclass(frozen=True, slots=True)
class KeynessOptions:
    """What is looked for and what is shown; the options of the command."""

    shortest: int = 1
    longest: int = 6
    least: Least = USUAL_LEAST
    """How frequent an n-gram must be in both sides together to be tested."""
    top: int = 50
    q: float = 0.05
    all: bool = False
    """Whether an n-gram is shown that never stands outside of a longer one that is shown."""
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Keyness:
    """What was found, and of how much."""

    rows: list[KeynessRow]
    """The first `top`, those with the largest G2 first."""
    tested: int
    found: int
    """N-grams with a q that is small enough."""
    found_inside: int
    """How many of them are left out, as they are always within a longer one that was found."""
    documents: tuple[int, int]
    """Of the method, and the others."""
    test: PresenceTest


# Evidence


def adjusted(p: ArrayLike, times: ArrayLike = 1) -> Floats:
    """Return Benjamini and Hochberg's adjusted p-values.

    Parameters
    ----------
    p : array of float, shape (n,)
        P-values.
    times : int, or array of shape (n,)
        How many tests each of them stands for.

    Notes
    -----
    Rejecting those of at most q keeps the expected share of false ones among the rejected at q, for
    independent tests and such as n-grams, which are dependent positively.
    Source: Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x; Benjamini & Yekutieli
    2001, doi:10.1214/aos/1013699998.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values)
    ranks = np.cumsum(np.broadcast_to(times, values.shape)[order])
    scaled = values[order] * ranks[-1:] / ranks
    q = np.empty_like(values)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q


# All n-grams


@dataclass(frozen=True, slots=True)
class Table:
    """Statistics of the n-grams whose p-value is small enough, as columns."""

    columns: dict[str, NDArray[Any]]
    tested: int
    """Number of n-grams tested, those with a larger p-value included."""
    test: PresenceTest

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]


def compared_ngrams(tokens: Tokens, sides: Sides, options: KeynessOptions) -> Table:
    """Compare all n-grams that are frequent enough.

    Parameters
    ----------
    tokens : Tokens
        The outputs.
    sides : Sides
        Which of them are the method's, and which problems they answer.
    options : KeynessOptions
        Lengths and minimum frequencies.

    Returns
    -------
    Table
        One row per n-gram with p ≤ `options.q`, as q is never smaller than p. Without
        `options.all`, an n-gram that occurs only as the beginning of a longer one shares its row;
        `times` is the number of n-grams in a row.
    """
    test = PresenceTest.of(sides, tokens.sizes)
    parts: list[dict[str, NDArray[Any]]] = []
    p, times = [np.zeros(0)], [np.zeros(0, dtype=np.int8)]
    known = 0
    for ngrams in _made_ahead(_ngrams(tokens, sides.is_own, options)):
        p.append(test.p_values(ngrams.starts, ngrams.documents, ngrams.counts))
        times.append((ngrams.n + 1 - ngrams.shortest).astype(np.int8))
        chosen = p[-1] <= options.q
        numbers = np.flatnonzero(chosen)
        for part, rows in _by_length(ngrams.subset(chosen), options.all):
            columns = frequencies(part, tokens.sizes, sides, options.level)
            columns["n"] = np.full(part.first.size, part.n, dtype=np.int8)
            columns["first"] = part.first
            columns["test"] = numbers[rows] + known
            parts.append(columns)
        known += p[-1].size
    if not known:
        return Table({}, 0, test)
    every, counted = np.concatenate(p), np.concatenate(times)
    columns = {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}
    tests = columns.pop("test")
    columns["p"], columns["q"] = every[tests], adjusted(every, counted)[tests]
    columns["times"] = np.ones(tests.size, dtype=np.int8) if options.all else counted[tests]
    return Table(columns, int(counted.sum()), test)


def _ngrams(tokens: Tokens, own: NDArray[np.bool_], options: KeynessOptions) -> Iterator[Ngrams]:
    # If one side has no text of that length there is nothing to compare.
    longest = int(min(options.longest, tokens.sizes[own].max(), tokens.sizes[~own].max()))
    if longest >= options.shortest:
        yield from count_ngrams(tokens, (options.shortest, longest), options.least)


def _made_ahead(parts: Iterator[Ngrams]) -> Iterator[Ngrams]:
    """Yield parts while a second thread counts the next one; NumPy lets both run at once."""
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, parts, None)
        while (part := following.result()) is not None:
            following = thread.submit(next, parts, None)
            yield part


def _by_length(ngrams: Ngrams, every: bool) -> Iterator[tuple[Ngrams, NDArray[np.bool_]]]:
    """Yield n-grams, or with `every` also their prefixes by length, and where they come from."""
    shortest = int(ngrams.shortest.min(initial=ngrams.n)) if every else ngrams.n
    for n in range(shortest, ngrams.n + 1):
        chosen = ngrams.shortest <= n
        yield replace(ngrams.subset(chosen), n=n), chosen


def _not_inside(table: Table, tokens: Tokens, shown: Ints) -> Ints:
    """Return the n-grams that are not always the last tokens of a longer one of them."""
    names = ("first", "n", "count", "other_count")
    inside, own = {}, []
    for first, n, *counts in zip(*(table[name][shown].tolist() for name in names), strict=True):
        ids = tokens.ids[first : first + n]
        inside[ids[1:].tobytes()] = counts
        own.append((ids.tobytes(), counts))
    return shown[[inside.get(ids) != counts for ids, counts in own]]


def compare(tokens: Tokens, sides: Sides, options: KeynessOptions) -> Keyness:
    """Return the n-grams that distinguish the outputs of a method from others.

    Parameters
    ----------
    tokens : Tokens
        The outputs.
    sides : Sides
        Which of them are the method's, and which problems they answer.
    options : KeynessOptions
        Lengths, minimum frequencies, and what is shown.
    """
    documents = int(sides.is_own.sum()), int((~sides.is_own).sum())
    table = compared_ngrams(tokens, sides, options)
    if not table.tested:
        return Keyness([], 0, 0, 0, documents, table.test)
    found = np.flatnonzero((table["q"] <= options.q) & (table["log_ratio"] > 0))
    n_found = int(table["times"][found].sum())
    shown = found if options.all else _not_inside(table, tokens, found)
    order = np.lexsort((table["first"][shown], -table["n"][shown], -table["g2"][shown]))
    best = shown[order][: options.top]
    rows = _rows(table, best, tokens, options.level)
    return Keyness(rows, table.tested, n_found, n_found - shown.size, documents, table.test)


def _rows(table: Table, chosen: Ints, tokens: Tokens, level: float) -> list[KeynessRow]:
    own = table.test.sides.is_own
    places = [(int(table["first"][k]), int(table["n"][k])) for k in chosen]
    forms = usual_forms(tokens, places, own)
    return [
        _row({name: values[k].item() for name, values in table.columns.items()}, form, sizes, level)
        for k, form, (_, n) in zip(chosen, forms, places, strict=True)
        for sizes in [[np.maximum(tokens.sizes[side] - n + 1, 0) for side in (own, ~own)]]
    ]


def _row(values: dict[str, Any], ngram: str, sizes: Sequence[Ints], level: float) -> KeynessRow:
    """Return a row; `sizes` are the numbers of n-grams in each output, by side."""
    for side, lengths in zip(("", "other_"), sizes, strict=True):
        values[f"{side}per_million"] = values[f"{side}count"] / int(lengths.sum()) * 1e6
        values[f"{side}document_share"] = values[f"{side}documents"] / lengths.size
    names = KeynessRow.__dataclass_fields__.keys() & values.keys()
    return KeynessRow(ngram=ngram, level=level, **{name: values[name] for name in names})
