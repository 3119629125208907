"""The parts of a document that are removed: all of its record, or passages of its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ngramscan.errors import CorpusError
from ngramscan.messages import counted


@dataclass(frozen=True, slots=True)
class Removal:
    """One document of which a copy of the corpus lacks something.

    A ValueError says that there are no ranges, or that one of them is empty or negative.
    """

    ranges: tuple[tuple[int, int], ...] | None = None
    """Passages as characters of the text, the stop exclusive, in any order; None: the record."""

    def __post_init__(self) -> None:
        if self.ranges is None:
            return
        if not self.ranges:
            raise ValueError("no range of characters to cut; the whole record is None")
        for start, stop in self.ranges:
            if not 0 <= start < stop:
                raise ValueError(f"not a range of characters: {start} to {stop}")

    @property
    def characters(self) -> int | None:
        """Return how many characters are cut, overlaps once; None: the whole record leaves."""
        if self.ranges is None:
            return None
        return sum(stop - start for start, stop in merged(self.ranges))


WHOLE_RECORD = Removal()
"""The record leaves with all of its fields."""
Removals = Mapping[int, Removal]
"""The removals of one file, by the number of the record: its line, row or item, from 1."""


def merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges in order; those that overlap or touch become one."""
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    return joined


def remaining(
    lengths: Sequence[int], ranges: Sequence[tuple[int, int]], where: str
) -> list[list[slice]]:
    """Return which characters of each part of a text stay when passages of it are cut.

    Parameters
    ----------
    lengths : sequence of int
        Characters of the parts. The text consists of them with a line end between two; these line
        ends belong to no part, so that they stay.
    ranges : sequence of (int, int)
        The passages, as characters of the text; the stop is exclusive.
    where : str
        The document in messages.

    Returns
    -------
    list of list of slice
        For each part, what stays of it, in order.

    Raises
    ------
    CorpusError
        A passage ends after the text.
    """
    passages = merged(ranges)
    text_length = sum(lengths) + max(len(lengths) - 1, 0)
    if passages[-1][1] > text_length:
        problem = f"its text has {counted(text_length, 'character')}, and a passage to be cut ends"
        raise CorpusError(where, f"{problem} at {passages[-1][1]:,}; search the corpus again")
    parts: list[list[slice]] = []
    offset = 0
    for length in lengths:
        position, slices = 0, []
        for start, stop in passages:
            first, last = max(start - offset, 0), min(stop - offset, length)
            if first < last:
                slices.append(slice(position, first))
                position = last
        parts.append([*slices, slice(position, length)])
        offset += length + 1
    return parts


def cut(text: str, ranges: Sequence[tuple[int, int]], where: str) -> str:
    """Return a text without some passages; see `remaining`."""
    (slices,) = remaining([len(text)], ranges, where)
    return "".join(text[each] for each in slices)


def refuse_left_over(removals: Removals, last_record: int, path: str, noun: str) -> None:
    """Raise a CorpusError where a record is to be removed that a file does not have."""
    beyond = [number for number in removals if not 1 <= number <= last_record]
    if beyond:
        has = counted(last_record, noun)
        problem = f"it has {has}, and {noun} {min(beyond)} was to be removed"
        raise CorpusError(path, f"{problem}; search the corpus again")
