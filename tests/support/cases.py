"""Cases in tests/cases: a row each, or programs by name."""

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "cases"


def cases(name: str) -> list[dict[str, str]]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def objects(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def tables(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text())


def case_table(name: str, *more: tuple[Any, ...]) -> tuple[list[str], list[Any]]:
    """Return what `parametrize` takes: the names, and the values of each case; `id` is its own.

    `more` are the cases that would be too long for a file.
    """
    rows = objects(name)
    names = [name for name in rows[0] if name != "id"]
    known = [pytest.param(*(row[name] for name in names), id=row.get("id")) for row in rows]
    return names, [
        *known,
        *(pytest.param(*values, id=f"long {n}") for n, values in enumerate(more)),
    ]


def file_text(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text()
