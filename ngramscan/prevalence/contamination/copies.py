"""Entries and passages of documents → copied, a variant, shared or clean, by the rule `copied`.

Indexes count how often each window of an entry occurs in the whole corpus. Windows that are rare
there tell copies from common text: a document that was copied from has most of them, and a
template, a formula or a quotation has none. A window weighs the logarithm of its rarity, as words
do in inverse document frequencies (Spärck Jones 1972, doi:10.1108/eb026526).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum, log2

from ngramscan.indexes.base import Passage
from ngramscan.matching.normalization import normalized
from ngramscan.matching.placed_words import PlacedWords, placed_words
from ngramscan.matching.word_windows import longest_passage, windows_of_words
from ngramscan.matching.words import count_unspaced
from ngramscan.prevalence.contamination.numbers import changed_numbers, is_number, masked
from ngramscan.prevalence.contamination.rules import COPY_CLASSES, EntryClass
from ngramscan.prevalence.contamination.thresholds import (
    COVERED,
    COVERED_VARIANT,
    EVERYWHERE,
    FOUND_WEIGHT,
    LEAST_SHARE,
    RARE,
    SAME_FILLING,
    SAME_GAPS,
    SCORE,
    SHARED_WORDS,
    SHORT,
    WHOLE,
)
from ngramscan.stopping import current_work

_PAIR = 2
"""Words of the shortest parts that cover words."""
_CHARACTERS = 3
"""The same where words are characters of a script without spaces, of which two say less."""

_UNSEEN = 0.5
"""The number of occurrences by which a window weighs that does not occur."""

_WordWindow = tuple[str, ...]


@dataclass(frozen=True)
class WeighedEntry:
    """An entry with its windows, and how rare each of them is in an index."""

    text: str
    placed: PlacedWords
    width: int
    occurrences: Sequence[int | None]
    """The count of each window, in the order of the text; None: not known."""
    size: float
    """Bytes of text of the index, or tokens."""

    @cached_property
    def windows(self) -> list[_WordWindow]:
        """The windows, in the order of the text; a text that is shorter than one is one window."""
        return windows_of_words(self.placed.words, self.width)

    @cached_property
    def has_numbers(self) -> bool:
        """Whether a copy could have other numbers."""
        return any(map(is_number, self.placed.words))

    @cached_property
    def masked_windows(self) -> list[_WordWindow]:
        """The windows with the same sign for each number."""
        return windows_of_words(masked(self.placed.words), self.width)

    @cached_property
    def counts(self) -> Mapping[_WordWindow, int | None]:
        """The occurrences of each different window."""
        return dict(zip(self.windows, self.occurrences, strict=True))

    @cached_property
    def rare(self) -> frozenset[_WordWindow]:
        """The windows that occur rarely, or not at all."""
        return frozenset(
            window for window, count in self.counts.items() if count is not None and count <= RARE
        )

    @property
    def is_known(self) -> bool:
        """Whether the occurrences of all windows are known."""
        return None not in self.occurrences

    def weight(self, windows: Iterator[_WordWindow] | frozenset[_WordWindow]) -> float:
        """Return how much some windows weigh together, in bits."""
        counts = (self.counts[window] for window in windows)
        # Exact, so that the order of a set does not matter.
        return fsum(
            max(0.0, log2(self.size / max(count, _UNSEEN))) for count in counts if count is not None
        )


@dataclass(frozen=True)
class CopyMatch:
    """The best span of a passage for an entry."""

    passage: Passage
    words: Sequence[str]
    """The words of the passage."""
    first: int
    """The first word of the span."""
    stop: int
    """Behind the last word."""
    windows: frozenset[_WordWindow]
    """The windows of the entry that are in the span."""
    rare: frozenset[_WordWindow]
    """Those of them that are rare in the index."""
    covered: float
    """Share of the words of the entry that it has next to the same word."""
    score: float
    """The weighed share of the rare windows that are in it."""
    verdict: EntryClass
    changed: Sequence[tuple[int, int]] = field(default=())
    """Numbers of the entry that are others here: a word of the entry and one of the passage."""

    @cached_property
    def placed(self) -> PlacedWords:
        """The words of the passage with their places, which take far longer than the words."""
        return placed_words(self.passage.text)

    @cached_property
    def filling(self) -> frozenset[_WordWindow]:
        """The windows of the span that the entry does not have."""
        size = len(next(iter(self.windows)))
        in_span = windows_of_words(self.words[self.first : self.stop], size)
        return frozenset(in_span) - self.windows

    @property
    def start_character(self) -> int:
        """Where the span begins in the text of the passage."""
        return self.placed.starts[self.first]

    @property
    def stop_character(self) -> int:
        """Where it ends."""
        return self.placed.stops[self.stop - 1]


@dataclass(frozen=True)
class Judgement:
    """The verdict on an entry in one index, and the matches that it rests on."""

    verdict: EntryClass | None
    """None: too many windows are unknown."""
    matches: Sequence[CopyMatch]
    """The best one first."""


def judge(entry: WeighedEntry, passages: Sequence[Passage]) -> Judgement:
    """Tell what an entry is, from the passages of documents that have some of its windows.

    Passages with fewer than `LEAST_SHARE` of the windows of the entry are left out.
    """
    matches = [match for passage in passages if (match := match_passage(entry, passage))]
    matches = [replace(match, verdict=_verdict_among(entry, match, matches)) for match in matches]
    matches.sort(
        key=lambda match: (-COPY_CLASSES.index(match.verdict), -match.score, -match.covered)
    )
    if matches and matches[0].verdict in {"copied", "variant"}:
        return Judgement(matches[0].verdict, matches)
    if matches or _is_shared(entry):
        return Judgement("shared", matches)
    return Judgement("clean" if entry.is_known else None, matches)


def _rank(match: CopyMatch) -> tuple[int, float, float]:
    return COPY_CLASSES.index(match.verdict), match.score, match.covered


def _verdict_among(
    entry: WeighedEntry, match: CopyMatch, matches: Sequence[CopyMatch]
) -> EntryClass:
    """Return the verdict of a match; a template is shared, though few documents fill it."""
    if match.verdict != "copied" or entry.counts.keys() == match.windows:
        return match.verdict
    fills_template = any(
        _are_of_one_template(entry, match, other) for other in matches if other is not match
    )
    return "shared" if fills_template else "copied"


def _are_of_one_template(entry: WeighedEntry, match: CopyMatch, other: CopyMatch) -> bool:
    """Tell whether two documents have the same parts of an entry, and differ in the others.

    Documents that were edited independently lack different parts, and a copy of an edited copy
    has the same words in the place of what it lacks.
    """
    if other.covered < COVERED or other.passage.document == match.passage.document:
        return False
    gaps, other_gaps = (entry.counts.keys() - each.windows for each in (match, other))
    if len(gaps & other_gaps) < SAME_GAPS * len(gaps | other_gaps):
        return False
    filling, other_filling = (each.filling for each in (match, other))
    if not filling or not other_filling:
        return False
    same = len(filling & other_filling)
    return same < SAME_FILLING * min(len(filling), len(other_filling))


def _is_shared(entry: WeighedEntry) -> bool:
    """Tell whether the windows of an entry are common text, wherever they occur."""
    occurring = frozenset(window for window, count in entry.counts.items() if count)
    total = entry.weight(frozenset(entry.counts))
    if entry.is_known and occurring and entry.weight(occurring) >= FOUND_WEIGHT * total:
        return True
    words = run = 0
    for count in entry.occurrences:
        run = run + 1 if count else 0
        words = max(words, run + entry.width - 1 if run else 0)
    return words >= SHARED_WORDS


def match_passage(entry: WeighedEntry, passage: Passage) -> CopyMatch | None:
    """Return the best span of a passage; None: it has too few windows of the entry."""
    current_work().check()
    passage_words = normalized(passage.text, "words").split()
    span = best_span(entry.windows, passage_words)
    if span is None:
        return None
    match = _match(entry, passage, passage_words, span)
    if not entry.has_numbers:
        return match
    # If numbers differ, fewer windows show where the passage begins and ends.
    span = best_span(entry.masked_windows, masked(passage_words))
    if span is None:
        return match
    words = entry.placed.words
    first, stop = area_of(span, len(words), len(passage_words))
    changed = [
        (at, first + place) for at, place in changed_numbers(words, passage_words[first:stop])
    ]
    return _variant(entry, passage, passage_words, span, changed) if changed else match


def best_span(windows: Sequence[_WordWindow], passage: Sequence[str]) -> tuple[int, int] | None:
    """Return the span of a passage with the most different windows; None: it has too few.

    It has at most as many words as `longest_passage` says, and is the first with so many windows.
    """
    if not windows:
        return None
    sought, size = frozenset(windows), len(windows[0])
    longest = longest_passage(len(windows) + size - 1)
    places = [
        (at, window)
        for at in range(len(passage) - size + 1)
        if (window := tuple(passage[at : at + size])) in sought
    ]
    inside, best, most, low = Counter[_WordWindow](), None, 0, 0
    for at, window in places:
        inside[window] += 1
        while at + size - places[low][0] > longest:
            first_window = places[low][1]
            inside[first_window] -= 1
            if not inside[first_window]:
                del inside[first_window]
            low += 1
        if len(inside) > most:
            most, best = len(inside), (places[low][0], at + size)
    return best if most >= LEAST_SHARE * len(sought) else None


def _match(
    entry: WeighedEntry, passage: Passage, words: Sequence[str], span: tuple[int, int]
) -> CopyMatch:
    """Return the match of a span in which no number was changed."""
    windows = _windows_in(entry, words, span)
    covered = _covered_share(entry.placed.words, words, span)
    score = _score(entry, windows, entry.rare)
    verdict: EntryClass = "copied" if _is_copied(entry, windows, covered, score) else "shared"
    rare = windows & entry.rare
    return CopyMatch(passage, words, *span, windows, rare, covered, score, verdict)


def _variant(
    entry: WeighedEntry,
    passage: Passage,
    words: Sequence[str],
    span: tuple[int, int],
    changed: Sequence[tuple[int, int]],
) -> CopyMatch:
    """Return the match of a span with other numbers; windows with these say nothing."""
    windows = _windows_in(entry, words, span)
    covered = _covered_share(masked(entry.placed.words), masked(words), span)
    has_changed = {
        at for place, _ in changed for at in range(place - entry.width + 1, place + 1) if at >= 0
    }
    same = frozenset(window for at, window in enumerate(entry.windows) if at not in has_changed)
    rare = entry.rare & same
    score = _score(entry, windows & same, rare)
    # Of a template that many documents fill with numbers, nothing else is rare.
    is_copy = bool(windows & rare) and covered >= COVERED_VARIANT and score >= SCORE
    return CopyMatch(
        passage,
        words,
        *span,
        windows,
        windows & entry.rare,
        covered,
        score,
        verdict="variant" if is_copy else "shared",
        changed=changed,
    )


def _windows_in(
    entry: WeighedEntry, words: Sequence[str], span: tuple[int, int]
) -> frozenset[_WordWindow]:
    first, stop = span
    size = len(entry.windows[0])
    return frozenset(windows_of_words(words[first:stop], size)) & entry.counts.keys()


def area_of(span: tuple[int, int], n_words: int, n_passage: int) -> tuple[int, int]:
    """Return the words around a span that may belong to the copy of a text of `n_words` words.

    Options in another order have no windows, so they lie outside of the span.
    """
    first, stop = span
    beside = longest_passage(n_words) - (stop - first)
    return max(0, first - beside), min(n_passage, stop + beside)


def _covered_share(words: Sequence[str], passage: Sequence[str], span: tuple[int, int]) -> float:
    """Return the share of words that the span, or the text around it, has next to the same word.

    Pairs are found where edits or another order of options leave no window.
    """
    first, stop = area_of(span, len(words), len(passage))
    size = _PAIR if count_unspaced(words) < len(words) / 2 else _CHARACTERS
    groups = frozenset(windows_of_words(passage[first:stop], size))
    return len(covered_words(windows_of_words(words, size), groups)) / len(words)


def covered_words(windows: Sequence[_WordWindow], located: frozenset[_WordWindow]) -> set[int]:
    """Return the numbers of the words that are in a window that was found."""
    return {
        word
        for at, window in enumerate(windows)
        if window in located
        for word in range(at, at + len(window))
    }


def _score(
    entry: WeighedEntry, windows: frozenset[_WordWindow], rare: frozenset[_WordWindow]
) -> float:
    """Return the share of the rare windows, weighed; of all windows, if none is rare."""
    counted = rare or frozenset(entry.counts)
    total = entry.weight(counted)
    return entry.weight(windows & counted) / total if total else 0.0


def _is_copied(
    entry: WeighedEntry, windows: frozenset[_WordWindow], covered: float, score: float
) -> bool:
    """Tell whether a span has so much of an entry that it was copied."""
    counts = [count for window in windows if (count := entry.counts[window]) is not None]
    if len(entry.placed.words) < SHORT:
        is_one = len(entry.placed.words) <= entry.width
        return not is_one and windows == entry.counts.keys() == entry.rare
    if entry.rare & windows and covered >= COVERED and score >= SCORE:
        return True
    is_whole = len(windows) >= WHOLE * len(entry.counts)
    return is_whole and min(counts, default=0) <= EVERYWHERE


def places_of_words(placed: PlacedWords, words: set[int]) -> list[tuple[int, int]]:
    """Return the ranges of characters that some words cover; words in a row are one range."""
    ranges = list[tuple[int, int]]()
    last = -2
    for word in sorted(words):
        start, stop = placed.starts[word], placed.stops[word]
        if word == last + 1:
            start = ranges.pop()[0]
        ranges.append((start, stop))
        last = word
    return ranges
