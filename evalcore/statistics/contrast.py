"""One method against another on the same problems: all that is said about a pair of methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalcore.statistics.binary import mcnemar_test, paired_counts
from evalcore.statistics.bootstrap import bootstrap_mean
from evalcore.statistics.p_values import PValue
from evalcore.statistics.pairing import Floats, Missing, Paired, pair
from evalcore.statistics.sign_flips import sign_flip_test
from evalcore.statistics.signed_ranks import Zeros, signed_rank_test
from ngramscan.estimates import Estimate
from ngramscan.proportions import paired_difference, wilson


@dataclass(frozen=True, slots=True)
class Settings:
    """How two methods are compared."""

    missing: Missing = "wrong"
    """A missing answer is worth 0, or its pair is left out."""
    interval: Literal["newcombe", "bootstrap"] = "newcombe"
    """Of the difference of two accuracies on one model; all others are by bootstrap."""
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
    signed_rank: PValue
    sign_flip: PValue


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
    sign_flip: PValue
    """Of the same difference; all answers to a problem change sign together."""
    signed_rank: PValue
    """Of the mean differences of the problems."""


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
    differences = paired.differences
    return ScoreComparison(
        n=differences.size,
        missing=paired.missing,
        better=paired.better,
        worse=paired.worse,
        baseline=float(paired.baseline.mean()),
        treatment=float(paired.treatment.mean()),
        difference=_difference(paired, settings, generator),
        signed_rank=signed_rank_test(differences, settings.zeros),
        sign_flip=sign_flip_test(differences, generator, settings.draws),
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
    sums, sizes = _by_problem(paired)
    return PooledComparison(
        n=paired.differences.size,
        n_problems=sums.size,
        missing=paired.missing,
        better=paired.better,
        worse=paired.worse,
        baseline=float(paired.baseline.mean()),
        treatment=float(paired.treatment.mean()),
        difference=_difference(paired, settings, generator),
        sign_flip=sign_flip_test(sums, generator, settings.draws),
        signed_rank=signed_rank_test(sums / sizes, settings.zeros),
    )


def _by_problem(paired: Paired) -> tuple[Floats, NDArray[np.intp]]:
    """Return the sum of the differences of every problem, and how many they are."""
    sums: Floats = np.bincount(paired.problems, weights=paired.differences).astype(np.float64)
    return sums, np.bincount(paired.problems)


def _difference(paired: Paired, settings: Settings, generator: np.random.Generator) -> Estimate:
    sums, sizes = _by_problem(paired)
    return bootstrap_mean(sums, generator, sizes, settings.draws, settings.level)


def _expect_one_answer_each(paired: Paired) -> None:
    if paired.problems.size > int(paired.problems.max()) + 1:
        raise ValueError("a plain list was expected: one answer to each problem")
