"""Tens of thousands of literals in one pass.

A gram is 32 bytes, and has a hash. Texts are hashed only at every eighth byte, from four numbers of
64 bits: a literal of 39 bytes or more contains a gram that begins at such a byte, wherever the
literal is. So each literal needs a gram for each remainder of its position modulo eight. Shorter
literals have grams of 16 bytes. At nearly all places the hash belongs to no gram; numpy finds the
exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

GRAM_WORDS = (4, 2)
"""Numbers of 64 bits in a gram, of long literals and of others."""
_STEP = 8
# Odd and without pattern: bits of the golden ratio, and constants of xxHash.
_FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63], np.uint64
)
_MOST_OFFSETS = 32
"""Candidate grams per remainder, from which the rarest is taken."""
_MOST_BEHIND = 64
_TALLY_BITS = 22
_TABLES = 3
_PLACES_AT_ONCE = 1 << 15
"""Small enough for intermediate results to stay in the cache of a core."""
_ENTRIES_AT_ONCE = 1 << 20
_LITERALS_AT_ONCE = 1 << 15
"""Bounds the memory of intermediate results."""

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]


def least_bytes(gram_words: int) -> int:
    """Return the minimum length of literals for grams of this many words."""
    return 8 * gram_words + _STEP - 1


class Grams:
    """Literals of at least the minimum length, with a gram of each per remainder."""

    def __init__(self, literals: Sequence[bytes], gram_words: int) -> None:
        self._literals, self._gram_words = literals, gram_words
        self._sizes = np.array([len(literal) for literal in literals], np.int64)
        words, starts = _words(b"".join(literals)), np.cumsum(self._sizes) - self._sizes
        self._heads, self._tails = words[starts], words[starts + self._sizes - 8]
        hashes, offsets = _rarest(words, starts, self._sizes, gram_words)
        owners = np.repeat(np.arange(len(literals)), _STEP)
        # The word after the gram, or the last one of the literal.
        following = np.minimum(offsets + 8 * gram_words, self._sizes[owners] - 8)
        places = (owners * _MOST_OFFSETS + offsets) * _MOST_BEHIND + following - offsets
        entries = np.stack(
            [hashes, places.view(np.uint64), words[starts[owners] + following]], axis=1
        )
        self._entries = entries[np.argsort(hashes)]  # in one row, since rows are far apart
        # Each table has room for four times as many hashes, and is of other bits.
        bits = max(16, (4 * hashes.size).bit_length())
        self._mask = np.uint64((1 << bits) - 1)
        shifts = [np.uint64(64 - bits - 14 * number) for number in range(_TABLES)]
        self._tables = [(shift, np.zeros(1 << bits, np.bool_)) for shift in shifts]
        for shift, table in self._tables:
            table[hashes >> shift & self._mask] = True
        # Where the hashes with the same first bits begin.
        firsts = np.arange(1 << bits, dtype=np.uint64) << shifts[0]
        begins = np.searchsorted(self._entries[:, 0], firsts)
        self._buckets = np.append(begins, hashes.size).astype(np.int32)

    def find(self, texts: Sequence[bytes]) -> Mapping[int, list[tuple[int, int]]]:
        """Return the literal of each occurrence and its end, by the text that it is in."""
        together = b"".join(texts)
        ends = np.array([*accumulate(map(len, texts))], np.int64)
        places, hashes = self._places(together)
        buckets = (hashes >> self._tables[0][0]).view(np.int64)
        first = self._buckets[buckets].astype(np.int64)
        count = self._buckets[buckets + 1] - first
        literals_by_text: dict[int, list[tuple[int, int]]] = {}
        # A text that repeats one gram could be a candidate for all literals everywhere.
        parts = 1 + int(count.sum()) // _ENTRIES_AT_ONCE
        for part in np.array_split(np.flatnonzero(count), parts):
            columns = places[part], hashes[part], first[part], count[part]
            for text, literal, stop in self._occurrences(together, ends, *columns):
                literals_by_text.setdefault(text, []).append((literal, stop))
        return literals_by_text

    def _places(self, text: bytes) -> tuple[Integers, Words]:
        """Return the places of a text whose hashes may be those of grams, and their hashes."""
        words = np.frombuffer(text, "<u8", len(text) // 8)
        places, hashes = [], []
        # New arrays for each part would take as long as all that is computed.
        values, bits = (np.empty(_PLACES_AT_ONCE, np.uint64) for _ in range(2))
        is_gram = np.empty(_PLACES_AT_ONCE, np.bool_)
        (first, table), *others = self._tables
        last = len(words) - self._gram_words + 1
        for start in range(0, last, _PLACES_AT_ONCE):
            n = min(_PLACES_AT_ONCE, last - start)
            np.multiply(words[start : start + n], _FACTORS[0], out=values[:n])
            for k in range(1, self._gram_words):
                following = words[start + k : start + k + n]
                values[:n] += np.multiply(following, _FACTORS[k], out=bits[:n])
            np.right_shift(values[:n], first, out=bits[:n])
            np.take(table, bits[:n].view(np.int64), out=is_gram[:n], mode="clip")
            numbers_in_part = np.flatnonzero(is_gram[:n])
            gram_hashes = values[numbers_in_part]
            for shift, other_table in others:
                passed = np.flatnonzero(
                    other_table[(gram_hashes >> shift & self._mask).view(np.int64)]
                )
                numbers_in_part, gram_hashes = numbers_in_part[passed], gram_hashes[passed]
            places.append((numbers_in_part + start) * _STEP)
            hashes.append(gram_hashes)
        if not places:
            return np.zeros(0, np.int64), np.zeros(0, np.uint64)
        return np.concatenate(places), np.concatenate(hashes)

    def _occurrences(
        self,
        together: bytes,
        ends: Integers,
        places: Integers,
        hashes: Words,
        first: Integers,
        count: Integers,
    ) -> Iterator[tuple[int, int, int]]:
        """Yield text, literal and its end in the text, for each gram in its whole literal."""
        # `count` entries from `first` on, for each place.
        numbers = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        entries, places, words = self._entries[numbers], np.repeat(places, count), _words(together)
        following = places + (entries[:, 1] % np.uint64(_MOST_BEHIND)).view(np.int64)
        chosen = np.flatnonzero(
            (entries[:, 0] == np.repeat(hashes, count))
            & (entries[:, 2] == words[np.minimum(following, len(words) - 1)])
        )
        grams, places = entries[chosen, 1].view(np.int64) // _MOST_BEHIND, places[chosen]
        literals, offsets = np.divmod(grams, _MOST_OFFSETS)
        starts = places - offsets
        stops = starts + self._sizes[literals]
        texts = np.searchsorted(ends, places, "right")
        begins = np.where(texts, ends[texts - 1], 0)
        chosen = np.flatnonzero((starts >= begins) & (stops <= ends[texts]))
        chosen = chosen[words[starts[chosen]] == self._heads[literals[chosen]]]
        chosen = chosen[words[stops[chosen] - 8] == self._tails[literals[chosen]]]
        columns = (column[chosen].tolist() for column in (texts, literals, starts, stops, begins))
        for text, literal, start, stop, begin in zip(*columns, strict=True):
            if together[start:stop] == self._literals[literal]:
                yield text, literal, stop - begin


def _words(data: bytes) -> Words:
    """Return the eight bytes from each byte on as numbers."""
    return np.ndarray((max(len(data) - 7, 0),), "<u8", data, strides=(1,))


def _rarest(
    words: Words, starts: Integers, sizes: Integers, gram_words: int
) -> tuple[Words, Integers]:
    """Return the hash and the offset of the rarest candidate gram per literal and remainder.

    Grams that many literals have, such as those of an indentation, are avoided: each place of a
    text with such a gram would have to be compared with all of them.
    """
    firsts = range(0, max(1, len(starts)), _LITERALS_AT_ONCE)
    parts = [slice(first, first + _LITERALS_AT_ONCE) for first in firsts]
    tally = np.zeros(1 << _TALLY_BITS, np.int64)
    for part in parts:
        _, groups, is_inside = _candidates(words, starts[part], sizes[part], gram_words)
        tally += np.bincount(groups[is_inside], minlength=tally.size)
    chosen = []
    for part in parts:
        hashes, groups, is_inside = _candidates(words, starts[part], sizes[part], gram_words)
        often = np.where(is_inside, tally[groups], np.iinfo(np.int64).max)
        choices = often.reshape(-1, _MOST_OFFSETS // _STEP, _STEP).argmin(axis=1)
        offsets = choices * _STEP + np.arange(_STEP)
        chosen.append((np.take_along_axis(hashes, offsets, axis=1).ravel(), offsets.ravel()))
    all_hashes, all_offsets = zip(*chosen, strict=True)
    return np.concatenate(all_hashes), np.concatenate(all_offsets)


def _candidates(
    words: Words, starts: Integers, sizes: Integers, gram_words: int
) -> tuple[Words, Integers, NDArray[np.bool_]]:
    """Return the hash of a gram per literal and offset, its first bits, and whether it fits in."""
    offsets = np.arange(_MOST_OFFSETS)
    is_inside = offsets + 8 * gram_words <= sizes[:, None]
    places = np.where(is_inside, starts[:, None] + offsets, starts[:, None])
    hashes = words[places] * _FACTORS[0]
    for k in range(1, gram_words):
        hashes += words[places + 8 * k] * _FACTORS[k]
    return hashes, (hashes >> np.uint64(64 - _TALLY_BITS)).view(np.int64), is_inside
