"""Score rows → which methods solved which problems of a benchmark with a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evalcore.left_out import LeftOut, say_left_out
from evalcore.row_files import Table, name_of
from evalcore.score_files import read_scores, refuse_unscored
from evalcore.score_runs import choose_runs
from evalcore.scoring.base import NO_ANSWER_IS, UNKNOWN, ScoreRow
from ngramscan.errors import InputError


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows are meant, and how they are read."""

    rules: tuple[str, ...] = ()
    """None: the only one that each benchmark has."""
    epoch: int | None = None
    """Which of repeated answers; None: problems have one."""
    right_from: float | None = None
    """The least value of a right answer; None: 1, and values between 0 and 1 are refused."""
    no_answer: str = NO_ANSWER_IS[0]
    """What a problem counts as to which a model gave no answer."""
    runs: tuple[str, ...] = ()
    """Which run of a method that has several; see `choose_runs`."""

    def __post_init__(self) -> None:
        """Refuse what can't be meant."""
        if self.no_answer not in NO_ANSWER_IS:
            said = f"one of {', '.join(NO_ANSWER_IS)} was expected"
            raise InputError(f"--no-answer {self.no_answer}", said)

    def takes(self, epoch: int | None) -> bool:
        """Tell whether an answer is meant: the only one to a problem always is."""
        return self.epoch is None or epoch in {None, self.epoch}


class Tally(NamedTuple):
    """Which of some methods solved each problem."""

    solved: list[tuple[bool, ...]]
    """One row per problem, in the order of the methods."""
    n_known: int
    """Problems of which something is known for all methods, the excluded ones among them."""
    no_answer: int
    """Problems to which one of the models gave no answer; they are among `solved` as wrong, or
    excluded."""
    left_out: LeftOut
    """Problems of which nothing is known for one of the methods; they are never among `solved`."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one model made of one benchmark."""

    dataset: str
    model: str
    rule: str
    answers: Mapping[str, Mapping[str, bool | None]]
    """By method and problem; None: the model gave none."""
    no_answer: str
    """One of `NO_ANSWER_IS`."""
    unknown: Mapping[str, Collection[str]] = field(default_factory=dict)
    """By method, the problems that it was asked, but whose result is not known."""

    def tally(self, methods: Sequence[str]) -> Tally:
        """Put methods beside each other, on all problems of which something is known for each."""
        asked = [
            dict.fromkeys((*self.answers[method], *self.unknown.get(method, ())))
            for method in methods
        ]
        found, unknown, one_sided = [], 0, 0
        for id_ in dict.fromkeys(id_ for ids in asked for id_ in ids):
            if any(id_ not in ids for ids in asked):
                one_sided += 1
            elif any(id_ not in self.answers[method] for method in methods):
                unknown += 1
            else:
                found.append(tuple(self.answers[method][id_] for method in methods))
        complete = [row for row in found if None not in row]
        kept = complete if self.no_answer == "exclude" else found
        solved = [tuple(bool(answer) for answer in row) for row in kept]
        return Tally(solved, len(found), len(found) - len(complete), LeftOut(unknown, one_sided))


class Cells(NamedTuple):
    """All cells in which all methods can be compared, and what to say of the others."""

    cells: list[Cell]
    left_out: str
    """How many problems nothing is known of; empty: none."""
    notices: list[str]
    failures: list[str]
    """Cells with nothing to compare."""


def read_chosen(
    tables: Iterable[Table], rules: Sequence[str] = (), runs: Sequence[str] = ()
) -> list[ScoreRow]:
    """Read the score rows of some tables, by one rule per benchmark and of one run per method.

    Parameters
    ----------
    tables : iterable of Path or DataFrame
        What `score` or `judge` wrote or returned.
    rules : sequence of str
        Which to take; none: the only one that there is.
    runs : sequence of str
        Which run of a method that has several; see `choose_runs`.

    Raises
    ------
    InputError
        Two rows are of the same answer, a benchmark was scored by several rules, nothing was
        scored by one of those that are named, or a method has several runs.
    """
    rows: list[ScoreRow] = []
    seen: dict[tuple[object, ...], str] = {}
    for table in tables:
        for row in read_scores(table):
            key = (row.dataset, row.model, row.method, row.id, row.epoch, row.rule, row.run)
            if key in seen:
                named = " ".join(str(part) for part in key if part is not None)
                raise InputError(
                    name_of(table), f"two rows of {named}; the other is in {seen[key]}"
                )
            seen[key] = name_of(table)
            rows.append(row)
    if not rows:
        raise InputError("scores", "there are no rows")
    refuse_unscored(rules, (row.rule for row in rows))
    chosen = [row for row in rows if not rules or row.rule in rules]
    _refuse_several_rules(chosen)
    return choose_runs(chosen, runs)


def _refuse_several_rules(rows: Iterable[ScoreRow]) -> None:
    rules: dict[str, dict[str, None]] = {}
    for row in rows:
        rules.setdefault(row.dataset, {})[row.rule] = None
    for dataset, named in rules.items():
        if len(named) > 1:
            raise InputError(dataset, f"scored by {', '.join(named)}; --rule says which is meant")


def find_cells(rows: Iterable[ScoreRow], methods: Sequence[str], choice: Choice) -> Cells:
    """Return what each model made of each benchmark, where it was asked by all methods.

    Parameters
    ----------
    rows : iterable of ScoreRow
        By one rule per benchmark.
    methods : sequence of str
        Those that are put beside each other.
    choice : Choice
        How rows are read.

    Raises
    ------
    InputError
        A method is named twice, no cell has all methods, a problem has several answers, or a value
        is neither right nor wrong.
    """
    if len(set(methods)) < len(methods):
        raise InputError(", ".join(methods), "a method is named twice")
    groups: dict[tuple[str, str, str], list[ScoreRow]] = {}
    there: dict[str, None] = {}
    for row in rows:
        there[row.method] = None
        groups.setdefault((row.dataset, row.model, row.rule), []).append(row)
    cells, notices = [], []
    for (dataset, model, rule), group in groups.items():
        answers, unknown = _answers(group, methods, choice)
        absent = [method for method in methods if not answers[method] and not unknown[method]]
        if absent:
            notices.append(f"{dataset}, {model}: left out, no rows of {', '.join(absent)}")
        else:
            cells.append(Cell(dataset, model, rule, answers, choice.no_answer, unknown))
    if not cells:
        said = f"no model has rows of all of them; methods there: {', '.join(there)}"
        raise InputError(", ".join(methods), said)
    return _with_something_left(cells, methods, notices)


def _with_something_left(
    cells: Sequence[Cell], methods: Sequence[str], notices: Sequence[str]
) -> Cells:
    """Return the cells in which a problem is left to compare, and say why in others none is."""
    tallies = [cell.tally(methods) for cell in cells]
    kept, told, failures = [], [], []
    for cell, tally in zip(cells, tallies, strict=True):
        named = f"{cell.dataset}, {cell.model}, {cell.rule}"
        said = [tally.left_out.told("problem")] * bool(tally.left_out.n)
        if tally.solved:
            kept.append(cell)
            told += [f"{named}: {each}" for each in said]
        else:
            said += [f"{tally.no_answer:,} without an answer left out"] * bool(tally.no_answer)
            failures.append(f"{named}, {', '.join(methods)}: nothing to compare; {', '.join(said)}")
    n_known = sum(tally.n_known for tally in tallies)
    line = say_left_out((tally.left_out for tally in tallies), n_known, "problem")
    return Cells(kept, line, [*notices, *told], failures)


def _answers(
    rows: Iterable[ScoreRow], methods: Sequence[str], choice: Choice
) -> tuple[dict[str, dict[str, bool | None]], dict[str, set[str]]]:
    """Return the answers of each method by problem, and the problems with an unknown result."""
    answers: dict[str, dict[str, bool | None]] = {method: {} for method in methods}
    unknown: dict[str, set[str]] = {method: set() for method in methods}
    for row in rows:
        if row.method not in answers or not choice.takes(row.epoch):
            continue
        place = f"{row.dataset}, {row.model}, {row.method}, {row.id}"
        if row.id in answers[row.method] or row.id in unknown[row.method]:
            raise InputError(place, "several answers to one problem; --epoch says which is meant")
        if row.status == UNKNOWN:
            unknown[row.method].add(row.id)
        else:
            answers[row.method][row.id] = _right(place, row.value, choice.right_from)
    return answers, unknown


def _right(place: str, value: float | None, right_from: float | None) -> bool | None:
    if value is None:
        return None
    if right_from is None and value not in {0.0, 1.0}:
        said = f"value {value:g} is neither right nor wrong; --right-from says what is right"
        raise InputError(place, said)
    return value >= (1.0 if right_from is None else right_from)
