"""Ranks of several means, with limits that hold for all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ngramscan.statistics.p_values import holm


@dataclass(frozen=True, slots=True)
class PairTest:
    """How one mean differs from another one."""

    difference: float
    """The first minus the second."""
    p: float | None
    """Two-sided; None if not tested."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of one of several means; the largest has rank 1, and equal ones the same rank."""

    value: int
    low: int
    """1 plus the number of means that are significantly larger."""
    high: int
    """The number of means, less those that are significantly smaller."""


def estimate_ranks(
    means: Sequence[float], tests: Mapping[tuple[int, int], PairTest], level: float = 0.95
) -> list[Rank]:
    """Estimate the rank of each mean, with limits that cover all true ranks at once.

    `tests` has one test for each pair of places. A rank is wrong only if a test found a difference
    that is not there, or one in the wrong direction, and Holm's procedure bounds the chance of any
    such finding by 1 - level. A true rank is 1 plus the number of true means that are larger.
    Source: Mogstad, Romano, Shaikh & Wilhelm 2024, Review of Economic Studies 91, 476-518.
    """
    adjusted = holm([test.p for test in tests.values()])
    larger, smaller = [0] * len(means), [0] * len(means)
    for ((first, second), test), p in zip(tests.items(), adjusted, strict=True):
        if p is None or p > round(1 - level, 12) or not test.difference:
            continue
        winner, loser = (first, second) if test.difference > 0 else (second, first)
        larger[loser] += 1
        smaller[winner] += 1
    ranks = []
    for place, mean in enumerate(means):
        value = 1 + sum(other_mean > mean for other_mean in means)
        low, high = 1 + larger[place], len(means) - smaller[place]
        ranks.append(Rank(value, min(low, value), max(high, value)))
    return ranks
