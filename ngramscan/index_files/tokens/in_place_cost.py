"""The expected work of searches in a shard in place."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from ngramscan.index_files.tokens.in_place_search import NEAR_RANKS, TEXT_BYTES, levels_ahead

_FIRST_LEVELS, _OTHER_LEVELS = 9, 6
"""Levels of a search after which the first token of an n-gram is found, and each other one: the
bits of information that tokens of a text have, about."""
_CHECKED = 2
"""Suffixes next to a place that are read to check their order, without those that were pivots."""

TokenNgrams = Collection[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class SearchCost:
    """The requests, bytes and rounds of some searches."""

    requests: float
    bytes: float
    rounds: int


def expect_intervals(ngrams: TokenNgrams, level: int) -> int:
    """Return the intervals in which the ends of n-grams are searched at a level, as expected.

    N-grams that begin with the same tokens are in the same interval for some levels. Those that
    have been found have an interval for each of their ends.
    """
    tokens = 1 + max(0, level - _FIRST_LEVELS + _OTHER_LEVELS) // _OTHER_LEVELS
    beginnings = {ngram[:tokens] for ngram in ngrams}
    both_ends = sum(1 for beginning in beginnings if len(beginning) < tokens)
    return min(1 << level, len(beginnings) + both_ends)


def intervals_at_most(ngrams: TokenNgrams, level: int) -> int:
    """Return the most intervals in which the ends of n-grams can be searched at a level."""
    return min(1 << level, 2 * len(ngrams))


def expect_search(
    ranks: int,
    pointer_bytes: int,
    ngrams: TokenNgrams,
    requests_per_round: int,
    intervals_of: Callable[[TokenNgrams, int], int],
) -> SearchCost:
    """Return the cost of searching n-grams in a table, by the intervals at each level."""
    size, level, requests, size_bytes, rounds = ranks, 0, 0, 0.0, 0
    is_near = False
    while size >= 1 and ngrams:
        intervals = intervals_of(ngrams, level)
        if size <= NEAR_RANKS and not is_near:
            # The pointers of an interval are in one block or two, which are one request.
            is_near, rounds = True, rounds + 1
            requests += intervals
            size_bytes += 1.5 * intervals * min(NEAR_RANKS, ranks) * pointer_bytes
        levels = levels_ahead(requests_per_round, intervals)
        pivots = intervals * min((1 << levels) - 1, size)
        requests += pivots if is_near else 2 * pivots
        size_bytes += pivots * (TEXT_BYTES if is_near else TEXT_BYTES + pointer_bytes)
        rounds += 1 if is_near else 2
        size >>= levels
        level += levels
    checked = _CHECKED * intervals_of(ngrams, level)
    return SearchCost(requests + checked, size_bytes + checked * TEXT_BYTES, rounds + 1)
