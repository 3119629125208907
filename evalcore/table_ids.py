"""Ids of problems in the simplest tables, as spreadsheets and data frames leave them."""

import re
from collections.abc import Sequence
from typing import Any

from ngramscan.errors import InputError

_WHOLE_FLOAT = re.compile(r"(-?\d+)\.0")
_SUMMARIES = {
    "accuracy",
    "average",
    "avg",
    "avg.",
    "macro avg",
    "macro average",
    "mean",
    "micro avg",
    "micro average",
    "overall",
    "overall accuracy",
    "std",
    "std dev",
    "stderr",
    "total",
}
"""Names of rows that sum up the others, in lower case."""
TableRows = list[tuple[str, dict[str, Any]]]


def with_plain_ids(placed: TableRows) -> TableRows:
    """Return rows with plain ids; leave out empty rows.

    Blanks around an id are left out. Whole numbers that a data frame made floats, because a row
    was missing somewhere, are whole again: `1.0` is `1` if all ids are such numbers.

    Raises
    ------
    InputError
        A row has no id, or is a summary of the others, which is not a problem.
    """
    filled = [(place, row) for place, row in placed if not all(map(_is_empty, row.values()))]
    for place, row in filled:
        if _is_empty(row.get("id")):
            raise InputError(place, "no id of the problem; expected text or a number")
    ids = _plain_ids([row["id"] for _, row in filled])
    _refuse_summaries(filled, ids)
    return [(place, {**row, "id": plain}) for (place, row), plain in zip(filled, ids, strict=True)]


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _plain_ids(ids: Sequence[Any]) -> list[Any]:
    """Return ids without blanks around them, and without `.0` if all have it."""
    stripped = [value.strip() if isinstance(value, str) else value for value in ids]
    floats = [_WHOLE_FLOAT.fullmatch(str(value)) for value in stripped]
    if all(floats):
        return [match[1] for match in floats if match]
    return [
        int(value) if isinstance(value, float) and value.is_integer() else value
        for value in stripped
    ]


def _refuse_summaries(placed: TableRows, ids: Sequence[Any]) -> None:
    """Raise an InputError if the last rows or the first one are means or totals of the others."""
    ends = {0, len(ids) - 1, len(ids) - 2}
    for number, ((place, _), value) in enumerate(zip(placed, ids, strict=True)):
        if number in ends and str(value).lower() in _SUMMARIES and len(ids) > 1:
            problem = f"id {value!r}: a summary of the other rows, not a problem"
            raise InputError(place, f"{problem}; remove the row, or rename the problem")


def are_distinct(placed: TableRows, columns: Sequence[str]) -> bool:
    """Tell whether no two rows have the same values in some columns."""
    values = {tuple(str(row.get(column)) for column in columns) for _, row in placed}
    return len(values) == len(placed)
