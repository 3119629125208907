"""Frequencies of n-grams on two sides: G², ratio of the rates with its interval, dispersion."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.outputs.ngrams import Ngrams
from ngramscan.outputs.presence import Sides
from ngramscan.outputs.tokens import AnyIntegers, Booleans, Floats, Ints, runs_of


def frequencies(
    ngrams: Ngrams, sizes: Ints, sides: Sides, level: float
) -> dict[str, NDArray[np.generic]]:
    """Return the columns about the frequency of n-grams of one length, one value per n-gram.

    `sizes` are the lengths of the outputs, in tokens.
    """
    of_length = np.maximum(sizes - ngrams.n + 1, 0).astype(np.float64)
    runs = _Runs(
        ngrams.starts,
        texts=ngrams.documents,
        counts=ngrams.counts,
        sizes=of_length,
        is_own=sides.is_own,
    )
    counts, documents = runs.sums(runs.counts), runs.sums(np.ones_like(runs.counts))
    # All that each side wrote about each problem is one text.
    units = sides.units[ngrams.documents]
    at, firsts = runs_of(units, ngrams.starts)
    lengths: Floats = np.bincount(sides.units, weights=of_length).astype(np.float64)
    by_problem = np.add.reduceat(ngrams.counts, at)
    problems = _Runs(
        firsts, texts=units[at], counts=by_problem, sizes=lengths, is_own=sides.unit_is_own
    )
    value, low, high = _log_ratios(problems, level)
    return {
        "dispersion": _dispersion(runs, counts[0]),
        "g2": log_likelihood(*counts, *runs.totals),
        "log_ratio": value,
        "log_ratio_low": low,
        "log_ratio_high": high,
        "count": counts[0].astype(np.int32),
        "documents": documents[0].astype(np.int32),
        "other_count": counts[1].astype(np.int32),
        "other_documents": documents[1].astype(np.int32),
    }


def log_likelihood(
    counts: ArrayLike, other_counts: ArrayLike, size: ArrayLike, other_size: ArrayLike
) -> Floats:
    """Return G2 of the counts of n-grams in two corpora, whose sizes are numbers of n-grams.

    All four cells of the table count: occurrences and other n-grams.
    Source: Dunning 1993, Computational Linguistics 19(1), aclanthology.org/J93-1003.
    """
    a, b, c, d = (np.asarray(v, np.float64) for v in (counts, other_counts, size, other_size))
    rate = (a + b) / (c + d)
    cells = ((a, c * rate), (b, d * rate), (c - a, c * (1 - rate)), (d - b, d * (1 - rate)))
    parts = (k * np.log(np.divide(k, e, out=np.ones_like(k * e), where=k > 0)) for k, e in cells)
    g2: Floats = np.maximum(2 * np.asarray(sum(parts)), 0.0)
    return g2


class _Runs:
    """Occurrences of n-grams by text; arrays with two rows are by side, the method's first."""

    def __init__(
        self, starts: Ints, *, texts: AnyIntegers, counts: Ints, sizes: Floats, is_own: Booleans
    ) -> None:
        self.starts, self.lengths = starts, np.diff(starts, append=counts.size)
        self.counts = counts.astype(np.float64)
        self.sizes, self.is_own = sizes[texts], is_own[texts]
        self.by_side = sizes[is_own], sizes[~is_own]
        """The size of every text, those without an n-gram too."""
        self.totals = np.array([[side.sum()] for side in self.by_side])

    def sums(self, values: Floats) -> Floats:
        """Return sums of values over the texts that contain each n-gram."""
        own_sums = np.add.reduceat(np.where(self.is_own, values, 0.0), self.starts)
        return np.stack([own_sums, np.add.reduceat(values, self.starts) - own_sums])


def _dispersion(runs: _Runs, counts: Floats) -> Floats:
    """Return the normalised DP over the method's texts; NaN if none has the n-gram."""
    sizes = runs.by_side[0]
    expected = runs.sizes / sizes.sum()
    shares = runs.counts / np.repeat(np.maximum(counts, 1), runs.lengths)
    gaps = runs.sums(np.abs(shares - expected) - expected)[0]
    least = sizes[sizes > 0].min() / sizes.sum()
    if least >= 1:
        return np.zeros_like(counts)
    return np.where(counts > 0, (gaps + 1) / 2 / (1 - least), np.nan)


def _log_ratios(runs: _Runs, level: float) -> Floats:
    """Return binary logarithms of the ratios of rates, and their limits, with problems as clusters.

    Half an occurrence is added to each side, so that an absent n-gram has a logarithm, and half to
    its variance. A rate has the variance of a ratio estimate over problems.
    Sources: Hardie 2014, cass.lancs.ac.uk/log-ratio-an-informal-introduction (log ratio); Cochran
    1977, Sampling Techniques, 6.3 (ratio estimate); Welch 1947, doi:10.1093/biomet/34.1-2.28
    (degrees of freedom, from the problems that have the n-gram).
    """
    from scipy.special import stdtrit

    counts, with_it = runs.sums(runs.counts), runs.sums(np.ones_like(runs.counts))
    rates = counts / runs.totals
    expected = runs.sizes * np.where(runs.is_own, *np.repeat(rates, runs.lengths, axis=1))
    # Texts without the n-gram have no run; each adds (rate × size)².
    squared_sizes = np.array([[(sizes**2).sum()] for sizes in runs.by_side])
    squares = runs.sums((runs.counts - expected) ** 2 - expected**2) + rates**2 * squared_sizes
    numbers = np.array([[sizes.size] for sizes in runs.by_side])
    correction = numbers / np.maximum(numbers - 1, 1)
    variances = (correction * squares + 0.5) / (counts + 0.5) ** 2
    # If a side does not have the n-gram, its variance is known, not estimated.
    degrees = np.where(with_it > 0, np.maximum(with_it - 1, 1), np.inf)
    variance = variances.sum(axis=0)
    freedom = variance**2 / (variances**2 / degrees).sum(axis=0)
    half: Floats = stdtrit(freedom, (1 + level) / 2) * np.sqrt(variance)
    logs = np.log((counts + 0.5) / (runs.totals + 0.5))
    value = logs[0] - logs[1]
    return np.stack([value, value - half, value + half]) / math.log(2)
