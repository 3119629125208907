"""Rows of `contaminate` → classes of questions × corpora, and the questions in most of them."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.messages import counted
from ngramscan.prevalence.contamination.rules import CONTAMINATED, COPY_CLASSES, classes_by
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reporting.layout import UNKNOWN, CellColumns, Layout, cell, percent
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
    """Return the questions that are contaminated in most corpora."""
    single = [row for row in rows if row["index"] != UNION]
    n_corpora = len(group_rows(single, "index"))
    if single and classes_by(single[0].get("rule")) == COPY_CLASSES:
        return _copied_in_most(single, n_corpora, most)
    return _dirty_in_most(single, n_corpora, most)


def _dirty_in_most(rows: Sequence[Row], n_corpora: int, most: int) -> list[SummaryTable]:
    """Return the questions that are dirty in most corpora, then those with the longest runs."""
    groups = [*group_rows([row for row in rows if row["found"]], "id").values()]
    largest = sorted(groups, key=_rank)[:most]
    columns = {
        "id": [cell(group[0]["id"]) for group in largest],
        "dirty in": [f"{_contaminated(group):,} of {n_corpora:,}" for group in largest],
        "windows found": [_found(group) for group in largest],
        "longest run": [cell(max(row["longest_run"] for row in group)) for group in largest],
    }
    title = "Questions that are dirty in most corpora"
    layout = Layout(1, frozenset({"id"}), ("longest run",), title=title)
    return _questions(columns, layout, len(groups), "windows that occur")


def _copied_in_most(rows: Sequence[Row], n_corpora: int, most: int) -> list[SummaryTable]:
    """Return the questions that were copied in most corpora, then those with the best scores."""
    with_document = [row for row in rows if row["score"] is not None and row["verdict"] != "clean"]
    groups = [*group_rows(with_document, "id").values()]
    largest = sorted(groups, key=_rank_of_copied)[:most]
    columns = {
        "id": [cell(group[0]["id"]) for group in largest],
        "copied in": [f"{_contaminated(group):,} of {n_corpora:,}" for group in largest],
        "score, %": [percent(_largest(group, "score")) for group in largest],
        "covered, %": [percent(_largest(group, "covered")) for group in largest],
    }
    title = "Questions that were copied in most corpora"
    return _questions(
        columns, Layout(1, frozenset({"id"}), title=title), len(groups), "text in a document"
    )


def _questions(
    columns: CellColumns, layout: Layout, n_questions: int, what_others_have: str
) -> list[SummaryTable]:
    """Return a table of the first of some questions; no table without questions."""
    n_shown = len(columns["id"])
    if not n_shown:
        return []
    note = ""
    if (n_others := n_questions - n_shown) > 0:
        verb = "has" if n_others == 1 else "have"
        note = f"{counted(n_others, 'more question')} {verb} {what_others_have}"
    return [SummaryTable(columns, layout, note=note)]


def _rank(rows: Sequence[Row]) -> tuple[int, int]:
    return -_contaminated(rows), -max(row["longest_run"] for row in rows)


def _rank_of_copied(rows: Sequence[Row]) -> tuple[int, float, float]:
    return -_contaminated(rows), -_largest(rows, "score"), -_largest(rows, "covered")


def _largest(rows: Sequence[Row], column: str) -> float:
    return max(row[column] or 0 for row in rows)


def _contaminated(rows: Sequence[Row]) -> int:
    return sum(row["verdict"] in CONTAMINATED for row in rows)


def _found(rows: Sequence[Row]) -> str:
    most = max(rows, key=lambda row: row["found"])
    return f"{most['found']:,} of {most['windows']:,}"
