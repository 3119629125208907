"""Two methods in one cell → one result, be the answers right or wrong, graded, or pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from evalcore.pairings import Cell, CellKey, Values
from evalcore.statistics import PValue, Settings, compare_binary, compare_pooled, compare_scores
from ngramscan.errors import InputError
from ngramscan.estimates import Estimate


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """What is compared, and how."""

    by: Sequence[str] = ("dataset", "model")
    baseline: str | None = None
    """None: all pairs of methods."""
    treatments: Sequence[str] = ()
    statistics: Settings = field(default_factory=Settings)
    family: Sequence[str] = ()
    """Columns: Holm within each of their values; none: all tests together."""
    seed: int = 1


class Case(NamedTuple):
    """Two methods in one cell."""

    cell: Cell
    baseline: str
    treatment: str

    @property
    def name(self) -> str:
        """Return how messages call it."""
        return f"{', '.join(self.cell.key)}, {self.treatment} − {self.baseline}"


def comparable(cells: Sequence[Cell], pairs: Sequence[tuple[str, str]]) -> Iterator[Case]:
    """Yield every pair of methods in every cell that has both."""
    for cell in cells:
        for baseline, treatment in pairs:
            if baseline in cell.scores and treatment in cell.scores:
                yield Case(cell, baseline, treatment)


@dataclass(frozen=True, slots=True)
class Result:
    """What is the same of binary, graded and pooled comparisons; shares, not percent."""

    n: int
    b: int
    c: int
    baseline: float
    treatment: float
    difference: Estimate
    p: PValue
    p_exact: float | None = None


class Comparer:
    """Compares, each case once: what a row says, averages use again."""

    def __init__(self, settings: CompareSettings, generator: np.random.Generator) -> None:
        self.settings = settings
        self._generator = generator
        self._values: dict[tuple[CellKey, str, str], Values] = {}
        self._results: dict[tuple[CellKey, str, str], Result | None] = {}

    def values(self, case: Case) -> Values:
        """Return the values of two methods in a cell."""
        key = (case.cell.key, case.baseline, case.treatment)
        if key not in self._values:
            self._values[key] = case.cell.pair(case.baseline, case.treatment)
        return self._values[key]

    def result(self, case: Case) -> Result | None:
        """Return the comparison of two methods in a cell; None: no pair is left to compare."""
        key = (case.cell.key, case.baseline, case.treatment)
        if key not in self._results:
            try:
                self._results[key] = self.compared(self.values(case), self.settings.statistics)
            except ValueError as error:
                raise InputError(", ".join((*case.cell.key, *case[1:])), str(error)) from error
        return self._results[key]

    def compared(self, values: Values, how: Settings) -> Result | None:
        """Return the comparison of some values; None: no pair is left."""
        if not (values.n_answered if how.missing == "dropped" else values.n):
            return None
        if not values.is_plain:
            return _pooled(values, how, self._generator)
        if values.is_binary:
            return _binary(values, how, self._generator)
        return _graded(values, how, self._generator)


def _binary(values: Values, how: Settings, generator: np.random.Generator) -> Result:
    found = compare_binary(values.baseline, values.treatment, how, generator)
    return Result(
        found.n,
        found.better,
        found.worse,
        found.baseline.value,
        found.treatment.value,
        found.difference,
        found.mcnemar,
        found.mcnemar_exact,
    )


def _graded(values: Values, how: Settings, generator: np.random.Generator) -> Result:
    found = compare_scores(values.baseline, values.treatment, generator, how)
    return Result(
        found.n,
        found.better,
        found.worse,
        found.baseline,
        found.treatment,
        found.difference,
        found.p,
    )


def _pooled(values: Values, how: Settings, generator: np.random.Generator) -> Result:
    found = compare_pooled(values.baseline, values.treatment, generator, how, values.problems)
    return Result(
        found.n,
        found.better,
        found.worse,
        found.baseline,
        found.treatment,
        found.difference,
        found.p,
    )
