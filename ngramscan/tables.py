"""Rows → the tables that a person reads in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ngramscan.counts import Count, Counting
from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.catalog import find_hosted
from ngramscan.progress import format_bytes
from ngramscan.totals import SNAPSHOTS_NOTE, SUM_NOTE, Total

_UNKNOWN = "–"
_PIPE_WIDTH = 1000
_FOOTNOTES = (
    f"sum: {SUM_NOTE}",
    "union: nested patterns, overlaps and begin/end pairs counted once",
    "no largest: the sum without the largest pattern of the first method",
    "geometric means: of count + 0.5, with the 95 % Welch interval over patterns as if they were"
    " drawn at random",
)


def stdout_console() -> Console:
    """Return a console on stdout; piped, it is as wide as the widest row."""
    # Patterns are data: "[bold]" and ":key:" in them are no markup.
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    return console


def print_rows(console: Console, rows: Sequence[Any], row_type: type) -> None:
    """Print rows as they are, numbers to the right."""
    names = [field.name for field in fields(row_type)]
    table = _table(*names)
    for row in rows:
        record = asdict(row)
        table.add_row(*(_cell(record[name]) for name in names))
    for column, name in zip(table.columns, names, strict=True):
        if all(isinstance(getattr(row, name), int | float | None) for row in rows):
            column.justify = "right"
            column.no_wrap = True
    console.print(table)


def print_counting(console: Console, counting: Counting, totals: Sequence[Total]) -> None:
    """Print the counts of each index, its totals below, and what is to be known of them."""
    for index, size in counting.sizes.items():
        rows = [row for row in counting.rows if row.index == index]
        if not rows:
            continue
        console.print(Text(_headline(index, size), style="bold"))
        console.print(_counts_table(rows, size))
        own = [total for total in totals if total.index == index]
        console.print(_totals_table(own))
        if any(total.versus for total in own):
            console.print(_ratios_table(own))
        console.print()
    _print_snapshot_sums(console, totals)
    _print_footnotes(console, totals)


def _headline(index: str, size: IndexSize) -> str:
    parts = [index]
    if hosted := find_hosted(index):
        parts.append(f"{hosted.corpus}, {hosted.kind}")
    if size.bytes is not None:
        parts.append(f"{format_bytes(size.bytes)} of text")
    if size.documents is not None:
        parts.append(f"{size.documents:,} documents")
    return " · ".join(parts)


def _counts_table(rows: Sequence[Count], size: IndexSize) -> Table:
    knows_documents = any(row.documents is not None for row in rows)
    names = ["method", "tier", "pattern", "occurrences"]
    names += ["documents"] if knows_documents else []
    names += ["per GB"] if size.bytes else []
    table = _table(*names, right=("occurrences", "documents", "per GB"))
    previous = rows[0]
    for row in rows:
        if (row.method, row.tier) != (previous.method, previous.tier):
            table.add_section()
        previous = row
        cells = [row.method, row.tier, row.query, _cell(row.occurrences)]
        cells += [_cell(row.documents)] if knows_documents else []
        cells += [_rate(row.occurrences / size.bytes * 1e9)] if size.bytes else []
        table.add_row(*cells)
    return table


def _totals_table(totals: Iterable[Total]) -> Table:
    names = ["method", "tiers", "sum", "union", "largest pattern", "per GB", "per M documents"]
    table = _table(*names, right=("sum", "union", "per GB", "per M documents"), title="Totals")
    for (tiers, method, _), statistics in _grouped(t for t in totals if t.versus is None).items():
        largest = statistics.get("largest_pattern_share")
        table.add_row(
            method,
            tiers,
            _value(statistics, "sum_of_pattern_counts"),
            _value(statistics, "union_of_occurrences"),
            f"{largest.note} ({largest.value:.0%})" if largest and largest.value else _UNKNOWN,
            _value(statistics, "union_per_gigabyte"),
            _value(statistics, "union_per_million_documents"),
        )
    return table


def _ratios_table(totals: Iterable[Total]) -> Table:
    names = ["methods", "tiers", "sum", "union", "no largest", "geometric means"]
    table = _table(*names, right=tuple(names[2:]), title="Ratios")
    for (tiers, method, versus), statistics in _grouped(t for t in totals if t.versus).items():
        table.add_row(
            f"{method} : {versus}",
            tiers,
            _value(statistics, "ratio_of_sums"),
            _value(statistics, "ratio_of_unions"),
            _value(statistics, "ratio_without_largest"),
            _with_interval(statistics.get("ratio_of_geometric_means")),
        )
    return table


def _print_snapshot_sums(console: Console, totals: Sequence[Total]) -> None:
    sums = [total for total in totals if total.note == SNAPSHOTS_NOTE]
    if not sums:
        return
    table = _table("method", "tiers", "sum", "union", right=("sum", "union"))
    for (tiers, method, _), statistics in _grouped(sums).items():
        table.add_row(
            method,
            tiers,
            _value(statistics, "sum_of_pattern_counts"),
            _value(statistics, "union_of_occurrences"),
        )
    console.print(Text(f"{sums[0].index}: {SNAPSHOTS_NOTE}", style="bold"))
    console.print(table)
    console.print()


def _print_footnotes(console: Console, totals: Sequence[Total]) -> None:
    for note in _FOOTNOTES:
        console.print(Text(note, style="dim"))
    overlaps = [total for total in totals if total.statistic == "overlap"]
    between = [total for total in overlaps if total.versus]
    for total in between:
        console.print(Text(f"{total.method} and {total.versus}: {total.note}", style="dim"))
    if within := len(overlaps) - len(between):
        line = f"{within} overlaps within methods; --totals FILE lists them"
        console.print(Text(line, style="dim"))


def _grouped(totals: Iterable[Total]) -> dict[tuple[str, str, str | None], dict[str, Total]]:
    groups: dict[tuple[str, str, str | None], dict[str, Total]] = {}
    for total in totals:
        key = (total.tiers, total.method, total.versus)
        groups.setdefault(key, {})[total.statistic] = total
    return groups


def _value(statistics: Mapping[str, Total], name: str) -> str:
    total = statistics.get(name)
    if total is None or total.value is None:
        return _UNKNOWN
    return _cell(total.value) if isinstance(total.value, int) else _rate(total.value)


def _with_interval(total: Total | None) -> str:
    if total is None or total.value is None:
        return _UNKNOWN
    if total.low is None or total.high is None:
        return f"{_rate(total.value)} ({total.note})"
    return f"{_rate(total.value)} [{_rate(total.low)}, {_rate(total.high)}]"


def _table(*names: str, right: Sequence[str] = (), title: str | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="italic")
    for name in names:
        is_number = name in right
        table.add_column(
            name, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold"
        )
    return table


def _cell(value: object) -> str:
    if value is None:
        return _UNKNOWN
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return _rate(value) if isinstance(value, float) else str(value)


def _rate(value: float) -> str:
    """Return a number with three digits, or more where it is a large one."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
