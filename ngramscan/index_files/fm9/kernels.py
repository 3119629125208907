"""The inner loops of the reader, compiled.

They read a mapped file that may be corrupt. `layout` has checked that all fields are inside the
file and have the right number of entries; here each number from a field is checked before it is
used as a place, so that the worst answer is CORRUPT: never a read outside the file, never an
endless loop. A field of up to 64 bits is read as two words, up to 16 bytes more than it has; the
last such field is always followed by 272 bytes.

The same loops read a file in place, of which only some parts are here: they stop at a part that is
missing, note which one it is, and leave all that it takes to resume from there. Whether parts can
be missing is in the type of `Tables`, so that it costs nothing where the whole file is here.
"""

# All integers are 64 bits wide, and of one kind in each expression: numba turns others into floats.

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from ngramscan.index_files.alike_ranks import alike_ranks
from ngramscan.index_files.compiled import Bytes, Int, Integers, by_type, warming_kernel
from ngramscan.index_files.fm9.layout import BLOCK, ISA_STEP, SA_STEP, SUPERBLOCK
from ngramscan.index_files.fm9.tables import (
    BEFORE,
    BITS,
    BT,
    BTNR,
    BTNR_BITS,
    BTNRP,
    BTNRP_WIDTH,
    BYTE,
    FIRST,
    INVERT,
    ISA,
    ISA_ENTRIES,
    LEFT,
    ONES,
    RANK,
    RANK_WIDTH,
    RIGHT,
    SA,
    SIZE,
    START,
    TEXT,
    TEXT_WIDTH,
    Tables,
)

CORRUPT = -1
"""Returned where a field contradicts another one, or a part of the file is missing."""
REPEATED = 1
"""Returned where the same is searched again and again."""

_BITS_OF_SUPERBLOCK = BLOCK * SUPERBLOCK
_GALLOPED = 64
"""Bytes: below a longer match, the ends within it are not searched one by one."""
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

# The number of a block is its place among all blocks with as many ones, in lexicographic order. It
# has up to 124 bits; so two arrays hold the bits of the binomial coefficients, [k, n]. They are
# constants of the compiled code: each argument of a kernel costs time at every call.
_COEFFICIENTS = [[comb(n, k) for n in range(BLOCK + 1)] for k in range(BLOCK + 1)]
COEFFICIENTS_HIGH = np.array([[c >> 64 for c in row] for row in _COEFFICIENTS], np.uint64)
COEFFICIENTS_LOW = np.array([[c & (1 << 64) - 1 for c in row] for row in _COEFFICIENTS], np.uint64)
NUMBER_BITS = np.array([(row[BLOCK] - 1).bit_length() for row in _COEFFICIENTS], np.int64)
"""Bits of the number of a block, by its number of ones."""


def _part_of_whole(t: Tables, _column: Int, _number: Int) -> tuple[bool, Tables]:
    return True, t


def _part_of_parts(t: Any, column: Int, number: Int) -> tuple[bool, Tables]:
    key = number << 3 | column
    keys, at, missing = t.parts
    for place in range(len(keys)):
        if keys[place] == key:
            return True, Tables(t.data, at[place], t.nodes, t.codes, t.leaves, t.lengths, t.parts)
    missing[0] += 1
    missing[missing[0]] = key
    return False, t


@by_type
def _part(t: Tables, _column: Int, _number: Int) -> Callable[..., tuple[bool, Tables]]:
    """Return whether a part of the file is here, and the tables by which to read it.

    Which function does that depends on the type of `t.parts`; for compiled code, one of numba's.
    """
    return _part_of_whole if str(t[-1]) in {"None", "none"} else _part_of_parts


@warming_kernel
def read_bits(data: Bytes, offset: Int, position: Int) -> np.uint64:
    """Return the 64 bits that start at a bit position."""
    at = np.uint64(offset + (position >> 3))
    word = np.uint64(0)
    for byte in range(8):  # the compiler turns this into one load
        word |= np.uint64(data[at + np.uint64(byte)]) << np.uint64(8 * byte)
    shift = np.uint64(position & 7)
    behind = np.uint64(data[at + np.uint64(8)]) << np.uint64(1)
    return word >> shift | behind << (np.uint64(63) - shift)


@warming_kernel
def read_entry(data: Bytes, offset: Int, width: Int, number: Int) -> Int:
    """Return an entry of a vector; no used entry has its highest bit set."""
    word = read_bits(data, offset, number * width)
    return np.int64(word & (_ALL >> np.uint64(64 - width)))


@warming_kernel
def _reaches(k: Int, x: Int, high: np.uint64, low: np.uint64) -> bool:
    """Whether binomial(x, k) <= a number."""
    top = COEFFICIENTS_HIGH[np.uint64(k), np.uint64(x)]
    return bool(top < high or (top == high and COEFFICIENTS_LOW[np.uint64(k), np.uint64(x)] <= low))


@warming_kernel
def _pass_bits(
    k: Int, high: np.uint64, low: np.uint64, x: Int, last: Int
) -> tuple[Int, np.uint64, np.uint64]:
    """Return the ones and the number that are left of a block behind its bits 126 - x … 125 - last.

    The next one is at the largest x with binomial(x, k) <= number; the block's bit is 126 - x.
    """
    while k > 0:
        while x > last and not _reaches(k, x, high, low):
            x -= 1
        if x <= last:
            break
        coefficient = COEFFICIENTS_LOW[np.uint64(k), np.uint64(x)]
        high -= COEFFICIENTS_HIGH[np.uint64(k), np.uint64(x)] + np.uint64(low < coefficient)
        low -= coefficient
        k -= 1
        x -= 1
    return k, high, low


@warming_kernel
def ones_in_block(
    t: Tables, pointer: Int, kind: Int, inverted: bool, first: Int, second: Int
) -> tuple[Int, Int]:
    """Return the ones of a block before an offset, and before a later one; both may be CORRUPT.

    The complement of a block has the same place from the other end, so that at most 63 ones have to
    be found.
    """
    width = NUMBER_BITS[np.uint64(kind)]
    k = 127 - kind if inverted else kind
    if k == 0:
        return 0, 0
    if k == 127:
        return first, second
    if pointer < 0 or pointer + width > t.at[BTNR_BITS]:
        return CORRUPT, CORRUPT
    low = read_bits(t.data, t.at[BTNR], pointer)
    high = np.uint64(0)
    if width > 64:
        high = read_bits(t.data, t.at[BTNR], pointer + 64) & (_ALL >> np.uint64(128 - width))
    else:
        low &= _ALL >> np.uint64(64 - width)
    if _reaches(k, 127, high, low):
        return CORRUPT, CORRUPT
    left = k
    if k > 63:
        left = 127 - k
        less = COEFFICIENTS_LOW[k, 127] - np.uint64(1)
        high = COEFFICIENTS_HIGH[k, 127] - high - np.uint64(less < low)
        low = less - low
    at_first, high, low = _pass_bits(left, high, low, 126, 126 - first)
    at_second, high, low = _pass_bits(at_first, high, low, 126 - first, 126 - second)
    if k > 63:
        return first - left + at_first, second - left + at_second
    return left - at_first, left - at_second


@warming_kernel
def _pass_blocks(
    t: Tables, block: Int, last: Int, inverted: bool, ones: Int, pointer: Int
) -> tuple[Int, Int, Int]:
    """Return the ones and the pointer at a later block of the same superblock, and its type."""
    blocks = last - block
    stored: Int = 0
    word = read_bits(t.data, t.at[BT], 7 * block)
    for passed in range(1, blocks + 1):
        kind = word & np.uint64(127)
        stored += np.int64(kind)
        pointer += NUMBER_BITS[kind]
        word >>= np.uint64(7)
        if passed & 7 == 0:
            word = read_bits(t.data, t.at[BT], 7 * (block + passed))
    ones += 127 * blocks - stored if inverted else stored
    return ones, pointer, np.int64(word & np.uint64(127))


@warming_kernel
def _ones_in_superblock(
    all_parts: Tables, block: Int, offset: Int, later: Int, behind: Int
) -> tuple[Int, Int]:
    """Return the ones before an offset in a block, and before one in the same or a later block.

    Both blocks are of one superblock. Both numbers may be CORRUPT.
    """
    superblock = block >> 5
    is_here, t = _part(all_parts, BT, superblock)
    if not is_here:
        return CORRUPT, CORRUPT
    first = superblock << 5
    ones = read_entry(t.data, t.at[RANK], t.at[RANK_WIDTH], superblock)
    after = read_entry(t.data, t.at[RANK], t.at[RANK_WIDTH], superblock + 1)
    if after == ones:
        return ones, ones
    if after - ones == _BITS_OF_SUPERBLOCK:
        return ones + (block - first) * 127 + offset, ones + (later - first) * 127 + behind
    pointer = read_entry(t.data, t.at[BTNRP], t.at[BTNRP_WIDTH], superblock)
    inverted = (t.data[np.uint64(t.at[INVERT] + (superblock >> 3))] >> (superblock & 7)) & 1 == 1
    ones, pointer, kind = _pass_blocks(t, first, block, inverted, ones, pointer)
    ones_later = ones
    if block == later:
        here, there = ones_in_block(t, pointer, kind, inverted, offset, behind)
    else:
        here, _ = ones_in_block(t, pointer, kind, inverted, offset, offset)
        ones_later, pointer, kind = _pass_blocks(t, block, later, inverted, ones, pointer)
        there, _ = ones_in_block(t, pointer, kind, inverted, behind, behind)
    if here < 0 or there < 0:
        return CORRUPT, CORRUPT
    return ones + here, ones_later + there


@warming_kernel
def bit_and_ones(t: Tables, position: Int) -> Int:
    """Return twice the number of ones before a bit of the bit vector, plus the bit."""
    block = np.int64(np.uint64(position) // np.uint64(127))
    offset = position - block * 127
    before, behind = _ones_in_superblock(t, block, offset, block, offset + 1)
    return before + behind if before >= 0 else CORRUPT


@warming_kernel
def _ones(t: Tables, first: Int, second: Int) -> tuple[Int, Int]:
    """Return the ones before a bit of the bit vector, and before a later one or its end.

    Each may be CORRUPT.
    """
    if first == t.at[BITS]:
        return t.at[ONES], t.at[ONES]
    block = np.int64(np.uint64(first) // np.uint64(127))
    later = np.int64(np.uint64(second) // np.uint64(127))
    offset, behind = first - block * 127, second - later * 127
    if block >> 5 == later >> 5 and second < t.at[BITS]:
        return _ones_in_superblock(t, block, offset, later, behind)
    before, _ = _ones_in_superblock(t, block, offset, block, offset)
    if second == t.at[BITS]:
        return before, t.at[ONES]
    after, _ = _ones_in_superblock(t, later, behind, later, behind)
    return before, after


@warming_kernel
def _step(t: Tables, byte: Int, low: Int, high: Int) -> tuple[Int, Int]:
    """Return the ranks of the suffixes that put a byte before a range of others, or CORRUPT."""
    node = 0
    code = t.codes[byte]
    for _ in range(t.lengths[byte]):
        if low == high:
            break
        before, behind = _ones(t, t.nodes[node, START] + low, t.nodes[node, START] + high)
        before -= t.nodes[node, BEFORE]
        behind -= t.nodes[node, BEFORE]
        if before < 0 or before > low or behind < before or behind - before > high - low:
            return CORRUPT, CORRUPT
        if code & np.uint64(1):
            low, high = before, behind
            node = t.nodes[node, RIGHT]
        else:
            low, high = low - before, high - behind
            node = t.nodes[node, LEFT]
        code >>= np.uint64(1)
        if high > t.nodes[node, SIZE]:
            return CORRUPT, CORRUPT
    return t.nodes[node, FIRST] + low, t.nodes[node, FIRST] + high


@warming_kernel
def _before(t: Tables, byte: Int, low: Int, high: Int) -> tuple[Int, Int]:
    """Return what `_step` does; also for a byte that the text lacks, and for the range of all."""
    leaf = t.leaves[byte]
    if leaf < 0:
        return low, low
    if high - low == t.at[TEXT]:
        return t.nodes[leaf, FIRST], t.nodes[leaf, FIRST] + t.nodes[leaf, SIZE]
    return _step(t, byte, low, high)


@warming_kernel
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


@warming_kernel
def find(t: Tables, patterns: Bytes, starts: Integers, path: Integers, segments: Integers) -> Int:
    """Find the ranks of the suffixes that begin with each pattern: half-open, or CORRUPT.

    The patterns follow each other; `starts` has the start of each, and the end of the last. `path`
    gets the ranks for each end of the pattern at hand, so it has a row more than the longest one;
    its first row has those that the search begins from. An end that a pattern shares with the one
    before it is not searched again. Returns 0, or CORRUPT if any is: such a pattern gets CORRUPT
    and the length of the end that was found.
    """
    found: Int = 0
    depth: Int = 0
    for number in range(len(segments)):
        start, stop = starts[number], starts[number + 1]
        most = min(depth, stop - start)
        depth = 0
        while depth < most and patterns[stop - 1 - depth] == patterns[start - 1 - depth]:
            depth += 1
        low, high = path[depth, 0], path[depth, 1]
        while low < high and depth < stop - start:
            low, high = _before(t, np.int64(patterns[stop - 1 - depth]), low, high)
            if low < 0:
                high = depth
                break
            depth += 1
            path[depth, 0], path[depth, 1] = low, high
        segments[number, 0], segments[number, 1] = low, high
        found = min(found, low)
    return found


@warming_kernel
def _match_start(t: Tables, text: Bytes, least: Int, end: Int) -> Int:
    """Return where the longest part of text[least:end] begins that ends there and occurs."""
    low, high = 0, t.at[TEXT]
    start = end
    while start > least:
        low, high = _before(t, np.int64(text[start - 1]), low, high)
        if low < 0:
            return CORRUPT
        if low == high:
            break
        start -= 1
    return start


@warming_kernel
def _first_alike(t: Tables, text: Bytes, ends: Integers, last: Int, start: Int) -> tuple[Int, Int]:
    """Return the first end whose longest part that occurs begins at `start`, or CORRUPT.

    All from there to `last` have it there; if there is none, it is `last` + 1. The search gallops
    from the first end behind `start`, so that in a copied text not every end is searched. Also
    returns the bytes that it took.
    """
    earlier = last
    while earlier >= 0 and ends[earlier] >= start:
        earlier -= 1
    first = last + 1
    step = 1
    searched = 0
    while first - earlier > 1:
        middle = earlier + min(step, (first - earlier) // 2)
        found = _match_start(t, text, start - 1, ends[middle])
        if found < 0:
            return CORRUPT, searched
        searched += ends[middle] - found
        if found < start:
            earlier = middle
            step *= 2
        else:
            first = middle
    return first, searched


@warming_kernel
def _spread(
    order: Integers, shared: Integers, rank: Int, size: Int, ends: Integers, starts: Integers
) -> Int:
    """Note the match of the end with a rank, for all ends before which `size` bytes are alike.

    These are the bytes of the match, and the one before, with which it doesn't occur. `order` has
    the ends in the order of what is before them, `shared` the bytes that each of them has in common
    with the next one. Returns how many ends are alike.
    """
    low, high = alike_ranks(shared, rank, size)
    for place in range(low, high):
        starts[order[place]] = ends[order[place]] - size + 1
    return high - low


@warming_kernel
def _first_known(
    t: Tables,
    text: Bytes,
    begin: Int,
    ends: Integers,
    starts: Integers,
    alike: tuple[Integers, Integers, Integers],
    last: Int,
) -> tuple[Int, Int]:
    """Return the first end whose longest part begins where that of the last one does, or CORRUPT.

    In repeated text, the start is also noted for all ends before which the text is alike. Also
    returns the bytes that the search took.
    """
    order, ranks, shared = alike
    start = starts[last]
    if start == begin:
        return 0, 0
    if len(order):
        _spread(order, shared, ranks[last], ends[last] - start + 1, ends, starts)
        if last > 0 and starts[last - 1] >= 0:
            return last, 0
    return _first_alike(t, text, ends, last - 1, start)


@warming_kernel
def match_starts(
    t: Tables,
    text: Bytes,
    begins: Integers,
    ends: Integers,
    starts: Integers,
    alike: tuple[Integers, Integers, Integers],
    most: Int,
) -> Int:
    """Fill in where the longest part of the text begins that ends at each end and occurs.

    The ends increase; each belongs to a text that begins before it, at `begins`. Starts are
    negative before. `alike` has the order of the ends of one text, the rank of each and the shared
    bytes, see `_spread`, or nothing. Returns 0, CORRUPT, or REPEATED where the search of long
    matches takes more than `most` bytes.
    """
    last = len(ends) - 1
    while last >= 0:
        if starts[last] >= 0:
            last -= 1
            continue
        start, end = _match_start(t, text, begins[last], ends[last]), ends[last]
        if start < 0:
            return CORRUPT
        starts[last] = start
        first = last
        if end - start > _GALLOPED:
            most -= end - start
            if most < 0:
                return REPEATED
            first, searched = _first_known(t, text, begins[last], ends, starts, alike, last)
            if first < 0:
                return CORRUPT
            most -= searched
        last -= 1
        while last >= first and ends[last] > start:
            starts[last] = start
            last -= 1
    return 0


@warming_kernel
def _sample(all_parts: Tables, column: Int, number: Int) -> Int:
    """Return a position of `sa` or a rank of `isa`, or CORRUPT."""
    is_here, t = _part(all_parts, column, number)
    if not is_here:
        return CORRUPT
    value = read_entry(t.data, t.at[column], t.at[TEXT_WIDTH], number)
    return value if value < t.at[TEXT] else CORRUPT


@warming_kernel
def _position(t: Tables, rank: Int) -> tuple[Int, Int, Int]:
    """Return the position of the suffix with some rank, or CORRUPT, and where the search stopped.

    That is a rank, and how many steps lead to it. All ranks are on one cycle, so none repeats
    before a sampled one; where one does, which Brent's algorithm detects, the file is corrupt.
    """
    steps = 0
    met = rank
    meet_again = 64
    while rank % SA_STEP:
        got = previous(t, rank)
        if got < 0 or steps > t.at[TEXT]:
            return CORRUPT, rank, steps
        rank = got >> 8
        steps += 1
        if rank == met:
            return CORRUPT, rank, steps
        if steps == meet_again:
            meet_again *= 2
            met = rank
    position = _sample(t, SA, rank // SA_STEP)
    if position < 0:
        return CORRUPT, rank, steps
    position += steps
    return position - t.at[TEXT] if position >= t.at[TEXT] else position, rank, steps


@warming_kernel
def locate(t: Tables, ranks: Integers, positions: Integers) -> None:
    """Fill in the position of the suffix with each rank; ranks are in the text.

    Where one can't be found, its place gets CORRUPT minus the number of steps that were made, and
    `ranks` the rank to which they lead.
    """
    for number in range(len(ranks)):
        position, rank, steps = _position(t, ranks[number])
        if position < 0:
            ranks[number] = rank
            position -= steps
        positions[number] = position


@warming_kernel
def _sampled_rank(t: Tables, position: Int) -> tuple[Int, Int]:
    """Return the next rank that is stored for a position or a later one, and that position."""
    sample = (position + ISA_STEP - 1) // ISA_STEP
    if sample >= t.at[ISA_ENTRIES]:
        return _sample(t, ISA, 0), t.at[TEXT]
    return _sample(t, ISA, sample), sample * ISA_STEP


@warming_kernel
def extract(
    t: Tables, starts: Integers, stops: Integers, ranks: Integers, places: Integers, text: Bytes
) -> Int:
    """Copy parts of the text, 0 <= start <= stop <= n, to their places in `text`.

    They are read backwards from `ranks`, those of the suffixes at their stops; one that is -1 is
    looked up. Returns 0; or CORRUPT, and leaves in `ranks` and `stops` where to resume.
    """
    for number in range(len(starts)):
        start = starts[number]
        stop = stops[number]
        if start == stop:
            continue
        rank = ranks[number]
        position = stop
        if rank < 0:
            rank, position = _sampled_rank(t, stop)
            if rank < 0:
                return CORRUPT
        while position > start:
            got = previous(t, rank)
            if got < 0:
                ranks[number] = rank
                stops[number] = position
                return CORRUPT
            rank = got >> 8
            position -= 1
            if position < stop:
                text[places[number] + position - start] = np.uint8(got & 255)
    return 0
