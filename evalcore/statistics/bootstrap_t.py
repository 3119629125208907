"""The bootstrap-t: a mean difference, its interval and its p-value from the same draws."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evalcore.statistics.bootstrap import checked, draw_sums, reason_for_no_interval
from evalcore.statistics.p_values import PValue
from evalcore.statistics.pairing import Floats
from ngramscan.estimates import Estimate

_SMALLEST_ERROR = 1e-6
"""Of a draw, relative to that of the data; what is smaller is a rounding error of zero."""


class MeanDifference(NamedTuple):
    """A mean difference, and the p-value of its being zero."""

    estimate: Estimate
    p: PValue | None
    """At most 1 - level if, and only if, the interval excludes zero; None where there is none."""


def bootstrap_t(
    sums: ArrayLike,
    generator: np.random.Generator,
    sizes: ArrayLike | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> MeanDifference:
    """Estimate a mean difference and test it; all answers to a problem are drawn together.

    Parameters
    ----------
    sums : array of float, shape (problems,)
        The sum of the differences of each problem: one difference, or one from each model.
    generator : numpy Generator
        The source of chance.
    sizes : array of int, shape (problems,), optional
        How many differences each sum has; by default one.
    draws : int
        How many times as many problems as there are are drawn, with replacement.
    level : float
        Probability that the interval covers the mean.

    Returns
    -------
    MeanDifference
        The sum of all differences over their number. Neither interval nor p-value where fewer than
        ten problems are there or differ from zero, or where all have the same mean.

    Raises
    ------
    ValueError
        There are no sums or no draws, a sum is missing or infinite, or a size is not positive.

    Notes
    -----
    A draw tells how many standard errors a mean is from the truth, and in which direction it is
    further, which is what skewed differences need. Where that is nearer than Student's t has it,
    Student's t counts: where values are few or have heavy tails, draws are too sure of themselves.
    `docs/comparing.md` has how often the test errs. Source: Davison & Hinkley 1997, Bootstrap
    Methods and their Application, sections 4.4.1 and 5.2.
    """
    s, m = checked(sums, sizes, draws)
    value = float(s.sum() / m.sum())
    residuals = s - value * m
    reason = reason_for_no_interval(s, residuals)
    if reason:
        return MeanDifference(Estimate(value, None, None, level, reason), None)
    error = math.sqrt(s.size / (s.size - 1) * float(residuals @ residuals)) / float(m.sum())
    distances = np.sort(_distances(draw_sums(_rows(m, residuals), generator, draws), error, s.size))
    p = _p_value(distances, value / error, s.size, draws)
    # The farthest that are rare; one more than the draws is counted, as in the p-value.
    rare = math.floor((1 - level) / 2 * (distances.size + 1) + 1e-9)
    if not rare:
        reason = f"no interval: {draws} draws are too few for a level of {level:g}"
        return MeanDifference(Estimate(value, None, None, level, reason), p)
    student = float(special.stdtrit(s.size - 1, (1 + level) / 2))
    low = value - error * max(float(distances[-rare]), student)
    high = value - error * min(float(distances[rare - 1]), -student)
    return MeanDifference(Estimate(value, low, high, level), p)


def _rows(sizes: Floats, residuals: Floats) -> Floats:
    """Return what is summed in each draw: the sizes, the residuals, and their products."""
    return np.stack([sizes, residuals, residuals**2, residuals * sizes, sizes**2])


def _distances(drawn: Floats, error: float, n: int) -> Floats:
    """Return how many of their own standard errors the drawn means are from the mean."""
    below, above, squares, products, weights = drawn
    moved = above / below
    variances = n / (n - 1) * (squares - 2 * moved * products + moved**2 * weights)
    errors = np.sqrt(np.maximum(variances, 0)) / below
    usable = errors > _SMALLEST_ERROR * error
    distances: Floats = moved[usable] / errors[usable]
    return distances


def _p_value(distances: Floats, distance: float, n: int, draws: int) -> PValue:
    """Return the two-sided p-value by the draws, or by Student's t where that is larger."""
    far = distances <= distance if distance < 0 else distances >= distance
    drawn = min(1.0, 2 * (int(far.sum()) + 1) / (distances.size + 1))
    student = 2 * float(special.stdtr(n - 1, -abs(distance)))
    procedure = f"bootstrap-t, {draws} draws"
    if student >= drawn:
        return PValue(student, procedure, n)
    return PValue(drawn, procedure, n, math.sqrt(drawn * (2 - drawn) / distances.size))
