r"""Patterns × token-level indexes → count rows: n-grams of tokens, not occurrences of strings.

A pattern that doesn't begin and end with a word, as `\frac{`, shares its first and last tokens with
whatever is beside it. Its n-grams find few of its occurrences: it is counted on request only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ngramscan.indexes.tokens.base import LOWER_BOUND, TokenOccurrences
from ngramscan.patterns.model import Query
from ngramscan.rows import Label, Plot, row_kind

EVERY = "tokens are bytes: every occurrence of the string"
"""The note of an index of bytes, where an n-gram is the string."""
TOO_LOW = "far too low: not a phrase that begins and ends with a word"
NO_WORD = (
    "tokens: a pattern of kind latex or code, or one that doesn't begin and end with a word, is"
    " other tokens at each place"
)


@row_kind(
    "count",
    "Counts over tokens",
    Plot(
        "token_occurrences",
        panel=("index",),
        label=("query",),
        scale="log",
        series="method",
    ),
    may_lack=("method", "tier", "kind"),
    counts="token_occurrences",
    adds_up=True,
)
@dataclass(frozen=True, slots=True)
class TokenCountRow:
    """How often the token n-grams of one query occur in one token-level index."""

    index: Label
    method: Label | None
    """None, like the next two: a literal that was given alone, outside a pattern set."""
    tier: Label | None
    kind: Label | None
    pattern: Label
    query: Label
    token_occurrences: int
    """Sum of the n-grams after a space and at the beginning of a line; a lower bound of the
    string's occurrences."""
    token_occurrences_after_space: int
    """The service's own count of the string."""
    tokens: str
    """The ids of the n-grams that were added up: `3707 486 3707 | 8779 486 3707`."""
    per_million_tokens: float | None
    """Occurrences per million tokens of text, without separators; None: their number is unknown."""
    source: str
    """`api`, `tokens`, or `journal`: a reply of the service in an earlier run."""
    asked_at: str
    """ISO 8601, UTC."""
    note: str = ""

    @property
    def is_of_bytes(self) -> bool:
        """Whether the tokens are the bytes of the query, so that every occurrence is found."""
        return self.tokens == " ".join(map(str, self.query.encode()))


def hopeless_texts(queries: Sequence[Query]) -> dict[str, None]:
    """Return the texts that tokens can't count, in their order."""
    return dict.fromkeys(query.text for query in queries if _is_hopeless(query))


def _is_hopeless(query: Query) -> bool:
    ends = query.text[:1], query.text[-1:]
    return query.pattern.kind in {"latex", "code"} or not all(map(_is_of_word, ends))


def _is_of_word(character: str) -> bool:
    return bool(character) and unicodedata.category(character)[0] in "LMN"


def is_of_bytes(found: TokenOccurrences) -> bool:
    """Tell whether the tokens of a query are its bytes."""
    return found.at_line is None and found.after_space.ids == tuple(found.query.encode())


def note_of(found: TokenOccurrences, is_hopeless: bool = False) -> str:
    """Return how a number of n-grams differs from that of the string."""
    if is_of_bytes(found):
        return "; ".join(filter(None, (EVERY, found.note)))
    too_low = TOO_LOW if is_hopeless else ""
    return "; ".join(filter(None, (LOWER_BOUND, too_low, found.note)))
