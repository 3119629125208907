"""Texts are cut at spans that overlap: each character has the level of the longest span over it."""

import random

import pytest

from ngramscan.prevalence.marks import LEVELS, Mark, cut_at_marks, cut_at_ranges, cut_where_marked


def level_of(words: int) -> int:
    return next((n for n, most in enumerate((7, 15, 31), start=1) if words <= most), len(LEVELS))


@pytest.mark.parametrize("seed", range(40))
def test_each_character_has_the_level_of_the_longest_span_over_it(seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choices("abc \n", k=rng.randint(1, 60)))
    number = rng.randint(0, min(9, len(text)))
    # In the order of starts and of ends, none contains another.
    starts = sorted(rng.sample(range(len(text)), number))
    ends = sorted(rng.sample(range(1, len(text) + 1), number))
    marks = [
        Mark(start, end, rng.choice([5, 7, 8, 15, 16, 31, 32, 99]))
        for start, end in zip(starts, ends, strict=True)
        if start < end
    ]
    parts = list(cut_at_marks(text, marks))
    assert "".join(piece for part in parts for piece, _ in part.pieces) == text
    levels = [level for part in parts for piece, level in part.pieces for _ in piece]
    assert levels == [
        max((level_of(mark.words) for mark in marks if mark.start <= at < mark.end), default=0)
        for at in range(len(text))
    ]
    begun, at = {}, 0
    for part in parts:
        if part.number is not None:
            begun[part.number] = at
            following = [mark.start for mark in marks[part.number + 1 :]]
            is_whole = marks[part.number].end <= min(following, default=len(text))
            assert part.is_whole == is_whole
        at += sum(len(piece) for piece, _ in part.pieces)
    assert begun == {n: mark.start for n, mark in enumerate(marks)}


def test_a_long_text_of_one_word_is_cut_soon() -> None:
    n = 40_000
    marks = [Mark(2 * first, 2 * first + n, n // 2) for first in range(n // 2 + 1)]
    parts = list(cut_at_marks("a " * n, marks))
    assert "".join(piece for part in parts for piece, _ in part.pieces) == "a " * n
    assert {level for part in parts for _, level in part.pieces} == {len(LEVELS)}


@pytest.mark.parametrize(
    ("marks", "parts"),
    [
        pytest.param([], [("abcdef", False)], id="no mark"),
        pytest.param([(1, 3)], [("a", False), ("bc", True), ("def", False)], id="one mark"),
        pytest.param([(0, 3), (2, 4)], [("abcd", True), ("ef", False)], id="marks that overlap"),
        pytest.param([(0, 2), (2, 6)], [("abcdef", True)], id="marks that touch"),
        pytest.param(
            [(0, 1), (2, 3), (5, 6)],
            [("a", True), ("b", False), ("c", True), ("de", False), ("f", True)],
            id="marks apart",
        ),
    ],
)
def test_a_text_is_cut_where_marks_begin_and_end_together(
    marks: list[tuple[int, int]], parts: list[tuple[str, bool]]
) -> None:
    given = [Mark(start, end, 5) for start, end in marks]
    assert list(cut_where_marked("abcdef", given)) == parts


@pytest.mark.parametrize("seed", range(40))
def test_each_character_is_in_the_ranges_that_cover_it(seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choices("abc \n", k=rng.randint(0, 40)))
    kinds = []
    for _ in range(3):
        ends = sorted(rng.sample(range(50), 2 * rng.randint(0, 6)))
        kinds.append(list(zip(ends[::2], ends[1::2], strict=True)))
    pieces = list(cut_at_ranges(text, kinds))
    assert "".join(piece for piece, _ in pieces) == text
    assert "" not in [piece for piece, _ in pieces]
    assert [covers for piece, covers in pieces for _ in piece] == [
        tuple(any(start <= at < stop for start, stop in ranges) for ranges in kinds)
        for at in range(len(text))
    ]
