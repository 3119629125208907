"""Files of benchmarks as rows, each column of the type that it must have."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any

from ngramscan.errors import InputError


@dataclass(frozen=True, slots=True)
class Row:
    """One row, and where it stands."""

    where: str
    """File and row, for messages; the first row is row 1."""
    values: Mapping[str, Any]

    def take(self, column: str, kind: type | UnionType) -> Any:
        """Return the value of a column.

        Parameters
        ----------
        column : str
            Its name.
        kind : type
            What the value must be; a bool is no number.

        Returns
        -------
        Any
            The value; None where a column that may be null is missing.

        Raises
        ------
        InputError
            The column is missing, or of another type.
        """
        value = self.values.get(column)
        is_hidden_bool = isinstance(value, bool) and kind is not bool
        if not isinstance(value, kind) or is_hidden_bool:
            found = "missing" if column not in self.values else f"a {type(value).__name__}"
            name = getattr(kind, "__name__", str(kind))
            raise InputError(self.where, f"{column} is {found}; expected {name}")
        return value

    def text(self, column: str) -> str:
        """Return the value of a column that must hold more than white space."""
        value: str = self.take(column, str)
        if not value.strip():
            raise InputError(self.where, f"{column} is empty")
        return value


def read_content(path: Path) -> bytes:
    """Return the bytes of a file, or raise InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), (error.strerror or str(error)).lower()) from error


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def decode(content: bytes, where: str) -> str:
    """Return UTF-8 as text, or raise InputError with the place of the first wrong byte."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(where, f"not UTF-8 at byte {error.start}") from error


def parse_json(text: str, where: str) -> Any:
    """Return the value of a JSON text, or raise InputError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = f"not valid JSON in line {error.lineno}: {error.msg.lower()}"
        raise InputError(where, problem) from error
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"not valid JSON: {error}") from error


def rows_of(value: Any, where: str) -> list[Row]:
    """Return the members of a JSON array as rows, or raise InputError."""
    if not isinstance(value, list):
        raise InputError(where, f"a {type(value).__name__}; expected a list of problems")
    return [_row(item, f"{where}: row {number}") for number, item in enumerate(value, 1)]


def parse_jsonl(text: str, where: str) -> list[Row]:
    """Return the rows of a file with one JSON object in each line; empty lines hold nothing."""
    return [
        _row(parse_json(line, f"{where}: row {number}"), f"{where}: row {number}")
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]


def parse_parquet(content: bytes, where: str) -> list[Row]:
    """Return the rows of a Parquet file, or raise InputError."""
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(content))
    except (pyarrow.ArrowException, OSError) as error:
        problem = f"not a readable Parquet file: {' '.join(str(error).split())}"
        raise InputError(where, problem) from error
    return rows_of(table.to_pylist(), where)


def parse_csv(text: str, where: str) -> list[Row]:
    """Return the rows of a CSV file with a header; a row may be short, but not too long."""
    return list(_csv_rows(csv.DictReader(io.StringIO(text, newline="")), where))


def _csv_rows(reader: csv.DictReader[str], where: str) -> Iterator[Row]:
    number = 0
    try:
        for number, values in enumerate(reader, 1):
            if None in values:
                raise InputError(f"{where}: row {number}", "has more fields than the header")
            yield Row(f"{where}: row {number}", values)
    except csv.Error as error:
        raise InputError(f"{where}: row {number + 1}", f"not valid CSV: {error}") from error


def _row(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(where, f"a {type(value).__name__}; expected an object")
    return Row(where, value)
