"""The table of `sources`: the largest sources of each phrase in each corpus."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ngramscan.messages import counted
from ngramscan.prevalence.sources import SourceRow, SourcesResult, describe_limits
from ngramscan.reporting.layout import (
    UNKNOWN,
    Layout,
    cell,
    percent,
    print_columns,
    print_line,
    rate,
)
from ngramscan.reporting.tables import parts

_TOP_OF_ONE = 10
_TOP_OF_SEVERAL = 3
_MOST_TABLES = 3
"""Phrases and indexes whose sources fit on a screen."""


def print_sources(result: SourcesResult, top: int | None, console: Console) -> None:
    """Print the `top` sources of each phrase; without it, as many as fit on a screen."""
    tables = [*parts.group_by(result.rows, "index", "method", "query").values()]
    shown_tables = tables
    if top is None:
        top = _TOP_OF_ONE if len(tables) == 1 else _TOP_OF_SEVERAL
        by_occurrences = sorted(tables, key=lambda rows: -rows[0].all_occurrences)[:_MOST_TABLES]
        shown_tables = [rows for rows in tables if rows in by_occurrences]
    for rows in shown_tables:
        _print_table(rows, top, console)
    lines = [
        *parts.describe_shared_notes(result.notes),
        *describe_limits([row for rows in shown_tables for row in rows]),
    ]
    if more := len(tables) - len(shown_tables):
        lines.append(f"not shown: {counted(more, 'phrase')} with fewer occurrences (see --top)")
    parts.print_notes(console, *lines)


def _print_table(rows: Sequence[SourceRow], top: int, console: Console) -> None:
    print_line(console, _headline(rows[0]), "bold")
    shown_rows = rows[:top]
    of_occurrences = [_share(row, "occurrence_share") for row in shown_rows]
    of_documents = [_share(row, "document_share") for row in shown_rows]
    columns = {
        rows[0].by: [row.value for row in shown_rows],
        "occurrences": [_about(row, cell(row.occurrences)) for row in shown_rows],
        "% of occurrences": of_occurrences,
        "documents": [_about(row, cell(row.documents)) for row in shown_rows],
        "% of documents": of_documents,
    }
    columns["per GB of the source"] = [
        UNKNOWN if row.per_gigabyte is None else _about(row, rate(row.per_gigabyte))
        for row in shown_rows
    ]
    optional = ("documents", "% of documents", "occurrences")
    print_columns(console, columns, Layout(1, frozenset({rows[0].by}), optional))
    if len(rows) > top:
        others = rows[top:]
        occurrences = sum(row.occurrences for row in others)
        share = percent(sum(row.occurrence_share for row in others))
        more = counted(len(others), "more value")
        number = _about(rows[0], counted(occurrences, "occurrence"))
        parts.print_notes(console, f"{more}, with {number} ({share}%)")


def _share(row: SourceRow, name: str) -> str:
    """Return a share with its limits; an exact one has none."""
    if row.estimated:
        return parts.interval(row, name, percent)
    return percent(getattr(row, name))


def _about(row: SourceRow, number: str) -> str:
    """Mark a number that was estimated from a sample of files."""
    is_from_files = row.estimated and row.draws is None
    return f"≈{number}" if is_from_files else number


def _headline(row: SourceRow) -> str:
    selection = ""
    if row.draws is not None:
        selection = f", {row.draws:,} drawn at random, seed {row.seed}"
    occurrences = _about(row, counted(row.all_occurrences, "occurrence"))
    names = [name for name in (row.index, row.method) if name]
    return f'{" · ".join(names)} · "{row.query}" · {occurrences}{selection}'
