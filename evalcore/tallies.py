"""Score rows → which methods solved which problems of a benchmark with a model.

A problem of which nothing is known for one of the methods is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from evalcore.left_out import reasons_for_left_out, say_left_out
from evalcore.row_files import GivenTables
from evalcore.scores import NO_ANSWER, UNKNOWN, ScoreRow, read_chosen
from ngramscan.errors import InputError


class Tally(NamedTuple):
    """Which of some methods solved each problem."""

    solved: list[tuple[bool, ...]]
    """One row per problem, in the order of the methods."""
    n_known: int
    """Problems of which something is known for all methods, the excluded ones among them."""
    n_no_answer: int
    """Problems to which one of the models gave no answer: `solved` as wrong, or excluded."""
    unknown: int
    """Problems that all methods were asked, of which nothing is known for one of them."""
    one_sided: int
    """Problems that not all methods were asked."""

    @property
    def counts(self) -> dict[str, Any]:
        """Return columns of a row."""
        n_unknown = self.unknown + self.one_sided
        return {"n": len(self.solved), "n_no_answer": self.n_no_answer, "n_unknown": n_unknown}


class Cell(NamedTuple):
    """What one model made of one benchmark."""

    dataset: str
    model: str
    rule: str
    answers: Mapping[str, Mapping[str, bool | str]]
    """By method and problem: whether it is right, or `NO_ANSWER` or `UNKNOWN`."""
    no_answer: str
    """Counts as `wrong`, or is left out: `exclude`."""

    def tally(self, methods: Sequence[str]) -> Tally:
        """Put methods beside each other, on all problems of which something is known for each."""
        own = [self.answers[method] for method in methods]
        rows = [tuple(each.get(id_) for each in own) for id_ in dict.fromkeys(chain(*own))]
        asked = [row for row in rows if None not in row]
        known = [row for row in asked if UNKNOWN not in row]
        complete = [row for row in known if NO_ANSWER not in row]
        kept = complete if self.no_answer == "exclude" else known
        return Tally(
            solved=[tuple(answer is True for answer in row) for row in kept],
            n_known=len(known),
            n_no_answer=len(known) - len(complete),
            unknown=len(asked) - len(known),
            one_sided=len(rows) - len(asked),
        )


class Reading(NamedTuple):
    """How score rows are read; the options of all three commands."""

    rule: Sequence[str]
    run: Sequence[str]
    epoch: int | None
    right_from: float | None
    no_answer: str

    def answer(self, row: ScoreRow) -> bool | str:
        """Return whether an answer is right, or why that can't be said."""
        if row.status == UNKNOWN:
            return UNKNOWN
        if row.value is None:
            return NO_ANSWER
        if self.right_from is None and row.value not in {0.0, 1.0}:
            place = f"{row.dataset}, {row.model}, {row.method}, {row.id}"
            said = f"value {row.value:g} is neither right nor wrong"
            raise InputError(place, f"{said}; --right-from says what is right")
        return row.value >= (1.0 if self.right_from is None else self.right_from)


def read_cells(
    scores: GivenTables, methods: Sequence[str], reading: Reading
) -> tuple[list[Cell], dict[str, Any]]:
    """Return the cells in which methods can be compared, and what to say of the others."""
    rows = read_chosen(scores, reading.rule, reading.run)
    if len(set(methods)) < len(methods):
        raise InputError(", ".join(methods), "a method is named twice")
    cells, notices = [], []
    for key, answers in _answers(rows, methods, reading).items():
        if absent := [method for method in methods if method not in answers]:
            notices.append(f"{key[0]}, {key[1]}: left out, no rows of {', '.join(absent)}")
        else:
            cells.append(Cell(*key, answers, reading.no_answer))
    if not cells:
        there = ", ".join(dict.fromkeys(row.method for row in rows))
        said = f"no model has rows of all of them; methods there: {there}"
        raise InputError(", ".join(methods), said)
    tallies, kept, failures = [cell.tally(methods) for cell in cells], [], []
    for cell, tally in zip(cells, tallies, strict=True):
        named = f"{cell.dataset}, {cell.model}, {cell.rule}"
        reasons = reasons_for_left_out("problem", tally.unknown, tally.one_sided)
        said_of = [reasons] * bool(reasons)
        if tally.solved:
            kept.append(cell)
            notices += [f"{named}: {reasons}"] * bool(reasons)
            continue
        said_of += [f"{tally.n_no_answer:,} without an answer left out"] * bool(tally.n_no_answer)
        why = ", ".join(said_of)
        failures.append(f"{named}, {', '.join(methods)}: nothing to compare; {why}")
    n_left_out = sum(tally.unknown + tally.one_sided for tally in tallies)
    heading = say_left_out("problem", n_left_out, sum(tally.n_known for tally in tallies))
    return kept, {"heading": heading, "notices": notices, "failures": failures}


def _answers(
    rows: Iterable[ScoreRow], methods: Sequence[str], reading: Reading
) -> dict[tuple[str, str, str], dict[str, dict[str, bool | str]]]:
    """Return the answers of some methods by cell, method and problem."""
    cells: dict[tuple[str, str, str], dict[str, dict[str, bool | str]]] = {}
    for row in rows:
        cell = cells.setdefault((row.dataset, row.model, row.rule), {})
        # The only answer to a problem is always meant.
        is_meant = reading.epoch is None or row.epoch in {None, reading.epoch}
        if row.method not in methods or not is_meant:
            continue
        answers = cell.setdefault(row.method, {})
        if row.id in answers:
            place = f"{row.dataset}, {row.model}, {row.method}, {row.id}"
            raise InputError(place, "several answers to one problem; --epoch says which is meant")
        answers[row.id] = reading.answer(row)
    return cells
