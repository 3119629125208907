"""Score rows, read back from the files that `score` and `judge` wrote."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError

SUFFIXES = (".csv", ".jsonl", ".json", ".parquet")
_COLUMNS = ScoreRow.__dataclass_fields__
_OPTIONAL = frozenset({"epoch", "answer", "extraction", "reason", "sandbox"})
_NUMBERS = {"value": float, "epoch": int}


class ScoreKey(NamedTuple):
    """Which output a row is about."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None


def read_scores(path: Path) -> list[ScoreRow]:
    """Read the rows of one file; columns beyond those of scores, as judges have, are left out.

    Raises
    ------
    InputError
        There is no such file, a column is missing, or a value is malformed; says where.
    """
    if not path.is_file():
        raise InputError(str(path), "no such file; rows of `evalcore score` were expected")
    readers = {".csv": _csv, ".jsonl": _jsonl, ".json": _json, ".parquet": _parquet}
    if path.suffix.lower() not in readers:
        raise InputError(str(path), f"one of {', '.join(SUFFIXES)} was expected")
    return [_row(place, fields) for place, fields in readers[path.suffix.lower()](path)]


def read_wrong(path: Path) -> set[ScoreKey]:
    """Return the outputs that were found wrong by every rule of a file that could tell."""
    return _select(path, lambda values: set(values) - {None} == {0.0})


def read_open(path: Path) -> set[ScoreKey]:
    """Return the outputs that no rule of a file could score."""
    return _select(path, lambda values: set(values) == {None})


def _select(path: Path, holds: Any) -> set[ScoreKey]:
    values: dict[ScoreKey, list[float | None]] = {}
    for row in read_scores(path):
        key = ScoreKey(row.dataset, row.model, row.method, row.id, row.epoch)
        values.setdefault(key, []).append(row.value)
    return {key for key, found in values.items() if holds(found)}


def _row(place: str, fields: Mapping[str, Any]) -> ScoreRow:
    absent = [name for name in _COLUMNS if name not in fields and name not in _OPTIONAL]
    if absent:
        raise InputError(place, f"no {', '.join(absent)}; rows of `evalcore score` were expected")
    known = {name: fields.get(name) for name in _COLUMNS}
    known["reason"] = known["reason"] or ""
    try:
        row = msgspec.convert(known, ScoreRow)
    except msgspec.ValidationError as error:
        raise InputError(place, str(error)) from error
    if row.value is not None and not 0 <= row.value <= 1:
        raise InputError(place, f"value {row.value:g}; a number from 0 to 1 was expected")
    return row


def _csv(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        for fields in reader:
            place = f"{path}:{reader.line_num}"
            yield place, {name: _cell(place, name, text) for name, text in fields.items()}


def _cell(place: str, name: str, text: str | None) -> Any:
    if name not in _NUMBERS and name not in _OPTIONAL:
        return text
    if not text:
        return None
    if name not in _NUMBERS:
        return text
    try:
        return _NUMBERS[name](text)
    except ValueError as error:
        raise InputError(place, f"{name} {text!r}; a number was expected") from error


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
