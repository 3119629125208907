"""Two independent samples of values from 0 to 1: their means, the difference, and its test."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from ngramscan.statistics.estimates import Estimate, t_quantile
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.proportions import independent_difference, wilson

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ALPHA, POWER = 0.05, 0.8
"""A difference is found if p is at most alpha; power is how often that happens."""
VALUES_AT_ONCE = 2_000_000
NO_VARIANCE = 1e-12
"""Added to the variance of a difference, so that samples without any have a finite distance."""


class SampleComparison(NamedTuple):
    """The mean of the second sample minus that of the first, tested."""

    difference: Estimate
    p: PValue
    detectable: float | None
    """The least true difference above zero that the test finds with 80 % power. None: it would not
    be found even if all values of the second sample were 1, or values of the first do not vary."""


def is_binary(values: ArrayLike) -> bool:
    """Return whether all values are 0 or 1."""
    return bool(np.isin(np.asarray(values), (0, 1)).all())


def estimate_mean(values: ArrayLike, binary: bool, level: float = 0.95) -> Estimate:
    """Estimate the mean of values from 0 to 1 with Wilson's interval. No values: a ValueError.

    Unless they are `binary`, the size is the number of binary values that say as much about their
    mean, times (z / t)²; the number of values, where all are equal. For values near 0 or 1 and
    small samples this covers better than Student's t, and there always is an interval.
    Source: Korn & Graubard 1998, Survey Methodology 24, 193-201 (effective sizes).
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        raise ValueError("at least one value was expected")
    mean, size = float(array.mean()), float(array.size)
    if not binary and np.ptp(array):
        fewer = NormalDist().inv_cdf((1 + level) / 2) / t_quantile(level, array.size - 1)
        size *= mean * (1 - mean) / float(array.var(ddof=1)) * fewer**2
    return replace(wilson(mean * size, size, level), value=mean)


def compare_samples(
    first: ArrayLike,
    second: ArrayLike,
    generator: np.random.Generator,
    draws: int = 10_000,
    level: float = 0.95,
) -> SampleComparison:
    """Compare the means of two independent samples of values from 0 to 1.

    The interval combines those of both means. The test is Fisher's exact test if all values are
    0 or 1; otherwise a permutation test of Welch's statistic, whose p-value is
    (r + 1) / (draws + 1), where r random assignments of the values to the samples have one as far
    from zero. It keeps its level for equal distributions, and nearly so for equal means of samples
    of unequal variance; the difference of means as the statistic would not. An empty sample and no
    draws are ValueErrors.
    Sources: Fisher 1935, Journal of the Royal Statistical Society 98, 39-82; Janssen 1997,
    doi:10.1016/S0167-7152(97)00043-6; Phipson & Smyth 2010, doi:10.2202/1544-6115.1585 (why one
    is added).
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if not (a.size and b.size and draws > 0):
        raise ValueError("two samples with at least one value, and a draw, were expected")
    binary = is_binary(a) and is_binary(b)
    difference = independent_difference(*(estimate_mean(one, binary, level) for one in (a, b)))
    if not binary:
        p = _permutation_p(a, b, generator, draws)
        return SampleComparison(difference, p, _detectable_means(a, b.size))
    table = np.array([[np.count_nonzero(one == value) for value in (1, 0)] for one in (a, b)])
    p = PValue(float(stats.fisher_exact(table).pvalue), "Fisher's exact test", a.size + b.size)
    return SampleComparison(difference, p, detectable_shares(float(a.mean()), a.size, b.size))


def _permutation_p(a: Floats, b: Floats, generator: np.random.Generator, draws: int) -> PValue:
    values, counts = np.unique(np.concatenate([a, b]), return_counts=True)
    own = np.array([[np.count_nonzero(b == value) for value in values]])
    least = float(_distances(own, counts, values)[0]) * (1 - 1e-7)
    far, at_once = 0, max(1, VALUES_AT_ONCE // values.size)
    for start in range(0, draws, at_once):
        size = min(at_once, draws - start)
        drawn = generator.multivariate_hypergeometric(counts, b.size, size, method="count")
        # Equal terms, added in another order, may differ by a rounding error.
        far += int((_distances(drawn, counts, values) >= least).sum())
    p = (far + 1) / (draws + 1)
    error = math.sqrt(p * (1 - p) / draws)
    return PValue(p, f"permutation test, {draws} draws", a.size + b.size, standard_error=error)


def _distances(assigned: Integers, counts: Integers, values: Floats) -> Floats:
    """Return Welch's statistics of assignments, without their signs, shape (assignments,).

    `assigned` says how often the second sample has each value, shape (assignments, values).
    """
    centred = values - counts @ values / counts.sum()
    difference, variance = 0.0, NO_VARIANCE
    for part, sign in ((counts - assigned, -1), (assigned, 1)):
        n = int(part[0].sum())
        means = part @ centred / n
        difference = difference + sign * means
        variance = variance + np.maximum(part @ centred**2 / n - means**2, 0) / max(n - 1, 1)
    return np.asarray(np.abs(difference) / np.sqrt(variance))


def detectable_shares(share: float, n: int, n_other: int) -> float | None:
    """Return the least increase of a share that Fisher's exact test finds with 80 % power, or None.

    Normal approximation with half the usual continuity correction, which fits the power of the
    two-sided test best. Source: Casagrande, Pike & Smith 1978, doi:10.2307/2530613.
    """
    rare, often = NormalDist().inv_cdf(1 - ALPHA / 2), NormalDist().inv_cdf(POWER)
    inverse = 1 / n + 1 / n_other

    def excess(increase: float) -> float:
        other = share + increase
        pooled = (n * share + n_other * other) / (n + n_other)
        by_chance = math.sqrt(pooled * (1 - pooled) * inverse)
        spread = math.sqrt(share * (1 - share) / n + max(other * (1 - other), 0) / n_other)
        return increase - rare * by_chance - often * spread - inverse / 4

    if share == 1 or excess(1 - share) < 0:
        return None
    return float(optimize.brentq(excess, 0.0, 1 - share))


def _detectable_means(a: Floats, n_other: int) -> float | None:
    """Return the same of the permutation test, if both samples vary as the first does."""
    if min(a.size, n_other) < 2 or not np.ptp(a):
        return None
    shares = np.array([1 / a.size, 1 / n_other])
    degrees = float(shares.sum() ** 2 / (shares**2 / (np.array([a.size, n_other]) - 1)).sum())
    # Quantiles of one side are those of two-sided levels.
    both = t_quantile(1 - ALPHA, degrees) + t_quantile(2 * POWER - 1, degrees)
    found = both * float(a.std(ddof=1)) * math.sqrt(shares.sum())
    return found if a.mean() + found <= 1 else None
