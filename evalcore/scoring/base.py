"""What scoring gives: an answer, where it was found, its worth, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Extracted(NamedTuple):
    """What a rule found in an output."""

    text: str
    rule: str
    """The name of the rule, with its version: `boxed/1`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is the gold."""

    value: float | None
    """From 0 to 1; None: this rule can't tell."""
    reason: str
    """Which condition held, or why none can be told."""
    failed: bool = False
    """The grader crashed or ran out of time: an error to report, not a wrong answer."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """What one rule says of one output."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None
    """Which of repeated answers; None where each problem was asked once."""
    rule: str
    value: float | None
    """From 0 to 1; None: not scorable, and `reason` says why."""
    answer: str | None
    extraction: str | None
    """The rule that found the answer, with its version; `program, …`: it was computed by the
    program that the rule found."""
    reason: str
    sandbox: str | None = None
    """What each layer of the sandbox was, where a program ran."""
    subtask: str | None = None
    """What averages may be taken over within a benchmark."""
