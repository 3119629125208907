"""Statistics of paired results: arrays in, values with their intervals out, nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import integrate, optimize, special, stats

from ngramscan.statistics.estimates import Estimate
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.proportions import Pairs, mcnemar, mid_p_mcnemar, paired_difference
from ngramscan.statistics.resampling import MeanDifference, bootstrap_t
from ngramscan.statistics.sign_tests import (
    Zeros,
    round_float_noise,
    sign_flip_test,
    signed_rank_test,
)

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]
GradedTest = Literal["bootstrap-t", "signed-rank", "sign-flip"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How two methods are compared: options of `evalcore compare`, in its order."""

    no_answer: Literal["wrong", "exclude"] = "wrong"
    interval: Literal["newcombe", "bootstrap"] = "newcombe"
    graded_test: GradedTest = "bootstrap-t"
    zeros: Zeros = "dropped"
    level: float = 0.95
    draws: int = 10_000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """Answers of two methods to the same problems, in the unit of their values."""

    n: int
    treatment_only: int
    """Pairs in which the treatment has more, by more than a rounding error."""
    baseline_only: int
    baseline: float
    """Mean value over the pairs."""
    treatment: float
    difference: Estimate
    p: PValue
    p_exact: float | None
    """McNemar's exact p-value of right and wrong answers, one to each problem."""
    spread: float | None
    """Standard deviation of the differences; None: a problem has several, or there is one pair."""


def compare_pairs(
    baseline: ArrayLike,
    treatment: ArrayLike,
    generator: np.random.Generator,
    settings: Settings | None = None,
    problems: ArrayLike | None = None,
) -> Comparison:
    """Compare two methods on the same problems; right and wrong answers by McNemar's mid-p test.

    The values stand in the same order: right (1) and wrong (0) or graded; nan where there is none.
    `problems` says which problem each of them answers; by default each has its own. Answers of
    several models to one problem resemble each other: they are drawn, or change sign, together.
    Raise a ValueError where lengths differ, a value is infinite, or there are no pairs.
    """
    settings = settings or Settings()
    first, second = (np.array(values, dtype=np.float64) for values in (baseline, treatment))
    numbers = np.arange(first.size) if problems is None else np.asarray(problems)
    if not first.shape == second.shape == numbers.shape == (first.size,):
        raise ValueError("lists of the same length were expected")
    both = np.stack([first, second])
    missing = np.isnan(both)
    kept = ~missing.any(axis=0) if settings.no_answer == "exclude" else np.full(first.size, True)
    if not kept.any():
        raise ValueError("there are no pairs to compare")
    if np.isinf(both).any():
        raise ValueError("a value is infinite")
    is_binary = bool(np.isin(both[~missing], (0, 1)).all())
    is_plain = np.unique(numbers).size == numbers.size
    if is_plain:  # problems with one pair are drawn in the order in which they come
        numbers = np.arange(numbers.size)
    elif is_binary or settings.graded_test == "signed-rank":  # which problems with several have not
        settings = replace(settings, graded_test="sign-flip")
    values, numbers = np.nan_to_num(both[:, kept]), np.unique(numbers[kept], return_inverse=True)[1]
    return _compared(values, numbers, is_plain, is_binary, settings, generator)


def _compared(
    values: Floats,
    numbers: Counts,
    is_plain: bool,
    is_binary: bool,
    settings: Settings,
    generator: np.random.Generator,
) -> Comparison:
    differences = values[1] - values[0]
    signs = round_float_noise(differences)
    more, less = int((signs > 0).sum()), int((signs < 0).sum())
    sums: Floats = np.bincount(numbers, weights=differences).astype(np.float64)
    sizes, p_exact = np.bincount(numbers), None
    if not (is_plain and is_binary):
        difference, p = _drawn(values, sums, sizes, settings, generator)
        if settings.graded_test == "signed-rank":
            p = signed_rank_test(sums / sizes, settings.zeros)
        elif settings.graded_test == "sign-flip" or p is None:  # too few problems to draw
            p = sign_flip_test(sums, generator, settings.draws)
    else:
        note = "" if more + less else "no pair differs"
        p = PValue(mid_p_mcnemar(less, more), "mid-p McNemar", more + less, note=note)
        p_exact = mcnemar(less, more)
        pairs = Pairs(int(values.all(axis=0).sum()), less, more, int((~values.any(axis=0)).sum()))
        if settings.interval == "newcombe":
            difference = paired_difference(pairs, settings.level)
        else:
            difference, _ = _drawn(values, sums, sizes, settings, generator)
    spread = float(differences.std(ddof=1)) if is_plain and differences.size > 1 else None
    baseline, treatment = values.mean(axis=1).tolist()
    counts = differences.size, more, less
    return Comparison(*counts, baseline, treatment, difference, p, p_exact, spread)


def _drawn(
    values: Floats, sums: Floats, sizes: Counts, settings: Settings, generator: np.random.Generator
) -> MeanDifference:
    """Return what the bootstrap says, without what no difference of scores can be."""
    found = bootstrap_t(sums, generator, sizes, settings.draws, settings.level)
    low, high = found.estimate.low, found.estimate.high
    if low is None or high is None or values.min() < 0 or values.max() > 1:
        return found
    possible = replace(found.estimate, low=max(low, -1.0), high=min(high, 1.0))
    return found._replace(estimate=possible)


# What a test of pairs can find


def mcnemar_power(n: int, discordance: float, difference: float, alpha: float = 0.05) -> float:
    """Return how often the mid-p McNemar test finds a difference of two accuracies, either way.

    The discordance is the share of the `n` pairs in which exactly one is right, no smaller than the
    difference; alpha is the largest p-value that counts as found. Raise a ValueError where there
    are no pairs, or a share is impossible.
    """
    _check(n, alpha)
    if not abs(difference) <= discordance <= 1:
        raise ValueError("shares with |difference| <= discordance <= 1 were expected")
    if not discordance:
        return 0.0
    share = (1 + abs(difference) / discordance) / 2
    differing, critical = np.arange(1, n + 1), _critical(n, alpha)
    found = stats.binom.cdf(critical, differing, share)
    found += stats.binom.cdf(critical, differing, 1 - share)
    return min(1.0, float(np.sum(stats.binom.pmf(differing, n, discordance) * found)))


@lru_cache(maxsize=8)
def _critical(n: int, alpha: float) -> Floats:
    """Return, for 1 to n pairs that differ, the largest rarer count with mid-p ≤ alpha, or -1."""
    differing = np.arange(1, n + 1)
    half = np.asarray(stats.binom.ppf(alpha / 2, differing, 0.5), dtype=np.float64)
    # The mid-p value of k is the sum of the tails up to k and up to k - 1. Where that is alpha to
    # the last digit, it counts; the rounding must not decide.
    tails = stats.binom.cdf(half, differing, 0.5) + stats.binom.cdf(half - 1, differing, 0.5)
    return half - (tails > alpha * (1 + 1e-12))


def mcnemar_detectable(
    n: int, discordance: float, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Find the smallest difference that the mid-p McNemar test finds with a probability of `power`.

    None where even a difference as large as the discordance is not found often enough. The other
    parameters are those of `mcnemar_power`; `power` is between alpha and 1.
    """
    _check(n, alpha, power)
    if mcnemar_power(n, discordance, discordance, alpha) < power:
        return None
    return _smallest(lambda x: mcnemar_power(n, discordance, x, alpha), discordance, power)


def t_power(n: int, effect: float, alpha: float = 0.05) -> float:
    """Return how often the paired t test of `n` pairs finds an effect, in either direction.

    The effect is the mean difference over the standard deviation of the differences (d_z). Raise a
    ValueError where there are fewer than two pairs, or alpha is outside (0, 1). It integrates over
    the estimated standard deviation, because scipy's noncentral t fails for large effects.
    """
    _check(n - 1, alpha)
    if not math.isfinite(effect):
        raise ValueError("a finite effect was expected")
    degrees = n - 1
    limit, shift = float(special.stdtrit(degrees, 1 - alpha / 2)), abs(effect) * math.sqrt(n)
    scale = math.log(2) + degrees / 2 * math.log(degrees / 2) - float(special.gammaln(degrees / 2))

    def found(spread: float) -> float:
        # The density of the standard deviation that is estimated, times the tails given that.
        density = math.exp(scale + (degrees - 1) * math.log(spread) - degrees * spread**2 / 2)
        tails = special.ndtr([shift - limit * spread, -shift - limit * spread])
        return density * float(tails.sum())

    # Twelve standard errors of the estimate: nothing outside counts.
    width = 12 / math.sqrt(2 * degrees)
    ends = max(0.0, 1 - width), 1 + width
    power, _ = integrate.quad(found, *ends, epsabs=1e-13, epsrel=1e-12, limit=200)
    return min(1.0, float(power))


def t_detectable(n: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """Find the smallest effect that the paired t test finds with a probability of `power`.

    In standard deviations of the differences, as in `t_power`.
    """
    _check(n - 1, alpha, power)
    largest = 1.0
    while t_power(n, largest, alpha) < power:
        largest *= 2
    return _smallest(lambda x: t_power(n, x, alpha), largest, power)


def _smallest(power_at: Callable[[float], float], largest: float, power: float) -> float:
    found = optimize.brentq(lambda x: power_at(x) - power, 0.0, largest, xtol=1e-13, rtol=1e-13)
    return float(found)


def _check(n: int, alpha: float, power: float | None = None) -> None:
    if n < 1 or not 0 < alpha < 1:
        raise ValueError("enough pairs and 0 < alpha < 1 were expected")
    if power is not None and not alpha < power < 1:
        raise ValueError("a power between alpha and 1 was expected")
