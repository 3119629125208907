"""The inner loops of finding tens of thousands of literals, compiled.

All positions are inside their arrays by construction: a text is read up to its length, and `Grams`
come from `make_grams`, never from a file.
"""

# All integers are 64 bits wide, and of one kind in each expression: numba turns others into floats.

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ngramscan.compiled import Bytes, Int, Integers, Words, lean_kernel

Places = npt.NDArray[np.int32]

# Odd and without pattern: bits of the golden ratio, and a constant of xxHash.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_WIDTH, _STEP = 16, 8
LEAST_BYTES = _WIDTH + _STEP - 1
"""A literal this long has a gram that starts at a multiple of the step, wherever it stands."""
_MOST_BUCKET_BITS = 22
_FEWER_WORD_BITS = 2
"""The filter has a word for so many buckets, as a power of two: two to four grams."""
_CHOICES = 4
"""Grams of a literal for each remainder of an offset, one of which is chosen."""
_MOST_OFFSETS = _CHOICES * _STEP
_PROBES = 64

# Columns of Grams.entries.
PLACE, WORD = range(2)


class Grams(NamedTuple):
    """A gram of 16 bytes per literal and remainder of its offset by 8, by hash."""

    data: Bytes
    """All literals."""
    starts: Integers
    """Where each literal starts in `data`, and the end of the last."""
    filter: Words
    """At the first bits of a hash: two bits, at least, for each gram (a blocked Bloom filter:
    Putze, Sanders & Singler 2009, doi:10.1145/1498698.1594230)."""
    buckets: Places
    """Where the entries of hashes with the same first bits start, and the end of the last."""
    entries: Words
    """A row per gram, by hash. `PLACE`: (literal * _MOST_OFFSETS + offset of the gram) * _PROBES +
    offset of a word; `WORD`: these 8 bytes of the literal, first or late ones, whichever are
    farther from the gram. They are compared before the literal, which is far away in memory."""
    shape: Integers
    """How far a hash is shifted for the filter and for the buckets."""


@lean_kernel
def _word(data: Bytes, at: Int) -> np.uint64:
    word = np.uint64(0)
    for byte in range(8):  # the compiler turns this into one load
        word |= np.uint64(data[np.uint64(at) + np.uint64(byte)]) << np.uint64(8 * byte)
    return word


@lean_kernel
def _hash(data: Bytes, at: Int) -> np.uint64:
    return _word(data, at) * _FIRST + _word(data, at + 8) * _SECOND


@lean_kernel
def _tally(data: Bytes, starts: Integers, tally: Integers) -> None:
    """Count the grams among which is chosen, by the first bits of their hashes."""
    shift = np.uint64(64 - _MOST_BUCKET_BITS)
    for literal in range(len(starts) - 1):
        behind = min(starts[literal + 1] - _WIDTH + 1, starts[literal] + _MOST_OFFSETS)
        for place in range(starts[literal], behind):
            tally[_hash(data, place) >> shift] += 1


@lean_kernel
def _choose(tally: Integers, data: Bytes, starts: Integers, hashes: Words, entries: Words) -> None:
    """Choose the rarest gram of each literal for each remainder."""
    shift = np.uint64(64 - _MOST_BUCKET_BITS)
    for literal in range(len(starts) - 1):
        start = starts[literal]
        late = min(starts[literal + 1] - start, _PROBES) - 8
        behind = min(starts[literal + 1] - start - _WIDTH + 1, _MOST_OFFSETS)
        for remainder in range(_STEP):
            least = np.int64(-1)
            for offset in range(remainder, behind, _STEP):
                value = _hash(data, start + offset)
                if least < 0 or tally[value >> shift] < least:
                    least = tally[value >> shift]
                    probe = 0 if offset > late - offset - 8 else late
                    number = literal * _STEP + remainder
                    hashes[number] = value
                    gram = literal * _MOST_OFFSETS + offset
                    entries[number, PLACE] = np.uint64(gram * _PROBES + probe)
                    entries[number, WORD] = _word(data, start + probe)


@lean_kernel
def _bits(value: np.uint64) -> np.uint64:
    """Return the bits of a hash in a word of the filter."""
    one, six = np.uint64(1), np.uint64(63)
    return one << (value >> np.uint64(32) & six) | one << (value >> np.uint64(26) & six)


@lean_kernel
def _fill(words: Words, hashes: Words, shift: np.uint64) -> None:
    for value in hashes:
        words[value >> shift] |= _bits(value)


def make_grams(literals: Sequence[bytes]) -> Grams:
    """Return the grams of some literals, each of at least `LEAST_BYTES`.

    Grams that many literals have, such as those of an indentation, are avoided: a place of a text
    with such a gram would have to be compared with all of them.
    """
    data = np.frombuffer(b"".join(literals), np.uint8)
    starts = np.cumsum([0, *map(len, literals)], dtype=np.int64)
    hashes = np.empty(len(literals) * _STEP, np.uint64)
    entries = np.empty((hashes.size, 2), np.uint64)
    tally = np.zeros(1 << _MOST_BUCKET_BITS, np.int64)
    _tally(data, starts, tally)
    _choose(tally, data, starts, hashes, entries)
    order = np.argsort(hashes)
    hashes, entries = hashes[order], entries[order]
    bits = min(max(hashes.size.bit_length(), 8), _MOST_BUCKET_BITS)
    shape = np.array([64 - bits + _FEWER_WORD_BITS, 64 - bits], np.int64)
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(shape[1])
    buckets = np.append(np.searchsorted(hashes, firsts), hashes.size).astype(np.int32)
    words = np.zeros(1 << bits - _FEWER_WORD_BITS, np.uint64)
    _fill(words, hashes, np.uint64(shape[0]))
    return Grams(data, starts, words, buckets, entries, shape)


@lean_kernel
def _literal_around(grams: Grams, number: Int, text: Bytes, place: Int) -> Int:
    """Return the literal of an entry if it stands around its gram in a text; -1: it doesn't."""
    gram, probe = divmod(np.int64(grams.entries[number, PLACE]), _PROBES)
    literal, offset = divmod(gram, _MOST_OFFSETS)
    start = place - offset
    if start < 0 or start + probe + 8 > len(text):
        return -1
    if grams.entries[number, WORD] != _word(text, start + probe):
        return -1
    first = grams.starts[literal]
    size = grams.starts[literal + 1] - first
    if start + size > len(text):
        return -1
    for byte in range(size):
        if grams.data[np.uint64(first + byte)] != text[np.uint64(start + byte)]:
            return -1
    return literal


@lean_kernel
def find_literals(grams: Grams, text: Bytes, found: Integers) -> Int:
    """Return how many occurrences there are, and write their literals as far as there is room.

    Only each eighth place of the text is looked at: each literal around it has a gram for just
    this place.
    """
    to_word, to_bucket = np.uint64(grams.shape[0]), np.uint64(grams.shape[1])
    n = 0
    for place in range(0, len(text) - _WIDTH + 1, _STEP):
        value = _hash(text, place)
        bits = _bits(value)
        if grams.filter[value >> to_word] & bits != bits:
            continue
        bucket = np.int64(value >> to_bucket)
        for number in range(grams.buckets[bucket], grams.buckets[bucket + 1]):
            literal = _literal_around(grams, number, text, place)
            if literal >= 0:
                if n < len(found):
                    found[n] = literal
                n += 1
    return n
