"""The requests, bytes, time and money that a command takes, before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ngramscan.indexes.base import PUBLIC_RATE, TOKEN_RATE, Cost, Index
from ngramscan.indexes.scan.index import ScanIndex

DOLLARS_PER_REQUEST, DOLLARS_PER_BYTE = 0.0004 / 1000, 0.09 / 1e9
"""Prices of Amazon S3 in us-east-1 in 2025 (aws.amazon.com/s3/pricing): GET requests, and bytes to
the internet; bytes within the region are free. The owner of a public bucket pays for both, unless
the bucket has the requester pay."""

REQUESTS_PER_LOOKUP, REQUESTS_PER_WINDOW = 3, 2
"""At most, to a token-level service: both n-grams of a text, and what the second one is; a document
with either n-gram, or with and without it."""


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
    """HH:MM:SS: at 4 requests per second for services, 1 for infini-gram, or at 30 ms per request
    in place; None: not known, for corpora that are read and local indexes."""
    dollars_in_region: float
    """The bill for a bucket of Amazon S3; 0 for an index that is not in place."""
    dollars_to_internet: float


def make_plan(
    patterns: int, lookups: Sequence[str], windows: int, context: int, indexes: Iterable[Index]
) -> list[PlanRow]:
    """Return what it takes to look up some texts and fetch windows, at most, in each index."""
    rows = []
    for index in indexes:
        asked, shown, cost, price = len(lookups), windows, Cost(), 0.0
        if isinstance(index, ScanIndex):
            # Windows are read once more.
            asked, shown, cost = 0, 0, Cost(bytes=index.file_bytes * (2 if windows else 1))
        elif index.name.startswith("fm9:"):
            from ngramscan.indexes.in_place import InPlaceIndex  # slow, and needs an extra

            if isinstance(index, InPlaceIndex):
                price, cost = DOLLARS_PER_REQUEST, index.cost(lookups, windows, context)
        elif index.name.startswith("infini-gram:"):
            requests = asked * REQUESTS_PER_LOOKUP + shown * REQUESTS_PER_WINDOW
            cost = Cost(requests, requests, seconds=requests / TOKEN_RATE)
        elif not index.name.startswith("tokens:"):
            cost = Cost(asked + shown, asked + shown, seconds=(asked + shown) / PUBLIC_RATE)
        seconds, in_region = round(cost.seconds), cost.requests * price
        clock = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        duration = clock if price or cost.seconds else None
        to_internet = in_region + cost.bytes * DOLLARS_PER_BYTE * bool(price)
        dollars = round(in_region, 4), round(to_internet, 4)
        estimates = cost.requests_at_most, cost.requests, cost.bytes, duration
        rows.append(PlanRow(index.name, patterns, asked, shown, *estimates, *dollars))
    return rows
