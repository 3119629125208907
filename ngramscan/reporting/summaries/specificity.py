"""Rows of `tiers` → how many patterns are in their tiers, and which are not."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.messages import counted
from ngramscan.reporting.columns import ALL
from ngramscan.reporting.layout import Layout, cell, with_interval
from ngramscan.reporting.sentences.phrases import Row, group_rows, known_rows
from ngramscan.reporting.sentences.shares import broadest
from ngramscan.reporting.summaries.table import SummaryTable

_MOST_SPECIFIC = 3


def summarize_tiers(rows: Sequence[Row], most: int) -> list[SummaryTable]:
    """Return the methods and tiers, the patterns in other tiers, and the most specific ones.

    Where there are rows of all models or datasets together, these are the tables.
    """
    broadest_rows = broadest(rows)
    with_ratio = known_rows(broadest_rows, "ratio")
    if not with_ratio:
        return []
    tables = [_table_of_tiers(broadest_rows)]
    others = [row for row in with_ratio if not row.get("agrees")]
    # An interval within other tiers is stronger evidence than one that spans several.
    others.sort(key=lambda row: (bool(row.get("interval_spans_tiers")), -row["ratio"]))
    if others and most:
        left_out = len(others) - len(others[:most])
        note = f"{counted(left_out, 'more pattern')}" if left_out else ""
        tables.append(_table_of_patterns("Not in the declared tier", others[:most], note))
    with_limits = known_rows(with_ratio, "ratio_low")
    specific = sorted(with_limits, key=lambda row: -row["ratio_low"])[:_MOST_SPECIFIC]
    if specific:
        tables.append(_table_of_patterns("Most specific, by the lower limit", specific))
    return tables


def _scopes(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the columns of datasets and models; those of all together are empty."""
    return {
        name: ["" if row[name] == ALL else cell(row[name]) for row in rows]
        for name in ("dataset", "model")
    }


def _table_of_tiers(rows: Sequence[Row]) -> SummaryTable:
    """Return how many patterns of each method and tier are in that tier by their ratio."""
    groups = [*group_rows(rows, "dataset", "model", "method", "tier").values()]
    first = [group[0] for group in groups]
    with_ratio = [known_rows(group, "ratio") for group in groups]
    columns = {
        **_scopes(first),
        "method": [cell(row["method"]) for row in first],
        "tier": [cell(row["tier"]) for row in first],
        "in it by ratio": [cell(sum(bool(row["agrees"]) for row in group)) for group in with_ratio],
        "with the whole interval": [
            cell(sum(bool(row["agrees"] and not row["interval_spans_tiers"]) for row in group))
            for group in with_ratio
        ],
        "not": [cell(sum(not row["agrees"] for row in group)) for group in with_ratio],
        "no ratio": [
            cell(len(group) - len(rows_with_ratio))
            for group, rows_with_ratio in zip(groups, with_ratio, strict=True)
        ],
    }
    layout = Layout(4, headings=2, title="Patterns of each tier")
    return SummaryTable(columns, layout)


def _table_of_patterns(title: str, rows: Sequence[Row], note: str = "") -> SummaryTable:
    columns = {
        **_scopes(rows),
        "pattern": [str(row["pattern"]) for row in rows],
        "method": [cell(row["method"]) for row in rows],
        "tier": [cell(row["tier"]) for row in rows],
        "by ratio": [
            f"{row['tier_by_ratio']}{'?' if row.get('interval_spans_tiers') else ''}"
            for row in rows
        ],
        "ratio": [_ratio(row) for row in rows],
    }
    layout = Layout(6, frozenset({"pattern"}), headings=2, title=title)
    return SummaryTable(columns, layout, note=note)


def _ratio(row: Row) -> str:
    """Return a ratio with its interval, and a sign where a half was added to both sums."""
    sign = "≈" if row.get("note") else ""
    return sign + with_interval(row["ratio"], row.get("ratio_low"), row.get("ratio_high"), cell)
