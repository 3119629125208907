"""Parts of documents around an occurrence, and matches of texts that are held backwards."""

import random

import numpy as np
import pytest

from ngramscan.index_files.tokens.excerpts import (
    DocumentBounds,
    bounds_around,
    ends_in_reading_order,
    positions_of,
)


@pytest.mark.parametrize("is_backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("length", [0, 1, 2, 7])
def test_parts_are_those_of_the_text_as_it_is_read(length: int, is_backwards: bool) -> None:
    first = 5
    document = DocumentBounds(first, first + length)
    assert document.length == length
    text = [100 + place for place in range(length)]
    held = [0] * first + (text[::-1] if is_backwards else text)
    for start in range(length):
        for needle in range(1, length - start + 1):
            # Where the occurrence begins as it is held.
            position = first + (length - start - needle if is_backwards else start)
            for before in range(4):
                for after in range(5):
                    part = bounds_around(document, position, needle, before, after, is_backwards)
                    assert part.start == max(start - before, 0)
                    assert part.stop == min(start + after, length)
                    assert part.offset == start - part.start
                    places = positions_of(document, part.start, part.stop, is_backwards)
                    tokens = [held[place] for place in places]
                    in_order = tokens[::-1] if is_backwards else tokens
                    assert in_order == text[part.start : part.stop]


@pytest.mark.parametrize("is_backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("length", [0, 3])
def test_the_separator_is_before_the_document(length: int, is_backwards: bool) -> None:
    document = DocumentBounds(5, 5 + length)
    part = bounds_around(document, 4, 1, 2, 3, is_backwards)
    assert part == (0, min(2, length), -1)


@pytest.mark.parametrize("seed", range(20))
def test_ends_backwards_are_those_of_a_search_from_each_token(seed: int) -> None:
    draw = random.Random(seed)
    corpus = [draw.randrange(3) for _ in range(40)]
    text = [draw.randrange(4) for _ in range(draw.randrange(12))]
    parts = {tuple(corpus[start:stop]) for start in range(40) for stop in range(start + 1, 41)}
    ends = [
        max(
            stop
            for stop in range(start, len(text) + 1)
            if start == stop or tuple(text[start:stop]) in parts
        )
        for start in range(len(text))
    ]
    lengths = np.array([end - start for start, end in enumerate(ends)], np.int64)
    assert ends_in_reading_order(lengths, is_backwards=False).tolist() == ends
    # The longest part that ends with each token, from the last one on.
    backwards = [
        max(n for n in range(stop + 1) if not n or tuple(text[stop - n : stop]) in parts)
        for stop in range(len(text), 0, -1)
    ]
    found_ends = ends_in_reading_order(np.array(backwards, np.int64), is_backwards=True)
    assert found_ends.tolist() == ends
