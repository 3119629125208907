"""The spans of traced texts that are listed: which ones, in which order, and their rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np

from ngramscan.indexes.base import Index, QueryCount, QueryFailure
from ngramscan.indexes.tokens.base import MatchesTokens
from ngramscan.prevalence.contexts import ContextRow
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.prevalence.span_rarity import measure_rarity
from ngramscan.prevalence.spans import Span
from ngramscan.prevalence.trace import ALL_KINDS, Traced, TraceResult
from ngramscan.rows import Label, row_kind

SpanRank = Literal["length", "rarity"]
"""The order of listed spans: the longest first, or those of the least unigram probability."""


@row_kind(
    "trace --spans",
    "Parts of outputs that the corpus has",
    key=("start", "end", "words", "masked", "text", "occurrences"),
    counts="occurrences",
    adds_up=True,
)
@dataclass(frozen=True, slots=True)
class SpanRow:
    """A part of a text that an index has verbatim."""

    index: Label
    dataset: Label
    model: Label
    prompt: Label
    id: Label
    start: int
    end: int
    """Characters of the text, from 0."""
    words: int
    masked: int
    """Words of it that its question or prompt has, too."""
    text: str
    occurrences: int | None
    """As `count` counts them; None: they could not be counted."""
    documents: int | None
    document: str | None
    """A document with it; None: it could not be shown."""
    metadata: str
    """The metadata of that document: a JSON object, or empty."""
    unit: str
    """`words`, or `tokens` in an index over tokens."""
    output: str | None
    """The whole output, in the first row of its spans in each index; None in the others."""


@dataclass(frozen=True, slots=True)
class RareSpanRow(SpanRow):
    """A span in a list that is ordered by rarity."""

    log_probability: float | None
    """The sum over its words of the natural logarithm of their share of the index; null: a word
    could not be counted."""


@dataclass(frozen=True, slots=True)
class ListingOptions:
    """Which spans are listed, and in which order; no measure of a text depends on it."""

    least: int = 5
    """Words of the shortest spans."""
    rank: SpanRank | None = None
    """None: in the order of the text, and `density` keeps the longest."""
    max_occurrences: int | None = None
    """Spans that occur more often are left out; those that could not be counted are not."""
    density: float | None = None
    """The most spans for each word of a text."""

    @property
    def changes_lists(self) -> bool:
        """Whether spans are left out, or in another order than that of the text."""
        return any(each is not None for each in (self.rank, self.max_occurrences, self.density))

    def most_spans(self, words: int) -> int:
        """Return the most spans that are listed of a text with some words."""
        most = max(0, words - self.least + 1)
        return most if self.density is None else min(most, math.ceil(self.density * words))


@dataclass(frozen=True, slots=True)
class ListedText:
    """A traced text, and its listed spans in their order."""

    traced: Traced
    spans: list[Span]
    log_probabilities: Mapping[Span, float | None] = field(default_factory=dict)
    """By span, where they are ordered by rarity; None: a word could not be counted."""

    def text_of(self, span: Span) -> str:
        """Return the text of a span."""
        return self.traced.text.part(span.first, span.stop)


Listing = Mapping[str, Sequence[ListedText]]
"""The listed texts by index, the union among them."""


def list_spans(result: TraceResult, indexes: Sequence[Index], options: ListingOptions) -> Listing:
    """Count the spans of each text, and choose those that are listed.

    Failures are added to `result.missing`. The spans of several indexes together are those that
    any of them lists.
    """
    listing = {index.name: _list_in(result, index, options) for index in indexes}
    if UNION in result.traced:
        chosen_spans: dict[int, set[Span]] = {}
        for listed_texts in listing.values():
            for listed in listed_texts:
                chosen_spans.setdefault(id(listed.traced.given), set()).update(listed.spans)
        listing[UNION] = [
            ListedText(
                traced,
                [
                    span
                    for span in traced.long_spans(options.least)
                    if span in chosen_spans[id(traced.given)]
                ],
            )
            for traced in _whole_texts(result, UNION)
        ]
    return listing


def _whole_texts(result: TraceResult, index: str) -> list[Traced]:
    """Return the traced texts without those of single kinds of words."""
    return [traced for traced in result.traced[index] if traced.kind == ALL_KINDS]


def _list_in(result: TraceResult, index: Index, options: ListingOptions) -> list[ListedText]:
    """Return the listed spans of each text in one index."""
    counts = count_spans(result, index, options.least)
    listed_texts = [
        _without_frequent(ListedText(traced, traced.listed(options.least)), counts, options)
        for traced in _whole_texts(result, index.name)
    ]
    if options.rank == "rarity":
        texts_and_spans = [(listed.traced.text, listed.spans) for listed in listed_texts]
        probabilities, failures = measure_rarity(texts_and_spans, index)
        result.missing.extend(failures)
        listed_texts = [
            ListedText(listed.traced, listed.spans, of_text)
            for listed, of_text in zip(listed_texts, probabilities, strict=True)
        ]
    return [_in_order(listed, options) for listed in listed_texts]


def _without_frequent(
    listed: ListedText, counts: Mapping[str, QueryCount], options: ListingOptions
) -> ListedText:
    most = options.max_occurrences
    if most is None:
        return listed
    spans = [
        span
        for span in listed.spans
        if (count := counts.get(listed.text_of(span))) is None or count.occurrences <= most
    ]
    return ListedText(listed.traced, spans)


def _in_order(listed: ListedText, options: ListingOptions) -> ListedText:
    """Return the spans in the order of their rank, as many as the density allows."""
    if options.rank is None and options.density is None:
        return listed

    def rank(span: Span) -> tuple[float, int]:
        if options.rank != "rarity":
            return -span.words, span.first
        log_probability = listed.log_probabilities[span]
        return math.inf if log_probability is None else log_probability, span.first

    first_spans = sorted(listed.spans, key=rank)
    if options.density is not None:
        words = len(listed.traced.text.words)
        first_spans = first_spans[: math.ceil(options.density * words)]
    if options.rank is None:
        first_spans.sort(key=lambda span: span.first)
    return ListedText(listed.traced, first_spans, listed.log_probabilities)


def count_spans(result: TraceResult, index: Index, least: int) -> dict[str, QueryCount]:
    """Count the spans to list of at least `least` words; add failures to the missing ones."""
    traced_texts = _whole_texts(result, index.name)
    if isinstance(index, MatchesTokens):
        counts = index.count_ngrams(_ngrams(traced_texts, least))
    else:
        stored_counts = result.counts[index.name]
        parts = dict.fromkeys(
            traced.text.part(span.first, span.stop)
            for traced in traced_texts
            for span in traced.listed(least)
        )
        uncounted = [part for part in parts if part not in stored_counts]
        replies, errors = (
            collect_replies(index.counts(uncounted), uncounted) if uncounted else ({}, {})
        )
        result.missing.extend(
            QueryFailure(index.name, part, error) for part, error in errors.items()
        )
        every_count = {**stored_counts, **replies}
        counts = {part: every_count[part] for part in parts if part in every_count}
    result.counts[index.name] = counts
    return counts


def _ngrams(traced_texts: Iterable[Traced], least: int) -> dict[str, Sequence[int]]:
    """Return the tokens of the spans to list of at least `least` tokens, by their texts."""
    return {
        traced.text.part(span.first, span.stop): traced.text.token_ids[span.first : span.stop]
        for traced in traced_texts
        for span in traced.listed(least)
    }


def texts_of_spans(listed_texts: Iterable[ListedText]) -> list[str]:
    """Return the different texts of the listed spans."""
    return list(
        dict.fromkeys(listed.text_of(span) for listed in listed_texts for span in listed.spans)
    )


def make_spans(
    result: TraceResult,
    listing: Listing,
    contexts: Mapping[str, Mapping[str, Sequence[ContextRow]]],
) -> Iterator[SpanRow]:
    """Yield each listed span with a document that contains it.

    `contexts` has occurrences of the spans, by index and text; the document of the first of them
    is shown.
    """
    for index in result.sizes:
        counts, occurrences = result.counts[index], contexts[index]
        for listed in listing[index]:
            traced = listed.traced
            masked_before = np.append(0, np.cumsum(traced.is_masked))
            for number, span in enumerate(listed.spans):
                text = listed.text_of(span)
                count = counts.get(text)
                example = next(iter(occurrences.get(text, ())), None)
                row = SpanRow(
                    index=index,
                    dataset=traced.given.dataset,
                    model=traced.given.model,
                    prompt=traced.given.prompt,
                    id=traced.given.id,
                    start=traced.text.words[span.first][0],
                    end=traced.text.words[span.stop - 1][1],
                    words=span.words,
                    masked=int(masked_before[span.stop] - masked_before[span.first]),
                    text=text,
                    occurrences=count.occurrences if count else None,
                    documents=count.documents if count else None,
                    document=example.document if example else None,
                    metadata=example.metadata if example else "",
                    unit=traced.unit,
                    output=None if number else traced.text.text,
                )
                if listed.log_probabilities:
                    values = {each.name: getattr(row, each.name) for each in fields(SpanRow)}
                    yield RareSpanRow(**values, log_probability=listed.log_probabilities[span])
                else:
                    yield row
