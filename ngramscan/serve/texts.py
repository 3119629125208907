"""A text and some served indexes → its spans in each, as in `ngramscan trace --plain`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, QueryCount
from ngramscan.prevalence.trace import GivenText, Traced, TraceOptions, run_trace
from ngramscan.prevalence.trace_spans import count_spans
from ngramscan.serve.fields import RefusedError
from ngramscan.serve.forms import names_in, number_in, pasted_text_in, read_pairs
from ngramscan.serve.search import IndexAnswer, fill_in_time

LONGEST_TEXT = 10_000
"""Characters."""
MIN_WORDS = TraceOptions().min_words
MOST_WORDS = 100
"""Largest value of the minimum length of spans, in words."""


@dataclass(frozen=True, slots=True)
class TextQuestion:
    """A text, and the indexes to search for its spans."""

    text: str
    names: tuple[str, ...]
    min_words: int
    """Words of the shortest spans."""


@dataclass(slots=True)
class TextAnswer(IndexAnswer):
    """The spans of a text in one index."""

    traced: Traced | None = None
    """None if it could not be traced."""
    counts: Mapping[str, QueryCount] = field(default_factory=dict)
    """By the text of a span."""


def read_text_question(form: bytes, served: Collection[str]) -> TextQuestion | None:
    """Read a form; None if it has no text."""
    pairs = read_pairs(form)
    text = pasted_text_in(pairs, "text", LONGEST_TEXT)
    if text is None:
        return None
    if not text.strip():
        raise RefusedError("text: enter a text")
    least = number_in(pairs, "words", MIN_WORDS, MOST_WORDS, least=1)
    return TextQuestion(text, names_in(pairs, served), least)


def trace_text(question: TextQuestion, indexes: Mapping[str, Index]) -> Iterator[TextAnswer]:
    """Query the indexes one by one; a failure affects the answer of that index only."""
    chosen = [(name, indexes[name]) for name in question.names]
    answers = (TextAnswer(name, index.unit, index.size()) for name, index in chosen)
    return fill_in_time(answers, lambda answer: _fill(answer, question, indexes[answer.name]))


def _fill(answer: TextAnswer, question: TextQuestion, index: Index) -> None:
    pasted = GivenText("", "", "", id="", problem="", text=question.text)
    try:
        trace = run_trace([pasted], [index], TraceOptions(question.min_words))
        answer.counts = count_spans(trace, index, question.min_words)
    except NgramscanError as error:
        answer.problems.append(str(error))
        return
    answer.problems += dict.fromkeys(str(failure.error) for failure in trace.missing)
    answer.traced = next(iter(trace.traced[index.name]), None)
