"""The first screen of `docnorm`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.messages import counted
from ngramscan.prevalence.docnorm import DocnormResult
from ngramscan.reporting.rows import record_of
from ngramscan.reporting.sentences.documents import say_documents
from ngramscan.reporting.sentences.phrases import ALPHA, Row
from ngramscan.reporting.sentences.totals import say_totals
from ngramscan.reporting.summaries.documents import (
    summarize_document_totals,
    summarize_documents,
)
from ngramscan.reporting.summaries.screen import (
    LINES_OF_ONE,
    LINES_OF_SEVERAL,
    Screen,
    print_screen,
)
from ngramscan.reporting.summaries.table import SummaryTable
from ngramscan.reporting.tables import parts
from ngramscan.reporting.tables.docnorm import print_docnorm

_FEW = 12
"""Most phrases without a method in one corpus that are shown with all their columns."""
_COUNTED = frozenset({"exact", "files"})


def has_docnorm_screen(norming: DocnormResult) -> bool:
    """Tell whether documents have a screen of their own; few phrases in one corpus are one."""
    is_plain = not any(row.method for row in norming.rows)
    return not (is_plain and len(norming.sizes) == 1 and len(norming.rows) <= _FEW)


def print_docnorm_screen(norming: DocnormResult, console: Console) -> None:
    """Print which methods and phrases are in how many documents, corpora side by side."""
    if not has_docnorm_screen(norming):
        print_docnorm(norming, console)
        return
    print_screen(_screen(norming), console)


def _screen(norming: DocnormResult) -> Screen:
    rows = [record_of(row) for row in norming.rows]
    sums = [record_of(total) for total in norming.totals]
    indexes = [name for name in norming.sizes if any(row["index"] == name for row in rows)]
    is_one = len(indexes) == 1

    def tables(most: int) -> list[SummaryTable]:
        return [*summarize_document_totals(sums), *summarize_documents(rows, most)]

    notes = [_how(rows), *parts.describe_notes(norming.rows, norming.notes)]
    if sums and not summarize_document_totals(sums):
        reasons = dict.fromkeys(row["note"] for row in sums if row["statistic"] == "documents")
        notes.append(f"no documents of whole methods: {'; '.join(filter(None, reasons))}")
    failed = [failure.query for failure in norming.missing]
    notes += parts.describe_lost_phrases(norming.missing, failed, norming.rows)
    notes += parts.describe_lost_indexes(norming.rows, norming.sizes)

    compared = say_totals(sums, ALPHA) if sums else ()
    phrases = counted(len({row["pattern"] for row in rows}), "phrase")
    where = "" if is_one else " in each corpus"
    return Screen(
        tables,
        [*compared, *say_documents(rows, ALPHA)],
        f"--all: {phrases}{where}, totals, ratios; -o FILE writes all rows",
        LINES_OF_ONE if is_one else LINES_OF_SEVERAL,
        notes,
        parts.describe_few(norming.sizes, indexes),
    )


def _how(rows: Sequence[Row]) -> str:
    """Return how documents were counted or estimated, in one line."""
    used = dict.fromkeys(row["estimator"] for row in rows)
    sampling_estimators = [name for name in used if name not in _COUNTED]
    if not sampling_estimators and "files" in used:
        return "documents are estimated from the files that were read"
    if not sampling_estimators:
        return "documents are exact: all were read, or those of all occurrences"
    draws = max(row["draws"] or 0 for row in rows)
    seeds = {row["seed"] for row in rows if row["seed"] is not None}
    seed = f", seed {min(seeds)}" if len(seeds) == 1 else ""
    names = ", ".join(sampling_estimators)
    how = f"estimated ({names}) from at most {counted(draws, 'draw')} per phrase{seed}"
    if "unique" in sampling_estimators:
        how += "; unique is an upper bound, and can't tell 1 occurrence per document from 15"
    return f"documents: {how}; exact where all occurrences were looked at"
