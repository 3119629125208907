"""Places of one text that are followed by the same bytes: a suffix order with common prefixes.

A repetitive text has few distinct substrings of any length, so a search result for one place holds
for all places that share enough bytes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ngramscan.matching.longest import rank_keys
from ngramscan.matching.seeds import WORD_BYTES, Integers, same_bytes


class AlikePlaces:
    """Some places of a text, sorted by the suffixes that start there."""

    def __init__(self, content: bytes, places: Integers) -> None:
        levels = _levels(content)
        self.order = np.argsort(levels[-1][places], kind="stable")
        """The numbers of the places, sorted by suffix."""
        self.ranks = np.argsort(self.order)
        """Rank of each place, by its number."""
        ordered = places[self.order]
        self.shared_with_next = _shared(content, levels, ordered[:-1], ordered[1:])
        """By rank, the length of the common prefix with the next suffix, in bytes."""
        self._rest = len(content) - places

    def sharing(self, number: int, size: int) -> Iterator[int]:
        """Yield the numbers of the other places that share at least this many bytes."""
        rank = int(self.ranks[number])
        order, shared = self._lists
        for before in range(rank - 1, -1, -1):
            if shared[before] < size:
                break
            yield order[before]
        for following in range(rank + 1, len(order)):
            if shared[following - 1] < size:
                break
            yield order[following]

    @cached_property
    def _lists(self) -> tuple[list[int], list[int]]:
        """The order and the shared bytes as lists, whose items are read faster one by one."""
        return self.order.tolist(), self.shared_with_next.tolist()

    def shared_with(self, number: int) -> Integers:
        """Return, for each place, the length of its common prefix with one of them, in bytes."""
        rank = int(self.ranks[number])
        shared = np.zeros(len(self.order), np.int64)
        shared[:rank] = np.minimum.accumulate(self.shared_with_next[:rank][::-1])[::-1]
        shared[rank] = self._rest[number]
        shared[rank + 1 :] = np.minimum.accumulate(self.shared_with_next[rank:])
        by_number: Integers = shared[self.ranks]
        return by_number


def _levels(content: bytes) -> Sequence[Integers]:
    """Return the ranks of all places and the end by 8, 16, 32... bytes, until they all differ."""
    words = np.ndarray((len(content) + 1,), ">u8", content + WORD_BYTES * b"\xff", strides=(1,))
    levels, width = [rank_keys(words.astype(np.uint64)).astype(np.int64)], WORD_BYTES
    while width < len(content) and len(np.unique(levels[-1])) <= len(content):
        ranks = levels[-1]
        next_ranks = np.append(ranks[width:] + 1, np.zeros(width, np.int64))
        levels.append(rank_keys(ranks * (len(ranks) + 1) + next_ranks).astype(np.int64))
        width *= 2
    return levels


def _shared(
    content: bytes, levels: Sequence[Integers], places: Integers, others: Integers
) -> Integers:
    """Return the lengths of the common prefixes of pairs of suffixes."""
    shared, end = np.zeros(len(places), np.int64), len(content)
    for level, ranks in reversed([*enumerate(levels)]):
        ends, other_ends = (
            np.minimum(columns_of_places + shared, end) for columns_of_places in (places, others)
        )
        shared += np.where(ranks[ends] == ranks[other_ends], WORD_BYTES << level, 0)
    words = np.ndarray((end + 1,), ">u8", content + WORD_BYTES * b"\xff", strides=(1,))
    ends, other_ends = (
        np.minimum(columns_of_places + shared, end) for columns_of_places in (places, others)
    )
    shared += same_bytes(words[ends], words[other_ends])
    np.minimum(shared, end - np.maximum(places, others), out=shared)
    return shared
