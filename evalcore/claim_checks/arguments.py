"""What a function of the formula language is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalcore.claim_checks.columns import Column, Entry, Value, as_number, numbers
from evalcore.claim_checks.parsing import FormulaError
from evalcore.claim_checks.tables import Cell, Tables


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call."""

    values: Sequence[Value]
    options: Mapping[str, str]
    at: int
    tables: Tables
    remarks: list[str]
    """Where a function adds what is to be known beside its value."""

    def number(self, index: int) -> Fraction:
        """Return an argument that must be one number."""
        return as_number(self.values[index], self.at)

    def whole(self, index: int) -> int:
        """Return an argument that must be a whole number, not negative."""
        value = self.number(index)
        if value.denominator != 1 or value < 0:
            raise FormulaError(f"{float(value):g} is no count; expected 0, 1, 2, …", self.at)
        return int(value)

    def numbers(self) -> list[Fraction]:
        """Return the numbers of all arguments; there is at least one."""
        found = [number for value in self.values for number in numbers(value, self.at)]
        if not found:
            raise FormulaError("no cell is selected", self.at)
        return found

    def cells(self, index: int) -> list[tuple[Entry, Cell]]:
        """Return an argument that must be a selection, with its cells."""
        value = self.values[index]
        entries = value.entries if isinstance(value, Column) else []
        found = [(entry, entry.cell) for entry in entries if entry.cell is not None]
        if not found or len(found) < len(entries):
            raise FormulaError("expected a selection of cells", self.at)
        return found

    def beside(self, cell: Cell, column: str) -> str:
        """Return the text in another column of the row of a cell."""
        row = self.tables.tables[cell.table].rows[cell.row]
        if column not in row:
            raise FormulaError(f"{cell.table} has no column {column!r}", self.at)
        return row[column]

    def number_beside(self, cell: Cell, column: str) -> Fraction:
        """Return the number in another column of the row of a cell."""
        text = self.beside(cell, column)
        printed = self.tables.cell(self.tables.tables[cell.table], cell.row, column).printed
        if printed is None or printed.below:
            raise FormulaError(f"{text!r} is no number", self.at)
        return printed.value

    def option(self, name: str, default: str | None = None) -> str:
        """Return an option, or its default; without one it is needed."""
        found = self.options.get(name, default)
        if found is None:
            raise FormulaError(f"the option {name}=… is missing", self.at)
        return found


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the formula language."""

    compute: Callable[[Arguments], Value]
    least: int
    """So many arguments at least."""
    most: int | None
    """And so many at most; None: any number."""
    options: frozenset[str] = frozenset()
    as_printed: bool = False
    """It looks at figures as they are printed: rounding of its inputs changes nothing."""
    takes_empty: bool = False
    """A selection may be empty."""
