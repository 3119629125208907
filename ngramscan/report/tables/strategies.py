"""The tables of `strategies`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.outputs.strategies import StrategyRow
from ngramscan.report.layout import cell
from ngramscan.report.tables import parts

_FOOTNOTES = (
    "shares in %, with 95 % Wilson intervals; those of all models count outputs to the same problem"
    " as less where they are alike",
    "formulas: characters within formulas of all characters in %, the mean of the outputs",
)


def print_strategies(rows: Sequence[StrategyRow], console: Console) -> None:
    """Print the strategies of each prompt, for each dataset and model, and for all models."""
    for _, own in parts.scopes(console, rows):
        prompts = {row.prompt: row for row in own}.values()
        cells = {
            (row.prompt, row.strategy): parts.interval(row, "share", parts.percent) for row in own
        }
        for row in prompts:
            cells[row.prompt, "formulas"] = parts.percent(row.formula_density_of_group)
        outputs = [cell(row.outputs) for row in prompts]
        parts.print_matrix(console, "Outputs of each strategy", cells, {"outputs": outputs})
    parts.print_notes(console, *_FOOTNOTES)
