"""The tables of `count`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountResult, CountRow
from ngramscan.prevalence.several_corpora import ALL, is_one_corpus
from ngramscan.prevalence.totals import SNAPSHOTS_NOTE, SUM_NOTE, Total
from ngramscan.reporting.layout import UNKNOWN, Layout, cell, print_columns, print_line, rate
from ngramscan.reporting.summaries.numbers import LEAST_BYTES
from ngramscan.reporting.tables import parts

_RATES = ("per GB", "per M documents")
_SUMS = {"sum": "sum_of_pattern_counts", "union": "union_of_occurrences"}
_TOTALS = {
    "largest pattern": "largest_pattern_share",
    **_SUMS,
    "per GB": "union_per_gigabyte",
    "per M documents": "union_per_million_documents",
}
_RATIOS = {
    "sum": "ratio_of_sums",
    "union": "ratio_of_unions",
    "no largest": "ratio_without_largest",
    "geometric means": "ratio_of_geometric_means",
}
_SUM = f"sum: {SUM_NOTE}"
_TOTALS_NOTES = (
    _SUM,
    "union: nested patterns, overlaps and begin/end pairs counted once",
)
_RATIOS_NOTES = (
    "no largest: the sum without the largest pattern of the first method",
    "geometric means: their ratio for count + 0.5, with a 95% Welch interval over patterns, as"
    " if they were drawn at random",
)
_TOKEN_RATE = "per M tokens"
_TOKEN_TOTALS = {
    "largest pattern": "largest_pattern_share",
    "sum": "sum_of_pattern_counts",
    _TOKEN_RATE: "sum_per_million_tokens",
}
_TOKEN_RATIOS = {
    "sum": "ratio_of_sums",
    "no largest": "ratio_without_largest",
    "geometric means": "ratio_of_geometric_means",
}


def print_count(console: Console, counting: CountResult, totals: Sequence[Total]) -> None:
    """Print the counts of each index and the totals below, with notes on what they mean."""
    units = parts.group_by(counting.rows, "unit")
    of_bytes = [total for total in totals if total.unit == "bytes"]
    of_tokens = [total for total in totals if total.unit == "tokens"]
    _print_bytes(console, counting, units.get("bytes", []), of_bytes)
    if len(units) > 1:
        console.print()
    _print_tokens(console, counting, units.get("tokens", []), of_tokens)
    if len(units) > 1:
        parts.print_notes(console, parts.BYTES_AND_TOKENS)


def _notes(counting: CountResult, rows: Sequence[CountRow]) -> list[str]:
    """Return the notes on the indexes of some rows, a line each."""
    indexes = parts.group_by(rows, "index")
    return parts.describe_shared_notes({index: counting.notes.get(index, ()) for index in indexes})


def _print_bytes(
    console: Console, counting: CountResult, counts: Sequence[CountRow], totals: Sequence[Total]
) -> None:
    of_bytes = [name for name in counting.sizes if counting.units.get(name) != "tokens"]
    # Texts without a method have no totals: one table compares the indexes.
    is_plain = not any(row.method for row in counts)
    for names in [of_bytes] if is_plain else [[name] for name in of_bytes]:
        rows = [row for row in counts if row.index in names]
        if not rows:
            continue
        for name in names:
            parts.print_index(console, name, counting.sizes[name])
        _print_counts(console, rows, counting)
        of_index = [total for total in totals if total.index in names]
        left_out = () if _is_large(counting.sizes[names[0]]) else _RATES
        shown_totals = {
            name: statistic for name, statistic in _TOTALS.items() if name not in left_out
        }
        optional = (*reversed(_RATES), "largest pattern")
        parts.print_totals(console, "Totals", of_index, shown_totals, optional=optional)
        parts.print_totals(console, "Ratios", of_index, _RATIOS, optional=("no largest", "union"))
    of_several = [total for total in totals if not is_one_corpus(total.index)]
    if snapshots := [total for total in of_several if total.index != ALL]:
        print_line(console, f"{snapshots[0].index}: {SNAPSHOTS_NOTE}", "bold")
        parts.print_totals(console, None, snapshots, _SUMS)
    statistics = {total.statistic for total in totals}
    parts.print_notes(console, *(_TOTALS_NOTES if statistics & {*_TOTALS.values()} else ()))
    parts.print_notes(console, *(_RATIOS_NOTES if statistics & {*_RATIOS.values()} else ()))
    _print_overlaps(console, [total for total in totals if total.index == ALL])


def _is_large(size: IndexSize) -> bool:
    return (size.bytes or 0) >= LEAST_BYTES


def _print_counts(console: Console, rows: Sequence[CountRow], counting: CountResult) -> None:
    columns = {
        **parts.pattern_columns(rows, "query"),
        "occurrences": [_count(row, "occurrences") for row in rows],
        "documents": [_count(row, "documents") for row in rows],
    }
    if len({row.index for row in rows}) > 1:
        columns = {"index": [row.index for row in rows], **columns}
    columns["per GB"] = [
        rate(row.occurrences / (counting.sizes[row.index].bytes or 0) * 1e9)
        if _is_large(counting.sizes[row.index])
        else UNKNOWN
        for row in rows
    ]
    ends = parts.section_ends(rows, "method", "tier")
    texts = [*columns].index("occurrences")
    layout = Layout(texts, frozenset({"pattern"}), ("per GB",), section_ends=ends)
    print_columns(console, columns, layout)
    # Notes on single queries are in the rows of the other formats.
    parts.print_notes(console, *_notes(counting, rows))
    if not all(row.is_trusted for row in rows):
        parts.print_notes(console, parts.DOUBTFUL)


def _print_tokens(
    console: Console, counting: CountResult, counts: Sequence[CountRow], totals: Sequence[Total]
) -> None:
    """Print the counts of each token-level index and its totals."""
    for index, rows in parts.print_indexes(console, counting.sizes, counts):
        _print_token_counts(console, rows)
        of_index = [total for total in totals if total.index == index]
        optional = (_TOKEN_RATE, "largest pattern")
        parts.print_totals(console, "Totals", of_index, _TOKEN_TOTALS, optional=optional)
        parts.print_totals(console, "Ratios", of_index, _TOKEN_RATIOS, optional=("no largest",))
    parts.print_notes(console, *_notes(counting, counts))
    if any(total.statistic == _TOKEN_TOTALS["sum"] for total in totals):
        parts.print_notes(console, _SUM)


def _print_token_counts(console: Console, rows: Sequence[CountRow]) -> None:
    columns = {
        **parts.pattern_columns(rows, "query"),
        "token occurrences": [cell(row.occurrences) for row in rows],
        "after a space": [cell(row.occurrences_after_space) for row in rows],
        _TOKEN_RATE: [
            cell(None) if row.per_million_tokens is None else rate(row.per_million_tokens)
            for row in rows
        ],
    }
    ends = parts.section_ends(rows, "method", "tier")
    optional = (_TOKEN_RATE, "after a space")
    layout = Layout(3, frozenset({"pattern"}), optional, section_ends=ends)
    print_columns(console, columns, layout)


def _count(row: CountRow, name: str) -> str:
    value = getattr(row, name)
    if value is None or not row.estimated:
        return cell(value)
    estimate = parts.interval(row, name, "{:,.0f}".format)
    has_interval = getattr(row, f"{name}_low") is not None
    return f"≈{estimate} (doubtful)" if has_interval and not row.is_trusted else f"≈{estimate}"


def _print_overlaps(console: Console, overlaps: Sequence[Total]) -> None:
    if overlaps:
        between = sum(bool(total.versus) for total in overlaps)
        paired = sum(total.statistic == "paired_patterns" for total in overlaps)
        within = len(overlaps) - between - paired
        line = f"overlaps of patterns: between methods {between}, begin/end pairs {paired}, others"
        parts.print_notes(console, f"{line} within methods {within}; --totals FILE lists them")
