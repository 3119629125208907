"""P-values of one test, and their adjustment for several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ngramscan.statistics.estimates import Estimate


@dataclass(frozen=True, slots=True)
class PValue:
    """The two-sided p-value of a test."""

    value: float
    """In [0, 1]; 0 if below the least float. Exact unless `procedure` says otherwise."""
    procedure: str
    """The name of the test and of the way the p-value was computed."""
    n: int
    """The number of pairs or problems that differ; the others do not matter."""
    standard_error: float | None = None
    """Standard error of `value` if it was estimated by random draws; None if it was computed."""
    note: str = ""
    """A warning to readers; usually empty."""


def disagreement(difference: Estimate, p: PValue) -> str:
    """Say that an interval and a test, computed in different ways, disagree; empty: they agree."""
    low, high, alpha = difference.low, difference.high, 1 - difference.level
    is_small = p.value <= round(alpha, 12)
    if low is None or high is None or (low <= 0 <= high) != is_small:
        return ""
    where = "includes 0, but p is at most" if is_small else "excludes 0, but p is above"
    return f"interval and test disagree: the interval {where} {alpha:g}"


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values of a family of tests, which bounds the chance of any false finding.

    None stands for a test that could not be made, and is ignored. Adjusted p-values are at least as
    large as before, and at most 1. One outside [0, 1] is a ValueError.
    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    if not all(0 <= p <= 1 for p, _ in known):
        raise ValueError("a p-value is outside 0 to 1")
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for done, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - done) * p))
        adjusted[place] = largest
    return adjusted
