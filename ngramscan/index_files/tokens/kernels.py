"""The inner loops of reading and checking indexes over tokens.

A table holds pointers, of `pointer_bytes` each, into a text of tokens, of `token_bytes` each. They
are ordered by the suffixes of the text, compared by bytes; a prefix comes first.
"""

from __future__ import annotations

from ngramscan.index_files.compiled import (
    STOPPED,
    Bytes,
    Int,
    Integers,
    lean_kernel,
    warming_kernel,
)
from ngramscan.stopping import GO, STOP

SOUND = -1
"""Returned if no pointer is wrong; otherwise kernels return the rank of the first wrong one."""
TOO_LONG = -3
"""Returned if the search of long matches exceeds its limit of tokens."""
_GALLOPED = 16
"""From this length on, in tokens, the end of a match is searched for other starts, too."""
WRONG = 2
"""The order of a pointer that leads to no token."""
NEXT, LOW, AFTER, LEFT = range(4)
"""The state of a search: the next item, the remaining ranks, and the remaining limit of tokens."""
SEARCH_COLUMNS = 4


@warming_kernel
def pointer_at(table: Bytes, rank: Int, pointer_bytes: Int) -> Int:
    """Return one pointer."""
    value = 0
    for byte in range(pointer_bytes):
        value |= int(table[rank * pointer_bytes + byte]) << (8 * byte)
    return value


@warming_kernel
def _compare(text: Bytes, pointer: Int, pattern: Bytes, start: Int, stop: Int) -> Int:
    """Return -1, 0 or 1: the text there comes before a pattern, begins with it, comes after it."""
    shared = min(stop - start, len(text) - pointer)
    for byte in range(shared):
        text_byte, pattern_byte = text[pointer + byte], pattern[start + byte]
        if text_byte != pattern_byte:
            return -1 if text_byte < pattern_byte else 1
    return -1 if shared < stop - start else 0


@warming_kernel
def _order(
    text: Bytes, table: Bytes, widths: Integers, rank: Int, pattern: Bytes, ends: tuple[Int, Int]
) -> Int:
    """Return how the suffix with a rank compares with a part of `pattern`; 2: a wrong pointer."""
    pointer = pointer_at(table, rank, widths[0])
    if pointer < 0 or pointer >= len(text) or pointer % widths[1]:
        return WRONG
    return _compare(text, pointer, pattern, ends[0], ends[1])


@warming_kernel
def _shared(text: Bytes, pointer: Int, tokens: Bytes, part: tuple[Int, Int]) -> Int:
    """Return how many bytes the text there has in common with a part of the tokens."""
    most = min(part[1] - part[0], len(text) - pointer)
    shared = 0
    while shared < most and text[pointer + shared] == tokens[part[0] + shared]:
        shared += 1
    return shared


@warming_kernel
def _bisect(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    pattern: Bytes,
    part: tuple[Int, Int],
    high: Int,
    least: Int,
    at: Integers,
    flag: Bytes,
) -> Int:
    """Put the first rank from LOW to `high` whose order is at least `least` into LOW.

    AFTER gets a rank from which on all suffixes come after the part of the pattern. Returns the
    rank of a wrong pointer, STOPPED or SOUND.
    """
    while at[LOW] < high:
        if flag[0] == STOP:
            return STOPPED
        middle = (at[LOW] + high) // 2
        order = _order(text, table, widths, middle, pattern, part)
        if order == WRONG:
            return middle
        if order > 0:
            at[AFTER] = middle
        if order < least:
            at[LOW] = middle + 1
        else:
            high = middle
    return SOUND


@warming_kernel
def find(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    patterns: Bytes,
    ends: Integers,
    segments: Integers,
    at: Integers,
    flag: Bytes,
) -> Int:
    """Fill in the ranks [low, high) of each pattern; return the rank of a wrong pointer, or SOUND.

    `widths` are those of pointers and tokens; pattern i ends at `ends[i]` of `patterns`. `at` is
    how far the search is, zeros at first; STOPPED: the flag is set.
    """
    ranks = len(table) // widths[0]
    while at[NEXT] < len(ends):
        number = at[NEXT]
        part = (ends[number - 1] if number else 0), ends[number]
        at[LOW], at[AFTER] = 0, ranks
        outcome = _bisect(text, table, widths, patterns, part, ranks, 0, at, flag)
        if outcome == SOUND:
            segments[number, 0] = at[LOW]
            outcome = _bisect(text, table, widths, patterns, part, at[AFTER], 1, at, flag)
        if outcome != SOUND:
            return outcome
        segments[number, 1] = at[LOW]
        at[NEXT] += 1
        if flag[0] != GO:
            return STOPPED
    return SOUND


@warming_kernel
def _match_length(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    tokens: Bytes,
    part: tuple[Int, Int],
    at: Integers,
    flag: Bytes,
) -> tuple[Int, Int]:
    """Return the tokens of the longest beginning of a part that occurs; and how the search ended.

    That is the rank of a wrong pointer, STOPPED or SOUND. The longest beginning is shared with one
    of the two suffixes next to the place of the whole part.
    """
    ranks = len(table) // widths[0]
    at[LOW] = 0
    outcome = _bisect(text, table, widths, tokens, part, ranks, 0, at, flag)
    if outcome != SOUND:
        return 0, outcome
    low, longest = at[LOW], 0
    for rank in range(max(low - 1, 0), min(low + 1, ranks)):
        pointer = pointer_at(table, rank, widths[0])
        if pointer < 0 or pointer >= len(text) or pointer % widths[1]:
            return 0, rank
        shared = _shared(text, pointer, tokens, part)
        longest = max(longest, shared // widths[1])
    return longest, SOUND


@warming_kernel
def _last_with_end(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    tokens: Bytes,
    number: Int,
    end: Int,
    at: Integers,
    flag: Bytes,
) -> tuple[Int, Int]:
    """Return the last token from which the longest part has the same end; and as above.

    It has this end from `number` on. The search gallops, so that in a copied text not each token is
    searched from. The tokens that it takes are subtracted from LEFT.
    """
    last, beyond, step = number, end, 1
    while beyond - last > 1:
        middle = last + min(step, (beyond - last) // 2)
        part = middle * widths[1], (end + 1) * widths[1]
        length, outcome = _match_length(text, table, widths, tokens, part, at, flag)
        if outcome != SOUND:
            return last, outcome
        at[LEFT] -= length
        if length > end - middle:
            beyond = middle
        else:
            last = middle
            step *= 2
    return last, SOUND


@warming_kernel
def _alike_ranks(shared: Integers, rank: Int, size: Int) -> tuple[Int, Int]:
    """Return the ranks [low, high) of the tokens that share `size` bytes with the one of a rank.

    `shared` has, by rank, the bytes that are the same from a token on as from the next one.
    """
    low = rank
    while low > 0 and shared[low - 1] >= size:
        low -= 1
    high = rank + 1
    while high <= len(shared) and shared[high - 1] >= size:
        high += 1
    return low, high


@warming_kernel
def _last_known(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    tokens: Bytes,
    lengths: Integers,
    alike: tuple[Integers, Integers, Integers],
    number: Int,
    at: Integers,
    flag: Bytes,
) -> tuple[Int, Int]:
    """Return the last token from which the longest part ends as from `number` on; and as above.

    In repeated text, the length is also noted for all tokens from which the text is alike: as far
    as the match, and the token behind it, with which it doesn't occur.
    """
    end = number + lengths[number]
    if end == len(lengths):
        return end - 1, SOUND
    if lengths[number] <= _GALLOPED:
        return number, SOUND
    at[LEFT] -= lengths[number]
    order, ranks, shared = alike
    if len(order):
        size = (lengths[number] + 1) * widths[1]
        low, high = _alike_ranks(shared, ranks[number], size)
        for rank in range(low, high):
            lengths[order[rank]] = lengths[number]
        if lengths[number + 1] >= 0:
            return number, SOUND
    return _last_with_end(text, table, widths, tokens, number, end, at, flag)


@warming_kernel
def _measure_from(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    tokens: Bytes,
    lengths: Integers,
    alike: tuple[Integers, Integers, Integers],
    number: Int,
    at: Integers,
    flag: Bytes,
) -> Int:
    """Fill in the length of the longest part from one token on, and others that follow from it."""
    part = number * widths[1], len(tokens)
    length, outcome = _match_length(text, table, widths, tokens, part, at, flag)
    if outcome != SOUND:
        return outcome
    lengths[number] = length
    last, outcome = _last_known(text, table, widths, tokens, lengths, alike, number, at, flag)
    for following in range(number + 1, last + 1):
        lengths[following] = number + length - following
    return outcome


@warming_kernel
def match_lengths(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    tokens: Bytes,
    lengths: Integers,
    alike: tuple[Integers, Integers, Integers],
    at: Integers,
    flag: Bytes,
) -> Int:
    """Fill in the length of the longest part that occurs from each token on, in tokens.

    Lengths are negative before. `alike` has the order of the tokens by all that follows, the rank
    of each and the bytes that each shares with the next in this order; or nothing. `at` is how far
    the search is, zeros at first, but in LEFT how many tokens the search of long matches may take.
    Returns the rank of a wrong pointer, SOUND, TOO_LONG where it takes more, or STOPPED: the flag
    is set.
    """
    while at[NEXT] < len(lengths):
        number = at[NEXT]
        if lengths[number] < 0:
            outcome = _measure_from(text, table, widths, tokens, lengths, alike, number, at, flag)
            if outcome != SOUND:
                return outcome
        if at[LEFT] < 0:
            return TOO_LONG
        at[NEXT] += 1
        if flag[0] != GO:
            return STOPPED
    return SOUND


OUTSIDE, REPEATED, UNORDERED = range(3)
"""Problems of a pointer: it leads to no token; it is there twice; it belongs before the last."""


@lean_kernel
def _before(text: Bytes, first: Int, second: Int, most: Int) -> bool:
    """Tell whether a suffix comes before another, by their first `most` bytes."""
    comparable = len(text) - max(first, second)
    for byte in range(min(comparable, most)):
        first_byte, second_byte = text[first + byte], text[second + byte]
        if first_byte != second_byte:
            return bool(first_byte < second_byte)
    return bool(comparable >= most or first > second)


@lean_kernel
def check(
    text: Bytes, table: Bytes, widths: Integers, ranks: Integers, seen: Bytes, most: Int
) -> tuple[Int, Int]:
    """Check the pointers with some ranks, and their order with the next; return the first problem.

    It is a rank with one of the numbers above, or SOUND. `seen` has a bit for each token, or is
    empty: then only a pointer that is there twice in a row is found.
    """
    pointer_bytes, token_bytes = widths[0], widths[1]
    last = len(table) // pointer_bytes - 1
    for rank in ranks:
        pointer = pointer_at(table, rank, pointer_bytes)
        following = pointer_at(table, min(rank + 1, last), pointer_bytes)
        if pointer < 0 or pointer >= len(text) or pointer % token_bytes:
            return rank, OUTSIDE
        if len(seen):
            byte, bit = pointer // token_bytes // 8, 1 << (pointer // token_bytes % 8)
            if seen[byte] & bit:
                return rank, REPEATED
            seen[byte] |= bit
        if following < 0 or following >= len(text) or following % token_bytes:
            return min(rank + 1, last), OUTSIDE
        if rank < last and following == pointer:
            return rank + 1, REPEATED
        if rank < last and not _before(text, pointer, following, most):
            return rank + 1, UNORDERED
    return SOUND, OUTSIDE
