"""The tables of `docnorm` for token-level indexes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow
from ngramscan.prevalence.token_docnorm import TokenDocnormRow
from ngramscan.reporting.layout import Layout, cell, percent, print_columns
from ngramscan.reporting.tables import parts
from ngramscan.reporting.tables.docnorm import (
    FOOTNOTES,
    GENERAL,
    WHY_DRAWN,
    show_documents,
    show_total,
)
from ngramscan.reporting.tables.token_count import BYTES_AND_TOKENS

_GENERAL = (*GENERAL, "token", "counted as")


def print_token_docnorm(
    console: Console, norming: DocnormResult[TokenDocnormRow], beside: Sequence[DocnormRow]
) -> None:
    """Print the documents of each token-level index, and the totals and ratios of its methods.

    `beside` are the rows of the table above.
    """
    for index, size in norming.sizes.items():
        rows = [row for row in norming.rows if row.index == index]
        if not rows:
            continue
        parts.print_index(console, index, size)
        _print_rows(console, rows)
        totals = [total for total in norming.totals if total.index == index]
        unions, ratios = {"documents (union)": "token_documents"}, "token_ratio_of_documents"
        parts.print_totals(console, "Totals", totals, unions, show=show_total)
        parts.print_totals(console, "Ratios", totals, {"documents": ratios}, show=show_total)
    used = {row.estimator for row in norming.rows}
    new = used - {row.estimator for row in beside}
    parts.print_notes(console, *(text for name, text in FOOTNOTES.items() if name in new))
    if used - {"exact"}:
        seed = next(row.seed for row in norming.rows if row.seed is not None)
        parts.print_notes(console, f"intervals: 95%; drawn with seed {seed}", WHY_DRAWN)
    notes = dict.fromkeys(part for row in norming.rows for part in row.note.split("; "))
    parts.print_notes(console, *(note for note in notes if note.startswith(_GENERAL)))
    parts.print_notes(console, *[BYTES_AND_TOKENS] * bool(norming.rows and beside))


def _print_rows(console: Console, rows: Sequence[TokenDocnormRow]) -> None:
    documents, rates = zip(*(show_documents(row, "token_") for row in rows), strict=True)
    columns = {
        "method": [cell(row.method) for row in rows],
        "tier": [cell(row.tier) for row in rows],
        "pattern": [row.pattern for row in rows],
        "token occurrences": [cell(row.token_occurrences) for row in rows],
        "documents": [*documents],
        "per document": [*rates],
    }
    if any(row.draws for row in rows):
        columns["draws"] = [cell(row.draws) for row in rows]
        columns["different"] = [cell(row.unique_documents) for row in rows]
        columns["truncated %"] = [percent(row.truncated_share) for row in rows]
    optional = ("different", "truncated %", "draws", "token occurrences", "tier", "per document")
    ends = parts.section_ends(rows, "method", "tier")
    layout = Layout(3, frozenset({"pattern"}), optional, section_ends=ends)
    print_columns(console, columns, layout)
