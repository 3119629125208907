"""Rows of `blend` → prompts × methods, and the retention of prefixes' markers."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.messages import counted
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.layout import UNKNOWN, Layout, cell, percent
from ngramscan.reporting.sentences.phrases import Row, group_rows
from ngramscan.reporting.sentences.shares import broadest, interval_of, share_text
from ngramscan.reporting.summaries.table import SummaryTable

_MOST_WITH_INTERVALS = 4
"""Maximum number of methods with intervals."""
_LEAST_PROMPTS = 5
_MOST_RETENTIONS = 6
"""More comparisons have only a sentence."""
STAR = "*: the prompt has the method, alone or joined to others"


def summarize_markers(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return in how many outputs of each prompt the markers of each method are.

    Where there are rows of all models together, these are the table.
    """
    broadest_rows = broadest(rows)
    methods = [*dict.fromkeys(str(row["method"]) for row in broadest_rows)]
    groups = [*group_rows(broadest_rows, "dataset", "model", "prompt").values()]
    tabled = groups[: max(most, _LEAST_PROMPTS)]
    has_intervals = len(methods) <= _MOST_WITH_INTERVALS
    columns = _names([group[0] for group in tabled])
    columns["prompt"] = [cell(group[0]["prompt"]) for group in tabled]
    columns["outputs"] = [cell(group[0]["outputs"]) for group in tabled]
    for method in methods:
        columns[method] = [_share_in(group, method, has_interval=has_intervals) for group in tabled]
    title = "Outputs with a marker, %"
    pooled = [
        f"{name}s"
        for name in ("model", "dataset")
        if any(row[name] == ALL for row in broadest_rows)
    ]
    if pooled:
        title += f", all {' and '.join(pooled)} together"
    layout = Layout(
        3,
        frozenset({"prompt"}),
        optional=("outputs",),
        headings=2,
        title=title,
        names=frozenset(methods),
    )
    left_out = len(groups) - len(tabled)
    note = counted(left_out, "more prompt") if left_out else ""
    return [SummaryTable(columns, layout, note=note)]


def _names(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the columns of datasets and models; those of all together are empty."""
    return {
        column: ["" if row[column] == ALL else cell(row[column]) for row in rows]
        for column in ("dataset", "model")
    }


def _share_in(rows: Sequence[Row], method: str, *, has_interval: bool) -> str:
    """Return the share of a prompt's outputs that have a marker of a method."""
    row = next((row for row in rows if row["method"] == method), None)
    if row is None or row.get("share") is None:
        return UNKNOWN
    text = share_text(row["share"])
    if has_interval:
        text += interval_of(row, "share", is_share=True)
    return f"{text}*" if row["has_method"] else text


def summarize_retention(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return how many outputs keep the markers of a prefix; empty with many comparisons."""
    if not 0 < len(rows) <= min(_MOST_RETENTIONS, most):
        return []
    scopes = {(row["dataset"], row["model"]) for row in rows}
    columns = {
        **(_names(rows) if len(scopes) > 1 else {}),
        "markers of": [cell(row["method"]) for row in rows],
        "in outputs of": [cell(row["prompt_with"]) for row in rows],
        "share, %": [_percent(row["share_with"]) for row in rows],
        "alone, %": [_percent(row["share_alone"]) for row in rows],
        "difference": [_difference(row) for row in rows],
        "adjusted p": [cell(row.get("p_adjusted")) for row in rows],
    }
    title = "Markers of a prefix that outputs keep when a solver follows"
    n_names = len(columns) - 4
    layout = Layout(n_names, headings=n_names - 2, title=title, optional=("adjusted p",))
    return [SummaryTable(columns, layout)]


def _percent(share: float | None) -> str:
    return UNKNOWN if share is None else share_text(share)


def _difference(row: Row) -> str:
    """Return a difference in percentage points with its interval, as in the long table."""
    if row.get("difference") is None:
        return UNKNOWN
    low, high = row.get("difference_low"), row.get("difference_high")
    if low is None or high is None:
        return percent(row["difference"])
    return f"{percent(row['difference'])} [{percent(low)}, {percent(high)}]"
