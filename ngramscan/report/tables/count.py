"""The tables of `count`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from rich.console import Console
from rich.text import Text

from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountResult, CountRow
from ngramscan.prevalence.totals import SNAPSHOTS_NOTE, SUM_NOTE, Total
from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns, rate
from ngramscan.report.tables.words import headline, with_interval

_FOOTNOTES = (
    f"sum: {SUM_NOTE}",
    "union: nested patterns, overlaps and begin/end pairs counted once",
    "no largest: the sum without the largest pattern of the first method",
    "geometric means: of count + 0.5, with the 95 % Welch interval over patterns as if they were"
    " drawn at random",
)

_UNTRUSTED = "do not trust the interval"
_OF_A_QUERY = re.compile(f"; (?:documents: )?(?:no interval|{_UNTRUSTED})")
"""What is said of the intervals of a single query begins so in a note."""


def print_counting(console: Console, counting: CountResult, totals: Sequence[Total]) -> None:
    """Print the counts of each index, its totals below, and what is to be known of them."""
    for index, size in counting.sizes.items():
        rows = [row for row in counting.rows if row.index == index]
        if not rows:
            continue
        console.print(Text(headline(index, size), style="bold"))
        _print_counts(console, rows, size)
        own = [total for total in totals if total.index == index]
        _print_totals(console, [total for total in own if total.versus is None])
        _print_ratios(console, [total for total in own if total.versus])
        console.print()
    _print_snapshot_sums(console, [total for total in totals if total.note == SNAPSHOTS_NOTE])
    _print_footnotes(console, [total for total in totals if total.index == "all"])


def _print_counts(console: Console, rows: Sequence[CountRow], size: IndexSize) -> None:
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
        columns["per GB"] = [rate(row.occurrences / size.bytes * 1e9) for row in rows]
    groups = [(row.method, row.tier) for row in rows]
    ends = [one != following for one, following in pairwise(groups)]
    layout = Layout(3, frozenset({"pattern"}), ("per GB",), section_ends=ends)
    print_columns(console, columns, layout)
    # What differs from query to query stands in the rows of the other formats.
    told = [_OF_A_QUERY.split(row.note)[0] for row in rows]
    if any(_UNTRUSTED in row.note for row in rows):
        told.append("doubtful: one file makes up more than a tenth of the estimate")
    for note in dict.fromkeys(note for note in told if note):
        console.print(Text(note, style="dim"))


def _estimated(row: CountRow, value: int | None, low: float | None, high: float | None) -> str:
    if not row.estimated:
        return cell(value)
    if low is None or high is None:
        return f"≈{cell(value)} (no interval)"
    doubtful = " (doubtful)" if _UNTRUSTED in row.note else ""
    return f"≈{cell(value)} [{low:,.0f}, {high:,.0f}]{doubtful}"


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
    print_columns(console, columns, Layout(3, frozenset({"largest pattern"}), optional, "Totals"))


def _print_ratios(console: Console, totals: Sequence[Total]) -> None:
    groups = _grouped(totals)
    columns = {
        "methods": [f"{method} : {versus}" for _, method, versus in groups],
        "tiers": [tiers for tiers, _, _ in groups],
        "sum": _values(groups, "ratio_of_sums"),
        "union": _values(groups, "ratio_of_unions"),
        "no largest": _values(groups, "ratio_without_largest"),
        "geometric means": [
            with_interval(group.get("ratio_of_geometric_means")) for group in groups.values()
        ],
    }
    if groups:
        layout = Layout(2, optional=("no largest", "union"), title="Ratios")
        print_columns(console, columns, layout)


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
    print_columns(console, columns, Layout(2))
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
    return [cell(total.value if total else None) for total in found]


def _largest(group: Mapping[str, Total]) -> str:
    total = group.get("largest_pattern_share")
    return f"{total.note} ({total.value:.0%})" if total and total.value else UNKNOWN
