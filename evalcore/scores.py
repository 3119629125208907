"""Score rows: reading tables of them, choosing runs, and summaries per model."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from ngramscan.errors import InputError
from ngramscan.reading.row_files import GivenTables, Table, as_tables, name_of, read_rows
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import to_columns
from ngramscan.reporting.layout import Layout, print_columns
from ngramscan.reporting.plots import make_kind, make_plot

Names = Sequence[str]
SCORED, NOT_FOUND, NO_ANSWER, UNKNOWN = ("scored", "not_found", "no_answer", "unknown")
LATEST = "latest"
_TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d"
group_of = attrgetter("dataset", "model", "method", "rule")
"""Names that the rows of one run share; of several such runs, one is chosen."""
ScoreKey = tuple[str, str, str, str, int | None]
key_of: Callable[[Any], ScoreKey] = attrgetter("dataset", "model", "method", "id", "epoch")
"""The output that a score or a record is about."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The verdict of one rule on one output."""

    dataset: str
    model: str
    method: str
    id: str
    epoch: int | None
    """Number of a repeated answer; None if each problem has one answer."""
    rule: str
    value: float | None
    """From 0 (wrong) to 1 (right). None: no value; see `status` and `reason`."""
    answer: str | None = None
    extraction: str | None = None
    """The rule that found the answer, with its version; `program, …` if it found a program."""
    reason: str = ""
    sandbox: str | None = None
    """The state of each layer of the sandbox, if a program ran."""
    subtask: str | None = None
    """A part of the benchmark; macro averages are means over subtasks."""
    run: str | None = None
    """The run of the method, if a log records it: its start and its name. None: not known."""
    status: str = ""
    """`scored`; `not_found`: a complete output without an answer, hence wrong; `no_answer`: a
    refusal, cut off or empty; `unknown`: unknown. The last two have no value. By default
    `scored` with a value, and `unknown` without."""

    def __post_init__(self) -> None:
        """Complete the status; raise a ValueError if value and status contradict each other."""
        has = "no value" if self.value is None else f"value {self.value:g}"
        if self.value is not None and not 0 <= self.value <= 1:
            raise ValueError(f"{has}; expected a number from 0 to 1")
        known = (UNKNOWN, NO_ANSWER) if self.value is None else (SCORED, NOT_FOUND)
        if not self.status:
            object.__setattr__(self, "status", known[0])
        if self.status not in known:
            raise ValueError(f"status {self.status}, but {has}; expected {' or '.join(known)}")


def read_scores(table: Table) -> list[ScoreRow]:
    """Read the rows of one table; further columns, as judges' rows have them, are left out."""
    absent = {"epoch": None, "reason": "", "status": ""}
    return read_rows(table, ScoreRow, "rows of `evalcore score`", absent)


def outputs_valued(table: Table, value: float | None) -> set[ScoreKey]:
    """Return the outputs to which all rules of a table give this value, or None."""
    rows = read_scores(table)
    others = {key_of(row) for row in rows if row.value not in {value, None}}
    return {key_of(row) for row in rows if row.value == value} - others


def read_all(scores: GivenTables, rules: Names = (), runs: Names = ()) -> list[ScoreRow]:
    """Read score rows of one run per method, by all rules or by those that are named."""
    tables = as_tables(scores)
    files = [
        os.path.realpath(table) if isinstance(table, str | Path) else id(table) for table in tables
    ]
    if len(set(files)) < len(files):
        raise InputError("scores", "a file is given twice")
    placed = [(row, name_of(table)) for table in tables for row in read_scores(table)]
    if not placed:
        raise InputError("scores", "no rows")
    refuse_other("--rule", rules, (row.rule for row, _ in placed))
    placed = [(row, place) for row, place in placed if not rules or row.rule in rules]
    seen: dict[tuple[Any, ...], str] = {}
    for row, place in placed:
        if (key := (*key_of(row), row.rule, row.run)) in seen:
            named = " ".join(str(part) for part in key if part is not None)
            raise InputError(place, f"two rows of {named}; the other is in {seen[key]}")
        seen[key] = place
    return choose_runs([row for row, _ in placed], runs)


def read_chosen(scores: GivenTables, rules: Names = (), runs: Names = ()) -> list[ScoreRow]:
    """Read what `read_all` does; raise an InputError if a benchmark has several rules."""
    rows = read_all(scores, rules, runs)
    for dataset in dict.fromkeys(row.dataset for row in rows):
        known = dict.fromkeys(row.rule for row in rows if row.dataset == dataset)
        if len(known) > 1:
            raise InputError(dataset, f"scored by {', '.join(known)}; choose one with --rule")
    return rows


def choose_runs(rows: Sequence[ScoreRow], wanted: Sequence[str] = ()) -> list[ScoreRow]:
    """Keep one run of each method: the one with a wanted name, or part of it, or the `latest`."""
    runs = count_runs(rows)
    for name in wanted:
        if name != LATEST and not any(
            name in (run or "") for known in runs.values() for run in known
        ):
            several = "; ".join(describe_runs(runs)) or "no method has several runs"
            raise InputError(f"--run {name}", f"no run has this name; {several}")
    meant = {group: _meant([*names], wanted) for group, names in runs.items()}
    if unclear := {group: names for group, names in runs.items() if len(meant[group]) > 1}:
        cure = "choose one with --run NAME"
        cure += " (not all have a time)" if LATEST in wanted else f" or --run {LATEST}"
        raise InputError("scores", f"{'; '.join(describe_runs(unclear))}; {cure}")
    kept = [row for row in rows if row.run in meant[group_of(row)]]
    epochs = {(group_of(row), row.epoch is None) for row in kept}
    for group in runs:
        if {(group, True), (group, False)} <= epochs:
            problem = "some rows have an epoch and others have none, so these are several runs"
            raise InputError(", ".join(group), f"{problem}; tell them apart by a column `run`")
    return kept


def count_runs(rows: Iterable[ScoreRow]) -> dict[tuple[str, ...], Counter[str | None]]:
    """Return the runs of each method, with the number of their rows."""
    runs: dict[tuple[str, ...], Counter[str | None]] = defaultdict(Counter)
    for row in rows:
        runs[group_of(row)][row.run] += 1
    return runs


def describe_runs(runs: Mapping[tuple[str, ...], Counter[str | None]]) -> Iterator[str]:
    """Yield a sentence for each method with several runs."""
    for group, sizes in runs.items():
        if len(sizes) > 1:
            named = [f"{run or 'one without a name'} ({n} rows)" for run, n in sizes.items()]
            yield f"{', '.join(group)} has {len(sizes)} runs: {', '.join(named)}"


def _meant(runs: Sequence[str | None], wanted: Sequence[str]) -> Sequence[str | None]:
    """Return the runs of a method that may be meant; only one if that is clear."""
    named = [run for run in runs if run in wanted]
    named = named or [run for run in runs if any(name in (run or "") for name in wanted)]
    if not named and LATEST in wanted and all(re.match(_TIME, run or "") for run in runs):
        return [max(runs, key=str)]
    return named or runs


class SummaryRow(NamedTuple):
    """Accuracy of a model with a method by a rule, as a fraction; no answer counts as wrong."""

    dataset: str
    model: str
    method: str
    rule: str
    run: str | None
    n: int
    """Outputs whose score is known; `n_unknown` counts the others."""
    accuracy: float | None
    accuracy_low: float | None
    """Limit of Wilson's interval, with the effective number of problems. None: no output."""
    accuracy_high: float | None
    answered: float | None
    n_no_answer: int
    n_unknown: int


SUMMARIES = make_kind(
    "score",
    "Accuracy of each method",
    "dataset model method rule run",
    "n",
    make_plot("accuracy", "dataset model", "method rule run", "share", series="method", aside="n"),
)
"""How accuracies are drawn; they are not written to files."""


def summarise(rows: Iterable[ScoreRow]) -> list[SummaryRow]:
    """Return a row per run and rule, in the order of their first scores."""
    groups: dict[tuple[str, str, str, str, str | None], list[ScoreRow]] = {}
    for row in rows:
        groups.setdefault((*group_of(row), row.run), []).append(row)
    return [_summary(rows) for rows in groups.values()]


def _summary(rows: Sequence[ScoreRow]) -> SummaryRow:
    known = [row for row in rows if row.status != UNKNOWN]
    n, values, share = len(known), [row.value or 0.0 for row in known], None
    if known:
        from ngramscan.statistics.two_samples import estimate_accuracy  # slow to import

        share = estimate_accuracy(values, [row.id for row in known])
    return SummaryRow(
        *group_of(rows[0]),
        run=rows[0].run,
        n=n,
        accuracy=sum(values) / n if n else None,
        accuracy_low=share.low if share else None,
        accuracy_high=share.high if share else None,
        answered=sum(row.answer is not None for row in known) / n if n else None,
        n_no_answer=sum(row.status == NO_ANSWER for row in known),
        n_unknown=len(rows) - n,
    )


def print_summaries(console: Console, rows: Iterable[ScoreRow]) -> None:
    """Print accuracies per run."""
    found = summarise(rows)
    run = "run" * (len({group_of(summary) for summary in found}) < len(found))
    names = f"dataset model method rule {run} n accuracy answered no_answer=n_no_answer"
    columns = to_columns(found, f"{names} unknown=n_unknown", ("accuracy", "answered"))
    print_columns(console, columns, Layout(4 + bool(run), optional=("answered",)))
