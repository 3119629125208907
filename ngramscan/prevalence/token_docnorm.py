"""Patterns × token-level indexes → the number of documents that contain their token n-grams."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDocnormRow:
    """How many documents of one token-level index contain the token n-grams of a pattern."""

    index: str
    method: str | None
    """None, like the tier: a literal that was given alone, outside a pattern set."""
    tier: str | None
    pattern: str
    token_occurrences: int
    draws: int
    token_documents: int
    """Documents with at least one of the n-grams; a lower bound of those with the string."""
    token_documents_low: int | None
    token_documents_high: int | None
    token_occurrences_per_document: float | None
    """None: no document contains one."""
    token_occurrences_per_document_low: float | None
    token_occurrences_per_document_high: float | None
    level: float
    estimator: str
    truncated_share: float | None
    """Share of the draws whose document was seen only in part."""
    unique_documents: int
    """Distinct documents among the draws."""
    seed: int
    standard_error: float | None
    note: str = ""
