"""Spans of a text → the text cut where marks begin, end or overlap, to be shown."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

_LEVELS = (8, 16, 32)
"""Words from which on a mark is one level darker."""
TextRange = tuple[int, int]
"""The first character of a part of a text, and the one behind its last."""
LEVELS = (f"under {_LEVELS[0]}", *(f"{least} or more" for least in _LEVELS))
"""The lengths of each level in words, from level 1."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A span's place in its text, in characters, and its number of words."""

    start: int
    end: int
    words: int


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: outside all spans, or from the start of one to its end or the next one."""

    number: int | None
    """The number of the span, from 0; None: outside."""
    pieces: Sequence[tuple[str, int]]
    """Texts, each with the level of the longest span that has it; 0 outside."""
    is_whole: bool = True
    """Whether the span ends before the next one begins."""


def cut_at_marks(text: str, marks: Sequence[Mark]) -> Iterator[Part]:
    """Yield a text in parts: one per span, and those between them.

    Spans are in the order of their starts; they can overlap, but none contains another.
    """
    place, ends = 0, deque[int]()
    longest = deque[Mark]()  # of those that reach on: each has fewer words than those before it
    for number, mark in enumerate(marks):
        if place < mark.start:
            yield Part(None, [(text[place : mark.start], 0)])
        following = marks[number + 1].start if number + 1 < len(marks) else len(text)
        place = min(mark.end, following)
        ends.append(mark.end)
        while longest and longest[-1].words <= mark.words:
            longest.pop()
        longest.append(mark)
        pieces = list(_pieces(text, mark.start, place, ends, longest))
        yield Part(number, pieces, is_whole=mark.end <= following)
    if place < len(text):
        yield Part(None, [(text[place:], 0)])


def cut_where_marked(text: str, marks: Sequence[Mark]) -> Iterator[tuple[str, bool]]:
    """Yield a text in parts, each with whether it is in a mark; marks that touch are one part."""
    parts = cut_at_marks(text, marks)
    for is_marked, stretch in groupby(parts, key=lambda part: part.number is not None):
        yield "".join(piece for part in stretch for piece, _ in part.pieces), is_marked


def _pieces(
    text: str, start: int, stop: int, ends: deque[int], longest: deque[Mark]
) -> Iterator[tuple[str, int]]:
    """Yield a part cut where spans end; those that end before a piece are taken away."""
    while start < stop:
        while ends[0] <= start:
            ends.popleft()
        while longest[0].end <= start:
            longest.popleft()
        end = min(stop, ends[0])
        yield text[start:end], 1 + sum(longest[0].words >= least for least in _LEVELS)
        start = end


def cut_at_ranges(
    text: str, kinds: Sequence[Sequence[TextRange]]
) -> Iterator[tuple[str, tuple[bool, ...]]]:
    """Yield a text in pieces, each with whether a range of each kind covers it.

    Ranges of one kind are in their order and don't overlap; what is beyond the text is left out.
    """
    cuts = {end for ranges in kinds for each_range in ranges for end in each_range}
    ends = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for start, stop in pairwise(ends):
        yield (
            text[start:stop],
            tuple(_is_covered(ranges, start) for ranges in kinds),
        )


def _is_covered(ranges: Sequence[TextRange], place: int) -> bool:
    """Tell whether a character is in one of some ranges."""
    number = bisect_right(ranges, place, key=lambda each: each[0]) - 1
    return number >= 0 and place < ranges[number][1]
