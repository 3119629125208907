"""Where to cut the text around an occurrence, so that no character is broken."""

from __future__ import annotations


def cut_ends(content: bytes, start: int, end: int, context: int) -> tuple[int, int]:
    """Return where to cut a document around the occurrence from `start` to `end`.

    `context` bytes are left on each side, or up to three fewer where a UTF-8 character would be
    cut. Bytes that are not UTF-8 may be cut anywhere.
    """
    low, high = max(start - context, 0), min(end + context, len(content))
    least, most = max(high - 3, end), min(low + 3, start)
    while low < most and _is_inside(content, low):
        low += 1
    while high > least and _is_inside(content, high):
        high -= 1
    return low, high


def _is_inside(content: bytes, position: int) -> bool:
    return 0 < position < len(content) and content[position] & 0xC0 == 0x80
