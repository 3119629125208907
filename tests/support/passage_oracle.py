"""Windows and passages of documents by their definition, in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from ngramscan.indexes.base import SoughtTexts
from ngramscan.matching import normalized

COMMON = 50
"""A window that more different texts have is a common one."""


class ExpectedPassage(NamedTuple):
    """A span of a document that a passage has, with its words."""

    text_number: int
    document: int
    windows: int
    words: list[str]


def words_of(document: str, texts: Sequence[Sequence[str]]) -> list[str]:
    """Return the words of a document; those of texts that the end of a line breaks are mended."""
    words = {word for text in texts for word in text}
    return normalized(
        document, "words", lambda head, tail: (head + tail).casefold() in words
    ).split()


def windows(words: Sequence[str], width: int) -> list[tuple[str, ...]]:
    """Return the windows of a text, one from each word on; a shorter text is one window."""
    if not words:
        return []
    if len(words) < width:
        return [tuple(words)]
    return [tuple(words[start : start + width]) for start in range(len(words) - width + 1)]


def occurrences(sought: SoughtTexts, documents: Sequence[str]) -> list[list[int]]:
    """Return how often each window occurs."""
    in_documents = [words_of(document, sought.texts) for document in documents]

    def count(window: tuple[str, ...]) -> int:
        n = len(window)
        return sum(
            tuple(words[start : start + n]) == window
            for words in in_documents
            for start in range(len(words) - n + 1)
        )

    return [[count(window) for window in windows(text, sought.width)] for text in sought.texts]


def passages(sought: SoughtTexts, documents: Sequence[str]) -> list[ExpectedPassage]:
    """Return the best passages of each text: with most windows, then in the first documents."""
    in_documents = [words_of(document, sought.texts) for document in documents]
    different_texts = {tuple(text) for text in sought.texts}
    in_texts = [{*windows(text, sought.width)} for text in different_texts]
    expected = []
    for number, text in enumerate(sought.texts):
        own = {*windows(text, sought.width)}
        uncommon = {
            window for window in own if sum(window in other for other in in_texts) <= COMMON
        }
        least = max(1, ceil(Fraction(str(sought.least_share)) * len(own)))
        spans = []
        for document, words in enumerate(in_documents):
            span = best_span(words, own, len(text), min(sought.width, len(text)))
            present = own & {*windows_of_length(words, min(sought.width, len(text)))}
            is_enough = len(uncommon) < 3 or len(present & uncommon) >= 2
            if span is not None and span[0] >= least and is_enough:
                spans.append(ExpectedPassage(number, document, *span))
        spans.sort(key=lambda span: -span.windows)
        expected += spans[: sought.most]
    return expected


def windows_of_length(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)] if n else []


def best_span(
    words: Sequence[str], own: set[tuple[str, ...]], text_words: int, n: int
) -> tuple[int, list[str]] | None:
    """Return the most different windows in a span of limited length, and the words of the first."""
    at = [start for start, window in enumerate(windows_of_length(words, n)) if window in own]
    longest = text_words + text_words // 2 + 10
    best: tuple[int, list[str]] | None = None
    for first in at:
        inside = [start for start in at if first <= start and start + n <= first + longest]
        count = len({tuple(words[start : start + n]) for start in inside})
        if best is None or count > best[0]:
            best = count, list(words[first : inside[-1] + n])
    return best
