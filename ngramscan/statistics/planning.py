"""Planning of paired comparisons: power at a number of problems, and the number for a power.

A design says how often a test finds a difference with n problems. It knows how answers vary: from
the problems of a comparison or pilot, or from assumptions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy  # its parts are imported where they are first used

from ngramscan.statistics.bounded_means import NEGLIGIBLE, BoundedMean
from ngramscan.statistics.power import (
    ALPHA,
    POWER,
    mcnemar_detectable,
    mcnemar_power,
    t_detectable,
    t_power,
)

MOST_PROBLEMS = 10_000_000
"""Largest number of problems that is planned."""
_NORMAL_SCORES = 199


class Design(Protocol):
    """A test and the variation of the answers it is applied to."""

    def power_at(self, n: int, difference: float) -> float:
        """Return how often the test finds a true difference with n problems."""

    def finds(self, n: int, difference: float, power: float) -> bool:
        """Return whether the power at n problems is at least this."""

    def detectable(self, n: int, power: float = POWER) -> float | None:
        """Return the smallest difference that has this power with n problems, if there is one."""


@dataclass(frozen=True, slots=True)
class McNemarDesign:
    """The mid-p McNemar test of right and wrong answers."""

    discordance: float
    """Share of problems on which one method alone is right; at least the difference, in power."""

    def power_at(self, n: int, difference: float) -> float:
        """Return how often the test finds a true difference with n problems."""
        return mcnemar_power(n, max(self.discordance, abs(difference)), difference)

    def finds(self, n: int, difference: float, power: float) -> bool:
        """Return whether the power at n problems is at least this."""
        return self.power_at(n, difference) >= power

    def detectable(self, n: int, power: float = POWER) -> float | None:
        """Return the smallest difference that has this power, up to the discordance."""
        return mcnemar_detectable(n, self.discordance, power)


@dataclass(frozen=True, slots=True)
class StudentDesign:
    """A test with the power of Student's paired t."""

    spread: float
    """Standard deviation of the differences; positive."""

    def power_at(self, n: int, difference: float) -> float:
        """Return how often the test finds a true difference with n problems."""
        return t_power(n, difference / self.spread) if n > 1 else 0.0

    def finds(self, n: int, difference: float, power: float) -> bool:
        """Return whether the power at n problems is at least this."""
        return self.power_at(n, difference) >= power

    def detectable(self, n: int, power: float = POWER) -> float | None:
        """Return the smallest difference with this power; None with fewer than two problems."""
        return t_detectable(n, power) * self.spread if n > 1 else None


class TiltingDesign:
    """The test by nonparametric tilting, for problems that vary as in a sample.

    The power is that for a sample whose values are moved by a common shift. A mean is found if its
    tilted distance from zero reaches the quantile of Student's t; the observed mean varies around
    the true one with the standard error of the sample. docs/methods/comparing.md has simulations.
    """

    def __init__(self, sample: BoundedMean, is_gain: bool | None = None) -> None:
        """Take differences from -1 to 1 and the tested direction (None: the harder one)."""
        self._sample = sample
        self._signs = (1.0, -1.0) if is_gain is None else (1.0,) if is_gain else (-1.0,)

    def power_at(self, n: int, difference: float) -> float:
        """Return how often the test finds a true difference with n problems."""
        if n < 2:
            return 0.0
        excess = abs(difference) - max(self._critical(sign, n) for sign in self._signs)
        error = self._sample.standard_error(n)
        if error <= NEGLIGIBLE:
            return float(excess >= 0)
        return float(scipy.special.stdtr(n - 1, excess / error))

    def finds(self, n: int, difference: float, power: float) -> bool:
        """Return whether the power at n problems is at least this."""
        if n < 2:
            return False
        observed = abs(difference) - self._margin(n, power)
        return observed > NEGLIGIBLE and all(
            self._excess(sign * observed, n) >= 0 for sign in self._signs
        )

    def detectable(self, n: int, power: float = POWER) -> float | None:
        """Return the smallest difference with this power; None if even 1 lacks it."""
        if n < 2:
            return None
        least = max(self._critical(sign, n) for sign in self._signs) + self._margin(n, power)
        return least if least <= 1 else None

    def _margin(self, n: int, power: float) -> float:
        """Return how far below the true mean the observed one falls with probability 1 - power."""
        return float(scipy.special.stdtrit(n - 1, power)) * self._sample.standard_error(n)

    def _excess(self, observed: float, n: int) -> float:
        """Return how much farther from zero an observed mean is than one that is just found."""
        far = float(scipy.special.stdtrit(n - 1, 1 - ALPHA / 2))
        return self._sample.distance_if(observed, n) - far

    def _critical(self, sign: float, n: int) -> float:
        """Return the smallest observed difference that is found; infinite if none is."""
        if self._excess(sign, n) < 0:
            return math.inf
        smallest = NEGLIGIBLE
        if self._excess(sign * smallest, n) >= 0:
            return smallest
        return float(
            scipy.optimize.brentq(lambda size: self._excess(sign * size, n), smallest, 1.0)
        )


def needed_n(design: Design, difference: float, power: float = POWER) -> int | None:
    """Return how many problems find a difference with this power, or None for over ten million.

    The power of a test of counts has small steps; the power just below this number is too small.
    """
    enough = 2
    while not design.finds(enough, difference, power):
        enough *= 2
        if enough > MOST_PROBLEMS:
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if design.finds(middle, difference, power):
            enough = middle
        else:
            too_few = middle
    return enough


def normal_sample(spread: float) -> BoundedMean:
    """Return normal differences with this standard deviation around 0, cut at the bounds."""
    scores = scipy.special.ndtri((np.arange(_NORMAL_SCORES) + 0.5) / _NORMAL_SCORES)
    scores *= spread / scores.std(ddof=1)
    return BoundedMean(scores.clip(-1, 1), -1, 1)
