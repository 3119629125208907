"""The longest matches of texts in documents, in bounded time for repetitive documents, too.

Each place of texts and documents gets a rank by its next eight bytes, then by 16, 32 and so on, as
long as a text shares that many with a document; only places that share them are sorted again. The
best match of a place in a text is its neighbour in this order. So the time is proportional to the
length of texts and documents times the logarithm of the longest match, not to the number of
matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ngramscan.matching.excerpts import MOST_WIDE
from ngramscan.matching.halving import are_few, longest_by_halving
from ngramscan.matching.seeds import (
    WORD_BYTES,
    Booleans,
    Integers,
    SeedTable,
    Words,
    longest_of_pairs,
    same_bytes,
)

Ranks = NDArray[np.int32]
_BETWEEN = b"\xff"
"""Follows each text and document; never part of UTF-8."""
_AT_ONCE = 1 << 22
"""Bytes of texts and of documents that are sorted together; takes some 50 times the memory."""
_PAIRS_PER_BYTE = 2
"""Pairs of windows and places that are compared for each byte of texts and documents."""


def longest_matches(
    texts: Sequence[bytes], windows: Sequence[Integers], documents: Sequence[bytes]
) -> list[Integers]:
    """Return the length of the longest match at the start of each window, in bytes.

    If no document contains the whole window, the result may be too small, down to 0.

    Parameters
    ----------
    texts : sequence of bytes
        Texts in UTF-8.
    windows : sequence of arrays, shape (n_windows, 2)
        For each text, the start and the end of its windows, in the order of the starts.
    documents : sequence of bytes
        The documents; some may not be UTF-8.
    """
    lengths = [np.zeros(len(windows_of_text), np.int64) for windows_of_text in windows]
    compared, document_bytes = list[int](), sum(map(len, documents))
    for number, windows_of_text in enumerate(windows):
        if not len(windows_of_text):
            continue
        if are_few(texts[number], windows_of_text, document_bytes):
            lengths[number] = longest_by_halving(texts[number], windows_of_text, documents)
        else:
            compared.append(number)
    for text_group in _groups([texts[number] for number in compared], _AT_ONCE):
        numbers = compared[text_group.start : text_group.stop]
        texts_together = _Joined([texts[n] for n in numbers], [windows[n] for n in numbers])
        longest = np.zeros(len(texts_together.starts), np.int64)
        for others in _groups(documents, max(_AT_ONCE, len(texts_together.content))):
            group = documents[others.start : others.stop]
            longest = np.maximum(longest, _longest_in(texts_together, group))
        longest = np.minimum(longest, texts_together.stops - texts_together.starts)
        ends = np.cumsum([len(windows[number]) for number in numbers])
        for number, of_text in zip(numbers, np.split(longest, ends[:-1]), strict=True):
            lengths[number] = of_text
    return lengths


def _groups(texts: Sequence[bytes], at_once: int) -> Iterator[range]:
    """Yield ranges of successive texts with about this many bytes in all."""
    first, size = 0, 0
    for number, text in enumerate(texts):
        size += len(text)
        if size >= at_once:
            yield range(first, number + 1)
            first, size = number + 1, 0
    if first < len(texts):
        yield range(first, len(texts))


class _Joined:
    """Joined texts, with all their windows."""

    def __init__(self, texts: Sequence[bytes], windows: Sequence[Integers]) -> None:
        self.content = b"".join(text + _BETWEEN for text in texts)
        sizes = [len(windows_of_text) for windows_of_text in windows]
        lengths = (len(text) + len(_BETWEEN) for text in texts)
        self.begins = np.array([*accumulate(lengths, initial=0)])
        """Where each text begins, followed by the total length."""
        self.texts = np.repeat(np.arange(len(texts)), sizes)
        """The number of the text of each window."""
        places = np.concatenate([np.zeros((0, 2), np.int64), *windows]).astype(np.int64)
        self.starts = places[:, 0] + self.begins[self.texts]
        self.sizes = places[:, 1] - places[:, 0]
        self.stops = self.begins[self.texts + 1] - 1
        """Where the text of each window ends."""


def _longest_in(texts_together: _Joined, documents: Sequence[bytes]) -> Integers:
    """Return the lengths of the longest matches in some documents.

    Usually few places of documents begin like a window, and are compared one by one. Repetitive
    texts and documents have many such places; then all places are sorted.
    """
    joined_documents = _BETWEEN.join(documents)
    first_document = len(texts_together.content)
    data = texts_together.content + joined_documents + MOST_WIDE * _BETWEEN
    in_data = slice(first_document, first_document + len(joined_documents))
    table = SeedTable(data, texts_together.starts, texts_together.sizes, in_data)
    is_compared = _are_few(texts_together, table.candidates, _PAIRS_PER_BYTE * len(data))
    words = np.ndarray((len(data) - WORD_BYTES + 1,), ">u8", data, strides=(1,))
    pairs = table.pairs(is_compared)
    longest = longest_of_pairs(data, words, texts_together.starts, texts_together.stops, pairs)
    if not is_compared.all():
        places = table.places_of(~is_compared) - first_document
        ends = np.cumsum([len(document) + len(_BETWEEN) for document in documents])
        numbers = np.unique(np.searchsorted(ends, places, "right")).tolist()
        repeated = [documents[number] for number in numbers]
        longest[~is_compared] = _ordered_longest(texts_together, ~is_compared, repeated)
    return longest


def _ordered_longest(
    texts_together: _Joined, is_chosen: Booleans, documents: Sequence[bytes]
) -> Integers:
    """Return the longest matches of chosen windows, by sorting all places."""
    texts = np.unique(texts_together.texts[is_chosen])
    begins, ends = texts_together.begins[texts], texts_together.begins[texts + 1]
    content = b"".join(
        texts_together.content[begin:end] for begin, end in zip(begins, ends, strict=True)
    )
    # How far each text is moved to the front.
    moved = begins - (np.cumsum(ends - begins) - (ends - begins))
    numbers = np.searchsorted(texts, texts_together.texts[is_chosen])
    starts = texts_together.starts[is_chosen] - moved[numbers]
    return _Ordered(content, _BETWEEN.join(documents)).longest_from(starts)


def _are_few(texts_together: _Joined, candidates: Integers, most: int) -> Booleans:
    """Return which windows are of texts with few candidates, at most `most` in all.

    Where the next start of the text is far, more than its first bytes are compared.
    """
    is_within = np.append(texts_together.texts[1:] == texts_together.texts[:-1], False)[
        : len(candidates)
    ]
    to_next = np.append(texts_together.starts[1:], 0)[: len(candidates)]
    compared = np.where(is_within, to_next, texts_together.stops) - texts_together.starts
    work = np.bincount(texts_together.texts, candidates * (1 + compared // MOST_WIDE))
    order = np.argsort(work)
    is_few = np.zeros(len(work), np.bool_)
    is_few[order] = np.cumsum(work[order]) <= most
    of_windows: Booleans = is_few[texts_together.texts]
    return of_windows


class _Ordered:
    """Texts followed by documents, with the ranks of their places."""

    def __init__(self, texts: bytes, documents: bytes) -> None:
        self._first_document = len(texts)
        data = texts + documents + WORD_BYTES * _BETWEEN
        self._words = np.ndarray((len(data) - WORD_BYTES + 1,), ">u8", data, strides=(1,))

    def longest_from(self, starts: Integers) -> Integers:
        """Return the length of the longest match at each start; it may go past a text's end."""
        levels = self._levels()
        ranks = levels[-1]
        place_of = np.full(len(ranks), -1, np.int64)
        place_of[ranks[self._first_document :]] = np.arange(self._first_document, len(ranks))
        in_documents = np.flatnonzero(place_of >= 0)
        following = np.searchsorted(in_documents, ranks[starts])
        last = len(in_documents) - 1
        return np.maximum(
            *(
                self._shared(levels, starts, place_of[in_documents[np.clip(neighbour, 0, last)]])
                for neighbour in (following - 1, following)
            )
        )

    def _levels(self) -> list[Ranks]:
        """Return the ranks of all places by 8, 16, 32... bytes: while texts share as many.

        A rank is the number of places before those that are alike. Places keep theirs if texts
        alone or documents alone have it: what these share with each other doesn't matter.
        """
        ranks = rank_keys(self._words.astype(np.uint64))
        levels, width = [ranks], WORD_BYTES
        places = self._shared_places(ranks, np.arange(len(ranks)))
        while width < self._first_document and len(places):
            before, last = levels[-1], len(self._words) - 1
            next_ranks = before[np.minimum(places + width, last)].astype(np.int64) + 1
            next_ranks[places + width > last] = 0
            old = before[places].astype(np.int64)
            ranks = before.copy()
            number = np.bincount(old, minlength=len(before))
            n_before = np.cumsum(number) - number
            # As many as before, and those that were alike and now come before.
            ranks[places] = old + rank_keys(old * (len(before) + 1) + next_ranks) - n_before[old]
            levels.append(ranks)
            places = self._shared_places(ranks, places)
            width *= 2
        return levels

    def _shared_places(self, ranks: Ranks, places: Integers) -> Integers:
        """Return the places whose rank occurs both in a text and in a document."""
        is_in_texts, is_in_documents = np.zeros((2, len(ranks)), np.bool_)
        ranked = ranks[places]
        n_in_texts = np.searchsorted(places, self._first_document)
        is_in_texts[ranked[:n_in_texts]] = True
        is_in_documents[ranked[n_in_texts:]] = True
        shared: Integers = places[(is_in_texts & is_in_documents)[ranked]]
        return shared

    def _shared(self, levels: Sequence[Ranks], places: Integers, others: Integers) -> Integers:
        """Return the lengths of the common prefixes of pairs of places."""
        shared, last = np.zeros(len(places), np.int64), len(self._words) - 1
        for level, ranks in reversed([*enumerate(levels)]):
            ends, other_ends = (np.minimum(column + shared, last) for column in (places, others))
            shared += np.where(ranks[ends] == ranks[other_ends], WORD_BYTES << level, 0)
        ends, other_ends = (np.minimum(column + shared, last) for column in (places, others))
        return shared + same_bytes(self._words[ends], self._words[other_ends])


def rank_keys(keys: Integers | Words) -> Ranks:
    """Return, for each key, the number of smaller keys."""
    order = np.argsort(keys)
    ordered = keys[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    ranks = np.empty(len(keys), np.int32)
    ranks[order] = np.maximum.accumulate(np.where(is_first, np.arange(len(keys)), 0))
    return ranks
