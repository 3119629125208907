"""Score rows: what one says, how they are read back from tables, and how each model did."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from evalcore.row_files import Table, read_table, to_row
from ngramscan.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

SCORED, NOT_FOUND, NO_ANSWER, UNKNOWN = STATUSES = ("scored", "not_found", "no_answer", "unknown")
"""What is known of an output. Where the model gave no answer (it refused, was cut off, or wrote
nothing), that counts as wrong or is left out; where nothing is known (not run, not judged, the
grader crashed), it never counts. Both have no value. A complete output in which no answer was
found has one: it is wrong."""

NO_ANSWER_IS = ("wrong", "exclude")
"""What no answer counts as."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """What one rule says of one output."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None
    """Which of repeated answers; None where each problem was asked once."""
    rule: str
    value: float | None
    """From 0 to 1; None: there is none, `status` says of which kind, and `reason` says why."""
    answer: str | None
    extraction: str | None
    """The rule that found the answer, with its version; `program, …`: it was computed by the
    program that the rule found."""
    reason: str
    sandbox: str | None = None
    """What each layer of the sandbox was, where a program ran."""
    subtask: str | None = None
    """What averages may be taken over within a benchmark."""
    run: str | None = None
    """Which run of the method, where a log tells: when it began, and its name. None: not known."""
    status: str = ""
    """`scored`; `not_found`: a complete output in which no answer was found, hence wrong;
    `no_answer`: refused, cut off or empty; `unknown`: nothing is known of what the model would have
    answered, or whether it is right. The last two have no value. Where it is absent, a row with a
    value is `scored` and one without `unknown`."""

    def __post_init__(self) -> None:
        """Complete the status; raise a ValueError where it contradicts the value."""
        if not self.status:
            object.__setattr__(self, "status", UNKNOWN if self.value is None else SCORED)
        elif self.status not in STATUSES:
            raise ValueError(f"status {self.status!r}; one of {', '.join(STATUSES)} was expected")
        elif (self.value is None) != (self.status in {NO_ANSWER, UNKNOWN}):
            has = "no value" if self.value is None else f"value {self.value:g}"
            raise ValueError(f"status {self.status}, but {has}")


# Read back from what `score`, `judge` and `logs` wrote or returned

_WHAT = "rows of `evalcore score`"
_MAY_BE_ABSENT = {"epoch": None, "answer": None, "extraction": None}
"""Columns that rows of others need not have, and what their absence says."""


class ScoreKey(NamedTuple):
    """Which output a row is about."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None


def read_scores(table: Table) -> list[ScoreRow]:
    """Read the rows of one table; columns beyond those of scores, as judges have, are left out.

    Raises
    ------
    InputError
        There is no such file, a column is missing, or a value is malformed; says where.
    """
    rows = []
    for place, values in read_table(table):
        texts = {"reason": values.get("reason") or "", "status": values.get("status") or ""}
        row = to_row(place, _MAY_BE_ABSENT | values | texts, ScoreRow, _WHAT)
        if row.value is not None and not 0 <= row.value <= 1:
            raise InputError(place, f"value {row.value:g}; a number from 0 to 1 was expected")
        rows.append(row)
    return rows


def refuse_unscored(rules: Iterable[str], scored: Iterable[str]) -> None:
    """Raise an InputError where nothing was scored by a rule; names those that there are."""
    known = list(dict.fromkeys(scored))
    for rule in rules:
        if rule not in known:
            raise InputError(f"--rule {rule}", f"not scored; there are {', '.join(known)}")


def read_wrong(table: Table) -> set[ScoreKey]:
    """Return the outputs that were found wrong by every rule of a table that could tell."""
    return _select(table, lambda values: set(values) - {None} == {0.0})


def read_open(table: Table) -> set[ScoreKey]:
    """Return the outputs that no rule of a table could score."""
    return _select(table, lambda values: set(values) == {None})


def _select(table: Table, holds: Callable[[list[float | None]], bool]) -> set[ScoreKey]:
    values: dict[ScoreKey, list[float | None]] = {}
    for row in read_scores(table):
        key = ScoreKey(row.dataset, row.model, row.method, row.id, row.epoch)
        values.setdefault(key, []).append(row.value)
    return {key for key, found in values.items() if holds(found)}


# How each model did


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


def summarise(rows: Sequence[ScoreRow]) -> list[SummaryRow]:
    """Return one row per dataset, model, method, rule and run, in the order in which they come."""
    groups: dict[tuple[str, str, str, str, str | None], list[ScoreRow]] = {}
    for row in rows:
        key = (row.dataset, row.model, row.method, row.rule, row.run)
        groups.setdefault(key, []).append(row)
    return [_summary(key, group) for key, group in groups.items()]


def _summary(key: tuple[str, str, str, str, str | None], rows: Sequence[ScoreRow]) -> SummaryRow:
    known = [row for row in rows if row.status != UNKNOWN]
    values = [row.value or 0.0 for row in known]
    low = high = None
    if known and {*values} <= {0.0, 1.0} and len({row.id for row in known}) == len(known):
        from ngramscan.statistics.proportions import wilson  # NumPy is slow to import

        share = wilson(sum(values), len(values))
        low, high = (_percent(limit, 1) for limit in (share.low, share.high))
    return SummaryRow(
        *key,
        n=len(known),
        accuracy=_percent(sum(values), len(known)),
        accuracy_low=low,
        accuracy_high=high,
        answered=_percent(sum(row.answer is not None for row in known), len(known)),
        no_answer=sum(row.status == NO_ANSWER for row in known),
        unknown=len(rows) - len(known),
    )


def _percent(part: float | None, n: int) -> float | None:
    return None if part is None or not n else 100 * part / n


def print_summaries(console: Console, rows: Sequence[ScoreRow]) -> None:
    """Print how each model did."""
    from ngramscan.output.layout import Layout, cell, print_columns

    summaries = summarise(rows)
    names = ("dataset", "model", "method", "rule")
    has_runs = len({tuple(getattr(row, one) for one in names) for row in summaries}) < len(
        summaries
    )
    runs = {"run": [row.run or "" for row in summaries]} if has_runs else {}
    counts = {
        "no answer": [cell(row.no_answer) for row in summaries],
        "unknown": [cell(row.unknown) for row in summaries],
    }
    columns = {
        **{name: [getattr(row, name) for row in summaries] for name in names},
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
