"""A phrase and some served indexes → its count, its documents and its occurrences in context.

The code of `ngramscan count`, `docnorm` and `contexts` computes the numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import (
    Index,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Segment,
    Unit,
)
from ngramscan.patterns.given import load_given
from ngramscan.prevalence.contexts import ContextRow, run_contexts
from ngramscan.prevalence.count import CountRow, collect_replies, run_count
from ngramscan.prevalence.docnorm import DocnormRow, run_docnorm
from ngramscan.prevalence.draws import DRAWS, EXACT_UP_TO, DocnormOptions, draw_places
from ngramscan.serve.fields import RefusedError
from ngramscan.serve.forms import check_length, names_in, number_in, read_pairs, text_in

LONGEST_PHRASE = 1_000
"""Characters."""
PER_PAGE = 20
"""Occurrences of each index."""
MOST_SHOWN = 1_000
"""Occurrences of each index on all pages."""
WIDTH = 60
"""Characters on each side of an occurrence, as many as `ngramscan contexts` shows."""
MOST_SECONDS = 60.0
"""After this time, no further index is queried."""
DRAWING_S = 2.0
"""Seconds for the draws of a frequent phrase in one index: as many as fit into them."""
_TIMED = 5
"""Draws that are timed, to learn how many fit; also the minimum for an estimate."""
_KEPT = 512
"""Cached numbers of documents: further pages of occurrences repeat the phrase."""


@dataclass(frozen=True, slots=True)
class PhraseQuestion:
    """A phrase, and the indexes to search."""

    phrase: str
    names: tuple[str, ...]
    """The indexes, in the order in which they are served."""
    seed: int = 1
    start: int = 0
    """Occurrences that earlier pages show."""


@dataclass(frozen=True, slots=True)
class DocumentNumber:
    """The documents of a phrase in one index: a count, or an estimate."""

    value: int | None
    """None if documents were truncated and the next two differ."""
    lower_estimate: int
    upper_estimate: int
    low: int | None
    high: int | None
    level: float
    is_exact: bool
    draws: int
    """0 if all occurrences were located."""
    estimator: str
    note: str


@dataclass(slots=True)
class IndexAnswer:
    """The answer of one index."""

    name: str
    unit: Unit
    size: IndexSize
    problems: list[str] = field(default_factory=list)
    """Why a part is missing."""


@dataclass(slots=True)
class PhraseAnswer(IndexAnswer):
    """The answer of one index about a phrase."""

    count: CountRow | None = None
    documents: DocumentNumber | None = None
    total: int = 0
    """Occurrences among which those that are shown were drawn."""
    contexts: Sequence[ContextRow] = ()

    @property
    def occurrences(self) -> int | None:
        """The count; None if it is missing."""
        return None if self.count is None else self.count.occurrences


# Questions


def read_question(query: bytes, served: Collection[str]) -> PhraseQuestion | None:
    """Read the query part of an address; None if it has no phrase.

    A RefusedError names the field that is wrong. Unknown fields are ignored.
    """
    pairs = read_pairs(query)
    names = names_in(pairs, served)
    phrase = text_in(pairs, "q")
    if phrase is None:
        return None
    check_length("phrase", phrase, LONGEST_PHRASE)
    try:
        load_given([], [phrase], [])
    except InputError as error:
        raise RefusedError(f"phrase: {error.problem}") from error
    start = number_in(pairs, "from", 0, MOST_SHOWN - PER_PAGE)
    if start % PER_PAGE:
        raise RefusedError(f"from: it is {start}; expected a multiple of {PER_PAGE}")
    return PhraseQuestion(phrase, names, number_in(pairs, "seed", 1, 2**53), start)


# Answers

_AnyAnswer = TypeVar("_AnyAnswer", bound=IndexAnswer)


def fill_in_time(
    answers: Iterable[_AnyAnswer], fill: Callable[[_AnyAnswer], None]
) -> Iterator[_AnyAnswer]:
    """Fill and yield answers one by one; after `MOST_SECONDS`, the rest stays unfilled."""
    until = time.monotonic() + MOST_SECONDS
    for answer in answers:
        if time.monotonic() < until:
            fill(answer)
        else:
            problem = f"not searched: the others took {MOST_SECONDS:.0f} s; search it alone"
            answer.problems.append(problem)
        yield answer


class PhraseSearch:
    """Sends queries to indexes, by name; their progress reports can stop it by an error."""

    def __init__(self, indexes: Mapping[str, Index]) -> None:
        self._indexes = indexes
        self._documents = lru_cache(maxsize=_KEPT)(self._find_documents)

    def ask(self, question: PhraseQuestion) -> Iterator[PhraseAnswer]:
        """Query the indexes one by one; a failure affects the answer of that index only."""
        chosen = [(name, self._indexes[name]) for name in question.names]
        answers = (PhraseAnswer(name, index.unit, index.size()) for name, index in chosen)
        return fill_in_time(answers, lambda answer: self._fill(answer, question))

    def _fill(self, answer: PhraseAnswer, question: PhraseQuestion) -> None:
        index = self._indexes[answer.name]
        try:
            answer.count = _count(index, question.phrase)
            answer.documents = self._documents(answer.name, question.phrase, question.seed)
        except NgramscanError as error:
            answer.problems.append(str(error))
        try:
            answer.total, places = _places(index, question)
            (index_contexts,), _ = run_contexts(
                [question.phrase],
                _IndexOfPlaces(index, places),
                n=len(places) or 1,
                width=WIDTH,
                seed=question.seed,
            )
            answer.contexts = index_contexts.rows
            failures = [str(failure.error) for failure in index_contexts.failures]
            answer.problems += dict.fromkeys(failures)
        except NgramscanError as error:
            if not answer.problems:  # such a phrase has no count either
                answer.problems.append(str(error))

    def _find_documents(self, name: str, phrase: str, seed: int) -> DocumentNumber:
        """Count the documents, or estimate them from as many draws as there is time for."""
        started_at = time.perf_counter()
        # The estimate has other draws than the timed ones, so that the length of a document
        # doesn't influence how many draws the estimate has.
        timed = self._docnorm(name, phrase, seed + 1, _TIMED)
        if timed.is_exact:
            return timed
        fitting = int(_TIMED * DRAWING_S / (time.perf_counter() - started_at))
        return self._docnorm(name, phrase, seed, min(DRAWS, max(_TIMED, fitting)))

    def _docnorm(self, name: str, phrase: str, seed: int, draws: int) -> DocumentNumber:
        index = self._indexes[name]
        options = DocnormOptions(draws, seed=seed, exact_up_to=EXACT_UP_TO)
        queries = load_given([], [phrase], []).queries()
        result = run_docnorm(queries, [index], options)
        _raise_first(result.missing)
        return _documents_of(result.rows[0])


def _count(index: Index, phrase: str) -> CountRow:
    queries = load_given([], [phrase], []).queries()
    result = run_count(queries, [index], for_totals=False)
    _raise_first(result.missing)
    return result.rows[0]


def _raise_first(missing: Sequence[QueryFailure]) -> None:
    if missing:
        raise missing[0].error


def _documents_of(row: DocnormRow) -> DocumentNumber:
    return DocumentNumber(
        value=row.documents,
        lower_estimate=row.documents_lower_estimate,
        upper_estimate=row.documents_upper_estimate,
        low=row.documents_low,
        high=row.documents_high,
        level=row.level,
        is_exact=row.estimator == "exact",
        draws=row.draws or 0,
        estimator=row.estimator,
        note=row.note,
    )


def _places(index: Index, question: PhraseQuestion) -> tuple[int, list[Place]]:
    """Return the number of occurrences, and the occurrences of one page.

    The draws up to a page are the same as in `ngramscan contexts`. The last page has the remaining
    occurrences, while the command then shows all of them in the order of the index.
    """
    phrase = question.phrase
    occurrences, errors = collect_replies(index.find([phrase]), [phrase])
    if errors:
        raise next(iter(errors.values()))
    samples = [
        draw_places(occurrences[phrase], n, question.seed, index.spec, with_replacement=False)
        for n in (question.start, question.start + PER_PAGE)
    ]
    before = set(samples[0])
    return occurrences[phrase].occurrences, [place for place in samples[1] if place not in before]


class _IndexOfPlaces:
    """An index restricted to some occurrences."""

    def __init__(self, index: Index, places: Sequence[Place]) -> None:
        self.name, self.spec = index.name, index.spec
        self.unit, self.longest_context = index.unit, index.longest_context
        self._index, self._places = index, places
        self.size, self.cost, self.windows = index.size, index.cost, index.windows

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        return self._index.counts(queries)

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        segments = [Segment(place.shard, place.rank, place.rank + 1) for place in self._places]
        return (Occurrences(query, tuple(segments)) for query in queries)
