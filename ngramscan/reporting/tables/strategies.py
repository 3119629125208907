"""The table of `strategies`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.outputs.markers import ALL
from ngramscan.outputs.strategies import StrategyRow
from ngramscan.reporting.columns import pooled_first
from ngramscan.reporting.layout import Layout, cell, percent, print_columns
from ngramscan.reporting.tables import parts

_FOOTNOTES = (
    "shares are percentages with 95% Wilson intervals; similar outputs for the same problem count"
    " for less",
    "formulas: percentage of characters in formulas, the mean over outputs",
)
_POOLED = "all: all models together"


def print_strategies(rows: Sequence[StrategyRow], console: Console) -> None:
    """Print the strategies of each prompt, those of all models together first."""
    named_rows, shares = parts.pivot(
        pooled_first(rows),
        "strategy",
        lambda row: parts.interval(row, "share", percent),
    )
    columns = parts.naming(named_rows, "prompt")
    columns["outputs"] = [cell(row.outputs) for row in named_rows]
    columns |= shares
    columns["formulas"] = [percent(row.formula_density_of_group) for row in named_rows]
    title = "Outputs of each strategy, %"
    layout = Layout(
        texts=3,
        wrapping=frozenset({"prompt"}),
        optional=("outputs",),
        headings=2,
        title=title,
    )
    print_columns(console, columns, layout)
    is_pooled = any(row.model == ALL for row in named_rows)
    parts.print_notes(console, *_FOOTNOTES, *([_POOLED] if is_pooled else []))
