"""The tables of `tiers`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.outputs.tiers import TierResult, TierRow
from ngramscan.report.layout import Layout, cell, print_columns
from ngramscan.report.tables import parts

_FOOTNOTES = (
    "by ratio: T1 from 10, T2 from 0.7 to 1.7, T3 below 1, so that 0.7 to 1 is both; - in between:"
    " the paper has no tier from 1.7 to 10",
    "?: the interval has ratios of other tiers too; 95 %, outputs to one problem not taken as"
    " independent",
)
_RATES = {
    "occurrences": "own, others: occurrences per output",
    "outputs": "own, others: outputs that have the pattern, in %",
}
_HALF = "≈: zero in outputs of one kind; the ratio is that with a half added to both"


def print_tiers(tiering: TierResult, console: Console) -> None:
    """Print the patterns of each method in the outputs of each dataset and model, and of all."""
    for _, rows in parts.scopes(console, tiering.rows):
        for method, patterns in parts.group_by(rows, "method").items():
            _print_rows(console, method, [row for row in patterns if row.ratio is not None])
            without = parts.group_by([row for row in patterns if row.ratio is None], "note")
            for reason, group in without.items():
                names = ", ".join(repr(row.pattern) for row in group)
                parts.print_notes(console, f"{method}: {reason}: no ratio for {names}")
        console.print()
    parts.print_notes(console, *(_RATES[name] for name in parts.group_by(tiering.rows, "measure")))
    if any(row.ratio is not None and row.note for row in tiering.rows):
        parts.print_notes(console, _HALF)
    parts.print_notes(console, *_FOOTNOTES)


def _print_rows(console: Console, method: str, rows: Sequence[TierRow]) -> None:
    if not rows:
        return
    show = parts.percent if rows[0].measure == "outputs" else cell
    columns = {
        "pattern": [row.pattern for row in rows],
        "tier": [row.tier for row in rows],
        "by ratio": [
            f"{row.tier_by_ratio}{'?' if row.interval_spans_tiers else ''}" for row in rows
        ],
        "agrees": ["yes" if row.agrees else "no" for row in rows],
        "own": [show(row.rate_own) for row in rows],
        "others": [show(row.rate_others) for row in rows],
        "ratio": ["≈" * bool(row.note) + parts.interval(row, "ratio") for row in rows],
    }
    optional = ("own", "others", "agrees")
    print_columns(console, columns, Layout(4, frozenset({"pattern", "ratio"}), optional, method))
