"""Score rows → which methods solved which problems of a benchmark with a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalcore.row_files import Table, name_of
from evalcore.score_files import read_scores, refuse_unscored
from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError

MISSING = ("wrong", "dropped")
"""What is done with a problem without a scored answer: it counts as wrong, or not at all."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which rows are meant, and how they are read."""

    rules: tuple[str, ...] = ()
    """None: the only one that each benchmark has."""
    epoch: int | None = None
    """Which of repeated answers; None: problems have one."""
    right_from: float | None = None
    """The least value of a right answer; None: 1, and values between 0 and 1 are refused."""
    missing: str = "wrong"

    def __post_init__(self) -> None:
        """Refuse what can't be meant."""
        if self.missing not in MISSING:
            said = f"one of {', '.join(MISSING)} was expected"
            raise InputError(f"--missing {self.missing}", said)


class Tally(NamedTuple):
    """Which of some methods solved each problem."""

    solved: list[tuple[bool, ...]]
    """One row per problem, in the order of the methods."""
    missing: int
    """Problems without a scored answer of one of the methods; they are among `solved` as wrong, or
    dropped."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one model made of one benchmark."""

    dataset: str
    model: str
    rule: str
    answers: Mapping[str, Mapping[str, bool | None]]
    """By method and problem; None: not scored."""
    missing: str

    def tally(self, methods: Sequence[str]) -> Tally:
        """Put methods beside each other, on all problems that one of them has a row of."""
        ids = dict.fromkeys(id_ for method in methods for id_ in self.answers[method])
        found = [tuple(self.answers[method].get(id_) for method in methods) for id_ in ids]
        complete = [row for row in found if None not in row]
        kept = complete if self.missing == "dropped" else found
        solved = [tuple(bool(answer) for answer in row) for row in kept]
        return Tally(solved, len(found) - len(complete))


class Cells(NamedTuple):
    """All cells that have all methods, and what to say of the others."""

    cells: list[Cell]
    notices: list[str]


def read_chosen(tables: Iterable[Table], rules: Sequence[str] = ()) -> list[ScoreRow]:
    """Read the score rows of some tables, by one rule per benchmark.

    Parameters
    ----------
    tables : iterable of Path or DataFrame
        What `score` or `judge` wrote or returned.
    rules : sequence of str
        Which to take; none: the only one that there is.

    Raises
    ------
    InputError
        Two rows are of the same answer, a benchmark was scored by several rules, or nothing was
        scored by one of those that are named.
    """
    rows: list[ScoreRow] = []
    seen: dict[tuple[object, ...], str] = {}
    for table in tables:
        for row in read_scores(table):
            key = (row.dataset, row.model, row.method, row.id, row.epoch, row.rule)
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
    return chosen


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
        answers = _answers(group, methods, choice)
        absent = [method for method in methods if not answers[method]]
        if absent:
            notices.append(f"{dataset}, {model}: left out, no rows of {', '.join(absent)}")
        else:
            cells.append(Cell(dataset, model, rule, answers, choice.missing))
    if not cells:
        said = f"no model has rows of all of them; methods there: {', '.join(there)}"
        raise InputError(", ".join(methods), said)
    return Cells(cells, notices)


def _answers(
    rows: Iterable[ScoreRow], methods: Sequence[str], choice: Choice
) -> dict[str, dict[str, bool | None]]:
    answers: dict[str, dict[str, bool | None]] = {method: {} for method in methods}
    for row in rows:
        if row.method not in answers or choice.epoch not in {None, row.epoch}:
            continue
        own = answers[row.method]
        place = f"{row.dataset}, {row.model}, {row.method}, {row.id}"
        if row.id in own:
            raise InputError(place, "several answers to one problem; --epoch says which is meant")
        own[row.id] = _right(place, row.value, choice.right_from)
    return answers


def _right(place: str, value: float | None, right_from: float | None) -> bool | None:
    if value is None:
        return None
    if right_from is None and value not in {0.0, 1.0}:
        said = f"value {value:g} is neither right nor wrong; --right-from says what is right"
        raise InputError(place, said)
    return value >= (1.0 if right_from is None else right_from)
