"""The compiled inner loops of the reader.

They read a mapped file that may be corrupt. `layout` has checked that all fields are inside the
file and have the right number of entries; here each number from a field is checked before it is
used as a place, so that the worst result is CORRUPT: never a read outside the file, never an
endless loop. A field of up to 64 bits is read as two words, up to 16 bytes past its end; the last
such field is always followed by 272 bytes.

The same loops read a file in place, with only some of its parts in memory: they stop at a missing
part, record which one it is, and save the state that is needed to resume. Whether parts can be
missing is in the type of `Tables`, so that it costs nothing if the whole file is mapped.

Their caller can stop them by a flag (`ngramscan.stopping`): a kernel that returns STOPPED continues
when it is called again with the same arrays. Each loop that reads the flag also writes into an
array; otherwise the compiler would read the flag only once.
"""

# All integers are 64 bits wide, and of one kind in each expression: numba turns others into floats.

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from ngramscan.index_files.compiled import (
    STOPPED,
    Bytes,
    Int,
    Integers,
    by_type,
    warming_kernel,
)
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
from ngramscan.stopping import GO, STOP

CORRUPT = -1
"""Returned if a field contradicts another one, or a part of the file is missing."""

_BITS_OF_SUPERBLOCK = BLOCK * SUPERBLOCK
_GALLOPED = 64
"""Bytes: below a longer match, the ends within it are not searched one by one."""
_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

# How far `match_starts` is: the last end without a start; of the ends with the same start, the
# first one, or NOT_SEARCHED, and what the search for it keeps; the distance at which the text
# repeats itself, or 0, and from where on it does; the last end that was searched, and how long its
# part is; the start of the part that is searched.
(LAST, FIRST_ALIKE, EARLIER, JUMP) = range(4)
(PERIOD, ALIKE_FROM, END_BEHIND, LENGTH_BEHIND, MATCHED_FROM) = range(4, 9)
MATCHING_COLUMNS = 9
NOT_SEARCHED = -1

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
    """Return whether a part of the file is in memory, and the tables to read it with.

    Which function does that depends on the type of `t.parts`; in compiled code, on numba's type.
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
    next_byte = np.uint64(data[at + np.uint64(8)]) << np.uint64(1)
    return word >> shift | next_byte << (np.uint64(63) - shift)


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

    The number of a block's complement counts from the other end, so at most 63 ones have to be
    located.
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
    ones_to_find = k
    if k > 63:
        ones_to_find = 127 - k
        less = COEFFICIENTS_LOW[k, 127] - np.uint64(1)
        high = COEFFICIENTS_HIGH[k, 127] - high - np.uint64(less < low)
        low = less - low
    at_first, high, low = _pass_bits(ones_to_find, high, low, 126, 126 - first)
    at_second, high, low = _pass_bits(at_first, high, low, 126 - first, 126 - second)
    if k > 63:
        return first - ones_to_find + at_first, second - ones_to_find + at_second
    return ones_to_find - at_first, ones_to_find - at_second


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
    all_parts: Tables, block: Int, offset: Int, later: Int, later_offset: Int
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
        return ones + (block - first) * 127 + offset, ones + (later - first) * 127 + later_offset
    pointer = read_entry(t.data, t.at[BTNRP], t.at[BTNRP_WIDTH], superblock)
    inverted = (t.data[np.uint64(t.at[INVERT] + (superblock >> 3))] >> (superblock & 7)) & 1 == 1
    ones, pointer, kind = _pass_blocks(t, first, block, inverted, ones, pointer)
    ones_later = ones
    if block == later:
        ones_before, ones_before_later = ones_in_block(
            t, pointer, kind, inverted, offset, later_offset
        )
    else:
        ones_before, _ = ones_in_block(t, pointer, kind, inverted, offset, offset)
        ones_later, pointer, kind = _pass_blocks(t, block, later, inverted, ones, pointer)
        ones_before_later, _ = ones_in_block(t, pointer, kind, inverted, later_offset, later_offset)
    if ones_before < 0 or ones_before_later < 0:
        return CORRUPT, CORRUPT
    return ones + ones_before, ones_later + ones_before_later


@warming_kernel
def bit_and_ones(t: Tables, position: Int) -> Int:
    """Return twice the number of ones before a bit of the bit vector, plus the bit."""
    block = np.int64(np.uint64(position) // np.uint64(127))
    offset = position - block * 127
    before, before_next = _ones_in_superblock(t, block, offset, block, offset + 1)
    return before + before_next if before >= 0 else CORRUPT


@warming_kernel
def _ones(t: Tables, first: Int, second: Int) -> tuple[Int, Int]:
    """Return the ones before a bit of the bit vector, and before a later one or its end.

    Each may be CORRUPT.
    """
    if first == t.at[BITS]:
        return t.at[ONES], t.at[ONES]
    block = np.int64(np.uint64(first) // np.uint64(127))
    later = np.int64(np.uint64(second) // np.uint64(127))
    offset, later_offset = first - block * 127, second - later * 127
    if block >> 5 == later >> 5 and second < t.at[BITS]:
        return _ones_in_superblock(t, block, offset, later, later_offset)
    before, _ = _ones_in_superblock(t, block, offset, block, offset)
    if second == t.at[BITS]:
        return before, t.at[ONES]
    after, _ = _ones_in_superblock(t, later, later_offset, later, later_offset)
    return before, after


@warming_kernel
def _step(t: Tables, byte: Int, low: Int, high: Int) -> tuple[Int, Int]:
    """Return the ranks of the suffixes that put a byte before a range of others, or CORRUPT."""
    node = 0
    code = t.codes[byte]
    for _ in range(t.lengths[byte]):
        if low == high:
            break
        before_low, before_high = _ones(t, t.nodes[node, START] + low, t.nodes[node, START] + high)
        before_low -= t.nodes[node, BEFORE]
        before_high -= t.nodes[node, BEFORE]
        if (
            before_low < 0
            or before_low > low
            or before_high < before_low
            or before_high - before_low > high - low
        ):
            return CORRUPT, CORRUPT
        if code & np.uint64(1):
            low, high = before_low, before_high
            node = t.nodes[node, RIGHT]
        else:
            low, high = low - before_low, high - before_high
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
def extend(
    t: Tables, texts: Bytes, starts: Integers, segments: Integers, at: Integers, flag: Bytes
) -> Int:
    """Put a text before each range of ranks, half-open, in its place: empty if it isn't there.

    The texts follow each other; `starts` has the start of each, and the end of the last. `at` is
    how far the search is, zeros at first: the number of the text at hand, and how many of its last
    bytes were found. Returns 0, CORRUPT or STOPPED.
    """
    while at[0] < len(segments):
        number = at[0]
        start, stop = starts[number], starts[number + 1]
        low, high = segments[number, 0], segments[number, 1]
        while low < high and at[1] < stop - start:
            low, high = _before(t, np.int64(texts[stop - 1 - at[1]]), low, high)
            if low < 0:
                return CORRUPT
            segments[number, 0] = low
            segments[number, 1] = high
            at[1] += 1
            if flag[0] != GO:
                return STOPPED
        at[0] += 1
        at[1] = 0
    return 0


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
def _shared_end(patterns: Bytes, starts: Integers, number: Int, most: Int) -> Int:
    """Return the length of the common suffix with the previous pattern, up to `most`."""
    start, stop = starts[number], starts[number + 1]
    most = min(most, stop - start)
    shared = 0
    while shared < most and patterns[stop - 1 - shared] == patterns[start - 1 - shared]:
        shared += 1
    return shared


@warming_kernel
def find(
    t: Tables,
    patterns: Bytes,
    starts: Integers,
    path: Integers,
    segments: Integers,
    at: Integers,
    flag: Bytes,
) -> Int:
    """Find the ranks of the suffixes that begin with each pattern: half-open, or CORRUPT.

    The patterns follow each other; `starts` has the start of each, and the end of the last. `path`
    gets the ranks for each end of the pattern at hand, so it has a row more than the longest one;
    its first row has those that the search begins from. An end that a pattern shares with the one
    before it is not searched again. `at` is how far the search is, zeros at first: the number of
    the pattern at hand, how many of its last bytes have ranks in `path`, and CORRUPT if a pattern
    was. Returns that, or STOPPED. A corrupt pattern gets CORRUPT and the length of the end that was
    found.
    """
    while at[0] < len(segments):
        number, depth = at[0], at[1]
        start, stop = starts[number], starts[number + 1]
        low, high = path[depth, 0], path[depth, 1]
        while low < high and depth < stop - start:
            low, high = _before(t, np.int64(patterns[stop - 1 - depth]), low, high)
            if low < 0:
                high = depth
                at[2] = CORRUPT
                break
            depth += 1
            path[depth, 0], path[depth, 1] = low, high
            at[1] = depth
            if flag[0] != GO:
                return STOPPED
        segments[number, 0], segments[number, 1] = low, high
        at[0] = number + 1
        if number + 1 < len(segments):
            at[1] = _shared_end(patterns, starts, number + 1, depth)
    return at[2]


@warming_kernel
def _match_start(t: Tables, text: Bytes, least: Int, end: Int, at: Integers, flag: Bytes) -> Int:
    """Return where the longest part of text[least:end] begins that ends there and occurs.

    Or CORRUPT, or STOPPED; it is too short a step to pause in it.
    """
    low, high = 0, t.at[TEXT]
    start = end
    while start > least:
        if flag[0] == STOP:
            return STOPPED
        low, high = _before(t, np.int64(text[start - 1]), low, high)
        if low < 0:
            return CORRUPT
        if low == high:
            break
        start -= 1
        at[MATCHED_FROM] = start
    return start


@warming_kernel
def _begin_group(ends: Integers, begin: Int, start: Int, at: Integers) -> None:
    """Prepare the search of the ends before the last one whose parts begin at the same place."""
    last = at[LAST]
    at[FIRST_ALIKE], at[EARLIER], at[JUMP] = last, last - 1, 1
    if start == begin:
        at[FIRST_ALIKE] = 0
    elif ends[last] - start > _GALLOPED:
        while at[EARLIER] >= 0 and ends[at[EARLIER]] >= start:
            at[EARLIER] -= 1


@warming_kernel
def _find_first_alike(
    t: Tables, text: Bytes, ends: Integers, start: Int, at: Integers, flag: Bytes
) -> Int:
    """Find the first end whose longest part that occurs begins at `start`; CORRUPT, STOPPED or 0.

    All from there to the last one have it there. The search gallops from the first end behind
    `start`, so that in a copied text not every end is searched.
    """
    while at[FIRST_ALIKE] - at[EARLIER] > 1:
        middle = at[EARLIER] + min(at[JUMP], (at[FIRST_ALIKE] - at[EARLIER]) // 2)
        matched = _match_start(t, text, start - 1, ends[middle], at, flag)
        if matched < 0:
            return matched
        if matched < start:
            at[EARLIER] = middle
            at[JUMP] *= 2
        else:
            at[FIRST_ALIKE] = middle
        if flag[0] != GO:
            return STOPPED
    return 0


@warming_kernel
def _note_period(start: Int, end: Int, at: Integers) -> None:
    """Record the distance of two searches if both found a part of the same length."""
    length = end - start
    if length > _GALLOPED and length == at[LENGTH_BEHIND]:
        at[PERIOD], at[ALIKE_FROM] = at[END_BEHIND] - end, end
    at[END_BEHIND], at[LENGTH_BEHIND] = end, length


@warming_kernel
def _repeats(text: Bytes, begin: Int, end: Int, at: Integers) -> bool:
    """Whether a part of the text has the same bytes as the one that is a period later.

    The parts move to the left from call to call, so that each byte is compared once for all.
    """
    alike_from = min(at[ALIKE_FROM], end)
    while alike_from > begin and text[alike_from - 1] == text[alike_from - 1 + at[PERIOD]]:
        alike_from -= 1
    at[ALIKE_FROM] = alike_from
    return bool(alike_from <= begin)


@warming_kernel
def _copy_starts(
    text: Bytes, begins: Integers, ends: Integers, starts: Integers, at: Integers
) -> None:
    """Fill in the starts of the ends up to which the text repeats itself, without a search.

    A part that occurs, and with the byte before it doesn't, is the longest one a period earlier,
    too, if the text has the same bytes there.
    """
    later = at[LAST] + 1
    while at[LAST] >= 0 and at[PERIOD] > 0:
        last = at[LAST]
        least_end = ends[last] + at[PERIOD]
        while later > last + 1 and ends[later - 1] >= least_end:
            later -= 1
        while later < len(ends) and ends[later] < least_end:
            later += 1
        start = begins[last]
        if later < len(ends) and ends[later] == least_end and begins[later] == begins[last]:
            start = starts[later] - at[PERIOD]
        if start > begins[last] and _repeats(text, start - 1, ends[last], at):
            starts[last] = start
            at[LAST] -= 1
        else:
            at[PERIOD] = 0


@warming_kernel
def match_starts(
    t: Tables,
    text: Bytes,
    begins: Integers,
    ends: Integers,
    starts: Integers,
    at: Integers,
    flag: Bytes,
) -> Int:
    """Fill in where the longest part of the text begins that ends at each end and occurs.

    The ends increase; each belongs to a text that begins before it, at `begins`. `at` is how far
    the search is, zeros at first, but the number of ends - 1 in LAST, and NOT_SEARCHED in
    FIRST_ALIKE. Returns 0, CORRUPT or STOPPED.
    """
    while at[LAST] >= 0:
        last = at[LAST]
        if at[FIRST_ALIKE] == NOT_SEARCHED:
            starts[last] = _match_start(t, text, begins[last], ends[last], at, flag)
            if starts[last] < 0:
                return starts[last]
            _begin_group(ends, begins[last], starts[last], at)
        start = starts[last]
        outcome = 0
        if ends[last] - start > _GALLOPED:
            outcome = _find_first_alike(t, text, ends, start, at, flag)
        if outcome < 0:
            return outcome
        _note_period(start, ends[last], at)
        at[LAST] -= 1
        while at[LAST] >= at[FIRST_ALIKE] and ends[at[LAST]] > start:
            starts[at[LAST]] = start
            at[LAST] -= 1
        at[FIRST_ALIKE] = NOT_SEARCHED
        _copy_starts(text, begins, ends, starts, at)
        if flag[0] != GO:
            return STOPPED
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
    mark = rank
    meet_again = 64
    while rank % SA_STEP:
        got = previous(t, rank)
        if got < 0 or steps > t.at[TEXT]:
            return CORRUPT, rank, steps
        rank = got >> 8
        steps += 1
        if rank == mark:
            return CORRUPT, rank, steps
        if steps == meet_again:
            meet_again *= 2
            mark = rank
    position = _sample(t, SA, rank // SA_STEP)
    if position < 0:
        return CORRUPT, rank, steps
    position += steps
    return position - t.at[TEXT] if position >= t.at[TEXT] else position, rank, steps


@warming_kernel
def locate(t: Tables, ranks: Integers, positions: Integers, first: Int, flag: Bytes) -> Int:
    """Fill in the position of the suffix with each rank, from the `first` on.

    Ranks are in the text. Where a position can't be found, its place gets CORRUPT minus the number
    of steps that were made, and `ranks` the rank to which they lead. Returns the number of the rank
    to continue from: all, unless it is stopped.
    """
    for number in range(first, len(ranks)):
        position, rank, steps = _position(t, ranks[number])
        if position < 0:
            ranks[number] = rank
            position -= steps
        positions[number] = position
        if flag[0] != GO:
            return number + 1
    return len(ranks)


@warming_kernel
def _sampled_rank(t: Tables, position: Int) -> tuple[Int, Int]:
    """Return the next rank that is stored for a position or a later one, and that position."""
    sample = (position + ISA_STEP - 1) // ISA_STEP
    if sample >= t.at[ISA_ENTRIES]:
        return _sample(t, ISA, 0), t.at[TEXT]
    return _sample(t, ISA, sample), sample * ISA_STEP


@warming_kernel
def _read_back(
    t: Tables, rank: Int, place: tuple[Int, Int], stop: Int, text: Bytes, flag: Bytes
) -> tuple[Int, Int, Int]:
    """Copy the text before `stop` and before a rank, up to the beginning of `text`.

    `place` has the places of the rank and of the beginning. Returns 0, CORRUPT or STOPPED, and the
    rank and the place that were reached.
    """
    position, start = place
    while position > start:
        got = previous(t, rank)
        if got < 0:
            return CORRUPT, rank, position
        rank = got >> 8
        position -= 1
        if position < stop:
            text[position - start] = np.uint8(got & 255)
            if flag[0] != GO:
                return STOPPED, rank, position
    return 0, rank, position


@warming_kernel
def extract(
    t: Tables,
    starts: Integers,
    stops: Integers,
    ranks: Integers,
    places: Integers,
    text: Bytes,
    flag: Bytes,
) -> Int:
    """Copy parts of the text, 0 <= start <= stop <= n, to their places in `text`.

    They are read backwards from `ranks`, those of the suffixes at their stops; one that is -1 is
    looked up. Returns 0; or CORRUPT or STOPPED, and leaves in `ranks` and `stops` where to resume.
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
        part = text[places[number] :]
        outcome, rank, position = _read_back(t, rank, (position, start), stop, part, flag)
        ranks[number] = rank
        stops[number] = position
        if outcome < 0:
            return outcome
    return 0
