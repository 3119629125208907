"""Rows → the tables that a person reads in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from rich import box
from rich.cells import cell_len
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
    """Print rows as they are, numbers to the right of texts."""
    names = [field.name for field in fields(row_type)]
    texts = [n for n in names if any(isinstance(getattr(row, n), str) for row in rows)]
    ordered = texts + [name for name in names if name not in texts]
    columns = {name: [_cell(getattr(row, name)) for row in rows] for name in ordered}
    _print_columns(
        console, columns, _Layout(len(texts), frozenset(texts[1:]), tuple(reversed(texts[2:])))
    )


def print_counting(console: Console, counting: Counting, totals: Sequence[Total]) -> None:
    """Print the counts of each index, its totals below, and what is to be known of them."""
    for index, size in counting.sizes.items():
        rows = [row for row in counting.rows if row.index == index]
        if not rows:
            continue
        console.print(Text(_headline(index, size), style="bold"))
        _print_counts(console, rows, size)
        own = [total for total in totals if total.index == index]
        _print_totals(console, [total for total in own if total.versus is None])
        _print_ratios(console, [total for total in own if total.versus])
        console.print()
    _print_snapshot_sums(console, [total for total in totals if total.note == SNAPSHOTS_NOTE])
    _print_footnotes(console, [total for total in totals if total.index == "all"])


def _headline(index: str, size: IndexSize) -> str:
    parts = [index]
    if hosted := find_hosted(index):
        parts.append(f"{hosted.corpus}, {hosted.kind}")
    if size.bytes is not None:
        parts.append(f"{format_bytes(size.bytes)} of text")
    if size.documents is not None:
        parts.append(f"{size.documents:,} documents")
    return " · ".join(parts)


def _print_counts(console: Console, rows: Sequence[Count], size: IndexSize) -> None:
    knows_documents = any(row.documents is not None for row in rows)
    columns = {
        "method": [row.method for row in rows],
        "tier": [row.tier for row in rows],
        "pattern": [row.query for row in rows],
        "occurrences": [
            _estimated(row, row.occurrences, row.occurrences_low, row.occurrences_high)
            for row in rows
        ],
    }
    if knows_documents:
        columns["documents"] = [
            _estimated(row, row.documents, row.documents_low, row.documents_high) for row in rows
        ]
    if size.bytes:
        columns["per GB"] = [_rate(row.occurrences / size.bytes * 1e9) for row in rows]
    groups = [(row.method, row.tier) for row in rows]
    ends = [one != following for one, following in pairwise(groups)]
    layout = _Layout(3, frozenset({"pattern"}), ("per GB",), section_ends=ends)
    _print_columns(console, columns, layout)
    # What differs from query to query stands in the rows of the other formats.
    for note in dict.fromkeys(row.note.split("; no interval")[0] for row in rows if row.note):
        console.print(Text(note, style="dim"))


def _estimated(row: Count, value: int | None, low: float | None, high: float | None) -> str:
    if not row.estimated:
        return _cell(value)
    if low is None or high is None:
        return f"≈{_cell(value)} (no interval)"
    return f"≈{_cell(value)} [{low:,.0f}, {high:,.0f}]"


def _print_totals(console: Console, totals: Sequence[Total]) -> None:
    groups = _grouped(totals)
    columns = {
        "method": [method for _, method, _ in groups],
        "tiers": [tiers for tiers, _, _ in groups],
        "largest pattern": [_largest(group) for group in groups.values()],
        "sum": _values(groups, "sum_of_pattern_counts"),
        "union": _values(groups, "union_of_occurrences"),
        "per GB": _values(groups, "union_per_gigabyte"),
        "per M documents": _values(groups, "union_per_million_documents"),
    }
    optional = ("per M documents", "per GB", "largest pattern")
    _print_columns(console, columns, _Layout(3, frozenset({"largest pattern"}), optional, "Totals"))


def _print_ratios(console: Console, totals: Sequence[Total]) -> None:
    groups = _grouped(totals)
    columns = {
        "methods": [f"{method} : {versus}" for _, method, versus in groups],
        "tiers": [tiers for tiers, _, _ in groups],
        "sum": _values(groups, "ratio_of_sums"),
        "union": _values(groups, "ratio_of_unions"),
        "no largest": _values(groups, "ratio_without_largest"),
        "geometric means": [
            _with_interval(group.get("ratio_of_geometric_means")) for group in groups.values()
        ],
    }
    if groups:
        layout = _Layout(2, optional=("no largest", "union"), title="Ratios")
        _print_columns(console, columns, layout)


def _print_snapshot_sums(console: Console, sums: Sequence[Total]) -> None:
    if not sums:
        return
    groups = _grouped(sums)
    columns = {
        "method": [method for _, method, _ in groups],
        "tiers": [tiers for tiers, _, _ in groups],
        "sum": _values(groups, "sum_of_pattern_counts"),
        "union": _values(groups, "union_of_occurrences"),
    }
    console.print(Text(f"{sums[0].index}: {SNAPSHOTS_NOTE}", style="bold"))
    _print_columns(console, columns, _Layout(2))
    console.print()


def _print_footnotes(console: Console, overlaps: Sequence[Total]) -> None:
    for note in _FOOTNOTES:
        console.print(Text(note, style="dim"))
    between = [total for total in overlaps if total.versus]
    for total in between:
        console.print(Text(f"{total.method} and {total.versus}: {total.note}", style="dim"))
    paired = [total for total in overlaps if total.statistic == "paired_patterns"]
    for total in paired:
        console.print(Text(f"{total.method}: {total.note}", style="dim"))
    if within := len(overlaps) - len(between) - len(paired):
        line = f"other overlaps within methods: {within}; --totals FILE lists them"
        console.print(Text(line, style="dim"))


_Groups = dict[tuple[str, str, str | None], dict[str, Total]]


def _grouped(totals: Iterable[Total]) -> _Groups:
    """Return the statistics of each tiers, method and other method by their names."""
    groups: _Groups = {}
    for total in totals:
        key = (total.tiers, total.method, total.versus)
        groups.setdefault(key, {})[total.statistic] = total
    return groups


def _values(groups: _Groups, statistic: str) -> list[str]:
    found = [group.get(statistic) for group in groups.values()]
    return [_cell(total.value if total else None) for total in found]


def _largest(group: Mapping[str, Total]) -> str:
    total = group.get("largest_pattern_share")
    return f"{total.note} ({total.value:.0%})" if total and total.value else _UNKNOWN


def _with_interval(total: Total | None) -> str:
    if total is None or total.value is None:
        return _UNKNOWN
    if total.low is None or total.high is None:
        return f"{_rate(total.value)} (no interval)"
    return f"{_rate(total.value)} [{_rate(total.low)}, {_rate(total.high)}]"


@dataclass(frozen=True, slots=True)
class _Layout:
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


def _print_columns(console: Console, columns: Mapping[str, Sequence[str]], layout: _Layout) -> None:
    shown = dict(columns)
    for name in layout.optional:
        if _least_width(shown, layout) > console.width:
            del shown[name]
    texts = sum(name in shown for name in list(columns)[: layout.texts])
    table = Table(
        box=box.SIMPLE_HEAD, title=layout.title, title_justify="left", title_style="italic"
    )
    for number, name in enumerate(shown):
        table.add_column(
            name,
            justify="left" if number < texts else "right",
            no_wrap=name not in layout.wrapping,
            overflow="fold",
            min_width=_least_column_width(name, shown[name], layout),
        )
    ends = layout.section_ends
    for number, cells in enumerate(zip(*shown.values(), strict=True)):
        table.add_row(*cells, end_section=number < len(ends) and ends[number])
    console.print(table)


def _least_width(columns: Mapping[str, Sequence[str]], layout: _Layout) -> int:
    widths = [_least_column_width(name, cells, layout) for name, cells in columns.items()]
    return sum(widths) + _COLUMN_GAP * len(widths)


def _least_column_width(name: str, cells: Sequence[str], layout: _Layout) -> int:
    widest = max(cell_len(text) for text in (name, *cells))
    return min(widest, _WRAPPED_WIDTH) if name in layout.wrapping else widest


_COLUMN_GAP = 3
_WRAPPED_WIDTH = 16


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
