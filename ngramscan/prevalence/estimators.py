"""Numbers of documents, estimated from occurrences drawn at random: arrays in, values out.

A random one of T occurrences is in a document that has c of them with probability c/T. To undo
this bias, each draw counts for a share of a document: 1/c, or 1 for the first occurrence in its
document and 0 for others. Over all occurrences, either share has the mean p = D/T, where D is the
number of documents. Everything here estimates that mean, with an interval. Where a document is seen
only in part, the share has a lower and an upper bound, and so has the estimate.

Draws that hardly differ have a variance near 0, and yet they may have missed a kind of document
that is rare among occurrences and common among documents: those with a single occurrence. So an
**added draw** of share 1 enters the variance, but not the estimate. As no share lies between 1/2
and 1, it also outweighs a rare share below the others.

Sources: Hansen & Hurwitz 1943, doi:10.1214/aoms/1177731356 (size-biased draws); Korn & Graubard
1998, Survey Methodology 24:193 (interval with an effective sample size); Zou, Huang & Zhang 2009,
doi:10.1016/j.csda.2008.09.033, and Zou & Donner 2008, doi:10.1002/sim.3095 (intervals of sums and
ratios from the intervals of their parts).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.proportions import clopper_pearson

DRAWS_FOR_VARIANCE = 30
"""With fewer draws, the largest possible variance is used in place of their own."""

REPLACEMENT_SHARE = 0.05
"""Draws of a larger share of all occurrences are without replacement."""

_Floats = NDArray[np.float64]
_Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BoundedEstimate:
    """Lower and upper estimates where documents are truncated; the same estimate elsewhere."""

    lower: Estimate
    upper: Estimate
    standard_error: float = 0.0
    """The larger of the two."""
    without_added_draw: BoundedEstimate | None = None
    """None: no added draw was used."""

    @property
    def leans_on_added_draw(self) -> bool:
        """Tell whether more than half of the interval's width comes from the added draw."""
        other = self.without_added_draw
        return other is not None and 2 * (other.high - other.low) < self.high - self.low

    def at_most(self, documents: int | None) -> BoundedEstimate:
        """Return the estimate for an index that has no more documents; None: unknown."""
        if documents is None or self.high <= documents:
            return self

        def least(estimate: Estimate) -> Estimate:
            value, low, high = np.minimum([estimate.value, *estimate.limits], documents).tolist()
            return replace(estimate, value=value, low=low, high=high)

        return replace(self, lower=least(self.lower), upper=least(self.upper))

    @property
    def value(self) -> float | None:
        """The estimate; None if the two differ."""
        return self.lower.value if self.lower.value == self.upper.value else None

    @property
    def documents(self) -> float | None:
        """The number of documents; None if the two estimates round to different numbers."""
        lower, upper = round(self.lower.value), round(self.upper.value)
        return float(lower) if self.value is None and lower == upper else self.value

    @property
    def low(self) -> float:
        """The lower limit of the lower estimate."""
        return self.lower.limits[0]

    @property
    def high(self) -> float:
        """The upper limit of the upper estimate."""
        return self.upper.limits[1]


def exactly(documents: float, level: float = 0.95) -> BoundedEstimate:
    """Return a known number as an estimate without uncertainty."""
    exact = Estimate(documents, documents, documents, level)
    return BoundedEstimate(exact, exact)


@dataclass(frozen=True, slots=True)
class Draws:
    """The draws of one pattern."""

    lowest: _Floats
    """Shape (K,): lower bounds of the share of a document that each draw counts for."""
    highest: _Floats
    """Upper bounds; the same where documents are seen whole."""
    occurrences: int
    """T: all occurrences, drawn or not."""
    by_first: _Booleans | None = None
    """Which shares are 1 for the first occurrence in a document and 0 for others; None: all shares
    are of one kind."""

    @classmethod
    def known(cls, documents: int) -> Draws:
        """Represent exactly counted documents as draws of share 1."""
        return cls(np.ones(documents), np.ones(documents), documents)

    @classmethod
    def of(cls, shares: Sequence[tuple[float, float, bool]], occurrences: int) -> Draws:
        """Return draws from shares: lower bound, upper bound, whether by first occurrence."""
        lowest, highest, by_first = np.asarray(shares, dtype=np.float64).reshape(-1, 3).T
        return cls(lowest, highest, occurrences, by_first.astype(bool))


def is_without_replacement(n_draws: int, occurrences: int) -> bool:
    """Tell whether `n_draws` draws are made without replacement."""
    return n_draws > REPLACEMENT_SHARE * occurrences


# The mean share


def mean_share(
    shares: ArrayLike,
    occurrences: int,
    level: float = 0.95,
    by_first: _Booleans | None = None,
    added_draw: bool = True,
) -> tuple[Estimate, float]:
    """Estimate the mean share p = D/T of all occurrences from some draws; also its standard error.

    Each of the K shares is from 0 to 1. They were drawn independently, or without replacement where
    `is_without_replacement` says so; with K = T, all were. `by_first` says which shares are 1 for a
    first occurrence and 0 for others, where only some are. The standard error is without the added
    draw, the Clopper–Pearson interval with it unless `added_draw` is False.

    With 30 draws or more, the interval uses an effective sample size, from the variance of the
    shares and the added draw (coverage: docs/docnorm.md); with fewer, the number of draws, which is
    valid for any shares, and wide. If shares are of both kinds, each kind has an interval, and the
    two are combined: first occurrences may be so rare that none was drawn, and then the variance
    does not show that they are missing. No draws, or shares outside 0 to 1, are a ValueError.
    """
    y = np.asarray(shares, dtype=np.float64)
    if not y.size or y.min() < 0 or y.max() > 1:
        raise ValueError("at least one share is needed, each from 0 to 1")
    mean = float(y.mean())
    if y.size >= occurrences:
        return Estimate(mean, mean, mean, level), 0.0
    low, high = _limits(
        _parts(y, by_first), y.size, occurrences, level=level, added_draw=added_draw
    )
    error = _deviation(y) * math.sqrt(_finite_population(y.size, occurrences) / y.size)
    return Estimate(mean, low, high, level), error


def _parts(y: _Floats, by_first: _Booleans | None) -> list[tuple[float, float]]:
    """Return mean and deviation of each kind of share, with the other kind as 0."""
    if by_first is None or by_first.all() or not by_first.any():
        return [(float(y.mean()), _deviation(y))]
    kinds = (np.where(by_first, 0.0, y), np.where(by_first, y, 0.0))
    return [(float(kind.mean()), _deviation(kind)) for kind in kinds]


def _deviation(y: _Floats) -> float:
    # By rounding, equal values may have a deviation that is not quite 0.
    return float(y.std(ddof=1)) if np.ptp(y) else 0.0


def _finite_population(n: int, occurrences: int) -> float:
    """Return the factor of the variance for draws without replacement."""
    return 1 - n / occurrences if is_without_replacement(n, occurrences) else 1.0


def _limits(
    parts: Sequence[tuple[float, float]], n: int, occurrences: int, level: float, added_draw: bool
) -> tuple[float, float]:
    """Return the limits of the sum of the means of n draws."""
    effective = n / _finite_population(n, occurrences)
    p = sum(mean for mean, _ in parts)
    low, high = clopper_pearson(p, effective, level)
    if n < DRAWS_FOR_VARIANCE:
        return low, high
    below = above = 0.0
    for mean, deviation in parts:
        variance = deviation**2
        if added_draw:
            variance = variance * (n - 1) / n + (1 - mean) ** 2 / (n + 1)
        worth = effective * _efficiency(mean, variance, n, level)
        part_low, part_high = clopper_pearson(mean, worth, level)
        below = math.hypot(below, mean - part_low)
        above = math.hypot(above, part_high - mean)
    # The guaranteed interval is valid for any shares, so no interval needs to be wider.
    return max(p - below, low), min(p + above, high)


def _efficiency(mean: float, variance: float, n: int, level: float) -> float:
    """Return how many yes-or-no draws with the same variance one draw is worth; at least 1."""
    if not variance:
        return 1.0 if mean in (0, 1) else math.inf
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    return max(1.0, mean * (1 - mean) / variance * float(ndtri(tail) / stdtrit(n - 1, tail)) ** 2)


# Documents and ratios


def estimate_documents(
    patterns: Sequence[Draws], seen_documents: int, level: float = 0.95
) -> BoundedEstimate:
    """Estimate how many documents contain at least one of some patterns.

    If there are several patterns, a share is one over the occurrences of *all* patterns in the
    document, or 1 for the first occurrence of any of them and 0 for others. `seen_documents` are
    the distinct documents among all draws; there can't be fewer.

    The estimate is the sum over the patterns of T times the mean share. The limits of the patterns
    are combined as independent errors, so a pattern whose draws do not vary still adds the
    uncertainty of its own interval. Exact if all occurrences were drawn.
    """
    if all(draws.lowest.size >= draws.occurrences for draws in patterns):
        return exactly(seen_documents, level)
    result, without = (_sums(patterns, seen_documents, level, added) for added in (True, False))
    return replace(result, without_added_draw=without)


def _sums(
    patterns: Sequence[Draws], at_least: float, level: float, added_draw: bool
) -> BoundedEstimate:
    def add_up(bounds: Sequence[_Floats]) -> tuple[Estimate, float]:
        rows = []
        for draws, shares in zip(patterns, bounds, strict=True):
            mean, error = mean_share(
                shares, draws.occurrences, level, by_first=draws.by_first, added_draw=added_draw
            )
            low, high = mean.limits
            numbers = (mean.value, mean.value - low, high - mean.value, error)
            rows.append([draws.occurrences * number for number in numbers])
        values, below, above, errors = zip(*rows, strict=True)
        value = sum(values)
        low, high = value - math.hypot(*below), value + math.hypot(*above)
        limits = max(low, at_least), max(high, at_least)
        return Estimate(max(value, at_least), *limits, level), math.hypot(*errors)

    lower, error = add_up([draws.lowest for draws in patterns])
    if all(np.array_equal(draws.lowest, draws.highest) for draws in patterns):
        return BoundedEstimate(lower, lower, error)
    upper, upper_error = add_up([draws.highest for draws in patterns])
    return BoundedEstimate(lower, upper, max(error, upper_error))


def ratio_of_documents(
    documents: BoundedEstimate, other_documents: BoundedEstimate
) -> BoundedEstimate | None:
    """Estimate the ratio of the documents of two methods, from independent draws.

    The limits of both are combined on the log scale; the upper one is infinite if the other method
    may have no document. None: one of the two is estimated as 0.
    """
    if not other_documents.lower.value or not documents.lower.value:
        return None
    without = [bounds.without_added_draw or bounds for bounds in (documents, other_documents)]
    result, plain = (
        BoundedEstimate(_ratio(bounds.lower, other.upper), _ratio(bounds.upper, other.lower))
        for bounds, other in ((documents, other_documents), without)
    )
    return replace(result, without_added_draw=plain)


def _ratio(estimate: Estimate, other: Estimate) -> Estimate:
    value, (low, high), (other_low, other_high) = (
        estimate.value / other.value,
        estimate.limits,
        other.limits,
    )
    below = math.hypot(_log(estimate.value, low), _log(other_high, other.value))
    above = math.hypot(_log(high, estimate.value), _log(other.value, other_low))
    high = value * math.exp(above) if math.isfinite(above) else math.inf
    return Estimate(value, value * math.exp(-below), high, estimate.level)


def _log(above: float, below: float) -> float:
    return math.log(above / below) if below else math.inf


# Planning


def required_draws(pilot: Draws, half_width: float, most: int, level: float = 0.95) -> int:
    """Return how many draws an interval of some width needs, judging by a pilot.

    `half_width` is relative to the estimate: 0.1 for ±10%. At least the draws of the pilot and at
    most `most`, as no number of draws may be enough where documents are truncated.
    """
    total, least = pilot.occurrences, pilot.lowest.size
    most = min(most, total)
    if least >= most:
        return most
    bounds = [_parts(shares, pilot.by_first) for shares in (pilot.lowest, pilot.highest)]
    width = half_width * float(pilot.lowest.mean() + pilot.highest.mean())

    def suffices(n: int) -> bool:
        if n >= total:
            return True
        (low, _), (_, high) = [
            _limits(parts, n, total, level=level, added_draw=True) for parts in bounds
        ]
        return high - low <= width

    if suffices(least):
        return least
    # More draws narrow the interval; it changes its kind at one number, hence two searches.
    for start, stop in ((least, min(DRAWS_FOR_VARIANCE - 1, most)), (DRAWS_FOR_VARIANCE, most)):
        if start <= stop and suffices(stop):
            return start + bisect_left(range(start, stop), True, key=suffices)
    return most


# Repeated documents


def documents_of_repeats(
    documents: Sequence[str], occurrences: int, level: float = 0.95
) -> Estimate:
    """Return T U/K, the paper's estimate of documents, with the limits that repeats support.

    `documents` has the document of each of K draws with replacement; U are distinct. If M of the
    K(K−1)/2 pairs of draws share a document, K(K−1)/2M estimates T²/Σc², and there are at least so
    many documents. The lower limit uses the upper Poisson limit of M; the upper one is T. `note`
    says that K/U is not an estimate of occurrences per document.
    """
    from scipy.special import gammaincinv

    draws, unique = len(documents), len(set(documents))
    _, times = np.unique(np.asarray(documents), return_counts=True)
    pairs = int((times * (times - 1) // 2).sum())
    low = max(draws * (draws - 1) / 2 / float(gammaincinv(pairs + 1, level)), unique)
    note = (
        f"K/U = {draws}/{unique}, {pairs} coinciding pairs: says nothing about occurrences per"
        f" document (1 and 15 look alike), only that there are at least {low:,.0f} documents"
    )
    return Estimate(occurrences / (draws / unique), low, occurrences, level, note=note)
