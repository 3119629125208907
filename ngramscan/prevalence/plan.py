"""The requests, bytes and time that a command takes, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ngramscan.indexes.base import Cost, Index, ReadsDocuments


@dataclass(frozen=True, slots=True)
class PlanRow:
    """The work that some patterns take in one index."""

    index: str
    patterns: int
    """Patterns, or different windows of entries."""
    lookups: int
    """Texts whose places are looked up."""
    windows_at_most: int
    """Windows on documents."""
    requests_at_most: int
    requests: int
    """As many as they probably take; for index files in place an estimate from the lengths of the
    texts."""
    bytes: int
    """Bytes to read, also probably; replies of services are not counted."""
    duration: str | None
    """HH:MM:SS: at the requests per second of `--rate`, by default 4 for infini-gram-mini and for
    other hosts, 1 for infini-gram, and 30 ms per request in place; None: not known, for corpora
    that are read and local indexes."""
    dollars: float | None
    """The charge of Amazon S3 for the requests and bytes, at prices of us-east-1 in 2025 and to the
    internet: with `--requester-pays` to the reader where the bucket's owner wants that, otherwise
    to the owner; None: not an index in place on S3."""


def make_plan(
    patterns: int, lookups: Sequence[str], windows: int, context: int, indexes: Iterable[Index]
) -> list[PlanRow]:
    """Return the highest cost of looking up some texts and fetching windows, in each index."""
    rows = []
    for index in indexes:
        cost, is_read = index.cost(lookups, windows, context), isinstance(index, ReadsDocuments)
        lookups_and_windows = (0, 0) if is_read else (len(lookups), windows)
        rows.append(make_row(index, patterns, *lookups_and_windows, cost))
    return rows


def make_row(index: Index, patterns: int, lookups: int, windows: int, cost: Cost) -> PlanRow:
    """Return the row of an index for a cost that is known."""
    return PlanRow(
        index=index.name,
        patterns=patterns,
        lookups=lookups,
        windows_at_most=windows,
        requests_at_most=cost.requests_at_most,
        requests=cost.requests,
        bytes=cost.bytes,
        duration=cost.duration if cost.requests else None,
        dollars=float(f"{cost.dollars:.3g}") if cost.dollars else None,
    )
