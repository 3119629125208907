"""Documents that leave a copy of a corpus, or passages of them, and the entries they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ngramscan.prevalence.contamination.rules import COPY_CLASSES, EntryClass
from ngramscan.rows import Label, row_kind


@row_kind(
    "contaminate --removed",
    "Documents and passages removed from a corpus",
    key=("record", "entries", "verdict", "characters_cut"),
)
@dataclass(frozen=True, slots=True)
class RemovedRow:
    """A document that a clean copy of a corpus lacks, or lacks a part of."""

    index: Label
    rule: Label
    file: Label
    """The file of the corpus; the copy has the same name in its folder."""
    record: int
    """The number of the document in the file: its line, row or item, from 1."""
    source: str | None
    """The source of the document, as its metadata name it."""
    entries: str
    """The ids of the entries that it has, with commas between them."""
    verdict: EntryClass
    """The class of the entry that has most of it: `copied` before `variant` before `shared`."""
    characters_cut: int | None
    """Characters of the passages that were cut; None: the whole document was removed."""


class DocumentPlace(NamedTuple):
    """A document of a corpus of files."""

    file: str
    record: int


@dataclass(frozen=True, slots=True)
class FoundCopy:
    """An entry that one document has."""

    id: str
    verdict: EntryClass
    place: DocumentPlace
    source: str | None


def make_removed_rows(
    copies: Iterable[FoundCopy],
    index: str,
    rule: str,
    characters_cut: Mapping[DocumentPlace, int],
) -> list[RemovedRow]:
    """Return a row for each document that has copies, in the order of files and records.

    Parameters
    ----------
    copies : iterable of FoundCopy
        A document may have several entries, and an entry may be in several documents.
    index : str
        The name of the corpus.
    rule : str
        The rule with all its choices.
    characters_cut : mapping of DocumentPlace to int
        Of the documents of which passages were cut; the others were removed.
    """
    by_place: dict[DocumentPlace, list[FoundCopy]] = {}
    for copy in copies:
        by_place.setdefault(copy.place, []).append(copy)
    return [
        RemovedRow(
            index=index,
            rule=rule,
            file=place.file,
            record=place.record,
            source=next((copy.source for copy in of_document if copy.source), None),
            entries=", ".join(dict.fromkeys(copy.id for copy in of_document)),
            verdict=_worst(of_document),
            characters_cut=characters_cut.get(place),
        )
        for place, of_document in sorted(by_place.items())
    ]


def _worst(copies: Sequence[FoundCopy]) -> EntryClass:
    return max((copy.verdict for copy in copies), key=COPY_CLASSES.index)
