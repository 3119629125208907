"""Estimates and their intervals: arrays in, values out, nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and how sure it is."""

    value: float
    low: float | None
    high: float | None
    """Limits of the interval; None where there is none, `note` says why."""
    level: float
    """The share of intervals that cover the truth."""
    note: str = ""

    @property
    def limits(self) -> tuple[float, float]:
        """The limits of an estimate that has an interval."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high


def geometric_mean_ratio(
    counts: ArrayLike, other_counts: ArrayLike, level: float = 0.95
) -> Estimate:
    """Estimate how many times larger the counts of one list of patterns are than another's.

    Parameters
    ----------
    counts, other_counts : array of int, shapes (n,) and (m,)
        Occurrences per pattern. A half is added to each, so that zeros have a logarithm.
    level : float
        Probability that the interval covers the ratio.

    Returns
    -------
    Estimate
        Ratio of the geometric means, without unit; Welch's t interval on the log scale. No interval
        where a list has fewer than two patterns or both lists do not vary.

    Raises
    ------
    ValueError
        A list is empty or has a negative count.

    Notes
    -----
    The interval treats the patterns of a list as exchangeable choices from many; they are chosen by
    hand. Source: Welch 1947, doi:10.1093/biomet/34.1-2.28.
    """
    a, b = _log_counts(counts), _log_counts(other_counts)
    difference = float(a.mean() - b.mean())
    value = math.exp(difference)
    if min(a.size, b.size) < 2:
        return Estimate(value, None, None, level, "no interval: a list has a single pattern")
    shares = np.array([a.var(ddof=1) / a.size, b.var(ddof=1) / b.size])
    if not np.ptp(a) and not np.ptp(b):  # their computed variances need not be quite 0
        return Estimate(value, None, None, level, "no interval: the counts do not vary")
    # Only here, and it is slow to import.
    from scipy.special import stdtrit

    degrees = shares.sum() ** 2 / (shares**2 / (np.array([a.size, b.size]) - 1)).sum()
    half_width = float(stdtrit(degrees, (1 + level) / 2)) * math.sqrt(shares.sum())
    return Estimate(
        value, math.exp(difference - half_width), math.exp(difference + half_width), level
    )


def probability_of_superiority(counts: ArrayLike, other_counts: ArrayLike) -> float:
    """Return how often a pattern of one list is more frequent than one of another.

    Parameters
    ----------
    counts, other_counts : array of int, shapes (n,) and (m,)
        Occurrences per pattern, neither list empty.

    Returns
    -------
    float
        Share of the n × m pairs, a tie as half; the Mann-Whitney statistic over n m.
    """
    a, b = np.asarray(counts), np.asarray(other_counts)
    above = (a[:, None] > b[None, :]).mean()
    equal = (a[:, None] == b[None, :]).mean()
    return float(above + equal / 2)


def _log_counts(counts: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(counts, dtype=np.float64)
    if not array.size or array.min() < 0:
        raise ValueError("counts must be there and not negative")
    logs: NDArray[np.float64] = np.log(array + 0.5)
    return logs


CLUSTERS_FOR_AN_INTERVAL = 10
"""Fewer clusters, or fewer in which anything was counted, say too little about the others."""

FARTHEST_COUNTS = 3
"""How many times the largest squared residual counts in the variance."""

TRUSTED_SHARE = 0.1
"""Where one cluster drawn by chance makes up more of an estimate, the interval is doubtful."""

UNTRUSTED = "do not trust the interval"


def cluster_total(
    counts: ArrayLike,
    sizes: ArrayLike,
    chances: ArrayLike,
    total_size: float,
    level: float = 0.95,
) -> Estimate:
    """Estimate a total from some clusters (files) that were drawn without replacement.

    Parameters
    ----------
    counts : array of int, shape (n,)
        What was counted in each cluster that was drawn.
    sizes : array of float, shape (n,)
        Their sizes, to which counts are roughly proportional; all 1 where sizes are not known.
    chances : array of float, shape (n,)
        How likely each was to be drawn; 1: it was certain. All 1: these are all clusters.
    total_size : float
        The sizes of all clusters together, drawn or not.
    level : float
        Probability that the interval covers the total.

    Returns
    -------
    Estimate
        The counts of the certain clusters, and for the others the ratio estimate: counts over
        sizes, both weighted by 1 / chance, times the size of all that are not certain. The interval
        is a *t* interval of that part on the log scale, with the variance estimator for nearly
        maximal entropy. In it the largest squared residual counts three times: few clusters hold
        much of what is counted, and the few that were drawn rarely show how much. `note` says why
        there is no interval: fewer than ten clusters, fewer than ten with any count or two of those
        drawn by chance, or no residuals; or that a single cluster weighs too much for trust in it.

    Raises
    ------
    ValueError
        No clusters, sizes that are not positive, or chances outside (0, 1].

    Notes
    -----
    Sources: Hájek 1964, doi:10.1214/aoms/1177700375 (variance); Särndal, Swensson & Wretman 1992,
    Model Assisted Survey Sampling, 5.6 (ratio estimate with unequal chances). That the largest
    residual counts three times is of this project; coverage: docs/scanning.md.
    """
    y, x = np.asarray(counts, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    chance = np.asarray(chances, dtype=np.float64)
    if not y.size or x.min() <= 0 or chance.min() <= 0 or chance.max() > 1:
        raise ValueError("some clusters of positive size, each with a chance, were expected")
    drawn = chance < 1
    if not drawn.any():
        return Estimate(float(y.sum()), float(y.sum()), float(y.sum()), level)
    size = total_size - float(x[~drawn].sum())
    part = _DrawnPart(y[drawn], x[drawn], chance[drawn], size)
    certain = float(y[~drawn].sum())
    value = certain + part.total
    if note := _no_interval(y, y[drawn]) or part.no_interval:
        return Estimate(value, None, None, level, note)
    factor = part.factor(level)
    # What was counted in the sample is there for certain.
    low = max(certain + part.total / factor, float(y.sum()))
    note = ""
    if (share := part.largest / value) > TRUSTED_SHARE:
        note = f"{UNTRUSTED}: one file makes up {100 * share:.0f} % of the estimate"
    return Estimate(value, low, certain + part.total * factor, level, note)


@dataclass(frozen=True, slots=True)
class _DrawnPart:
    """Clusters that were drawn by chance, for all that were not certain."""

    counts: NDArray[np.float64]
    sizes: NDArray[np.float64]
    chances: NDArray[np.float64]
    size: float
    """Of all, drawn or not."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """For how many clusters of its size each stands."""
        weights = 1 / self.chances
        return weights * self.size / (weights @ self.sizes)

    @property
    def total(self) -> float:
        return float(self.weights @ self.counts)

    @property
    def largest(self) -> float:
        """What the cluster that contributes most contributes to the total."""
        return float((self.weights * self.counts).max())

    @property
    def variance(self) -> float:
        n = self.counts.size
        residuals = self.weights * (self.counts - self.total / self.size * self.sizes)
        squares = (1 - self.chances) * residuals**2
        return float(n / (n - 1) * (squares.sum() + (FARTHEST_COUNTS - 1) * squares.max()))

    @property
    def no_interval(self) -> str:
        """Return why there is no interval; nothing where there is one."""
        if self.variance > (1e-9 * self.total) ** 2:
            return ""
        return "no interval: the counts of the files do not vary"

    def factor(self, level: float) -> float:
        """Return by how much the limits are off the total."""
        from scipy.special import stdtrit

        quantile = float(stdtrit(self.counts.size - 1, (1 + level) / 2))
        return math.exp(quantile * math.sqrt(self.variance) / self.total)


def _no_interval(counts: NDArray[np.float64], drawn: NDArray[np.float64]) -> str:
    n, seen, seen_by_chance = counts.size, int((counts > 0).sum()), int((drawn > 0).sum())
    if n < CLUSTERS_FOR_AN_INTERVAL:
        return f"no interval: only {n} files were read"
    if seen < CLUSTERS_FOR_AN_INTERVAL:
        return f"no interval: it is in {seen} of {n} files, too rare for this sample"
    if seen_by_chance < 2:
        return f"no interval: it is in {seen_by_chance} of {drawn.size} files drawn by chance"
    return ""
