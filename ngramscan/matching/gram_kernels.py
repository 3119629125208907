"""The inner loops of finding tens of thousands of literals, compiled.

All positions are inside their arrays by construction: a text is read up to its length, and `Grams`
come from `make_grams`, never from a file.
"""

# All integers are 64 bits wide, and of one kind in each expression: numba turns others into floats.

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ngramscan.compiled import Bytes, Int, Integers, Words, lean_kernel

# Odd and without pattern: bits of the golden ratio, and a constant of xxHash.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_WIDTH, _STEP = 16, 8
LEAST_BYTES = _WIDTH + _STEP - 1
"""A literal this long has a gram that starts at a multiple of the step, wherever it stands."""
_MOST_BUCKET_BITS = 22
_FILTER_BITS = 4
"""Bits of the filter for each bucket, as a power of two: a few percent of them are set."""
_CHOICES = 4
"""Grams of a literal for each remainder of an offset, one of which is chosen."""
_MOST_OFFSETS = _CHOICES * _STEP


class Grams(NamedTuple):
    """A gram of 16 bytes per literal and remainder of its offset by 8, by hash."""

    data: Bytes
    """All literals."""
    starts: Integers
    """Where each literal starts in `data`, and the end of the last."""
    filter: Bytes
    """A bit for each value of a hash's first bits: whether a gram has it."""
    buckets: Integers
    """Where the hashes with the same first bits start, and the end of the last."""
    hashes: Words
    """Rising."""
    places: Integers
    """For each hash, literal * _MOST_OFFSETS + offset."""
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
def _choose(
    tally: Integers, data: Bytes, starts: Integers, hashes: Words, places: Integers
) -> None:
    """Choose the rarest gram of each literal for each remainder."""
    shift = np.uint64(64 - _MOST_BUCKET_BITS)
    for literal in range(len(starts) - 1):
        start = starts[literal]
        behind = min(starts[literal + 1] - start - _WIDTH + 1, _MOST_OFFSETS)
        for remainder in range(_STEP):
            least = np.int64(-1)
            for offset in range(remainder, behind, _STEP):
                value = _hash(data, start + offset)
                if least < 0 or tally[value >> shift] < least:
                    least = tally[value >> shift]
                    hashes[literal * _STEP + remainder] = value
                    places[literal * _STEP + remainder] = literal * _MOST_OFFSETS + offset


def make_grams(literals: Sequence[bytes]) -> Grams:
    """Return the grams of some literals, each of at least `LEAST_BYTES`.

    Grams that many literals have, such as those of an indentation, are avoided: a place of a text
    with such a gram would have to be compared with all of them.
    """
    data = np.frombuffer(b"".join(literals), np.uint8)
    starts = np.cumsum([0, *map(len, literals)], dtype=np.int64)
    hashes = np.empty(len(literals) * _STEP, np.uint64)
    places = np.empty(len(literals) * _STEP, np.int64)
    tally = np.zeros(1 << _MOST_BUCKET_BITS, np.int64)
    _tally(data, starts, tally)
    _choose(tally, data, starts, hashes, places)
    order = np.argsort(hashes)
    hashes, places = hashes[order], places[order]
    bits = min(hashes.size.bit_length(), _MOST_BUCKET_BITS)
    shift = 64 - bits
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(shift)
    buckets = np.append(np.searchsorted(hashes, firsts), hashes.size).astype(np.int64)
    is_there = np.zeros(1 << bits + _FILTER_BITS, np.bool_)
    is_there[hashes >> np.uint64(shift - _FILTER_BITS)] = True
    shape = np.array([shift - _FILTER_BITS, shift], np.int64)
    found_by = np.packbits(is_there, bitorder="little")
    return Grams(data, starts, found_by, buckets, hashes, places, shape)


@lean_kernel
def _stands_at(grams: Grams, literal: Int, text: Bytes, at: Int) -> bool:
    start = grams.starts[literal]
    size = grams.starts[literal + 1] - start
    if at < 0 or at + size > len(text):
        return False
    for byte in range(size):
        if grams.data[np.uint64(start + byte)] != text[np.uint64(at + byte)]:
            return False
    return True


@lean_kernel
def find_literals(grams: Grams, text: Bytes, found: Integers) -> Int:
    """Return how many occurrences there are, and write their literals as far as there is room.

    Only each eighth place of the text is looked at: each literal around it has a gram for just
    this place.
    """
    filter_by, bucket_by = np.uint64(grams.shape[0]), np.uint64(grams.shape[1])
    n = 0
    for place in range(0, len(text) - _WIDTH + 1, _STEP):
        value = _hash(text, place)
        bit = value >> filter_by
        if not (grams.filter[bit >> np.uint64(3)] >> np.uint8(bit & np.uint64(7))) & np.uint8(1):
            continue
        bucket = np.int64(value >> bucket_by)
        for entry in range(grams.buckets[bucket], grams.buckets[bucket + 1]):
            if grams.hashes[entry] == value:
                literal, offset = divmod(grams.places[entry], _MOST_OFFSETS)
                if _stands_at(grams, literal, text, place - offset):
                    if n < len(found):
                        found[n] = literal
                    n += 1
    return n
