"""Two independent samples of values from 0 to 1: their means, the difference, and its test."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from ngramscan.statistics.estimates import Estimate, t_quantile, welch_half_width
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.proportions import share_difference, wilson

Floats = NDArray[np.float64]
ALPHA, POWER = 0.05, 0.8
"""A difference is found if p is at most alpha; power is how often that happens."""
VALUES_AT_ONCE = 2_000_000


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
    """Estimate a mean of values from 0 to 1: Wilson's interval if they are binary, or Student's t.

    Limits are cut at 0 and 1. `note` says why there is no interval. No values are a ValueError.
    """
    array = np.asarray(values, dtype=np.float64)
    if not array.size:
        raise ValueError("at least one value was expected")
    if binary:
        return wilson(int(array.sum()), array.size, level)
    mean = float(array.mean())
    if note := _no_interval(array):
        return Estimate(mean, None, None, level, note)
    half_width = t_quantile(level, array.size - 1) * float(stats.sem(array))
    return Estimate(mean, max(mean - half_width, 0.0), min(mean + half_width, 1.0), level)


def compare_samples(
    first: ArrayLike,
    second: ArrayLike,
    generator: np.random.Generator,
    draws: int = 10_000,
    level: float = 0.95,
) -> SampleComparison:
    """Compare the means of two independent samples of values from 0 to 1.

    If all values are 0 or 1: Newcombe's hybrid score interval and Fisher's exact test. Otherwise
    Welch's t interval, cut at ±1, and a permutation test of the difference between the means: the
    p-value is (r + 1) / (draws + 1), where r random assignments of the values to the samples have
    a difference that is as large. An empty sample and no draws are ValueErrors.
    Sources: Fisher 1935, Journal of the Royal Statistical Society 98, 39-82; Phipson & Smyth 2010,
    doi:10.2202/1544-6115.1585 (why one is added); `share_difference`.
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (first, second))
    if not (a.size and b.size and draws > 0):
        raise ValueError("two samples with at least one value, and a draw, were expected")
    n = a.size + b.size
    if is_binary(a) and is_binary(b):
        right, right_b = int(a.sum()), int(b.sum())
        difference = share_difference((right, a.size), (right_b, b.size), level)
        table = np.array([[right, a.size - right], [right_b, b.size - right_b]])
        p = PValue(float(stats.fisher_exact(table).pvalue), "Fisher's exact test", n)
        return SampleComparison(difference, p, detectable_shares(right / a.size, a.size, b.size))
    p = _permutation_p(a, b, generator, draws)
    return SampleComparison(_welch(a, b, level), p, _detectable_means(a, b.size))


def _welch(a: Floats, b: Floats, level: float) -> Estimate:
    value = float(b.mean() - a.mean())
    if note := _no_interval(a) or _no_interval(b):
        return Estimate(value, None, None, level, note)
    half_width = welch_half_width(a, b, level)
    return Estimate(value, max(value - half_width, -1.0), min(value + half_width, 1.0), level)


def _no_interval(values: Floats) -> str:
    if values.size < 2:
        return "no interval: a single value"
    return "" if np.ptp(values) else "no interval: all values are equal"


def _permutation_p(a: Floats, b: Floats, generator: np.random.Generator, draws: int) -> PValue:
    values, counts = np.unique(np.concatenate([a, b]), return_counts=True)
    total = float(counts @ values)
    distance = abs(float(b.mean() - a.mean()))
    far, at_once = 0, max(1, VALUES_AT_ONCE // values.size)
    for start in range(0, draws, at_once):
        size = min(at_once, draws - start)
        # How often each value is in the second sample.
        drawn = generator.multivariate_hypergeometric(counts, b.size, size, method="count")
        sums = drawn @ values
        distances = np.abs(sums / b.size - (total - sums) / a.size)
        # The same terms, added in another order, may differ by a rounding error.
        far += int((distances >= distance - 1e-9).sum())
    p = (far + 1) / (draws + 1)
    error = math.sqrt(p * (1 - p) / draws)
    return PValue(p, f"permutation test, {draws} draws", a.size + b.size, standard_error=error)


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
    if _no_interval(a):
        return None
    both = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)
    found = both * float(a.std(ddof=1)) * math.sqrt(1 / a.size + 1 / n_other)
    return found if a.mean() + found <= 1 else None
