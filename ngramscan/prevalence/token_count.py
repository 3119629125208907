"""Patterns × token-level indexes → count rows: n-grams of tokens, not occurrences of strings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenCountRow:
    """How often the token n-grams of one query occur in one token-level index."""

    index: str
    method: str | None
    """None, like the next two: a literal that was given alone, outside a pattern set."""
    tier: str | None
    kind: str | None
    pattern: str
    query: str
    token_occurrences: int
    """Sum of the n-grams after a space and at the beginning of a line; a lower bound of the
    string's occurrences."""
    token_occurrences_after_space: int
    """What the service counts for the string."""
    tokens: str
    """The ids of both n-grams: `3707 486 3707 | 8779 486 3707`."""
    per_million_tokens: float | None
    """Occurrences per million tokens of text, without separators; None: their number is unknown."""
    source: str
    """`api`, `tokens`, or `journal`: a reply of the service in an earlier run."""
    asked_at: str
    """ISO 8601, UTC."""
    note: str = ""
