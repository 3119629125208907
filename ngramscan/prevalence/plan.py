"""What counting or reading takes, before anything is asked: requests, bytes, time and money."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ngramscan.indexes.base import Index

DOLLARS_PER_REQUEST, DOLLARS_PER_BYTE = 0.0004 / 1000, 0.09 / 1e9
"""Of Amazon S3 in us-east-1 in 2025 (aws.amazon.com/s3/pricing): GET requests, and bytes to the
internet; bytes within the region are free. The owner of a public bucket pays both, unless he has
the requester pay."""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What some patterns take in one index."""

    index: str
    patterns: int
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
    duration: str
    """HH:MM:SS: at 4 requests per second for services, or at 30 ms per request in place; of
    corpora that are read, and of local indexes, it is not known, but 0."""
    dollars_in_region: float
    """What it costs whoever pays for a bucket of Amazon S3; 0 for what is not in place."""
    dollars_to_internet: float


def make_plan(
    patterns: int, lookups: Sequence[str], windows: int, context: int, indexes: Iterable[Index]
) -> list[PlanRow]:
    """Return what it takes to look up some texts and fetch windows, at most, in each index."""
    rows = []
    for index in indexes:
        cost = index.cost(lookups, windows, context)
        asked = (len(lookups), windows) if cost.requests else (0, 0)
        requests, size = (cost.requests, cost.bytes) if cost.is_in_place else (0, 0)
        in_region = requests * DOLLARS_PER_REQUEST
        money = round(in_region, 4), round(in_region + size * DOLLARS_PER_BYTE, 4)
        seconds = round(cost.seconds)
        clock = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        takes = cost.requests_at_most, cost.requests, cost.bytes, clock
        rows.append(PlanRow(index.name, patterns, *asked, *takes, *money))
    return rows
