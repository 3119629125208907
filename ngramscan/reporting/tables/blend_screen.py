"""The first screen of `blend`."""

from __future__ import annotations

from rich.console import Console

from ngramscan.outputs.blend import BlendResult
from ngramscan.reporting.rows import record_of
from ngramscan.reporting.sentences.markers import say_confusion, say_retention
from ngramscan.reporting.sentences.phrases import ALPHA
from ngramscan.reporting.summaries.markers import STAR, summarize_markers, summarize_retention
from ngramscan.reporting.summaries.screen import Screen, print_screen
from ngramscan.reporting.summaries.table import SummaryTable

_MOST_LINES = 30


def print_blend_screen(blending: BlendResult, console: Console) -> None:
    """Print which prompts' outputs have the markers of which methods, and which keep them."""
    rows = [record_of(row) for row in blending.rows]
    retention = [record_of(row) for row in blending.retention]

    def tables(most: int) -> list[SummaryTable]:
        return [*summarize_markers(rows, most), *summarize_retention(retention, most)]

    sentences = [*say_confusion(rows)]
    if not summarize_retention(retention, len(retention)):
        sentences += say_retention(retention, ALPHA)
    more = "--all: single models, occurrences, ratios, generic patterns; -o FILE: all rows"
    level = f"{100 * blending.rows[0].level:g}%" if blending.rows else ""
    notes = [f"brackets: {level} intervals; {STAR}"] if blending.rows else []
    print_screen(Screen(tables, sentences, more, _MOST_LINES, notes), console)
