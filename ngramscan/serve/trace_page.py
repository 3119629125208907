"""The page that traces a text: a form in, the text with its spans marked out, each a link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ngramscan.indexes.base import Index
from ngramscan.messages import counted
from ngramscan.prevalence.marks import LEVELS, Part, cut_at_marks
from ngramscan.serve.fields import RefusedError
from ngramscan.serve.rendering import Templates, render_gradually
from ngramscan.serve.search import LONGEST_PHRASE
from ngramscan.serve.texts import (
    LONGEST_TEXT,
    MIN_WORDS,
    MOST_WORDS,
    TextAnswer,
    TextQuestion,
    read_text_question,
    trace_text,
)
from ngramscan.stopping import current_work

_MOST_LINKED = 200_000
"""Limit of characters of all links of an index, since overlapping spans repeat words."""
_SHORTEST_LINK = 60
"""Characters that each link may always have."""


@dataclass(frozen=True, slots=True)
class _Link:
    """The note about a span, and the address of its contexts."""

    address: str
    note: str


class TracePage:
    """Responds to browsers' forms about some indexes."""

    def __init__(self, indexes: Mapping[str, Index], templates: Templates) -> None:
        self._indexes, self._templates = indexes, templates

    def answer(self, form: bytes) -> tuple[int, Iterator[str]]:
        """Return the status and the page of a form, in parts; an empty one sends no query."""
        try:
            question = read_text_question(form, self._indexes)
        except RefusedError as error:
            return 400, iter([self.problem(str(error))])
        if question is None:
            return 200, iter([self._render(None)])
        answering = trace_text(question, self._indexes)
        return 200, render_gradually(
            question.names, answering, lambda answers: self._results(question, answers)
        )

    def problem(self, problem: str) -> str:
        """Return a page that says what is wrong, with an empty form."""
        return self._render(None, problem=problem)

    def _results(self, question: TextQuestion, answers: Sequence[TextAnswer]) -> str:
        shown_answers = [(answer, *_marked(answer, question)) for answer in answers]
        return self._render(question, answers=shown_answers)

    def _render(self, question: TextQuestion | None, **page_values: Any) -> str:
        defaults: dict[str, Any] = {"answers": (), "problem": "", "levels": LEVELS}
        limits = {"longest": LONGEST_TEXT, "min_words": MIN_WORDS, "most_words": MOST_WORDS}
        values = {**defaults, **limits, **page_values, "question": question}
        return self._templates.render("trace.html", **values)


def _marked(answer: TextAnswer, question: TextQuestion) -> tuple[str, list[Part], list[_Link]]:
    """Return a summary of the spans in one index, the text in parts, and the links."""
    traced = answer.traced
    if traced is None:
        return "", [], []
    marks = traced.marks_of(traced.listed(question.min_words))
    parts = list(cut_at_marks(question.text, marks))
    wholes = {part.number: part.is_whole for part in parts}
    links = []
    longest = min(LONGEST_PHRASE, max(_SHORTEST_LINK, _MOST_LINKED // max(1, len(marks))))
    for number, mark in enumerate(marks):
        current_work().check()
        text = question.text[mark.start : mark.end]
        phrase = _phrase(text, longest)
        count = answer.counts.get(text)
        facts = [f"{mark.words:,} {traced.unit}"]
        facts.append("not counted" if count is None else counted(count.occurrences, "occurrence"))
        if phrase != text:
            facts.append(f"its first {len(phrase):,} characters are the link")
        if not wholes[number]:
            more = "…" if phrase != text else ""
            facts.append(f"overlaps the next one; whole: “{phrase}{more}”")
        fields = urlencode({"q": phrase, "index": answer.name})
        links.append(_Link(f"./?{fields}", "; ".join(facts)))
    measures = traced.profile.measures(question.min_words)
    share = f"{100 * (measures.coverage or 0):.1f}%"
    number = len(traced.long_spans(question.min_words))
    # In repetitive text, the links of some spans cover the words of all.
    spans = counted(number, "span")
    if len(marks) < number:
        spans += f" ({len(marks):,} shown)"
    summary = f"{spans} of {question.min_words:,} {traced.unit} or more"
    return f"{summary}, {share} of {measures.words:,} {traced.unit}", parts, links


def _phrase(text: str, longest: int) -> str:
    """Return a text, or as many of its first words as a link may have."""
    if len(text) <= longest:
        return text
    beginning = text[:longest]
    return beginning.rpartition(" ")[0] or beginning
