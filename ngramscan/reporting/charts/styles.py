"""Names → colours and marks: the same in a file and on a page.

A style depends on the order of the names of one column in all rows of one kind, not on which
figure shows them first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_ORDERS: dict[str, tuple[object, ...]] = {
    "has_method": (True, False),
    "verdict": ("clean", "suspicious", "dirty"),
    "tier": ("T1", "T2", "T3"),
}
"""Columns whose values have fixed styles, whichever of the values are present."""


def styles_of(rows: Iterable[Mapping[str, Any]], column: str) -> dict[Any, int]:
    """Return the number of the colour and the mark of each value of a column."""
    values = dict.fromkeys([*_ORDERS.get(column, ()), *(row.get(column) for row in rows)])
    return {value: place for place, value in enumerate(values)}
