"""The tables of `docnorm`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.console import Console
from rich.text import Text

from ngramscan.prevalence.docnorm import DocnormResult, DocnormRow
from ngramscan.prevalence.totals import Total
from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns, rate
from ngramscan.report.tables.words import headline

_FOOTNOTES = {
    "combined": "documents: one over the occurrences in the document of each draw, on average;"
    " where a document is not seen whole, the draws that are its first occurrence",
    "size-bias": "documents: one over the occurrences in the document of each draw, on average",
    "first": "documents: the share of draws that are the first occurrence of their document",
    "unique": "documents: T U/K of the paper, an upper bound; K/U can't tell 1 occurrence per"
    " document from 15. The limits are what the coinciding pairs imply",
    "exact": "documents without an interval are exact: all were read, or all occurrences looked at",
    "files": "documents: estimated from the files that were read",
}


def print_norming(norming: DocnormResult, console: Console) -> None:
    """Print the documents of each index, and the totals and ratios of its methods."""
    for index, size in norming.sizes.items():
        rows = [row for row in norming.rows if row.index == index]
        if not rows:
            continue
        console.print(Text(headline(index, size), style="bold"))
        _print_rows(console, rows)
        own = [total for total in norming.totals if total.index == index]
        _print_totals(console, own)
        _print_ratios(console, [total for total in own if total.versus])
        console.print()
    _print_footnotes(console, norming)


def _print_rows(console: Console, rows: Sequence[DocnormRow]) -> None:
    columns = {
        "method": [row.method for row in rows],
        "tier": [row.tier for row in rows],
        "pattern": [row.pattern for row in rows],
        "occurrences": [cell(row.occurrences) for row in rows],
        "documents": [
            _interval(row.documents, row.documents_low, row.documents_high) for row in rows
        ],
        "per document": [
            _interval(
                row.occurrences_per_document,
                row.occurrences_per_document_low,
                row.occurrences_per_document_high,
            )
            for row in rows
        ],
    }
    if any(row.samples for row in rows):
        columns["draws"] = [cell(row.samples) for row in rows]
        columns["different"] = [cell(row.unique_documents) for row in rows]
        columns["cut"] = [_share(row.truncated_share) for row in rows]
    groups = [(row.method, row.tier) for row in rows]
    ends = [one != following for one, following in pairwise(groups)]
    optional = ("different", "cut", "draws", "occurrences", "tier", "per document")
    layout = Layout(3, frozenset({"pattern"}), optional, section_ends=ends)
    print_columns(console, columns, layout)


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or value == low == high:
        return cell(value)
    if low is None and high is None:
        return f"≈{cell(value)} (no interval)"
    return f"{cell(value)} [{cell(low)}, {cell(high) if high is not None else '∞'}]"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0%}"


def _print_totals(console: Console, totals: Sequence[Total]) -> None:
    groups: dict[tuple[str, str], dict[str, Total]] = {}
    for total in totals:
        if total.versus is None:
            groups.setdefault((total.method, total.tiers), {})[total.statistic] = total
    columns = {
        "method": [method for method, _ in groups],
        "tiers": [tiers for _, tiers in groups],
        "occurrences (union)": [_total(g.get("union_of_occurrences")) for g in groups.values()],
        "documents (union)": [_total(g.get("documents")) for g in groups.values()],
        "per document": [_total(g.get("occurrences_per_document")) for g in groups.values()],
    }
    optional = ("occurrences (union)", "per document")
    print_columns(console, columns, Layout(2, optional=optional, title="Totals"))


def _print_ratios(console: Console, ratios: Sequence[Total]) -> None:
    if not ratios:
        return
    columns = {
        "methods": [f"{ratio.method} : {ratio.versus}" for ratio in ratios],
        "tiers": [ratio.tiers for ratio in ratios],
        "documents": [_total(ratio) for ratio in ratios],
    }
    print_columns(console, columns, Layout(2, title="Ratios"))


def _total(total: Total | None) -> str:
    if total is None or total.value is None:
        return UNKNOWN
    if total.level is None:
        return cell(total.value)
    if total.low == total.high == total.value:
        return cell(total.value)
    high = "∞" if total.high is None else rate(total.high)
    return f"{rate(total.value)} [{rate(total.low or 0.0)}, {high}]"


def _print_footnotes(console: Console, norming: DocnormResult) -> None:
    used = {row.estimator for row in norming.rows}
    lines = [text for name, text in _FOOTNOTES.items() if name in used]
    seeds = {row.seed for row in norming.rows if row.seed is not None}
    if used - {"exact", "files"}:
        lines.append(
            f"intervals: 95 %; drawn at random with seed {seeds.pop()};"
            " unions: documents with at least one pattern of the method"
        )
    lines += dict.fromkeys(note for row in norming.rows for note in _general(row.note))
    for line in lines:
        console.print(Text(line, style="dim"))


def _general(note: str) -> list[str]:
    """Return what a note says that is true of more than its row."""
    return [part for part in note.split("; ") if part.startswith(("fewer than", "only", "ASCII"))]
