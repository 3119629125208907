"""The table of `strategies`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.console import Console
from rich.text import Text

from ngramscan.outputs.strategies import StrategyRow
from ngramscan.report.layout import Layout, cell, print_columns

_FOOTNOTES = (
    "shares in %, with 95 % Wilson intervals; those of all models count outputs to the same problem"
    " as less where they are alike",
    "formulas: characters within formulas of all characters in %, the mean of the outputs",
)


def print_strategies(rows: Sequence[StrategyRow], console: Console) -> None:
    """Print the strategies of each group, a line each."""
    groups: dict[tuple[str, str, str], list[StrategyRow]] = {}
    for row in rows:
        groups.setdefault((row.dataset, row.model, row.prompt), []).append(row)
    names = list(groups)
    columns = {
        "dataset": [dataset for dataset, _, _ in names],
        "model": [model for _, model, _ in names],
        "prompt": [prompt for _, _, prompt in names],
        "outputs": [cell(own[0].outputs) for own in groups.values()],
    }
    for number, row in enumerate(next(iter(groups.values()), [])):
        columns[row.strategy] = [_share(own[number]) for own in groups.values()]
    columns["formulas"] = [f"{own[0].formula_density_of_group:.1%}" for own in groups.values()]
    ends = [before[0] != after[0] for before, after in pairwise(names)]
    layout = Layout(3, frozenset({"dataset", "model", "prompt"}), section_ends=ends)
    print_columns(console, columns, layout)
    for footnote in _FOOTNOTES:
        console.print(Text(footnote, style="dim"))


def _share(row: StrategyRow) -> str:
    share = f"{100 * row.share:.1f}"
    if row.share_low is None or row.share_high is None:
        return share
    return f"{share} [{100 * row.share_low:.0f}, {100 * row.share_high:.0f}]"
