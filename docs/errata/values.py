"""Values of formulas: numbers, texts, truth values, and lists of them, row by row."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from docs.errata.cells import Cell

Scalar = Fraction | str | bool


class Entry(NamedTuple):
    """A value of a list, with the names that distinguish its row from the others of the list."""

    names: Mapping[str, str]
    value: Scalar
    cell: Cell | None = None


Value = Scalar | list[Entry]


def as_number(value: Value) -> Fraction:
    """Return a value that must be one number."""
    if isinstance(value, list):
        if len(value) != 1:
            raise ValueError(f"{len(value)} cells; expected one")
        value = value[0].value
    if isinstance(value, str | bool):
        raise ValueError(f"{value!r} is not a number")
    return value


def as_count(value: Value) -> int:
    """Return a value that must be a whole number, not negative."""
    number = as_number(value)
    if number.denominator != 1 or number < 0:
        raise ValueError(f"{float(number):g} is not a count; expected 0, 1, 2, …")
    return int(number)


def on_numbers(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    """Return a function that refuses values that are not numbers."""

    def compute(*values: Scalar) -> Scalar:
        return function(*(as_number(value) for value in values))

    return compute


def by_row(function: Callable[..., Scalar], *values: Value) -> Value:
    """Apply a function to values; to lists of several row by row, put side by side by names."""
    operands = [_only_value(value) for value in values]
    rows = next((operand for operand in operands if isinstance(operand, list)), None)
    if rows is None:
        return function(*operands)
    columns: list[list[Scalar]] = []
    for operand in operands:
        if isinstance(operand, list):
            columns.append(_in_the_order_of(rows, operand))
        else:
            columns.append([operand] * len(rows))
    entries = []
    for number, row in enumerate(rows):
        values_of_row = [column[number] for column in columns]
        entries.append(Entry(row.names, function(*values_of_row)))
    return entries


def _only_value(value: Value) -> Value:
    """Return the value of a list that has only one, and any other value as it is."""
    return value[0].value if isinstance(value, list) and len(value) == 1 else value


def _in_the_order_of(rows: list[Entry], others: list[Entry]) -> list[Scalar]:
    """Return the values of other rows in the order of some, by the names that all of them have."""
    if others is rows:
        return [row.value for row in rows]
    if not rows and not others:
        return []
    both = rows + others
    shared = [name for name in both[0].names if all(name in entry.names for entry in both)]
    keys = [tuple(row.names[name] for name in shared) for row in rows]
    other_keys = [tuple(row.names[name] for name in shared) for row in others]
    if len(set(keys)) < len(keys) or len(set(other_keys)) < len(other_keys):
        same = f"two rows have the same {', '.join(shared)}" if shared else "rows have no name"
        raise ValueError(f"{same}, so two selections can't be put side by side")
    unmatched = sorted(set(keys) ^ set(other_keys))
    if unmatched:
        raise ValueError(f"only one of two selections has a row {', '.join(unmatched[0])}")
    values = {key: row.value for key, row in zip(other_keys, others, strict=True)}
    return [values[key] for key in keys]
