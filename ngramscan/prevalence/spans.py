"""Texts × an index → the longest parts of the texts, in whole words, that occur in the index.

`matching.words` says what a word is. A span begins at the start of a word, ends at the end of one,
occurs with all that is between, and is in no longer span.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import (
    Cost,
    FindsSpans,
    Index,
    MatchesSuffixes,
    QueryCount,
    ReadsDocuments,
    ShowsExcerpts,
    SpanQuery,
)
from ngramscan.indexes.tokens.base import MatchesTokens
from ngramscan.matching.alike import AlikePlaces
from ngramscan.matching.excerpts import possible_windows
from ngramscan.matching.longest import longest_matches
from ngramscan.matching.words import word_places
from ngramscan.prevalence.count import collect_replies
from ngramscan.statistics.streams import draw_sample

Integers = NDArray[np.int64]
Excerpts = Callable[[Sequence[bytes], Sequence[Integers]], list[bytes]]
"""Returns parts of documents, as `ShowsExcerpts.excerpts` does."""
_IS_WORD = bytes(code < 128 and bool(word_places(chr(code))) for code in range(256))
_PART_WORDS, _FEWEST_PARTS, _PARTS_PER_DRAW = 64, 16, 50
"""Parts of texts that are searched for an estimate: one of fifty, but not fewer than sixteen."""

_COMPARED_DIRECTLY = 1 << 21
"""Texts whose lengths have at most this product are searched with `in`, which is faster there."""


@dataclass(frozen=True)
class WordText:
    """A text, and where its words are; or its tokens, which are its words in an index of tokens."""

    text: str
    tokens: Sequence[tuple[int, int]] | None = None
    token_ids: Sequence[int] = ()
    """The ids of the tokens."""

    @cached_property
    def words(self) -> Sequence[tuple[int, int]]:
        """Start and end of each word, in characters."""
        if self.tokens is not None:
            return self.tokens
        if self.text.isascii():
            return [*zip(*(places.tolist() for places in self._in_ascii), strict=True)]
        return word_places(self.text)

    def part(self, first: int, stop: int) -> str:
        """Return the text from one word to the end of the word before another."""
        return self.text[self.words[first][0] : self.words[stop - 1][1]]

    @cached_property
    def _in_ascii(self) -> tuple[Integers, Integers]:
        """Starts and ends of the words, where no character is beyond ASCII."""
        classes = b"\0%b\0" % self.text.encode().translate(_IS_WORD)
        is_word = np.frombuffer(classes, np.bool_)
        bounds = np.flatnonzero(is_word[1:] != is_word[:-1])
        return bounds[::2], bounds[1::2]

    def byte_places(self) -> tuple[Integers, Integers]:
        """Return the starts and the ends of the words in UTF-8."""
        if self.tokens is None and self.text.isascii():
            return self._in_ascii
        words = np.fromiter(chain.from_iterable(self.words), np.int64, 2 * len(self.words))
        if not self.text.isascii():
            encoded = np.frombuffer(self.text.encode(), np.uint8)
            is_first = encoded & 0b11000000 != 0b10000000  # of the bytes of a character
            words = np.append(np.flatnonzero(is_first), len(encoded))[words]
        return words[::2], words[1::2]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, from one word to before another."""

    first: int
    stop: int

    @property
    def words(self) -> int:
        """Number of words."""
        return self.stop - self.first


Occurs = Mapping[str, bool]
Search = Generator[list[str], Occurs, list[Span]]
"""Yields texts, is sent whether each of them occurs, and returns spans in the order of starts."""
AskAbout = Callable[[list[str]], Mapping[str, bool | NgramscanError]]
"""Returns whether each of some texts occurs, or why that is not known."""


@dataclass(frozen=True, slots=True)
class FoundSpans:
    """The spans of some texts in one index."""

    spans: list[list[Span] | NgramscanError]
    """The spans of each text, in the order of their starts; an error if some are unknown."""
    counts: dict[str, QueryCount]
    """The counts that the search took."""
    texts: Sequence[WordText]
    """The texts, in the words or tokens of the spans."""


def find_spans(texts: Sequence[WordText], index: Index, least: int) -> FoundSpans:
    """Return all spans of at least `least` words in each text.

    Some indexes return the longest match at each end of a text. The others count windows first,
    then longer and longer parts where the windows occur.
    """
    if isinstance(index, MatchesTokens):
        return _of_tokens(texts, index, least)
    if isinstance(index, MatchesSuffixes):
        return FoundSpans(list(_from_matches(texts, index, least)), {}, texts)
    if isinstance(index, ShowsExcerpts):
        return FoundSpans([*_within_excerpts(texts, index.excerpts, least)], {}, texts)
    width = width_in(index, least)
    if isinstance(index, FindsSpans):
        return FoundSpans(_in_place(texts, index, least, width), {}, texts)
    counted_parts = _CountedParts(index)
    spans = _search_spans(texts, least, width, counted_parts.ask)
    return FoundSpans(spans, counted_parts.counts, texts)


def width_in(index: Index, least: int) -> int:
    """Return the words of a window: fewer where each costs a request, so that they are fewer."""
    return least if isinstance(index, ReadsDocuments) else (least + 1) // 2


def windows_of(text: WordText, least: int, width: int) -> dict[int, str]:
    """Return windows by their first word, so far apart that any span has a whole one."""
    firsts = _window_starts(text, least, width)
    return {first: text.part(first, first + width) for first in firsts}


def _window_starts(text: WordText, least: int, width: int) -> range:
    return range(0, len(text.words) - width + 1, least - width + 1)


def spans_within(text: WordText, other: str, least: int) -> list[Span]:
    """Return the spans of a text that occur in another text."""
    if len(text.text) * len(other) > _COMPARED_DIRECTLY:
        return _within_excerpts([text], lambda *_: [other.encode()], least)[0]
    (spans,) = _search_spans(
        [text], least, least, lambda parts: {part: part in other for part in parts}
    )
    if isinstance(spans, NgramscanError):
        raise spans
    return spans


def _from_matches(
    texts: Sequence[WordText], index: MatchesSuffixes, least: int
) -> Iterator[list[Span]]:
    places = [text.byte_places() for text in texts]
    ends_of_words = [ends for _, ends in places]
    match_starts = index.match_starts([text.text.encode() for text in texts], ends_of_words)
    for (starts, _), matched in zip(places, match_starts, strict=True):
        # The first whole word of each match; later matches don't begin earlier.
        firsts = np.searchsorted(starts, matched).tolist()
        behind = [*firsts, len(firsts) + 1][1:]
        yield [
            Span(first, last + 1)
            for last, (first, following) in enumerate(zip(firsts, behind, strict=True))
            if following > first and last + 1 - first >= least
        ]


def _within_excerpts(texts: Sequence[WordText], excerpts: Excerpts, least: int) -> list[list[Span]]:
    """Return the spans of texts, from excerpts that contain everything they share with a corpus."""
    different = {text.text: text for text in texts}
    encoded = [text.encode() for text in different]
    places = [text.byte_places() for text in different.values()]
    windows = [_window_places(*words, least) for words in places]
    shared_parts = excerpts(encoded, windows)
    possible = possible_windows(shared_parts, encoded, windows)
    firsts = [
        np.flatnonzero(is_possible[: max(0, len(starts) - least + 1)])
        for is_possible, (starts, _) in zip(possible, places, strict=True)
    ]
    possible_places = [of_text[numbers] for of_text, numbers in zip(windows, firsts, strict=True)]
    lengths = longest_matches(encoded, possible_places, shared_parts)
    spans = {
        text: _longest_spans(starts, ends, numbers, matched, least)
        for text, (starts, ends), numbers, matched in zip(
            different, places, firsts, lengths, strict=True
        )
    }
    return [spans[text.text] for text in texts]


def _longest_spans(
    starts: Integers, ends: Integers, firsts: Integers, lengths: Integers, least: int
) -> list[Span]:
    """Return the spans of a text, by the bytes of the longest match from some words on.

    Parameters
    ----------
    starts, ends : array of int64
        The places of all words.
    firsts, lengths : array of int64
        The words with which spans may begin, and the bytes that a document has from there on.
    least : int
        Words of the shortest spans.
    """
    if not len(firsts):
        return []
    stops = np.searchsorted(ends, starts[firsts] + lengths, "right")
    longest_before = np.maximum.accumulate(np.append(0, stops))[:-1]
    is_span = (stops - firsts >= least) & (stops > longest_before)
    places = zip(firsts[is_span].tolist(), stops[is_span].tolist(), strict=True)
    return [Span(first, stop) for first, stop in places]


def _in_place(
    texts: Sequence[WordText], index: FindsSpans, least: int, width: int
) -> list[list[Span] | NgramscanError]:
    """Return the spans that an index searches by itself."""
    different = {text.text: text for text in texts}.values()
    queries = [_span_query(text, least, width) for text in different]
    names = [query.text for query in queries]
    matches_by_text, errors = collect_replies(index.spans(queries), names)
    spans = {
        text: [Span(*match) for match in each.matches] for text, each in matches_by_text.items()
    }
    return [errors.get(text.text) or spans[text.text] for text in texts]


def _span_query(text: WordText, least: int, width: int) -> SpanQuery:
    windows = [(first, first + width) for first in windows_of(text, least, width)]
    return SpanQuery(text.text, np.stack(text.byte_places(), axis=1), windows, least)


class SpanIndex(Index, FindsSpans, Protocol):
    """An index that searches the spans of texts by itself."""


def cost_of_spans(texts: Sequence[WordText], index: SpanIndex, least: int, seed: int) -> Cost:
    """Estimate the cost of the spans of some texts, by searching parts of them drawn at random.

    In a part of a text the same is searched as in the whole, but for spans that its ends cut.
    """
    parts = [
        WordText(text.part(first, min(first + _PART_WORDS, len(text.words))))
        for text in {text.text: text for text in texts}.values()
        for first in range(0, len(text.words), _PART_WORDS)
    ]
    number = min(len(parts), max(_FEWEST_PARTS, len(parts) // _PARTS_PER_DRAW))
    sampled_parts = draw_sample(parts, number, seed)
    words = sum(len(part.words) for part in parts)
    times = words / max(1, sum(len(part.words) for part in sampled_parts))
    width = width_in(index, least)
    return index.cost_of_spans([_span_query(part, least, width) for part in sampled_parts], times)


def _window_places(starts: Integers, ends: Integers, least: int) -> Integers:
    """Return start and end of each window in bytes; windows of two words touch the next one."""
    places = [
        np.array([starts[: max(0, len(starts) - width + 1)], ends[width - 1 :]]).T
        for width in (least, *([2] if least == 1 else []))
    ]
    return np.concatenate(places)


def _of_tokens(texts: Sequence[WordText], index: MatchesTokens, least: int) -> FoundSpans:
    """Return the spans of tokens."""
    spans: list[list[Span] | NgramscanError] = []
    in_tokens = list[WordText]()
    matches_of_texts = index.matches([text.text for text in texts])
    for text, matches in zip(texts, matches_of_texts, strict=True):
        if isinstance(matches, NgramscanError):
            spans.append(matches)
            in_tokens.append(text)
            continue
        of_text, reach = list[Span](), 0
        for first, stop in enumerate(matches.ends):
            if stop - first >= least and stop > reach:
                of_text.append(Span(first, stop))
            reach = max(reach, stop)
        in_tokens.append(WordText(text.text, matches.places, matches.ids))
        spans.append(of_text)
    return FoundSpans(spans, {}, in_tokens)


class _CountedParts:
    """Parts of texts as an index counts them, each once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.counts = dict[str, QueryCount]()
        self._errors = dict[str, NgramscanError]()

    def ask(self, parts: list[str]) -> dict[str, bool | NgramscanError]:
        """Return whether each part occurs, or why it could not be counted."""
        uncounted = [part for part in parts if part not in self.counts]
        if uncounted:
            replies, errors = collect_replies(self._index.counts(uncounted), uncounted)
            self.counts |= replies
            self._errors |= errors
        occurs = {part: self.counts[part].occurrences > 0 for part in parts if part in self.counts}
        errors_of_parts = {part: self._errors[part] for part in parts if part in self._errors}
        return {**occurs, **errors_of_parts}


def _search_spans(
    texts: Sequence[WordText], least: int, width: int, ask_about: AskAbout
) -> list[list[Span] | NgramscanError]:
    """Search all spans of at least `least` words in each text, by asking whether parts occur.

    Windows of `width` words are asked about first, then the spans of each place without an absent
    window are searched. The parts of all texts are asked about together, in rounds.
    """
    windows = [windows_of(text, least, width) for text in texts]
    all_windows = chain.from_iterable(of_text.values() for of_text in windows)
    answers = ask_about(list(dict.fromkeys(all_windows)))
    errors: dict[int, NgramscanError] = {}
    searches: list[tuple[int, Search]] = []
    for number, (text, windows_by_first) in enumerate(zip(texts, windows, strict=True)):
        if error := _first_error(answers, windows_by_first.values()):
            errors[number] = error
            continue
        present = {first for first, window in windows_by_first.items() if answers[window]}
        searches += [(number, search) for search in _searches_in(text, present, least, width)]
    spans, later_errors = _run_searches(searches, ask_about)
    errors |= later_errors
    return [errors.get(number) or _outermost(spans.get(number, ())) for number in range(len(texts))]


def _run_searches(
    searches: Sequence[tuple[int, Search]], ask_about: AskAbout
) -> tuple[dict[int, list[Span]], dict[int, NgramscanError]]:
    """Run searches together: in each round, all that they want to know is asked at once.

    Each has the number of its text. Returns the spans of each text, in the order of its searches,
    and why others are not known: then all searches in a text end.
    """
    spans_of_searches: dict[int, list[Span]] = {}
    errors: dict[int, NgramscanError] = {}
    running = dict(enumerate(searches))
    occurs: Occurs | None = None
    while running:
        wanted: dict[int, list[str]] = {}
        for position, (_, search) in running.items():
            try:
                wanted[position] = next(search) if occurs is None else search.send(occurs)
            except StopIteration as end:
                spans_of_searches[position] = end.value
        answers = ask_about(list(dict.fromkeys(chain.from_iterable(wanted.values()))))
        for position, parts in wanted.items():
            number, _ = searches[position]
            if error := _first_error(answers, parts):
                errors.setdefault(number, error)
        running = {
            position: searches[position]
            for position in wanted
            if searches[position][0] not in errors
        }
        occurs = {part: answer for part, answer in answers.items() if isinstance(answer, bool)}
    spans: dict[int, list[Span]] = {}
    for position, (number, _) in enumerate(searches):
        spans.setdefault(number, []).extend(spans_of_searches.get(position, ()))
    return spans, errors


def _first_error(
    answers: Mapping[str, bool | NgramscanError], parts: Iterable[str]
) -> NgramscanError | None:
    """Return why it is not known whether some parts occur; None if it is."""
    errors = (answers[part] for part in parts)
    return next((error for error in errors if isinstance(error, NgramscanError)), None)


def _searches_in(text: WordText, present: set[int], least: int, width: int) -> list[Search]:
    """Return a search for each place of a text that has no absent window.

    `present` are the first words of the windows that occur.
    """
    if not present:
        return []
    n = len(text.words)
    starts = _window_starts(text, least, width)
    # From each word, how far a span may reach: not to the end of an absent window.
    limits, limit = [n] * n, n
    for first in reversed(range(n)):
        if first in starts and first not in present:
            limit = first + width - 1
        limits[first] = limit
    open_places = _runs([first for first in range(n) if limits[first] - first >= least])
    slack, longest_parts = least - width, _LongestParts(text)
    return [_search_run(text, run, limits, least, slack, longest_parts) for run in open_places]


class _LongestParts:
    """The longest parts of a text that occur, noted for all places that are alike.

    Where a text repeats itself, the same is not asked for each of its words.
    """

    def __init__(self, text: WordText) -> None:
        self._text = text
        self._words_from: dict[int, int] = {}
        self._words_to: dict[int, int] = {}

    @cached_property
    def _starts(self) -> tuple[Integers, AlikePlaces]:
        """Starts of words in UTF-8, and where the text is alike from there on."""
        starts, _ = self._text.byte_places()
        return starts, AlikePlaces(self._text.text.encode(), starts)

    @cached_property
    def _ends(self) -> tuple[Integers, AlikePlaces]:
        """Ends of words in UTF-8, and where the text is alike before them, read backwards."""
        content, (_, ends) = self._text.text.encode(), self._text.byte_places()
        return ends, AlikePlaces(content[::-1], len(content) - ends)

    def words_from(self, first: int) -> int | None:
        """Return the words of the longest part that occurs from a word on; None: not known."""
        return self._words_from.get(first)

    def words_to(self, last: int) -> int | None:
        """Return the words of the longest part that occurs and ends with a word."""
        return self._words_to.get(last)

    def learn_from(self, first: int, words: int) -> None:
        """Note the words of the longest part from a word on; the text has one more."""
        starts, alike = self._starts
        ends, _ = self._ends
        self._words_from[first] = words
        longer = int(ends[first + words] - starts[first])
        self._words_from |= dict.fromkeys(alike.sharing(first, longer), words)

    def learn_to(self, last: int, words: int) -> None:
        """Note the words of the longest part that ends with a word; the text has one more."""
        ends, alike = self._ends
        starts, _ = self._starts
        self._words_to[last] = words
        longer = int(ends[last] - starts[last - words])
        self._words_to |= dict.fromkeys(alike.sharing(last, longer), words)


def _outermost(candidates: Iterable[Span]) -> list[Span]:
    """Return those spans, in the order of their starts, that none before them has."""
    reach, spans = 0, []
    for span in candidates:
        if span.stop > reach:
            spans.append(span)
            reach = span.stop
    return spans


def _runs(numbers: Sequence[int]) -> list[range]:
    """Return the runs of successive numbers."""
    breaks = [0, *(i + 1 for i, (a, b) in enumerate(pairwise(numbers)) if b > a + 1), len(numbers)]
    return [range(numbers[a], numbers[b - 1] + 1) for a, b in pairwise(breaks) if b > a]


def _search_run(
    text: WordText,
    starts: range,
    limits: Sequence[int],
    least: int,
    slack: int,
    longest_parts: _LongestParts,
) -> Search:
    """Search the spans that begin at some successive words.

    From each word, find the longest part that occurs; continue from the first later word with a
    part that ends one word further. A text that is copied in one piece ends at most `slack` words
    before its limit, or the last window would be absent too. So few questions are needed even for
    a long text.
    """
    spans, first, reach = list[Span](), starts.start, 0
    while first < starts.stop:
        shortest = max(reach, first + least - 1)
        stop = yield from _longest_from(text, first, shortest, limits[first], slack, longest_parts)
        if stop > shortest:
            spans.append(Span(first, stop))
            reach = stop
        first += 1
        while first < starts.stop and limits[first] <= reach:
            first += 1
        if first < starts.stop and reach - first >= least:
            first = yield from _first_with(text, first, reach, least, longest_parts)
    return spans


def _longest_from(
    text: WordText, first: int, shortest: int, limit: int, slack: int, longest_parts: _LongestParts
) -> Generator[list[str], Occurs, int]:
    """Return the word behind the longest part from a word on, or `shortest` if that is longer."""
    if (words := longest_parts.words_from(first)) is not None:
        return max(shortest, first + words)
    stop = yield from _longest(partial(text.part, first), shortest, limit, likely=limit - slack)
    if shortest < stop < len(text.words):
        longest_parts.learn_from(first, stop - first)
    return stop


def _first_with(
    text: WordText, first: int, last: int, least: int, longest_parts: _LongestParts
) -> Generator[list[str], Occurs, int]:
    """Return the first word, but none before `first`, from which a part with the last one occurs.

    Or the first one of a part that is too short.
    """
    most = last + 1 - first
    words = longest_parts.words_to(last)
    if words is None:
        ends_there = partial(_ending_at, text, last + 1)
        words = yield from _longest(ends_there, least - 1, most, likely=0)
        if least <= words < most:
            longest_parts.learn_to(last, words)
    return last + 1 - min(max(words, least - 1), most)


def _ending_at(text: WordText, stop: int, words: int) -> str:
    return text.part(stop - words, stop)


def _longest(
    part: Callable[[int], str], present: int, most: int, likely: int
) -> Generator[list[str], Occurs, int]:
    """Return the largest number up to `most` whose part occurs, or `present` if none above it does.

    The part of a number lies within the parts of larger numbers. The next number is asked about
    first, then the one that is `likely`, then others at growing distances.
    """
    step = 1
    while present < most:
        is_likely = step == 4 and likely > present
        number = likely if is_likely else present + min(step, (most - present + 1) // 2)
        wanted = part(number)
        if (yield [wanted])[wanted]:
            present = number
        else:
            most = number - 1
        step *= 4
    return present
