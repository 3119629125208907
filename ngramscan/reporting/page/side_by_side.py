"""Rows of `contaminate --evidence` → entries and their documents side by side, marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Any

from ngramscan.errors import InputError
from ngramscan.prevalence.contamination.evidence import (
    EvidenceRow,
    SharedPiece,
    cut_entry,
    cut_passage,
)
from ngramscan.prevalence.contamination.rules import COPY_CLASSES
from ngramscan.prevalence.metadata import is_web_address
from ngramscan.progress import visible, visible_line
from ngramscan.reporting.layout import percent
from ngramscan.reporting.page.display import MOST_TEXT, shortened
from ngramscan.reporting.page.results import Results

MOST_PAIRS = 50
"""Pairs of texts that a page shows of one file."""
MOST_BYTES = 500_000
"""Bytes that they take on the page."""
_BYTES_OF_A_PIECE = 40
_BYTES_OF_A_PAIR = 800
_NAMES = ("index", "id")


@dataclass(frozen=True, slots=True)
class TextPair:
    """An entry and the document that has most of it."""

    name: str
    summary: str
    """The class, the score and what is covered."""
    document: str
    source: str
    url: str
    """The address of the source; empty if it has none."""
    notes: Sequence[str]
    """The numbers that were changed, and whether the answer is near."""
    entry: Sequence[SharedPiece]
    passage: Sequence[SharedPiece]
    remark: str
    """How much is left out; may be empty."""

    @property
    def size_bytes(self) -> int:
        """Bytes that it takes on a page, about."""
        pieces = [*self.entry, *self.passage]
        texts = [piece.text for piece in pieces]
        texts += [self.name, self.document, self.source, self.url, *self.notes]
        return (
            _BYTES_OF_A_PAIR
            + _BYTES_OF_A_PIECE * len(pieces)
            + sum(len(escape(text).encode()) for text in texts)
        )


@dataclass(frozen=True, slots=True)
class TextPairs:
    """The pairs of one file."""

    pairs: Sequence[TextPair]
    total: int
    """Pairs in the file."""
    size_bytes: int


def pair_texts(results: Results, most_bytes: int) -> TextPairs | None:
    """Return the pairs of a file of evidence that a page shows; None for other rows.

    Copied entries come first, then variants; within a class, those with the largest scores. An
    InputError says that places and texts don't match.
    """
    if results.kind.name != "contaminate --evidence":
        return None
    rows = sorted(results.rows, key=_rank)
    differing = [len({row[name] for row in rows}) > 1 for name in _NAMES[:-1]]
    size, pairs, most = 0, list[TextPair](), min(most_bytes, MOST_BYTES)
    for row in rows[:MOST_PAIRS]:
        names = [
            *(row[name] for name, differs in zip(_NAMES, differing, strict=False) if differs),
            row[_NAMES[-1]],
        ]
        pair = _pair(results.name, " · ".join(map(str, names)), row)
        size += pair.size_bytes
        if size > most:
            break
        pairs.append(pair)
    total = len(results.rows) + results.left_out
    return TextPairs(pairs, total, sum(pair.size_bytes for pair in pairs))


def _rank(row: Mapping[str, Any]) -> tuple[int, float]:
    verdict = row["verdict"]
    place = COPY_CLASSES.index(verdict) if verdict in COPY_CLASSES else -1
    return -place, -(row["score"] or 0)


def _pair(place: str, name: str, row: Mapping[str, Any]) -> TextPair:
    evidence = _evidence_of(row)
    try:
        entry = cut_entry(evidence, MOST_TEXT)
        passage = cut_passage(evidence, MOST_TEXT)
    except ValueError as error:
        raise InputError(f"{place}: {name}", f"{error}; was the file changed?") from error
    notes = []
    if evidence.changed:
        notes.append(f"changed numbers: {evidence.changed}")
    if evidence.answer:
        notes.append(f"the answer is {evidence.answer}")
    source = evidence.source or ""
    return TextPair(
        visible_line(name),
        f"{evidence.verdict}, score {percent(evidence.score)}%, covered "
        f"{percent(evidence.covered)}%",
        visible_line(shortened(evidence.document)),
        visible_line(shortened(source)),
        source if is_web_address(source) else "",
        [visible_line(shortened(note)) for note in notes],
        _made_visible(entry),
        _made_visible(passage),
        _remark(evidence),
    )


def _evidence_of(row: Mapping[str, Any]) -> EvidenceRow:
    """Return a row of a file; a text that is empty was read as unknown."""
    values: dict[str, Any] = {field.name: row.get(field.name) for field in fields(EvidenceRow)}
    may_be_unknown = {"source", "changed", "answer", "score", "covered"}
    texts = {name: "" for name in values.keys() - may_be_unknown if values[name] is None}
    return EvidenceRow(**(values | texts))


def _made_visible(pieces: Sequence[SharedPiece]) -> list[SharedPiece]:
    return [replace(piece, text=visible(piece.text)) for piece in pieces]


def _remark(evidence: EvidenceRow) -> str:
    texts = {"entry": evidence.text, "document": evidence.passage}
    hidden = [
        f"{len(text) - MOST_TEXT:,} more characters of the {name}"
        for name, text in texts.items()
        if len(text) > MOST_TEXT
    ]
    return f"{' and '.join(hidden)} are not shown" if hidden else ""
