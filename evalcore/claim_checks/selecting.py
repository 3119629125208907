"""Selections → cells."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from evalcore.claim_checks.nodes import Condition, Selection
from evalcore.claim_checks.parsing import FormulaError
from evalcore.claim_checks.tables import Cell, Printed, Table, Tables, parse_printed

_ORDERINGS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def select(tables: Tables, selection: Selection) -> list[Cell]:
    """Find the cells of a selection.

    Parameters
    ----------
    tables : Tables
        Where to look.
    selection : Selection
        A table, conditions on its rows, a column.

    Returns
    -------
    list of Cell
        In the order of the rows; each with the names of its row that the conditions leave open.
        It may be empty.

    Raises
    ------
    FormulaError
        The table, a column or a name in a condition is not there, or what is compared by size is
        no number.
    """
    table = tables.find(selection.table)
    if table is None:
        known = ", ".join(sorted(tables.tables))
        raise FormulaError(f"no table {selection.table!r}; there are {known}", selection.at)
    _check_column(table, selection.column, selection.at)
    rows: Sequence[int] = range(len(table.rows))
    for condition in selection.conditions:
        _check_column(table, condition.column, condition.at)
        _check_names(tables, table, condition)
        rows = [row for row in rows if _holds(tables, table, row, condition)]
    return [tables.cell(table, row, selection.column) for row in rows]


def _check_column(table: Table, column: str, at: int) -> None:
    if column not in table.columns:
        known = ", ".join(table.columns)
        raise FormulaError(f"{table.name} has no column {column!r}; it has {known}", at)


def _check_names(tables: Tables, table: Table, condition: Condition) -> None:
    """Refuse names that no row has: a slip of the pen would select other rows than was meant."""
    if condition.operator in _ORDERINGS:
        return
    known = {tables.name_in(table, row, condition.column) for row in range(len(table.rows))}
    for value in condition.values:
        if value not in known:
            problem = f"no row of {table.name} has {condition.column} {value!r}"
            raise FormulaError(problem, condition.at)


def _holds(tables: Tables, table: Table, row: int, condition: Condition) -> bool:
    if condition.operator not in _ORDERINGS:
        is_one = tables.name_in(table, row, condition.column) in condition.values
        return is_one == (condition.operator == "=")
    text = table.rows[row][condition.column]
    number, limit = parse_printed(text), parse_printed(condition.values[0])
    if number is None or limit is None or len(condition.values) > 1:
        problem = f"{text!r} and {'|'.join(condition.values)!r} can't be compared by size"
        raise FormulaError(problem, condition.at)
    return compare(condition.operator, number, limit.value)


def compare(sign: str, number: Printed, limit: Fraction) -> bool:
    """Return whether a printed number is below, at or above a limit; `<0.001` is below 0.001."""
    if number.below and number.value == limit:
        return sign in {"<", "<="}
    return _ORDERINGS[sign](number.value, limit)
