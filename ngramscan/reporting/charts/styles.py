"""Names → colours and marks: the same in a file and on a page.

A style depends on the order of the names of one column in all rows of one kind, not on which
figure shows them first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ngramscan.prevalence.contamination.rules import COPY_CLASSES, PUBLISHED_CLASSES

_ORDERS: dict[str, tuple[tuple[object, ...], ...]] = {
    "has_method": ((True, False),),
    "verdict": (PUBLISHED_CLASSES, COPY_CLASSES),
    "tier": (("T1", "T2", "T3"),),
}
"""Columns whose values have fixed styles, whichever of the values are present: the orders that
their values may have."""


def styles_of(rows: Iterable[Mapping[str, Any]], column: str) -> dict[Any, int]:
    """Return the number of the colour and the mark of each value of a column."""
    present = dict.fromkeys(row.get(column) for row in rows)
    values = dict.fromkeys([*_fixed_order(_ORDERS.get(column, ()), present), *present])
    return {value: place for place, value in enumerate(values)}


def _fixed_order(orders: Sequence[tuple[object, ...]], present: Collection[object]) -> list[object]:
    """Return the values of the orders that are present: those with a value that no other has.

    If there is none, it is the first order.
    """
    times = Counter(value for order in orders for value in order)
    present_orders = [
        order for order in orders if any(times[value] == 1 and value in present for value in order)
    ]
    return [value for order in present_orders or orders[:1] for value in order]
