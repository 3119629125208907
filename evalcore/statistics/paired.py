"""One method against another on the same problems: all that is said about a pair of methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.proportions import Pairs, mcnemar, mid_p_mcnemar, paired_difference
from ngramscan.statistics.resampling import bootstrap_mean, bootstrap_t
from ngramscan.statistics.sign_tests import (
    Zeros,
    round_float_noise,
    sign_flip_test,
    signed_rank_test,
)

Floats = NDArray[np.float64]
GradedTest = Literal["bootstrap-t", "signed-rank", "sign-flip"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How two methods are compared."""

    missing: Literal["wrong", "dropped"] = "wrong"
    """A missing answer is worth 0, or its pair is left out."""
    interval: Literal["newcombe", "bootstrap"] = "newcombe"
    """Of the difference of two accuracies on one model; all others are by bootstrap."""
    graded_test: GradedTest = "bootstrap-t"
    """Of answers that are not only right or wrong; the bootstrap-t gives their interval too."""
    zeros: Zeros = "dropped"
    """What the signed-rank test does with pairs that do not differ."""
    level: float = 0.95
    """The share of intervals that cover the truth."""
    draws: int = 10_000
    """Of the bootstrap, and of the sign-flip test where it is not exact."""
    seed: int = 1
    """Of the source of chance that all comparisons share."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Answers of two methods to the same problems, in the unit of their values."""

    n: int
    """Pairs of answers."""
    treatment_only: int
    """Pairs in which the treatment has more, by more than a rounding error."""
    baseline_only: int
    baseline: float
    """Mean value over the pairs."""
    treatment: float
    difference: Estimate
    """Treatment minus baseline."""
    p: PValue
    p_exact: float | None = None
    """McNemar's exact p-value of right and wrong answers, one to each problem."""
    spread: float | None = None
    """Standard deviation of the differences; None: a problem has several, or there is one pair."""


def compare_pairs(
    baseline: ArrayLike,
    treatment: ArrayLike,
    generator: np.random.Generator,
    settings: Settings | None = None,
    problems: ArrayLike | None = None,
) -> Comparison:
    """Compare two methods on the same problems.

    Parameters
    ----------
    baseline, treatment : array of float, shape (n,)
        Values of the answers in the same order, right (1) and wrong (0) or graded; nan where a
        value is missing.
    generator : numpy Generator
        The source of chance.
    settings : Settings, optional
        How.
    problems : array of int or str, shape (n,), optional
        Which problem each answer is to. By default each is to another. Several answers to one
        problem, of several models, resemble each other: they are drawn, or change sign, together.

    Returns
    -------
    Comparison
        By McNemar's mid-p test where each problem has one pair of right and wrong answers.

    Raises
    ------
    ValueError
        The lists have different lengths, a value is infinite, or there are no pairs.
    """
    settings = settings or Settings()
    first, second = (np.array(values, dtype=np.float64) for values in (baseline, treatment))
    numbers = np.arange(first.size) if problems is None else np.asarray(problems)
    if not first.shape == second.shape == numbers.shape == (first.size,):
        raise ValueError("lists of the same length were expected")
    gaps = np.isnan(first) | np.isnan(second)
    kept = ~gaps if settings.missing == "dropped" else np.ones_like(gaps)
    if not kept.any():
        raise ValueError("there are no pairs to compare")
    both = np.concatenate([first, second])
    if np.isinf(both).any():
        raise ValueError("a value is infinite")
    is_binary = bool(np.isin(both[~np.isnan(both)], (0, 1)).all())
    is_plain = np.unique(numbers).size == numbers.size
    first, second = np.nan_to_num(first[kept]), np.nan_to_num(second[kept])
    # Problems with one pair are drawn in the order in which they come.
    numbers = (
        np.arange(first.size) if is_plain else np.unique(numbers[kept], return_inverse=True)[1]
    )
    if is_plain and is_binary:
        found = _binary(first, second, settings, generator)
    else:
        found = _graded(first, second, numbers, _test(settings, is_plain, is_binary), generator)
    spread = float((second - first).std(ddof=1)) if is_plain and found.n > 1 else None
    return replace(found, spread=spread)


def _test(settings: Settings, is_plain: bool, is_binary: bool) -> Settings:
    """Return settings with a test that problems with several answers can have."""
    if is_plain or (settings.graded_test == "bootstrap-t" and not is_binary):
        return settings
    return replace(settings, graded_test="sign-flip")


def _binary(
    first: Floats, second: Floats, settings: Settings, generator: np.random.Generator
) -> Comparison:
    """Compare right and wrong answers, one to each problem."""
    right, right_second = first == 1, second == 1
    pairs = Pairs(
        both=int((right & right_second).sum()),
        only_first=int((right & ~right_second).sum()),
        only_second=int((~right & right_second).sum()),
        neither=int((~right & ~right_second).sum()),
    )
    differing = pairs.only_first + pairs.only_second
    if settings.interval == "newcombe":
        difference = paired_difference(pairs, settings.level)
    else:
        drawn = bootstrap_mean(second - first, generator, None, settings.draws, settings.level)
        difference = _possible(drawn, first, second)
    return Comparison(
        n=pairs.n,
        treatment_only=pairs.only_second,
        baseline_only=pairs.only_first,
        baseline=float(first.mean()),
        treatment=float(second.mean()),
        difference=difference,
        p=PValue(
            mid_p_mcnemar(pairs.only_first, pairs.only_second),
            "mid-p McNemar",
            differing,
            note="" if differing else "no pair differs",
        ),
        p_exact=mcnemar(pairs.only_first, pairs.only_second),
    )


def _graded(
    first: Floats,
    second: Floats,
    problems: NDArray[np.intp],
    settings: Settings,
    generator: np.random.Generator,
) -> Comparison:
    """Compare answers by the sum of the differences of every problem."""
    differences = second - first
    sums: Floats = np.bincount(problems, weights=differences).astype(np.float64)
    sizes = np.bincount(problems)
    drawn, p = bootstrap_t(sums, generator, sizes, settings.draws, settings.level)
    if settings.graded_test == "signed-rank":
        p = signed_rank_test(sums / sizes, settings.zeros)
    elif settings.graded_test == "sign-flip" or p is None:  # too few problems to draw
        p = sign_flip_test(sums, generator, settings.draws)
    signs = round_float_noise(differences)
    return Comparison(
        n=differences.size,
        treatment_only=int((signs > 0).sum()),
        baseline_only=int((signs < 0).sum()),
        baseline=float(first.mean()),
        treatment=float(second.mean()),
        difference=_possible(drawn, first, second),
        p=p,
    )


def _possible(difference: Estimate, first: Floats, second: Floats) -> Estimate:
    """Return an interval without what no difference of scores can be, where values are scores."""
    values = np.concatenate([first, second])
    if difference.low is None or difference.high is None or values.min() < 0 or values.max() > 1:
        return difference
    return replace(difference, low=max(difference.low, -1.0), high=min(difference.high, 1.0))
