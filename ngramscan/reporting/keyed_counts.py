"""A count for each problem, topic or other key: from rows of ngramscan, or from any table."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.row_files import Table, name_of, read_table
from ngramscan.reporting.kinds import kind_of
from ngramscan.reporting.older_rows import refuse_older_tokens
from ngramscan.reporting.options import refuse_other


def read_counts(table: Table, key: str, column: str | None = None) -> dict[str, dict[str, float]]:
    """Return the counts of a table by index, empty if it names none, and by the column `key`.

    `column` has the counts. By default it is known by the kind of rows, or it is the only other
    column that has numbers only.
    """
    placed_rows: Any = [*read_table(table)]  # a pipe can be read once
    columns = [*placed_rows[0][1]]
    if key not in columns:
        problem = f"no column {key}; available: {', '.join(columns)}"
        cure = "name one with " + OptionUse("on", placeholder="COLUMN=NAME")
        raise InputError(name_of(table), f"{problem}; " + cure)
    if column is None:
        refuse_older_tokens(table, [row for _, row in placed_rows])
    kind = kind_of(columns)
    refuse_other("count", [column] if column else [], columns)
    if column is None:
        column = _count_column(
            name_of(table), placed_rows, [kind.counts] if kind and kind.counts else (), key
        )
    counts_by_index: dict[str, dict[str, float]] = defaultdict(dict)
    units: dict[str, object] = {}
    for place, row in placed_rows:
        value, number = key_in(place, row, key), number_in(place, row, column)
        index = row.get("index") or ""
        if units.setdefault(index, row.get("unit")) != row.get("unit"):
            problem = "counts of one index in two units, which are never added; keep one of them"
            raise InputError(place, problem)
        counts = counts_by_index[index]
        if number < 0:
            raise InputError(place, f"{column}: {number:g} is not a count")
        if value in counts and not (kind and kind.adds_up):
            raise InputError(place, f"two rows of {key} {value}; keep one")
        counts[value] = counts.get(value, 0.0) + number
    return dict(counts_by_index)


def _count_column(place: str, placed_rows: Any, usual_names: Sequence[str], key: str) -> str:
    columns = [*placed_rows[0][1]]
    candidates = [name for name in usual_names if name in columns] or [
        name
        for name in columns
        if name != key and all(_is_number(row.get(name)) for _, row in placed_rows)
    ]
    if len(candidates) != 1:
        what = (
            f"counts may be {', '.join(candidates)}" if candidates else "no column has numbers only"
        )
        raise InputError(
            place,
            f"{what}; name the column of counts with " + OptionUse("count", placeholder="COLUMN"),
        )
    return candidates[0]


def key_in(place: str, row: Mapping[str, Any], column: str) -> str:
    """Return the value of a column as text: 13.0, as data frames have it, is 13."""
    value = row.get(column)
    if value is None or value == "":
        raise InputError(place, f"no value of {column}")
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def number_in(place: str, row: Mapping[str, Any], column: str) -> float:
    """Return the finite number in a column."""
    value: Any = row.get(column)
    if not _is_number(value):
        raise InputError(place, f"{column}: {value!r} is not a number")
    return float(value)


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False
