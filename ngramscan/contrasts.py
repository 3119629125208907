"""Which n-grams distinguish some texts from others: frequencies, effect, evidence.

Occurrences within one text are not independent: a text that has a word once tends to have it again.
So evidence and intervals here are between documents; G2, which takes every occurrence for a draw of
its own, only puts n-grams into an order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.ngrams import Least, Ngrams, Tokens, count_ngrams, usual_forms

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
    """Limits of its interval, which is between documents."""
    dispersion: float
    """DP over the outputs of the method: 0 evenly spread, 1 all in one of the smallest."""
    p: float
    """One-sided, between documents; not of G2."""
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


# Closed forms


def log_likelihood(
    counts: ArrayLike, other_counts: ArrayLike, size: ArrayLike, other_size: ArrayLike
) -> Floats:
    """Return G2 of counts in two corpora.

    Parameters
    ----------
    counts, other_counts : array of int, shape (n,)
        Occurrences of each n-gram.
    size, other_size : int, or array of shape (n,)
        All n-grams of its length.

    Notes
    -----
    All four cells of the table count: occurrences and what is none.
    Source: Dunning 1993, Computational Linguistics 19(1), aclanthology.org/J93-1003.
    """
    a, b, c, d = (np.asarray(v, np.float64) for v in (counts, other_counts, size, other_size))
    rate = (a + b) / (c + d)
    cells = ((a, c * rate), (b, d * rate), (c - a, c * (1 - rate)), (d - b, d * (1 - rate)))
    total = sum(_times_log(observed, expected) for observed, expected in cells)
    g2: Floats = np.maximum(2 * np.asarray(total), 0.0)
    return g2


def _times_log(observed: Floats, expected: Floats) -> Floats:
    ratio = np.divide(observed, expected, out=np.ones_like(observed * expected), where=observed > 0)
    result: Floats = observed * np.log(ratio)
    return result


def adjusted(p: ArrayLike) -> Floats:
    """Return Benjamini and Hochberg's adjusted p-values.

    Rejecting those of at most q keeps the expected share of false ones among the rejected at q, for
    independent tests and such as n-grams, which are dependent positively.
    Source: Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x; Benjamini & Yekutieli
    2001, doi:10.1214/aos/1013699998.
    """
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values)[::-1]
    scaled = values[order] * values.size / np.arange(values.size, 0, -1)
    q = np.empty_like(values)
    q[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return q


# Sides and moments


@dataclass(frozen=True, slots=True)
class Sides:
    """The documents: first those of the method, then the others; and their sizes for one n."""

    own: int
    """How many documents are the method's."""
    sizes: Floats
    """N-grams of each document."""

    @classmethod
    def of(cls, tokens: Tokens, own: int, n: int) -> Sides:
        """Return the sizes for n-grams of a length."""
        return cls(own, np.maximum(tokens.sizes - n + 1, 0).astype(np.float64))

    @property
    def documents(self) -> tuple[int, int]:
        """Return the documents of the method and the others."""
        return self.own, self.sizes.size - self.own

    def power_sums(self, power: int) -> tuple[float, float]:
        """Return the sums of a power of the sizes: of the method and the others."""
        powers = self.sizes**power
        return float(powers[: self.own].sum()), float(powers[self.own :].sum())


class _Runs:
    """N-grams in documents: sums over the documents of each n-gram, those without it too."""

    def __init__(self, ngrams: Ngrams, sides: Sides) -> None:
        self._starts, self._sides = ngrams.starts, sides
        self.counts = ngrams.counts.astype(np.float64)
        self.sizes = sides.sizes[ngrams.documents]
        self.is_own = ngrams.documents < sides.own
        self._lengths = np.diff(ngrams.starts, append=ngrams.counts.size)

    def sums(self, values: NDArray[np.generic]) -> tuple[Floats, Floats]:
        """Return the sums of something over the documents that have the n-gram, by side."""
        own = np.add.reduceat(np.where(self.is_own, values, 0).astype(np.float64), self._starts)
        both = np.add.reduceat(values.astype(np.float64), self._starts)
        return own, both - own

    def residual_sums(self, rates: tuple[Floats, Floats], power: int) -> tuple[Floats, Floats]:
        """Return the sums of (count - rate × size) ** power over all documents, by side."""
        own = np.where(
            self.is_own, np.repeat(rates[0], self._lengths), np.repeat(rates[1], self._lengths)
        )
        expected = own * self.sizes
        # Documents without the n-gram add (-rate × size) ** power each; they are no runs.
        with_it = self.sums((self.counts - expected) ** power - (-expected) ** power)
        without = self._sides.power_sums(power)
        first = with_it[0] + (-rates[0]) ** power * without[0]
        second = with_it[1] + (-rates[1]) ** power * without[1]
        return first, second

    def dispersion(self, counts: Floats) -> Floats:
        """Return the normalised DP over the documents of the method; NaN where none has it."""
        total = self._sides.power_sums(1)[0]
        expected = self.sizes / total
        own = np.repeat(np.maximum(counts, 1), self._lengths)
        gaps, _ = self.sums(np.abs(self.counts / own - expected) - expected)
        sizes = self._sides.sizes[: self._sides.own]
        least = sizes[sizes > 0].min() / total
        if least >= 1:
            return np.zeros_like(counts)
        return np.where(counts > 0, (gaps + 1) / 2 / (1 - least), np.nan)


# Evidence and interval


def _p_values(runs: _Runs, sides: Sides, counts: tuple[Floats, Floats]) -> Floats:
    """Return one-sided p-values of the rate being larger in the documents of the method.

    Notes
    -----
    The statistic is the method's count less what is expected at the common rate: a sum of residuals
    of documents. If the rates are the same, each document's residual falls on the method's side
    with the share that its documents have of all text; the sum then has the first three moments
    that are used here, as a shifted gamma (Pearson III), which is skewed as the sum is where the
    method has the smaller share. Where it has the larger one the normal is used, whose tail is
    longer. The variance is no smaller than the cluster-robust one, for sides with texts of other
    lengths.
    Sources: Mielke & Berry 2007, Permutation Methods, doi:10.1007/978-0-387-69813-7 (Pearson III by
    three moments); Boos 1992, doi:10.1080/00031305.1992.10475921 (robust score tests).
    """
    own, other = sides.power_sums(1)
    share = own / (own + other)
    rate = (counts[0] + counts[1]) / (own + other)
    squares = runs.residual_sums((rate, rate), 2)
    cubes = sum(runs.residual_sums((rate, rate), 3))
    pooled = share * (1 - share) * (squares[0] + squares[1])
    robust = (1 - share) ** 2 * squares[0] + share**2 * squares[1]
    third = share * (1 - share) * (1 - 2 * share) * cubes
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (counts[0] - rate * own) / np.sqrt(np.maximum(pooled, robust))
        skewness = np.maximum(third / pooled**1.5, 0.0)
    return _upper_tail(z, skewness)


def _upper_tail(z: Floats, skewness: Floats) -> Floats:
    """Return how likely a standardised Pearson III variable of skewness >= 0 is at least z."""
    from scipy.special import gammaincc, ndtr

    plain = ~(skewness > 1e-3)
    s = np.where(plain, 1.0, skewness)
    shape = 4 / s**2
    tail = gammaincc(shape, np.maximum(shape + z * 2 / s, 0.0))
    p: Floats = np.where(plain, ndtr(-z), tail)
    return np.where(np.isnan(p), 1.0, p)


class _LogRatio(NamedTuple):
    value: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]


def _log_ratios(
    runs: _Runs, sides: Sides, counts: tuple[Floats, Floats], level: float
) -> _LogRatio:
    """Return binary logarithms of the ratios of the rates, with intervals between documents.

    Notes
    -----
    Half an occurrence is added to each side, so that what is absent has a logarithm; it comes with
    the variance of its own. The variance of a rate is that of a ratio estimate over documents.
    Sources: Hardie 2014, cass.lancs.ac.uk/log-ratio-an-informal-introduction (log ratio); Cochran
    1977, Sampling Techniques, 6.3 (ratio estimate); Welch 1947, doi:10.1093/biomet/34.1-2.28
    (degrees of freedom, from the documents that have the n-gram).
    """
    from scipy.special import stdtrit

    totals = sides.power_sums(1)
    squares = runs.residual_sums((counts[0] / totals[0], counts[1] / totals[1]), 2)
    with_it = runs.sums(np.ones_like(runs.counts))
    logs, variances, degrees = [], [], []
    for k, documents in enumerate(sides.documents):
        correction = documents / max(documents - 1, 1)
        logs.append(np.log((counts[k] + 0.5) / (totals[k] + 0.5)))
        variances.append((correction * squares[k] + 0.5) / (counts[k] + 0.5) ** 2)
        # An n-gram that a side does not have adds a variance that is known, not estimated.
        degrees.append(np.where(with_it[k] > 0, np.maximum(with_it[k] - 1, 1), np.inf))
    value = logs[0] - logs[1]
    variance = variances[0] + variances[1]
    freedom = variance**2 / (variances[0] ** 2 / degrees[0] + variances[1] ** 2 / degrees[1])
    half = stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance)
    scale = 1 / math.log(2)
    return _LogRatio(value * scale, (value - half) * scale, (value + half) * scale)


# All n-grams


@dataclass(frozen=True, slots=True)
class Table:
    """The statistics of n-grams that may be more frequent on the method's side, as columns."""

    columns: dict[str, NDArray[Any]]
    tested: int
    """All n-grams that were tested; those of a larger p than is allowed have no row."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]


def _statistics(ngrams: Ngrams, sides: Sides, level: float) -> dict[str, NDArray[Any]]:
    runs = _Runs(ngrams, sides)
    counts = runs.sums(runs.counts)
    documents = runs.sums(np.ones_like(runs.counts))
    sizes = sides.power_sums(1)
    ratio = _log_ratios(runs, sides, counts, level)
    columns: dict[str, NDArray[Any]] = {
        "n": np.full(ngrams.first.size, ngrams.n),
        "first": ngrams.first,
        "prefix": ngrams.prefixes,
        "suffix": ngrams.suffixes,
        "dispersion": runs.dispersion(counts[0]),
        "g2": log_likelihood(counts[0], counts[1], *sizes),
        "log_ratio": ratio.value,
        "log_ratio_low": ratio.low,
        "log_ratio_high": ratio.high,
    }
    for k, side in enumerate(("", "other_")):
        columns[f"{side}count"] = counts[k].astype(np.int64)
        columns[f"{side}documents"] = documents[k].astype(np.int64)
        columns[f"{side}per_million"] = counts[k] / sizes[k] * 1e6
        columns[f"{side}document_share"] = documents[k] / sides.documents[k]
    return columns


def compared_ngrams(tokens: Tokens, own: int, options: KeynessOptions) -> Table:
    """Compare all n-grams that are frequent enough.

    Parameters
    ----------
    tokens : Tokens
        First the documents of the method, then the others.
    own : int
        How many documents are the method's; at least one, and not all.
    options : KeynessOptions
        Lengths and least frequencies.

    Returns
    -------
    Table
        One row per n-gram whose p is no larger than `options.q`, as its q can't be smaller.
    """
    parts, p = [], []
    for part, p_of_part in _parts(tokens, own, options):
        parts.append(part)
        p.append(p_of_part)
    if not parts:
        return Table({}, 0)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    every = np.concatenate(p)
    chosen = every <= options.q
    columns["p"], columns["q"] = every[chosen], adjusted(every)[chosen]
    return Table(columns, every.size)


def _parts(
    tokens: Tokens, own: int, options: KeynessOptions
) -> Iterator[tuple[dict[str, NDArray[Any]], Floats]]:
    known: dict[int, int] = {}
    for ngrams in count_ngrams(tokens, options.longest, options.least):
        first = known.get(ngrams.n, 0)
        known[ngrams.n] = first + ngrams.first.size
        sides = Sides.of(tokens, own, ngrams.n)
        # Where one side has no text that long nothing can be compared.
        if ngrams.n >= options.shortest and all(sides.power_sums(1)):
            runs = _Runs(ngrams, sides)
            p = _p_values(runs, sides, runs.sums(runs.counts))
            chosen = np.flatnonzero(p <= options.q)
            part = _statistics(ngrams.subset(chosen), sides, options.level)
            part["number"] = chosen + first
            yield part, p


def _not_inside(table: Table, shown: Ints) -> Ints:
    """Return which of some n-grams stand on their own: not always in a longer one of them."""
    names = ("n", "number", "prefix", "suffix", "count", "other_count")
    records = list(zip(*(table[name][shown].tolist() for name in names), strict=True))
    counts = {(n, number): both for n, number, _, _, *both in records}
    inside = {
        (n - 1, parent)
        for n, _, *parents, count, other in records
        for parent in parents
        if counts.get((n - 1, parent)) == [count, other]
    }
    return shown[[record[:2] not in inside for record in records]]


def compare(tokens: Tokens, own: int, options: KeynessOptions) -> Keyness:
    """Return the n-grams that distinguish the documents of a method from others.

    Parameters
    ----------
    tokens : Tokens
        First the documents of the method, then the others.
    own : int
        How many documents are the method's; at least one, and not all.
    options : KeynessOptions
        Lengths, least frequencies, and what is shown.
    """
    documents = (own, tokens.sizes.size - own)
    table = compared_ngrams(tokens, own, options)
    if not table.tested:
        return Keyness([], 0, 0, 0, documents)
    found = np.flatnonzero((table["q"] <= options.q) & (table["log_ratio"] > 0))
    shown = found if options.all else _not_inside(table, found)
    order = np.lexsort((table["first"][shown], -table["n"][shown], -table["g2"][shown]))
    best = shown[order][: options.top]
    return Keyness(
        _rows(table, best, usual_forms(tokens, _placed(table, best), own), options.level),
        table.tested,
        found.size,
        found.size - shown.size,
        documents,
    )


def _placed(table: Table, rows: Ints) -> list[tuple[int, int]]:
    return [(int(table["first"][k]), int(table["n"][k])) for k in rows]


def _rows(table: Table, chosen: Ints, forms: Sequence[str], level: float) -> list[KeynessRow]:
    names = [name for name in KeynessRow.__dataclass_fields__ if name in table.columns]
    rows = []
    for k, form in zip(chosen, forms, strict=True):
        values = {name: table[name][k].item() for name in names}
        rows.append(KeynessRow(ngram=form, level=level, **values))
    return rows
