"""The parts of documents that may have something in common with given texts, in one pass.

A gram is a few bytes, and has a hash. The hashes of all grams of the given texts are in tables.
Documents are looked at only at every second, fourth or eighth byte; a shared part that is that much
longer than a gram has a whole one at such a place, wherever it is. Nearly all places have the hash
of no gram. The rest is too much rather than too little, and small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
_GRAMS = ((24, 8), (16, 8), (12, 4), (8, 2), (3, 1), (1, 1))
"""Bytes of a gram, and from one to the next: for parts of at least 31, 23, 15, 9, 3 and 1 bytes."""
# Odd and without pattern: bits of the golden ratio, and constants of xxHash.
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
_OTHERS = np.uint64(20)
"""A second table is of other bits of the hash."""
_BEHIND = bytes(24)
"""So that numbers of eight bytes can be read up to the end of a text."""
_PLACES_AT_ONCE = 1 << 15
"""So that what is computed of them stays in the cache of a core."""
_SPACED = bytes(
    byte if byte >= 0x80 or chr(byte).isalnum() or byte == 95 else 32 for byte in range(256)
)
"""For each byte itself, if it may be one of a word; otherwise a space."""
_CONTINUED = frozenset(range(0x80, 0xC0))


class Excerpts:
    """Finds parts of documents that have all that they share with given texts."""

    def __init__(self, texts: Sequence[bytes], windows: Sequence[Integers], words: int) -> None:
        """Take texts, and the start and end of each of their windows.

        Parts of texts that matter have a whole window, and so at least so many words.
        """
        joined = b"".join(texts)
        firsts = [*accumulate(map(len, texts), initial=0)][:-1]
        placed = [each + first for each, first in zip(windows, firsts, strict=True)]
        ranges = np.concatenate([np.zeros((0, 2), np.int64), *placed])
        self._words, self._layers, sizes = words, list[_Layer](), ranges[:, 1] - ranges[:, 0]
        for size, step in _GRAMS:
            is_long = sizes >= size + step - 1
            if is_long.any():
                self._layers.append(_Layer(joined, ranges[is_long], size, step))
            ranges, sizes = ranges[~is_long], sizes[~is_long]

    def find_in_all(self, documents: Iterable[bytes], at_once: int) -> Iterator[bytes]:
        """Yield parts of many documents, of about so many bytes of them at once."""
        batch, size = list[bytes](), 0
        for document in documents:
            batch.append(document)
            size += len(document)
            if size >= at_once:
                yield from self.find(batch)
                batch, size = [], 0
        yield from self.find(batch)

    def find(self, documents: Sequence[bytes]) -> Iterator[bytes]:
        """Yield parts of documents: each that is shared and long enough is in one of them."""
        together = b"".join([*documents, _BEHIND])
        ends = np.array([*accumulate(map(len, documents))], np.int64)
        found = [layer.find(together, ends) for layer in self._layers]
        places = np.concatenate([np.zeros((0, 2), np.int64), *found])
        places = places[np.argsort(places[:, 0])]
        numbers = np.searchsorted(ends, places[:, 0], "right")
        # Parts of two documents that follow each other touch, and are two.
        is_first = np.ones(len(places), np.bool_)
        reach = np.maximum.accumulate(places[:, 1])
        is_first[1:] = (places[1:, 0] > reach[:-1]) | (numbers[1:] != numbers[:-1])
        is_last = np.append(is_first[1:], True)[: len(places)]
        columns = places[is_first, 0], reach[is_last], ends[numbers[is_first]]
        spaced = together.translate(_SPACED)
        for start, stop, end in zip(*(column.tolist() for column in columns), strict=True):
            if len(spaced[start:stop].split()) >= self._words:
                yield _whole(together, start, stop, end)


def _whole(text: bytes, start: int, stop: int, end: int) -> bytes:
    """Return a part of a text from the beginning of a character to the end of one."""
    while start > 0 and text[start] in _CONTINUED:
        start -= 1
    while stop < end and text[stop] in _CONTINUED:
        stop += 1
    return text[start:stop]


class _Layer:
    """All grams of some windows, which are long enough for them."""

    def __init__(self, text: bytes, windows: Integers, size: int, step: int) -> None:
        self._size, self._step = size, step
        # In how many windows a gram is that begins at a place.
        begin, end = (
            np.bincount(places, minlength=len(text) + 1)
            for places in (windows[:, 0], windows[:, 1] - size + 1)
        )
        heads, hashes = self._hashes(
            text + _BEHIND, np.flatnonzero(np.cumsum(begin - end)[:-1] > 0)
        )
        self._shift = np.uint64(64 - max(16, (4 * heads.size).bit_length()))
        self._tables = [self._table(heads), self._table(hashes), self._table(hashes << _OTHERS)]

    def _table(self, hashes: Words) -> NDArray[np.bool_]:
        table = np.zeros(1 << int(np.uint64(64) - self._shift), np.bool_)
        table[hashes >> self._shift] = True
        return table

    def _hashes(self, text: bytes, starts: Integers) -> tuple[Words, Words]:
        """Return the hash of the first bytes, and that of all of each gram."""
        words = np.ndarray((len(text) - 7,), "<u8", text, strides=(1,))
        first, last = words[starts] & self._shown, words[starts + max(0, self._size - 8)]
        return first * _FACTORS[0], first * _FACTORS[0] + (last & self._shown) * _FACTORS[1]

    @property
    def _shown(self) -> np.uint64:
        """The bytes of a number that belong to a gram."""
        return np.uint64((1 << 8 * min(8, self._size)) - 1)

    def find(self, text: bytes, ends: Integers) -> Integers:
        """Return start and end of each gram, and of what a shared part may have beside it.

        Behind the documents, which end there, the text has a few bytes more.
        """
        starts = self._places(text)
        documents = np.searchsorted(ends, starts, "right")
        kept = starts + self._size <= ends[documents]
        starts, documents = starts[kept], documents[kept]
        begins = np.where(documents, ends[documents - 1], 0)
        first = np.maximum(starts - self._step + 1, begins)
        last = np.minimum(starts + self._size + self._step - 1, ends[documents])
        return np.stack([first, last], axis=1)

    def _places(self, text: bytes) -> Integers:
        """Return where grams may begin: some of the first bytes are those of one, then all."""
        step, (of_heads, *of_all) = self._step, self._tables
        n = (len(text) - len(_BEHIND)) // step
        words = np.ndarray((n,), "<u8", text, strides=(step,))
        values, is_gram = np.empty(_PLACES_AT_ONCE, np.uint64), np.empty(_PLACES_AT_ONCE, np.bool_)
        found = [np.zeros(0, np.int64)]
        for start in range(0, n, _PLACES_AT_ONCE):
            size = min(_PLACES_AT_ONCE, n - start)
            values[:size] = words[start : start + size]
            if self._size < 8:
                values[:size] &= self._shown
            np.multiply(values[:size], _FACTORS[0], out=values[:size])
            np.right_shift(values[:size], self._shift, out=values[:size])
            np.take(of_heads, values[:size].view(np.int64), out=is_gram[:size], mode="clip")
            found.append((np.flatnonzero(is_gram[:size]) + start) * step)
        places = np.concatenate(found)
        places = places[places <= len(text) - len(_BEHIND) - self._size]
        _, hashes = self._hashes(text, places)
        kept = of_all[0][hashes >> self._shift]
        places, hashes = places[kept], hashes[kept]
        kept = of_all[1][(hashes << _OTHERS) >> self._shift]
        return np.asarray(places[kept], np.int64)
