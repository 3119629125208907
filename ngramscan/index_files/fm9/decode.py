"""The compiled inner loops of checks, which decode a file sequentially.

In the wavelet tree, the steps of neighbouring ranks to the ranks of the suffixes one byte longer
are adjacent. So one pass over its bits finds all steps without searching; with the steps in memory,
many walks through the text run interleaved.

No loop calls one of another module, because the code is cached on disk and numba would not notice a
change of the other module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ngramscan.index_files.compiled import Bytes, Int, Integers, Words, lean_kernel
from ngramscan.index_files.fm9 import kernels as k
from ngramscan.index_files.fm9.layout import BLOCK, ISA_STEP, SUPERBLOCK
from ngramscan.index_files.fm9.tables import (
    BITS,
    BT,
    BTNR,
    BTNR_BITS,
    BTNRP,
    BTNRP_WIDTH,
    INVERT,
    LEFT,
    RIGHT,
    Tables,
)

Steps = npt.NDArray[np.integer[Any]]
"""For each rank, the rank of the suffix that is one byte longer: 32 or 64 bits."""

_U64 = np.uint64
_ALL = _U64(0xFFFF_FFFF_FFFF_FFFF)
_ONE = _U64(1)
_LANES = 32
"""Number of interleaved walks, which hide the latency of memory."""


@lean_kernel
def _take(data: Bytes, position: Int, width: Int) -> np.uint64:
    """Return 1 to 64 bits from a bit position on."""
    at = _U64(position >> 3)
    word = _U64(0)
    for byte in range(8):  # the compiler turns this into one load
        word |= _U64(data[at + _U64(byte)]) << _U64(8 * byte)
    shift = _U64(position & 7)
    next_byte = _U64(data[at + _U64(8)]) << _ONE
    return (word >> shift | next_byte << (_U64(63) - shift)) & (_ALL >> _U64(64 - width))


@lean_kernel
def _entry(data: Bytes, offset: Int, width: Int, number: Int) -> Int:
    return np.int64(_take(data, 8 * offset + number * width, width))


@lean_kernel
def _fill_entries(
    data: Bytes, offset: Int, width: Int, numbers: Integers, values: Integers
) -> None:
    for i in range(len(numbers)):
        values[i] = _entry(data, offset, width, numbers[i])


def entries(t: Tables, column: int, width: Int, numbers: Integers) -> Integers:
    """Return some entries of a field, given the column of `t.at` with its offset."""
    values = np.empty(len(numbers), np.int64)
    _fill_entries(t.data, t.at[column], width, numbers, values)
    return values


@lean_kernel
def _number(t: Tables, pointer: Int, kind: Int) -> tuple[np.uint64, np.uint64]:
    """Return the number of a block: its upper and its lower 64 bits."""
    width = k.NUMBER_BITS[kind]
    start = 8 * t.at[BTNR] + pointer
    low = high = _U64(0)
    if width > 0:
        low = _take(t.data, start, min(width, 64))
    if width > 64:
        high = _take(t.data, start + 64, width - 64)
    return high, low


@lean_kernel
def _decode_block(ones: Int, high: np.uint64, low: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the bits of a block, the first 64 of them first, from its ones and its number.

    The next one is at the first bit b with binomial(126 - b, ones) <= number.
    """
    first_bits = bits = _U64(0)
    for bit in range(127):
        if bit == 64:
            first_bits = bits
            bits = _U64(0)
        more = k.COEFFICIENTS_HIGH[ones, 126 - bit]
        less = k.COEFFICIENTS_LOW[ones, 126 - bit]
        if ones > 0 and (high > more or (high == more and low >= less)):
            high -= more + _U64(low < less)
            low -= less
            ones -= 1
            bits |= _ONE << _U64(bit & 63)
    return first_bits, bits


@lean_kernel
def _pass_blocks(t: Tables, superblock: Int) -> tuple[Int, Int, Int]:
    """Return the end of a superblock in `btnr`, or -1; its ones; and its dense blocks."""
    pointer = _entry(t.data, t.at[BTNRP], t.at[BTNRP_WIDTH], superblock)
    inverted = _entry(t.data, t.at[INVERT], 1, superblock) == 1
    ones: Int = 0
    dense: Int = 0
    start = superblock * SUPERBLOCK
    for block in range(start, min(start + SUPERBLOCK, t.at[BITS] // BLOCK + 1)):
        kind = _entry(t.data, t.at[BT], 7, block)
        n_ones = 127 - kind if inverted else kind
        if pointer + k.NUMBER_BITS[kind] > t.at[BTNR_BITS]:
            return -1, ones, dense
        high, low = _number(t, pointer, kind)
        most = k.COEFFICIENTS_HIGH[n_ones, 127]
        if high > most or (high == most and low >= k.COEFFICIENTS_LOW[n_ones, 127]):
            return -1, ones, dense
        bits_left = t.at[BITS] - block * BLOCK
        if bits_left < BLOCK:  # the last block has no ones after the last bit
            first_bits, bits = _decode_block(n_ones, high, low)
            if bits >> _U64(max(0, bits_left - 64)) or (
                bits_left < 64 and first_bits >> _U64(bits_left)
            ):
                return -1, ones, dense
        pointer += k.NUMBER_BITS[kind]
        ones += n_ones
        dense += n_ones > BLOCK // 2
    return pointer, ones, dense


@lean_kernel
def pass_superblocks(t: Tables, first: Int, block_counts: Integers) -> None:
    """Fill in the end of each superblock in `btnr`, or -1; its ones; and its dense blocks."""
    for number in range(block_counts.shape[1]):
        stop, ones, dense = _pass_blocks(t, first + number)
        block_counts[0, number] = stop
        block_counts[1, number] = ones
        block_counts[2, number] = dense


@lean_kernel
def decode_superblocks(t: Tables, first: Int, last: Int, bits: Words) -> None:
    """Write the bits of checked superblocks over zeros.

    Threads begin at even superblocks, which begin at a word, so no two write the same word.
    """
    for superblock in range(first, last):
        pointer = _entry(t.data, t.at[BTNRP], t.at[BTNRP_WIDTH], superblock)
        inverted = _entry(t.data, t.at[INVERT], 1, superblock) == 1
        start = superblock * SUPERBLOCK
        for block in range(start, min(start + SUPERBLOCK, t.at[BITS] // BLOCK + 1)):
            kind = _entry(t.data, t.at[BT], 7, block)
            high, low = _number(t, pointer, kind)
            low, high = _decode_block(127 - kind if inverted else kind, high, low)
            pointer += k.NUMBER_BITS[kind]
            word = (block * BLOCK) >> 6
            shift = _U64((block * BLOCK) & 63)
            bits[word] |= low << shift
            bits[word + 1] |= high << shift
            if shift > 0:
                bits[word + 1] |= low >> (_U64(64) - shift)
            if shift > 1:
                bits[word + 2] |= high >> (_U64(64) - shift)


@lean_kernel
def _count_ones(bits: Words, start: Int, stop: Int) -> Int:
    ones = _U64(0)
    while start < stop:
        width = min(64 - (start & 63), stop - start)
        word = bits[start >> 6] >> _U64(start & 63) & (_ALL >> _U64(64 - width))
        word -= (word >> _ONE) & _U64(0x5555555555555555)
        word = (word & _U64(0x3333333333333333)) + ((word >> _U64(2)) & _U64(0x3333333333333333))
        word = (word + (word >> _U64(4))) & _U64(0x0F0F0F0F0F0F0F0F)
        ones += (word * _U64(0x0101010101010101)) >> _U64(56)
        start += width
    return np.int64(ones)


@lean_kernel
def move_cursors(
    bits: Words, nodes: Integers, ends: Integers, cursors: Integers, moves: Integers
) -> bool:
    """Move the cursors of all nodes along with the root's; False if one would leave its node.

    The cursor of an inner node is a place in `bits`, that of a leaf a rank. `moves` has the root's,
    and gets those of the others.
    """
    for node in range(len(nodes)):
        start = cursors[node]
        cursors[node] += moves[node]
        if cursors[node] > ends[node]:
            return False
        if nodes[node, LEFT] >= 0:
            ones = _count_ones(bits, start, cursors[node])
            moves[nodes[node, LEFT]] = moves[node] - ones
            moves[nodes[node, RIGHT]] = ones
    return True


@lean_kernel
def fill_steps(bits: Words, nodes: Integers, cursors: Integers, steps: Steps) -> None:
    """Write the rank of the suffix that is one byte longer, for each rank from the cursors on."""
    for rank in range(len(steps)):
        node = np.int64(0)
        while nodes[node, LEFT] >= 0:
            place = cursors[node]
            cursors[node] += 1
            bit = (bits[place >> 6] >> _U64(place & 63)) & _ONE
            node = nodes[node, RIGHT] if bit else nodes[node, LEFT]
        steps[rank] = cursors[node]
        cursors[node] += 1


@lean_kernel
def walk_back(steps: Steps, ranks: Steps) -> None:
    """Fill in ranks of suffixes, walking backwards from every 64th and from the last one."""
    for start in range(0, len(ranks), _LANES * ISA_STEP):
        stop = min(len(ranks), start + _LANES * ISA_STEP)
        for back in range(ISA_STEP - 1, 0, -1):
            for place in range(start + back, stop, ISA_STEP):
                ranks[place - 1] = steps[ranks[place]]
