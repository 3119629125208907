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
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.estimates import Estimate

DRAWS_FOR_VARIANCE = 30
"""Fewer draws say too little of their own variance; the largest possible one is taken then."""

REPLACEMENT_SHARE = 0.05
"""From a larger share of all occurrences, draws are without replacement."""

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BoundedEstimate:
    """Lower and upper estimates where documents are truncated; one and the same elsewhere."""

    lower: Estimate
    upper: Estimate
    standard_error: float = 0.0
    """The larger of the two."""
    without_added_draw: BoundedEstimate | None = None
    """None: there is no added draw in it."""

    @property
    def leans_on_added_draw(self) -> bool:
        """Tell whether more than half of the interval's width comes from the added draw."""
        other = self.without_added_draw
        return other is not None and 2 * (other.high - other.low) < self.high - self.low

    @property
    def value(self) -> float:
        """The middle of the two."""
        return (self.lower.value + self.upper.value) / 2

    @property
    def low(self) -> float:
        """The lower limit of the lower estimate."""
        return self.lower.limits[0]

    @property
    def high(self) -> float:
        """The upper limit of the upper estimate."""
        return self.upper.limits[1]


def exactly(documents: float, level: float = 0.95) -> BoundedEstimate:
    """Return a number that is known."""
    exact = Estimate(documents, documents, documents, level)
    return BoundedEstimate(exact, exact)


@dataclass(frozen=True, slots=True)
class Draws:
    """The draws of one pattern."""

    lowest: _Floats
    """Shape (K,): the share of a document that each draw counts for, at least."""
    highest: _Floats
    """At most; the same where nothing is hidden."""
    occurrences: int
    """T, of all occurrences, drawn or not."""
    by_first: _Flags | None = None
    """Which shares are 1 for the first occurrence of a document and 0 for others; None: all are of
    one kind."""

    @classmethod
    def of(cls, shares: Sequence[tuple[float, float, bool]], occurrences: int) -> Draws:
        """Return the draws with some shares: lower bound, upper bound, whether by first."""
        lowest, highest, by_first = np.asarray(shares, dtype=np.float64).reshape(-1, 3).T
        return cls(lowest, highest, occurrences, by_first.astype(bool))


def is_without_replacement(n_draws: int, occurrences: int) -> bool:
    """Tell how that many draws are made: without replacement where they are a large part."""
    return n_draws > REPLACEMENT_SHARE * occurrences


# The mean share


def mean_share(
    shares: ArrayLike,
    occurrences: int,
    level: float = 0.95,
    by_first: _Flags | None = None,
    added_draw: bool = True,
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
    added_draw : bool
        Whether the variance has the added draw in it.

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
    y = np.asarray(shares, dtype=np.float64)
    if not y.size or y.min() < 0 or y.max() > 1:
        raise ValueError("some shares, each from 0 to 1, were expected")
    mean = float(y.mean())
    if y.size >= occurrences:
        return Estimate(mean, mean, mean, level), 0.0
    low, high = _limits(_parts(y, by_first), y.size, occurrences, level, added_draw)
    error = _deviation(y) * math.sqrt(_finite_population(y.size, occurrences) / y.size)
    return Estimate(mean, low, high, level), error


def _parts(y: _Floats, by_first: _Flags | None) -> list[tuple[float, float]]:
    """Return mean and deviation of each kind of share, those of the other kind counting as 0."""
    if by_first is None or by_first.all() or not by_first.any():
        return [(float(y.mean()), _deviation(y))]
    kinds = (np.where(by_first, 0.0, y), np.where(by_first, y, 0.0))
    return [(float(kind.mean()), _deviation(kind)) for kind in kinds]


def _deviation(y: _Floats) -> float:
    # Equal values have a mean that is not quite theirs, and so a deviation that is not quite 0.
    return float(y.std(ddof=1)) if np.ptp(y) else 0.0


def _finite_population(n: int, occurrences: int) -> float:
    """Return by how much less the variance is for draws without replacement."""
    return 1 - n / occurrences if is_without_replacement(n, occurrences) else 1.0


def _limits(
    parts: Sequence[tuple[float, float]], n: int, occurrences: int, level: float, added_draw: bool
) -> tuple[float, float]:
    """Return the limits of the sum of the means of n draws."""
    effective = n / _finite_population(n, occurrences)
    p = sum(mean for mean, _ in parts)
    low, high = _clopper_pearson(p, effective, level)
    if n < DRAWS_FOR_VARIANCE:
        return low, high
    below = above = 0.0
    for mean, deviation in parts:
        variance = deviation**2
        if added_draw:
            variance = variance * (n - 1) / n + (1 - mean) ** 2 / (n + 1)
        worth = effective * _efficiency(mean, variance, n, level)
        part_low, part_high = _clopper_pearson(mean, worth, level)
        below = math.hypot(below, mean - part_low)
        above = math.hypot(above, part_high - mean)
    # The guaranteed interval holds for any shares, so it is never exceeded.
    return max(p - below, low), min(p + above, high)


def _efficiency(mean: float, variance: float, n: int, level: float) -> float:
    """Return how many yes-or-no draws, of the same variance, one draw is worth; at least 1."""
    if not variance:
        return 1.0 if mean in (0, 1) else math.inf
    # Only here, and it is slow to import.
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    return max(1.0, mean * (1 - mean) / variance * float(ndtri(tail) / stdtrit(n - 1, tail)) ** 2)


def _clopper_pearson(p: float, n: float, level: float) -> tuple[float, float]:
    if math.isinf(n):
        return p, p
    from scipy.special import betaincinv

    hits, tail = p * n, (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


# Documents and ratios


def estimate_documents(
    patterns: Sequence[Draws], seen_documents: int, level: float = 0.95
) -> BoundedEstimate:
    """Estimate in how many documents at least one of some patterns occurs.

    Parameters
    ----------
    patterns : sequence of Draws
        The draws of each pattern. If there are several, a share is one over the occurrences of
        *all* patterns in its document, or 1 where no occurrence of any of them stands before it,
        else 0.
    seen_documents : int
        Different documents among all draws: there are no fewer.
    level : float
        Confidence level.

    Returns
    -------
    BoundedEstimate
        In documents: the sum of T times the mean share over the patterns. Its limits are those of
        the patterns, combined as independent errors are; so a pattern whose draws do not vary still
        has the uncertainty of its own interval. Exact where all occurrences were drawn.
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
            mean, error = mean_share(shares, draws.occurrences, level, draws.by_first, added_draw)
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
    """Estimate how many times more documents one method has than another, from independent draws.

    The limits are those of the parts, combined on the log scale; an infinite one where the other
    may be none. None: one of the two is estimated as none.
    """
    if not other_documents.lower.value or not documents.lower.value:
        return None
    without = [one.without_added_draw or one for one in (documents, other_documents)]
    result, plain = (
        BoundedEstimate(_ratio(one.lower, other.upper), _ratio(one.upper, other.lower))
        for one, other in ((documents, other_documents), without)
    )
    return replace(result, without_added_draw=plain)


def _ratio(one: Estimate, other: Estimate) -> Estimate:
    value, (low, high), (other_low, other_high) = one.value / other.value, one.limits, other.limits
    below = math.hypot(_log(one.value, low), _log(other_high, other.value))
    above = math.hypot(_log(high, one.value), _log(other.value, other_low))
    high = value * math.exp(above) if math.isfinite(above) else math.inf
    return Estimate(value, value * math.exp(-below), high, one.level)


def _log(above: float, below: float) -> float:
    return math.log(above / below) if below else math.inf


# Planning


def required_draws(pilot: Draws, half_width: float, most: int, level: float = 0.95) -> int:
    """Return how many draws an interval of some width needs, from what a pilot shows.

    `half_width` is relative to the estimate: 0.1 for ±10 %. At least the draws of the pilot; `most`
    where more would be needed, as for a document seen in part no number of draws may do.
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
        (low, _), (_, high) = [_limits(parts, n, total, level, added_draw=True) for parts in bounds]
        return high - low <= width

    if suffices(least):
        return least
    # More draws narrow the interval; two searches, as it also becomes another one at some number.
    for start, stop in ((least, min(DRAWS_FOR_VARIANCE - 1, most)), (DRAWS_FOR_VARIANCE, most)):
        if start <= stop and suffices(stop):
            return start + bisect_left(range(start, stop), True, key=suffices)
    return most


# Repeated documents


def documents_of_repeats(
    documents: Sequence[str], occurrences: int, level: float = 0.95
) -> Estimate:
    """Return T U/K, as the paper estimates documents, with what repeated documents really say.

    Parameters
    ----------
    documents : sequence of str
        The document of each of the K draws, made with replacement; at least one. U are different.
    occurrences : int
        T.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        In documents, up to T. With M pairs of draws in one document among K(K−1)/2, T²/Σc² is
        estimated by K(K−1)/2M; there are at least so many documents. The lower limit takes the
        upper Poisson limit of M. `note` says that K/U is no estimate of occurrences per document.
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
    return Estimate(occurrences / (draws / unique), low, occurrences, level, note)
