"""One method against another on the same problems: all that is said about a pair of methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalcore.statistics.binary import mcnemar_test, paired_counts
from evalcore.statistics.bootstrap_t import bootstrap_mean, bootstrap_t
from evalcore.statistics.p_values import PValue
from evalcore.statistics.pairing import Floats, Missing, Paired, pair
from evalcore.statistics.sign_flips import sign_flip_test
from evalcore.statistics.signed_ranks import Zeros, signed_rank_test
from ngramscan.estimates import Estimate
from ngramscan.proportions import mcnemar, paired_difference, wilson

GradedTest = Literal["bootstrap-t", "signed-rank", "sign-flip"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How two methods are compared."""

    missing: Missing = "wrong"
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


@dataclass(frozen=True, slots=True)
class BinaryComparison:
    """Right and wrong answers of two methods to the same problems."""

    n: int
    missing: int
    """Pairs in which a value was missing; part of `n` only if these count as wrong."""
    better: int
    """Pairs in which only the treatment is right; `b` in the literature."""
    worse: int
    """Pairs in which only the baseline is right; `c` in the literature."""
    baseline: Estimate
    treatment: Estimate
    """Accuracies with their Wilson intervals."""
    difference: Estimate
    """Treatment minus baseline."""
    mcnemar: PValue
    """The mid-p value."""
    mcnemar_exact: float


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """Graded answers of two methods to the same problems."""

    n: int
    missing: int
    """Pairs in which a value was missing; part of `n` only if these count as 0."""
    better: int
    """Pairs in which the treatment has more."""
    worse: int
    """Pairs in which the baseline has more."""
    baseline: float
    treatment: float
    """Mean values."""
    difference: Estimate
    """Treatment minus baseline."""
    p: PValue


@dataclass(frozen=True, slots=True)
class PooledComparison:
    """Answers of several models, right or wrong or graded, to the same problems."""

    n: int
    """Pairs of answers."""
    n_problems: int
    missing: int
    """Pairs in which a value was missing; part of `n` only if these count as 0."""
    better: int
    """Pairs in which the treatment has more."""
    worse: int
    """Pairs in which the baseline has more."""
    baseline: float
    treatment: float
    """Mean values over the pairs, each with the same weight."""
    difference: Estimate
    """Treatment minus baseline; the interval is by bootstrap of problems."""
    p: PValue
    """Of the same difference; all answers to a problem change sign, or are drawn, together."""


def compare_binary(
    baseline: ArrayLike,
    treatment: ArrayLike,
    settings: Settings | None = None,
    generator: np.random.Generator | None = None,
) -> BinaryComparison:
    """Compare right and wrong answers of two methods, each problem answered once.

    Parameters
    ----------
    baseline, treatment : array of 0, 1 or nan, shape (n,)
        Whether the answers to the same problems are right; nan where that is missing.
    settings : Settings, optional
        How.
    generator : numpy Generator, optional
        The source of chance; needed only by the bootstrap interval.

    Returns
    -------
    BinaryComparison
        Shares in [0, 1], the difference in [-1, 1].

    Raises
    ------
    ValueError
        The lengths differ, a value is neither 0 nor 1, there are no pairs, or the bootstrap has no
        generator.
    """
    settings = settings or Settings()
    paired = pair(baseline, treatment, settings.missing)
    _expect_one_answer_each(paired)
    counts = paired_counts(paired.baseline, paired.treatment)
    if settings.interval == "newcombe":
        difference = paired_difference(counts, settings.level)
    elif generator is None:
        raise ValueError("the bootstrap interval needs a random generator")
    else:
        difference = _difference(paired, settings, generator)
    return BinaryComparison(
        n=counts.n,
        missing=paired.missing,
        better=counts.only_second,
        worse=counts.only_first,
        baseline=wilson(counts.both + counts.only_first, counts.n, settings.level),
        treatment=wilson(counts.both + counts.only_second, counts.n, settings.level),
        difference=difference,
        mcnemar=mcnemar_test(counts.only_second, counts.only_first),
        mcnemar_exact=mcnemar(counts.only_first, counts.only_second),
    )


def compare_scores(
    baseline: ArrayLike,
    treatment: ArrayLike,
    generator: np.random.Generator,
    settings: Settings | None = None,
) -> ScoreComparison:
    """Compare graded answers of two methods, each problem answered once.

    Parameters
    ----------
    baseline, treatment : array of float, shape (n,)
        Values of the answers to the same problems; nan where a value is missing.
    generator : numpy Generator
        The source of chance.
    settings : Settings, optional
        How.

    Returns
    -------
    ScoreComparison
        In the unit of the values.

    Raises
    ------
    ValueError
        The lengths differ, a value is infinite, or there are no pairs.
    """
    settings = settings or Settings()
    paired = pair(baseline, treatment, settings.missing)
    _expect_one_answer_each(paired)
    difference, p = _tested(paired, settings.graded_test, settings, generator)
    return ScoreComparison(
        n=paired.differences.size,
        missing=paired.missing,
        better=paired.better,
        worse=paired.worse,
        baseline=float(paired.baseline.mean()),
        treatment=float(paired.treatment.mean()),
        difference=difference,
        p=p,
    )


def compare_pooled(
    baseline: ArrayLike,
    treatment: ArrayLike,
    generator: np.random.Generator,
    settings: Settings | None = None,
    problems: ArrayLike | None = None,
) -> PooledComparison:
    """Compare two methods over several models, whose answers to a problem resemble each other.

    Parameters
    ----------
    baseline, treatment : array of float, shape (problems, models), or (n,) with `problems`
        Values of the answers, 0 and 1 or graded; nan where a value is missing.
    generator : numpy Generator
        The source of chance.
    settings : Settings, optional
        How.
    problems : array of int or str, shape (n,), optional
        Which problem each answer is to, for plain lists: models need not have the same problems.

    Returns
    -------
    PooledComparison
        In the unit of the values.

    Raises
    ------
    ValueError
        The shapes differ, a value is infinite, or there are no pairs.
    """
    settings = settings or Settings()
    paired = pair(baseline, treatment, settings.missing, problems)
    is_drawn = settings.graded_test == "bootstrap-t" and not paired.is_binary
    difference, p = _tested(paired, "bootstrap-t" if is_drawn else "sign-flip", settings, generator)
    return PooledComparison(
        n=paired.differences.size,
        n_problems=int(paired.problems.max()) + 1,
        missing=paired.missing,
        better=paired.better,
        worse=paired.worse,
        baseline=float(paired.baseline.mean()),
        treatment=float(paired.treatment.mean()),
        difference=difference,
        p=p,
    )


def _by_problem(paired: Paired) -> tuple[Floats, NDArray[np.intp]]:
    """Return the sum of the differences of every problem, and how many they are."""
    sums: Floats = np.bincount(paired.problems, weights=paired.differences).astype(np.float64)
    return sums, np.bincount(paired.problems)


def _difference(paired: Paired, settings: Settings, generator: np.random.Generator) -> Estimate:
    sums, sizes = _by_problem(paired)
    found = bootstrap_mean(sums, generator, sizes, settings.draws, settings.level)
    return _possible(found, paired)


def _possible(difference: Estimate, paired: Paired) -> Estimate:
    """Return an interval without what no difference of scores can be, where values are scores."""
    values = np.concatenate([paired.baseline, paired.treatment])
    if difference.low is None or difference.high is None or values.min() < 0 or values.max() > 1:
        return difference
    return replace(difference, low=max(difference.low, -1.0), high=min(difference.high, 1.0))


def _tested(
    paired: Paired, test: GradedTest, settings: Settings, generator: np.random.Generator
) -> tuple[Estimate, PValue]:
    """Return the difference and its p-value; by sign flips where problems are too few to draw."""
    sums, sizes = _by_problem(paired)
    if test == "bootstrap-t":
        difference, p = bootstrap_t(sums, generator, sizes, settings.draws, settings.level)
        found = p or sign_flip_test(sums, generator, settings.draws)
        return _possible(difference, paired), found
    difference = _difference(paired, settings, generator)
    if test == "signed-rank":
        return difference, signed_rank_test(sums / sizes, settings.zeros)
    if test == "sign-flip":
        return difference, sign_flip_test(sums, generator, settings.draws)
    raise ValueError(f"graded answers are tested by {', '.join(get_args(GradedTest))}, not {test}")


def _expect_one_answer_each(paired: Paired) -> None:
    if paired.problems.size > int(paired.problems.max()) + 1:
        raise ValueError("a plain list was expected: one answer to each problem")
