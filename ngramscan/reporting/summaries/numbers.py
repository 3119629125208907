"""Short numbers for summary tables, and their units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ngramscan.messages import counted
from ngramscan.reporting.layout import UNKNOWN

LEAST_BYTES = 1_000_000
"""Minimum bytes of a corpus for a meaningful rate per gigabyte."""
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_WHOLE = 10_000
"""From here on, numbers are abbreviated by a letter, as in 12k."""


@dataclass(frozen=True, slots=True)
class ScaledUnit:
    """A unit in which numbers are easy to read."""

    name: str
    factor: float
    """The number by which values in the usual unit are multiplied."""


PER_GIGABYTE = ScaledUnit("per gigabyte", 1.0)
_PER_TERABYTE = ScaledUnit("per terabyte", 1000.0)
_SIZES = (
    ScaledUnit("TB", 1e-12),
    ScaledUnit("GB", 1e-9),
    ScaledUnit("MB", 1e-6),
    ScaledUnit("kB", 1e-3),
)


def rate_unit(per_gigabyte: Iterable[float | None]) -> ScaledUnit:
    """Return the unit per gigabyte, or per terabyte if all rates are below 1 per gigabyte."""
    largest = max((value for value in per_gigabyte if value is not None), default=1)
    return PER_GIGABYTE if largest >= 1 or largest == 0 else _PER_TERABYTE


def size_unit(sizes: Iterable[int]) -> ScaledUnit:
    """Return the unit of bytes in which the smallest of some sizes is at least 0.1."""
    smallest = min(sizes, default=0)
    return next((unit for unit in _SIZES if smallest * unit.factor >= 0.1), _SIZES[-1])


def short_number(value: float | None) -> str:
    """Return a number of at most five characters, with three digits where there is room."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    if value < 0.005:
        return "<0.01"
    if value >= _WHOLE - 0.5:
        factor, letter = next(pair for pair in _LARGE if value >= pair[0] * 0.9995)
        return f"{_three_digits(value / factor)}{letter}"
    return _three_digits(value)


def short_count(value: float | None) -> str:
    """Return a count in at most five characters, unabbreviated if it fits."""
    if value is None or value >= _WHOLE - 0.5 or value != int(value):
        return short_number(value)
    return f"{value:,.0f}"


def left_out_note(n: int, nowhere: int, *, is_all: bool = False) -> str:
    """Return a note: how many phrases a table leaves out, and how many of them occur nowhere.

    `is_all` means that the table has no phrase at all.
    """
    if n <= 0:
        return ""
    more = counted(n, "phrase" if is_all else "more phrase")
    occur = "occurs nowhere" if nowhere == 1 else "occur nowhere"
    if nowhere == n:
        return f"{more} {occur}"
    return f"{more}, of which {nowhere:,} {occur}" if nowhere else more


def _three_digits(value: float) -> str:
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
