"""Estimates with intervals: arrays in, values out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval."""

    value: float
    low: float | None
    high: float | None
    """Limits of the interval; None if there is no interval, see `note`."""
    level: float
    """Confidence level."""
    note: str = ""
    is_trusted: bool = True
    """False: a single cluster weighs too much for the interval to be reliable, as `note` says."""

    @property
    def limits(self) -> tuple[float, float]:
        """The limits of an estimate that has an interval."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high


def no_interval(value: float, level: float, note: str) -> Estimate:
    """Return an estimate without an interval; `note` says why there is none."""
    return Estimate(value, low=None, high=None, level=level, note=note)


def fields_of(name: str, estimate: Estimate | None) -> dict[str, Any]:
    """Return an estimate's value and limits as fields of a row; all None if it is unknown."""
    value, low, high = (estimate.value, estimate.low, estimate.high) if estimate else [None] * 3
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def level_of_each(level: float, number: int) -> float:
    """Return the confidence level of each of some intervals that hold together at `level`."""
    return 1 - (1 - level) / number


def t_quantile(level: float, degrees: float) -> float:
    """Return the half width of a two-sided interval by Student's t, in standard errors."""
    # Slow to import.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))


def geometric_mean_ratio(
    counts: ArrayLike, other_counts: ArrayLike, level: float = 0.95
) -> Estimate:
    """Estimate the ratio of the geometric means of the counts of two lists of patterns.

    A half is added to each count, so that zeros have a logarithm. The interval is Welch's t
    interval on the log scale; it treats the patterns as a random choice from many, but they are
    chosen by hand. There is none if a list has fewer than two patterns or neither list varies. An
    empty list and a negative count are ValueErrors. Source: Welch 1947,
    doi:10.1093/biomet/34.1-2.28.
    """
    a, b = _log_counts(counts), _log_counts(other_counts)
    difference = float(a.mean() - b.mean())
    value = math.exp(difference)
    if min(a.size, b.size) < 2:
        return no_interval(value, level, "no interval: a list has a single pattern")
    shares = np.array([a.var(ddof=1) / a.size, b.var(ddof=1) / b.size])
    if not np.ptp(a) and not np.ptp(b):  # by rounding, their variances may differ from 0
        return no_interval(value, level, "no interval: the counts do not vary")
    degrees = shares.sum() ** 2 / (shares**2 / (np.array([a.size, b.size]) - 1)).sum()
    half_width = t_quantile(level, float(degrees)) * math.sqrt(shares.sum())
    low, high = math.exp(difference - half_width), math.exp(difference + half_width)
    return Estimate(value, low, high, level)


def probability_of_superiority(counts: ArrayLike, other_counts: ArrayLike) -> float:
    """Return the share of pairs of patterns in which the one from the first list is more frequent.

    A tie counts as half: the Mann-Whitney statistic over n m. Neither list is empty.
    """
    a, b = np.asarray(counts), np.asarray(other_counts)
    above = (a[:, None] > b[None, :]).mean()
    equal = (a[:, None] == b[None, :]).mean()
    return float(above + equal / 2)


def _log_counts(counts: ArrayLike) -> Floats:
    array = np.asarray(counts, dtype=np.float64)
    if not array.size or array.min() < 0:
        raise ValueError("expected at least one count, and each not negative")
    return np.asarray(np.log(array + 0.5))


CLUSTERS_FOR_AN_INTERVAL = 10
"""Minimum number of clusters, and of clusters with a count, for an interval."""

FARTHEST_COUNTS = 3
"""The weight of the largest squared residual in the variance."""

TRUSTED_SHARE = 0.1
"""If a single sampled cluster makes up more of the estimate, the interval is doubtful."""


def cluster_total(
    counts: ArrayLike,
    sizes: ArrayLike,
    chances: ArrayLike,
    total_size: float,
    level: float = 0.95,
) -> Estimate:
    """Estimate a total from clusters (files) that were drawn without replacement.

    Each has a count; a size, roughly proportional to counts (1 for all if unknown); and the
    probability that it was drawn, in (0, 1] (1: certain). `total_size` is the sum over all
    clusters, drawn or not.

    The total is that of the certain clusters, plus the ratio estimate for the others: counts over
    sizes, both weighted by 1 / chance, times the size of all others. The interval is a *t* interval
    of that part on the log scale. `note` says why there is none, or that a single cluster weighs
    too much to trust it.
    """
    y, x, chance = (np.asarray(values, dtype=np.float64) for values in (counts, sizes, chances))
    if not y.size or x.min() <= 0 or chance.min() <= 0 or chance.max() > 1:
        raise ValueError("needs clusters of positive size, each with a chance in (0, 1]")
    is_sampled, counted = chance < 1, float(y.sum())
    if not is_sampled.any():
        return Estimate(counted, counted, counted, level)
    certain, size = float(y[~is_sampled].sum()), total_size - float(x[~is_sampled].sum())
    total, error, largest = _ratio_estimate(y[is_sampled], x[is_sampled], chance[is_sampled], size)
    value = certain + total
    if note := _no_interval(y, y[is_sampled], varies=error > 1e-9 * total):
        return no_interval(value, level, note)
    share = largest / value
    is_trusted = share <= TRUSTED_SHARE
    if not is_trusted:
        note = f"unreliable interval: one file makes up {100 * share:.0f}% of the estimate"
    factor = math.exp(t_quantile(level, int(is_sampled.sum()) - 1) * error / total)
    # The total is at least what the sample has.
    low = max(certain + total / factor, counted)
    high = certain + total * factor
    return Estimate(value, low, high, level, note=note, is_trusted=is_trusted)


def cluster_share(
    counts: ArrayLike,
    totals: ArrayLike,
    sizes: ArrayLike,
    chances: ArrayLike,
    total_size: float,
    level: float = 0.95,
) -> Estimate:
    """Estimate the share of some counts in a total, from clusters (files) as in `cluster_total`.

    Parameters
    ----------
    counts : array of float, shape (n_clusters,)
        The counted part in each cluster, at most its total.
    totals : array of float, shape (n_clusters,)
        All of which the counts are a part; positive in at least one cluster.
    sizes, chances, total_size : see cluster_total
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        A fraction, the ratio of the estimates of both totals. `note` says why there is no
        interval, or that a single cluster weighs too much to trust it.

    Notes
    -----
    The variance is that of `cluster_total` for counts - share * totals (Särndal, Swensson &
    Wretman 1992, Model Assisted Survey Sampling, 5.6), the interval a *t* interval of the log odds.
    So the limits of a share and of the rest of the total are each other's complements.
    """
    y, all_y, x, chance = (
        np.asarray(values, dtype=np.float64) for values in (counts, totals, sizes, chances)
    )
    others = all_y - y
    if others.size and others.min() < 0:
        raise ValueError("no count can be larger than its total")
    part = cluster_total(y, x, chance, total_size, level)
    rest = cluster_total(others, x, chance, total_size, level)
    total = part.value + rest.value
    value = part.value / total
    is_sampled = chance < 1
    if not is_sampled.any():
        return Estimate(value, value, value, level)
    size = total_size - float(x[~is_sampled].sum())
    residuals = ((1 - value) * y - value * others)[is_sampled]
    _, error, _ = _ratio_estimate(residuals, x[is_sampled], chance[is_sampled], size)
    varies = error > 1e-9 * total
    notes = (
        _no_interval(y, y[is_sampled], varies),
        _no_interval(others, others[is_sampled], varies, subject="the rest"),
    )
    if note := next(filter(None, notes), ""):
        return no_interval(value, level, note)
    odds = value / (1 - value)
    standard_error = error / total / (value * (1 - value))
    factor = math.exp(t_quantile(level, int(is_sampled.sum()) - 1) * standard_error)
    low_odds, high_odds = odds / factor, odds * factor
    return Estimate(
        value,
        low_odds / (1 + low_odds),
        high_odds / (1 + high_odds) if math.isfinite(high_odds) else 1.0,
        level,
        note=part.note or rest.note,
        is_trusted=part.is_trusted and rest.is_trusted,
    )


def _ratio_estimate(
    counts: Floats, sizes: Floats, chances: Floats, size: float
) -> tuple[float, float, float]:
    """Return the total of clusters of this total size, its standard error and its largest part.

    The total is a ratio estimate with unequal chances (Särndal, Swensson & Wretman 1992, Model
    Assisted Survey Sampling, 5.6), the variance the estimator for nearly maximal entropy (Hájek
    1964, doi:10.1214/aoms/1177700375). Counting the largest squared residual three times is our own
    rule: few clusters hold most occurrences, and a sample rarely shows how many. Coverage:
    docs/scanning.md.
    """
    weights = 1 / chances
    weights *= size / (weights @ sizes)
    total, n = float(weights @ counts), counts.size
    squares = (1 - chances) * (weights * (counts - total / size * sizes)) ** 2
    variance = n / max(n - 1, 1) * (squares.sum() + (FARTHEST_COUNTS - 1) * squares.max())
    return total, math.sqrt(variance), float((weights * counts).max())


def _no_interval(counts: Floats, sampled_counts: Floats, varies: bool, subject: str = "it") -> str:
    """Return why the counts of files give no interval; empty if they give one."""
    n, with_count, seen_by_chance = (
        counts.size,
        int((counts > 0).sum()),
        int((sampled_counts > 0).sum()),
    )
    if n < CLUSTERS_FOR_AN_INTERVAL:
        return f"no interval: only {n} files were read"
    if with_count < CLUSTERS_FOR_AN_INTERVAL:
        return f"no interval: {subject} is in {with_count} of {n} files, too rare for this sample"
    if seen_by_chance < 2:
        return (
            f"no interval: {subject} is in {seen_by_chance} of {sampled_counts.size} files"
            " drawn by chance"
        )
    return "" if varies else "no interval: the counts of the files do not vary"
