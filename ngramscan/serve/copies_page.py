"""The page that looks for copies: an entry in, its verdict and the best document out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscan.indexes.base import Index
from ngramscan.messages import counted
from ngramscan.prevalence.contamination.contaminate import EntryRow
from ngramscan.prevalence.contamination.evidence import (
    EvidenceRow,
    SharedPiece,
    cut_entry,
    cut_passage,
)
from ngramscan.prevalence.metadata import is_web_address
from ngramscan.serve.entries import (
    LONGEST_ENTRY,
    EntryAnswer,
    EntryQuestion,
    judge_entry,
    read_entry_question,
)
from ngramscan.serve.fields import RefusedError
from ngramscan.serve.rendering import Templates, render_gradually

_MOST_SHOWN = 20_000
"""Characters of a document that are shown."""
_MEANINGS = {
    "copied": "Copied: a document has it.",
    "variant": "Variant: a document has it with other numbers.",
    "shared": "Shared: only common text, or a smaller part of it, occurs.",
    "clean": "Clean: no document has much of it.",
}
_UNKNOWN = "Not known: too much of it could not be looked for."


@dataclass(frozen=True, slots=True)
class _ShownPair:
    """An entry and the best document."""

    entry: Sequence[SharedPiece]
    passage: Sequence[SharedPiece]
    document: str
    source: str
    url: str
    """The address of the source; empty if it has none."""
    n_hidden: int
    """Characters of the document that are left out."""


class CopiesPage:
    """Responds to browsers' forms about some indexes."""

    def __init__(self, indexes: Mapping[str, Index], templates: Templates) -> None:
        self._indexes, self._templates = indexes, templates

    def answer(self, form: bytes) -> tuple[int, Iterator[str]]:
        """Return the status and the page of a form, in parts; an empty one sends no query."""
        try:
            question = read_entry_question(form, self._indexes)
        except RefusedError as error:
            return 400, iter([self.problem(str(error))])
        if question is None:
            return 200, iter([self._render(None)])
        answering = judge_entry(question, self._indexes)
        return 200, render_gradually(
            question.names, answering, lambda answers: self._results(question, answers)
        )

    def problem(self, problem: str) -> str:
        """Return a page that says what is wrong, with an empty form."""
        return self._render(None, problem=problem)

    def _results(self, question: EntryQuestion, answers: Sequence[EntryAnswer]) -> str:
        shown_answers = [
            (
                answer,
                _summary(answer.row) if answer.row else "",
                _shown_pair(answer.evidence) if answer.evidence else None,
            )
            for answer in answers
        ]
        return self._render(question, answers=shown_answers)

    def _render(self, question: EntryQuestion | None, **page_values: Any) -> str:
        defaults: dict[str, Any] = {"answers": (), "problem": "", "longest": LONGEST_ENTRY}
        return self._templates.render(
            "copies.html", **(defaults | page_values | {"question": question})
        )


def _summary(row: EntryRow) -> str:
    """Return what an entry is in an index, and how much of it the best document has."""
    parts = [_MEANINGS.get(row.verdict or "", _UNKNOWN)]
    if row.score is not None and row.verdict not in {None, "clean"}:
        score, covered = f"{100 * row.score:.1f}%", f"{100 * (row.covered or 0):.1f}%"
        parts.append(f"The best document covers {covered} of its words, with a score of {score}.")
    if row.changed:
        parts.append(f"Changed numbers: {row.changed}.")
    if row.eta is not None:
        parts.append(f"{row.found:,} of its {counted(row.windows, 'window')} occur in the index.")
    return " ".join(parts)


def _shown_pair(evidence: EvidenceRow) -> _ShownPair:
    source = evidence.source or ""
    return _ShownPair(
        cut_entry(evidence, LONGEST_ENTRY),
        cut_passage(evidence, _MOST_SHOWN),
        evidence.document,
        source,
        source if is_web_address(source) else "",
        max(0, len(evidence.passage) - _MOST_SHOWN),
    )
