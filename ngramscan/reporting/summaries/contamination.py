"""Rows of `contaminate` → classes of questions × corpora, and the questions in most of them."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.messages import counted
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reporting.layout import UNKNOWN, Layout, cell
from ngramscan.reporting.sentences.names import short_rule
from ngramscan.reporting.sentences.phrases import Row, group_rows
from ngramscan.reporting.sentences.shares import interval_of, share_text
from ngramscan.reporting.summaries.names import short_names
from ngramscan.reporting.summaries.table import SummaryTable

_CURVE = "curve"


def summarize_shares(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return the share of each class of questions in each corpus, all corpora together last."""
    classes = [row for row in rows if row["verdict"] != _CURVE]
    verdicts = dict.fromkeys(row["verdict"] for row in classes)
    tables = []
    for (rule,), of_rule in [*group_rows(classes, "rule").items()][: max(most, 1)]:
        groups = {str(index): group for (index,), group in group_rows(of_rule, "index").items()}
        names = short_names(name for name in groups if name != UNION)
        columns = {
            "corpus": ["any of them" if name == UNION else names.of(name) for name in groups],
            "questions": [cell(group[0]["entries"]) for group in groups.values()],
        }
        for verdict in verdicts:
            columns[verdict] = [_share_of(group, verdict) for group in groups.values()]
        title = f"Classes of questions by {short_rule(rule)}, %"
        layout = Layout(1, frozenset({"corpus"}), ("questions",), title=title)
        tables.append(SummaryTable(columns, layout, names=names.note))
    return tables


def _share_of(rows: Sequence[Row], verdict: object) -> str:
    """Return the share of a class with its interval; if it is unknown, the interval alone."""
    row = next((row for row in rows if row["verdict"] == verdict), None)
    if row is None:
        return UNKNOWN
    interval = interval_of(row, "share", is_share=True)
    if row.get("share") is None:
        return interval.strip() or UNKNOWN
    return f"{share_text(row['share'])}{interval}"


def summarize_entries(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return the questions that are dirty in most corpora, then those with the longest runs."""
    single = [row for row in rows if row["index"] != UNION]
    n_corpora = len(group_rows(single, "index"))
    groups = [*group_rows([row for row in single if row["found"]], "id").values()]
    largest = sorted(groups, key=_rank)[:most]
    if not largest:
        return []
    columns = {
        "id": [cell(group[0]["id"]) for group in largest],
        "dirty in": [f"{_dirty(group):,} of {n_corpora:,}" for group in largest],
        "windows found": [_found(group) for group in largest],
        "longest run": [cell(max(row["longest_run"] for row in group)) for group in largest],
    }
    title = "Questions that are dirty in most corpora"
    layout = Layout(1, frozenset({"id"}), ("longest run",), title=title)
    note = ""
    if (n_others := len(groups) - len(largest)) > 0:
        verb = "has" if n_others == 1 else "have"
        note = f"{counted(n_others, 'more question')} {verb} windows that occur"
    return [SummaryTable(columns, layout, note=note)]


def _rank(rows: Sequence[Row]) -> tuple[int, int]:
    return -_dirty(rows), -max(row["longest_run"] for row in rows)


def _dirty(rows: Sequence[Row]) -> int:
    return sum(row["verdict"] == "dirty" for row in rows)


def _found(rows: Sequence[Row]) -> str:
    most = max(rows, key=lambda row: row["found"])
    return f"{most['found']:,} of {most['windows']:,}"
