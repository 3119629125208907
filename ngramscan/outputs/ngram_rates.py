"""Frequencies of n-grams on two sides: G², ratio of the rates with its interval, dispersion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.outputs.ngrams import Ngrams
from ngramscan.outputs.presence import Sides, runs_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Integers = NDArray[np.integer]
Flags = NDArray[np.bool_]


def frequencies(
    ngrams: Ngrams, sizes: Ints, sides: Sides, level: float
) -> dict[str, NDArray[np.generic]]:
    """Return the columns about the frequency of n-grams.

    Parameters
    ----------
    ngrams : Ngrams
        N-grams of one length.
    sizes : array of int
        Length of each output, in tokens.
    sides : Sides
        The outputs.
    level : float
        Probability that an interval covers the ratio.

    Returns
    -------
    dict
        Arrays by the name of the column, with one value per n-gram.
    """
    of_length = np.maximum(sizes - ngrams.n + 1, 0).astype(np.float64)
    outputs = _Texts(sides.is_own, of_length)
    runs = _Runs(ngrams.starts, ngrams.documents, ngrams.counts, outputs)
    counts, documents = runs.sums(runs.counts), runs.sums(np.ones_like(runs.counts))
    totals = outputs.power_sums(1)
    value, low, high = _log_ratios(_by_problem(ngrams, sides, of_length), level)
    columns: dict[str, NDArray[np.generic]] = {
        "dispersion": runs.dispersion(counts[0]),
        "g2": log_likelihood(counts[0], counts[1], *totals),
        "log_ratio": value,
        "log_ratio_low": low,
        "log_ratio_high": high,
    }
    for k, side in enumerate(("", "other_")):
        columns[f"{side}count"] = counts[k].astype(np.int32)
        columns[f"{side}documents"] = documents[k].astype(np.int32)
    return columns


def log_likelihood(
    counts: ArrayLike, other_counts: ArrayLike, size: ArrayLike, other_size: ArrayLike
) -> Floats:
    """Return G2 of counts in two corpora.

    Parameters
    ----------
    counts, other_counts : array of int, shape (n,)
        Occurrences of each n-gram.
    size, other_size : int, or array of shape (n,)
        Number of n-grams of this length.

    Notes
    -----
    All four cells of the table count: occurrences and other n-grams.
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


@dataclass(frozen=True)
class _Texts:
    """Texts, or all that one side wrote about a problem, as one text."""

    is_own: Flags
    sizes: Floats
    """Number of n-grams in each."""

    @cached_property
    def numbers(self) -> tuple[int, int]:
        """The number of texts on each side, the method's first."""
        return int(self.is_own.sum()), int((~self.is_own).sum())

    def power_sums(self, power: int) -> tuple[float, float]:
        """Return the sums of a power of the sizes, by side."""
        powers = self.sizes**power
        return float(powers[self.is_own].sum()), float(powers[~self.is_own].sum())


class _Runs:
    """Occurrences of n-grams by text, with sums for each n-gram."""

    def __init__(self, starts: Ints, texts: Integers, counts: Ints, every: _Texts) -> None:
        self._starts, self.texts = starts, every
        self.counts = counts.astype(np.float64)
        self.sizes, self.is_own = every.sizes[texts], every.is_own[texts]
        self._lengths = np.diff(starts, append=counts.size)

    def sums(self, values: NDArray[np.generic]) -> tuple[Floats, Floats]:
        """Return sums of values over the texts that contain each n-gram, by side."""
        own = np.add.reduceat(np.where(self.is_own, values, 0).astype(np.float64), self._starts)
        both = np.add.reduceat(values.astype(np.float64), self._starts)
        return own, both - own

    def squared_residuals(self, rates: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Return the sums of (count - rate × size)² over all texts, by side."""
        own = np.where(
            self.is_own, np.repeat(rates[0], self._lengths), np.repeat(rates[1], self._lengths)
        )
        expected = own * self.sizes
        # Texts without the n-gram have no run; each adds (rate × size)².
        with_it = self.sums((self.counts - expected) ** 2 - expected**2)
        without = self.texts.power_sums(2)
        return with_it[0] + rates[0] ** 2 * without[0], with_it[1] + rates[1] ** 2 * without[1]

    def dispersion(self, counts: Floats) -> Floats:
        """Return the normalised DP over the method's texts; NaN if none has the n-gram."""
        total = self.texts.power_sums(1)[0]
        expected = self.sizes / total
        own = np.repeat(np.maximum(counts, 1), self._lengths)
        gaps, _ = self.sums(np.abs(self.counts / own - expected) - expected)
        sizes = self.texts.sizes[self.texts.is_own]
        least = sizes[sizes > 0].min() / total
        if least >= 1:
            return np.zeros_like(counts)
        return np.where(counts > 0, (gaps + 1) / 2 / (1 - least), np.nan)


def _log_ratios(runs: _Runs, level: float) -> tuple[Floats, Floats, Floats]:
    """Return binary logarithms of the ratios of rates, and their limits, with problems as clusters.

    Notes
    -----
    Half an occurrence is added to each side, so that an absent n-gram has a logarithm, and half to
    its variance. The variance of a rate is that of a ratio estimate over problems.
    Sources: Hardie 2014, cass.lancs.ac.uk/log-ratio-an-informal-introduction (log ratio); Cochran
    1977, Sampling Techniques, 6.3 (ratio estimate); Welch 1947, doi:10.1093/biomet/34.1-2.28
    (degrees of freedom, from the problems that have the n-gram).
    """
    from scipy.special import stdtrit

    totals, counts = runs.texts.power_sums(1), runs.sums(runs.counts)
    squares = runs.squared_residuals((counts[0] / totals[0], counts[1] / totals[1]))
    with_it = runs.sums(np.ones_like(runs.counts))
    logs, variances, degrees = [], [], []
    for k, number in enumerate(runs.texts.numbers):
        correction = number / max(number - 1, 1)
        logs.append(np.log((counts[k] + 0.5) / (totals[k] + 0.5)))
        variances.append((correction * squares[k] + 0.5) / (counts[k] + 0.5) ** 2)
        # If a side does not have the n-gram, its variance is known, not estimated.
        degrees.append(np.where(with_it[k] > 0, np.maximum(with_it[k] - 1, 1), np.inf))
    value = logs[0] - logs[1]
    variance = variances[0] + variances[1]
    freedom = variance**2 / (variances[0] ** 2 / degrees[0] + variances[1] ** 2 / degrees[1])
    quantile: Floats = np.asarray(stdtrit(freedom, (1 + level) / 2), dtype=np.float64)
    half = quantile * np.sqrt(variance)
    scale = 1 / math.log(2)
    return value * scale, (value - half) * scale, (value + half) * scale


def _by_problem(ngrams: Ngrams, sides: Sides, sizes: Floats) -> _Runs:
    """Return the occurrences of n-grams in all that each side wrote about each problem."""
    lengths: Floats = np.bincount(sides.units, weights=sizes).astype(np.float64)
    every = _Texts(sides.unit_is_own, lengths)
    units = sides.units[ngrams.documents]
    at, firsts = runs_of(units, ngrams.starts)
    return _Runs(firsts, units[at], np.add.reduceat(ngrams.counts, at), every)
