"""The rows of `docnorm` for token-level indexes, which never share a column with those of bytes."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ngramscan.rows import Label, Plot, Share, row_kind


@row_kind(
    "docnorm",
    "Documents with each pattern, over tokens",
    Plot(
        "token_documents",
        panel=("index",),
        label=("pattern",),
        scale="log",
        series="method",
    ),
    key=("token_occurrences", "estimator"),
    may_lack=("method", "tier"),
    counts="token_documents",
    adds_up=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDocnormRow:
    """How many documents of one token-level index contain the token n-grams of a pattern."""

    index: Label
    method: Label | None
    """None, like the tier: a literal that was given alone, outside a pattern set."""
    tier: Label | None
    pattern: Label
    token_occurrences: int
    draws: int | None = None
    """Occurrences that were drawn; None: the documents of all were counted."""
    token_documents: int | None
    """Documents with at least one of the n-grams; a lower bound of those with the string. None:
    documents were truncated, and the two estimates at the end of the row differ."""
    token_documents_low: int | None
    token_documents_high: int | None
    """Limits, rounded outwards."""
    token_occurrences_per_document: float | None
    """None: no document contains one, or `token_documents` is None."""
    token_occurrences_per_document_low: float | None
    token_occurrences_per_document_high: float | None
    """None: no upper limit."""
    level: float
    estimator: str
    """`combined`, `size-bias`, `first` or `unique`; `exact`: the document of each occurrence is
    known. A service doesn't show which occurrence is the first, so `combined` is `size-bias`
    there."""
    truncated_share: Share | None = None
    """Share of the draws whose document was seen only in part; None: not known, or not looked at
    as all occurrences were drawn."""
    unique_documents: int | None = None
    """Distinct documents among the draws."""
    seed: int | None = None
    standard_error: float | None = None
    """Standard error of the estimate, from the draws; of two, the larger one."""
    note: str = ""
    token_documents_lower_estimate: int
    """The estimate if hidden parts of documents had as many occurrences as they can hold."""
    token_documents_upper_estimate: int
    """The estimate if they had none; the same as the lower one where nothing hidden matters."""
    token_documents_per_million: float | None = None
    """Documents with an n-gram per million documents of the index; None: `token_documents` is None,
    or the index doesn't tell how many documents it has."""
    token_documents_per_million_low: float | None = None
    token_documents_per_million_high: float | None = None
    """Limits; None, too, where the number of all documents is an estimate."""


def as_token_row(row: object) -> TokenDocnormRow:
    """Return a row of documents as one of n-grams of tokens."""
    names = [field.name for field in fields(TokenDocnormRow)]
    return TokenDocnormRow(**{name: getattr(row, name.removeprefix("token_")) for name in names})
