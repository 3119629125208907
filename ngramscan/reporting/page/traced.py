"""Rows of `trace --spans` → the traced texts with their spans marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from ngramscan.errors import InputError
from ngramscan.messages import counted
from ngramscan.prevalence.marks import Mark, Part, cut_at_marks
from ngramscan.progress import visible, visible_line
from ngramscan.reporting.page.display import MOST_TEXT, shortened, source_of
from ngramscan.reporting.page.results import Results

MOST_TEXTS = 20
"""Texts that a page shows of one file."""
MOST_BYTES = 500_000
"""Bytes that they take on the page."""
_BYTES_OF_A_SPAN = 500
_NAMES = ("index", "dataset", "model", "prompt", "id")
_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SpanNote:
    """The note about a span."""

    text: str
    source: str
    """A document with it; empty if none is known."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class TracedText:
    """One text in one index."""

    name: str
    summary: str
    parts: Sequence[Part]
    notes: Sequence[SpanNote]
    """One for each span."""
    is_masked: Sequence[bool]
    """Whether all words of a span are in the question or prompt, too."""
    remark: str
    """How much of it is left out; may be empty."""

    @property
    def size_bytes(self) -> int:
        """Bytes that it takes on a page, about."""
        texts = [text for part in self.parts for text, _ in part.pieces]
        texts += [f"{note.text}{note.source}{note.url}" for note in self.notes]
        return _BYTES_OF_A_SPAN * len(self.notes) + sum(len(escape(t).encode()) for t in texts)


@dataclass(frozen=True, slots=True)
class TracedTexts:
    """The texts of one file."""

    texts: Sequence[TracedText]
    total: int
    """Texts with a span in the file."""
    size_bytes: int


def mark_texts(results: Results, most_bytes: int) -> TracedTexts | None:
    """Return the first texts of a file of spans; None for other rows, or without the texts.

    An InputError says that spans and texts don't match.
    """
    if results.kind.name != "trace --spans" or "output" not in results.columns:
        return None
    groups: dict[tuple[Any, ...], list[_Row]] = {}
    for row in results.rows:
        groups.setdefault(tuple(row[name] for name in _NAMES), []).append(row)
    differing = [len({*values}) > 1 for values in zip(*groups, strict=True)]
    size, texts, most = 0, list[TracedText](), min(most_bytes, MOST_BYTES)
    for names, rows in list(groups.items())[:MOST_TEXTS]:
        differing_names = [
            name for name, is_told in zip(names[:-1], differing, strict=False) if is_told
        ]
        output = next((row["output"] for row in rows if row["output"] is not None), None)
        if output is None:
            continue  # the row with the text is beyond those of the page
        text = _mark(
            results.name, " · ".join(map(str, [*differing_names, names[-1]])), output, rows
        )
        size += text.size_bytes
        if size > most:
            break
        texts.append(text)
    return TracedTexts(texts, len(groups), sum(text.size_bytes for text in texts))


def _mark(place: str, name: str, output: str, rows: Sequence[_Row]) -> TracedText:
    for row in rows:
        start, end = row["start"], row["end"]
        if None in {start, end, row["words"]} or output[start:end] != row["text"]:
            problem = "is not at its start and end in the output; was the file changed?"
            raise InputError(f"{place}: {name}", f"a span {problem}")
    # A file that has the same output twice has its spans twice.
    ordered = sorted({(row["start"], row["end"]): row for row in rows}.items())
    places = list(pairwise(span for span, _ in ordered))
    if any(span[0] == next_span[0] or span[1] >= next_span[1] for span, next_span in places):
        raise InputError(f"{place}: {name}", "a span contains another; was the file changed?")
    shown_rows = [row for (_, end), row in ordered if end <= MOST_TEXT]
    marks = [Mark(row["start"], row["end"], row["words"]) for row in shown_rows]
    parts = [
        Part(part.number, [(visible(text), level) for text, level in part.pieces], part.is_whole)
        for part in cut_at_marks(output[:MOST_TEXT], marks)
    ]
    wholes = {part.number: part.is_whole for part in parts}
    unit = rows[0].get("unit") or "words"
    longest = max(row["words"] for row in rows)
    remark = ""
    if len(output) > MOST_TEXT:
        hidden = counted(len(rows) - len(shown_rows), "span")
        remark = f"{len(output) - MOST_TEXT:,} more characters, with {hidden}, are not shown"
    return TracedText(
        visible_line(name),
        f"{counted(len(ordered), 'span')}, the longest of {longest:,} {unit}",
        parts,
        [_note(row, unit, wholes[number]) for number, row in enumerate(shown_rows)],
        [row["masked"] == row["words"] for row in shown_rows],
        remark,
    )


def _note(row: _Row, unit: str, is_whole: bool) -> SpanNote:
    """Return the note about a span; if it is cut by the next one, with its whole text."""
    occurrences, documents = row["occurrences"], row.get("documents")
    unknown = "an unknown number of occurrences"
    count = unknown if occurrences is None else counted(occurrences, "occurrence")
    facts = [f"{row['words']:,} {unit}", f"{count} in {row['index']}"]
    if documents is not None:
        facts[-1] += f" ({counted(documents, 'document')})"
    if row["masked"]:
        facts.append(f"{row['masked']:,} also in the question or prompt")
    if not is_whole:
        facts.append(f"overlaps the next one; whole: “{shortened(row['text'])}”")
    name, url = source_of(row["metadata"]) if row.get("metadata") else ("", "")
    example = name or ("" if row["document"] is None else f"document {row['document']}")
    return SpanNote(visible_line("; ".join(facts)), visible_line(shortened(example)), url)
