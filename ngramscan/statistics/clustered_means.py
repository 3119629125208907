"""The mean of values in clusters of unequal sizes: interval and test that belong together.

Tilting (`BoundedMean`) takes the size of a cluster for one that was drawn at random, and finds too
much where few large clusters decide the mean. Student's t with a variance that is corrected for
their leverage holds there, but not where the values are skewed. So each limit is the farther one of
the two, and the p-value the larger one. Clusters of one size have no leverage, and only tilting.

Sources: Bell & McCaffrey 2002, Survey Methodology 28(2), 169-181 (variance); Imbens & Kolesár 2016,
doi:10.1162/REST_a_00552 (degrees of freedom). Coverage: docs/methods/comparing.md.
"""

from __future__ import annotations

import math

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike

from ngramscan.statistics.bounded_means import NEGLIGIBLE, TILTING, limit, tilted_distance
from ngramscan.statistics.estimates import Estimate, Floats
from ngramscan.statistics.p_values import ComputedPValue


class ClusteredMean:
    """A mean of clustered values between `least` and `most`.

    Parameters
    ----------
    values : array of float, shape (n,)
        Values from `least` to `most`; at least one, and none is missing.
    clusters : array, shape (n,)
        The cluster of each value; different ones are independent.
    least, most : float
        Bounds of the values.
    weights : array of float, shape (n,)
        How much each value counts; positive.

    Raises
    ------
    ValueError
        There are no values, or one is missing or out of bounds.
    """

    def __init__(
        self,
        values: ArrayLike,
        clusters: ArrayLike,
        least: float,
        most: float,
        weights: ArrayLike = 1.0,
    ) -> None:
        v = np.asarray(values, dtype=np.float64)
        if not v.size or not ((v >= least - NEGLIGIBLE) & (v <= most + NEGLIGIBLE)).all():
            raise ValueError(f"no value, or one is missing or not from {least:g} to {most:g}")
        numbers = np.unique(np.asarray(clusters), return_inverse=True)[1]
        w = np.broadcast_to(np.asarray(weights, dtype=np.float64), v.shape)
        self._sums = np.bincount(numbers, weights=v * w).astype(np.float64)
        self._sizes = np.bincount(numbers, weights=w).astype(np.float64)
        value = float(self._sums.sum() / self._sizes.sum())
        self.value = min(max(value, least), most)
        self._bounds = float(least), float(most)
        self._n = self._sums.size
        self._error, self._degrees = 0.0, math.inf
        if self._n > 1 and np.ptp(self._sizes) > NEGLIGIBLE * self._sizes.max():
            squares = np.bincount(numbers, weights=w * w)
            rho = intraclass_correlation(v, numbers)
            # How the variances of the sums compare, if values of a cluster correlate by ρ.
            variances = squares + rho * (self._sizes**2 - squares)
            self._error, self._degrees = self._standard_error(variances)

    def estimate(self, level: float = 0.95) -> Estimate:
        """Return the mean with its interval: all means whose p-value is above 1 - level."""
        low, high = (self._limit(bound, (1 - level) / 2) for bound in self._bounds)
        return Estimate(self.value, low, high, level)

    def test(self, mean: float) -> ComputedPValue:
        """Test whether this is the mean; of one cluster, the p-value is 1."""
        if self._n == 1:
            return ComputedPValue(1.0, TILTING, self._n)
        p = 2 * float(scipy.special.stdtr(self._n - 1, -self._tilted_distance(mean)))
        distance = abs(self.value - mean)
        if self._error and distance > NEGLIGIBLE:
            student = scipy.special.stdtr(self._degrees, -distance / self._error)
            p = max(p, 2 * float(student))
        return ComputedPValue(p, TILTING, self._n)

    def _limit(self, bound: float, tail: float) -> float:
        """Return the mean towards a bound whose one-sided p-value is `tail`."""
        if self._n == 1:
            return bound
        far = abs(float(scipy.special.stdtrit(self._n - 1, tail)))
        tilted = limit(self._tilted_distance, self.value, bound, far)
        arm = 0.0
        if self._error:
            arm = self._error * abs(float(scipy.special.stdtrit(self._degrees, tail)))
        if bound < self.value:
            return max(min(tilted, self.value - arm), bound)
        return min(max(tilted, self.value + arm), bound)

    def _tilted_distance(self, mean: float) -> float:
        """Return how many standard errors the value is from a mean, by tilting."""
        if abs(self.value - mean) <= NEGLIGIBLE:
            return 0.0
        bound = self._bounds[0 if self.value > mean else 1]
        residuals = self._sums - mean * self._sizes
        return tilted_distance(
            residuals, np.ones(self._n), float(self._sizes.mean()) * (bound - mean)
        )

    def _standard_error(self, variances: Floats) -> tuple[float, float]:
        """Return the standard error of the mean, for unequal leverage, and its degrees of freedom.

        `variances` are those of the sums of clusters, up to a factor, in a working model. With
        leverage h = m / Σm, each squared residual is divided by 1 - h; the result is scaled to be
        right in this model, and the degrees of freedom are Satterthwaite's for it.
        """
        total = float(self._sizes.sum())
        h, d = self._sizes / total, variances
        residuals = self._sums - self.value * self._sizes
        w = 1 / (1 - h)
        # The covariance of the residuals is diag(d) - h dᵀ - d hᵀ + Σd h hᵀ.
        corrections = -2 * h * d + d.sum() * h * h
        hh, dd, hd = float(w @ h**2), float(w @ d**2), float(w @ (h * d))
        s = float(d.sum())
        trace = float(w @ (d + corrections))
        squares = float(w**2 @ (d**2 + 2 * d * corrections))
        squares += 2 * hh * dd + s * s * hh * hh + 2 * hd * hd - 4 * s * hh * hd
        variance = float(w @ residuals**2) * s / trace
        return math.sqrt(variance) / total, trace * trace / squares


def intraclass_correlation(values: Floats, clusters: ArrayLike) -> float:
    """Estimate how alike two values of a cluster are, from 0 to 1, by analysis of variance.

    0 where no cluster has several values, or values do not vary. `clusters` are numbers from 0.
    Source: Fisher 1925, Statistical Methods for Research Workers, chapter VII.
    """
    numbers = np.asarray(clusters)
    m = np.bincount(numbers).astype(np.float64)
    n, n_clusters = values.size, m.size
    if n == n_clusters or n_clusters < 2:
        return 0.0
    means = np.bincount(numbers, weights=values) / m
    within = float(((values - means[numbers]) ** 2).sum()) / (n - n_clusters)
    between = float((m * (means - values.mean()) ** 2).sum()) / (n_clusters - 1)
    size = (n - float(m @ m) / n) / (n_clusters - 1)
    added = (between - within) / size
    total = added + within
    return min(max(added / total, 0.0), 1.0) if total > 0 else 0.0
