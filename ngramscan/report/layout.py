"""How rows and columns are printed, whatever they are of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from ngramscan.progress import visible_line

UNKNOWN = "–"
_COLUMN_GAP = 3
_WRAPPED_WIDTH = 16


@dataclass(frozen=True, slots=True)
class Layout:
    """How some columns are printed."""

    texts: int
    """The first so many columns are texts, to the left; the others numbers."""
    wrapping: frozenset[str] = frozenset()
    """Columns that may be broken into lines."""
    optional: tuple[str, ...] = ()
    """Columns that are left out of a narrow terminal, the first to go first."""
    title: str | None = None
    section_ends: Sequence[bool] = ()
    """After which rows a section ends."""


def print_rows(console: Console, rows: Sequence[Any], row_type: type) -> None:
    """Print rows, numbers to the right of texts; columns without any value are left out."""
    names = [
        field.name
        for field in fields(row_type)
        if not rows or any(getattr(row, field.name) not in (None, "") for row in rows)
    ]
    texts = [n for n in names if any(isinstance(getattr(row, n), str) for row in rows)]
    numbers = [name for name in names if name not in texts]
    columns = {name: [cell(getattr(row, name)) for row in rows] for name in texts + numbers}
    # What is the same in all rows is missed least, what tells rows apart most.
    same = [name for name in texts if len(rows) > 1 and len(set(columns[name])) == 1]
    telling = [name for name in texts[2:] if name not in same]
    optional = (*same, *reversed(numbers[3:]), *reversed(telling))
    print_columns(console, columns, Layout(len(texts), frozenset(texts[1:]), optional))


def print_columns(console: Console, columns: Mapping[str, Sequence[str]], layout: Layout) -> None:
    """Print columns, as many as fit."""
    shown = {name: [visible_line(text) for text in cells] for name, cells in columns.items()}
    widths = {name: _least_width(name, cells, layout) for name, cells in shown.items()}
    left_out = []
    for name in layout.optional:
        if name in shown and sum(widths.values()) + _COLUMN_GAP * len(widths) > console.width:
            del shown[name], widths[name]
            left_out.append(name)
    table = Table(
        box=box.SIMPLE_HEAD, title=layout.title, title_justify="left", title_style="italic"
    )
    texts = list(columns)[: layout.texts]
    for name, width in widths.items():
        table.add_column(
            name,
            justify="left" if name in texts else "right",
            no_wrap=name not in layout.wrapping,
            overflow="fold",
            min_width=width,
        )
    ends = layout.section_ends
    for number, cells in enumerate(zip(*shown.values(), strict=True)):
        table.add_row(*cells, end_section=number < len(ends) and ends[number])
    console.print(table)
    if left_out:
        console.print(f"not shown, for want of room: {', '.join(left_out)}\n", style="dim")


def _least_width(name: str, cells: Sequence[str], layout: Layout) -> int:
    widest = max(cell_len(text) for text in (*name.splitlines(), *cells))
    return min(widest, _WRAPPED_WIDTH) if name in layout.wrapping else widest


def cell(value: object) -> str:
    """Return a value as it stands in a table."""
    if value is None:
        return UNKNOWN
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return rate(value) if isinstance(value, float) else str(value)


def rate(value: float) -> str:
    """Return a number with three digits, or more where it is a large one."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    show: Callable[[float], str] = rate,
) -> str:
    """Return a value with its interval as they stand in a table."""
    if value is None:
        return UNKNOWN
    if low is None or high is None:
        return f"{show(value)} (no interval)"
    return f"{show(value)} [{show(low)}, {show(high)}]"
