"""The mean of values by a judge that errs, corrected by people's labels of a random part of them.

Many values are the judge's alone, and a few also have a label. A share of the judge's mean, which
has the precision of many values, and the mean error that is left in the labelled ones, which takes
away the bias, add up to the mean of labels. The share is the slope of labels on the judge's values:
about 1 for a judge that is nearly always right, and 0 for one that says nothing, whose values then
don't count. With this slope the two means are uncorrelated, although the labelled values are a part
of all. Each mean is tilted, and the squares of their distances to their limits are added.

Sources: Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453 (PPI++, the share); Cochran 1977,
Sampling Techniques, 12.6 (the slope, where the sample is a part of all); Zou & Donner 2008,
doi:10.1002/sim.3095 (limits of a sum). Coverage: docs/methods/comparing.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.estimates import Estimate, no_interval
from ngramscan.statistics.p_values import ComputedPValue, invert_interval
from ngramscan.statistics.resampling import ITEMS_FOR_AN_INTERVAL

Floats = NDArray[np.float64]
CORRECTED = "judge corrected by labels, tilting"
NO_VARIATION = 1e-12
"""A sum of squares below this share of the values' own is a rounding error."""


class JudgedMean:
    """The mean of labels, from a judge's values for all and labels for a random part of them.

    Parameters
    ----------
    judged : array of float, shape (n_values,)
        The judge's values, from `least` to `most`.
    labels : array of float, shape (n_values,)
        Human labels; nan where an item has none. They are a random part of `can_err`.
    least, most : float
        The bounds of a value.
    problems : array, shape (n_values,), optional
        The problem of each value; by default each has its own. Problems are independent.
    weights : array of float, shape (n_values,), optional
        How much each value counts.
    can_err : array of bool, shape (n_values,), optional
        Where the judge's value may differ from a human label; elsewhere it is certain (such as an
        output without an answer), and no label is needed.

    Raises
    ------
    ValueError
        No value has a label, or a value is missing or outside its bounds.
    """

    def __init__(
        self,
        judged: ArrayLike,
        labels: ArrayLike,
        least: float,
        most: float,
        problems: ArrayLike | None = None,
        weights: ArrayLike = 1.0,
        can_err: ArrayLike | None = None,
    ) -> None:
        values, label_values = (np.asarray(column, dtype=np.float64) for column in (judged, labels))
        numbers = np.arange(values.size) if problems is None else np.asarray(problems)
        weighing = np.broadcast_to(np.asarray(weights, dtype=np.float64), values.shape)
        doubtful = np.ones(values.shape, bool) if can_err is None else np.asarray(can_err)
        self._is_labelled = doubtful & ~np.isnan(label_values)
        self._weights = weighing / weighing.min(initial=np.inf)  # a problem weighs at least 1
        if not self._is_labelled.any():
            raise ValueError("no value has a label")
        self._error_share = float(self._weights[doubtful].sum() / self._weights.sum())
        self._bounds = float(least), float(most)
        all_sums, all_sizes = _by_problem(numbers, self._weights, values)
        self._judge = BoundedMean(all_sums, least, most, all_sizes)
        is_labelled = self._is_labelled
        judge_sums, label_sums, sizes = _by_problem(
            numbers[is_labelled],
            self._weights[is_labelled],
            values[is_labelled],
            label_values[is_labelled],
        )
        self.n_labelled = int(is_labelled.sum())
        """Values with a label."""
        self.labelled_problems = sizes.size
        self.judge_weight = _slope(judge_sums, label_sums, sizes)
        """The share of the judge's mean that counts, from 0 to 1."""
        self._error_bounds = _error_bounds(least, most, self.judge_weight)
        errors = label_sums - self.judge_weight * judge_sums
        self._errors = BoundedMean(errors, *self._error_bounds, sizes)
        overlap = math.sqrt(sizes.size / all_sizes.size)
        self._correlation = overlap * _correlation(judge_sums, errors, sizes)
        self.value = min(max(self.correct(values, label_values), least), most)

    @property
    def judged(self) -> float:
        """The mean by the judge alone."""
        return self._judge.value

    def correct(self, judged: ArrayLike, labels: ArrayLike) -> float:
        """Return the mean of other judged values, with the same correction.

        For example, the values of one method, if this object is the mean difference of two.
        """
        values, label_values = (np.asarray(column, dtype=np.float64) for column in (judged, labels))
        is_labelled, weights = self._is_labelled, self._weights
        errors = label_values[is_labelled] - self.judge_weight * values[is_labelled]
        mean = np.average(values, weights=weights)
        error = np.average(errors, weights=weights[is_labelled])
        return float(self.judge_weight * mean + self._error_share * error)

    def estimate(self, level: float = 0.95) -> Estimate:
        """Return the corrected mean with its interval; none if fewer than ten problems have labels.

        The interval has all means whose p-value is above 1 - level.
        """
        least, most = self._bounds
        if self.labelled_problems < ITEMS_FOR_AN_INTERVAL:
            needed = f"{ITEMS_FOR_AN_INTERVAL} are needed"
            note = f"no interval: {self.labelled_problems} labelled problems; {needed}"
            return no_interval(self.value, level, note)
        tail = (1 - level) / 2
        low, high = self.value - self._arm(0, tail), self.value + self._arm(1, tail)
        return Estimate(self.value, max(low, least), min(high, most), level)

    def test(self, mean: float) -> ComputedPValue:
        """Test whether this is the mean; without an interval, the p-value is 1."""
        if self.labelled_problems < ITEMS_FOR_AN_INTERVAL:
            return ComputedPValue(1.0, CORRECTED, self.n_labelled)
        side = 0 if self.value > mean else 1
        p = invert_interval(abs(self.value - mean), lambda tail: self._arm(side, tail))
        return ComputedPValue(p, CORRECTED, self.n_labelled)

    def _arm(self, side: int, tail: float) -> float:
        """Return how far the interval reaches down (side 0) or up (1)."""
        of_judge = abs(self._judge.value - self._judge.limit(self._bounds[side], tail))
        of_errors = abs(self._errors.value - self._errors.limit(self._error_bounds[side], tail))
        first, second = self.judge_weight * of_judge, self._error_share * of_errors
        square = first**2 + 2 * self._correlation * first * second + second**2
        return math.sqrt(max(square, 0.0))


def _by_problem(numbers: NDArray[Any], weights: Floats, *values: Floats) -> tuple[Floats, ...]:
    """Return the weighted sums of each of several values by problem, and the sizes of problems."""
    groups = np.unique(numbers, return_inverse=True)[1]
    summed = [*(weights * column for column in values), weights]
    return tuple(np.asarray(np.bincount(groups, column), dtype=np.float64) for column in summed)


def _residuals(sums: Floats, sizes: Floats) -> Floats:
    residuals: Floats = sums - sums.sum() / sizes.sum() * sizes
    return residuals


def _slope(judged: Floats, labels: Floats, sizes: Floats) -> float:
    """Return the slope of labels on the judge's values, from 0 to 1; 1 if it can't be estimated.

    With few labels the estimate is too noisy; the judge's mean then has its full weight.
    """
    if judged.size < ITEMS_FOR_AN_INTERVAL:
        return 1.0
    of_judge, of_labels = _residuals(judged, sizes), _residuals(labels, sizes)
    squares = float(of_judge @ of_judge)
    if squares <= NO_VARIATION * float(judged @ judged):
        return 0.0
    return min(max(float(of_judge @ of_labels) / squares, 0.0), 1.0)


def _error_bounds(least: float, most: float, judge_weight: float) -> tuple[float, float]:
    """Return between which bounds a label minus the judge's share is."""
    ends = least * judge_weight, most * judge_weight
    return least - max(ends), most - min(ends)


def _correlation(judged: Floats, errors: Floats, sizes: Floats) -> float:
    """Return the correlation of the judge's values with the errors, which the slope makes 0.

    Unless it is beyond 0 or 1.
    """
    of_judge, of_errors = _residuals(judged, sizes), _residuals(errors, sizes)
    scale = math.sqrt(float(of_judge @ of_judge) * float(of_errors @ of_errors))
    return float(of_judge @ of_errors) / scale if scale > NO_VARIATION else 0.0
