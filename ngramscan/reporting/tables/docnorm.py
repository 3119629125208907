"""The tables of `docnorm`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.console import Console

from ngramscan.indexes.base import Unit
from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow
from ngramscan.prevalence.docnorm_totals import DocnormTotal
from ngramscan.reporting.layout import Layout, cell, percent, print_columns
from ngramscan.reporting.tables import parts

_TOTALS = {
    "occurrences (union)": "union_of_occurrences",
    "documents (union)": "documents",
    "per document": "occurrences_per_document",
}
_TOKEN_TOTALS = {"documents (union)": "documents"}
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


def print_docnorm(norming: DocnormResult, console: Console) -> None:
    """Print the documents of each index, and the totals and ratios of its methods."""
    units = parts.group_by(norming.rows, "unit")
    used = _print_unit(console, norming, units.get("bytes", []), "bytes")
    if len(units) > 1:
        console.print()
    _print_unit(console, norming, units.get("tokens", []), "tokens", said=used)
    if len(units) > 1:
        parts.print_notes(console, parts.BYTES_AND_TOKENS)


def _print_unit(
    console: Console,
    norming: DocnormResult,
    rows: Sequence[DocnormRow],
    unit: Unit,
    said: Collection[str] = (),
) -> set[str]:
    """Print what was counted in one unit; return the estimators, of which some are `said`."""
    for index, of_index in parts.print_indexes(console, norming.sizes, rows):
        _print_rows(console, of_index, unit)
        totals = [total for total in norming.totals if total.index == index]
        optional = ("occurrences (union)", "per document")
        statistics = _TOTALS if unit == "bytes" else _TOKEN_TOTALS
        parts.print_totals(
            console, "Totals", totals, statistics, optional=optional, show=_show_total
        )
        ratios = {"documents": "ratio_of_documents"}
        parts.print_totals(console, "Ratios", totals, ratios, show=_show_total)
    used = {row.estimator for row in rows}
    parts.print_notes(console, *(FOOTNOTES[name] for name in FOOTNOTES if name in used - {*said}))
    if used - {"exact", "files"}:
        seed = next(row.seed for row in rows if row.seed is not None)
        sampling_note = f"intervals: 95%; drawn at random with seed {seed}; {_UNIONS}"
        if unit == "tokens":
            sampling_note = f"intervals: 95%; drawn with seed {seed}"
        parts.print_notes(console, sampling_note, WHY_DRAWN)
    indexes = parts.group_by(rows, "index")
    notes = parts.describe_shared_notes({index: norming.notes.get(index, ()) for index in indexes})
    parts.print_notes(console, *notes)
    return used


def _print_rows(console: Console, rows: Sequence[DocnormRow], unit: Unit) -> None:
    """Print the documents of patterns, or of their n-grams of tokens."""
    occurrences = "occurrences" if unit == "bytes" else "token occurrences"
    columns = {
        **parts.pattern_columns(rows, "pattern"),
        occurrences: [cell(row.occurrences) for row in rows],
        "documents": [_show_documents(row) for row in rows],
        "per document": [_show_rate(row) for row in rows],
    }
    if any(row.draws for row in rows):
        columns["draws"] = [cell(row.draws) for row in rows]
        columns["different"] = [cell(row.unique_documents) for row in rows]
        columns["truncated %"] = [percent(row.truncated_share) for row in rows]
    optional = ("different", "truncated %", "draws", occurrences, "tier", "per document")
    ends = parts.section_ends(rows, "method", "tier")
    layout = Layout(3, frozenset({"pattern"}), optional, section_ends=ends)
    print_columns(console, columns, layout)


def _show_documents(row: DocnormRow) -> str:
    """Return the documents of a row, with limits; of two estimates, both."""
    limits = row.documents_low, row.documents_high
    if row.documents is not None:
        estimate = parts.interval(row, "documents")
        return estimate if row.documents_low is not None else f"≈{estimate}"
    ends = row.documents_lower_estimate, row.documents_upper_estimate
    return parts.two_estimates(*ends, *limits)


def _show_rate(row: DocnormRow) -> str:
    """Return the occurrences per document of a row, with limits; of two estimates, both."""
    limits = row.occurrences_per_document_low, row.occurrences_per_document_high
    if row.documents is not None:
        estimate = parts.interval(row, "occurrences_per_document")
        is_sampled = row.occurrences_per_document is not None and limits[0] is None
        return f"≈{estimate}" if is_sampled else estimate
    lower, upper = row.documents_lower_estimate, row.documents_upper_estimate
    greatest = row.occurrences / lower if lower else None
    return parts.two_estimates(row.occurrences / upper, greatest, *limits)


def _show_total(total: DocnormTotal | None) -> str:
    """Return a total with its limits; of two estimates, both."""
    if total is None or total.value is not None or total.lower_estimate is None:
        return parts.show_total(total)
    bounds = total.lower_estimate, total.upper_estimate
    return parts.two_estimates(*bounds, total.low, total.high)
