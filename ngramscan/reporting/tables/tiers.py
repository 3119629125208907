"""The table of `tiers`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.outputs.tiers import TierResult, TierRow
from ngramscan.reporting.columns import pooled_first
from ngramscan.reporting.layout import Layout, cell, percent, print_columns
from ngramscan.reporting.tables import parts

_FOOTNOTES = (
    "by ratio: T1 from 10, T2 from 0.7 to 1.7, T3 below 1, so both T2 and T3 from 0.7 to 1; -: from"
    " 1.7 to 10, for which the paper has no tier",
    "intervals: 95%, with the outputs for one problem as a cluster",
)
_RATES = {
    "occurrences": "own, others: occurrences per output of the pattern's method, and of others",
    "outputs": "own, others: percentage of outputs with the pattern, of its method and of others",
}
_SPANS = "?: the interval reaches into other tiers"
_HALF = "≈: no occurrence on one side; the ratio is the one with a half added to both sums"


def print_tiers(tiering: TierResult, console: Console) -> None:
    """Print the patterns of each method, in the outputs of all models together first."""
    rows = [row for row in pooled_first(tiering.rows) if row.ratio is not None]
    if rows:
        _print_rows(console, rows)
        parts.print_notes(console, _RATES[rows[0].measure], *_FOOTNOTES)
        parts.print_notes(
            console, *([_SPANS] if any(row.interval_spans_tiers for row in rows) else [])
        )
        parts.print_notes(console, *([_HALF] if any(row.note for row in rows) else []))
    printed_patterns = parts.group_by(rows, "method", "pattern")
    without = [row for row in tiering.rows if row.ratio is None]
    absent = [row for row in without if (row.method, row.pattern) not in printed_patterns]
    for (method, reason), group in parts.group_by(absent, "method", "note").items():
        names = ", ".join(f'"{pattern}"' for pattern in parts.group_by(group, "pattern"))
        parts.print_notes(console, f"{method}: {reason}: no ratio for {names}")
    if others := len(without) - len(absent):
        line = f"rows without a ratio that are left out: {others:,}; -o FILE has them"
        parts.print_notes(console, line)


def _print_rows(console: Console, rows: Sequence[TierRow]) -> None:
    show = percent if rows[0].measure == "outputs" else cell
    columns = {
        **parts.naming(rows, "method", "pattern"),
        "tier": [row.tier for row in rows],
        "by ratio": [
            f"{row.tier_by_ratio}{'?' if row.interval_spans_tiers else ''}" for row in rows
        ],
        "agrees": ["yes" if row.agrees else "no" for row in rows],
        "own": [show(row.rate_own) for row in rows],
        "others": [show(row.rate_others) for row in rows],
        "ratio": [("≈" if row.note else "") + parts.interval(row, "ratio") for row in rows],
    }
    wrapping = frozenset({"pattern", "tier", "by ratio", "agrees"})
    ends = parts.section_ends(rows, "method")
    layout = Layout(
        texts=4,
        wrapping=wrapping,
        optional=("own", "others", "agrees"),
        headings=2,
        section_ends=ends,
    )
    print_columns(console, columns, layout)
