"""The messages that go with the rows of a command, and the sentence on what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from evalcore.answer_table import NOT_ASKED, NOT_KNOWN
from ngramscan.messages import Text, counted, joined

_MOST_NOTICES = 4


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of a command about its rows; `+` joins those of two steps."""

    heading: str = ""
    """A line above the rows."""
    notices: Sequence[Text] = ()
    failures: Sequence[Text] = ()
    """A line per thing that could not be done."""

    def __add__(self, later: Messages) -> Messages:
        """Return the messages of both; only one has a heading."""
        return Messages(
            self.heading or later.heading,
            [*self.notices, *later.notices],
            [*self.failures, *later.failures],
        )


class CellLevels(NamedTuple):
    """How much is known about the pairs or problems of one cell."""

    name: str
    levels: Any
    """Series: the lowest level of each pair or problem."""
    overlap: Text
    """Part of a sentence on the documents that methods have in common; usually empty."""


def describe_left_out(unit: str, cells: Iterable[CellLevels], lowest: int) -> Messages:
    """Say how many pairs or problems (`unit`) are left out of cells, and why.

    Those below the level `lowest` are left out. A cell that loses everything is a failure.
    """
    notices, failures, totals = list[Text](), list[Text](), np.zeros(5, dtype=int)
    for cell in cells:
        counts = np.bincount(cell.levels.astype(int), minlength=5)
        totals += counts
        one_sided, unknown, no_answer, *_ = counts.tolist()
        is_empty = not counts[lowest:].any()
        reasons = {
            "with an unknown result": unknown,
            "not put to every method": one_sided,
            "without an answer": no_answer if is_empty else 0,
        }
        why = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items() if n)
        message: Text = f"{counted(sum(reasons.values()), unit)} left out: {why}"
        if cell.overlap:
            message = joined([message, cell.overlap], "; ")
        if is_empty:
            failures.append(joined([f"{cell.name}: nothing to compare; ", message]))
        elif why:
            notices.append(joined([f"{cell.name}: ", message]))
    if len(notices) > _MOST_NOTICES:
        notices = [joined([notices[0], f"; see n_unknown for {len(notices) - 1} more"])]
    n_one_sided, n_unknown = int(totals[NOT_ASKED]), int(totals[NOT_KNOWN])
    heading = _describe_total(unit, n_one_sided, n_unknown, int(totals.sum()))
    return Messages(heading, notices, failures)


def _describe_total(unit: str, n_one_sided: int, n_unknown: int, n_all: int) -> str:
    """Return how many of all pairs or problems are left out and why; empty if none is."""
    n = n_one_sided + n_unknown
    if not n:
        return ""
    verb = "is" if n == 1 else "are"
    cause = "one of the results is unknown"
    if n_one_sided:
        cause = f"{cause} or missing" if n_unknown else "not every method was asked"
    return f"{n:,} of {counted(n_all, unit)} {verb} left out, because {cause}"
