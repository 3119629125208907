"""Answers of token-level indexes: n-grams of tokens, which are not the occurrences of a string.

A phrase has different tokens after a space and at the beginning of a line. Both n-grams are asked
for; within other words and next to other punctuation its tokens may differ again. So the count is a
lower bound of the string's occurrences, and is never added to them: rows say their unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import (
    Cost,
    CountSource,
    Index,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Segment,
    WindowFailure,
)
from ngramscan.rows import Note, join_notes

LOWER_BOUND = Note("token n-grams: a lower bound of the string's occurrences", "general")
SPACE_MARK = "▁ (U+2581)"
"""SentencePiece replaces spaces with it, so it does not distinguish the two."""
MOST_TOKENS = 10_000
"""Tokens of a document that can be seen at once: half of them before an occurrence."""

_SURROGATES = 0xD800, 0x800


def as_text(ids: Sequence[int]) -> str:
    """Return tokens as a text with one character per token, for searching and nesting."""
    first, gap = _SURROGATES
    return "".join(chr(token if token < first else token + gap) for token in ids)


@dataclass(frozen=True, slots=True)
class Form:
    """An n-gram of tokens that a phrase can be, and where it occurs."""

    ids: tuple[int, ...]
    segments: tuple[Segment, ...]
    """One per shard with at least one occurrence."""

    @property
    def occurrences(self) -> int:
        """Number of occurrences in all shards."""
        return sum(segment.occurrences for segment in self.segments)

    @property
    def text(self) -> str:
        """The n-gram as a text, see `as_text`."""
        return as_text(self.ids)


def distinct_forms(after_space: Form, at_line: Form | None = None) -> tuple[Form, ...]:
    """Return the n-grams whose occurrences add up: of two within each other, the shorter one."""
    if at_line is None or after_space.text in at_line.text:
        return (after_space,)
    if at_line.text in after_space.text:
        return (at_line,)
    return (after_space, at_line)


@dataclass(frozen=True, slots=True)
class TokenOccurrences:
    """The n-grams of one query, and where they occur."""

    query: str
    after_space: Form
    """The service's own n-gram of the string."""
    at_line: Form | None
    """The n-gram at the beginning of a line; None if it is the same, or unknown."""
    source: CountSource
    asked_at: str
    """ISO 8601, UTC."""
    notes: tuple[Note, ...] = ()

    @property
    def note(self) -> str:
        """The notes as one text."""
        return join_notes(self.notes)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The n-grams whose occurrences add up."""
        return distinct_forms(self.after_space, self.at_line)

    @property
    def occurrences(self) -> int:
        """Number of occurrences of all forms."""
        return sum(form.occurrences for form in self.forms)

    @property
    def needles(self) -> tuple[str, ...]:
        """The n-grams at the occurrences, as texts."""
        return tuple(form.text for form in self.forms)

    @property
    def found(self) -> Occurrences:
        """All occurrences, those after a space first."""
        return Occurrences(
            self.query, tuple(segment for form in self.forms for segment in form.segments)
        )


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """An occurrence and the tokens around it, from one document. Lengths are tokens."""

    place: Place
    document: str
    length: int
    """Length of the document."""
    text: str
    """One character per token, see `as_text`."""
    offset: int
    """Start of the occurrence in `text`."""
    starts_document: bool


@dataclass(frozen=True, slots=True)
class MarkedWindow:
    """A service's view of the document of an occurrence: not its tokens."""

    place: Place
    document: str
    least: int
    """Occurrences of the query's forms that are certainly in the document; at least 1."""
    most: int
    """Occurrences that may be in it: of parts that are not shown, and of n-grams that overlap."""


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """The tokens of a text, and the longest part that occurs from each of them on."""

    ids: list[int]
    places: list[tuple[int, int]]
    """Start and end of each token, in characters of the text."""
    ends: list[int]
    """The number of the token behind the longest part; the token's own: it does not occur."""


class TokenIndex(Index, Protocol):
    """An index over tokens; as any other it has counts, places and windows of text."""

    @property
    def shows_tokens(self) -> bool:
        """Whether tokens of documents can be seen, which may be bytes; else only marked texts."""

    def lookups(self, queries: Sequence[str]) -> Iterator[TokenOccurrences | QueryFailure]:
        """Start to look up all queries, and yield the n-grams of each, in any order."""

    def examine(
        self, places: Sequence[Place], forms: Mapping[str, Sequence[Form]]
    ) -> Iterator[TokenWindow | MarkedWindow | WindowFailure]:
        """Start to look at the documents of some occurrences, and yield what is in each.

        `forms` has the forms of each query. Without any, only the documents are asked for: the
        windows are as short as possible.
        """


@runtime_checkable
class MatchesTokens(Protocol):
    """An index over tokens that finds the longest parts of a text."""

    def cost_of_matches(self, texts: Sequence[str]) -> Cost:
        """Estimate the work of finding the matches of some texts, without doing it."""

    def describe_cost_of_matches(self) -> str:
        """Say what the requests of that estimate are; an empty text: there are none."""

    def matches(self, texts: Sequence[str]) -> Iterator[TokenMatches | NgramscanError]:
        """Yield the tokens of each text in order, and the longest part from each of them on.

        An InputError says that the tokens belong to another text.
        """

    def count_ngrams(self, ngrams: Mapping[str, Sequence[int]]) -> dict[str, QueryCount]:
        """Return the occurrences of some matches, which are in no longer one, by texts."""


@runtime_checkable
class LearnsTokenizer(Protocol):
    """An index that has to ask its service what its tokens are."""

    def has_byte_tokens(self, sends_requests: bool) -> bool:
        """Tell whether tokens are the bytes of texts, so that any text can be counted.

        An index that `sends_requests` asks, where neither catalog nor journal tell; one that may
        not says no.
        """


@runtime_checkable
class CountsTokens(Protocol):
    """An index over tokens that tells how often single tokens occur."""

    def count_tokens(self, ids: Sequence[int]) -> dict[int, int | NgramscanError]:
        """Return the occurrences of some tokens by their ids, or why one could not be counted."""


def read_alike(words: Iterable[str]) -> list[Note]:
    """Return the note of a query that has the tokens of other texts, too; empty: it has none."""
    joined = ", ".join(words)
    text = f"the tokenizer reads {joined}; such texts are counted, too"
    return [Note(text, "index")] if joined else []


def is_token_level(index: Index) -> TypeGuard[TokenIndex]:
    """Tell whether an index counts tokens."""
    return index.unit == "tokens"


def as_count(located: TokenOccurrences | QueryFailure) -> QueryCount | QueryFailure:
    """Return how often a query occurs; a failure as it is."""
    if isinstance(located, QueryFailure):
        return located
    return QueryCount(
        query=located.query,
        occurrences=located.occurrences,
        documents=None,
        source=located.source,
        asked_at=located.asked_at,
        notes=(LOWER_BOUND, *located.notes),
    )


def as_occurrences(located: TokenOccurrences | QueryFailure) -> Occurrences | QueryFailure:
    """Return where the n-grams of a query occur; a failure as it is."""
    return located if isinstance(located, QueryFailure) else located.found


def name_of_place(place: Place) -> str:
    """Return what messages call an occurrence."""
    return f"rank {place.rank} of shard {place.shard}"


def token_places(where: str, text: str, contents: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return start and end of each token, in characters; one of several tokens is in all of them.

    `contents` are the bytes of the tokens, which may begin with a space that the text lacks. An
    InputError says that they belong to another text.
    """
    content, of_text = b"".join(contents), text.encode()
    lead = len(content) - len(of_text)
    if content != b" " * lead + of_text or lead not in {0, 1}:
        raise InputError(where, "the tokenizer changes the text, so spans have no places")
    # The number of the character that each byte belongs to, and of the one that it begins.
    begins = np.array([byte & 0xC0 != 0x80 for byte in of_text], np.int64)
    held = np.append(np.cumsum(begins) - 1, len(text))
    ends = np.cumsum([0, *map(len, contents)]) - lead
    starts = held[np.maximum(ends[:-1], 0)].tolist()
    behind = np.append(held[:-1] + 1, len(text))
    stops = [int(behind[end - 1]) if end > 0 else 0 for end in ends[1:].tolist()]
    return list(zip(starts, stops, strict=True))
