"""Rows of tables, read back from files or data frames, each with its place."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union, cast, get_type_hints

import msgspec

from ngramscan.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Table = Union[Path, "pd.DataFrame"]
"""A file, or a data frame as the commands return it."""
GivenTable = Union[str, Path, "pd.DataFrame"]
GivenTables = GivenTable | Sequence[GivenTable]
"""What a function of a command may be given for one table, and for one or several."""

SUFFIXES = (".csv", ".jsonl", ".json", ".parquet")
Row = TypeVar("Row")

_OTHER_NAMES = {"value": ("correct", "is_correct", "score", "acc", "accuracy", "exact_match")}
"""How others call a column."""


def as_table(given: GivenTable) -> Table:
    """Return the table that a function of a command was given; a TypeError: it is none."""
    if isinstance(given, str | Path):
        return Path(given)
    if not hasattr(given, "columns"):
        raise TypeError(f"{type(given).__name__}: a file or a data frame was expected")
    return given


def as_tables(given: GivenTables) -> list[Table]:
    """Return the tables that a function of a command was given, one or several."""
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [as_table(one) for one in given]
    return [as_table(given)]


def name_of(table: Table) -> str:
    """Return what messages call a table."""
    return str(table) if isinstance(table, Path) else "data frame"


def read_table(table: Table) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a file or data frame, each after its place; those of csv are all text.

    Raises
    ------
    InputError
        There is no such file, or it is malformed; says where.
    """
    if not isinstance(table, Path):
        yield from _frame(table)
        return
    if not table.is_file():
        raise InputError(str(table), "no such file; rows of a table were expected")
    readers = {".csv": _csv, ".jsonl": _jsonl, ".json": _json, ".parquet": _parquet}
    if table.suffix.lower() not in readers:
        raise InputError(str(table), f"one of {', '.join(SUFFIXES)} was expected")
    yield from readers[table.suffix.lower()](table)


def read_rows(table: Table, row_type: type[Row], what: str) -> list[Row]:
    """Read the rows of one table; columns that such rows do not have are left out.

    Parameters
    ----------
    table : Path or DataFrame
        The file, or the rows as a command returned them.
    row_type : dataclass
        Of str, int, float and bool, any of which may be None. Only a column whose field has a
        default may be absent: one that is not there is not the same as one that says nothing.
    what : str
        What such rows are, for messages.

    Returns
    -------
    list of row_type
        In the order of the table.

    Raises
    ------
    InputError
        There is no such file, a column is missing, or a value is malformed; says where.
    """
    return [to_row(place, values, row_type, what) for place, values in read_table(table)]


def to_row(place: str, values: Mapping[str, Any], row_type: type[Row], what: str) -> Row:
    """Return the row of some values, which may be texts; see `read_rows`."""
    known = {}
    absent = []
    columns = _columns(cast("Any", row_type))
    for column in columns:
        if column.name in values:
            known[column.name] = _converted(place, column, values[column.name])
        elif not column.has_default:
            absent.append(column.name)
    if absent:
        named = f"column{'s' * (len(absent) > 1)} {', '.join(absent)}"
        others = [name for name in values if name not in {column.name for column in columns}]
        raise InputError(place, f"no {named}; {_cure(absent, others) or f'{what} were expected'}")
    try:
        return msgspec.convert(known, row_type)
    except msgspec.ValidationError as error:
        raise InputError(place, str(error)) from error


def _cure(absent: Sequence[str], others: Sequence[str]) -> str:
    """Say which columns of other names may be those that are absent."""
    said = []
    for name in absent:
        known = [other for other in _OTHER_NAMES.get(name, ()) if other in others]
        for found in (known or get_close_matches(name, others, n=1, cutoff=0.75))[:1]:
            said.append(f"rename `{found}` to `{name}` if that is meant")
    return ", ".join(said)


class _Column(NamedTuple):
    """What a field of a row may hold."""

    name: str
    types: frozenset[type]
    may_be_none: bool
    has_default: bool


@cache
def _columns(row_type: type) -> Sequence[_Column]:
    hints = get_type_hints(row_type)
    columns = []
    for field in fields(cast("Any", row_type)):
        types = frozenset(getattr(hints[field.name], "__args__", (hints[field.name],)))
        has_default = field.default is not MISSING
        columns.append(_Column(field.name, types, type(None) in types, has_default))
    return columns


def _converted(place: str, column: _Column, value: Any) -> Any:
    """Return what a text of csv stands for; other values as they are."""
    types = column.types
    if not isinstance(value, str):
        return _as_meant(value, types)
    if str in types and (value or not column.may_be_none):
        return value
    if not value and column.may_be_none:
        return None
    if bool in types and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    try:
        return int(value) if int in types else float(value)
    except ValueError as error:
        raise InputError(place, f"{column.name} {value!r}; a number was expected") from error


def _as_meant(value: Any, types: frozenset[type]) -> Any:
    """Return a number of a type that other tools give such a column as one of its own."""
    if isinstance(value, int) and str in types and not {int, float, bool} & types:
        return str(value)  # ids
    if isinstance(value, float) and value.is_integer() and int in types and float not in types:
        return int(value)  # whole numbers, where some are missing
    return value


def open_csv(path: Path) -> csv.DictReader[str]:
    """Return a reader of a CSV file, or raise an InputError where it is not UTF-8."""
    content = path.read_bytes()
    try:
        return csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}", "not UTF-8; save the table as CSV in UTF-8") from error


def _csv(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = open_csv(path)
    try:
        _refuse_same_names(str(path), reader.fieldnames or ())
        for values in reader:
            place = f"{path}:{reader.line_num}"
            if None in values or None in values.values():
                raise InputError(place, "more or fewer cells than columns")
            yield place, values
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}", f"not valid CSV: {error}") from error


def _frame(frame: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    _refuse_same_names("data frame", [str(name) for name in frame.columns])
    # Plain values of Python, and None for whatever pandas takes as missing.
    columns = {
        str(name): column.astype(object).where(column.notna(), None).tolist()
        for name, column in frame.items()
    }
    for number, values in enumerate(zip(*columns.values(), strict=True), 1):
        yield f"data frame, row {number}", dict(zip(columns, values, strict=True))


def _refuse_same_names(place: str, columns: Sequence[str]) -> None:
    if len(set(columns)) < len(columns):
        raise InputError(place, f"two columns have one name: {', '.join(columns)}")


def _jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip():
            yield _object(f"{path}:{number}", _decoded(f"{path}:{number}", line))


def _json(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = _decoded(str(path), path.read_bytes())
    if not isinstance(rows, list):
        raise InputError(str(path), "a JSON list of rows was expected")
    for number, row in enumerate(rows, 1):
        yield _object(f"{path}[{number}]", row)


def _decoded(place: str, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"no JSON: {error}") from error


def _object(place: str, row: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(row, dict):
        raise InputError(place, "no JSON object; a row was expected")
    return place, row


def _parquet(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    import pyarrow
    import pyarrow.parquet

    try:
        rows = pyarrow.parquet.read_table(path).to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(str(path), f"no Parquet file: {error}") from error
    for number, row in enumerate(rows, 1):
        yield f"{path}[{number}]", row
