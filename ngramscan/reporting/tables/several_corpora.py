"""The first screens of `contaminate` and `trace` where there are several corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from ngramscan.prevalence.contamination.contaminate import ContaminateResult
from ngramscan.prevalence.contamination.shares import ShareRow
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reporting.rows import record_of
from ngramscan.reporting.sentences.contamination import say_effects, say_entries
from ngramscan.reporting.sentences.phrases import ALPHA
from ngramscan.reporting.sentences.traces import say_trace_differences
from ngramscan.reporting.summaries.contamination import summarize_entries, summarize_shares
from ngramscan.reporting.summaries.screen import LINES_OF_SEVERAL, Screen, print_screen
from ngramscan.reporting.summaries.table import SummaryTable
from ngramscan.reporting.summaries.traces import summarize_curve
from ngramscan.reporting.tables.contaminate import notes_on_classes

if TYPE_CHECKING:
    from ngramscan.prevalence.contamination.effects import EffectRow  # loads scipy
    from ngramscan.prevalence.trace_methods import CurveRow, DifferenceRow


def print_contaminate_screen(
    result: ContaminateResult,
    shares: Sequence[ShareRow],
    effects: Sequence[EffectRow],
    console: Console,
) -> None:
    """Print which share of the questions is in which corpora, and what scores say."""
    entries = [record_of(row) for row in result.rows]
    classes = [record_of(row) for row in shares]
    rule = {"rule": result.rows[0].rule} if result.rows else {}
    compared = [record_of(row) | rule for row in effects if row.index == UNION]

    def tables(most: int) -> list[SummaryTable]:
        return [*summarize_shares(classes, 1), *summarize_entries(entries, min(most, 5))]

    sentences = say_effects(compared, ALPHA) if compared else say_entries(entries, ALPHA)
    more = "--all: questions and accuracies in each corpus, and the rule; -o FILE: all rows"
    notes = [*notes_on_classes(result.rows, shares)]
    print_screen(Screen(tables, [*sentences], more, LINES_OF_SEVERAL, notes), console)


def print_trace_screen(
    curves: Sequence[CurveRow],
    differences: Sequence[DifferenceRow],
    min_words: int,
    console: Console,
) -> None:
    """Print how much of the outputs of each prompt is in each corpus, and how prompts differ."""
    rows = [record_of(row) for row in curves]
    changes = [record_of(row) for row in differences if row.index == UNION]

    def tables(most: int) -> list[SummaryTable]:
        return summarize_curve(rows, most, min_words)

    sentences = [*say_trace_differences(changes, ALPHA)]
    notes = ["words that an output shares with its question or prompt don't count"]
    more = "--all: intervals, new n-grams and differences in each corpus; -o FILE: all rows"
    print_screen(Screen(tables, sentences, more, LINES_OF_SEVERAL, notes), console)
