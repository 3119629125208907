"""The documents that contain the listed spans of texts, ranked by how much they share with each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import Index, Locates, Occurrences, Place, QueryFailure, ReadsDocuments
from ngramscan.indexes.kinds import draw_name
from ngramscan.matching.words import words_in
from ngramscan.prevalence.bm25 import score_documents
from ngramscan.prevalence.contexts import ContextRow, run_contexts, show_places
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.draws import draw_places, place_of
from ngramscan.prevalence.metadata import names_of_source
from ngramscan.prevalence.spans import Span
from ngramscan.prevalence.trace import TraceResult
from ngramscan.prevalence.trace_spans import (
    ListedText,
    Listing,
    ListingOptions,
    list_spans,
    texts_of_spans,
)
from ngramscan.rows import Label, row_kind
from ngramscan.statistics.streams import stream

PER_SPAN = 10
"""Documents of each span, as in OLMoTrace."""
SHOWN_CHARACTERS = 250
"""Characters on each side of an occurrence that are shown: about forty words."""
DRAWS_PER_DOCUMENT = 4
"""Occurrences that are drawn, at most, for each document: several may be in the same one."""
_MOST_PLACED = 1000
"""Up to this many occurrences of a span are all placed in their documents, if the index can."""
_SHORTEST_OVERLAP = 20
"""Characters that two shown parts of a document share, at least, to be joined."""


@row_kind(
    "trace --retrieved",
    "Documents with parts of outputs",
    key=("rank", "score", "document", "start", "end", "words", "text"),
)
@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A span of a text in one of the documents that contain it."""

    index: Label
    dataset: Label
    model: Label
    prompt: Label
    id: Label
    rank: int
    """The rank of the document among those of the output; 1 shares most with the output."""
    score: float
    """BM25 of the shown parts of the document, with the words of the output as the query."""
    document: str
    source: str
    """A name of its source in the metadata: an address, a data set or a path; may be empty."""
    start: int
    end: int
    """Characters of the output, from 0, where the span is."""
    words: int
    """Words of the span."""
    occurrences: int | None
    """How often the span is in the index; None: it could not be counted."""
    left: str
    text: str
    right: str
    """The span in the document, with the text around it."""
    metadata: str
    """The metadata of the document: a JSON object, or empty."""
    unit: str
    """`words`, or `tokens` in an index over tokens."""


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that has some spans of a text."""

    name: str
    score: float
    occurrences: list[tuple[Span, ContextRow]]
    """An occurrence of each of the spans, in the order of the text."""

    @property
    def source(self) -> str:
        """The most telling name of its source, or an empty text."""
        return next(iter(names_of_source(self.occurrences[0][1].metadata)), "")


Occurring = Mapping[str, Sequence[ContextRow]]
"""Occurrences of spans in different documents, by the text of the span."""


@dataclass(frozen=True, slots=True)
class ListedSpans:
    """The listed spans of all texts, and where they occur, by index."""

    listing: Listing = field(default_factory=dict)
    """Empty: no spans are listed."""
    examples: Mapping[str, Occurring] = field(default_factory=dict)
    """An occurrence of each span, or several; empty: they are not needed."""
    documents: Mapping[str, Occurring] = field(default_factory=dict)
    """The documents of each span; empty: they are not wanted."""
    leaves_out: bool = False
    """Whether only these spans are to be shown."""


def look_up_spans(
    result: TraceResult,
    indexes: Sequence[Index],
    options: ListingOptions,
    documents: int | None,
    needs_examples: bool,
    seed: int,
) -> ListedSpans:
    """Choose the spans of traced texts that are listed, and look up where they occur.

    Parameters
    ----------
    result : TraceResult
        The traces, to which failures are added.
    indexes : sequence of Index
        The indexes of the traces.
    options : ListingOptions
        The spans to choose.
    documents : int, optional
        Number of documents for each span; None: none are looked up.
    needs_examples : bool
        Whether an occurrence of each span is needed.
    seed : int
        Seed of the draws.

    Returns
    -------
    ListedSpans
        Without any spans, if nothing about them is wanted.
    """
    if not (needs_examples or documents is not None or options.changes_lists):
        return ListedSpans()
    listing = list_spans(result, indexes, options)
    if documents is not None:
        retrieved = {
            index.name: find_documents(result, index, listing[index.name], documents, seed)
            for index in indexes
        }
        return ListedSpans(listing, retrieved, retrieved, options.changes_lists)
    examples: Mapping[str, Occurring] = {}
    if needs_examples:
        examples = {
            index.name: find_examples(result, index, listing[index.name], seed) for index in indexes
        }
    return ListedSpans(listing, examples, leaves_out=options.changes_lists)


def find_examples(
    result: TraceResult, index: Index, listed_texts: Sequence[ListedText], seed: int
) -> Occurring:
    """Return an occurrence of each listed span; failures are added to `result.missing`."""
    texts = texts_of_spans(listed_texts)
    results, failed = run_contexts(texts, index, n=1, width=0, seed=seed)
    lost = [
        QueryFailure(index.name, failure.place.query, failure.error)
        for each in results
        for failure in each.failures
    ]
    _add_missing(result, index, [*failed, *lost])
    return {each.text: each.rows for each in results}


def _add_missing(result: TraceResult, index: Index, failures: Sequence[QueryFailure]) -> None:
    """Add spans that could not be shown.

    A part of a text may have other tokens alone: then an index over tokens has no example of it.
    """
    result.missing.extend(
        failure
        for failure in failures
        if index.unit == "bytes" or not isinstance(failure.error, InputError)
    )


def find_documents(
    result: TraceResult, index: Index, listed_texts: Sequence[ListedText], n: int, seed: int
) -> Occurring:
    """Return an occurrence of each listed span in each of n documents, or in all if fewer have it.

    The occurrences of a span are taken in random order until n documents have one. Where an index
    places occurrences fast, and there are at most 1,000, all are placed. Elsewhere at most 4n are
    looked at, so that a document that repeats the span may hide others. Failures are added to
    `result.missing`.
    """
    texts = texts_of_spans(listed_texts)
    located, errors = collect_replies(index.find(texts), texts) if texts else ({}, {})
    placed: dict[str, list[Place]] = {}
    shuffled: dict[str, list[Place]] = {}
    for text in texts:
        if text not in located:
            continue
        if isinstance(index, Locates) and located[text].occurrences <= _MOST_PLACED:
            try:
                documents = index.documents_of(located[text])
                placed[text] = _draw_documents(index, located[text], documents, n, seed)
            except NgramscanError as error:
                errors[text] = error
        else:
            shuffled[text] = _shuffle(index, located[text], DRAWS_PER_DOCUMENT * n, seed)
    # A corpus is read once for all windows, so it is not read again for a few more.
    at_first = DRAWS_PER_DOCUMENT * n if isinstance(index, ReadsDocuments) else n
    first_places = {text: places[:at_first] for text, places in shuffled.items()}
    contexts, failures = _show_documents(located, placed | first_places, index)
    more_places = {
        text: places[at_first:]
        for text, places in shuffled.items()
        if len(contexts[text]) < n and len(places) > at_first
    }
    if more_places:
        more_contexts, more_failures = _show_documents(located, more_places, index)
        failures += more_failures
        for text, by_document in more_contexts.items():
            contexts[text] = contexts[text] | {
                name: row for name, row in by_document.items() if name not in contexts[text]
            }
    failures += [QueryFailure(index.name, text, error) for text, error in errors.items()]
    _add_missing(result, index, failures)
    return {text: [*by_document.values()][:n] for text, by_document in contexts.items()}


def _show_documents(
    located: Mapping[str, Occurrences], places: Mapping[str, Sequence[Place]], index: Index
) -> tuple[dict[str, dict[str, ContextRow]], list[QueryFailure]]:
    """Return the first of some occurrences of each text in each document, and what is missing."""
    contexts: dict[str, dict[str, ContextRow]] = {}
    failures = list[QueryFailure]()
    for shown_text in show_places(located, places, index, SHOWN_CHARACTERS):
        by_document = contexts.setdefault(shown_text.text, {})
        for row in shown_text.rows:
            by_document.setdefault(row.document, row)
        failures += [
            QueryFailure(index.name, shown_text.text, failure.error)
            for failure in shown_text.failures
        ]
    return contexts, failures


def _shuffle(index: Index, located: Occurrences, n: int, seed: int) -> list[Place]:
    """Return n different occurrences of a text in random order, or all if there are no more."""
    if located.occurrences > max(n, _MOST_PLACED):
        return draw_places(located, n, seed, index.spec, with_replacement=False)
    ordinals = _permutation(index, located, seed)[:n]
    return [place_of(located, ordinal) for ordinal in ordinals.tolist()]


def _draw_documents(
    index: Index, located: Occurrences, documents: NDArray[np.int64], n: int, seed: int
) -> list[Place]:
    """Return the first occurrences, in random order, that are in n different documents.

    `documents` has the document of each occurrence.
    """
    permutation = _permutation(index, located, seed)
    _, firsts = np.unique(documents[permutation], return_index=True)
    ordinals = permutation[np.sort(firsts)[:n]]
    return [place_of(located, ordinal) for ordinal in ordinals.tolist()]


def _permutation(index: Index, located: Occurrences, seed: int) -> NDArray[np.int64]:
    """Return the numbers of all occurrences in random order, the same wherever the index is."""
    return stream(seed, draw_name(index.spec), located.query).permutation(located.occurrences)


def rank_documents(listed: ListedText, contexts: Occurring) -> list[RankedDocument]:
    """Return the documents of a text, from the one that shares most with it.

    `contexts` has the occurrences of its spans, each in its own document.
    """
    by_document: dict[str, list[tuple[Span, ContextRow]]] = {}
    for span in sorted(listed.spans, key=lambda span: span.first):
        for row in contexts.get(listed.text_of(span), ()):
            by_document.setdefault(row.document, []).append((span, row))
    shown_words = {
        name: _words([row for _, row in occurrences]) for name, occurrences in by_document.items()
    }
    scores = score_documents(_lowered(listed.traced.text.text), shown_words)
    names = sorted(by_document, key=lambda name: (-scores[name], name))
    return [RankedDocument(name, scores[name], by_document[name]) for name in names]


def _lowered(text: str) -> list[str]:
    return words_in(text.lower())


def _words(rows: Sequence[ContextRow]) -> list[str]:
    """Return the words of the shown parts of a document; what several parts show counts once."""
    parts = join_overlapping([f"{row.left}{row.match}{row.right}" for row in rows])
    return [word for part in parts for word in _lowered(part)]


def join_overlapping(texts: Sequence[str]) -> list[str]:
    """Return parts of a text, joined where one begins as another one ends.

    >>> join_overlapping(["a part of a longer text", "part of a longer text, and more", "else"])
    ['a part of a longer text, and more', 'else']
    """
    parts = list[str]()
    for text in texts:
        longest, separate_parts = text, list[str]()
        for part in parts:
            joined = _joined(part, longest) or _joined(longest, part)
            if joined is None:
                separate_parts.append(part)
            else:
                longest = joined
        parts = [*separate_parts, longest]
    return parts


def _joined(first: str, second: str) -> str | None:
    """Return two parts of a text as one, if the second one begins within the first."""
    beginning = second[:_SHORTEST_OVERLAP]
    start = first.find(beginning)
    while start >= 0:
        shared = len(first) - start
        if first[start:] == second[:shared] and shared >= min(_SHORTEST_OVERLAP, len(second)):
            return first + second[shared:]
        if second in first:
            return first
        start = first.find(beginning, start + 1)
    return None


def make_documents(
    result: TraceResult, listing: Listing, contexts: Mapping[str, Occurring]
) -> Iterator[DocumentRow]:
    """Yield each span of each text in each of its documents, by the rank of the document."""
    for index in result.sizes:
        counts = result.counts[index]
        for listed in listing[index]:
            traced = listed.traced
            for rank, document in enumerate(rank_documents(listed, contexts[index]), 1):
                for span, row in document.occurrences:
                    count = counts.get(listed.text_of(span))
                    yield DocumentRow(
                        index=index,
                        dataset=traced.given.dataset,
                        model=traced.given.model,
                        prompt=traced.given.prompt,
                        id=traced.given.id,
                        rank=rank,
                        score=document.score,
                        document=document.name,
                        source=document.source,
                        start=traced.text.words[span.first][0],
                        end=traced.text.words[span.stop - 1][1],
                        words=span.words,
                        occurrences=count.occurrences if count else None,
                        left=row.left,
                        text=row.match,
                        right=row.right,
                        metadata=row.metadata,
                        unit=traced.unit,
                    )
