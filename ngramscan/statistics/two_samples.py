"""Two independent samples of values from 0 to 1: their means, the difference, and its test."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from ngramscan.statistics.estimates import Estimate, t_quantile
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.proportions import effective_size, independent_difference, wilson

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ALPHA, POWER = 0.05, 0.8
"""A difference is found if p is at most alpha; power is how often that happens."""
RESULTS = 15
"""Results of the first sample that power is averaged over."""
VALUES_AT_ONCE = 2_000_000
NO_VARIANCE = 1e-12
"""Added to the variance of a difference, so that samples without any have a finite distance."""


class SampleComparison(NamedTuple):
    """The mean of the second sample minus that of the first, tested."""

    difference: Estimate
    p: PValue
    detectable: float | None
    """The least true difference above zero that the test finds with 80% power. None: it would not
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
    counts = [(int(one.sum()), one.size) for one in (a, b)]
    p = PValue(_fisher_p(*counts), "Fisher's exact test", a.size + b.size)
    return SampleComparison(difference, p, detectable_shares(float(a.mean()), a.size, b.size))


def estimate_accuracy(values: ArrayLike, problems: ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate the mean of scores from 0 to 1 with Wilson's interval; no scores: a ValueError.

    `problems` has the problem of each score. With one score each, this is `estimate_mean`; several
    scores of a problem count as their effective number, or as one if no score differs.
    """
    scores, ids = np.asarray(values, dtype=np.float64), np.asarray(problems)
    n_problems = np.unique(ids).size
    if n_problems == scores.size:
        return estimate_mean(scores, is_binary(scores), level)
    size = effective_size(scores, ids, level) if np.ptp(scores) else float(n_problems)
    mean = float(scores.mean())
    return replace(wilson(mean * size, size, level), value=mean)


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
    powers = np.stack([centred, centred**2], axis=1)
    sums, totals, n = assigned.astype(np.float64) @ powers, counts @ powers, counts.sum()
    n_second = assigned[0].sum()
    means, squares = sums.T / n_second
    means_first, squares_first = (totals - sums).T / (n - n_second)
    variance = NO_VARIANCE + np.maximum(squares - means**2, 0) / max(n_second - 1, 1)
    variance += np.maximum(squares_first - means_first**2, 0) / max(n - n_second - 1, 1)
    return np.asarray(np.abs(means - means_first) / np.sqrt(variance))


@lru_cache(maxsize=256)
def detectable_shares(share: float, n: int, n_other: int) -> float | None:
    """Return the least increase of a share that Fisher's exact test finds with 80% power, or None.

    The first sample has n values with this share of ones, the other n_other. Its need is
    computed for a few equally probable results of the first.
    """
    results = stats.binom.ppf((np.arange(RESULTS) + 0.5) / RESULTS, n, share).astype(int)
    needed = np.array([_needed(int(result), n, n_other) for result in results])

    def missing(other: float) -> float:
        return POWER - float(stats.binom.sf(needed - 1, n_other, other).mean())

    if missing(1.0) > 0:
        return None
    return float(optimize.brentq(missing, share, 1.0)) - share


def _needed(k: int, n: int, n_other: int) -> int:
    """Return the fewest ones of the other sample that are found to be more than k of n.

    One more than it has values, if not even these are.
    """
    more = range(k * n_other // n + 1, n_other + 1)
    return more.start + bisect_left(
        more, True, key=lambda other: _fisher_p((k, n), (other, n_other)) <= ALPHA
    )


def _fisher_p(first: tuple[int, int], second: tuple[int, int]) -> float:
    table = np.array([[k, n - k] for k, n in (first, second)])
    return float(stats.fisher_exact(table).pvalue)


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
