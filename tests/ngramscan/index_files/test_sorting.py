"""The memory that an index takes while it is built, and the text that fits into some memory."""

import pytest

from ngramscan.index_files.sorting import LONGEST_TEXT, longest_text_in, memory_for

GIB = 1 << 30


@pytest.mark.parametrize(
    ("text_bytes", "memory"),
    [
        (0, 0),
        (1_000, 5_200),
        (2 * GIB - 1, 11_166_914_964),  # 5.2 bytes each
        (2 * GIB, 20_186_346_291),  # 9.4 bytes each
    ],
)
def test_the_memory_for_a_text_by_hand(text_bytes: int, memory: int) -> None:
    assert memory_for(text_bytes) == memory


@pytest.mark.parametrize(
    ("memory", "text_bytes"),
    [
        (0, 0),
        (5_200, 1_000),
        (11_166_914_970, 2 * GIB - 1),
        # Positions of 64 bits take more: as much text, until that memory has more of it.
        (20_000_000_000, 2 * GIB - 1),
        (94_000_000_000, 10_000_000_000),
        (10**15, 2**40 - 1),
    ],
)
def test_the_longest_text_in_some_memory_by_hand(memory: int, text_bytes: int) -> None:
    assert longest_text_in(memory) == text_bytes
    assert text_bytes == LONGEST_TEXT or memory_for(text_bytes) <= memory
