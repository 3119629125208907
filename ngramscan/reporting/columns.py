"""Columns of rows whose fields are in the table: shares in percent, values with their limits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import make_dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeVar

from ngramscan.reporting.layout import (
    CellColumns,
    Layout,
    cell,
    percent,
    print_columns,
    print_line,
    with_interval,
)
from ngramscan.rows import columns_of

Row = TypeVar("Row")
ALL = "all"
"""Stands for all names together."""


def to_columns(
    rows: Sequence[Any], names: Iterable[str | tuple[str, str]], shares: Collection[str] = ()
) -> dict[str, Any]:
    """Return columns of a table by their headings, with the limits of intervals.

    Names are those of columns, or pairs of a heading and a name. Shares, which the row type or
    `shares` names, are in percent. In a column of exceptions (`n_unknown`) a cell is empty for
    none.
    """
    columns = {}
    for name_or_pair in names:
        if isinstance(name_or_pair, str):
            heading, name = name_or_pair.replace("_", " "), name_or_pair
        else:
            heading, name = name_or_pair
        columns[heading] = _cells(rows, name, name in shares) if rows else []
    return columns


def _cells(rows: Sequence[Any], name: str, is_share: bool) -> list[str]:
    column = columns_of(type(rows[0]))[name]
    show = percent if is_share or column.unit != "number" else cell
    values = [getattr(row, name) for row in rows]
    if name.startswith("n_"):
        values = [value or "" for value in values]
    if not any(column.limits):
        return [show(value) for value in values]
    limits = map(attrgetter(*column.limits), rows)
    return [
        with_interval(value, low, high, show)
        for value, (low, high) in zip(values, limits, strict=True)
    ]


def print_pooled(
    console: Any,
    rows: Iterable[Any],
    columns: Callable[[list[Any]], CellColumns],
    layout: Layout,
    notes: Sequence[str] = (),
) -> None:
    """Print a table of rows, if there are any; those of all models or datasets come first.

    `notes` are the columns that say which row a printed note is about; empty: print no notes.
    """
    if ordered := pooled_first(rows):
        ends = [_breadth(row) != _breadth(other) for row, other in pairwise(ordered)]
        print_columns(console, columns(ordered), replace(layout, section_ends=ends))
    if notes:
        print_notes(console, rows, *notes)


def pooled_first(rows: Iterable[Row]) -> list[Row]:
    """Return rows, those of all models or datasets together before those of single ones."""
    return sorted(rows, key=_breadth, reverse=True)


def _breadth(row: Any) -> int:
    return [row.model, getattr(row, "dataset", None)].count(ALL)


def for_paper(columns: CellColumns) -> tuple[list[Any], type]:
    """Return the columns of a table as rows, with their type, for LaTeX."""
    columns = {name: cells for name, cells in columns.items() if name != "group" or any(cells)}
    fields = [(name.replace(" ", "_"), str) for name in columns]
    row_type = make_dataclass("PaperRow", fields)
    return [row_type(*cells) for cells in zip(*columns.values(), strict=True)], row_type


def print_notes(console: Any, rows: Iterable[Any], *names: str) -> None:
    """Print each note of rows once, after the names of its rows where others lack it."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        notes.setdefault(row.note, []).append(
            ", ".join(filter(None, (getattr(row, name) for name in names)))
        )
    for note, subjects in notes.items():
        subject = (
            "; ".join(dict.fromkeys(subjects)) if len({*subjects}) < 4 else f"{len(subjects)} rows"
        )
        if note:
            print_line(console, note if len(notes) == 1 else f"{subject}: {note}", "dim")


def first_of(texts: Sequence[str]) -> str:
    """Return some of many texts, for a message of one line."""
    return "; ".join(texts[:3]) + (f"; and {len(texts) - 3} more" if len(texts) > 3 else "")
