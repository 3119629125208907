"""Rows read back from a file or a data frame, for a page."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from ngramscan.errors import InputError
from ngramscan.reading.row_files import Table, decoded_as, name_of, read_table
from ngramscan.reading.streams import read_bytes, unpacked_path
from ngramscan.reporting.kinds import all_kinds, kind_of
from ngramscan.reporting.older_rows import complete_older, refuse_older_tokens
from ngramscan.reporting.provenance import METADATA, Run, sidecar_of
from ngramscan.rows import RowKind

MOST_ROWS = 10_000
"""Rows of a table that a page has."""
_WORDS = {"": None, "true": True, "false": False}
_LONGEST, _MOST_NAMES = 40, 12
"""Limits of the values and of the numbers of names in messages."""


@dataclass(frozen=True, slots=True)
class Results:
    """The rows of one file."""

    kind: RowKind
    name: str
    """The name of the file, or `data frame`."""
    columns: tuple[str, ...]
    rows: Sequence[dict[str, Any]]
    """Each value is an int, a float, a bool, a text or None."""
    left_out: int = 0
    """Rows of the file beyond `MOST_ROWS`."""
    run: Run | None = None
    """How the file was made; None if neither the file nor its sidecar says so."""
    is_changed: bool = False
    """Whether the file has changed since that run wrote it."""

    @property
    def title(self) -> str:
        """The title of its kind, and the units of its rows if any are of tokens."""
        units = {row.get("unit") for row in self.rows}
        if "unit" not in self.kind.if_absent or "tokens" not in units:
            return self.kind.title
        named = "over tokens" if len(units) == 1 else "over bytes and over tokens"
        return f"{self.kind.title}, {named}"


def read_results(table: Table) -> Results:
    """Read the rows of a file; an InputError says that no command of ours writes such rows."""
    name = name_of(table)
    stream = read_table(table)
    first = [*islice(stream, MOST_ROWS)]
    left_out = sum(1 for _ in stream)
    refuse_older_tokens(table, [row for _, row in first])
    kind = _kind(name, first[0][1])
    for place, row in first:
        if lacking := kind.marks - row.keys():
            others = ", ".join(sorted(lacking))
            raise InputError(place, f"it lacks {others}, which the first row has")
    columns = (*dict.fromkeys(column for _, row in first for column in row),)
    every_column = (*columns, *sorted(kind.may_lack.difference(columns)))
    rows = [
        {column: _value(row.get(column), column, kind, place) for column in every_column}
        for place, row in complete_older(kind, first)
    ]
    # A pipe can't be read twice.
    is_file = isinstance(table, str | Path) and Path(table).is_file()
    run, is_changed = _read_run(Path(str(table))) if is_file else (None, False)
    return Results(kind, name, columns, rows, left_out, run, is_changed)


def _read_run(path: Path) -> tuple[Run | None, bool]:
    """Return how a file was made, and whether it has changed since."""
    content, unpacked = read_bytes(path), unpacked_path(path)
    place, stored = sidecar_of(unpacked), None
    if unpacked.suffix.lower() == ".parquet":
        import pyarrow.parquet

        schema = pyarrow.parquet.read_schema(pyarrow.BufferReader(content))
        stored = (schema.metadata or {}).get(METADATA)
    if stored:
        place = path
    elif place.is_file():
        stored = read_bytes(place)
    else:
        return None, False
    run = decoded_as(Run, place, stored)
    return run, run.sha256 not in {"", sha256(content).hexdigest()}


def _kind(name: str, columns: Collection[str]) -> RowKind:
    if kind := kind_of(columns):
        return kind
    near = max(all_kinds(), key=lambda kind: len(kind.marks & {*columns}) / len(kind.marks))
    lacking = sorted(near.marks - {*columns})
    listed = ", ".join([str(column)[:_LONGEST] for column in columns][:_MOST_NAMES])
    more = ", …" if len(columns) > _MOST_NAMES else ""
    problem = f"unrecognized columns: {listed}{more}"
    if len(lacking) > len(near.marks) / 2:
        names = ", ".join(dict.fromkeys(kind.methods for kind in all_kinds()))
        raise InputError(name, f"{problem}; expected rows of {names}")
    raise InputError(name, f"{problem}; rows of `{near.name}` also have {', '.join(lacking)}")


def _value(value: Any, column: str, kind: RowKind, place: str) -> int | float | bool | str | None:
    """Return a plain value, of a type that the column decides: CSV has texts only."""
    value = value.item() if hasattr(value, "item") else value  # a number of NumPy
    if value is None or _is_nan(value):
        return "" if kind.columns[column].is_text else None  # CSV writes both as nothing
    if kind.columns[column].is_number:
        return _number(value, f"{place}: {column}")
    text = value if isinstance(value, str) else _text(value)
    return text if text or kind.columns[column].is_text else None


def _text(value: Any) -> str:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _number(value: Any, place: str) -> int | float | bool | None:
    if isinstance(value, int | float):
        return value
    text = value.strip() if isinstance(value, str) else _text(value)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        if "_" in text:  # which Python reads over
            raise ValueError
        number = int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError as error:
        problem = f"{text[:_LONGEST]!r} is not a number; was the file changed?"
        raise InputError(place, problem) from error
    return None if _is_nan(number) else number
