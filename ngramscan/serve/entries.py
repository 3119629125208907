"""An entry and some served indexes → whether it was copied, as in `ngramscan contaminate`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index
from ngramscan.prevalence.contamination.contaminate import Entry, EntryRow
from ngramscan.prevalence.contamination.copied_entries import run_copied
from ngramscan.prevalence.contamination.evidence import EvidenceRow
from ngramscan.prevalence.contamination.rules import COPIED, make_rule, windows_of
from ngramscan.serve.fields import RefusedError
from ngramscan.serve.forms import names_in, pasted_text_in, read_pairs
from ngramscan.serve.search import IndexAnswer, fill_in_time

LONGEST_ENTRY = 2_000
"""Characters. An entry of numbers takes four times as long if it is twice as long."""
_SEED = 1
"""The seed of `ngramscan contaminate`, for occurrences that are drawn."""


@dataclass(frozen=True, slots=True)
class EntryQuestion:
    """An entry, and the indexes in which documents with most of it are looked for."""

    text: str
    names: tuple[str, ...]


@dataclass(slots=True)
class EntryAnswer(IndexAnswer):
    """An entry in one index."""

    row: EntryRow | None = None
    """None if it could not be looked for."""
    evidence: EvidenceRow | None = None
    """The best document; None if the entry is clean, or no document was compared with it."""


def read_entry_question(form: bytes, served: Collection[str]) -> EntryQuestion | None:
    """Read a form; None if it has no text."""
    pairs = read_pairs(form)
    text = pasted_text_in(pairs, "text", LONGEST_ENTRY)
    if text is None:
        return None
    if not windows_of(text, make_rule(COPIED)):
        raise RefusedError("text: enter a text with words")
    return EntryQuestion(text, names_in(pairs, served))


def judge_entry(question: EntryQuestion, indexes: Mapping[str, Index]) -> Iterator[EntryAnswer]:
    """Look in the indexes one by one; a failure affects the answer of that index only."""
    chosen = [(name, indexes[name]) for name in question.names]
    answers = (EntryAnswer(name, index.unit, index.size()) for name, index in chosen)
    return fill_in_time(answers, lambda answer: _fill(answer, question, indexes[answer.name]))


def _fill(answer: EntryAnswer, question: EntryQuestion, index: Index) -> None:
    entry = Entry("", question.text)
    try:
        judged = run_copied([entry], make_rule(COPIED), [index], _SEED)
        result, lost = judged.result, judged.lost
    except NgramscanError as error:
        answer.problems.append(str(error))
        return
    answer.problems += dict.fromkeys(str(error) for error, _ in lost)
    answer.row = next(iter(result.rows), None)
    answer.evidence = next(iter(result.evidence), None)
