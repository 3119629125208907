"""Texts × indexes → how much of each text is in them, word by word, and where."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import (
    Index,
    IndexSize,
    MatchesSuffixes,
    QueryCount,
    QueryFailure,
    ReadsDocuments,
)
from ngramscan.matching.forms import NormalForm, other_forms
from ngramscan.prevalence.listed_spans import listed_spans
from ngramscan.prevalence.marks import Mark
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.prevalence.spans import (
    FoundSpans,
    Integers,
    Span,
    WordText,
    find_spans,
    spans_within,
)
from ngramscan.rows import Label, Share, row_kind

ALL_KINDS, NARRATIVE = "all", "narrative"
SHORTEST = 2
"""Words of the shortest spans that are of interest."""


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text to trace: an output of a model, or any other."""

    dataset: str
    model: str
    prompt: str
    id: str
    problem: str
    """Texts for the same problem are compared with each other; empty: with none."""
    text: str
    asked: tuple[str, ...] = ()
    """The question or prompt: words that the text shares with it are masked."""
    kinds: tuple[tuple[int, int, str], ...] | None = None
    """Start, end and kind of parts that are not narrative, in order; None: kinds don't matter."""


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The lengths of spans that are measured."""

    min_words: int = 5
    index_from: int = 5
    index_to: int = 11
    """Lengths over which the index of Lu et al. is summed."""
    truncate: int | None = None
    """Words of the beginning whose coverage is given, too."""

    @property
    def index_lengths(self) -> range:
        """The lengths over which the index is summed."""
        return range(self.index_from, self.index_to + 1)

    def least_in(self, index: Index) -> int:
        """Return the words of the shortest spans to look for: shorter ones cost counts."""
        shortest = (self.min_words, self.index_from)
        knows_all = isinstance(index, MatchesSuffixes) or index.unit == "tokens"
        return min(*shortest, SHORTEST) if knows_all else min(shortest)


@row_kind(
    "trace",
    "How much of each output is in the corpus",
    key=("words", "masked", "coverage", "novelty"),
    counts="spans",
)
@dataclass(frozen=True, slots=True)
class TraceRow:
    """How much of one text is in one index, or in any of them (`union`)."""

    index: Label
    dataset: Label
    model: Label
    prompt: Label
    id: Label
    kind: Label
    """`all`; or with `--kinds` `narrative`, `latex` or `code`: the words that the row is about."""
    unit: Label
    """`words`, or `tokens` in an index over tokens, where all numbers of words are of those."""
    words: int
    """Words that count: all that are not masked."""
    masked: int
    """Words in a span that the text shares with its question or prompt."""
    min_words: int
    spans: int
    """Spans of at least `min_words` words that have a word that counts."""
    longest: int
    """Words of the longest of them; it grows with the length of the text."""
    coverage: Share | None
    """Share of the words that are in spans of at least `min_words`; None: there are no words."""
    novelty: Share | None
    """Share of the n-grams of `min_words` words that the index lacks; None: there are none."""
    index_from: int
    index_to: int
    creativity_index: float | None
    """Sum of 1 - coverage over these lengths, of verbatim spans only."""
    truncated_words: int | None
    """Words of the beginning that count, up to `--truncate`."""
    coverage_truncated: Share | None
    """Coverage of the beginning alone."""


class Measures(NamedTuple):
    """Numbers of one text, for spans of one length and longer ones."""

    words: int
    covered: int
    """Words in such spans."""
    ngrams: int
    """N-grams of `length` words, without masked ones."""
    absent: int
    """N-grams that don't occur."""

    @property
    def coverage(self) -> float | None:
        """Share of the words that are in spans."""
        return self.covered / self.words if self.words else None

    @property
    def novelty(self) -> float | None:
        """Share of the n-grams that don't occur: n-novelty (Merrill et al. 2024), in words."""
        return self.absent / self.ngrams if self.ngrams else None


@dataclass(frozen=True, slots=True)
class Profile:
    """The words in spans of any length, for one text."""

    words: int
    """Words that count."""
    by_length: Integers
    """Column n is about spans of n words or more, up to the first column without any: words in them
    that count, n-grams without masked words, and the n-grams of these that occur."""

    def measures(self, length: int) -> Measures:
        """Return what is in spans of some length or longer ones."""
        last = self.by_length.shape[1] - 1
        covered, ngrams, present = self.by_length[:, min(length, last)].tolist()
        return Measures(self.words, covered, ngrams, ngrams - present)

    def covered(self, lengths: range) -> list[int]:
        """Return the words that count in spans of each length or longer ones."""
        last = self.by_length.shape[1] - 1
        covered: list[int] = self.by_length[0, np.minimum(lengths, last)].tolist()
        return covered


@dataclass(frozen=True)
class Traced:
    """The spans of one text, and which of its words are masked."""

    given: GivenText
    text: WordText
    is_masked: NDArray[np.bool_]
    spans: Sequence[Span]
    least: int
    """Words of the shortest spans that were looked for."""
    kind: str = ALL_KINDS
    is_of_kind: NDArray[np.bool_] | None = None
    """Which words are of the kind; None: all."""

    @property
    def unit(self) -> str:
        """The kind of its words: `words` or `tokens`."""
        return "words" if self.text.tokens is None else "tokens"

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """The words that count."""
        return ~self.is_masked if self.is_of_kind is None else self.is_of_kind & ~self.is_masked

    @property
    def masked(self) -> int:
        """Number of masked words of the kind."""
        of_kind = self.is_masked if self.is_of_kind is None else self.is_masked & self.is_of_kind
        return int(np.count_nonzero(of_kind))

    def of_kinds(self) -> Iterator[Traced]:
        """Yield the same for the words of each kind that the text has."""
        kinds = np.full(len(self.is_masked), NARRATIVE, object)
        first_characters = np.array([first for first, _ in self.text.words], np.int64)
        for start, stop, kind in self.given.kinds or ():
            first, behind = np.searchsorted(first_characters, [start, stop])
            kinds[first:behind] = kind
        for kind in sorted({*kinds}, reverse=True):
            yield replace(self, kind=kind, is_of_kind=kinds == kind)

    def long_spans(self, least: int) -> list[Span]:
        """Return the spans of at least `least` words."""
        return [span for span in self.spans if span.words >= least]

    def listed(self, least: int) -> list[Span]:
        """Return the spans to list of at least `least` words: in repeated text, not all spans."""
        return listed_spans(self.long_spans(least))

    def marks_of(self, spans: Sequence[Span]) -> list[Mark]:
        """Return the places of some spans in the text."""
        words = self.text.words
        return [Mark(words[span.first][0], words[span.stop - 1][1], span.words) for span in spans]

    def counting(self, least: int) -> list[Span]:
        """Return those with a word that is not masked."""
        spans = self.long_spans(least)
        if not spans:
            return []
        before = np.append(0, np.cumsum(self.counts))
        return [span for span in spans if before[span.stop] > before[span.first]]

    @cached_property
    def profile(self) -> Profile:
        """Facts about the words of the text."""
        return self.profile_of(len(self.is_masked))

    def profile_of(self, first_words: int) -> Profile:
        """Return what is known of the words of the beginning."""
        counts = self.counts[:first_words]
        n, places = len(counts), np.arange(len(counts))
        # By word: words of the longest span that has it, and of the longest match that it ends.
        cut = [Span(each.first, min(each.stop, n)) for each in self.spans if each.first < n]
        longest, starts, reach = _longest_by_word(cut, n), places + 1, 0
        for span in cut:
            starts[max(reach, span.first) : span.stop] = span.first
            reach = span.stop
        unmasked = places - np.maximum.accumulate(np.where(counts, -1, places))
        present = np.minimum(unmasked, places + 1 - starts)
        exactly = [
            np.bincount(each, minlength=n + 2) for each in (longest[counts], unmasked, present)
        ]
        at_least = np.cumsum(np.array(exactly)[:, ::-1], axis=1)[:, ::-1]
        return Profile(int(counts.sum()), at_least)


@dataclass(frozen=True, slots=True)
class TraceResult:
    """The traces of some texts in some indexes."""

    rows: list[TraceRow] = field(default_factory=list)
    """In the order of the indexes, the union last, then of the texts."""
    traced: dict[str, list[Traced]] = field(default_factory=dict)
    """By index, the union among them; texts that could not be traced are left out."""
    counts: dict[str, dict[str, QueryCount]] = field(default_factory=dict)
    """By index and text: the counts from the search, or after `count_spans` the counts of all
    spans that `Traced.listed` returns."""
    missing: list[QueryFailure] = field(default_factory=list)
    """Texts that could not be traced, and spans that could not be counted."""
    sizes: dict[str, IndexSize] = field(default_factory=dict)
    found_forms: list[TextForm] = field(default_factory=list)
    """Texts with more copied words in another normal form of Unicode."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """A text with more words in spans in another normal form of Unicode."""

    index: str
    id: str
    form: NormalForm
    words: int
    """Words in spans of that form."""
    words_as_given: int


def run_trace(
    texts: Sequence[GivenText], indexes: Sequence[Index], options: TraceOptions
) -> TraceResult:
    """Find the spans of all texts in each index, and in all byte-level indexes together.

    Words that a text shares with what the model was given, in a span of at least as many words,
    count neither as copied nor as new.
    """
    result = TraceResult()
    words = [WordText(given_text.text) for given_text in texts]
    masks: list[NDArray[np.bool_]] = []
    by_text: list[list[Traced]] = [[] for _ in texts]
    for index in indexes:
        least = options.least_in(index)
        found_spans, more = _find_with_forms(words, texts, index, least, options.min_words)
        if not masks or found_spans.texts is not words:  # each index has its own tokens
            masks = [
                _masked(text, given_text.asked, options.min_words)
                for text, given_text in zip(found_spans.texts, texts, strict=True)
            ]
        traced = result.traced[index.name] = []
        for number, spans in enumerate(found_spans.spans):
            if isinstance(spans, NgramscanError):
                result.missing.append(QueryFailure(index.name, texts[number].id, spans))
            else:
                each = Traced(texts[number], found_spans.texts[number], masks[number], spans, least)
                by_text[number].append(each)
                traced.append(each)
        result.found_forms.extend(more)
        result.counts[index.name] = found_spans.counts
        result.sizes[index.name] = index.size()
    if len(indexes) > 1 and all(index.unit == "bytes" for index in indexes):
        complete = [
            traced_by_index for traced_by_index in by_text if len(traced_by_index) == len(indexes)
        ]
        result.traced[UNION] = [_merged(traced_by_index) for traced_by_index in complete]
    for name, traced in result.traced.items():
        of_kinds = [
            part for each in traced if each.given.kinds is not None for part in each.of_kinds()
        ]
        result.traced[name] += of_kinds
        result.rows.extend(_row(name, each, options) for each in result.traced[name])
    return result


class _OtherForm(NamedTuple):
    """Another normal form of a text."""

    number: int
    """The number of the text."""
    name: NormalForm
    text: WordText


def _find_with_forms(
    words: list[WordText], texts: Sequence[GivenText], index: Index, least: int, min_words: int
) -> tuple[FoundSpans, list[TextForm]]:
    """Return the spans of texts, and their other forms that have more words in spans.

    A corpus is read once for all forms. Other indexes are searched for the forms of texts without
    any span; indexes over tokens are not searched for other forms.
    """
    if index.unit == "tokens":
        return find_spans(words, index, least), []
    forms = [
        _OtherForm(number, name, WordText(form))
        for number, text in enumerate(words)
        for name, form in other_forms(text.text).items()
    ]
    if isinstance(index, ReadsDocuments):
        together = find_spans([*words, *(form.text for form in forms)], index, least)
        n = len(words)
        found_spans = FoundSpans(together.spans[:n], together.counts, words)
        of_forms = together.spans[n:]
    else:
        found_spans = find_spans(words, index, least)
        forms = [form for form in forms if found_spans.spans[form.number] == []]
        of_forms = find_spans([form.text for form in forms], index, least).spans
    more = []
    for form, spans in zip(forms, of_forms, strict=True):
        as_given = _covered(found_spans.spans[form.number], min_words)
        if (covered := _covered(spans, min_words)) > as_given:
            id_ = texts[form.number].id
            more.append(TextForm(index.name, id_, form.name, covered, as_given))
    return found_spans, more


def _covered(spans: Sequence[Span] | NgramscanError, least: int) -> int:
    """Return the number of words in spans of at least `least` words; 0 if they are unknown."""
    if isinstance(spans, NgramscanError):
        return 0
    covered, reach = 0, 0
    for span in spans:
        if span.words >= least:
            covered += span.stop - max(span.first, reach)
            reach = span.stop
    return covered


def _longest_by_word(spans: Sequence[Span], n: int) -> Integers:
    """Return, for each of n words, the words of the longest span that has it, or 0.

    Spans are in the order of their starts, and so are their ends.
    """
    longest = np.zeros(n, np.int64)
    reaching = deque[Span]()  # each is shorter than the one before it
    for number, span in enumerate(spans, 1):
        while reaching and reaching[-1].words <= span.words:
            reaching.pop()
        reaching.append(span)
        following = spans[number].first if number < len(spans) else n
        place = span.first
        while reaching and place < following:
            end = min(reaching[0].stop, following)
            longest[place:end] = reaching[0].words
            place = max(place, end)
            if reaching[0].stop <= following:
                reaching.popleft()
    return longest


def _masked(text: WordText, asked_texts: Iterable[str], least: int) -> NDArray[np.bool_]:
    changes = np.zeros(len(text.words) + 1, np.int64)  # of the number of spans that have a word
    for other in asked_texts:
        for span in spans_within(text, other, least):
            changes[span.first] += 1
            changes[span.stop] -= 1
    is_masked: NDArray[np.bool_] = np.cumsum(changes)[:-1] > 0
    return is_masked


def _merged(traced_by_index: Sequence[Traced]) -> Traced:
    """Return the spans of several indexes that are in no longer one."""
    spans = sorted((span for each in traced_by_index for span in each.spans), key=_by_start)
    merged: list[Span] = []
    for span in spans:
        if not merged or span.stop > merged[-1].stop:
            merged.append(span)
    return replace(
        traced_by_index[0], spans=merged, least=max(each.least for each in traced_by_index)
    )


def _by_start(span: Span) -> tuple[int, int]:
    return span.first, -span.stop


def _row(index: str, traced: Traced, options: TraceOptions) -> TraceRow:
    given_text, profile = traced.given, traced.profile
    measured = profile.measures(options.min_words)
    beginning = None
    if options.truncate:
        beginning = traced.profile_of(options.truncate).measures(options.min_words)
    spans = traced.counting(options.min_words)
    return TraceRow(
        index=index,
        dataset=given_text.dataset,
        model=given_text.model,
        prompt=given_text.prompt,
        id=given_text.id,
        kind=traced.kind,
        unit=traced.unit,
        words=measured.words,
        masked=traced.masked,
        min_words=options.min_words,
        spans=len(spans),
        longest=max((span.words for span in spans), default=0),
        coverage=measured.coverage,
        novelty=measured.novelty,
        index_from=options.index_from,
        index_to=options.index_to,
        creativity_index=creativity_index(profile, options),
        truncated_words=beginning.words if beginning else None,
        coverage_truncated=beginning.coverage if beginning else None,
    )


def creativity_index(profile: Profile, options: TraceOptions) -> float | None:
    """Return the sum over lengths of the share of words in no span; None if there are no words.

    Source: Lu et al. 2024, "AI as Humanity's Salieri"; theirs also takes spans that are nearly
    verbatim.
    """
    if not profile.words:
        return None
    covered = profile.covered(options.index_lengths)
    return sum(1 - each / profile.words for each in covered)
