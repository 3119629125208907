"""The memory that sorting the suffixes of a text takes.

In bytes per byte of text: at most 5.2, for the suffix array (4), the text (1) and samples (3/16);
from 2 GiB on 9.4, since positions then have 64 bits.
"""

from __future__ import annotations

LONGEST_TEXT = (1 << 40) - 1
_LONGEST_WITH_32_BITS = (1 << 31) - 1
_MEMORY_PER_BYTE, _MEMORY_PER_BYTE_WITH_64_BITS = 5.2, 9.4


def memory_for(text_bytes: int) -> int:
    """Return the bytes of memory for indexing a text, including the text."""
    is_short = text_bytes <= _LONGEST_WITH_32_BITS
    return round(text_bytes * (_MEMORY_PER_BYTE if is_short else _MEMORY_PER_BYTE_WITH_64_BITS))


def longest_text_in(memory: int) -> int:
    """Return the bytes of the longest text that can be indexed in some memory."""
    short = min(int(memory / _MEMORY_PER_BYTE), _LONGEST_WITH_32_BITS)
    return min(max(short, int(memory / _MEMORY_PER_BYTE_WITH_64_BITS)), LONGEST_TEXT)
