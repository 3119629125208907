"""The expected work of searches in a shard in place."""

from __future__ import annotations

from dataclasses import dataclass

from ngramscan.index_files.tokens.in_place_search import NEAR_RANKS, TEXT_BYTES, levels_ahead

_CHECKED = 2
"""Suffixes next to a place that are read to check their order, without those that were pivots."""


@dataclass(frozen=True, slots=True)
class SearchCost:
    """The requests, bytes and rounds of some searches."""

    requests: float
    bytes: float
    rounds: int


def expect_search(
    ranks: int, pointer_bytes: int, searches: int, requests_per_round: int
) -> SearchCost:
    """Return the cost of some searches for places in a table that are all far from each other.

    On each level there are at most twice as many intervals as on the one before, and at most as
    many as searches.
    """
    size, intervals, requests, size_bytes, rounds = ranks, min(1, searches), 0.0, 0.0, 0
    is_near = False
    while size >= 1 and intervals:
        if size <= NEAR_RANKS and not is_near:
            # The pointers of an interval are in one block or two, which are one request.
            is_near, rounds = True, rounds + 1
            requests += intervals
            size_bytes += 1.5 * intervals * min(NEAR_RANKS, ranks) * pointer_bytes
        levels = levels_ahead(requests_per_round, intervals)
        pivots = sum(min(intervals << level, intervals * size) for level in range(levels))
        requests += pivots if is_near else 2 * pivots
        size_bytes += pivots * (TEXT_BYTES if is_near else TEXT_BYTES + pointer_bytes)
        rounds += 1 if is_near else 2
        size >>= levels
        intervals = min(searches, intervals << levels)
    requests += _CHECKED * intervals
    size_bytes += _CHECKED * intervals * TEXT_BYTES
    return SearchCost(requests, size_bytes, rounds + 1)
