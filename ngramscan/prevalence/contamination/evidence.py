"""Entries beside the documents that have most of them, and what both share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ngramscan.prevalence.contamination.rules import EntryClass
from ngramscan.prevalence.marks import TextRange, cut_at_ranges
from ngramscan.rows import Label, Share, row_kind


@row_kind(
    "contaminate --evidence",
    "Entries and the documents that have most of them",
    key=("verdict", "text", "passage"),
)
@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """An entry that is not clean by the rule `copied`, and the best document, side by side.

    Places are ranges of characters, `start-stop` with spaces between them; the stop is exclusive.
    """

    index: Label
    rule: Label
    id: Label
    verdict: EntryClass
    score: Share
    """See `contaminate`, as of `covered`, `document`, `source` and `changed`."""
    covered: Share
    document: str
    source: str | None
    text: str
    """The entry."""
    passage: str
    """The part of the document, with its context, as it is there."""
    shared_in_text: str
    """Places of the entry that windows cover which the document has."""
    rare_in_text: str
    """Places among these that rare windows cover."""
    shared_in_passage: str
    """Places of the passage with the same windows."""
    rare_in_passage: str
    """Places of the passage with the rare ones of them."""
    changed_in_text: str
    """Places of the numbers of the entry that are others in the document."""
    changed_in_passage: str
    """Places of these others."""
    changed: str | None
    answer: str | None
    """The answer is `near` or `not near`; None: not looked for."""


@dataclass(frozen=True, slots=True)
class SharedPiece:
    """A piece of an entry or of a document."""

    text: str
    is_shared: bool
    """The other text has it, too."""
    is_rare: bool
    """A rare window covers it."""
    is_changed: bool
    """It is a number that is another one in the other text."""


def write_places(ranges: Iterable[TextRange]) -> str:
    """Return ranges of characters as rows have them: `0-12 20-31`."""
    return " ".join(f"{start}-{stop}" for start, stop in ranges)


def read_places(places: str, length: int) -> list[TextRange]:
    """Return ranges of characters of a text from a row; a ValueError says that they are not."""
    ranges = list[TextRange]()
    for place in places.split():
        matched = re.fullmatch(r"(\d{1,12})-(\d{1,12})", place, re.ASCII)
        if matched is None:
            raise ValueError(f"not a place: {place[:40]}")
        start, stop = int(matched[1]), int(matched[2])
        if not (ranges[-1][1] if ranges else 0) <= start < stop <= length:
            raise ValueError(f"a place that is not in the text: {place}")
        ranges.append((start, stop))
    return ranges


def cut_entry(row: EvidenceRow, most: int) -> list[SharedPiece]:
    """Return the first characters of an entry in pieces; a ValueError says that places are wrong.

    Parameters
    ----------
    row : EvidenceRow
        The entry, and the document.
    most : int
        Characters of the entry, at most.
    """
    places = row.shared_in_text, row.rare_in_text, row.changed_in_text
    return _cut(row.text, places, most)


def cut_passage(row: EvidenceRow, most: int) -> list[SharedPiece]:
    """Return the first characters of a passage in pieces, as `cut_entry` does."""
    places = row.shared_in_passage, row.rare_in_passage, row.changed_in_passage
    return _cut(row.passage, places, most)


def _cut(text: str, places: Sequence[str], most: int) -> list[SharedPiece]:
    shared, rare, changed = (read_places(ranges, len(text)) for ranges in places)
    return [
        SharedPiece(piece, *covers)
        for piece, covers in cut_at_ranges(text[:most], [shared, rare, changed])
    ]
