"""The inner loops of reading and checking indexes over tokens.

A table holds pointers, of `pointer_bytes` each, into a text of tokens, of `token_bytes` each. They
are ordered by the bytes that follow; a text that ends first comes first.
"""

from __future__ import annotations

from ngramscan.index_files.alike_ranks import alike_ranks
from ngramscan.index_files.compiled import Bytes, Int, Integers, lean_kernel, warming_kernel

SOUND = -1
"""Returned where no pointer is wrong; otherwise the rank of the first one."""
TOO_LONG = -2
"""Returned where the search of long matches takes more tokens than it may take."""
_GALLOPED = 16
"""Tokens of a match from which on its end is searched for others."""
WRONG = 2
"""The order of a pointer that leads to no token."""


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
        here, there = text[pointer + byte], pattern[start + byte]
        if here != there:
            return -1 if here < there else 1
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
def find(
    text: Bytes, table: Bytes, widths: Integers, patterns: Bytes, ends: Integers, found: Integers
) -> Int:
    """Fill in the ranks [low, high) of each pattern; return the rank of a wrong pointer, or SOUND.

    `widths` are those of pointers and tokens; pattern i ends at `ends[i]` of `patterns`.
    """
    start = 0
    for number in range(len(ends)):
        part = start, ends[number]
        start = ends[number]
        low, high = 0, len(table) // widths[0]
        after = high  # from there on, all suffixes come after the pattern
        while low < high:
            middle = (low + high) // 2
            order = _order(text, table, widths, middle, patterns, part)
            if order == WRONG:
                return middle
            low, high = (middle + 1, high) if order < 0 else (low, middle)
            after = middle if order > 0 else after
        found[number, 0] = low
        while low < after:
            middle = (low + after) // 2
            order = _order(text, table, widths, middle, patterns, part)
            if order == WRONG:
                return middle
            low, after = (low, middle) if order > 0 else (middle + 1, after)
        found[number, 1] = low
    return SOUND


@warming_kernel
def _shared_bytes(text: Bytes, pointer: Int, tokens: Bytes, ends: tuple[Int, Int]) -> Int:
    """Return how many bytes the text there has in common with a part of `tokens`."""
    most = min(ends[1] - ends[0], len(text) - pointer)
    shared: Int = 0
    while shared < most and text[pointer + shared] == tokens[ends[0] + shared]:
        shared += 1
    return shared


@warming_kernel
def _match_length(
    text: Bytes, table: Bytes, widths: Integers, tokens: Bytes, ends: tuple[Int, Int]
) -> tuple[Int, Int]:
    """Return the tokens of the longest beginning of a part that occurs; and a wrong rank, or SOUND.

    It is shared with one of the two suffixes beside the place of the whole part.
    """
    ranks = len(table) // widths[0]
    low, high = 0, ranks
    while low < high:
        middle = (low + high) // 2
        order = _order(text, table, widths, middle, tokens, ends)
        if order == WRONG:
            return 0, middle
        low, high = (middle + 1, high) if order < 0 else (low, middle)
    longest = 0
    for rank in range(max(low - 1, 0), min(low + 1, ranks)):
        pointer = pointer_at(table, rank, widths[0])
        if pointer < 0 or pointer >= len(text) or pointer % widths[1]:
            return 0, rank
        shared = _shared_bytes(text, pointer, tokens, ends)
        longest = max(longest, shared // widths[1])
    return longest, SOUND


@warming_kernel
def _last_with_end(
    text: Bytes, table: Bytes, widths: Integers, tokens: Bytes, number: Int, end: Int
) -> tuple[Int, Int, Int]:
    """Return the last token from which the longest part has the same end; and as above.

    It has this end from `number` on. The search gallops, so that in a copied text not each token is
    searched from. Also returns the tokens that it took.
    """
    known, beyond, step = number, end, 1
    searched = 0
    while beyond - known > 1:
        middle = known + min(step, (beyond - known) // 2)
        ends = middle * widths[1], (end + 1) * widths[1]
        length, wrong = _match_length(text, table, widths, tokens, ends)
        if wrong != SOUND:
            return known, wrong, searched
        searched += length
        if length > end - middle:
            beyond = middle
        else:
            known = middle
            step *= 2
    return known, SOUND, searched


@warming_kernel
def _last_known(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    tokens: Bytes,
    lengths: Integers,
    alike: tuple[Integers, Integers, Integers],
    number: Int,
) -> tuple[Int, Int, Int]:
    """Return the last token from which the longest part ends as from `number` on; and as above.

    In repeated text, the length is also noted for all tokens from which the text is alike: as far
    as the match, and the token behind it, with which it doesn't occur.
    """
    end = number + lengths[number]
    if end == len(lengths):
        return end - 1, SOUND, 0
    if lengths[number] <= _GALLOPED:
        return number, SOUND, 0
    order, ranks, shared = alike
    if len(order):
        size = (lengths[number] + 1) * widths[1]
        low, high = alike_ranks(shared, ranks[number], size)
        for rank in range(low, high):
            lengths[order[rank]] = lengths[number]
        if lengths[number + 1] >= 0:
            return number, SOUND, 0
    return _last_with_end(text, table, widths, tokens, number, end)


@warming_kernel
def match_lengths(
    text: Bytes,
    table: Bytes,
    widths: Integers,
    tokens: Bytes,
    lengths: Integers,
    alike: tuple[Integers, Integers, Integers],
    most: Int,
) -> Int:
    """Fill in the length of the longest part that occurs from each token on, in tokens.

    Lengths are negative before. `alike` has the order of the tokens by all that follows, the rank
    of each and the bytes that each shares with the next in this order; or nothing. Returns the rank
    of a wrong pointer, SOUND, or TOO_LONG where long matches take more than `most` tokens to find.
    """
    for number in range(len(lengths)):
        if lengths[number] >= 0:
            continue
        ends = number * widths[1], len(tokens)
        length, wrong = _match_length(text, table, widths, tokens, ends)
        if wrong != SOUND:
            return wrong
        lengths[number] = length
        if length > _GALLOPED:
            most -= length
        if most < 0:
            return TOO_LONG
        last, wrong, searched = _last_known(text, table, widths, tokens, lengths, alike, number)
        if wrong != SOUND:
            return wrong
        most -= searched
        for following in range(number + 1, last + 1):
            lengths[following] = number + length - following
    return SOUND


OUTSIDE, REPEATED, UNORDERED = range(3)
"""Problems of a pointer: it leads to no token; it is there twice; it belongs before the last."""


@lean_kernel
def _before(text: Bytes, first: Int, second: Int, most: Int) -> bool:
    """Whether a suffix comes before another, as far as their first `most` bytes tell."""
    rest = len(text) - max(first, second)
    for byte in range(min(rest, most)):
        here, there = text[first + byte], text[second + byte]
        if here != there:
            return bool(here < there)
    return bool(rest >= most or first > second)


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
