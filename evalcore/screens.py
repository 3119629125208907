"""What the tables of several commands share: columns, pooled rows, notes, the form of a paper."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import make_dataclass, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns, with_interval

ALL = "all"
"""Stands in place of a name: all of them together."""
Columns = Mapping[str, Sequence[str]]
_LIMITS = {"selection_accuracy": "selection_", "prevalence_ratio": "prevalence_", "value": ""}


def percent(share: float | None) -> str:
    """Return a fraction as it stands in a column of percentages."""
    return UNKNOWN if share is None else f"{100 * share:.1f}"


def to_columns(rows: Sequence[Any], names: str, shares: Collection[str] = ()) -> dict[str, Any]:
    """Return columns of a table: `name` or `header=name`, with the limits of intervals.

    Shares are in percent. A column of exceptions (`n_unknown`) is empty where there are none.
    """
    columns = {}
    for header, _, name in (one.rpartition("=") for one in names.split()):
        prefix, show = _LIMITS.get(name, f"{name}_"), percent if name in shares else _show
        values = [getattr(row, name) for row in rows]
        if name.startswith("n_") and not any(values):
            values = [""] * len(values)
        texts = [*map(show, values)]
        if rows and hasattr(rows[0], f"{prefix}low"):
            ends = map(attrgetter(f"{prefix}low", f"{prefix}high"), rows)
            texts = [with_interval(one, *two, show) for one, two in zip(values, ends, strict=True)]
        columns[(header or name).replace("_", " ")] = texts
    return columns


def _show(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else cell(value)


def print_pooled(
    console: Any, rows: Iterable[Any], columns: Callable[[list[Any]], Columns], layout: Layout
) -> None:
    """Print a table of rows, if there are any; those of all models or datasets come first."""
    if ordered := sorted(rows, key=_breadth, reverse=True):
        ends = [_breadth(one) != _breadth(other) for one, other in pairwise(ordered)]
        print_columns(console, columns(ordered), replace(layout, section_ends=ends))


def _breadth(row: Any) -> int:
    return [row.model, getattr(row, "dataset", None)].count(ALL)


def for_paper(columns: Columns) -> tuple[list[Any], type]:
    """Return the columns of a table as rows, with their type, for LaTeX."""
    row_type = make_dataclass("PaperRow", [name.replace(" ", "_") for name in columns])
    return [row_type(*cells) for cells in zip(*columns.values(), strict=True)], row_type


def print_notes(console: Any, rows: Iterable[Any], *names: str) -> None:
    """Print each note of rows once, after the names of its rows where others lack it."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        notes.setdefault(row.note, []).append(", ".join(getattr(row, name) for name in names))
    for note, own in notes.items():
        told = "; ".join(dict.fromkeys(own)) if len({*own}) < 4 else f"{len(own)} rows"
        if note:
            console.print(note if len(notes) == 1 else f"{told}: {note}", style="dim")


def first_of(texts: Sequence[str]) -> str:
    """Return some of many texts, for a message of one line."""
    return "; ".join(texts[:3]) + f"; and {len(texts) - 3} more" * (len(texts) > 3)
