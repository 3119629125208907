"""P-values of one test, and their adjustment for several."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import scipy  # its parts are imported where they are first used

from ngramscan.statistics.estimates import Estimate

MOST_ROOT = 26.0
"""A p-value below exp(-26²), 10 to the -294, is 0."""


@dataclass(frozen=True, slots=True)
class ComputedPValue:
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


def disagreement(difference: Estimate, p: ComputedPValue) -> str:
    """Say that an interval and a test, computed in different ways, disagree; empty: they agree."""
    low, high, alpha = difference.low, difference.high, 1 - difference.level
    is_small = p.value <= round(alpha, 12)
    if low is None or high is None or (low <= 0 <= high) != is_small:
        return ""
    where = "includes 0, but p is at most" if is_small else "excludes 0, but p is above"
    return f"interval and test disagree: the interval {where} {alpha:g}"


def invert_interval(distance: float, arm: Callable[[float], float]) -> float:
    """Return the two-sided p-value at whose level an interval ends at a supposed value.

    `distance` is how far the estimate is from that value, and `arm` how far the interval reaches
    towards it if each of its tails has a given probability. At most 1; 0 if below the least float.
    """

    def beyond(root: float) -> float:
        """Return how far the interval, at a p-value of exp(-root²), ends from the value."""
        return distance - arm(math.exp(-(root**2)) / 2)

    # Nearly linear in the root.
    if beyond(0.0) <= 0:
        return 1.0
    if beyond(MOST_ROOT) > 0:
        return 0.0
    return math.exp(-(scipy.optimize.brentq(beyond, 0.0, MOST_ROOT, xtol=1e-7) ** 2))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values of a family of tests, which bounds the chance of any false finding.

    None stands for a test that could not be made, and is ignored. Adjusted p-values are at least as
    large as before, and at most 1. One outside [0, 1] is a ValueError.
    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.
    """
    ordered = _in_order(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for smaller, (p, place) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - smaller) * p))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the p-values of a family of tests, which bounds the share of false findings.

    If every test whose adjusted value is at most q counts as a finding, the expected share of false
    ones among the findings is at most q: for independent tests, and for those whose dependence is
    positive. Missing tests and values outside [0, 1] are treated as by `holm`.
    Source: Benjamini & Hochberg 1995, Journal of the Royal Statistical Society B 57, 289-300.
    """
    ordered = _in_order(p_values)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 1.0
    for rank, (p, place) in reversed([*enumerate(ordered, start=1)]):
        least = min(least, len(ordered) / rank * p)
        adjusted[place] = least
    return adjusted


def _in_order(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    """Return the p-values of the tests that were made, from the least on, with their places."""
    ordered = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    if not all(0 <= p <= 1 for p, _ in ordered):
        raise ValueError("a p-value is outside 0 to 1")
    return ordered
