"""The bootstrap-t: a mean difference, its interval and its p-value from the same draws."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evalcore.statistics.bootstrap import (
    SMALLEST_ERROR,
    Ratio,
    checked_sums,
    drawn_sums,
    reason_for_no_interval,
)
from evalcore.statistics.p_values import PValue
from evalcore.statistics.sign_distribution import Floats
from ngramscan.estimates import Estimate


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
    s, m = checked_sums(sums, sizes, draws)
    ratio = Ratio(s, m)
    value = ratio.value
    reason = reason_for_no_interval(s, ratio.residuals)
    if reason:
        return MeanDifference(Estimate(value, None, None, level, reason), None)
    error = float(ratio.of_data().errors[0])
    drawn = ratio.of_sums(drawn_sums(ratio.rows(), generator, draws))
    usable = drawn.errors > SMALLEST_ERROR * error
    distances = np.sort((drawn.values[usable] - value) / drawn.errors[usable])
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


def bootstrap_mean(
    sums: ArrayLike,
    generator: np.random.Generator,
    sizes: ArrayLike | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> Estimate:
    """Estimate a mean difference, as `bootstrap_t` does, without testing it."""
    return bootstrap_t(sums, generator, sizes, draws, level).estimate


def _p_value(distances: Floats, distance: float, n: int, draws: int) -> PValue:
    """Return the two-sided p-value by the draws, or by Student's t where that is larger."""
    far = distances <= distance if distance < 0 else distances >= distance
    drawn = min(1.0, 2 * (int(far.sum()) + 1) / (distances.size + 1))
    student = 2 * float(special.stdtr(n - 1, -abs(distance)))
    procedure = f"bootstrap-t, {draws} draws"
    if student >= drawn:
        return PValue(student, procedure, n)
    return PValue(drawn, procedure, n, math.sqrt(drawn * (2 - drawn) / distances.size))
