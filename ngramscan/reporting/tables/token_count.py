"""The tables of `count` for token-level indexes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from ngramscan.prevalence.count import CountResult
from ngramscan.prevalence.token_count import TokenCountRow
from ngramscan.prevalence.totals import SUM_NOTE, Total
from ngramscan.reporting.layout import Layout, cell, print_columns, rate
from ngramscan.reporting.tables import parts

_TOTALS = {
    "largest pattern": "token_largest_pattern_share",
    "sum": "token_sum_of_pattern_counts",
    "per M tokens": "token_sum_per_million_tokens",
}
_RATIOS = {
    "sum": "token_ratio_of_sums",
    "no largest": "token_ratio_without_largest",
    "geometric means": "token_ratio_of_geometric_means",
}
_RATES = ("per M tokens", "after a space")


def print_token_count(
    console: Console, counting: CountResult[Any], totals: Sequence[Total]
) -> None:
    """Print the counts of each token-level index and the totals below."""
    counts = [row for row in counting.rows if isinstance(row, TokenCountRow)]
    is_beside_bytes = len(counts) < len(counting.rows)
    if counts and is_beside_bytes:
        console.print()
    for index, rows in parts.print_indexes(console, counting.sizes, counts):
        _print_counts(console, rows)
        of_index = [total for total in totals if total.index == index]
        parts.print_totals(
            console, "Totals", of_index, _TOTALS, optional=("per M tokens", "largest pattern")
        )
        parts.print_totals(console, "Ratios", of_index, _RATIOS, optional=("no largest",))
    notes = dict.fromkeys(part for row in counts for part in row.note.split("; ") if part)
    parts.print_notes(console, *notes)
    shown = {total.statistic for total in totals}
    if _TOTALS["sum"] in shown:
        parts.print_notes(console, f"sum: {SUM_NOTE}")
    if counts and is_beside_bytes:
        parts.print_notes(console, parts.BYTES_AND_TOKENS)


def _print_counts(console: Console, rows: Sequence[TokenCountRow]) -> None:
    columns = {
        **parts.pattern_columns(rows, "query"),
        "token occurrences": [cell(row.token_occurrences) for row in rows],
        "after a space": [cell(row.token_occurrences_after_space) for row in rows],
        "per M tokens": [
            cell(None) if row.per_million_tokens is None else rate(row.per_million_tokens)
            for row in rows
        ],
    }
    ends = parts.section_ends(rows, "method", "tier")
    print_columns(console, columns, Layout(3, frozenset({"pattern"}), _RATES, section_ends=ends))
