"""Score rows → how each model did, in one row per dataset, model, method and rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalcore.scoring.base import ScoreRow


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
    return SummaryRow(
        dataset=first.dataset,
        model=first.model,
        method=first.method,
        rule=first.rule,
        n=len(rows),
        accuracy=100 * sum(values) / len(rows),
        answered=100 * sum(row.answer is not None for row in rows) / len(rows),
        not_scored=len(rows) - len(values),
        accuracy_scored=100 * sum(values) / len(values) if values else None,
    )
