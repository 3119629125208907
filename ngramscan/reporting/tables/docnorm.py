"""The tables of `docnorm`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

from rich.console import Console

from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow
from ngramscan.prevalence.docnorm_totals import DocnormTotal
from ngramscan.prevalence.token_docnorm import TokenDocnormRow
from ngramscan.reporting.layout import Layout, cell, percent, print_columns
from ngramscan.reporting.tables import parts

_TOTALS = {
    "occurrences (union)": "union_of_occurrences",
    "documents (union)": "documents",
    "per document": "occurrences_per_document",
}
FOOTNOTES = {
    "combined": "documents: occurrences times the mean of 1 / (occurrences in the document of a"
    " draw); where only a part of a document was seen, times the share of draws that are the first"
    " occurrence",
    "size-bias": "documents: occurrences times the mean of 1 / (occurrences in the document of a"
    " draw)",
    "first": "documents: occurrences times the share of draws that are the first in their document",
    "unique": "documents: T U/K of the paper, an upper bound; K/U can't tell 1 occurrence per"
    " document from 15. The limits are those that the draws from one document imply",
    "exact": "documents without an interval are exact: all documents were read, or all occurrences"
    " were looked at",
    "files": "documents: estimated from the files that were read",
}
WHY_DRAWN = (
    "documents are counted in local indexes, up to --exact-up-to occurrences of a pattern;"
    " elsewhere they are estimated"
)
_UNIONS = "unions: documents with at least one pattern of the method"
GENERAL = ("fewer than", "only", "ASCII", "at most")
"""How the parts of a note begin that hold for more than its row."""


def print_docnorm(norming: DocnormResult[Any], console: Console) -> None:
    """Print the documents of each index, and the totals and ratios of its methods."""
    of_tokens = [row for row in norming.rows if isinstance(row, TokenDocnormRow)]
    of_bytes = [row for row in norming.rows if isinstance(row, DocnormRow)]
    used = _print_unit(console, norming, of_bytes, "")
    if of_bytes and of_tokens:
        console.print()
    _print_unit(console, norming, of_tokens, "token_", said=used)
    if of_bytes and of_tokens:
        parts.print_notes(console, parts.BYTES_AND_TOKENS)


def _print_unit(
    console: Console,
    norming: DocnormResult[Any],
    rows: Sequence[Any],
    prefix: str,
    said: Collection[str] = (),
) -> set[str]:
    """Print what was counted in one unit; return the estimators, of which some are `said`."""
    for index, of_index in parts.print_indexes(console, norming.sizes, rows):
        _print_rows(console, of_index, prefix)
        totals = [total for total in norming.totals if total.index == index]
        shown = {"documents (union)": f"{prefix}documents"} if prefix else _TOTALS
        optional = ("occurrences (union)", "per document")
        parts.print_totals(console, "Totals", totals, shown, optional=optional, show=_show_total)
        ratios = {"documents": f"{prefix}ratio_of_documents"}
        parts.print_totals(console, "Ratios", totals, ratios, show=_show_total)
    used = {row.estimator for row in rows}
    parts.print_notes(console, *(FOOTNOTES[name] for name in FOOTNOTES if name in used - {*said}))
    if used - {"exact", "files"}:
        seed = next(row.seed for row in rows if row.seed is not None)
        drawn = f"intervals: 95%; drawn at random with seed {seed}; {_UNIONS}"
        if prefix:
            drawn = f"intervals: 95%; drawn with seed {seed}"
        parts.print_notes(console, drawn, WHY_DRAWN)
    notes = dict.fromkeys(part for row in rows for part in row.note.split("; "))
    general = (*GENERAL, "token", "counted as") if prefix else GENERAL
    parts.print_notes(console, *(note for note in notes if note.startswith(general)))
    return used


def _print_rows(console: Console, rows: Sequence[Any], unit: str = "") -> None:
    """Print the documents of patterns; `unit` is `token_` where n-grams of tokens were counted."""
    documents, rates = zip(*(_show_documents(row, unit) for row in rows), strict=True)
    occurrences = f"{unit}occurrences"
    columns = {
        **parts.pattern_columns(rows, "pattern"),
        occurrences: [cell(getattr(row, occurrences)) for row in rows],
        "documents": [*documents],
        "per document": [*rates],
    }
    if any(row.draws for row in rows):
        columns["draws"] = [cell(row.draws) for row in rows]
        columns["different"] = [cell(row.unique_documents) for row in rows]
        columns["truncated %"] = [percent(row.truncated_share) for row in rows]
    optional = ("different", "truncated %", "draws", occurrences, "tier", "per document")
    ends = parts.section_ends(rows, "method", "tier")
    layout = Layout(3, frozenset({"pattern"}), optional, section_ends=ends)
    print_columns(console, columns, layout)


def _show_documents(row: object, unit: str) -> tuple[str, str]:
    """Return the documents of a row and the occurrences per document, with limits."""
    names = [f"{unit}documents", f"{unit}occurrences_per_document"]
    if getattr(row, names[0]) is not None:
        shown = [parts.interval(row, name) for name in names]
        documents, rate = ("≈" * text.endswith("(no interval)") + text for text in shown)
        return documents, rate
    occurrences = getattr(row, f"{unit}occurrences")
    lower, upper = attrgetter(f"{names[0]}_lower_estimate", f"{names[0]}_upper_estimate")(row)
    rates = occurrences / upper, occurrences / lower if lower else None
    limits = [attrgetter(f"{name}_low", f"{name}_high")(row) for name in names]
    return parts.two_estimates(lower, upper, *limits[0]), parts.two_estimates(*rates, *limits[1])


def _show_total(total: DocnormTotal | None) -> str:
    """Return a total with its limits; of two estimates, both."""
    if total is None or total.value is not None or total.lower_estimate is None:
        return parts.show_total(total)
    bounds = total.lower_estimate, total.upper_estimate
    return parts.two_estimates(*bounds, total.low, total.high)
