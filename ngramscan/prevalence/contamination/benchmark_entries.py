"""Entries of a benchmark from a table: one text field, and ids that differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ngramscan.errors import InputError, nearest, some_of
from ngramscan.messages import OptionUse, Text
from ngramscan.prevalence.contamination.contaminate import Entry
from ngramscan.reading.row_files import Table, has_rows, read_table

ID = "id"
"""The column of the ids, where none is named."""
_OFTEN = ("question", "problem", "context", "prompt", "input", "passage", "text")
"""Names that the column of the texts often has, the likeliest first."""


@dataclass(frozen=True, slots=True)
class BenchmarkEntries:
    """The entries of a benchmark."""

    entries: list[Entry]
    """In the order of the table."""
    is_numbered: bool
    """The table has no ids; they are the numbers of its rows, from 1."""


def read_entries(
    benchmark: Table,
    text_field: str,
    id_field: str | None = None,
    answer_field: str | None = None,
) -> BenchmarkEntries:
    """Read the entries of a benchmark; an InputError names the row that can't be one."""
    _refuse_folder(benchmark)
    entries, places = list[Entry](), dict[str, str]()
    column = id_field
    for number, (place, row) in enumerate(read_table(benchmark), 1):
        if number == 1 and not id_field and ID in row:
            column = ID
        text = _text(place, row, text_field, "field")
        answer = _text(place, row, answer_field, "answer_field") if answer_field else ""
        name = _text(place, row, column, "id_field") if column else str(number)
        if name in places:
            problem: Text = f"the id {name!r:.60} is also at {places[name]}"
            if column:
                cure = OptionUse("id_field") + " names them"
                problem = problem + "; entries need ids that differ: " + cure
            raise InputError(place, problem)
        places[name] = place
        entries.append(Entry(name, text, answer))
    return BenchmarkEntries(entries, column is None)


def _refuse_folder(benchmark: Table) -> None:
    """Raise an InputError for a folder that names the tables in it."""
    folder = Path(benchmark) if isinstance(benchmark, str | Path) else None
    if folder and folder.is_dir():
        tables = sorted(path for path in folder.iterdir() if has_rows(path))
        if tables:
            named = ", ".join(str(path) for path in tables[:3]) + (", …" if len(tables) > 3 else "")
            raise InputError(str(folder), f"it is a folder; name one of its files: {named}")


def _text(place: str, row: Mapping[str, Any], column: str, option: str) -> str:
    """Return a cell that has to be a text; a number only where it is an id or an answer."""
    if column not in row:
        raise InputError(place, f"no column {column}; " + _columns(row, column, option))
    value = row[column]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_usable = isinstance(value, int) or (is_number and math.isfinite(value))
    if is_number and option != "field" and is_usable:
        return str(value)
    if not isinstance(value, str) or not value.strip():
        description = "empty" if isinstance(value, str) else f"{value!r:.40}, which is not text"
        raise InputError(place, f"{column} is {description}; correct the row or leave it out")
    return value


def _columns(row: Iterable[str], column: str, option: str) -> Text:
    """Say which columns there are, and which of them is probably meant."""
    names = [*row]
    by_lower = {name.lower(): name for name in reversed(names)}
    often = [by_lower[name] for name in _OFTEN if name in by_lower and option == "field"]
    likely = nearest(column, names, cutoff=0.75) or next(iter(often), "")
    there = f"the columns are {some_of(names)}; "
    if likely:
        return there + OptionUse(option, likely) + " if that is meant"
    return there + "name one with " + OptionUse(option)
