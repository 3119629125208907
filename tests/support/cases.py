"""Files of cases: a row each, with named fields; a path, or the name of one in tests/cases."""

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "cases"


def cases(place: str | Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with _path(place, ".csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def objects(place: str | Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file."""
    return [json.loads(line) for line in _path(place, ".jsonl").read_text().splitlines()]


def tables(place: str | Path) -> dict[str, Any]:
    """Return what a TOML file has."""
    return tomllib.loads(_path(place, ".toml").read_text())


def case_table(place: str | Path, *more: tuple[Any, ...]) -> tuple[list[str], list[Any]]:
    """Return what `parametrize` takes: the names, and the values of each case; `id` is its own.

    `more` are the cases that would be too long for a file.
    """
    rows = objects(place)
    names = [name for name in rows[0] if name != "id"]
    known = [pytest.param(*(row[name] for name in names), id=row.get("id")) for row in rows]
    return names, [
        *known,
        *(pytest.param(*values, id=f"long {n}") for n, values in enumerate(more)),
    ]


def file_text(name: str) -> str:
    return _path(name, ".txt").read_text()


def _path(place: str | Path, suffix: str) -> Path:
    return place if isinstance(place, Path) else FOLDER / f"{place}{suffix}"
