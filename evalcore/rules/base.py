"""What rules take and give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from evalcore.formats import Problem
from evalcore.sandbox import Outcome, Program


class Verdict(NamedTuple):
    """Whether an answer is the gold."""

    value: float | None
    """From 0 to 1; None: this rule can't tell."""
    reason: str
    """Which condition held, or why none can be told."""
    failed: bool = False
    """The grader crashed or ran out of time: an error to report, not a wrong answer."""


class Item(NamedTuple):
    """An answer and the problem it is to."""

    problem: Problem
    value: float | int | bool | str
    is_computed: bool = False
    """A program gave the answer; else it was read from a text."""


class Tools(NamedTuple):
    """What rules need that takes processes of its own; both keep the order."""

    run_programs: Callable[[Sequence[Program]], Sequence[Outcome]]
    """In the sandbox."""
    compare_formulas: Callable[[Sequence[Item]], Iterator[Verdict]]
