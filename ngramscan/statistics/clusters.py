"""Shares of observations that come in clusters, as outputs that answer the same problems.

A mean of scores from 0 to 1 is one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ngramscan.messages import counted
from ngramscan.statistics.estimates import Estimate, Floats, t_quantile
from ngramscan.statistics.proportions import (
    correlated_difference,
    normal_quantile,
    share_ratio,
    wilson,
)

OUTWEIGHED = 0.4
"""Inverse of the degrees of freedom when one of several similar clusters dominates the share."""
ALIKE = 0.25
"""Pseudo-count of pairs of equal observations, which shrinks the estimate if clusters are few."""
SMALLEST_P = 1e-9
"""Intervals are computed at levels at least this far from 0 and 1."""
_HALVINGS = 30
FEW_CLUSTERS = 10
"""With this few clusters, or as few effective ones, the note of an interval says so."""


def describe_few_clusters(sizes: ArrayLike) -> str:
    """Return a warning if the clusters, of these sizes, are few; otherwise an empty string.

    One that outweighs the others makes them tell as much as (Σm)² / Σm² clusters of one size.
    Source: Kish 1965, Survey Sampling, 11.7.
    """
    m = np.asarray(sizes, dtype=np.float64)
    effective = float(m.sum() ** 2 / (m @ m)) if m.size else 0.0
    if effective > FEW_CLUSTERS:
        return ""
    number = f"only {counted(m.size, 'cluster')}"
    if round(effective) >= m.size:
        return number
    return f"{number}, so uneven that they tell as much as {effective:.0f} of one size"


class ClusteredShare:
    """A share of all observations, or with `by_cluster` the mean of the clusters' shares."""

    def __init__(self, values: ArrayLike, clusters: ArrayLike, by_cluster: bool = False) -> None:
        """Take observations, at least one, of 0 or 1 or between them, and the cluster of each."""
        observed = np.asarray(values, dtype=np.float64)
        self._clusters, numbers = np.unique(np.asarray(clusters), return_inverse=True)
        self._sizes: Floats = np.bincount(numbers).astype(np.float64)
        sums = np.bincount(numbers, weights=observed)
        self._weights = np.ones_like(self._sizes) if by_cluster else self._sizes
        self._shares: Floats = sums / self._sizes
        self._squares = np.bincount(numbers, weights=observed**2) / self._sizes
        self._is_binary = bool(np.isin(observed, (0, 1)).all())
        self._found = float((self._shares if by_cluster else sums).sum())
        self._total = float(self._weights.sum())
        self.value = self._found / self._total

    def estimate(self, level: float = 0.95) -> Estimate:
        """Estimate the share with Wilson's interval for the effective size."""
        size = self.effective_size(level)
        # Without rounding where the observations are independent.
        marked = self._found if size == self._total else self.value * size
        return replace(wilson(marked, size, level), value=self.value)

    def effective_size(self, level: float) -> float:
        """Return the effective sample size: the number of independent observations of 0 or 1.

        With m observations in a cluster of weight w and an intraclass correlation ρ, the variance
        is that of (Σw)² / Σ(w² (1/m + ρ (1 - 1/m))) independent ones. For an interval this number
        is multiplied by (z / t)². Its degrees of freedom are those of the estimated variance, for
        normal values. The more one of alike clusters outweighs the others, the fewer they are; this
        part is our own rule, set by simulation (docs/blend.md). A single cluster counts as one
        observation. Observations between 0 and 1 vary less, so that they count for more.

        Sources: Kish 1965, Survey Sampling, 5.4 (design effect); Fisher 1925, Statistical Methods
        for Research Workers, chapter VII (variance of ρ); Korn & Graubard 1998, Survey Methodology
        24, 193-201 (t).
        """
        m, n = self._sizes, self._sizes.size
        if n == 1 or (self._is_binary and m.max() == 1):
            return float(n)
        between = self._variance_between()
        # How much less the observations vary than those of 0 or 1.
        scale = 1.0 if self._is_binary else between / (self.value * (1 - self.value) or 1.0) or 1.0
        rho = self._intraclass_correlation(between, ALIKE * scale)
        squares = self._weights**2
        within_square, total_square = float((squares / m).sum()), float(squares.sum())
        variance = within_square + rho * (total_square - within_square)
        fewer = ((total_square - within_square) / variance) ** 2 * _squared_error(rho, m[m > 1])
        fewer += OUTWEIGHED * rho * (float(squares.max()) / total_square - 1 / n)
        least = 1e-9 if self._is_binary else 1 / (n - 1)
        ratio = normal_quantile(level) / t_quantile(level, 1 / max(fewer, least))
        return self._total * self._total / variance / scale * ratio * ratio

    def _variance_between(self) -> float:
        """Return half the mean squared difference of two observations of different clusters."""
        n, total = self._sizes.size, float(self._shares.sum())
        products = total * total - float((self._shares**2).sum())
        return float(self._squares.sum()) / n - products / (n * (n - 1))

    def _intraclass_correlation(self, between: float, added: float) -> float:
        """Return how much more alike two observations of a cluster are than two of different ones.

        That is 1 less the ratio of the means of their squared differences. Where few clusters
        differ from others, what is added to the denominator makes those of a cluster alike, since
        little is known about them.
        """
        has_several = self._sizes > 1
        m = self._sizes[has_several]
        within = (self._squares - self._shares**2)[has_several] * m / (m - 1)
        return 1 - min(float(within.sum()) / (m.size * between + added), 1.0)

    def difference(self, other_share: ClusteredShare, level: float = 0.95) -> Estimate:
        """Estimate how much larger the other share is, by Newcombe's interval for pairs."""
        estimates = self.estimate(level), other_share.estimate(level)
        return correlated_difference(*estimates, self._correlation(other_share))

    def ratio(self, other_share: ClusteredShare, level: float) -> Estimate:
        """Estimate how many times as large as the other share this one is, as `share_ratio`."""
        counts = (self._found, self._total), (other_share._found, other_share._total)
        sizes = self.effective_size(level), other_share.effective_size(level)
        return share_ratio(*counts, level, sizes, self._correlation(other_share))

    def p_value(self, other_share: ClusteredShare, generator: np.random.Generator) -> float:
        """Test whether the other mean of clusters' shares is equal; both have the same clusters.

        The differences of the clusters change sign. If clusters have unequal numbers of
        observations, the differences may be skewed, and the p-value is at least the one at which
        the interval of the difference excludes 0.
        """
        # Slow to import.
        from ngramscan.statistics.sign_tests import sign_flip_test

        # Sorted, so that the order of clusters, which has no meaning, does not matter.
        p = sign_flip_test(np.sort(other_share._shares - self._shares), generator).value
        if (self._sizes == other_share._sizes).all():
            return p
        return _least_p(p, lambda p: self.difference(other_share, 1 - p))

    def _correlation(self, other_share: ClusteredShare) -> float:
        """Return the correlation of two shares whose observations come from shared clusters.

        Above zero it has Newcombe's continuity correction for one observation of each cluster, and
        then is his φ. 0 if a share does not vary.
        Source: Newcombe 1998, method 10, Statistics in Medicine 17, 2635-2650.
        """
        deviations, other_deviations = self._deviations(), other_share._deviations()
        _, at_own, at_other = np.intersect1d(
            self._clusters, other_share._clusters, return_indices=True
        )
        squares = float(deviations @ deviations) * float(other_deviations @ other_deviations)
        if not squares:
            return 0.0
        correlation = float(deviations[at_own] @ other_deviations[at_other]) / math.sqrt(squares)
        spread = math.sqrt(self._binomial_square() * other_share._binomial_square())
        return max(correlation - 0.5 / spread, 0.0) if correlation > 0 else correlation

    def _deviations(self) -> Floats:
        relative = self._weights / self._weights.mean()
        return np.asarray(relative * (self._shares - self.value))

    def _binomial_square(self) -> float:
        """Return the sum of squared deviations if each cluster had one observation."""
        return self._sizes.size * self.value * (1 - self.value)


def _squared_error(rho: float, m: Floats) -> float:
    """Return half the variance of an estimate of ρ from clusters with several observations."""
    if not m.size:
        return 0.0
    errors = ((1 - rho) * (1 + (m - 1) * rho)) ** 2 / (m * (m - 1))
    return float(errors.mean()) / max(m.size - 1, 1)


def _least_p(p: float, interval: Callable[[float], Estimate]) -> float:
    """Return the least p-value, not below this one, at which an interval excludes 0."""

    def includes_zero(p: float) -> bool:
        low, high = interval(p).limits
        return low <= 0 <= high

    if p > 1 - SMALLEST_P or not includes_zero(max(p, SMALLEST_P)):
        return p
    least, most = p, 1.0
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        least, most = (middle, most) if includes_zero(middle) else (least, middle)
    return most
