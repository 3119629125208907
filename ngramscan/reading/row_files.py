"""Rows of tables, read back from files or data frames, each with its place."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast, get_args, get_type_hints

from ngramscan.errors import InputError, NoRowsError, nearest, some_of
from ngramscan.messages import Text, Wording, plural
from ngramscan.reading.streams import (
    MAX_BYTES,
    is_stream,
    missing,
    read_bytes,
    too_long,
    unpacked_path,
)
from ngramscan.reading.streams import name_of as name_of_file
from ngramscan.reading.surrogates import may_have_halves, refuse_halves
from ngramscan.reading.yaml_files import as_type

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

Table = Union[str, Path, "pd.DataFrame"]
"""A file, a pipe, `-` for standard input, or a data frame as the commands return it."""
GivenTables = Table | Sequence[Table]
PlacedRows = Iterator[tuple[str, dict[str, Any]]]
"""Each after its place; the values of CSV are all text."""
RowT = TypeVar("RowT")
# Python's limit of 131,072 characters is for all readers of CSV together. Cells may be as long as
# outputs and documents; `--max-bytes` bounds the file.
csv.field_size_limit(1 << 30)
VALUE_NAMES = ("correct", "is_correct", "score", "acc", "accuracy", "exact_match")
"""Other names of the column `value` of scores."""
_OTHER_NAMES = {"value": VALUE_NAMES}
"""Other names of columns."""


def as_tables(tables: GivenTables) -> list[Table]:
    """Return the tables that a function of a command was given, one or several."""
    return (
        list(tables) if isinstance(tables, Sequence) and not isinstance(tables, str) else [tables]
    )


def name_of(table: Table) -> str:
    """Return the name of a table in messages."""
    return name_of_file(table) if isinstance(table, str | Path) else "data frame"


def read_table(table: Table) -> PlacedRows:
    """Yield the rows of a table; an InputError says where a file is malformed, or missing."""
    if isinstance(table, list):  # what this function yielded: a pipe can't be read again
        yield from table
        return
    rows = _file_rows(Path(table)) if isinstance(table, str | Path) else _frame(table)
    is_empty = True
    for place, row in rows:
        is_empty = False
        if not isinstance(row, dict):
            raise InputError(place, "not a JSON object; expected a row")
        yield place, row
    if is_empty:
        raise NoRowsError(name_of(table), "no rows")


def has_rows(path: str | Path) -> bool:
    """Tell whether a file is a table, by its name."""
    return unpacked_path(path).suffix.lower() in _READERS


def _file_rows(path: Path) -> PlacedRows:
    name = name_of_file(path)
    if not is_stream(path):
        _refuse_name(path)
    content = read_bytes(path)
    if not content.strip():
        cure = "; run the command that writes it again" if path.is_file() else ""
        raise InputError(name, f"it is empty{cure}")
    start = content[:1000].removeprefix(codecs.BOM_UTF8).lstrip()
    detected = next((kind for kind, begin in _BEGIN.items() if begin.match(start)), "")
    suffix = (detected or ".csv") if is_stream(path) else unpacked_path(path).suffix.lower()
    if (detected, suffix) == (".json", ".jsonl"):  # a list reads as well as lines do
        suffix = detected
    # One JSON object in a .json file gets a message of its own.
    if detected not in {"", suffix} and (detected, suffix) != (".jsonl", ".json"):
        cure = f"rename it to {detected}" if detected in _READERS else f"expected {_TABLES}"
        raise InputError(name, f"its content is {_CONTENTS.get(detected, detected)}; {cure}")
    return _READERS[suffix](name, content)


def _refuse_name(path: Path) -> None:
    if not path.is_file():
        folder = f"a folder; expected {_TABLES}"
        raise InputError(str(path), folder if path.is_dir() else missing(path, _TABLES))
    if not has_rows(path):
        if path.suffix == ".eval":
            cure = Wording(
                f"`evalcore logs {path} -o scores.jsonl`", f"`evalcore.logs({str(path)!r})`"
            )
            raise InputError(str(path), f"expected {_TABLES}; " + cure + " makes one")
        raise InputError(str(path), f"expected {_TABLES}")


def _frame(frame: pd.DataFrame) -> PlacedRows:
    if not hasattr(frame, "columns"):
        raise TypeError(f"{type(frame).__name__}: expected a file or a data frame")
    frame = _with_index(frame)
    names = [str(name) for name in frame.columns]
    _refuse_same_names("data frame", names)
    # A command leaves out columns without any value, which files have as empty cells.
    left_out = [str(name) for name in frame.attrs.get("left_out", ()) if str(name) not in names]
    absent = dict.fromkeys(left_out, "")
    # Plain values of Python, and None for whatever pandas takes as missing.
    cells = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    for number, row in enumerate(cells, 1):
        values = dict(zip(names, row, strict=True)) | absent
        refuse_halves(f"data frame, row {number}", values)
        yield f"data frame, row {number}", values


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose index is a column, if it has a name or consists of text.

    Without a name, the column has an empty one, as in a CSV file that pandas writes.
    """
    index = frame.index
    is_text = index.nlevels == 1 and index.name is None and index.inferred_type == "string"
    if is_text and "" not in frame.columns:
        return frame.rename_axis(index="").reset_index()
    levels = [name for name in index.names if name is not None and name not in frame.columns]
    return frame.reset_index(level=levels) if levels else frame


def csv_rows(path: Path, absent: str | None = None) -> PlacedRows:
    """Yield the rows of CSV; wrong quotes and missing cells are refused, or these are `absent`."""
    return _csv(str(path), read_bytes(path), absent)


def _csv(name: str, content: bytes, absent: str | None = None) -> PlacedRows:
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        separator = separator_of(text.readline())
        text.seek(0)
        reader = csv.DictReader(text, restval=absent, strict=absent is None, delimiter=separator)
        _refuse_same_names(name, reader.fieldnames or ())
        for row in reader:
            if None in row or None in row.values():
                raise InputError(f"{name}:{reader.line_num}", "more or fewer cells than columns")
            yield f"{name}:{reader.line_num}", row
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}:{line}", "not UTF-8; save the table as CSV in UTF-8") from error
    except csv.Error as error:
        raise InputError(f"{name}:{reader.reader.line_num}", f"not valid CSV: {error}") from error


def separator_of(header: str) -> str:
    """Return the delimiter of a CSV header: a comma, or else a semicolon or tab."""
    if "," in header:
        return ","
    return next((mark for mark in (";", "\t") if mark in header), ",")


def _refuse_same_names(place: str, columns: Sequence[str]) -> None:
    if len(set(columns)) < len(columns):
        raise InputError(place, f"two columns have one name: {some_of(columns)}")


def _jsonl(name: str, content: bytes) -> PlacedRows:
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if line.strip():
            yield f"{name}:{number}", decoded(f"{name}:{number}", line)


def _json(name: str, content: bytes) -> PlacedRows:
    try:
        rows = list_items(name, content)
    except InputError as error:
        if "Extra data" not in str(error.problem):  # which is what follows the first of JSON lines
            raise
        raise InputError(name, _NO_LIST) from error
    return rows


def is_json_list(content: bytes) -> bool:
    """Tell whether a content is a JSON list, not JSON lines; its beginning is enough."""
    return bool(_BEGIN[".json"].match(content.removeprefix(codecs.BOM_UTF8).lstrip()))


def list_items(name: object, content: bytes) -> Iterator[tuple[str, Any]]:
    """Return the items of a JSON list, on one line or on many, each after its place."""
    items = _parsed(name, content.removeprefix(codecs.BOM_UTF8))
    if not isinstance(items, list):
        raise InputError(name, _NO_LIST)
    if may_have_halves(content):
        for number, item in enumerate(items, 1):
            refuse_halves(f"{name}[{number}]", item)
    return ((f"{name}[{number}]", item) for number, item in enumerate(items, 1))


def decoded(place: object, content: bytes) -> Any:
    """Parse JSON, or raise InputError with its place; its texts have no lone surrogates."""
    value = _parsed(place, content)
    if may_have_halves(content):
        refuse_halves(place, value)
    return value


def _parsed(place: object, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"not valid JSON: {error}") from error


def decoded_as(kind: type[RowT], place: object, content: bytes) -> RowT:
    """Parse JSON as a type, or raise InputError with the place and the key at fault."""
    return as_type(decoded(place, content), kind, place)


def _parquet(name: str, content: bytes) -> PlacedRows:
    import pyarrow
    import pyarrow.parquet

    rows, size, most = [], 0, MAX_BYTES.get()
    try:
        # A value that stands once in the file may be in every row.
        for batch in pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content)).iter_batches(1024):
            size += sum(map(_unfolded_bytes, batch.columns))
            if size > most:
                raise InputError(name, too_long(most))
            rows += batch.to_pylist()
    except MemoryError:  # which pyarrow's own also is
        raise
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(name, f"not a Parquet file, or truncated: {error}") from error
    return ((f"{name}[{number}]", row) for number, row in enumerate(rows, 1))


def _unfolded_bytes(column: pyarrow.Array) -> int:
    is_folded = hasattr(column, "dictionary_decode")
    return int((column.dictionary_decode() if is_folded else column).nbytes)


_READERS = {".csv": _csv, ".jsonl": _jsonl, ".json": _json, ".parquet": _parquet}
_CONTENTS = {".jsonl": "JSON lines", ".json": "a JSON list", ".parquet": "Parquet"}
_BEGIN = {
    ".jsonl": re.compile(rb'\{\s*["}]'),
    ".json": re.compile(rb"\[\s*[{\]]"),
    ".parquet": re.compile(rb"PAR1"),
    "an HTML page": re.compile(rb"<(!doctype|html)", re.IGNORECASE),
    "a zip archive or a spreadsheet": re.compile(rb"PK\x03\x04"),
}
"""The first bytes of files with a suffix, or what such a file is instead of a table."""
_NO_LIST = "expected a JSON list of rows; name JSON lines .jsonl"
_TABLES = "a table (.csv, .jsonl or .parquet)"  # the three likeliest


def read_rows(
    table: Table, row_type: type[RowT], expected: Text, absent: Mapping[str, Any] | None = None
) -> list[RowT]:
    """Read the rows of one table, which are `expected`; other columns are left out.

    A column is required unless its field has a default, or `absent` has a value for missing columns
    and empty cells. An InputError says where a table is wrong.
    """
    hints = get_type_hints(row_type)
    types = {name: get_args(hint) or (hint,) for name, hint in hints.items()}
    needed = {field.name for field in fields(cast("Any", row_type)) if field.default is MISSING}
    rows = []
    for place, values in read_table(table):
        values |= {
            name: default for name, default in (absent or {}).items() if values.get(name) is None
        }
        if not values.keys() >= needed:
            missing = [name for name in types if name in needed and name not in values]
            named = f"no {plural(len(missing), 'column')} {', '.join(missing)}"
            others = [name for name in values if name not in types]
            if cures := [*_cures(missing, others)]:
                raise InputError(place, f"{named}; {', '.join(cures)}")
            raise InputError(place, f"{named}; it should have " + expected)
        converted = {
            name: _plain(values[name], kinds) for name, kinds in types.items() if name in values
        }
        rows.append(as_type(converted, row_type, place, strict=False))
    return rows


def _plain(value: Any, types: Sequence[type]) -> Any:
    """Return None for an empty cell of CSV that may be null, and an id that is a number as text."""
    if isinstance(value, str):
        text = value if str in types else value.strip()
        return None if not text and type(None) in types else text
    return str(value) if str in types and isinstance(value, int) else value


def _cures(missing: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Suggest columns that may be the missing ones under another name."""
    for name in missing:
        similar = [column for column in _OTHER_NAMES.get(name, ()) if column in others]
        if near := next(iter(similar), "") or nearest(name, others, cutoff=0.75):
            yield f"rename `{near}` to `{name}` if that is meant"
