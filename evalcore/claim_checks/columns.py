"""Several values with the names of their rows, and how two such lists are put side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalcore.claim_checks.parsing import FormulaError
from evalcore.claim_checks.tables import Cell

Scalar = Fraction | str | bool


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of a list."""

    names: Mapping[str, str]
    """What distinguishes its row from the others of the list."""
    value: Scalar
    cell: Cell | None = None
    """Where it stands; None where it was computed."""


@dataclass(frozen=True, slots=True)
class Column:
    """Values of several rows."""

    entries: Sequence[Entry]


Value = Scalar | Column


def single(value: Value) -> Value:
    """Return the value of a list that has one, and anything else as it is."""
    if isinstance(value, Column) and len(value.entries) == 1:
        return value.entries[0].value
    return value


def numbers(value: Value, at: int) -> list[Fraction]:
    """Return the numbers of a value, or raise FormulaError where one is none."""
    entries = value.entries if isinstance(value, Column) else [Entry({}, value)]
    return [as_number(entry.value, at) for entry in entries]


def as_number(value: Value, at: int) -> Fraction:
    """Return a value that must be one number, or raise FormulaError."""
    value = single(value)
    if isinstance(value, Column):
        raise FormulaError(f"{len(value.entries)} cells; expected one", at)
    if isinstance(value, str | bool):
        raise FormulaError(f"{value!r} is no number", at)
    return value


def combine(
    function: Callable[[Sequence[Scalar]], Scalar], values: Sequence[Value], at: int
) -> Value:
    """Apply a function to values; lists among them row by row.

    Parameters
    ----------
    function : callable
        Of as many scalars as there are values.
    values : sequence of Value
        Numbers, texts and lists. Rows of lists belong together where the names agree that both
        have.
    at : int
        Where in the formula this happens, for messages.

    Returns
    -------
    Value
        A list where one of the values is, otherwise a scalar.

    Raises
    ------
    FormulaError
        A row of one list has no counterpart in another, or more than one.
    """
    values = [single(value) for value in values]
    lists = [value for value in values if isinstance(value, Column)]
    if not lists:
        return function([value for value in values if not isinstance(value, Column)])
    first = lists[0]
    aligned = [
        _align(first, value, at) if isinstance(value, Column) else [value] * len(first.entries)
        for value in values
    ]
    return Column(
        [
            Entry(entry.names, function(row))
            for entry, row in zip(first.entries, zip(*aligned, strict=True), strict=True)
        ]
    )


def _align(first: Column, other: Column, at: int) -> list[Scalar]:
    """Return the values of a list in the order of the first."""
    if other is first:
        return [entry.value for entry in other.entries]
    shared = [name for name in first.entries[0].names if name in other.entries[0].names]
    by_key = _by_key(other, shared, at)
    wanted = _by_key(first, shared, at)
    for key in [key for key in wanted if key not in by_key] + [
        k for k in by_key if k not in wanted
    ]:
        raise FormulaError(f"only one of two selections has a row {', '.join(key)}", at)
    return [by_key[key] for key in wanted]


def _by_key(column: Column, names: Sequence[str], at: int) -> dict[tuple[str, ...], Scalar]:
    found: dict[tuple[str, ...], Scalar] = {}
    for entry in column.entries:
        key = tuple(entry.names[name] for name in names)
        if key in found:
            what = f"two rows have the same {', '.join(names)}" if names else "rows have no name"
            raise FormulaError(f"{what}, so two selections can't be put side by side", at)
        found[key] = entry.value
    return found
