"""The first screen of `count`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.messages import counted
from ngramscan.prevalence.count import CountResult
from ngramscan.prevalence.totals import Total
from ngramscan.reporting.rows import record_of
from ngramscan.reporting.sentences.counts import say_counts
from ngramscan.reporting.sentences.phrases import ALPHA
from ngramscan.reporting.sentences.totals import say_totals
from ngramscan.reporting.summaries.counts import summarize_counts
from ngramscan.reporting.summaries.screen import (
    LINES_OF_ONE,
    LINES_OF_SEVERAL,
    Screen,
    print_screen,
)
from ngramscan.reporting.summaries.table import SummaryTable
from ngramscan.reporting.summaries.totals import summarize_totals
from ngramscan.reporting.tables import parts
from ngramscan.reporting.tables.count import print_count

_FEW = 12
"""Most phrases without a method in one corpus that are shown with all their columns."""


def has_count_screen(counting: CountResult) -> bool:
    """Tell whether counts have a screen of their own; few phrases in one corpus are one."""
    is_plain = not any(row.method for row in counting.rows)
    return not (is_plain and len(counting.sizes) == 1 and len(counting.rows) <= _FEW)


def print_count_screen(console: Console, counting: CountResult, totals: Sequence[Total]) -> None:
    """Print which methods and phrases occur how often, corpora side by side."""
    if not has_count_screen(counting):
        print_count(console, counting, totals)
        return
    print_screen(_screen(counting, totals), console)


def _screen(counting: CountResult, totals: Sequence[Total]) -> Screen:
    rows = [record_of(row) for row in counting.rows]
    sums = [record_of(total) for total in totals]
    indexes = [name for name in counting.sizes if any(row["index"] == name for row in rows)]
    phrases = [query.text for query in counting.queries]
    notes = parts.describe_notes(counting.rows, counting.notes)
    notes += parts.describe_lost_phrases(counting.missing, phrases, counting.rows)
    if not sums:  # their table names the corpora without counts
        notes += parts.describe_lost_indexes(counting.rows, counting.sizes)

    def tables(most: int) -> list[SummaryTable]:
        return [*summarize_totals(sums, most), *summarize_counts(rows, most)]

    compared = say_totals(sums, ALPHA) if sums else ()
    sentences = [*compared, *say_counts(rows, ALPHA)]
    return Screen(
        tables,
        sentences,
        _more(counting, totals, len(indexes)),
        LINES_OF_ONE if len(indexes) == 1 else LINES_OF_SEVERAL,
        notes,
        parts.describe_few(counting.sizes, indexes),
    )


def _more(counting: CountResult, totals: Sequence[Total], n_indexes: int) -> str:
    """Return a line about other results, and how to see them."""
    phrases = counted(len({row.pattern for row in counting.rows}), "phrase")
    where = " in each corpus" if n_indexes > 1 else ""
    sums = ", totals, ratios" if totals else ""
    return f"--all: {phrases}{where}{sums}; -o FILE writes all rows"
