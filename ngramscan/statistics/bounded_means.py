"""The mean of values between two bounds: interval and test by nonparametric tilting.

Few of many values decide a mean where most are 0, and a sample often has none of these. So a value
at the farthest bound is added to it, with a small weight. Exponential weights then shift the mean
of this sample to a supposed one, and the variance is that of the weighted values: it is small where
the values say so, and large where only values that are rare, or were never seen, could have moved
the mean so far. Values that are all at the bounds get Wilson's interval with Student's t.

Where problems have unequal sizes (weights, or numbers of answers), the few heavy ones decide the
mean, and the value that was never seen may be one of theirs. So the added one has the size of heavy
problems, and the more the sizes differ, the nearer its weight is to that of an observed one.

Sources: Efron 1981, doi:10.2307/3314608, and DiCiccio & Romano 1990, doi:10.2307/1403474 (tilting);
Chen, Variyath & Abraham 2008, doi:10.1198/106186008X321068 (an added value). Coverage:
docs/comparing.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.p_values import ComputedPValue

Floats = NDArray[np.float64]
ADDED_WEIGHT = 0.2
"""Weight of the added value relative to an observed one. With 0.1, samples of ten with few distinct
values err more often than they should; with 1, intervals of ordinary values are too wide. With
unequal sizes it is larger; see `_added_problem`."""
NEGLIGIBLE = 1e-9
"""Means closer than this count as equal; rounding errors are smaller."""
TILTING = "nonparametric tilting"


class BoundedMean:
    """A mean of values from `least` to `most`, whose interval and p-values belong together.

    `sums` has the sum of the values of each problem: one value, or one from each of several
    answers; `sizes` how many they are, by default 1. The mean is the sum of all over their number.
    Problems are independent. A sum that is impossible or missing, no sums, and a size below 1 are
    ValueErrors.
    """

    def __init__(
        self, sums: ArrayLike, least: float, most: float, sizes: ArrayLike | None = None
    ) -> None:
        s = np.asarray(sums, dtype=np.float64)
        m = np.ones(s.shape) if sizes is None else np.asarray(sizes, dtype=np.float64)
        if s.ndim != 1 or not s.size or m.shape != s.shape or not (m >= 1).all():
            raise ValueError("at least one sum is needed, and a positive size for each")
        slack = 1e-9 * (most - least) * m
        if not ((s >= least * m - slack) & (s <= most * m + slack)).all():
            raise ValueError(f"a mean is missing or not from {least:g} to {most:g}")
        # In the order of the values, so that the order of rows does not change the last digits.
        pairs, self._counts = np.unique(np.stack([s, m]), axis=1, return_counts=True)
        (self._sums, self._sizes), self._n = pairs, s.size
        self._size = float(self._counts @ self._sizes) / self._n
        value = float(self._counts @ self._sums) / self._n / self._size
        self.value = min(max(value, least), most)
        self._bounds = float(least), float(most)
        self._added_size, self._added_weight = _added_problem(self._sizes, self._counts)

    def estimate(self, level: float = 0.95) -> Estimate:
        """Return the mean with its interval: all means whose p-value is above 1 - level."""
        low, high = (self.limit(bound, (1 - level) / 2) for bound in self._bounds)
        return Estimate(self.value, low, high, level)

    def limit(self, bound: float, tail: float) -> float:
        """Return the mean towards a bound whose one-sided p-value is `tail`.

        With a single problem, this is the bound itself.
        """
        if self._n == 1:
            return bound
        far = abs(float(scipy.special.stdtrit(self._n - 1, tail)))
        return limit(self._distance, self.value, bound, far)

    def test(self, mean: float) -> ComputedPValue:
        """Test whether this is the mean; of one problem, the p-value is 1."""
        p = 1.0
        if self._n > 1:
            p = 2 * float(scipy.special.stdtr(self._n - 1, -self._distance(mean)))
        return ComputedPValue(p, TILTING, self._n)

    def _distance(self, mean: float) -> float:
        """Return how many standard errors the value is from a mean."""
        if abs(self.value - mean) <= NEGLIGIBLE:
            return 0.0
        bound = self._bounds[0 if self.value > mean else 1]
        residuals = self._sums - mean * self._sizes
        return self._tilted(residuals, bound - mean, self._n)

    def distance_if(self, observed: float, n: int) -> float:
        """Return how many standard errors `observed` is from zero, if it were the mean of n values.

        They vary around it as these values do around their own mean.
        """
        residuals = self._sums + (observed - self.value) * self._sizes
        return self._tilted(residuals, self._bounds[0 if observed > 0 else 1], n)

    def standard_error(self, n: int) -> float:
        """Return the standard error of a mean of n values that vary as these; of one alone, 0."""
        if self._n == 1:
            return 0.0
        squares = float(self._counts @ (self._sums - self.value * self._sizes) ** 2)
        return math.sqrt(squares / (self._n - 1) / n) / self._size

    def _tilted(self, residuals: Floats, to_bound: float, n: int) -> float:
        counts, added = self._counts * (n / self._n), self._added_size * to_bound
        return tilted_distance(residuals, counts, added, self._added_weight)


def _added_problem(sizes: Floats, counts: NDArray[np.int64]) -> tuple[float, float]:
    """Return the size and the weight of the added problem.

    The size is the mean size of problems that are weighted by their part in the variance, which is
    the square of their size. The weight grows from `ADDED_WEIGHT` to 1 while the effective number
    of problems, (Σm)² / Σm² (Kish 1965), falls from n to 1. Both are our own rule, set by
    simulation (docs/methods/comparing.md); with equal sizes nothing changes.
    """
    squares = float(counts @ sizes**2)
    effective_share = min(float(counts @ sizes) ** 2 / squares / float(counts.sum()), 1.0)
    weight = ADDED_WEIGHT + (1 - ADDED_WEIGHT) * (1 - effective_share)
    return float(counts @ sizes**3) / squares, weight


def limit(distance: Callable[[float], float], value: float, bound: float, far: float) -> float:
    """Return where, from a value to its bound, the distance to the value becomes `far`."""
    last = bound + NEGLIGIBLE * (value - bound)
    if abs(value - bound) <= NEGLIGIBLE or distance(last) <= far:
        return bound
    near = value + NEGLIGIBLE * (bound - value)
    if distance(near) >= far:
        return value
    return float(scipy.optimize.brentq(lambda supposed: distance(supposed) - far, near, last))


def tilted_distance(
    residuals: Floats, counts: ArrayLike, added: float, weight: float = ADDED_WEIGHT
) -> float:
    """Return how many standard errors the mean of residuals is from zero, by the tilted variance.

    `counts` says how often each residual was observed. The added one has the opposite sign of the
    mean; if it has not, zero is impossible, and the distance infinite.
    """
    n = float(np.asarray(counts).sum())
    mean = float(np.dot(counts, residuals)) / n
    down = math.copysign(1.0, mean)
    values, weights = down * np.append(residuals, added), np.append(counts, weight)
    if values[-1] >= 0:
        return math.inf if mean else 0.0
    total, slope = partial(_tilted_sum, values, weights), 0.0
    if total(0.0) > 0:  # otherwise the added value has moved the mean far enough
        above = float(weights @ np.maximum(values, 0))
        # From here on, the added value alone outweighs all above zero.
        most = math.log1p(above / (weight * -values[-1])) / -values[-1]
        slope = float(scipy.optimize.brentq(total, 0.0, most, rtol=1e-10))
    tilted = _tilted_weights(values, weights, slope)
    variance = float(tilted @ values**2) / float(tilted.sum())
    return abs(mean) / math.sqrt(variance / n)


def _tilted_weights(values: Floats, weights: Floats, slope: float) -> Floats:
    exponents = -slope * values
    tilted: Floats = weights * np.exp(exponents - exponents.max())
    return tilted


def _tilted_sum(values: Floats, weights: Floats, slope: float) -> float:
    return float(_tilted_weights(values, weights, slope) @ values)
