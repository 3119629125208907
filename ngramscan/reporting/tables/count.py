"""The tables of `count`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountResult, CountRow
from ngramscan.prevalence.several_corpora import ALL
from ngramscan.prevalence.totals import SNAPSHOTS_NOTE, SUM_NOTE, Total
from ngramscan.reporting.layout import UNKNOWN, Layout, cell, print_columns, print_line, rate
from ngramscan.reporting.summaries.numbers import LEAST_BYTES
from ngramscan.reporting.tables import parts
from ngramscan.reporting.tables.token_count import print_token_count
from ngramscan.statistics.estimates import UNTRUSTED

_RATES = ("per GB", "per M documents")
_SUMS = {"sum": "sum_of_pattern_counts", "union": "union_of_occurrences"}
_TOTALS = {
    "largest pattern": "largest_pattern_share",
    **_SUMS,
    "per GB": "union_per_gigabyte",
    "per M documents": "union_per_million_documents",
}
_RATIOS = {
    "sum": "ratio_of_sums",
    "union": "ratio_of_unions",
    "no largest": "ratio_without_largest",
    "geometric means": "ratio_of_geometric_means",
}
_TOTALS_NOTES = (
    f"sum: {SUM_NOTE}",
    "union: nested patterns, overlaps and begin/end pairs counted once",
)
_RATIOS_NOTES = (
    "no largest: the sum without the largest pattern of the first method",
    "geometric means: their ratio for count + 0.5, with a 95% Welch interval over patterns, as"
    " if they were drawn at random",
)
_OF_A_QUERY = re.compile(f"; (?:documents: )?(?:no interval|{UNTRUSTED})")
"""How the part of a note begins that is about the interval of a single query."""


def print_count(console: Console, counting: CountResult[Any], totals: Sequence[Total]) -> None:
    """Print the counts of each index and the totals below, with notes on what they mean."""
    _print_bytes(console, counting, totals)
    print_token_count(console, counting, totals)


def _print_bytes(console: Console, counting: CountResult[Any], totals: Sequence[Total]) -> None:
    counts = [row for row in counting.rows if isinstance(row, CountRow)]
    of_bytes = [name for name in counting.sizes if counting.units.get(name) != "tokens"]
    # Texts without a method have no totals: one table compares the indexes.
    is_plain = not any(row.method for row in counts)
    for names in [of_bytes] if is_plain else [[name] for name in of_bytes]:
        rows = [row for row in counts if row.index in names]
        if not rows:
            continue
        for name in names:
            parts.print_index(console, name, counting.sizes[name])
        _print_counts(console, rows, counting.sizes)
        of_index = [total for total in totals if total.index in names]
        left_out = () if _is_large(counting.sizes[names[0]]) else _RATES
        shown = {name: statistic for name, statistic in _TOTALS.items() if name not in left_out}
        optional = (*reversed(_RATES), "largest pattern")
        parts.print_totals(console, "Totals", of_index, shown, optional=optional)
        parts.print_totals(console, "Ratios", of_index, _RATIOS, optional=("no largest", "union"))
    if snapshots := [total for total in totals if total.note == SNAPSHOTS_NOTE]:
        print_line(console, f"{snapshots[0].index}: {SNAPSHOTS_NOTE}", "bold")
        parts.print_totals(console, None, snapshots, _SUMS)
    statistics = {total.statistic for total in totals}
    parts.print_notes(console, *(_TOTALS_NOTES if statistics & {*_TOTALS.values()} else ()))
    parts.print_notes(console, *(_RATIOS_NOTES if statistics & {*_RATIOS.values()} else ()))
    _print_overlaps(console, [total for total in totals if total.index == ALL])


def _is_large(size: IndexSize) -> bool:
    return (size.bytes or 0) >= LEAST_BYTES


def _print_counts(
    console: Console, rows: Sequence[CountRow], sizes: Mapping[str, IndexSize]
) -> None:
    columns = {
        **parts.pattern_columns(rows, "query"),
        "occurrences": [_count(row, "occurrences") for row in rows],
        "documents": [_count(row, "documents") for row in rows],
    }
    if len({row.index for row in rows}) > 1:
        columns = {"index": [row.index for row in rows], **columns}
    columns["per GB"] = [
        rate(row.occurrences / (sizes[row.index].bytes or 0) * 1e9)
        if _is_large(sizes[row.index])
        else UNKNOWN
        for row in rows
    ]
    ends = parts.section_ends(rows, "method", "tier")
    texts = [*columns].index("occurrences")
    layout = Layout(texts, frozenset({"pattern"}), ("per GB",), section_ends=ends)
    print_columns(console, columns, layout)
    # What differs from query to query stands in the rows of the other formats.
    notes = dict.fromkeys(_OF_A_QUERY.split(row.note)[0] for row in rows)
    parts.print_notes(console, *filter(None, notes))
    if any(UNTRUSTED in row.note for row in rows):
        parts.print_notes(
            console, "doubtful: a single file makes up more than a tenth of the estimate"
        )


def _count(row: CountRow, name: str) -> str:
    value = getattr(row, name)
    if value is None or not row.estimated:
        return cell(value)
    shown = parts.interval(row, name, "{:,.0f}".format)
    return f"≈{shown}" + (" (doubtful)" if "[" in shown and UNTRUSTED in row.note else "")


def _print_overlaps(console: Console, overlaps: Sequence[Total]) -> None:
    if overlaps:
        between = sum(bool(total.versus) for total in overlaps)
        paired = sum(total.statistic == "paired_patterns" for total in overlaps)
        within = len(overlaps) - between - paired
        line = f"overlaps of patterns: between methods {between}, begin/end pairs {paired}, others"
        parts.print_notes(console, f"{line} within methods {within}; --totals FILE lists them")
