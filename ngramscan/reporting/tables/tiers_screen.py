"""The first screen of `tiers`."""

from __future__ import annotations

from rich.console import Console

from ngramscan.outputs.tiers import TierResult
from ngramscan.reporting.rows import record_of
from ngramscan.reporting.sentences.phrases import ALPHA
from ngramscan.reporting.sentences.specificity import say_tiers
from ngramscan.reporting.summaries.screen import LINES_OF_SEVERAL, Screen, print_screen
from ngramscan.reporting.summaries.specificity import summarize_tiers
from ngramscan.reporting.summaries.table import SummaryTable
from ngramscan.reporting.tables.tiers import print_tiers

_FEW = 12
"""Most rows that are shown with all their columns."""
_SIGNS = (
    "by ratio: T1 from 10, T2 from 0.7 to 1.7, T3 below 1; -: no tier; ?: the interval reaches into"
    " other tiers; ≈: no occurrence on one side"
)


def has_tiers_screen(tiering: TierResult) -> bool:
    """Tell whether tiers have a screen of their own; few patterns are one."""
    return sum(row.ratio is not None for row in tiering.rows) > _FEW


def print_tiers_screen(tiering: TierResult, console: Console) -> None:
    """Print how many patterns are in their tiers, and which are not."""
    if not has_tiers_screen(tiering):
        print_tiers(tiering, console)
        return
    rows = [record_of(row) for row in tiering.rows]

    def tables(most: int) -> list[SummaryTable]:
        return summarize_tiers(rows, most)

    more = "--all: each pattern in each dataset and model, rates; -o FILE: all rows"
    sentences = [*say_tiers(rows, ALPHA)]
    print_screen(Screen(tables, sentences, more, LINES_OF_SEVERAL, [_SIGNS]), console)
