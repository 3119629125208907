"""Two independent samples of values from 0 to 1: their means, the difference, and its test."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.bounded_means import TILTING, BoundedMean
from ngramscan.statistics.clustered_means import ClusteredMean
from ngramscan.statistics.clusters import ClusteredShare
from ngramscan.statistics.estimates import Estimate, t_quantile
from ngramscan.statistics.p_values import ComputedPValue, invert_interval
from ngramscan.statistics.power import ALPHA, POWER
from ngramscan.statistics.proportions import independent_difference, wilson

Floats = NDArray[np.float64]
RESULTS = 15
"""Results of the first sample that power is averaged over."""


class SampleComparison(NamedTuple):
    """The mean of the second sample minus the mean of the first, tested."""

    difference: Estimate
    p: ComputedPValue
    detectable: float | None
    """The least true difference above zero that the test finds with 80% power. None if it would not
    be found even if all values of the second sample were 1, or values of the first do not vary."""


def is_binary(values: ArrayLike) -> bool:
    """Return whether all values are 0 or 1."""
    return bool(np.isin(np.asarray(values), (0, 1)).all())


def estimate_mean(values: ArrayLike, binary: bool, level: float = 0.95) -> Estimate:
    """Estimate the mean of values from 0 to 1: by Wilson if they are binary, or by `BoundedMean`.

    Other values, and none, are ValueErrors.
    """
    array = np.asarray(values, dtype=np.float64)
    if binary and array.size:
        return wilson(float(array.sum()), array.size, level)
    return BoundedMean(array, 0, 1).estimate(level)


def estimate_accuracy(values: ArrayLike, problems: ArrayLike, level: float = 0.95) -> Estimate:
    """Estimate the mean of scores from 0 to 1; `problems` has the problem of each score.

    Problems with as many scores each are values of `estimate_mean`: scores of one are not
    independent. With unequal numbers, `ClusteredShare` covers better. Other values, and none, are
    ValueErrors.
    """
    scores = np.asarray(values, dtype=np.float64)
    numbers = np.unique(np.asarray(problems), return_inverse=True)[1]
    sums, sizes = np.bincount(numbers, weights=scores), np.bincount(numbers)
    if np.unique(sizes).size > 1:
        return ClusteredShare(scores, numbers).estimate(level)
    return estimate_mean(sums / sizes, is_binary(scores) and scores.size == sums.size, level)


def estimate_clustered_accuracy(
    values: ArrayLike, clusters: ArrayLike, level: float = 0.95
) -> Estimate:
    """Estimate the mean of scores from 0 to 1 of problems in clusters, which each score names.

    By `estimate_accuracy` if the clusters have one size, otherwise by `ClusteredMean`. Other
    values, and none, are ValueErrors.
    """
    if np.unique(np.unique(np.asarray(clusters), return_counts=True)[1]).size == 1:
        return estimate_accuracy(values, clusters, level)
    return ClusteredMean(values, clusters, 0, 1).estimate(level)


def compare_samples(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> SampleComparison:
    """Compare the means of two independent samples of values from 0 to 1.

    The interval combines those of both means. The test is Fisher's exact test if all values are 0
    or 1; otherwise the p-value is that at whose level the interval ends at zero, so that the two
    agree. An empty sample and other values are ValueErrors.
    Source: Fisher 1935, Journal of the Royal Statistical Society 98, 39-82.
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if is_binary(a) and is_binary(b):
        difference = independent_difference(
            *(estimate_mean(sample, True, level) for sample in (a, b))
        )
        counts = [(int(sample.sum()), sample.size) for sample in (a, b)]
        p = ComputedPValue(_fisher_p(*counts), "Fisher's exact test", a.size + b.size)
        return SampleComparison(difference, p, detectable_shares(float(a.mean()), a.size, b.size))
    means = BoundedMean(a, 0, 1), BoundedMean(b, 0, 1)
    difference = independent_difference(*(mean.estimate(level) for mean in means))
    p = ComputedPValue(_inverted_p(*means), TILTING, a.size + b.size)
    return SampleComparison(difference, p, _detectable_means(a, b.size))


def _inverted_p(first: BoundedMean, second: BoundedMean) -> float:
    """Return the p-value at whose level the interval of the difference ends at zero."""
    lower, higher = sorted((first, second), key=lambda mean: mean.value)

    def arm(tail: float) -> float:
        down = higher.value - higher.limit(0.0, tail)
        up = lower.limit(1.0, tail) - lower.value
        return math.hypot(down, up)

    return invert_interval(higher.value - lower.value, arm)


@lru_cache(maxsize=256)
def detectable_shares(share: float, n: int, n_other: int) -> float | None:
    """Return the smallest increase that Fisher's exact test finds with 80% power, if any.

    The first sample has n values with this share of ones, the other n_other. Its need is
    computed for a few equally probable results of the first.
    """
    results = scipy.stats.binom.ppf((np.arange(RESULTS) + 0.5) / RESULTS, n, share).astype(int)
    needed = np.array([_needed(int(result), n, n_other) for result in results])

    def missing(other_share: float) -> float:
        return POWER - float(scipy.stats.binom.sf(needed - 1, n_other, other_share).mean())

    if missing(1.0) > 0:
        return None
    return float(scipy.optimize.brentq(missing, share, 1.0)) - share


def _needed(k: int, n: int, n_other: int) -> int:
    """Return the fewest ones in the other sample that the test finds to be more than k of n.

    If even all ones are not enough, return one more than the sample size.
    """
    more = range(k * n_other // n + 1, n_other + 1)
    return more.start + bisect_left(
        more, True, key=lambda other_ones: _fisher_p((k, n), (other_ones, n_other)) <= ALPHA
    )


def _fisher_p(first: tuple[int, int], second: tuple[int, int]) -> float:
    table = np.array([[k, n - k] for k, n in (first, second)])
    return float(scipy.stats.fisher_exact(table).pvalue)


def _detectable_means(a: Floats, n_other: int) -> float | None:
    """Return the same for graded values, by Student's t, if both samples vary as the first does."""
    if min(a.size, n_other) < 2 or not np.ptp(a):
        return None
    shares = np.array([1 / a.size, 1 / n_other])
    degrees = float(shares.sum() ** 2 / (shares**2 / (np.array([a.size, n_other]) - 1)).sum())
    # Quantiles of one side are those of two-sided levels.
    quantiles = t_quantile(1 - ALPHA, degrees) + t_quantile(2 * POWER - 1, degrees)
    difference = quantiles * float(a.std(ddof=1)) * math.sqrt(shares.sum())
    return difference if a.mean() + difference <= 1 else None
