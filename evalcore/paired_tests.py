"""Tests and intervals of paired answers: two lists of values in, one comparison out."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike

from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.clustered_means import ClusteredMean
from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.judged_means import JudgedMean
from ngramscan.statistics.p_values import ComputedPValue
from ngramscan.statistics.planning import (
    Design,
    McNemarDesign,
    StudentDesign,
    TiltingDesign,
    needed_n,
)
from ngramscan.statistics.proportions import Pairs, mcnemar, mid_p_mcnemar, paired_difference
from ngramscan.statistics.resampling import Floats, MeanDifference, bootstrap_t
from ngramscan.statistics.sign_tests import (
    differing,
    mid_p_sign_flips,
    round_float_noise,
    sign_flip_test,
    signed_rank_test,
)
from ngramscan.statistics.two_samples import is_binary

_EXPECTED = "expected two finite lists of equal length with at least one pair"
FEW_DIFFERENCES = 16
"""Problems that differ: with more, tilting holds its level (docs/methods/comparing.md)."""
GradedTest = Literal["tilting", "bootstrap-t", "signed-rank", "sign-flip"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How two methods are compared: options of `evalcore compare`."""

    no_answer: Literal["wrong", "exclude"] = "wrong"
    interval: Literal["newcombe", "bootstrap"] = "newcombe"
    graded_test: GradedTest = "tilting"
    zeros: Literal["dropped", "pratt"] = "dropped"
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 1
    smallest_difference: float = 0.05
    """The smallest one that matters to the user; only the number of needed problems depends on it.
    """


DEFAULTS = Settings()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Accuracies of two methods on the same problems, as fractions; `p_exact` is McNemar's."""

    n: int
    treatment_only: int
    baseline_only: int
    baseline: float
    treatment: float
    difference: Estimate
    p: ComputedPValue
    p_exact: float | None
    size: float
    """The sum of the weights of the pairs; without weights, their number."""
    problems: int
    """Number of problems, which may have several pairs each."""
    design: Design | None
    """How often the test finds a difference. None: no pair differs, or there is one problem; or
    it isn't known, as of sign flips for several answers to a problem."""
    judged: JudgedMean | None = None
    """The mean difference by a judge, corrected by labels of people; None: there are no labels."""

    @property
    def detectable(self) -> float | None:
        """Return the smallest difference that is found with 80% power, if there is one."""
        return self.design.detectable(self.problems) if self.design else None

    def needed_n(self, difference: float) -> int | None:
        """Return how many problems find a difference with 80% power, if answers vary as here."""
        return needed_n(self.design, difference) if self.design else None


def _in_order(
    baseline: ArrayLike, treatment: ArrayLike, problems: ArrayLike | None, weights: ArrayLike
) -> tuple[Floats, npt.NDArray[Any], Floats]:
    """Return the values of both methods, the problems and the weights of the pairs, sorted."""
    both = np.stack([np.asarray(values, dtype=np.float64) for values in (baseline, treatment)])
    numbers = np.arange(both[0].size) if problems is None else np.asarray(problems)
    if both.shape != (2, numbers.size) or np.isinf(both).any():
        raise ValueError(_EXPECTED)
    order = np.lexsort((both[1], both[0], numbers))
    return both[:, order], numbers[order], np.broadcast_to(weights, numbers.shape)[order]


def compare_pairs(
    baseline: ArrayLike,
    treatment: ArrayLike,
    generator: np.random.Generator,
    settings: Settings = DEFAULTS,
    problems: ArrayLike | None = None,
    weights: ArrayLike = 1.0,
    has_clusters: bool = False,
) -> Comparison:
    """Compare two methods on the same problems; right and wrong answers by McNemar's mid-p test.

    The values are from 0 to 1, or nan if there is no answer. `problems` says which problem each
    value answers; by default each has its own. Answers of several models to one problem are not
    independent, so problems are compared. The order of pairs with named problems does not matter.
    `weights` say how much pairs count, such as the points of their problems, which are then graded.
    If problems have clusters (`has_clusters`), `problems` names these instead.
    """
    both, numbers, weighing = _in_order(baseline, treatment, problems, weights)
    missing = np.isnan(both)
    is_compared = ~missing.any(axis=0) | (settings.no_answer == "wrong")
    if not is_compared.any():
        raise ValueError(_EXPECTED)
    is_plain = np.unique(numbers).size == numbers.size and np.ptp(weighing) == 0
    values = np.where(missing, 0.0, both)[:, is_compared]
    differences = values[1] - values[0]
    signs = round_float_noise(differences)
    more, less = int((signs > 0).sum()), int((signs < 0).sum())
    weighing, size = weighing[is_compared], float(weighing[is_compared].sum())
    weighing = weighing / weighing.min()  # a problem weighs at least 1
    sums, sizes, p_exact = differences, None, None
    design: Design | None
    mean: BoundedMean | ClusteredMean | None = None
    if not is_plain:
        groups = np.unique(numbers[is_compared], return_inverse=True)[1]
        sums = np.bincount(groups, weights=differences * weighing)
        sizes = np.bincount(groups, weights=weighing)
        if has_clusters:
            mean = ClusteredMean(differences, groups, -1, 1, weighing)
    if is_plain and is_binary(both[~missing]):
        p_exact = mcnemar(less, more)
        note = "" if more + less else "no pair differs"
        p = ComputedPValue(mid_p_mcnemar(less, more), "mid-p McNemar", more + less, note=note)
        difference = _binary_difference(values, settings, generator)
        design = McNemarDesign((more + less) / differences.size)
    else:
        mean = mean or BoundedMean(sums, -1, 1, sizes)
        difference, p, design = _mean_difference(mean, sums, sizes, settings, generator)
    first, second = np.average(values, axis=1, weights=weighing).tolist()
    return Comparison(
        n=differences.size,
        treatment_only=more,
        baseline_only=less,
        baseline=first,
        treatment=second,
        difference=difference,
        p=p,
        p_exact=p_exact,
        size=size,
        problems=sums.size,
        design=design if more + less and sums.size > 1 else None,
    )


def correct_pairs(
    result: Comparison,
    judged: tuple[ArrayLike, ArrayLike],
    labels: tuple[ArrayLike, ArrayLike],
    settings: Settings = DEFAULTS,
    problems: ArrayLike | None = None,
    weights: ArrayLike = 1.0,
) -> Comparison | None:
    """Correct a comparison by a judge with labels of people for a random part of the pairs.

    Parameters
    ----------
    result : Comparison
        The comparison of the same pairs by the judge alone.
    judged, labels : pair of array of float, shape (n_pairs,)
        Values of the baseline and of the treatment: by the judge, nan without an answer; and by
        people, nan in both if one of the two has no label.
    settings, problems, weights : see compare_pairs

    Returns
    -------
    Comparison or None
        Means, difference and test by all judged pairs and the labelled ones; None if no pair has
        labels.
    """
    both, label_values = (
        np.stack([np.asarray(side, dtype=np.float64) for side in sides])
        for sides in (judged, labels)
    )
    missing = np.isnan(both)
    is_compared = ~missing.any(axis=0) | (settings.no_answer == "wrong")
    values, label_values = (
        np.where(missing, 0.0, both)[:, is_compared],
        label_values[:, is_compared],
    )
    can_err = ~missing[:, is_compared].all(axis=0)
    if np.isnan(label_values[:, can_err]).all():
        return None
    numbers = np.arange(is_compared.size) if problems is None else np.asarray(problems)
    weighing = np.broadcast_to(np.asarray(weights, dtype=np.float64), is_compared.shape)
    mean = JudgedMean(
        values[1] - values[0],
        label_values[1] - label_values[0],
        -1,
        1,
        numbers[is_compared],
        weighing[is_compared],
        can_err,
    )
    return replace(
        result,
        baseline=min(max(mean.correct(values[0], label_values[0]), 0.0), 1.0),
        treatment=min(max(mean.correct(values[1], label_values[1]), 0.0), 1.0),
        difference=mean.estimate(settings.level),
        p=mean.test(0.0),
        p_exact=None,
        design=None,
        judged=mean,
    )


def _binary_difference(
    values: Floats, settings: Settings, generator: np.random.Generator
) -> Estimate:
    if settings.interval == "bootstrap":
        return _bootstrapped(values[1] - values[0], None, settings, generator).estimate
    first, second = values.astype(bool)
    counts = (first & second, first & ~second, second & ~first, ~first & ~second)
    return paired_difference(Pairs(*(int(count.sum()) for count in counts)), settings.level)


def _mean_difference(
    mean: BoundedMean | ClusteredMean,
    sums: Floats,
    sizes: ArrayLike | None,
    settings: Settings,
    generator: np.random.Generator,
) -> tuple[Estimate, ComputedPValue, Design | None]:
    """Return the mean difference with its interval, the p-value of the wanted test, its power."""
    if settings.graded_test == "bootstrap-t":
        difference, p = _bootstrapped(sums, sizes, settings, generator)
        if p and difference.low is not None:
            return difference, p, _student(sums, sizes)
    difference, p = _tilted(mean, sums, settings.level)
    if (
        settings.graded_test == "signed-rank" and sizes is None
    ):  # not for several answers to a problem
        return difference, signed_rank_test(sums, settings.zeros), _student(sums, sizes)
    if settings.graded_test in {"signed-rank", "sign-flip"}:
        p = sign_flip_test(sums, generator, settings.resamples)
        return difference, p, _student(sums, sizes)
    design = None
    if isinstance(mean, BoundedMean):  # the power of the tests over clusters isn't known
        design = TiltingDesign(mean, mean.value > 0 if mean.value else None)
    return difference, p, design


def _tilted(
    mean: BoundedMean | ClusteredMean, sums: Floats, level: float
) -> tuple[Estimate, ComputedPValue]:
    """Return a mean by tilting, whose p-value is at least that of sign flips if few sums differ.

    Where most problems are ties, the variance has as few degrees of freedom as there are others,
    and three gains in forty problems would be a finding. All distances are then divided by one
    factor, so that the interval has the p-value of the flips, too: it is that of a higher level.
    """
    p = mean.test(0.0)
    if differing(sums).size > FEW_DIFFERENCES:
        return mean.estimate(level), p
    least = mid_p_sign_flips(sums)
    if least <= p.value:
        return mean.estimate(level), p
    degrees = sums.size - 1
    tilted, flipped, far = scipy.special.stdtrit(degrees, np.array([p.value, least, 1 - level]) / 2)
    wider = 1 - 2 * float(scipy.special.stdtr(degrees, far * tilted / flipped))
    return replace(mean.estimate(wider), level=level), replace(p, value=least)


def _student(sums: Floats, sizes: ArrayLike | None) -> StudentDesign | None:
    """Return the design of a test like Student's t; None: problems have several answers."""
    if sizes is not None or sums.size < 2:
        return None
    return StudentDesign(float(sums.std(ddof=1))) if np.ptp(sums) else None


def _bootstrapped(
    sums: Floats, sizes: ArrayLike | None, settings: Settings, generator: np.random.Generator
) -> MeanDifference:
    """Return the bootstrap estimate, with limits cut at ±1, the largest possible difference."""
    estimate, p = bootstrap_t(sums, generator, sizes, settings.resamples, settings.level)
    if estimate.low is not None and estimate.high is not None:
        estimate = replace(estimate, low=max(estimate.low, -1.0), high=min(estimate.high, 1.0))
    return MeanDifference(estimate, p)
