"""Places of one text from which it goes on in the same way.

A text that repeats itself has few different parts of any length: what is learned of one is true of
all the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ngramscan.matching.longest import rank_keys
from ngramscan.matching.seeds import WORD_BYTES, Integers, same_bytes


class AlikePlaces:
    """Some places of a text, in the order of the text from there on."""

    def __init__(self, content: bytes, places: Integers) -> None:
        levels = _levels(content)
        order = np.argsort(levels[-1][places], kind="stable")
        self._order: list[int] = order.tolist()
        self._rank: list[int] = np.argsort(order).tolist()
        self._rest: list[int] = (len(content) - places).tolist()
        ordered = places[order]
        shared = _shared(content, levels, ordered[:-1], ordered[1:])
        self._shared = shared
        self._shared_with_next: list[int] = shared.tolist()

    def sharing(self, number: int, size: int) -> Iterator[int]:
        """Yield the numbers of the other places from which so many bytes are the same."""
        rank = self._rank[number]
        for before in range(rank - 1, -1, -1):
            if self._shared_with_next[before] < size:
                break
            yield self._order[before]
        for behind in range(rank + 1, len(self._order)):
            if self._shared_with_next[behind - 1] < size:
                break
            yield self._order[behind]

    def shared_with(self, number: int) -> Integers:
        """Return for each place how many bytes are the same from there as from one of them."""
        rank = self._rank[number]
        shared = np.zeros(len(self._order), np.int64)
        shared[:rank] = np.minimum.accumulate(self._shared[:rank][::-1])[::-1]
        shared[rank] = self._rest[number]
        shared[rank + 1 :] = np.minimum.accumulate(self._shared[rank:])
        by_number = np.empty_like(shared)
        by_number[self._order] = shared
        return by_number


def _levels(content: bytes) -> Sequence[Integers]:
    """Return the ranks of all places and the end by 8, 16, 32... bytes, until they all differ."""
    words = np.ndarray((len(content) + 1,), ">u8", content + WORD_BYTES * b"\xff", strides=(1,))
    levels, width = [rank_keys(words.astype(np.uint64)).astype(np.int64)], WORD_BYTES
    while width < len(content) and len(np.unique(levels[-1])) <= len(content):
        ranks = levels[-1]
        behind = np.append(ranks[width:] + 1, np.zeros(width, np.int64))
        levels.append(rank_keys(ranks * (len(ranks) + 1) + behind).astype(np.int64))
        width *= 2
    return levels


def _shared(
    content: bytes, levels: Sequence[Integers], places: Integers, others: Integers
) -> Integers:
    """Return how many bytes are the same from each place and from another one on."""
    shared, end = np.zeros(len(places), np.int64), len(content)
    for level, ranks in reversed([*enumerate(levels)]):
        here, there = (np.minimum(each + shared, end) for each in (places, others))
        shared += np.where(ranks[here] == ranks[there], WORD_BYTES << level, 0)
    words = np.ndarray((end + 1,), ">u8", content + WORD_BYTES * b"\xff", strides=(1,))
    here, there = (np.minimum(each + shared, end) for each in (places, others))
    shared += same_bytes(words[here], words[there])
    np.minimum(shared, end - np.maximum(places, others), out=shared)
    return shared
