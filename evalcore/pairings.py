"""Score rows → for each cell and pair of methods, their values on the same problems.

A cell is what is compared on its own: a benchmark and a model, or what of it `--by` names. Where
it holds several models, or several answers to a problem, these are clusters of the same problem.
A pair of which nothing is known on one side is no pair: it is left out, and counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import NamedTuple

from evalcore.left_out import LeftOut
from evalcore.scoring.base import NOT_FOUND, SCORED, UNKNOWN, ScoreRow
from ngramscan.errors import InputError

_COMPLETE = frozenset({SCORED, NOT_FOUND})
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
    """The answers of two methods, pair by pair, where something is known of both."""

    first: Sequence[ScoreRow]
    """Of the baseline."""
    second: Sequence[ScoreRow]
    """Of the treatment, in the same order."""
    left_out: LeftOut
    """Pairs that are not among these."""
    baseline: list[float]
    treatment: list[float]
    """Their values; nan where a model gave no answer."""
    problems: list[str]
    """Which problem each pair is of."""

    @property
    def is_plain(self) -> bool:
        """Tell whether each problem has one pair."""
        return len(set(self.problems)) == len(self.problems)

    @property
    def is_binary(self) -> bool:
        """Tell whether every answer is right or wrong."""
        known = {value for value in (*self.baseline, *self.treatment) if not math.isnan(value)}
        return known <= {0.0, 1.0}

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return len(self.problems)

    @property
    def n_answered(self) -> int:
        """Return the number of pairs in which both models gave an answer."""
        pairs = zip(self.baseline, self.treatment, strict=True)
        return sum(not math.isnan(a) and not math.isnan(b) for a, b in pairs)


@dataclass(frozen=True, slots=True)
class Cell:
    """All that was scored of one cell, by method."""

    key: CellKey
    scores: dict[str, dict[Unit, ScoreRow]] = field(default_factory=dict)
    subtasks: dict[Unit, str] = field(default_factory=dict)

    def pair(self, baseline: str, treatment: str, subtask: str | None = None) -> Values:
        """Return the values of two methods on all that is known of both.

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
        matches = list(_matches(units, first, second))
        pairs = [
            (a, b)
            for a, b in matches
            if a is not None and b is not None and a.status != UNKNOWN != b.status
        ]
        one_sided = sum(a is None or b is None for a, b in matches)
        return Values(
            [a for a, _ in pairs],
            [b for _, b in pairs],
            LeftOut(len(matches) - len(pairs) - one_sided, one_sided),
            [math.nan if a.value is None else a.value for a, _ in pairs],
            [math.nan if b.value is None else b.value for _, b in pairs],
            [f"{a.dataset}\0{a.id}" for a, _ in pairs],
        )


Match = tuple[ScoreRow | None, ScoreRow | None]


def _matches(
    units: Sequence[Unit], first: Mapping[Unit, ScoreRow], second: Mapping[Unit, ScoreRow]
) -> Iterator[Match]:
    """Yield answers that belong together; None: that side was not asked.

    Where both methods were asked equally often, their answers go together by epoch. Where they were
    not, each answer of one goes with each of the other: the mean of these differences is that
    between the means of a problem, and no answer that was never asked for is missed.
    """
    uneven = _uneven_epochs(first, second)
    if not uneven:
        yield from zip(map(first.get, units), map(second.get, units), strict=True)
        return
    crossed: dict[tuple[str, str, str], tuple[list[ScoreRow], list[ScoreRow]]] = {}
    for unit in units:
        if unit[:2] not in uneven:
            yield first.get(unit), second.get(unit)
            continue
        for own, found in zip(crossed.setdefault(unit[:3], ([], [])), (first, second), strict=True):
            if unit in found:
                own.append(found[unit])
    for answers, others in crossed.values():
        yield from product(answers or (None,), others or (None,))


def _uneven_epochs(first: Iterable[Unit], second: Iterable[Unit]) -> set[tuple[str, str]]:
    """Return the benchmarks and models in which the two methods have different epochs."""
    epochs, others = (
        {(dataset, model, epoch) for dataset, model, _, epoch in units} for units in (first, second)
    )
    return {(dataset, model) for dataset, model, _ in epochs ^ others}


def unanswered_share(rows: Iterable[ScoreRow]) -> float | None:
    """Return the share of complete outputs in which no answer was found, from 0 to 1.

    Parameters
    ----------
    rows : iterable of ScoreRow
        Of one method; the same answer may be there several times.

    Returns
    -------
    float or None
        None: there are no complete outputs, or of some it is not known whether one was found.
    """
    complete = {id(row): row for row in rows if row.status in _COMPLETE}.values()
    if any(row.status == SCORED and row.answer is None and not row.sandbox for row in complete):
        return None
    missing = sum(row.status == NOT_FOUND for row in complete)
    return missing / len(complete) if complete else None


def make_cells(rows: Iterable[ScoreRow], by: Sequence[str]) -> list[Cell]:
    """Put rows into cells.

    Parameters
    ----------
    rows : iterable of ScoreRow
        Of any benchmarks, models, methods and rules, one run each.
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
        scores[unit] = row
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
