"""Labels that judges gave to items, read from tables of three forms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalcore.row_files import Table, name_of, read_table
from evalcore.scores import read_scores
from ngramscan.errors import InputError

_LONG = ("item", "judge", "label")
_SCORES = ("dataset", "model", "method", "id", "rule")
_EXPECTED = (
    "columns item, judge, label; or item and one per judge; or rows of `evalcore judge` were "
    "expected"
)
_JUDGED = "judge:"


@dataclass(frozen=True, slots=True)
class Labels:
    """Who said what of which item."""

    judges: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]
    """By item and judge; what is missing is not there."""

    @property
    def labels(self) -> list[str]:
        """All that were given: numbers by size, others by the alphabet."""
        found = {label for row in self.rows.values() for label in row.values()}
        return sorted(found, key=lambda label: (_number(label, float("inf")), label))


@dataclass(frozen=True, slots=True)
class _Cell:
    place: str
    item: str
    judge: str
    label: str | None


def read_labels(tables: Sequence[Table]) -> Labels:
    """Read the labels of some tables together.

    Parameters
    ----------
    tables : sequence of Path or DataFrame
        As commands write or return them: one row per item and judge (`item, judge, label`), one
        per item (`item` and one column per judge), or rows of `evalcore judge`, where an item is
        one output and the judge's answer the label. An empty label is a missing one.

    Raises
    ------
    InputError
        A file is missing or of none of these forms, or an item has two labels of one judge.
    """
    rows: dict[str, dict[str, str]] = {}
    judges: dict[str, None] = {}
    seen: dict[tuple[str, str], str] = {}
    for cell in (cell for table in tables for cell in _cells(table)):
        first = seen.setdefault((cell.item, cell.judge), cell.place)
        if first != cell.place:
            said = f"item {cell.item!r} has a label of {cell.judge} also at {first}"
            raise InputError(cell.place, said)
        judges[cell.judge] = None
        row = rows.setdefault(cell.item, {})
        if cell.label is not None:
            row[cell.judge] = cell.label
    return Labels(tuple(judges), rows)


def _cells(table: Table) -> Iterator[_Cell]:
    read = read_table(table)
    head = next(read, None)
    if head is None:
        raise InputError(name_of(table), "no rows there")
    columns = set(head[1])
    if columns >= set(_SCORES):
        yield from _judged(table)
        return
    rows = _chained(head, read)
    if columns >= set(_LONG):
        yield from _long(rows)
    elif "item" in columns and len(columns) > 1:
        yield from _wide(rows)
    else:
        raise InputError(name_of(table), f"columns {', '.join(head[1])}; {_EXPECTED}")


def _chained(
    head: tuple[str, dict[str, Any]], rest: Iterable[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield head
    yield from rest


def _long(rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[_Cell]:
    for place, row in rows:
        item, judge = _text(place, "item", row), _text(place, "judge", row)
        yield _Cell(place, item, judge, _label(place, row.get("label")))


def _wide(rows: Iterable[tuple[str, dict[str, Any]]]) -> Iterator[_Cell]:
    for place, row in rows:
        item = _text(place, "item", row)
        for judge in row:
            if judge != "item":
                yield _Cell(place, item, judge, _label(place, row[judge]))


def _judged(table: Table) -> Iterator[_Cell]:
    for number, row in enumerate(read_scores(table), 1):
        place = f"{name_of(table)}, row {number}"
        if not row.rule.startswith(_JUDGED):
            raise InputError(place, f"rule {row.rule}; rows of `evalcore judge` were expected")
        parts = [row.dataset, row.model, row.method, row.id]
        if row.epoch is not None:
            parts.append(str(row.epoch))
        label = _label(place, row.answer)
        yield _Cell(place, " · ".join(parts), row.rule.removeprefix(_JUDGED), label)


def _text(place: str, name: str, row: Mapping[str, Any]) -> str:
    text = str(row.get(name) if row.get(name) is not None else "").strip()
    if not text:
        raise InputError(place, f"no {name}")
    return text


def _label(place: str, value: object) -> str | None:
    if isinstance(value, dict | list):
        raise InputError(place, f"label {json.dumps(value)}; a text or a number was expected")
    if value is None:
        return None
    # In JSON 1 and 1.0 are the same label.
    text = f"{value:g}" if isinstance(value, float) else str(value).strip()
    return text or None


def _number(text: str, otherwise: float) -> float:
    try:
        return float(text)
    except ValueError:
        return otherwise
