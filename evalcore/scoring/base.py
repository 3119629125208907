"""What scoring gives: an answer, where it was found, its worth, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

SCORED, NOT_FOUND, NO_ANSWER, UNKNOWN = STATUSES = ("scored", "not_found", "no_answer", "unknown")
"""What is known of an output. Where the model gave no answer (it refused, was cut off, or wrote
nothing), that counts as wrong or is left out; where nothing is known (not run, not judged, the
grader crashed), it never counts. Both have no value. A complete output in which no answer was
found has one: it is wrong."""

NO_ANSWER_IS = ("wrong", "exclude")
"""What no answer counts as."""


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
    """From 0 to 1; None: there is none, `status` says of which kind, and `reason` says why."""
    answer: str | None
    extraction: str | None
    """The rule that found the answer, with its version; `program, …`: it was computed by the
    program that the rule found."""
    reason: str
    sandbox: str | None = None
    """What each layer of the sandbox was, where a program ran."""
    subtask: str | None = None
    """What averages may be taken over within a benchmark."""
    run: str | None = None
    """Which run of the method, where a log tells: when it began, and its name. None: not known."""
    status: str = ""
    """`scored`; `not_found`: a complete output in which no answer was found, hence wrong;
    `no_answer`: refused, cut off or empty; `unknown`: nothing is known of what the model would have
    answered, or whether it is right. The last two have no value. Where it is absent, a row with a
    value is `scored` and one without `unknown`."""

    def __post_init__(self) -> None:
        """Complete the status; raise a ValueError where it contradicts the value."""
        if not self.status:
            object.__setattr__(self, "status", UNKNOWN if self.value is None else SCORED)
        elif self.status not in STATUSES:
            raise ValueError(f"status {self.status!r}; one of {', '.join(STATUSES)} was expected")
        elif (self.value is None) != (self.status in {NO_ANSWER, UNKNOWN}):
            has = "no value" if self.value is None else f"value {self.value:g}"
            raise ValueError(f"status {self.status}, but {has}")
