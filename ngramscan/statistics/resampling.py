"""The studentized bootstrap: intervals from resampled problems or items.

Each resample shows how many standard errors an estimate may be from the truth. Percentiles of the
resampled values themselves would give intervals that are too narrow for skewed data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike, NDArray

from ngramscan.messages import counted
from ngramscan.statistics.estimates import Estimate, no_interval, t_quantile
from ngramscan.statistics.p_values import ComputedPValue

Floats = NDArray[np.float64]
ITEMS_FOR_AN_INTERVAL = 10
"""Minimum number of problems or items, and of differing ones, for an interval."""
VALUES_AT_ONCE = 1_000_000
SMALLEST_ERROR = 1e-6
"""Relative to the standard error of the data; a smaller one of a draw is a rounding error."""
_NO_SPREAD = 1e-9
"""A standard error below it, relative to the value, is a rounding error."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How to resample."""

    draws: int = 2000
    seed: int = 1
    level: float = 0.95
    """Confidence level."""


class Studentized(NamedTuple):
    """Values and their standard errors: of the draws, or with shape (1,) of the data."""

    values: Floats
    errors: Floats

    def log(self) -> Studentized:
        """Return the logarithms of the values, with their errors; of 0 they are not finite."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return Studentized(np.log(self.values), self.errors / self.values)


def studentized_interval(
    estimate: Studentized,
    resampled: Studentized,
    n: int,
    level: float,
    one_more: float,
    farthest: float,
) -> Estimate:
    """Estimate a positive value from the data and from draws, with an interval on the log scale.

    `n` is the number of items in the data. Draws without a finite logarithm or an error are left
    out. `one_more` is how far one more item, as extreme as may be expected, would move the
    logarithm; its square is added to the variance, since few samples of skewed values include their
    tail. Each limit is at least as far away as that of Student's t interval, since draws take few
    distinct values when few items differ. There is no interval if a limit is more than `farthest`
    times the value, or less than the value divided by `farthest`; `note` says why.
    Source: Davison & Hinkley 1997, Bootstrap Methods and their Application, section 5.2.
    """
    (log,), (error,) = estimate.log()
    note = "" if error > _NO_SPREAD else "no interval: all items give the same value"
    if n < ITEMS_FOR_AN_INTERVAL:
        note = f"no interval: {n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    if note:
        return no_interval(float(estimate.values[0]), level, note)
    distances = _distances(estimate.log(), resampled.log())
    tail = (1 - level) / 2
    least, most = np.quantile(distances, [tail, 1 - tail]) if distances.size else (0.0, 0.0)
    student, error = scipy.special.stdtrit(n - 1, 1 - tail), np.hypot(error, one_more)
    below, above = max(most, student) * error, -min(least, -student) * error
    if max(below, above) > math.log(farthest):
        far = f"a limit is over {farthest:g} times as large or as small"
        note = f"no interval: too few or too unequal: {far}"
        return no_interval(float(estimate.values[0]), level, note)
    low, high = math.exp(log - below), math.exp(log + above)
    return Estimate(float(estimate.values[0]), low, high, level)


def _distances(estimate: Studentized, resampled: Studentized) -> Floats:
    """Return how many of its standard errors each draw that has one is from the data."""
    (value,), (error,) = estimate
    usable = np.isfinite(resampled.values) & (resampled.errors > SMALLEST_ERROR * error)
    return np.asarray((resampled.values[usable] - value) / resampled.errors[usable])


class Ratio:
    """The sum of one column over the positive sum of another, prepared for the bootstrap."""

    def __init__(self, above: Floats, below: Floats) -> None:
        self._above, self._below = above, below
        self.value = float(above.sum() / below.sum())
        self.residuals: Floats = above - self.value * below
        self.n = int(((above != 0) | (below != 0)).sum())
        """Items that are not 0 in both columns."""

    @property
    def largest_influence(self) -> float:
        """How far the most extreme item moves the logarithm of the ratio."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.abs(self.residuals).max() / self._above.sum())

    def rows(self) -> Floats:
        """Return the quantities that are summed in each draw, as rows: shape (5, items)."""
        r, m = self.residuals, self._below
        return np.stack([self._above, m, r * r, r * m, m * m])

    def of_sums(self, sums: Floats) -> Studentized:
        """Return ratios and their linearised errors from the sums of `rows`: shape (5, draws)."""
        above, below, squares, products, weights = sums
        correction = self.n / max(self.n - 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = above / below
            moved = values - self.value
            variances = correction * (squares - 2 * moved * products + moved**2 * weights)
            return Studentized(values, np.sqrt(np.maximum(variances, 0)) / below)

    def of_data(self) -> Studentized:
        """Return the ratio itself, shape (1,)."""
        return self.of_sums(self.rows().sum(axis=1, keepdims=True))


def _checked_sums(sums: ArrayLike, sizes: ArrayLike | None, draws: int) -> tuple[Floats, Floats]:
    s = np.asarray(sums, dtype=np.float64)
    m = np.ones(s.shape) if sizes is None else np.asarray(sizes, dtype=np.float64)
    if s.ndim != 1 or not s.size or not np.isfinite(s).all() or draws < 1:
        raise ValueError("needs at least one sum, none missing or infinite, and a draw")
    if m.shape != s.shape or not (m > 0).all():
        raise ValueError("each sum needs a positive size")
    return s, m


def _reason_for_no_interval(sums: Floats, sizes: Floats, residuals: Floats) -> str:
    """Return why there can be no interval; empty: there can."""
    if sums.size < ITEMS_FOR_AN_INTERVAL:
        return f"no interval: only {counted(sums.size, 'problem')}"
    if np.abs(residuals).max() <= 1e-10 * np.abs(sums).max():
        return "no interval: all differences are equal"
    differ = int((np.abs(sums) > 1e-10 * np.abs(sums).max()).sum())
    if differ < ITEMS_FOR_AN_INTERVAL:
        return f"no interval: only {differ} of {sums.size} problems differ"
    effective = float(sizes.sum()) ** 2 / float((sizes**2).sum())
    if round(effective, 9) < ITEMS_FOR_AN_INTERVAL:
        return f"no interval: sizes so unequal that they count as {effective:.1f} equal problems"
    return ""


def drawn_sums(rows: Floats, generator: np.random.Generator, draws: int) -> Floats:
    """Return the sum of every row over the items of each draw: shape (rows, draws).

    `rows` has the shape (rows, items); as many items are drawn as there are, with replacement.
    """
    different = {row.tobytes(): row for row in rows}
    sums = _sums_of_different(np.stack(list(different.values())), generator, draws)
    places = list(different)
    return sums[[places.index(row.tobytes()) for row in rows]]


def _sums_of_different(rows: Floats, generator: np.random.Generator, draws: int) -> Floats:
    n = rows.shape[1]
    most_distinct = n // 16
    if all(np.unique(row).size <= most_distinct for row in rows):
        distinct, counts = np.unique(rows, axis=1, return_counts=True)
        if distinct.shape[1] <= most_distinct:
            # The number of times that each of the few distinct items is drawn is all we need.
            times = generator.multinomial(n, counts / n, size=draws).astype(np.float64)
            return np.asarray(distinct @ times.T)
    # A row of equal values has the same sum in every draw.
    totals = np.repeat(n * rows[:, :1], draws, axis=1)
    varied = np.flatnonzero(np.ptp(rows, axis=1))
    if not varied.size:
        return totals
    # Pairs of rows, as parts of complex numbers, are looked up together.
    padded = np.concatenate([rows[varied], np.zeros((len(varied) % 2, n))])
    pairs = padded[::2] + 1j * padded[1::2]
    at_once = max(1, VALUES_AT_ONCE // n)
    for start in range(0, draws, at_once):
        stop = min(start + at_once, draws)
        chosen = generator.integers(0, n, size=(stop - start, n), dtype=np.uint32)
        sums = np.stack([pair.take(chosen).sum(axis=1) for pair in pairs])
        parts = np.stack([sums.real, sums.imag], axis=1).reshape(len(padded), -1)
        totals[varied, start:stop] = parts[: len(varied)]
    return totals


class MeanDifference(NamedTuple):
    """A mean difference, and the p-value for a true difference of zero."""

    estimate: Estimate
    p: ComputedPValue | None
    """At most 1 - level if and only if the interval excludes zero; None without an interval."""


def bootstrap_t(
    sums: ArrayLike,
    generator: np.random.Generator,
    sizes: ArrayLike | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> MeanDifference:
    """Estimate and test a mean difference; all answers to a problem are drawn together.

    `sums` has the sum of the differences of each problem: one difference, or one from each model;
    `sizes` how many they are, by default 1. The estimate is the sum of all over their number. A
    draw has as many problems as there are, with replacement. There is no interval and no p-value if
    fewer than ten problems are given or differ from zero, if sizes are so unequal that they are
    worth fewer (Kish's effective number, (Σm)² / Σm²), or if all have the same mean. A size below
    1, a sum that is missing or infinite, and no sums at all are ValueErrors.

    With few distinct values or heavy tails the draws may give a narrower interval than Student's t,
    which is used then. docs/comparing.md has the error rates of the test. Source: Davison & Hinkley
    1997, Bootstrap Methods and their Application, sections 4.4.1 and 5.2.
    """
    s, m = _checked_sums(sums, sizes, draws)
    ratio = Ratio(s, m)
    value = ratio.value
    if reason := _reason_for_no_interval(s, m, ratio.residuals):
        return MeanDifference(no_interval(value, level, reason), None)
    estimate = ratio.of_data()
    error = float(estimate.errors[0])
    resampled = ratio.of_sums(drawn_sums(ratio.rows(), generator, draws))
    distances = np.sort(_distances(estimate, resampled))
    p = _p_value(distances, value / error, s.size, draws)
    if not (rare := _rare_distances(distances, s.size, level)):
        reason = f"no interval: {draws} draws are too few for a level of {level:g}"
        return MeanDifference(no_interval(value, level, reason), p)
    low, high = value - error * rare[1], value - error * rare[0]
    return MeanDifference(Estimate(value, low, high, level), p)


def _rare_distances(distances: Floats, n: int, level: float) -> tuple[float, float] | None:
    """Return the quantiles of the distances, or Student's t if larger; None with too few draws."""
    # As in the p-value, the data count as one more draw.
    rare = math.floor((1 - level) / 2 * (distances.size + 1) + 1e-9)
    student = t_quantile(level, n - 1)
    if not rare:
        return None
    return min(float(distances[rare - 1]), -student), max(float(distances[-rare]), student)


def _p_value(distances: Floats, distance: float, n: int, draws: int) -> ComputedPValue:
    """Return the two-sided p-value from the draws, or from Student's t if that is larger."""
    far = distances <= distance if distance < 0 else distances >= distance
    bootstrap_p = min(1.0, 2 * (int(far.sum()) + 1) / (distances.size + 1))
    student = 2 * float(scipy.special.stdtr(n - 1, -abs(distance)))
    procedure = f"bootstrap-t, {draws} draws"
    if student >= bootstrap_p:
        return ComputedPValue(student, procedure, n)
    return ComputedPValue(
        bootstrap_p, procedure, n, math.sqrt(bootstrap_p * (2 - bootstrap_p) / distances.size)
    )
