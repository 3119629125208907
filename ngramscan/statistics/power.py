"""Power of paired tests: how often they find a difference, and which one they find with 80%."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import NDArray

ALPHA, POWER = 0.05, 0.8
"""A difference is found if p is at most alpha; power is how often that happens."""
_FAR = 10.0
"""Numbers of differing pairs this many standard deviations from the mean are ignored."""


def mcnemar_power(n: int, discordance: float, difference: float) -> float:
    """Return the power of the two-sided mid-p McNemar test for a difference of two accuracies.

    The discordance is the share of the `n` pairs in which exactly one answer is right.
    """
    if not discordance:
        return 0.0
    share = (1 + abs(difference) / discordance) / 2
    around, spread = n * discordance, math.sqrt(n * discordance * (1 - discordance))
    first = max(1, math.floor(around - _FAR * spread))
    last = min(n, math.ceil(around + _FAR * spread) + 1)
    differing, critical = np.arange(first, last + 1), _critical(first, last)
    rejections = scipy.stats.binom.cdf(critical, differing, share)
    rejections += scipy.stats.binom.cdf(critical, differing, 1 - share)
    return min(1.0, float(np.sum(scipy.stats.binom.pmf(differing, n, discordance) * rejections)))


@lru_cache(maxsize=8)
def _critical(first: int, last: int) -> NDArray[np.float64]:
    """Return, for these numbers of differing pairs, the largest smaller count with mid-p ≤ alpha.

    -1 if no count has one.
    """
    differing = np.arange(first, last + 1)
    half = np.asarray(scipy.stats.binom.ppf(ALPHA / 2, differing, 0.5), dtype=np.float64)
    # The mid-p value of k is the sum of the tails up to k and up to k - 1.
    tails = scipy.stats.binom.cdf(half, differing, 0.5) + scipy.stats.binom.cdf(
        half - 1, differing, 0.5
    )
    return half - (tails > ALPHA)


def mcnemar_detectable(n: int, discordance: float, power: float = POWER) -> float | None:
    """Return the smallest difference that is detected with this power, if any."""
    power_at = partial(mcnemar_power, n, discordance)
    return None if power_at(discordance) < power else _least(power_at, power, discordance)


def t_power(n: int, effect: float) -> float:
    """Return the power of the two-sided paired t test with `n` pairs.

    The effect is the mean difference divided by the standard deviation of the differences (d_z).
    """
    if n < 2 or not math.isfinite(effect):
        raise ValueError("expected enough pairs and a finite effect")
    limit, shift = scipy.special.stdtrit(n - 1, 1 - ALPHA / 2), abs(effect) * math.sqrt(n)
    tails = scipy.stats.nct.sf(limit, n - 1, shift), scipy.stats.nct.cdf(-limit, n - 1, shift)
    return float(np.nansum(tails))  # scipy returns nan for a vanishing tail


def t_detectable(n: int, power: float = POWER) -> float:
    """Return the smallest effect that the paired t test finds with a probability of `power`.

    `statsmodels.stats.power.TTestPower.solve_power` stops after five digits, gives 10 for two pairs
    and a power of 95% (it is 17.66), and sometimes an array.
    """
    if not ALPHA < power < 1:
        raise ValueError("expected a power between alpha and 1")
    power_at, largest = partial(t_power, n), 1.0
    while power_at(largest) < power:
        largest *= 2
    return _least(power_at, power, largest)


def _least(power_at: Callable[[float], float], power: float, largest: float) -> float:
    return float(
        scipy.optimize.brentq(lambda size: power_at(size) - power, 0.0, largest, xtol=1e-13)
    )
