"""Rows of `trace --curve` → the coverage of each prompt's outputs × corpora."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscan.prevalence.several_corpora import UNION
from ngramscan.reporting.layout import UNKNOWN, Layout, cell
from ngramscan.reporting.sentences.phrases import Row, group_rows, known_rows
from ngramscan.reporting.sentences.shares import broadest, interval_of, share_text
from ngramscan.reporting.sentences.traces import ALL_KINDS, length_of
from ngramscan.reporting.summaries.names import short_names
from ngramscan.reporting.summaries.table import SummaryTable

_MOST_WITH_INTERVALS = 3
"""Maximum number of corpora with intervals."""


def summarize_curve(
    rows: Sequence[Row], most: int, length: int | None = None
) -> list[SummaryTable]:
    """Return the mean coverage by spans of a length, by default a usual one, or longer ones."""
    all_kinds = [row for row in rows if (row.get("kind") or ALL_KINDS) == ALL_KINDS]
    with_coverage = known_rows(all_kinds, "coverage")
    if not with_coverage:
        return []
    least = length_of(with_coverage) if length is None else length
    at_length = broadest([row for row in with_coverage if row["length"] == least])
    indexes = [str(index) for (index,) in group_rows(at_length, "index")]
    names = short_names(name for name in indexes if name != UNION)
    groups = [*group_rows(at_length, "dataset", "model", "prompt").values()][:most]
    columns = {
        "dataset": [cell(group[0]["dataset"]) for group in groups],
        "model": [cell(group[0]["model"]) for group in groups],
        "prompt": [cell(group[0]["prompt"]) for group in groups],
        "outputs": [cell(max(row["outputs"] for row in group)) for group in groups],
    }
    headed = {index: "any" if index == UNION else names.of(index) for index in indexes}
    for index, name in headed.items():
        columns[name] = [
            _coverage(group, index, has_interval=len(indexes) <= _MOST_WITH_INTERVALS)
            for group in groups
        ]
    layout = Layout(
        3,
        frozenset({"prompt"}),
        ("outputs",),
        headings=2,
        title=f"Words in spans of at least {least:,} that a corpus has, % of an output",
        names=frozenset(headed.values()),
    )
    return [SummaryTable(columns, layout, names=names.note)]


def _coverage(rows: Sequence[Row], index: str, *, has_interval: bool) -> str:
    row = next((row for row in rows if row["index"] == index), None)
    if row is None:
        return UNKNOWN
    interval = interval_of(row, "coverage", is_share=True) if has_interval else ""
    return f"{share_text(row['coverage'])}{interval}"
