"""Score rows → for each cell and pair of methods, their values on the same problems.

A cell is what is compared on its own: a benchmark and a model, or what of it `--by` names. Where
it holds several models, or several answers to a problem, these are clusters of the same problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError

ALL = "all"
"""In the place of a name: of all of them together."""

Unit = tuple[str, str, str, int | None]
"""Dataset, model, id, epoch: what both methods answer."""


class CellKey(NamedTuple):
    """What is compared on its own."""

    dataset: str
    model: str
    rule: str


@dataclass(frozen=True, slots=True)
class Values:
    """The values of two methods, pair by pair; nan where one is missing."""

    baseline: list[float]
    treatment: list[float]
    problems: list[str]
    """Which problem each pair is of."""
    is_plain: bool
    """Each problem has one pair."""

    @property
    def is_binary(self) -> bool:
        """Tell whether every answer is right or wrong."""
        known = {value for value in (*self.baseline, *self.treatment) if not math.isnan(value)}
        return known <= {0.0, 1.0}


@dataclass(frozen=True, slots=True)
class Cell:
    """All that was scored of one cell, by method."""

    key: CellKey
    scores: dict[str, dict[Unit, float]] = field(default_factory=dict)
    subtasks: dict[Unit, str] = field(default_factory=dict)

    def pair(self, baseline: str, treatment: str, subtask: str | None = None) -> Values:
        """Return the values of two methods on all that one of them was asked.

        Parameters
        ----------
        baseline, treatment : str
            Methods that this cell has.
        subtask : str or None
            Only its problems; None: all.
        """
        first, second = self.scores[baseline], self.scores[treatment]
        units = [
            unit
            for unit in dict.fromkeys((*first, *second))
            if subtask is None or self.subtasks.get(unit) == subtask
        ]
        problems = [f"{dataset}\0{name}" for dataset, _, name, _ in units]
        return Values(
            [first.get(unit, math.nan) for unit in units],
            [second.get(unit, math.nan) for unit in units],
            problems,
            is_plain=len(set(problems)) == len(problems),
        )


def make_cells(rows: Iterable[ScoreRow], by: Sequence[str]) -> list[Cell]:
    """Put rows into cells.

    Parameters
    ----------
    rows : iterable of ScoreRow
        Of any benchmarks, models, methods and rules; a value of None is a missing one.
    by : sequence of str
        Of `dataset` and `model`: what is compared on its own. The rule always is.

    Returns
    -------
    list of Cell
        In the order in which they come.

    Raises
    ------
    InputError
        Two rows are about the same answer, or `by` names something else.
    """
    for name in by:
        if name not in {"dataset", "model"}:
            raise InputError(f"--by {name}", "dataset and model were expected")
    cells: dict[CellKey, Cell] = {}
    for row in rows:
        key = CellKey(
            row.dataset if "dataset" in by else ALL, row.model if "model" in by else ALL, row.rule
        )
        cell = cells.setdefault(key, Cell(key))
        unit = (row.dataset, row.model, row.id, row.epoch)
        scores = cell.scores.setdefault(row.method, {})
        if unit in scores:
            named = f"{row.dataset}, {row.model}, {row.method}, {row.rule}, id {row.id}"
            raise InputError(named, "it was scored twice; was a file named twice?")
        scores[unit] = math.nan if row.value is None else row.value
        if row.subtask:
            cell.subtasks[unit] = row.subtask
    return list(cells.values())


def method_pairs(
    cells: Sequence[Cell], baseline: str | None, treatments: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the pairs of methods to compare: each treatment with the baseline, or all pairs.

    Parameters
    ----------
    cells : sequence of Cell
        What was scored.
    baseline : str or None
        A method; None: all pairs are compared.
    treatments : sequence of str
        Methods; none: all that are not the baseline.

    Raises
    ------
    InputError
        A method was not scored, or is compared with itself.
    """
    known = list(dict.fromkeys(method for cell in cells for method in cell.scores))
    if baseline is None:
        return list(combinations(known, 2))
    chosen = [_known(method, known) for method in treatments]
    first = _known(baseline, known)
    if first in chosen:
        raise InputError(f"--treatment {first}", "it is the baseline too")
    return [(first, method) for method in chosen or known if method != first]


def _known(method: str, known: Sequence[str]) -> str:
    for name in known:
        if name.lower() == method.lower():
            return name
    raise InputError(f"method {method}", f"not scored; there are {', '.join(known)}")


def incomplete(cells: Sequence[Cell], pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Tell, one sentence each, what can't be compared because a method was not scored there."""
    for method in dict.fromkeys(method for pair in pairs for method in pair):
        for cell in cells:
            if method not in cell.scores:
                yield f"{cell.key.dataset}, {cell.key.model}, {cell.key.rule}: no {method}"


def merged(cells: Sequence[Cell]) -> Mapping[CellKey, Cell]:
    """Return, for each benchmark and rule with several models, a cell of all of them."""
    groups: dict[CellKey, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.key._replace(model=ALL), []).append(cell)
    return {key: _together(key, group) for key, group in groups.items() if len(group) > 1}


def _together(key: CellKey, cells: Sequence[Cell]) -> Cell:
    together = Cell(key)
    for cell in cells:
        together.subtasks.update(cell.subtasks)
        for method, scores in cell.scores.items():
            together.scores.setdefault(method, {}).update(scores)
    return together
