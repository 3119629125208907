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
