"""The tables of `tiers`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ngramscan.outputs.tiers import TierResult, TierRow
from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns

_FOOTNOTES = (
    "by ratio: T1 from 10, T2 from 0.7 to 1.7, T3 below 1, so that 0.7 to 1 is both; - in between:"
    " the paper has no tier from 1.7 to 10",
    "?: the interval has ratios of other tiers too; 95 %, outputs to one problem not taken as"
    " independent",
)
_HALF = "≈: zero in outputs of one kind; the ratio is that with a half added to both"


def print_tiering(tiering: TierResult, console: Console) -> None:
    """Print the patterns in the outputs of each dataset and model, and of all."""
    for dataset, model in dict.fromkeys((row.dataset, row.model) for row in tiering.rows):
        console.print(Text(f"{dataset} · {model or 'model not named'}", style="bold"))
        rows = [row for row in tiering.rows if (row.dataset, row.model) == (dataset, model)]
        _print_rows(console, [row for row in rows if row.ratio is not None])
        _print_without(console, [row for row in rows if row.ratio is None])
        console.print()
    measures = {row.measure for row in tiering.rows}
    rates = [f"own, others: {measure} per output" for measure in sorted(measures)]
    halves = [_HALF] if any(row.ratio is not None and row.note for row in tiering.rows) else []
    for line in [*rates, *halves, *_FOOTNOTES]:
        console.print(Text(line, style="dim"))


def _print_rows(console: Console, rows: Sequence[TierRow]) -> None:
    if not rows:
        return
    columns = {
        "method": [row.method for row in rows],
        "pattern": [row.pattern for row in rows],
        "tier": [row.tier for row in rows],
        "by ratio": [
            f"{row.tier_by_ratio}{'?' if row.interval_spans_tiers else ''}" for row in rows
        ],
        "agrees": ["yes" if row.agrees else "no" for row in rows],
        "own": [cell(row.rate_own) for row in rows],
        "others": [cell(row.rate_others) for row in rows],
        "ratio": [_ratio(row) for row in rows],
    }
    wrapping = frozenset({"method", "pattern", "ratio"})
    optional = ("own", "others", "agrees", "method")
    print_columns(console, columns, Layout(5, wrapping, optional))


def _ratio(row: TierRow) -> str:
    if row.ratio is None:
        return UNKNOWN
    about = "≈" if row.note else ""
    return f"{about}{cell(row.ratio)} [{cell(row.ratio_low)}, {cell(row.ratio_high)}]"


def _print_without(console: Console, rows: Sequence[TierRow]) -> None:
    """Say which patterns have no ratio, by the reason."""
    reasons: dict[str, list[TierRow]] = {}
    for row in rows:
        reasons.setdefault(f"{row.method}: {row.note}", []).append(row)
    for reason, without in reasons.items():
        names = ", ".join(repr(row.pattern) for row in without)
        console.print(Text(f"{reason}: no ratio for {names}", style="dim"))
