"""A sentence about rows, and the facts about it that a page needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence about the rows of one kind."""

    text: str
    is_finding: bool = False
    """Whether it answers what its rows were made for, so that it may open a page."""
    has_interval: bool = False
    """Whether it has an interval in brackets."""
    is_claim: bool = False
    """Whether it rests on a test, so that it depends on how many families of tests there are."""
