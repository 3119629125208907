"""Documents, estimated from occurrences that were drawn at random: arrays in, values out.

An occurrence drawn at random lies in a document with c of the T occurrences with probability c/T: a
document is as likely as it has occurrences. So each draw counts for a share of a document, which
undoes that: 1/c, or 1 where it is the first of its document and 0 elsewhere. The mean p of either
over all occurrences is D/T exactly, D being the documents. Everything here estimates that mean, and
says how far off it may be. Where a document is seen in part only, the share of a draw is known
between two bounds; both are carried to the end.

Draws that say nearly the same have a variance that is nearly 0, and may yet have missed a kind of
document that is rare among occurrences and common among documents: those with a single one. So an
**added draw** of share 1 is counted among those that the variance is of, never among those that the
estimate is of. No share lies between 1/2 and 1, so it also outweighs a rare share below the others.

Sources: Hansen & Hurwitz 1943, doi:10.1214/aoms/1177731356 (size-biased draws); Korn & Graubard
1998, Survey Methodology 24:193 (interval with an effective sample size); Zou, Huang & Zhang 2009,
doi:10.1016/j.csda.2008.09.033, and Zou & Donner 2008, doi:10.1002/sim.3095 (intervals of sums and
ratios from those of their parts).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.estimates import Estimate

DRAWS_FOR_VARIANCE = 30
"""Fewer draws say too little of their own variance; the largest possible one is taken then."""

REPLACEMENT_SHARE = 0.05
"""From a larger share of all occurrences, draws are without replacement."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """An estimate where a part of the data is hidden: two, between which it would be."""

    lower: Estimate
    upper: Estimate
    standard_error: float = 0.0
    """Of the one with the larger."""
    without_added_draw: Bounds | None = None
    """What it would be without the added draw; None: there is none in it."""

    @property
    def leans_on_added_draw(self) -> bool:
        """Tell whether more than half of the interval's width comes from the added draw."""
        other = self.without_added_draw
        return other is not None and 2 * (other.high - other.low) < self.high - self.low

    @property
    def value(self) -> float:
        """The middle of the two; the estimate itself where nothing is hidden."""
        return (self.lower.value + self.upper.value) / 2

    @property
    def has_limits(self) -> bool:
        """Tell whether there is an interval."""
        return self.lower.low is not None and self.upper.high is not None

    @property
    def low(self) -> float:
        """The lower limit of the lower."""
        return _known(self.lower.low)

    @property
    def high(self) -> float:
        """The upper limit of the upper."""
        return _known(self.upper.high)

    @property
    def level(self) -> float:
        """The share of intervals that cover the truth."""
        return self.lower.level


@dataclass(frozen=True, slots=True)
class Draws:
    """The draws of one pattern."""

    lowest_shares: NDArray[np.float64]
    """Shape (K,): the share of a document that each draw counts for, at least."""
    highest_shares: NDArray[np.float64]
    """At most; the same where nothing is hidden."""
    occurrences: int
    """T, of all occurrences, drawn or not."""
    by_first: NDArray[np.bool_] | None = None
    """Which shares are 1 for the first occurrence of a document and 0 for others, where only some
    are; None: all are of one kind."""

    @classmethod
    def of(cls, shares: Sequence[tuple[float, float, bool]], occurrences: int) -> Draws:
        """Return the draws with some shares: lower bound, upper bound, whether by first."""
        array = np.asarray(shares, dtype=np.float64).reshape(-1, 3)
        by_first = array[:, 2].astype(bool)
        return cls(array[:, 0], array[:, 1], occurrences, by_first)


def is_without_replacement(n_draws: int, occurrences: int) -> bool:
    """Tell how that many draws are made: without replacement where they are a large part."""
    return n_draws > REPLACEMENT_SHARE * occurrences


# One pattern


def mean_share(
    shares: ArrayLike,
    occurrences: int,
    level: float = 0.95,
    by_first: NDArray[np.bool_] | None = None,
) -> tuple[Estimate, float]:
    """Estimate the mean share p = D/T of all occurrences from those of some draws.

    Parameters
    ----------
    shares : array of float, shape (K,)
        Each from 0 to 1.
    occurrences : int
        T, of which K were drawn: independently, or without replacement where
        `is_without_replacement` says so. K = T is all of them.
    level : float
        Probability that the interval covers p.
    by_first : array of bool, shape (K,), optional
        Which shares are 1 for a first occurrence and 0 for others, where only some are.

    Returns
    -------
    Estimate, float
        p with a Clopper–Pearson interval, and its standard error, which the added draw has no part
        in. From 30 draws on, the interval is that of an effective sample size, which the variance
        of the shares and of the added draw gives (coverage: docs/documents.md); for fewer, the
        number of draws itself, which is right for any shares, and wide. Where shares are of both
        kinds, each kind has its interval, and the two are combined: a first occurrence may be so
        rare that none was drawn, and the variance does not show what is missing then.

    Raises
    ------
    ValueError
        No draws, or shares outside 0 to 1.
    """
    mean = _Mean.of(shares, occurrences, by_first)
    return mean.estimate(_Interval(occurrences, level)), mean.error


class _Part(NamedTuple):
    """The shares of one kind, those of the other counting as 0."""

    mean: float
    deviation: float


def _parts(y: NDArray[np.float64], by_first: NDArray[np.bool_] | None) -> list[_Part]:
    if by_first is None or by_first.all() or not by_first.any():
        return [_Part(float(y.mean()), _deviation(y))]
    kinds = (np.where(by_first, 0.0, y), np.where(by_first, y, 0.0))
    return [_Part(float(kind.mean()), _deviation(kind)) for kind in kinds]


def _deviation(y: NDArray[np.float64]) -> float:
    # Equal values have a mean that is not quite theirs, and so a deviation that is not quite 0.
    return float(y.std(ddof=1)) if np.ptp(y) else 0.0


def _finite_population(n: int, occurrences: int) -> float:
    """Return by how much less the variance is for draws without replacement."""
    return 1 - n / occurrences if is_without_replacement(n, occurrences) else 1.0


@dataclass(frozen=True, slots=True)
class _Mean:
    """The mean share of some draws."""

    value: float
    error: float
    parts: list[_Part]
    n: int

    @classmethod
    def of(cls, shares: ArrayLike, occurrences: int, by_first: NDArray[np.bool_] | None) -> _Mean:
        y = np.asarray(shares, dtype=np.float64)
        if not y.size or y.min() < 0 or y.max() > 1:
            raise ValueError("some shares, each from 0 to 1, were expected")
        if y.size >= occurrences:
            return cls(float(y.mean()), 0.0, [], y.size)
        parts = _parts(y, by_first)
        deviation = parts[0].deviation if len(parts) == 1 else _deviation(y)
        error = deviation * math.sqrt(_finite_population(y.size, occurrences) / y.size)
        return cls(float(y.mean()), error, parts, y.size)

    def estimate(self, interval: _Interval) -> Estimate:
        low, high = interval.limits(self.parts, self.n) if self.parts else (self.value, self.value)
        return Estimate(self.value, low, high, interval.level)


@dataclass(frozen=True, slots=True)
class _Interval:
    """How the limits of a mean share are found."""

    occurrences: int
    level: float
    added_draw: bool = True

    def limits(self, parts: Sequence[_Part], n: int) -> tuple[float, float]:
        """Return the limits of the sum of the means of n draws."""
        effective = n / _finite_population(n, self.occurrences)
        p = sum(part.mean for part in parts)
        low, high = _clopper_pearson(p, effective, self.level)
        if n < DRAWS_FOR_VARIANCE:
            return low, high
        below = above = 0.0
        for part in parts:
            worth = effective * self._efficiency(part, n)
            part_low, part_high = _clopper_pearson(part.mean, worth, self.level)
            below = math.hypot(below, part.mean - part_low)
            above = math.hypot(above, part_high - part.mean)
        # The guaranteed interval holds for any shares, so it is never exceeded.
        return max(p - below, low), min(p + above, high)

    def _efficiency(self, part: _Part, n: int) -> float:
        """Return how many yes-or-no draws, of the same variance, one draw is worth; at least 1."""
        variance = part.deviation**2
        if self.added_draw:
            variance = variance * (n - 1) / n + (1 - part.mean) ** 2 / (n + 1)
        if not variance:
            return 1.0 if part.mean in (0, 1) else math.inf
        # Only here, and it is slow to import.
        from scipy.special import ndtri, stdtrit

        tail = (1 + self.level) / 2
        quantiles = float(ndtri(tail) / stdtrit(n - 1, tail))
        return max(1.0, part.mean * (1 - part.mean) / variance * quantiles**2)


def _clopper_pearson(p: float, n: float, level: float) -> tuple[float, float]:
    if math.isinf(n):
        return p, p
    from scipy.special import betaincinv

    hits, tail = p * n, (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


def documents_of_draws(draws: Draws, seen_documents: int, level: float = 0.95) -> Bounds:
    """Estimate in how many documents a pattern occurs.

    Parameters
    ----------
    draws : Draws
        Some of its occurrences.
    seen_documents : int
        Different documents among them: there are no fewer.
    level : float
        Of the interval.

    Returns
    -------
    Bounds
        In documents. Exact where all occurrences were drawn.
    """
    if draws.lowest_shares.size >= draws.occurrences:
        return _exact(seen_documents, level)
    return documents_of_union([draws], seen_documents, level)


def _mean_shares(draws: Draws) -> tuple[_Mean, _Mean]:
    """Return the mean of the lower and of the upper bounds."""
    lower = _Mean.of(draws.lowest_shares, draws.occurrences, draws.by_first)
    if np.array_equal(draws.lowest_shares, draws.highest_shares):
        return lower, lower
    return lower, _Mean.of(draws.highest_shares, draws.occurrences, draws.by_first)


def _estimates(
    means: tuple[_Mean, _Mean], occurrences: int, level: float, added_draw: bool
) -> tuple[Estimate, Estimate]:
    interval = _Interval(occurrences, level, added_draw)
    lower, upper = means
    estimate = lower.estimate(interval)
    return estimate, estimate if upper is lower else upper.estimate(interval)


def _exact(documents: float, level: float) -> Bounds:
    exact = Estimate(documents, documents, documents, level)
    return Bounds(exact, exact)


def _known(limit: float | None) -> float:
    assert limit is not None
    return limit


# Several patterns


def documents_of_union(
    patterns: Sequence[Draws], seen_documents: int, level: float = 0.95
) -> Bounds:
    """Estimate in how many documents at least one of several patterns occurs.

    Parameters
    ----------
    patterns : sequence of Draws
        Of each pattern; a share is one over the occurrences of *all* patterns in its document, or
        1 where no occurrence of any of them stands before it, else 0. At least one.
    seen_documents : int
        Different documents among all draws: there are no fewer.
    level : float
        Of the interval.

    Returns
    -------
    Bounds
        In documents: the sum of T times the mean share over the patterns. Its limits are those of
        the patterns, combined as independent errors are; so a pattern whose draws do not vary still
        has the uncertainty of its own interval.
    """
    means = [(_mean_shares(draws), draws.occurrences) for draws in patterns]
    error = math.hypot(*(n * max(mean.error for mean in pair) for pair, n in means))

    def bounds(added_draw: bool) -> Bounds:
        pairs = [(_estimates(pair, n, level, added_draw), n) for pair, n in means]
        return Bounds(
            _sum([(lower, n) for (lower, _), n in pairs], seen_documents),
            _sum([(upper, n) for (_, upper), n in pairs], seen_documents),
            error,
        )

    return replace(bounds(True), without_added_draw=bounds(False))


def _sum(shares: Sequence[tuple[Estimate, int]], at_least: float) -> Estimate:
    value = sum(share.value * total for share, total in shares)
    below = math.hypot(*((share.value - _known(share.low)) * total for share, total in shares))
    above = math.hypot(*((_known(share.high) - share.value) * total for share, total in shares))
    return Estimate(
        max(value, at_least),
        max(value - below, at_least),
        max(value + above, at_least),
        shares[0][0].level,
    )


def ratio_of_documents(documents: Bounds, other_documents: Bounds) -> Bounds | None:
    """Estimate how many times more documents one method has than another.

    Parameters
    ----------
    documents, other_documents : Bounds
        Estimated from independent draws.

    Returns
    -------
    Bounds or None
        The limits are those of the parts, combined on the log scale; an infinite one where the
        other may be none. None: one of the two is estimated as none.
    """
    if not other_documents.lower.value or not documents.lower.value:
        return None
    without = _bounds_of_ratio(
        documents.without_added_draw or documents,
        other_documents.without_added_draw or other_documents,
    )
    return replace(_bounds_of_ratio(documents, other_documents), without_added_draw=without)


def _bounds_of_ratio(documents: Bounds, other_documents: Bounds) -> Bounds:
    lower = _ratio(documents.lower, other_documents.upper)
    upper = _ratio(documents.upper, other_documents.lower)
    return Bounds(lower, upper)


def _ratio(one: Estimate, other: Estimate) -> Estimate:
    value = one.value / other.value
    below = math.hypot(_log(one.value, one.low), _log(other.high, other.value))
    above = math.hypot(_log(one.high, one.value), _log(other.value, other.low))
    return Estimate(value, value * math.exp(-below), value * _exp(above), one.level)


def _log(above: float | None, below: float | None) -> float:
    return math.log(_known(above) / _known(below)) if below else math.inf


def _exp(exponent: float) -> float:
    return math.exp(exponent) if math.isfinite(exponent) else math.inf


# Planning


def required_draws(pilot: Draws, half_width: float, most: int, level: float = 0.95) -> int:
    """Return how many draws an interval of some width needs, from what a pilot shows.

    Parameters
    ----------
    pilot : Draws
        Some draws.
    half_width : float
        Half the width of the interval, relative to the estimate: 0.1 for ±10 %.
    most : int
        No more than so many.
    level : float
        Of the interval.

    Returns
    -------
    int
        At least the draws of the pilot; `most` where more would be needed, as for a document seen
        in part no number of draws may do.
    """
    total = pilot.occurrences
    most = min(most, total)
    bounds = [
        _parts(shares, pilot.by_first) for shares in (pilot.lowest_shares, pilot.highest_shares)
    ]
    middle = float(pilot.lowest_shares.mean() + pilot.highest_shares.mean()) / 2
    interval = _Interval(total, level)

    def suffices(n: int) -> bool:
        if n >= total:
            return True
        (low, _), (_, high) = [interval.limits(parts, n) for parts in bounds]
        return high - low <= 2 * half_width * middle

    least = pilot.lowest_shares.size
    if least >= most or suffices(least):
        return min(least, most)
    # More draws narrow the interval; two searches, as it also becomes another one at some number.
    for start, stop in ((least, min(DRAWS_FOR_VARIANCE - 1, most)), (DRAWS_FOR_VARIANCE, most)):
        if start <= stop and suffices(stop):
            return _first(suffices, start, stop)
    return most


def _first(suffices: Callable[[int], bool], start: int, stop: int) -> int:
    """Return the first number that suffices; `stop` does."""
    while start < stop:
        middle = (start + stop) // 2
        start, stop = (start, middle) if suffices(middle) else (middle + 1, stop)
    return stop


# Repeated documents


@dataclass(frozen=True, slots=True)
class Coincidences:
    """What repeated documents among some draws say, which is little."""

    draws: int
    unique_documents: int
    """U."""
    pairs: int
    """Of draws that fell into the same document."""
    documents_at_least: float
    """Lower limit of the documents, one-sided."""
    level: float

    @property
    def ratio(self) -> float:
        """K/U; no estimate of occurrences per document, whatever it is used for."""
        return self.draws / self.unique_documents


def coincidences(documents: Sequence[str], level: float = 0.95) -> Coincidences:
    """Return how often draws, made with replacement, fell into the same document.

    Parameters
    ----------
    documents : sequence of str
        The document of each draw; at least one.
    level : float
        Of the limit.

    Returns
    -------
    Coincidences
        With M pairs among K(K−1)/2, T²/Σc² is estimated by K(K−1)/2M; there are at least so many
        documents. The limit takes the upper Poisson limit of M.
    """
    from scipy.special import gammaincinv

    _, times = np.unique(np.asarray(documents), return_counts=True)
    pairs = int((times * (times - 1) // 2).sum())
    possible = len(documents) * (len(documents) - 1) / 2
    most = float(gammaincinv(pairs + 1, level))
    return Coincidences(len(documents), times.size, pairs, max(possible / most, times.size), level)
