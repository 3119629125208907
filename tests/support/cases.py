"""Files of cases beside their test: a row each, with named fields."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest


def cases(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def case_table(path: Path) -> tuple[list[str], list[Any]]:
    """Return what `parametrize` takes: the names, and the values of each case; `id` is its own."""
    rows = objects(path)
    names = [name for name in rows[0] if name != "id"]
    return names, [pytest.param(*(row[name] for name in names), id=row.get("id")) for row in rows]
