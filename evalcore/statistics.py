"""Statistics of paired results: arrays in, values with their intervals out, nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special, stats

from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.proportions import Pairs, mcnemar, mid_p_mcnemar, paired_difference
from ngramscan.statistics.resampling import Floats, MeanDifference, bootstrap_t
from ngramscan.statistics.sign_tests import round_float_noise, sign_flip_test, signed_rank_test

GradedTest = Literal["tilting", "bootstrap-t", "signed-rank", "sign-flip"]
_ALPHA, _POWER = 0.05, 0.8
"""A difference is found if p is at most alpha; power is how often that happens."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How two methods are compared: options of `evalcore compare`, in the same order."""

    no_answer: Literal["wrong", "exclude"] = "wrong"
    interval: Literal["newcombe", "bootstrap"] = "newcombe"
    graded_test: GradedTest = "tilting"
    zeros: Literal["dropped", "pratt"] = "dropped"
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Accuracies of two methods on the same problems, as fractions; `p_exact` is McNemar's."""

    n: int
    treatment_only: int
    baseline_only: int
    baseline: float
    treatment: float
    difference: Estimate
    p: PValue
    p_exact: float | None
    spread: float | None
    """Standard deviation of the differences. None: a problem has several, or there is one pair."""

    @property
    def detectable(self) -> float | None:
        """Return the smallest difference that is found with 80% power, if there is one."""
        differing = self.treatment_only + self.baseline_only
        if self.p_exact is not None:
            return mcnemar_detectable(self.n, differing / self.n)
        return t_detectable(self.n) * self.spread if self.spread and differing else None


def compare_pairs(
    baseline: ArrayLike,
    treatment: ArrayLike,
    generator: np.random.Generator,
    settings: Settings | None = None,
    problems: ArrayLike | None = None,
) -> Comparison:
    """Compare two methods on the same problems; right and wrong answers by McNemar's mid-p test.

    The values are from 0 to 1, or nan if there is no answer. `problems` says which problem each
    value answers; by default each has its own. Answers of several models to one problem are not
    independent, so problems are compared. The order of pairs with named problems does not matter.
    """
    how = settings or Settings()
    both = np.stack([np.asarray(values, dtype=np.float64) for values in (baseline, treatment)])
    numbers = np.arange(both[0].size) if problems is None else np.asarray(problems)
    problem = "two finite lists of one length with at least one pair were expected"
    if both.shape != (2, numbers.size) or np.isinf(both).any():
        raise ValueError(problem)
    order = np.lexsort((both[1], both[0], numbers))
    both, numbers = both[:, order], numbers[order]
    missing = np.isnan(both)
    kept = ~missing.any(axis=0) | (how.no_answer == "wrong")
    if not kept.any():
        raise ValueError(problem)
    is_binary = bool(np.isin(both[~missing], (0, 1)).all())
    is_plain = np.unique(numbers).size == numbers.size
    values = np.where(missing, 0.0, both)[:, kept]
    differences, p_exact = values[1] - values[0], None
    signs = round_float_noise(differences)
    more, less = int((signs > 0).sum()), int((signs < 0).sum())
    sums, sizes = differences, None
    if not is_plain:
        groups = np.unique(numbers[kept], return_inverse=True)[1]
        sums, sizes = np.bincount(groups, weights=differences), np.bincount(groups)
    if is_plain and is_binary:
        p_exact = mcnemar(less, more)
        note = "" if more + less else "no pair differs"
        p = PValue(mid_p_mcnemar(less, more), "mid-p McNemar", more + less, note=note)
        pairs = Pairs(int(values.all(axis=0).sum()), less, more, int((~values.any(axis=0)).sum()))
        difference = paired_difference(pairs, how.level)
        if how.interval == "bootstrap":
            difference, _ = _bootstrapped(sums, sizes, how, generator)
    else:
        difference, p = _mean_difference(sums, sizes, how, generator)
    spread = float(differences.std(ddof=1)) if is_plain and differences.size > 1 else None
    counts, (first, second) = (differences.size, more, less), values.mean(axis=1).tolist()
    return Comparison(*counts, first, second, difference, p, p_exact, spread)


def _mean_difference(
    sums: Floats, sizes: ArrayLike | None, how: Settings, generator: np.random.Generator
) -> tuple[Estimate, PValue]:
    """Return the mean difference with its interval, and the p-value of the test that is wanted."""
    if how.graded_test == "bootstrap-t":
        difference, p = _bootstrapped(sums, sizes, how, generator)
        if p and difference.low is not None:
            return difference, p
    mean = BoundedMean(sums, -1, 1, sizes)
    difference = mean.estimate(how.level)
    if how.graded_test == "signed-rank" and sizes is None:  # not for several answers to a problem
        return difference, signed_rank_test(sums, how.zeros)
    if how.graded_test in {"signed-rank", "sign-flip"}:
        return difference, sign_flip_test(sums, generator, how.resamples)
    return difference, mean.test(0.0)


def _bootstrapped(
    sums: Floats, sizes: ArrayLike | None, how: Settings, generator: np.random.Generator
) -> MeanDifference:
    """Return the bootstrap estimate, with limits cut at ±1, the largest possible difference."""
    found, p = bootstrap_t(sums, generator, sizes, how.resamples, how.level)
    if found.low is not None and found.high is not None:
        found = replace(found, low=max(found.low, -1.0), high=min(found.high, 1.0))
    return MeanDifference(found, p)


def mcnemar_power(n: int, discordance: float, difference: float) -> float:
    """Return the power of the two-sided mid-p McNemar test for a difference of two accuracies.

    The discordance is the share of the `n` pairs in which exactly one answer is right.
    """
    if not discordance:
        return 0.0
    share = (1 + abs(difference) / discordance) / 2
    differing, critical = np.arange(1, n + 1), _critical(n)
    found = stats.binom.cdf(critical, differing, share)
    found += stats.binom.cdf(critical, differing, 1 - share)
    return min(1.0, float(np.sum(stats.binom.pmf(differing, n, discordance) * found)))


@lru_cache(maxsize=8)
def _critical(n: int) -> Floats:
    """Return, for 1 to n differing pairs, the largest smaller count with mid-p ≤ alpha, or -1."""
    differing = np.arange(1, n + 1)
    half = np.asarray(stats.binom.ppf(_ALPHA / 2, differing, 0.5), dtype=np.float64)
    # The mid-p value of k is the sum of the tails up to k and up to k - 1.
    tails = stats.binom.cdf(half, differing, 0.5) + stats.binom.cdf(half - 1, differing, 0.5)
    return half - (tails > _ALPHA)


def mcnemar_detectable(n: int, discordance: float) -> float | None:
    """Return the smallest difference that is found with 80% power, or None if there is none."""
    power_at = partial(mcnemar_power, n, discordance)
    if power_at(discordance) < _POWER:
        return None
    return float(optimize.brentq(lambda x: power_at(x) - _POWER, 0.0, discordance, xtol=1e-13))


def t_power(n: int, effect: float) -> float:
    """Return the power of the two-sided paired t test with `n` pairs.

    The effect is the mean difference divided by the standard deviation of the differences (d_z).
    """
    if n < 2 or not math.isfinite(effect):
        raise ValueError("enough pairs and a finite effect were expected")
    limit, shift = special.stdtrit(n - 1, 1 - _ALPHA / 2), abs(effect) * math.sqrt(n)
    tails = stats.nct.sf(limit, n - 1, shift), stats.nct.cdf(-limit, n - 1, shift)
    return float(np.nansum(tails))  # scipy returns nan for a vanishing tail


def t_detectable(n: int, power: float = _POWER) -> float:
    """Return the smallest effect that the paired t test finds with a probability of `power`."""
    if not _ALPHA < power < 1:
        raise ValueError("a power between alpha and 1 was expected")
    largest = 1.0
    while t_power(n, largest) < power:
        largest *= 2
    return float(optimize.brentq(lambda x: t_power(n, x) - power, 0.0, largest, xtol=1e-13))
