"""Rows of tables, read back from files or data frames, each with its place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast, get_args, get_type_hints

from ngramscan.errors import InputError
from ngramscan.reading.yaml_files import as_type

if TYPE_CHECKING:
    import pandas as pd

Table = Union[str, Path, "pd.DataFrame"]
"""A file, or a data frame as the commands return it."""
GivenTables = Table | Sequence[Table]
Rows = Iterator[tuple[str, dict[str, Any]]]
"""Each after its place; the values of CSV are all text."""
Row = TypeVar("Row")
_OTHER_NAMES = {"value": ("correct", "is_correct", "score", "acc", "accuracy", "exact_match")}
"""How others call a column."""


def as_tables(given: GivenTables) -> list[Table]:
    """Return the tables that a function of a command was given, one or several."""
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]


def name_of(table: Table) -> str:
    """Return what messages call a table."""
    return str(table) if isinstance(table, str | Path) else "data frame"


def read_table(table: Table) -> Rows:
    """Yield the rows of a table; an InputError says where a file is malformed, or not there."""
    if not isinstance(table, str | Path):
        rows = _frame(table)
    elif not Path(table).is_file():
        raise InputError(str(table), "no such file; rows of a table were expected")
    elif (suffix := Path(table).suffix.lower()) not in SUFFIXES:
        raise InputError(str(table), f"one of {', '.join(SUFFIXES)} was expected")
    else:
        rows = SUFFIXES[suffix](Path(table))
    for place, row in rows:
        if not isinstance(row, dict):
            raise InputError(place, "not a JSON object; a row was expected")
        yield place, row


def _frame(frame: pd.DataFrame) -> Rows:
    if not hasattr(frame, "columns"):
        raise TypeError(f"{type(frame).__name__}: a file or a data frame was expected")
    names = [str(name) for name in frame.columns]
    _refuse_same_names("data frame", names)
    # Plain values of Python, and None for whatever pandas takes as missing.
    cells = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    for number, row in enumerate(cells, 1):
        yield f"data frame, row {number}", dict(zip(names, row, strict=True))


def csv_rows(path: Path, absent: str | None = None) -> Rows:
    """Yield the rows of CSV; wrong quotes and missing cells are refused, or these are `absent`."""
    content = path.read_bytes()
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        reader = csv.DictReader(text, restval=absent, strict=absent is None)
        _refuse_same_names(str(path), reader.fieldnames or ())
        for row in reader:
            if None in row or None in row.values():
                raise InputError(f"{path}:{reader.line_num}", "more or fewer cells than columns")
            yield f"{path}:{reader.line_num}", row
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}", "not UTF-8; save the table as CSV in UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{path}:{reader.reader.line_num}", f"not valid CSV: {error}") from error


def _refuse_same_names(place: str, columns: Sequence[str]) -> None:
    if len(set(columns)) < len(columns):
        raise InputError(place, f"two columns have one name: {', '.join(columns)}")


def _jsonl(path: Path) -> Rows:
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip():
            yield f"{path}:{number}", decoded(f"{path}:{number}", line)


def _json(path: Path) -> Rows:
    rows = decoded(str(path), path.read_bytes())
    if not isinstance(rows, list):
        raise InputError(str(path), "a JSON list of rows was expected")
    return ((f"{path}[{number}]", row) for number, row in enumerate(rows, 1))


def decoded(place: str, content: bytes) -> Any:
    """Return what JSON says, or raise InputError with its place."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"not valid JSON: {error}") from error


def _parquet(path: Path) -> Rows:
    import pyarrow
    import pyarrow.parquet

    try:
        rows = pyarrow.parquet.read_table(path).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(str(path), f"not a Parquet file: {error}") from error
    return ((f"{path}[{number}]", row) for number, row in enumerate(rows, 1))


SUFFIXES = {".csv": csv_rows, ".jsonl": _jsonl, ".json": _json, ".parquet": _parquet}
"""How files of tables end, and what reads them."""


def read_rows(
    table: Table, row_type: type[Row], what: str, absent: Mapping[str, Any] | None = None
) -> list[Row]:
    """Read the rows of one table, which are `what`; other columns are left out.

    A column must be there unless its field has a default, or it is in `absent`, which says what it
    stands for where it is not there or says nothing. An InputError says where a table is wrong.
    """
    hints = get_type_hints(row_type)
    types = {name: get_args(hint) or (hint,) for name, hint in hints.items()}
    needed = {field.name for field in fields(cast("Any", row_type)) if field.default is MISSING}
    rows = []
    for place, values in read_table(table):
        values |= {name: said for name, said in (absent or {}).items() if values.get(name) is None}
        if not values.keys() >= needed:
            missing = [name for name in types if name in needed and name not in values]
            named = f"no column{'s' * (len(missing) > 1)} {', '.join(missing)}"
            cures = _cures(missing, [name for name in values if name not in types])
            raise InputError(place, f"{named}; {', '.join(cures) or f'{what} were expected'}")
        known = {
            name: _plain(values[name], kinds) for name, kinds in types.items() if name in values
        }
        rows.append(as_type(known, row_type, place, strict=False))
    return rows


def _plain(value: Any, types: Sequence[type]) -> Any:
    """Return None for an empty cell of CSV that may be null, and an id that is a number as text."""
    if isinstance(value, str):
        text = value if str in types else value.strip()
        return None if not text and type(None) in types else text
    return str(value) if str in types and isinstance(value, int) else value


def _cures(missing: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Say which columns of other names may be those that are missing."""
    for name in missing:
        known = [other for other in _OTHER_NAMES.get(name, ()) if other in others]
        for near in (known or get_close_matches(name, others, n=1, cutoff=0.75))[:1]:
            yield f"rename `{near}` to `{name}` if that is meant"
