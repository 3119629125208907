"""The inner loops of the reader, compiled.

They read a mapped file that may be corrupt. `layout` has checked that all fields are inside the
file and have the right number of entries; here each number from a field is checked before it is
used as a place, so that the worst answer is CORRUPT: never a read outside the file, never an
endless loop. A field of up to 64 bits is read as two words, up to 16 bytes more than it has; the
last such field is always followed by 272 bytes.
"""

# All integers are 64 bits wide, and of one kind in each expression: numba turns others into floats.

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from ngramscan.fm9.layout import BLOCK, ISA_STEP, NONE, SA_STEP, SUPERBLOCK, Layout

CORRUPT = -1
"""Returned where a field contradicts another one."""

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]

Int = Any
"""An int64: numba takes `int`, but numpy's stubs say otherwise for an array's elements."""

_Kernel = TypeVar("_Kernel", bound=Callable[..., object])

# Columns of Tables.at.
BT, BTNR, BTNRP, RANK, INVERT, SA, ISA = range(7)
BTNR_BITS, BTNRP_WIDTH, RANK_WIDTH, TEXT_WIDTH, ISA_ENTRIES = range(7, 12)
TEXT, BITS, ONES = range(12, 15)
# Columns of Tables.nodes.
START, BEFORE, LEFT, RIGHT, SIZE, FIRST, BYTE = range(7)

_BITS_OF_SUPERBLOCK = BLOCK * SUPERBLOCK
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

# The number of a block is its place among all blocks with as many ones, in lexicographic order. It
# has up to 124 bits; so two arrays hold the bits of the binomial coefficients, [k, n]. They are
# constants of the compiled code: each argument of a kernel costs time at every call.
_COEFFICIENTS = [[comb(n, k) for n in range(BLOCK + 1)] for k in range(BLOCK + 1)]
COEFFICIENTS_HIGH = np.array([[c >> 64 for c in row] for row in _COEFFICIENTS], np.uint64)
COEFFICIENTS_LOW = np.array([[c & (1 << 64) - 1 for c in row] for row in _COEFFICIENTS], np.uint64)
NUMBER_BITS = np.array([(row[BLOCK] - 1).bit_length() for row in _COEFFICIENTS], np.int64)
"""Bits of the number of a block, by its number of ones."""


class Tables(NamedTuple):
    """A file in the form that the kernels read."""

    data: Bytes
    """The whole file, mapped."""
    at: Integers
    """Offsets and widths."""
    nodes: Integers
    """A row per node; in a leaf, FIRST is the rank of its byte's first suffix, and LEFT is -1."""
    codes: Words
    """For each byte."""
    leaves: Integers
    """For each byte; -1: not in the text."""
    lengths: Integers
    """Bits of each byte's code."""


def make_tables(data: Bytes, layout: Layout) -> Tables:
    """Return the parts of a file that the kernels need."""
    at = [
        *(field.offset for field in (layout.bt, layout.btnr, layout.btnrp, layout.rank)),
        *(field.offset for field in (layout.invert, layout.sa, layout.isa)),
        *(layout.btnr.bits, layout.btnrp.width, layout.rank.width, layout.sa.width),
        *(layout.isa.entries, layout.n, layout.size, layout.ones),
    ]
    tree = layout.tree
    is_leaf = tree["left"] == NONE
    nodes = np.zeros((len(tree), 8), np.int64)
    nodes[:, START], nodes[:, SIZE] = tree["start"], layout.sizes
    nodes[:, BEFORE] = np.where(is_leaf, 0, tree["value"])
    nodes[:, LEFT], nodes[:, RIGHT] = tree["left"], tree["right"]
    nodes[is_leaf, LEFT:SIZE] = -1
    in_text = np.frombuffer(layout.comp2char, np.uint8)
    in_order = layout.leaf_of[in_text]
    nodes[in_order, FIRST], nodes[in_order, BYTE] = layout.c[:-1], in_text
    leaves = np.where(layout.leaf_of == NONE, -1, layout.leaf_of.astype(np.int64))
    lengths = (layout.codes >> np.uint64(56)).astype(np.int64)
    return Tables(data, np.array(at, np.int64), nodes, layout.codes, leaves, lengths)


def fresh_kernel(function: _Kernel) -> _Kernel:
    """Compile a function at its first call in a process."""
    return cast(_Kernel, numba.njit(nogil=True, error_model="numpy")(function))


def kernel(function: _Kernel) -> _Kernel:
    """Compile a function at its first call, and keep the code on disk."""
    try:
        return cast(_Kernel, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
    except RuntimeError:  # no writable place for the cache
        return fresh_kernel(function)


@kernel
def _word(data: Bytes, offset: Int) -> np.uint64:
    """Return the 8 bytes at an offset; the compiler turns this into one load."""
    at = np.uint64(offset)
    return (
        np.uint64(data[at])
        | np.uint64(data[at + np.uint64(1)]) << np.uint64(8)
        | np.uint64(data[at + np.uint64(2)]) << np.uint64(16)
        | np.uint64(data[at + np.uint64(3)]) << np.uint64(24)
        | np.uint64(data[at + np.uint64(4)]) << np.uint64(32)
        | np.uint64(data[at + np.uint64(5)]) << np.uint64(40)
        | np.uint64(data[at + np.uint64(6)]) << np.uint64(48)
        | np.uint64(data[at + np.uint64(7)]) << np.uint64(56)
    )


@kernel
def read_bits(data: Bytes, offset: Int, position: Int) -> np.uint64:
    """Return the 64 bits that start at a bit position."""
    byte = offset + (position >> 3)
    shift = np.uint64(position & 7)
    word = _word(data, byte) >> shift
    if shift != np.uint64(0):
        word |= np.uint64(data[np.uint64(byte + 8)]) << (np.uint64(64) - shift)
    return word


@kernel
def read_entry(data: Bytes, offset: Int, width: Int, number: Int) -> Int:
    """Return an entry of a vector; no used entry has its highest bit set."""
    word = read_bits(data, offset, number * width)
    return np.int64(word & (_ALL >> np.uint64(64 - width)))


@kernel
def _find_ones(k: Int, high: np.uint64, low: np.uint64, last: Int) -> Int:
    """Return twice the number of ones of a block before an offset, 126 - last, plus the bit there.

    The next one is at the largest x with binomial(x, k) <= number; the block's bit is 126 - x.
    """
    found = 0
    x = 126
    while k > 0 and high != np.uint64(0):
        while x >= last and (
            COEFFICIENTS_HIGH[k, x] > high
            or (COEFFICIENTS_HIGH[k, x] == high and COEFFICIENTS_LOW[k, x] > low)
        ):
            x -= 1
        if x <= last:
            return 2 * found + np.int64(x == last)
        high -= COEFFICIENTS_HIGH[k, x] + np.uint64(low < COEFFICIENTS_LOW[k, x])
        low -= COEFFICIENTS_LOW[k, x]
        found += 1
        k -= 1
        x -= 1
    while k > 0:
        while x >= last and (
            COEFFICIENTS_LOW[k, x] > low or COEFFICIENTS_HIGH[k, x] != np.uint64(0)
        ):
            x -= 1
        if x <= last:
            return 2 * found + np.int64(x == last)
        low -= COEFFICIENTS_LOW[k, x]
        found += 1
        k -= 1
        x -= 1
    return 2 * found


@kernel
def ones_in_block(
    t: Tables, ones: Int, pointer: Int, kind: Int, inverted: bool, offset: Int
) -> Int:
    """Return twice the sum of `ones` and the ones of a block before an offset, plus the bit there.

    The complement of a block has the same place from the other end, so that at most 63 ones have to
    be found.
    """
    width = NUMBER_BITS[kind]
    k = 127 - kind if inverted else kind
    if k == 0:
        return 2 * ones
    if k == 127:
        return 2 * (ones + offset) + 1
    if pointer < 0 or pointer + width > t.at[BTNR_BITS]:
        return CORRUPT
    low = read_bits(t.data, t.at[BTNR], pointer)
    high = np.uint64(0)
    if width > 64:
        high = read_bits(t.data, t.at[BTNR], pointer + 64) & (_ALL >> np.uint64(128 - width))
    else:
        low &= _ALL >> np.uint64(64 - width)
    all_high = COEFFICIENTS_HIGH[k, 127]
    all_low = COEFFICIENTS_LOW[k, 127]
    if high > all_high or (high == all_high and low >= all_low):
        return CORRUPT
    if k <= 63:
        return 2 * ones + _find_ones(k, high, low, 126 - offset)
    high = all_high - high - np.uint64(all_low < low)
    low = all_low - low
    high -= np.uint64(low == np.uint64(0))
    low -= np.uint64(1)
    return 2 * (ones + offset) + 1 - _find_ones(127 - k, high, low, 126 - offset)


@kernel
def bit_and_ones(t: Tables, position: Int) -> Int:
    """Return twice the number of ones before a bit of the bit vector, plus the bit."""
    block = np.int64(np.uint64(position) // np.uint64(127))
    offset = position - block * 127
    superblock = block >> 5
    ones = read_entry(t.data, t.at[RANK], t.at[RANK_WIDTH], superblock)
    after = read_entry(t.data, t.at[RANK], t.at[RANK_WIDTH], superblock + 1)
    if after == ones:
        return 2 * ones
    if after - ones == _BITS_OF_SUPERBLOCK:
        return 2 * (ones + position - superblock * _BITS_OF_SUPERBLOCK) + 1
    pointer = read_entry(t.data, t.at[BTNRP], t.at[BTNRP_WIDTH], superblock)
    inverted = (t.data[np.uint64(t.at[INVERT] + (superblock >> 3))] >> (superblock & 7)) & 1 == 1
    # 8 types of 7 bits are 7 bytes, 32 are 28: all of them begin at a byte.
    types = t.at[BT] + 28 * superblock
    before = block & 31
    stored: Int = 0
    for group in range(before >> 3):
        word = _word(t.data, types + 7 * group)
        for _ in range(8):
            kind = np.int64(word & np.uint64(127))
            stored += kind
            pointer += NUMBER_BITS[kind]
            word >>= np.uint64(7)
    word = _word(t.data, types + 7 * (before >> 3))
    for _ in range(before & 7):
        kind = np.int64(word & np.uint64(127))
        stored += kind
        pointer += NUMBER_BITS[kind]
        word >>= np.uint64(7)
    ones += 127 * before - stored if inverted else stored
    return ones_in_block(t, ones, pointer, np.int64(word & np.uint64(127)), inverted, offset)


@kernel
def _ones(t: Tables, position: Int) -> Int:
    """Return the number of ones before a bit of the bit vector, or in all of it."""
    if position == t.at[BITS]:
        return t.at[ONES]
    return bit_and_ones(t, position) >> 1


@kernel
def _occurrences(t: Tables, byte: Int, stop: Int) -> Int:
    """Return the number of times a byte occurs in the first `stop` bytes of the BWT."""
    node = 0
    code = t.codes[byte]
    for _ in range(t.lengths[byte]):
        ones = _ones(t, t.nodes[node, START] + stop) - t.nodes[node, BEFORE]
        if ones < 0 or ones > stop:
            return CORRUPT
        if code & np.uint64(1):
            stop = ones
            node = t.nodes[node, RIGHT]
        else:
            stop -= ones
            node = t.nodes[node, LEFT]
        code >>= np.uint64(1)
        if stop > t.nodes[node, SIZE]:
            return CORRUPT
    return stop


@kernel
def previous(t: Tables, rank: Int) -> Int:
    """Return the rank of the suffix that is one byte longer, times 256, plus that byte."""
    node = 0
    at = rank
    while t.nodes[node, LEFT] >= 0:
        got = bit_and_ones(t, t.nodes[node, START] + at)
        ones = (got >> 1) - t.nodes[node, BEFORE]
        if got < 0 or ones < 0 or ones > at:
            return CORRUPT
        if got & 1:
            at = ones
            node = t.nodes[node, RIGHT]
        else:
            at -= ones
            node = t.nodes[node, LEFT]
        if at >= t.nodes[node, SIZE]:
            return CORRUPT
    return (t.nodes[node, FIRST] + at) << 8 | t.nodes[node, BYTE]


@kernel
def find(t: Tables, patterns: Bytes, starts: Integers, segments: Integers) -> None:
    """Find the ranks of the suffixes that begin with each pattern: half-open, or CORRUPT.

    The patterns follow each other; `starts` has the start of each, and the end of the last.
    """
    for number in range(len(segments)):
        low = np.int64(0)
        high = t.at[TEXT]
        for place in range(starts[number + 1] - 1, starts[number] - 1, -1):
            byte = np.int64(patterns[place])
            leaf = t.leaves[byte]
            if leaf < 0:
                high = low
            if low == high:
                break
            low = _occurrences(t, byte, low)
            high = _occurrences(t, byte, high)
            if low < 0 or high < low:
                low = high = np.int64(CORRUPT)
                break
            low += t.nodes[leaf, FIRST]
            high += t.nodes[leaf, FIRST]
        segments[number, 0] = low
        segments[number, 1] = high


@kernel
def _position(t: Tables, rank: Int) -> Int:
    """Return the position of the suffix with some rank.

    All ranks are on one cycle, so none repeats before a sampled one; where one does, which Brent's
    algorithm detects, the file is corrupt.
    """
    steps = 0
    met = rank
    meet_again = 64
    while rank % SA_STEP:
        got = previous(t, rank)
        if got < 0 or steps > t.at[TEXT]:
            return CORRUPT
        rank = got >> 8
        steps += 1
        if rank == met:
            return CORRUPT
        if steps == meet_again:
            meet_again *= 2
            met = rank
    position = read_entry(t.data, t.at[SA], t.at[TEXT_WIDTH], rank // SA_STEP)
    if position >= t.at[TEXT]:
        return CORRUPT
    position += steps
    return position - t.at[TEXT] if position >= t.at[TEXT] else position


@kernel
def locate(t: Tables, ranks: Integers, positions: Integers) -> None:
    """Fill in the position of the suffix with each rank, or CORRUPT; ranks are in the text."""
    for number in range(len(ranks)):
        positions[number] = _position(t, ranks[number])


@kernel
def extract(t: Tables, starts: Integers, stops: Integers, places: Integers, text: Bytes) -> Int:
    """Copy parts of the text, 0 <= start <= stop <= n, to their places in `text`.

    Returns 0, or CORRUPT.
    """
    n = t.at[TEXT]
    for number in range(len(starts)):
        start = starts[number]
        stop = stops[number]
        if start == stop:
            continue
        sample = (stop + ISA_STEP - 1) // ISA_STEP
        position = sample * ISA_STEP
        if sample >= t.at[ISA_ENTRIES]:
            sample = 0
            position = n
        rank = read_entry(t.data, t.at[ISA], t.at[TEXT_WIDTH], sample)
        if rank >= n:
            return CORRUPT
        while position > start:
            got = previous(t, rank)
            if got < 0:
                return CORRUPT
            rank = got >> 8
            position -= 1
            if position < stop:
                text[places[number] + position - start] = np.uint8(got & 255)
    return 0
