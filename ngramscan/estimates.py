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
    if not shares.sum():
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


def cluster_total(
    counts: ArrayLike,
    sizes: ArrayLike,
    n_clusters: int,
    total_size: float,
    level: float = 0.95,
) -> Estimate:
    """Estimate a total from some clusters (files) that were drawn at random without replacement.

    Parameters
    ----------
    counts : array of int, shape (n,)
        What was counted in each cluster that was drawn.
    sizes : array of float, shape (n,)
        Their sizes, to which counts are roughly proportional; all 1 where sizes are not known.
    n_clusters : int
        Of all clusters, drawn or not.
    total_size : float
        The sizes of all clusters together.
    level : float
        Probability that the interval covers the total.

    Returns
    -------
    Estimate
        The ratio estimate: counts per size in the sample, times the total size. The interval is a
        *t* interval on the log scale with finite-population correction; its degrees of freedom are
        those of a variance of values with the kurtosis of the residuals, which keeps it honest
        where few clusters have most of what is counted. No interval from fewer than ten clusters,
        or where fewer than ten have any count.

    Raises
    ------
    ValueError
        No clusters, more than there are, or sizes that are not positive.

    Notes
    -----
    Sources: Cochran 1977, Sampling Techniques, 6.3 (ratio estimate), 2.8 (correction); O'Neill
    2014, doi:10.1080/00031305.2014.966589 (degrees of freedom from the kurtosis).
    """
    y, x = np.asarray(counts, dtype=np.float64), np.asarray(sizes, dtype=np.float64)
    n = y.size
    if not 0 < n <= n_clusters or x.min() <= 0:
        raise ValueError("some clusters of positive size, no more than there are, were expected")
    value = float(y.sum() / x.sum() * total_size)
    if n == n_clusters:
        return Estimate(value, value, value, level)
    seen = int((y > 0).sum())
    if n < CLUSTERS_FOR_AN_INTERVAL:
        return Estimate(value, None, None, level, f"no interval: only {n} files were read")
    if seen < CLUSTERS_FOR_AN_INTERVAL:
        note = f"no interval: it is in {seen} of {n} files, too rare for this sample"
        return Estimate(value, None, None, level, note)
    residuals = y - y.sum() / x.sum() * x
    squares = float((residuals**2).sum())
    if not squares:
        return Estimate(value, value, value, level)
    error = n_clusters * math.sqrt((1 - n / n_clusters) / n * squares / (n - 1))
    error *= (total_size / n_clusters) / float(x.mean())
    kurtosis = float(n * (residuals**4).sum() / squares**2)
    degrees = min(n - 1, max(2 * n / max(kurtosis - 1, 1e-9), 2))
    from scipy.special import stdtrit

    factor = math.exp(float(stdtrit(degrees, (1 + level) / 2)) * error / value)
    # What was counted in the sample is there for certain.
    return Estimate(value, max(value / factor, float(y.sum())), value * factor, level)
