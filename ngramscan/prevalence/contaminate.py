"""Entries of a benchmark × indexes → how much of each entry is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ngramscan.indexes.base import Index, IndexSize, QueryFailure
from ngramscan.prevalence.contamination_rules import Rule

Verdict = Literal["clean", "suspicious", "dirty"]
UNION = "union"
"""The name of all indexes together, where there are several."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a benchmark."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """How much of one entry occurs in one index, or in any of them (`union`)."""

    index: str
    rule: str
    """The rule with all its choices."""
    id: str
    windows: int
    asked: int
    """Windows of which it is known whether they occur."""
    found: int
    """Windows that occur."""
    eta: float | None
    """Share of the windows that occur; None: not all were asked, or there are none."""
    eta_low: float | None
    """The share if no window that was not asked occurs; None: there are no windows."""
    eta_high: float | None
    """The share if all of them do."""
    verdict: Verdict | None
    """None: both bounds of the share don't agree, or there are no windows."""
    rarest: str | None
    """Of the windows found, the one with the fewest occurrences, the first of these; None: no
    window was found, and in the union."""
    rarest_occurrences: int | None
    longest_run: int
    """Characters from the first to the last of successive windows found that overlap or touch."""
    note: str = ""
    """Why there is no verdict; that the whole entry is one window."""


@dataclass(frozen=True, slots=True)
class ContaminateResult:
    """The entries of a benchmark in some indexes."""

    rows: list[EntryRow] = field(default_factory=list)
    """In the order of the indexes, the union last, then of the entries."""
    missing: list[QueryFailure] = field(default_factory=list)
    """Windows that could not be counted."""
    sizes: dict[str, IndexSize] = field(default_factory=dict)


def run_contaminate(
    entries: Sequence[Entry],
    rule: Rule,
    indexes: Sequence[Index],
    seed: int = 1,
    decide: bool = False,
) -> ContaminateResult:
    """Look for the windows of all entries in each index.

    With `decide`, windows of an entry are asked only until its verdict is known.
    """
    raise NotImplementedError


def queries_of(entries: Sequence[Entry], rule: Rule, seed: int) -> Mapping[str, Sequence[str]]:
    """Return the distinct strings that are looked for, by entry."""
    raise NotImplementedError
