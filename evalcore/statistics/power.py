"""What a test of pairs can find: its power, and the smallest difference it finds often enough."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, optimize, special, stats


def mcnemar_power(n: int, discordance: float, difference: float, alpha: float = 0.05) -> float:
    """Return how often the mid-p McNemar test finds a difference of two accuracies.

    Parameters
    ----------
    n : int
        Pairs, of which those that differ are a random number.
    discordance : float
        Share of pairs in which exactly one is right, in [0, 1].
    difference : float
        Of the accuracies; no larger than the discordance.
    alpha : float
        The largest p-value that counts as found.

    Returns
    -------
    float
        In [0, 1], with both directions counted as found.

    Raises
    ------
    ValueError
        There are no pairs, or a share is impossible.

    Notes
    -----
    A sum over how many pairs may differ, and of these over how many may favour the treatment.
    """
    _check(n, alpha)
    if not abs(difference) <= discordance <= 1:
        raise ValueError("shares with |difference| <= discordance <= 1 were expected")
    if not discordance:
        return 0.0
    share = (1 + abs(difference) / discordance) / 2
    differing = np.arange(1, n + 1)
    critical = _critical(differing, alpha)
    found = stats.binom.cdf(critical, differing, share)
    found += stats.binom.cdf(critical, differing, 1 - share)
    return min(1.0, float(np.sum(stats.binom.pmf(differing, n, discordance) * found)))


def mcnemar_detectable(
    n: int, discordance: float, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Find the smallest difference of accuracies that the mid-p McNemar test finds often enough.

    As in `mcnemar_power`; `power`, in (alpha, 1), is the probability with which it is to be found.
    Return None where even a difference as large as the discordance is not found often enough.
    """
    _check_power(power, alpha)

    def at(difference: float) -> float:
        return mcnemar_power(n, discordance, difference, alpha)

    return _smallest(at, discordance, power) if at(discordance) >= power else None


def t_power(n: int, effect: float, alpha: float = 0.05) -> float:
    """Return how often the paired t test finds an effect.

    Parameters
    ----------
    n : int
        Pairs, at least 2.
    effect : float
        Mean difference over the standard deviation of the differences (d_z).
    alpha : float
        The largest p-value that counts as found.

    Returns
    -------
    float
        In [0, 1], with both directions counted as found.

    Raises
    ------
    ValueError
        Fewer than two pairs, or alpha outside (0, 1).

    Notes
    -----
    The tails of the noncentral t distribution with n - 1 degrees of freedom, as an integral over
    the estimated standard deviation, because scipy's function of them fails for large effects.
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
    """Find the smallest effect that the paired t test finds with probability `power`.

    As in `t_power`; in standard deviations of the differences (d_z).
    """
    _check_power(power, alpha)

    def at(effect: float) -> float:
        return t_power(n, effect, alpha)

    largest = 1.0
    while at(largest) < power:
        largest *= 2
    return _smallest(at, largest, power)


def _smallest(at: Callable[[float], float], largest: float, power: float) -> float:
    return float(optimize.brentq(lambda x: at(x) - power, 0.0, largest, xtol=1e-13, rtol=1e-13))


def _critical(differing: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
    """Return the largest count of the rarer side with a mid-p value of at most alpha, or -1."""
    half = np.asarray(stats.binom.ppf(alpha / 2, differing, 0.5), dtype=np.float64)
    # The mid-p value of k is the sum of the tails up to k and up to k - 1. Where that is alpha to
    # the last digit, it counts; the rounding must not decide.
    tails = stats.binom.cdf(half, differing, 0.5) + stats.binom.cdf(half - 1, differing, 0.5)
    return half - (tails > alpha * (1 + 1e-12))


def _check(n: int, alpha: float) -> None:
    if n < 1 or not 0 < alpha < 1:
        raise ValueError("enough pairs and 0 < alpha < 1 were expected")


def _check_power(power: float, alpha: float) -> None:
    if not alpha < power < 1:
        raise ValueError("a power between alpha and 1 was expected")
