"""Rows → csv, jsonl, json, latex or parquet, on stdout or in a file; and a data frame.

One record per row, columns in the order of the row's fields, null for what is not known.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, make_dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from ngramscan.errors import InputError
from ngramscan.progress import visible_json
from ngramscan.reporting.files import check_writable, write_whole

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "csv", "jsonl", "json", "parquet", "latex")
_SUFFIXES = (".csv", ".jsonl", ".json", ".parquet", ".tex")
CSV_SAFE: ContextVar[bool] = ContextVar("CSV_SAFE", default=False)
"""Whether texts that a spreadsheet would run are written with an apostrophe before them."""
WRITTEN: ContextVar[list[str] | None] = ContextVar("WRITTEN", default=None)
"""The keys of the files of rows that the running command wrote; None: nobody asks."""
_RUN = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows go, and in which format."""

    format: str
    path: Path | None = None
    """None: stdout."""


def choose_target(format_name: str | None, path: Path | None) -> Target:
    """Return where rows go, before any work is done; the path `-` is stdout."""
    if path is None or str(path) == "-":
        if format_name == "parquet" and sys.stdout.isatty():
            problem = "it can't be shown in a terminal; add -o FILE, or a pipe"
            raise InputError("--format parquet", problem)
        return Target(format_name or "table")
    check_writable(path)
    suffix = path.suffix.lower()
    if format_name == "table" or not (format_name or suffix in _SUFFIXES):
        known = ", ".join(_SUFFIXES)
        raise InputError(f"-o {path}", f"no file format named; expected {known}, or --format csv")
    return Target(format_name or ("latex" if suffix == ".tex" else suffix[1:]), path)


def optional_target(path: str | Path | None) -> Target | None:
    """Return where further rows go, if a file is named."""
    return choose_target(None, Path(path)) if path else None


def order_rows(rows: Iterable[Any], column: str) -> list[Any]:
    """Return rows in ascending order of a column, or descending after a minus; nulls last."""
    values = [(getattr(row, column.removeprefix("-")), row) for row in rows]
    known = [(value, row) for value, row in values if value is not None]
    known.sort(key=lambda one: _sortable(one[0]), reverse=column.startswith("-"))
    return [row for _, row in (*known, *(one for one in values if one[0] is None))]


def _sortable(value: object) -> tuple[bool, Any]:
    return (False, value) if isinstance(value, int | float) else (True, str(value))


def together(rows: Sequence[Any], types: Sequence[type]) -> tuple[Sequence[Any], type[Any]]:
    """Return rows of several types as rows of one, which has the columns of all types.

    A row has null in the columns that its own type lacks. Rows of a single type stay as they are.
    """
    if len(types) == 1:
        return rows, types[0]
    hints: dict[str, Any] = {}
    for one in types:
        for name, hint in get_type_hints(one).items():
            hints[name] = hints.get(name) | hint
    columns = [(name, hint, None) for name, hint in hints.items()]
    row_type = make_dataclass("Row", columns, frozen=True, slots=True)
    return [
        row_type(**{f.name: getattr(row, f.name) for f in fields(row)}) for row in rows
    ], row_type


def to_text(rows: Sequence[Any], row_type: type, format_name: str) -> str:
    """Return rows as csv, jsonl, json or latex."""
    if format_name == "latex":
        from ngramscan.reporting.latex import to_latex  # slow to import

        return to_latex(rows, row_type)
    records = [asdict(row) for row in rows]
    if format_name == "jsonl":
        return "".join(_json(record) + "\n" for record in records)
    if format_name == "json":
        return _json(records, indent=1) + "\n"
    text = io.StringIO()
    writer = csv.DictWriter(text, [f.name for f in fields(row_type)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_safe, records) if CSV_SAFE.get() else records)
    return text.getvalue()


def _safe(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: f"'{value}" if isinstance(value, str) and value.startswith(_RUN) else value
        for name, value in record.items()
    }


def _json(value: object, indent: int | None = None) -> str:
    return visible_json(json.dumps(value, ensure_ascii=False, indent=indent))


def to_frame(rows: Sequence[Any], row_type: type) -> pd.DataFrame:
    """Return rows as a data frame; what may be missing keeps its type (Int64, Float64, string)."""
    import pandas as pd  # slow to import, and not needed by the commands

    return pd.DataFrame(
        {
            name: pd.Series([_encodable(getattr(row, name)) for row in rows], dtype=_dtype(hint))
            for name, hint in get_type_hints(row_type).items()
        }
    )


def _encodable(value: Any) -> Any:
    """Return a text with escapes for halves of characters, as names of files may have them."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode()


def _dtype(hint: object) -> Literal["boolean", "Int64", "Float64", "string"]:
    parts = getattr(hint, "__args__", (hint,))
    if bool in parts:
        return "boolean"
    if float in parts:
        return "Float64"
    return "Int64" if int in parts else "string"


def to_bytes(rows: Sequence[Any], row_type: type, format_name: str) -> bytes:
    """Return rows as the content of a file."""
    if format_name != "parquet":
        return to_text(rows, row_type, format_name).encode("utf-8", "backslashreplace")
    content = io.BytesIO()
    to_frame(rows, row_type).to_parquet(content, index=False)
    return content.getvalue()


def write_rows(rows: Sequence[Any], row_type: type, target: Target) -> None:
    """Write rows to the file of a target, whole or not at all."""
    assert target.path is not None
    content = to_bytes(rows, row_type, target.format)
    write_whole(target.path, lambda path: path.write_bytes(content))
    note_written(content)


@contextmanager
def noting() -> Iterator[list[str]]:
    """Yield the keys of the files of rows that are written meanwhile."""
    written = list[str]()
    token = WRITTEN.set(written)
    try:
        yield written
    finally:
        WRITTEN.reset(token)


def note_written(content: bytes) -> None:
    """Note that the running command wrote rows with this content."""
    if (written := WRITTEN.get()) is not None:
        written.append(key_of(content))


def key_of(content: bytes) -> str:
    """Return what files of rows are known by: the SHA-256 of their content."""
    return sha256(content).hexdigest()
