"""Entries beside the documents that have most of them."""

from __future__ import annotations

from dataclasses import dataclass

from ngramscan.prevalence.contamination.rules import EntryClass
from ngramscan.rows import Label, Share, row_kind


@row_kind(
    "contaminate --evidence",
    "Entries and the documents that have most of them",
    key=("verdict", "text", "passage", "shared_in_text"),
)
@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """An entry that is not clean by the rule `copied`, and the best document, side by side.

    Places are ranges of characters, `start-stop` with spaces between them; the stop is exclusive.
    """

    index: Label
    rule: Label
    id: Label
    verdict: EntryClass
    score: Share
    """See `contaminate`, as of `covered`, `document`, `source` and `changed`."""
    covered: Share
    document: str
    source: str | None
    text: str
    """The entry."""
    passage: str
    """The part of the document, with its context, as it is there."""
    shared_in_text: str
    """Places of the entry that windows cover which the document has."""
    rare_in_text: str
    """Places among these that rare windows cover."""
    shared_in_passage: str
    """Places of the passage with the same windows."""
    rare_in_passage: str
    changed: str | None
    answer: str | None
    """The answer is `near` or `not near`; None: not looked for."""
