"""The inner loops of checks, compiled: they decode all of a file, in its order.

A rank takes the same way through the wavelet tree as its neighbours, some bits further on. So a
pass over all bits finds the step from each rank to that of the text before it, without a search;
what is then done in any order needs only these steps, in memory.

No loop calls one of another module, so that their code can be kept on disk: numba would not notice
that the other module has changed. Places are checked here, not trusted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ngramscan.fm9.kernels import (
    COEFFICIENTS_HIGH,
    COEFFICIENTS_LOW,
    LEFT,
    NUMBER_BITS,
    RIGHT,
    START,
    Bytes,
    Int,
    Integers,
    Words,
    kernel,
)
from ngramscan.fm9.layout import BLOCK, ISA_STEP, SA_STEP, SUPERBLOCK, Field, Layout

SOUND = 0
WRONG_BITS = {
    1: ("btnrp", "does not point to the end of the blocks before"),
    2: ("rank", "is not the number of ones before"),
    3: ("invert", "contradicts the types of the blocks"),
    4: ("btnr", "a number is larger than blocks of its type have"),
}
WRONG_STEPS = {
    2: ("sa_sample", "another position stands at its rank"),
    3: ("isa_sample", "the rank here is not that of the text before it"),
}

_U64 = np.uint64
_ALL = _U64(0xFFFF_FFFF_FFFF_FFFF)
_ONE = _U64(1)
_LANES = 32
"""Samples that are followed side by side, so that the memory looks up many steps at once."""


class Vector(NamedTuple):
    """A field as the loops read it."""

    words: Words
    width: int


class BitVector(NamedTuple):
    """The compressed bits of a wavelet tree, as the loops read them."""

    size: int
    types: Vector
    numbers: Vector
    number_bits: int
    pointers: Vector
    ranks: Vector
    inverted: Vector


def vector(data: Bytes, field: Field) -> Vector:
    """Return a field of a file; it is not copied."""
    stop = field.offset + -(-field.bits // 64) * 8
    return Vector(data[field.offset : stop].view("<u8"), field.width)


def bit_vector(data: Bytes, layout: Layout) -> BitVector:
    """Return the compressed bits of a file; they are not copied."""
    fields = (layout.btnrp, layout.rank, layout.invert)
    types, numbers = vector(data, layout.bt), vector(data, layout.btnr)
    rest = [vector(data, field) for field in fields]
    return BitVector(layout.size, types, numbers, layout.btnr.bits, *rest)


@kernel
def _take(words: Words, position: Int, width: Int) -> np.uint64:
    """Return 1 to 64 bits from a bit position on."""
    word = position >> 6
    shift = _U64(position & 63)
    value = words[word] >> shift
    if (position & 63) + width > 64:
        value |= words[word + 1] << (_U64(64) - shift)
    return value & (_ALL >> _U64(64 - width))


@kernel
def _entry(v: Vector, number: Int) -> Int:
    return np.int64(_take(v.words, number * v.width, v.width))


@kernel
def _decode_block(ones: Int, high: np.uint64, low: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the 127 bits of a block, from its number of ones and its number.

    The next one is at the first bit b with binomial(126 - b, ones) <= number.
    """
    bits = _U64(0)
    first_bits = _U64(0)
    for bit in range(127):
        if bit == 64:
            first_bits = bits
            bits = _U64(0)
        row = 126 - bit
        more = COEFFICIENTS_HIGH[ones, row]
        less = COEFFICIENTS_LOW[ones, row]
        if ones > 0 and (high > more or (high == more and low >= less)):
            high -= more + _U64(low < less)
            low -= less
            ones -= 1
            bits |= _ONE << _U64(bit & 63)
    return first_bits, bits


@kernel
def _put_block(bits: Words, block: Int, low: np.uint64, high: np.uint64) -> None:
    """Write a block over zeros."""
    word = (block * 127) >> 6
    shift = _U64((block * 127) & 63)
    bits[word] |= low << shift
    if shift:
        back = _U64(64) - shift
        bits[word + 1] |= (low >> back) | (high << shift)
        if high >> back:
            bits[word + 2] |= high >> back
    else:
        bits[word + 1] |= high


@kernel
def _pass_blocks(
    v: BitVector, superblock: Int, pointer: Int, inverted: bool, bits: Words
) -> tuple[Int, Int, Int]:
    """Return the end of a superblock in `btnr`, or -1; its ones; and its dense blocks."""
    ones: Int = 0
    dense: Int = 0
    for block in range(superblock * SUPERBLOCK, superblock * SUPERBLOCK + SUPERBLOCK):
        used = v.size - block * BLOCK
        if used < 0:
            break
        kind = _entry(v.types, block)
        here = 127 - kind if inverted else kind
        width = NUMBER_BITS[kind]
        low = high = _U64(0)
        if pointer + width > v.number_bits:
            return -1, ones, dense
        if width > 0:
            low = _take(v.numbers.words, pointer, min(width, 64))
        if width > 64:
            high = _take(v.numbers.words, pointer + 64, width - 64)
        most = COEFFICIENTS_HIGH[here, 127]
        if high > most or (high == most and low >= COEFFICIENTS_LOW[here, 127]):
            return -1, ones, dense
        if here > 0 and (bits.size > 0 or used < BLOCK):
            first_bits, last_bits = _decode_block(here, high, low)
            # The last block has no ones after the last bit.
            if used < 64 and (first_bits >> _U64(used) or last_bits):
                return -1, ones, dense
            if 64 <= used < BLOCK and last_bits >> _U64(used - 64):
                return -1, ones, dense
            if bits.size > 0:
                _put_block(bits, block, first_bits, last_bits)
        pointer += width
        ones += here
        dense += here > BLOCK // 2
    return pointer, ones, dense


@kernel
def _check_superblock(v: BitVector, superblock: Int, bits: Words) -> tuple[Int, Int]:
    """Return the problem of a superblock, and its end in `btnr`."""
    pointer = _entry(v.pointers, superblock)
    before = _entry(v.ranks, superblock)
    inverted = _entry(v.inverted, superblock) == 1
    stop, ones, dense = _pass_blocks(v, superblock, pointer, inverted, bits)
    size = v.size - superblock * SUPERBLOCK * BLOCK  # from its start on
    is_whole = size >= (SUPERBLOCK - 1) * BLOCK
    wrong = SOUND
    if size > SUPERBLOCK * BLOCK and _entry(v.pointers, superblock + 1) != stop:
        wrong = 1
    if size > 0 and _entry(v.ranks, superblock + 1) != before + ones:
        wrong = 2
    if inverted != (is_whole and dense > SUPERBLOCK // 2):
        wrong = 3
    if stop < 0:
        wrong = 4
    if superblock == 0 and before != 0:
        wrong = 2
    if superblock == 0 and pointer != 0:
        wrong = 1
    return wrong, stop


@kernel
def check_superblocks(v: BitVector, first: Int, last: Int, bits: Words) -> tuple[Int, Int, Int]:
    """Return the first problem, its superblock, and the end of the last one in `btnr`.

    Their bits are written over the zeros of `bits`, unless it is empty. Two threads can write if
    each begins at an even superblock, which is where a word begins.
    """
    end = np.int64(0)
    for superblock in range(first, last):
        wrong, stop = _check_superblock(v, superblock, bits)
        end = max(end, stop)
        if wrong != SOUND:
            return wrong, superblock, end
    return SOUND, last, end


@kernel
def _count_ones(bits: Words, start: Int, stop: Int) -> Int:
    ones = _U64(0)
    while start < stop:
        width = min(64, stop - start)
        word = _take(bits, start, width)
        word -= (word >> _ONE) & _U64(0x5555555555555555)
        word = (word & _U64(0x3333333333333333)) + ((word >> _U64(2)) & _U64(0x3333333333333333))
        word = (word + (word >> _U64(4))) & _U64(0x0F0F0F0F0F0F0F0F)
        ones += (word * _U64(0x0101010101010101)) >> _U64(56)
        start += width
    return np.int64(ones)


@kernel
def move_cursors(bits: Words, nodes: Integers, ends: Integers, cursors: Integers, n: Int) -> bool:
    """Move the cursors of all nodes over the next `n` ranks; False: one would leave its node.

    The cursor of an inner node is a place in `bits`, that of a leaf a rank.
    """
    steps = np.zeros(len(nodes), np.int64)
    steps[0] = n
    for node in range(len(nodes)):
        start = cursors[node]
        cursors[node] += steps[node]
        if cursors[node] > ends[node]:
            return False
        if nodes[node, LEFT] >= 0:
            ones = _count_ones(bits, start, cursors[node])
            steps[nodes[node, LEFT]] = steps[node] - ones
            steps[nodes[node, RIGHT]] = ones
    return True


@kernel
def fill_steps(bits: Words, nodes: Integers, cursors: Integers, steps: Integers) -> None:
    """Write the rank of the suffix that is one byte longer, for each of the next ranks."""
    places = cursors.copy()
    for rank in range(len(steps)):
        node = np.int64(0)
        while nodes[node, LEFT] >= 0:
            place = places[node]
            places[node] += 1
            bit = (bits[place >> 6] >> _U64(place & 63)) & _ONE
            node = nodes[node, RIGHT] if bit else nodes[node, LEFT]
        steps[rank] = places[node]
        places[node] += 1


class Symbols(NamedTuple):
    """The first byte of the suffix with each rank, as the loops find it."""

    bytes: Bytes
    """The bytes of the text, in their order."""
    ends: Integers
    """The end of the ranks of each."""
    numbers: Bytes
    """For each 2^shift ranks, the number of the byte of the first one."""
    shift: int


def symbols(layout: Layout) -> Symbols:
    """Return the bytes of a text by their ranks."""
    shift = max(0, layout.n.bit_length() - 16)
    ends = np.array(layout.c[1:], np.int64)
    firsts = np.arange(0, layout.n, 1 << shift)
    numbers = np.searchsorted(ends, firsts, side="right").astype(np.uint8)
    return Symbols(np.frombuffer(layout.comp2char, np.uint8), ends, numbers, shift)


@kernel
def walk(
    steps: Integers, s: Symbols, sa: Vector, isa: Vector, first: Int, text: Bytes
) -> tuple[Int, Int, Int]:
    """Fill in the text from a sample of ranks on, and compare all samples with it.

    Returns the problem, its position, and the number of samples of positions on the way.
    """
    n = len(steps)
    start = first * ISA_STEP
    stop = start + len(text)
    met = 0
    ranks = np.zeros(_LANES, np.int64)
    for group in range(start, stop, _LANES * ISA_STEP):
        lanes = min(_LANES, (stop - group + ISA_STEP - 1) // ISA_STEP)
        for lane in range(lanes):
            after = (group + lane * ISA_STEP) // ISA_STEP + 1
            ranks[lane] = _entry(isa, after if after * ISA_STEP < n else 0)
            if ranks[lane] >= n:
                return 3, min(n, after * ISA_STEP), met
        for back in range(ISA_STEP - 1, -1, -1):
            for lane in range(lanes):
                position = group + lane * ISA_STEP + back
                if position >= n:
                    continue
                rank = np.int64(steps[ranks[lane]])
                ranks[lane] = rank
                number = np.int64(s.numbers[rank >> s.shift])
                while rank >= s.ends[number]:
                    number += 1
                text[position - start] = s.bytes[number]
                if rank % SA_STEP == 0:
                    met += 1
                    if _entry(sa, rank // SA_STEP) != position:
                        return 2, position, met
        for lane in range(lanes):
            if ranks[lane] != _entry(isa, group // ISA_STEP + lane):
                return 3, group + lane * ISA_STEP, met
    return SOUND, 0, met


@kernel
def find_contradiction(n: Int, values: Vector, step: Int, others: Vector, other_step: Int) -> Int:
    """Return the first sample outside the text, or in conflict with the other samples; or -1.

    Some samples of ranks and of positions state the same fact.
    """
    for number in range((n - 1) // step + 1):
        value = _entry(values, number)
        if value >= n:
            return number
        if value % other_step == 0 and _entry(others, value // other_step) != number * step:
            return number
    return -1
