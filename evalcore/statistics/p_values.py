"""A p-value and how it was found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PValue:
    """The two-sided p-value of a test."""

    value: float
    """In [0, 1], in full; 0 if below the least float. Exact unless `procedure` says otherwise."""
    procedure: str
    """The name of the test and of the way the p-value was computed."""
    n: int
    """How many pairs or problems had a say: those that differ."""
    standard_error: float | None = None
    """Of `value`, where it was estimated by random draws; None where it was computed."""
    note: str = ""
    """What a reader must know about it, empty in the ordinary case."""
