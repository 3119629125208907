"""The longest parts of texts that occur in documents, however often these repeat themselves.

Each place of texts and documents gets a rank, by the eight bytes from there on, then by twice as
many again and again, as long as a text shares so much with a document; only places that share it
are ordered anew. The document's place that shares most with a text's is next to it in this order.
So the time grows with the length of what is compared, times the logarithm of the longest shared
part, and not with the number of matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Ranks = NDArray[np.int32]
_BETWEEN = b"\xff"
"""Behind each text and document; no text in UTF-8 has it."""
_WORD_BYTES = 8
_AT_ONCE = 1 << 23
"""Bytes of texts and of documents that are ordered together: some 50 times as much memory."""


def longest_matches(
    texts: Sequence[bytes], starts: Sequence[Integers], documents: Sequence[bytes]
) -> list[Integers]:
    """Return, for each start in each text, the bytes of the longest part that a document has.

    Parameters
    ----------
    texts : sequence of bytes
        Texts in UTF-8.
    starts : sequence of arrays
        For each text, the places in it where parts begin.
    documents : sequence of bytes
        The documents; some may not be UTF-8.
    """
    lengths: list[Integers] = []
    for some in _groups(texts, _AT_ONCE):
        joined, placed = _join_texts(texts[some.start : some.stop], starts[some.start : some.stop])
        longest = np.zeros(len(placed), np.int64)
        for others in _groups(documents, max(_AT_ONCE, len(joined))):
            shown = _BETWEEN.join(documents[others.start : others.stop])
            longest = np.maximum(longest, _Ordered(joined, shown).longest_from(placed))
        sizes = [len(each) for each in starts[some.start : some.stop]]
        parts = np.split(longest, np.cumsum(sizes)[:-1])
        lengths += [
            np.minimum(part, len(texts[number]) - starts[number])
            for number, part in zip(some, parts, strict=True)
        ]
    return lengths


def _groups(texts: Sequence[bytes], at_once: int) -> Iterator[range]:
    """Yield the numbers of successive texts that together have about so many bytes."""
    first, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= at_once:
            yield range(first, number + 1)
            first, size = number + 1, 0
    if first < len(texts):
        yield range(first, len(texts))


def _join_texts(texts: Sequence[bytes], starts: Iterable[Integers]) -> tuple[bytes, Integers]:
    """Return texts as one, and all starts in it."""
    firsts = accumulate((len(text) + len(_BETWEEN) for text in texts), initial=0)
    placed = [each + first for each, first in zip(starts, firsts, strict=False)]
    return b"".join(text + _BETWEEN for text in texts), np.concatenate(placed)


class _Ordered:
    """Texts and documents behind them, with the ranks of their places."""

    def __init__(self, texts: bytes, documents: bytes) -> None:
        self._first_document = len(texts)
        data = texts + documents + _WORD_BYTES * _BETWEEN
        self._words = np.ndarray((len(data) - _WORD_BYTES + 1,), ">u8", data, strides=(1,))

    def longest_from(self, starts: Integers) -> Integers:
        """Return how many bytes from each start on a document has, or more behind a text's end."""
        levels = self._levels()
        ranks = levels[-1]
        place_of = np.full(len(ranks), -1, np.int64)
        place_of[ranks[self._first_document :]] = np.arange(self._first_document, len(ranks))
        in_documents = np.flatnonzero(place_of >= 0)
        following = np.searchsorted(in_documents, ranks[starts])
        last = len(in_documents) - 1
        return np.maximum(
            *(
                self._shared(levels, starts, place_of[in_documents[np.clip(beside, 0, last)]])
                for beside in (following - 1, following)
            )
        )

    def _levels(self) -> list[Ranks]:
        """Return the ranks of all places by 8, 16, 32... bytes: while texts share as many.

        A rank is the number of places before those that are alike. Places keep theirs if texts
        alone or documents alone have it: what these share with each other doesn't matter.
        """
        ranks = _ranks(self._words.astype(np.uint64))
        levels, width = [ranks], _WORD_BYTES
        places = self._shared_places(ranks, np.arange(len(ranks)))
        while width < self._first_document and len(places):
            before, last = levels[-1], len(self._words) - 1
            behind = before[np.minimum(places + width, last)].astype(np.int64) + 1
            behind[places + width > last] = 0
            old = before[places].astype(np.int64)
            ranks = before.copy()
            number = np.bincount(old, minlength=len(before))
            n_before = np.cumsum(number) - number
            # As many as before, and those that were alike and now come before.
            ranks[places] = old + _ranks(old * (len(before) + 1) + behind) - n_before[old]
            levels.append(ranks)
            places = self._shared_places(ranks, places)
            width *= 2
        return levels

    def _shared_places(self, ranks: Ranks, places: Integers) -> Integers:
        """Return those of some places whose rank a text and a document have."""
        is_in_texts, is_in_documents = np.zeros((2, len(ranks)), np.bool_)
        ranked = ranks[places]
        n_in_texts = np.searchsorted(places, self._first_document)
        is_in_texts[ranked[:n_in_texts]] = True
        is_in_documents[ranked[n_in_texts:]] = True
        shared: Integers = places[(is_in_texts & is_in_documents)[ranked]]
        return shared

    def _shared(self, levels: Sequence[Ranks], places: Integers, others: Integers) -> Integers:
        """Return how many bytes are the same from each place and from another one on."""
        shared, last = np.zeros(len(places), np.int64), len(self._words) - 1
        for level, ranks in reversed([*enumerate(levels)]):
            here, there = (np.minimum(each + shared, last) for each in (places, others))
            shared += np.where(ranks[here] == ranks[there], _WORD_BYTES << level, 0)
        here, there = (np.minimum(each + shared, last) for each in (places, others))
        differing = self._words[here].astype(np.uint64) ^ self._words[there].astype(np.uint64)
        for size in range(1, _WORD_BYTES):
            shared += differing >> np.uint64(8 * (_WORD_BYTES - size)) == 0
        return shared


def _ranks(keys: Integers | Words) -> Ranks:
    """Return for each key how many are smaller."""
    order = np.argsort(keys)
    ordered = keys[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    ranks = np.empty(len(keys), np.int32)
    ranks[order] = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    return ranks
