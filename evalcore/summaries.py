"""Score rows → how each model did, in one row per dataset, model, method, rule and run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalcore.scoring.base import NO_ANSWER, UNKNOWN, ScoreRow
from ngramscan.statistics.proportions import wilson

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """How one model did after one method, by one rule."""

    dataset: str
    model: str
    method: str
    rule: str
    run: str | None
    """Which run of the method, where its log tells."""
    n: int
    """Outputs of which something is known; repeated answers to one problem are several."""
    accuracy: float | None
    """In percent, with no answer as a wrong one; None: nothing is known of any output."""
    accuracy_low: float | None
    """Lower limit of the 95 % Wilson interval; None: values between 0 and 1, or several answers to
    a problem, which are not independent."""
    accuracy_high: float | None
    answered: float | None
    """In percent: outputs in which an answer was found, or whose program gave one."""
    no_answer: int
    """Outputs that were refused, cut off or empty."""
    unknown: int
    """Outputs that are left out of all this, since nothing is known of them: an error, or a judge
    has to tell."""
    accuracy_scored: float | None
    """In percent of those with a value; None: there is none."""


def summarise(rows: Sequence[ScoreRow]) -> list[SummaryRow]:
    """Return one row per dataset, model, method, rule and run, in the order in which they come."""
    groups: dict[tuple[str | None, ...], list[ScoreRow]] = {}
    for row in rows:
        key = (row.dataset, row.model, row.method, row.rule, row.run)
        groups.setdefault(key, []).append(row)
    return [_summary(group) for group in groups.values()]


def _summary(rows: Sequence[ScoreRow]) -> SummaryRow:
    first = rows[0]
    known = [row for row in rows if row.status != UNKNOWN]
    values = [row.value for row in known if row.value is not None]
    low, high = _limits(known)
    return SummaryRow(
        dataset=first.dataset,
        model=first.model,
        method=first.method,
        rule=first.rule,
        run=first.run,
        n=len(known),
        accuracy=_percent(sum(values), len(known)),
        accuracy_low=low,
        accuracy_high=high,
        answered=_percent(sum(row.answer is not None for row in known), len(known)),
        no_answer=sum(row.status == NO_ANSWER for row in known),
        unknown=len(rows) - len(known),
        accuracy_scored=_percent(sum(values), len(values)),
    )


def _limits(rows: Sequence[ScoreRow]) -> tuple[float | None, float | None]:
    values = [row.value or 0.0 for row in rows]
    if not rows or {*values} - {0.0, 1.0} or len({row.id for row in rows}) < len(rows):
        return None, None
    share = wilson(sum(values), len(values))
    return _percent(share.low, 1), _percent(share.high, 1)


def _percent(part: float | None, n: int) -> float | None:
    return None if part is None or not n else 100 * part / n


def print_summaries(console: Console, rows: Sequence[ScoreRow]) -> None:
    """Print how each model did."""
    from ngramscan.output.layout import Layout, cell, print_columns

    summaries = summarise(rows)
    names = {(row.dataset, row.model, row.method, row.rule) for row in summaries}
    runs = {"run": [row.run or "" for row in summaries]} if len(names) < len(summaries) else {}
    counts = {
        "no answer": [cell(row.no_answer) for row in summaries],
        "unknown": [cell(row.unknown) for row in summaries],
    }
    columns = {
        "dataset": [row.dataset for row in summaries],
        "model": [row.model for row in summaries],
        "method": [row.method for row in summaries],
        "rule": [row.rule for row in summaries],
        **runs,
        "n": [cell(row.n) for row in summaries],
        "accuracy": [_with_interval(row) for row in summaries],
        "answered": [_one(row.answered) for row in summaries],
        **{name: cells for name, cells in counts.items() if {*cells} != {"0"}},
    }
    optional = ("answered", "dataset", "no answer", "n")
    wrapping = frozenset({"model", "method", "run"})
    print_columns(console, columns, Layout(4 + len(runs), wrapping, optional))


def _one(share: float | None) -> str:
    return "–" if share is None else f"{share:.1f}"


def _with_interval(row: SummaryRow) -> str:
    if row.accuracy is None:
        return _one(None)
    if row.accuracy_low is None or row.accuracy_high is None:
        return f"{row.accuracy:.1f} (no interval)"
    return f"{row.accuracy:.1f} [{row.accuracy_low:.1f}, {row.accuracy_high:.1f}]"


def for_figure(rows: Sequence[SummaryRow]) -> list[SummaryRow]:
    """Return rows whose methods name the rule too, where several rules scored."""
    if len({row.rule for row in rows}) < 2:
        return list(rows)
    return [replace(row, method=f"{row.method}, {row.rule}") for row in rows]
