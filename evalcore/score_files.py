"""Score rows, read back from what `score`, `judge` and `logs` wrote or returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from evalcore.row_files import Table, read_table, to_row
from evalcore.scoring.base import ScoreRow
from ngramscan.errors import InputError

_WHAT = "rows of `evalcore score`"
_MAY_BE_ABSENT = {"epoch": None, "answer": None, "extraction": None}
"""Columns that rows of others need not have, and what their absence says."""


class ScoreKey(NamedTuple):
    """Which output a row is about."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None


def read_scores(table: Table) -> list[ScoreRow]:
    """Read the rows of one table; columns beyond those of scores, as judges have, are left out.

    Raises
    ------
    InputError
        There is no such file, a column is missing, or a value is malformed; says where.
    """
    rows = []
    for place, values in read_table(table):
        texts = {"reason": values.get("reason") or "", "status": values.get("status") or ""}
        row = to_row(place, _MAY_BE_ABSENT | values | texts, ScoreRow, _WHAT)
        if row.value is not None and not 0 <= row.value <= 1:
            raise InputError(place, f"value {row.value:g}; a number from 0 to 1 was expected")
        rows.append(row)
    return rows


def refuse_unscored(rules: Iterable[str], scored: Iterable[str]) -> None:
    """Raise an InputError where nothing was scored by a rule; names those that there are."""
    known = list(dict.fromkeys(scored))
    for rule in rules:
        if rule not in known:
            raise InputError(f"--rule {rule}", f"not scored; there are {', '.join(known)}")


def read_wrong(table: Table) -> set[ScoreKey]:
    """Return the outputs that were found wrong by every rule of a table that could tell."""
    return _select(table, lambda values: set(values) - {None} == {0.0})


def read_open(table: Table) -> set[ScoreKey]:
    """Return the outputs that no rule of a table could score."""
    return _select(table, lambda values: set(values) == {None})


def _select(table: Table, holds: Callable[[list[float | None]], bool]) -> set[ScoreKey]:
    values: dict[ScoreKey, list[float | None]] = {}
    for row in read_scores(table):
        key = ScoreKey(row.dataset, row.model, row.method, row.id, row.epoch)
        values.setdefault(key, []).append(row.value)
    return {key for key, found in values.items() if holds(found)}
