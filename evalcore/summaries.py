"""Score rows → how each model did, in one row per dataset, model, method and rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalcore.scoring.base import ScoreRow
from ngramscan.proportions import wilson

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """How one model did after one method, by one rule."""

    dataset: str
    model: str
    method: str
    rule: str
    n: int
    """Outputs; repeated answers to one problem are several."""
    accuracy: float
    """In percent, with what can't be scored as wrong."""
    accuracy_low: float | None
    """Lower limit of the 95 % Wilson interval; None: values between 0 and 1, or several answers to
    a problem, which are not independent."""
    accuracy_high: float | None
    answered: float
    """In percent: outputs in which an answer was found, or whose program gave one."""
    not_scored: int
    """Outputs without a value: refused, cut, missing, or left to a judge."""
    accuracy_scored: float | None
    """In percent of those with a value; None: there is none."""


def summarise(rows: Sequence[ScoreRow]) -> list[SummaryRow]:
    """Return one row per dataset, model, method and rule, in the order in which they come."""
    groups: dict[tuple[str, str, str, str], list[ScoreRow]] = {}
    for row in rows:
        groups.setdefault((row.dataset, row.model, row.method, row.rule), []).append(row)
    return [_summary(group) for group in groups.values()]


def _summary(rows: Sequence[ScoreRow]) -> SummaryRow:
    first = rows[0]
    values = [row.value for row in rows if row.value is not None]
    low, high = _limits(rows)
    return SummaryRow(
        dataset=first.dataset,
        model=first.model,
        method=first.method,
        rule=first.rule,
        n=len(rows),
        accuracy=100 * sum(values) / len(rows),
        accuracy_low=low,
        accuracy_high=high,
        answered=100 * sum(row.answer is not None for row in rows) / len(rows),
        not_scored=len(rows) - len(values),
        accuracy_scored=100 * sum(values) / len(values) if values else None,
    )


def _limits(rows: Sequence[ScoreRow]) -> tuple[float | None, float | None]:
    values = [row.value or 0.0 for row in rows]
    if {*values} - {0.0, 1.0} or len({row.id for row in rows}) < len(rows):
        return None, None
    share = wilson(sum(values), len(values))
    return _percent(share.low), _percent(share.high)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def print_summaries(console: Console, rows: Sequence[ScoreRow]) -> None:
    """Print how each model did."""
    from ngramscan.output.layout import Layout, cell, print_columns

    summaries = summarise(rows)
    columns = {
        "dataset": [row.dataset for row in summaries],
        "model": [row.model for row in summaries],
        "method": [row.method for row in summaries],
        "rule": [row.rule for row in summaries],
        "n": [cell(row.n) for row in summaries],
        "accuracy": [_with_interval(row) for row in summaries],
        "answered": [f"{row.answered:.1f}" for row in summaries],
        "not scored": [cell(row.not_scored) for row in summaries],
    }
    if not any(row.not_scored for row in summaries):
        del columns["not scored"]
    optional = ("answered", "dataset", "not scored", "n")
    print_columns(console, columns, Layout(4, frozenset({"model", "method"}), optional))


def _with_interval(row: SummaryRow) -> str:
    if row.accuracy_low is None or row.accuracy_high is None:
        return f"{row.accuracy:.1f} (no interval)"
    return f"{row.accuracy:.1f} [{row.accuracy_low:.1f}, {row.accuracy_high:.1f}]"


def for_figure(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return rows whose methods name the rule too, where several rules scored."""
    if len({row.rule for row in rows}) < 2:
        return list(rows)
    return [replace(row, method=f"{row.method}, {row.rule}") for row in rows]
