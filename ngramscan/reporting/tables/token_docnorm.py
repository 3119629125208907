"""The tables of `docnorm` for token-level indexes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow
from ngramscan.prevalence.token_docnorm import TokenDocnormRow
from ngramscan.reporting.tables import parts
from ngramscan.reporting.tables.docnorm import (
    FOOTNOTES,
    GENERAL,
    WHY_DRAWN,
    print_document_rows,
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
    for index, rows in parts.print_indexes(console, norming.sizes, norming.rows):
        print_document_rows(console, rows, "token_")
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
