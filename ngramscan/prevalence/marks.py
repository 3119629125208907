"""Spans of a text → the text cut where marks begin, end or overlap, as pages show it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LEVELS = (8, 16, 32)
"""Words from which on a mark is one level darker."""
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
    place, reaching = 0, deque[Mark]()
    for number, mark in enumerate(marks):
        if place < mark.start:
            yield Part(None, [(text[place : mark.start], 0)])
        following = marks[number + 1].start if number + 1 < len(marks) else len(text)
        place = min(mark.end, following)
        reaching.append(mark)
        while reaching[0].end <= mark.start:
            reaching.popleft()
        pieces = list(_pieces(text, mark.start, place, reaching))
        yield Part(number, pieces, is_whole=mark.end <= following)
    if place < len(text):
        yield Part(None, [(text[place:], 0)])


def _pieces(
    text: str, start: int, stop: int, reaching: Sequence[Mark]
) -> Iterator[tuple[str, int]]:
    """Yield a part cut where spans end; all that reach into it have its beginning."""
    while start < stop:
        end = min(stop, *(mark.end for mark in reaching if mark.end > start))
        longest = max(mark.words for mark in reaching if mark.end > start)
        yield text[start:end], 1 + sum(longest >= least for least in _LEVELS)
        start = end
