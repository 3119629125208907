"""Score rows: reading tables of them, choosing runs, and summaries per model."""

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from rich.console import Console

from evalcore.simple_tables import complete_table, name_tables
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.row_files import (
    GivenTables,
    PlacedRows,
    Table,
    as_tables,
    name_of,
    read_rows,
)
from ngramscan.reading.score_values import NO_ANSWER, UNKNOWN, complete_status, counted_value
from ngramscan.reporting import refuse_other
from ngramscan.reporting.columns import to_columns
from ngramscan.reporting.layout import Layout, print_columns
from ngramscan.rows import LABEL, Label, Plot, Share, UnansweredCount, UnknownCount, row_kind
from ngramscan.statistics.clusters import describe_few_clusters
from ngramscan.statistics.estimates import fields_of
from ngramscan.statistics.pass_rates import PassRate

ColumnList = Sequence[str]
LATEST = "latest"
_ABSENT = {"epoch": None, "reason": "", "status": ""}
_UNUSED_CLUSTERS = (
    "problems have clusters, but are taken as independent; `--cluster cluster` takes the clusters"
)
_TIME = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d"
group_of = attrgetter("dataset", "model", "method", "rule")
"""Names that the rows of one run share; of several such runs, one is chosen."""
ScoreKey = tuple[str, str, str, str, int | None]
key_of: Callable[[Any], ScoreKey] = attrgetter("dataset", "model", "method", "id", "epoch")
"""The output that a score or a record is about."""


@row_kind(
    "score",
    "Scores of answers",
    key=("value", "status"),
)
@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The verdict of one rule on one output."""

    dataset: Label
    model: Label
    method: Label
    id: Label
    epoch: Annotated[int | None, LABEL]
    """Number of a repeated answer; None if each problem has one answer."""
    rule: Label
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
    hash: str | None = None
    """A hash of the problem and its reference answer, by which answers are paired. None: not known,
    so they are paired by id."""
    cluster: str | None = None
    """The cluster of the problem, such as its passage, as `--cluster` names it. None: not known."""

    def __post_init__(self) -> None:
        """Complete the status; raise a ValueError if value and status contradict each other."""
        object.__setattr__(self, "status", complete_status(self.value, self.status))


_Score = TypeVar("_Score", bound=ScoreRow)


def read_scores(table: Table, row_type: type[_Score]) -> list[_Score]:
    """Read the rows of one table; columns that the type lacks are left out."""
    return read_rows(table, row_type, "rows of `evalcore score`", _ABSENT)


@dataclass(frozen=True, slots=True)
class GroupedRow(ScoreRow):
    """A score with what further columns say about its problem."""

    group: str = ""
    """The values of the columns that `--by` names, benchmark and model aside."""
    weight: Annotated[float, msgspec.Meta(gt=0, le=1e9)] = 1.0
    """How much the problem counts, such as its points."""


def _grouped(
    rows: Iterable[tuple[str, Any]], by: ColumnList, weight: str | None, cluster: str | None
) -> PlacedRows:
    columns = [("by", name) for name in by] + ([("weight", weight)] if weight else [])
    for place, values in with_clusters(rows, cluster):
        for option, name in columns:
            refuse_other(option, name, values)
            if _is_missing(values[name]):
                raise InputError(
                    place, f"no {name}, which " + OptionUse(option) + " needs in every row"
                )
        group = ", ".join(str(values[name]) for name in by)
        yield place, values | {"group": group, "weight": values[weight] if weight else 1}


def with_clusters(rows: Iterable[tuple[str, Any]], column: str | None) -> PlacedRows:
    """Yield rows whose `cluster` is the value of this column; None: no row has a cluster."""
    for place, values in rows:
        if column is not None:
            refuse_other("cluster", column, values)
        yield place, values | {"cluster": read_cluster(place, values, column)}


def read_cluster(place: str, values: Mapping[str, Any], column: str | None) -> str | None:
    """Return the name of a cluster in a column of a row; None: no column is named."""
    if column is None:
        return None
    value = values.get(column)
    if _is_missing(value):
        raise InputError(
            place, f"no {column}, which " + OptionUse("cluster") + " needs for every problem"
        )
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of whole numbers, some of which are missing in another file
    if not isinstance(value, str | int | float):
        problem = (
            f"{column} is {value!r:.40}; " + OptionUse("cluster") + " needs a text or a number"
        )
        raise InputError(place, problem)
    return str(value).strip()


def _is_missing(value: object) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip())


def outputs_valued(table: Table, value: float | None) -> set[ScoreKey]:
    """Return the outputs to which all rules of a table give this value, or None."""
    rows = read_scores(table, ScoreRow)
    others = {key_of(row) for row in rows if row.value not in {value, None}}
    return {key_of(row) for row in rows if row.value == value} - others


def read_all(
    scores: GivenTables,
    rules: ColumnList = (),
    runs: ColumnList = (),
    by: ColumnList = (),
    weight: str | None = None,
    cluster: str | None = None,
) -> tuple[list[GroupedRow], list[str]]:
    """Read score rows of one run per method, by all rules or by those that are named.

    Columns of problems group them (`by`), weigh them, or name their clusters. Return also notices
    on simple tables.
    """
    tables = as_tables(scores)
    files = [
        os.path.realpath(table) if isinstance(table, str | Path) else id(table) for table in tables
    ]
    if len(set(files)) < len(files):
        raise InputError("scores", "a file is given twice")
    placed, notices = list[tuple[GroupedRow, str]](), list[str]()
    described = [*by, *filter(None, [weight, cluster])]
    has_unused_clusters = False
    named_tables = name_tables(tables)
    for table in tables:
        table_name = named_tables.get(Path(table)) if isinstance(table, str | Path) else None
        completed = complete_table(table, described, named=table_name)
        notices += [f"{name_of(table)}: {remark}" for remark in completed.remarks]
        has_unused_clusters |= cluster is None and any(
            not _is_missing(row.get("cluster")) for _, row in completed.rows
        )
        values: Any = [*_grouped(completed.rows, by, weight, cluster)]
        placed += [(row, name_of(table)) for row in read_scores(values, GroupedRow)]
    if not placed:
        raise InputError("scores", "no rows")
    refuse_other("rule", rules, (row.rule for row, _ in placed))
    placed = [(row, place) for row, place in placed if not rules or row.rule in rules]
    seen: dict[tuple[Any, ...], str] = {}
    descriptions: dict[tuple[str, str, str | None], tuple[str, float, str | None]] = {}
    columns = ", ".join(described)
    for row, place in placed:
        if (key := (*key_of(row), row.rule, row.run)) in seen:
            named = " ".join(str(part) for part in key if part not in {None, ""})
            problem = f"two rows of {named}; the other is in {seen[key]}"
            cure = "if they are of two methods, name the files after them"
            raise InputError(place, problem if seen[key] == place else f"{problem}; {cure}")
        seen[key] = place
        description = row.group, row.weight, row.cluster
        if descriptions.setdefault((row.dataset, row.id, row.hash), description) != description:
            problem = f"id {row.id} of {row.dataset} has several values of {columns}"
            raise InputError(place, f"{problem}; expected a column that describes problems")
    if has_unused_clusters:
        notices.append(_UNUSED_CLUSTERS)
    return choose_runs([row for row, _ in placed], runs), notices


def choose_runs(rows: Sequence[_Score], wanted: Sequence[str] = ()) -> list[_Score]:
    """Keep one run of each method: the one with a wanted name, or part of it, or the `latest`."""
    runs = count_runs(rows)
    for name in wanted:
        if name != LATEST and not any(
            name in (run or "") for names in runs.values() for run in names
        ):
            several = "; ".join(describe_runs(runs)) or "no method has several runs"
            raise InputError(OptionUse("run", name), f"no run has this name; {several}")
    meant = {group: _meant([*names], wanted) for group, names in runs.items()}
    if unclear := {group: names for group, names in runs.items() if len(meant[group]) > 1}:
        cure = "choose one with " + OptionUse("run", placeholder="NAME")
        if LATEST in wanted:
            cure += " (not all have a time)"
        else:
            cure += " or " + OptionUse("run", LATEST)
        raise InputError("scores", f"{'; '.join(describe_runs(unclear))}; " + cure)
    chosen_rows = [row for row in rows if row.run in meant[group_of(row)]]
    epochs = {(group_of(row), row.epoch is None) for row in chosen_rows}
    for group in runs:
        if {(group, True), (group, False)} <= epochs:
            problem = "some rows have an epoch and others have none, so these are several runs"
            raise InputError(", ".join(group), f"{problem}; tell them apart by a column `run`")
    return chosen_rows


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


@row_kind(
    "score",
    "Accuracy of each method",
    Plot(
        "accuracy",
        panel=("dataset", "model"),
        label=("method", "rule", "run"),
        scale="share",
        series="method",
        aside="n",
    ),
    key=("n",),
)
class SummaryRow(NamedTuple):
    """Accuracy of a model with a method by a rule, as a fraction; no answer counts as wrong.

    These rows are drawn and printed; no file has them.
    """

    dataset: Label
    model: Label
    method: Label
    rule: Label
    run: Label | None
    n: int
    """Outputs whose score is known; `n_unknown` counts the others."""
    accuracy: Share | None
    accuracy_low: Share | None
    """Limit of Wilson's interval, with the effective number of problems. None: no output."""
    accuracy_high: Share | None
    answered: Share | None
    n_no_answer: UnansweredCount
    n_unknown: UnknownCount
    n_clusters: int | None = None
    """Number of clusters of problems, where they are known."""
    pass_at: Share | None = None
    """The chance that any of k answers to a problem is right. None: not wanted, or not known."""
    pass_at_low: Share | None = None
    pass_at_high: Share | None = None
    pass_hat: Share | None = None
    """The chance that all of k answers to a problem are right."""
    pass_hat_low: Share | None = None
    pass_hat_high: Share | None = None
    note: str = ""
    """Says that clusters are few or uneven; usually empty."""

    @property
    def title(self) -> str:
        """Return what messages call the run."""
        return ", ".join(filter(None, (self.dataset, self.model, self.method, self.rule)))


def summarise(rows: Iterable[ScoreRow]) -> list[SummaryRow]:
    """Return a row per run and rule, in the order of their first scores."""
    groups = defaultdict[object, list[ScoreRow]](list)
    for row in rows:
        groups[group_of(row), row.run].append(row)
    return [_summary(rows) for rows in groups.values()]


def _summary(rows: Sequence[ScoreRow]) -> SummaryRow:
    known_rows = [row for row in rows if row.status != UNKNOWN]
    n, share = len(known_rows), None
    has_clusters = n > 0 and all(row.cluster is not None for row in known_rows)
    if known_rows:
        from ngramscan.statistics.two_samples import (  # slow to import
            estimate_accuracy,
            estimate_clustered_accuracy,
        )

        counted_values = [counted_value(row.value, row.status) for row in known_rows]
        values = [value for value in counted_values if value is not None]
        clusters = [row.cluster for row in known_rows if row.cluster is not None]
        if has_clusters:
            share = estimate_clustered_accuracy(values, clusters)
        else:
            share = estimate_accuracy(values, [row.id for row in known_rows])
    return SummaryRow(
        *group_of(rows[0]),
        run=rows[0].run,
        n=n,
        **fields_of("accuracy", share),
        answered=sum(row.answer is not None for row in known_rows) / n if n else None,
        n_no_answer=sum(row.status == NO_ANSWER for row in known_rows),
        n_unknown=len(rows) - n,
        n_clusters=len({row.cluster for row in known_rows}) if has_clusters else None,
        note=_describe_clusters(known_rows) if has_clusters else "",
    )


def _describe_clusters(rows: Sequence[ScoreRow]) -> str:
    """Say that the clusters of rows are few or uneven, if any has several problems."""
    sizes = Counter(row.cluster for row in rows)
    has_several = len({row.id for row in rows}) > len(sizes)
    return describe_few_clusters([*sizes.values()]) if has_several else ""


def print_summaries(console: Console, rows: Iterable[ScoreRow]) -> None:
    """Print accuracies per run."""
    print_summary_rows(console, summarise(rows))


def print_summary_rows(
    console: Console, summaries: Sequence[SummaryRow], rates: Sequence[PassRate] = ()
) -> None:
    """Print accuracies per run, and pass rates."""
    has_runs = len({group_of(summary) for summary in summaries}) < len(summaries)
    names: list[str | tuple[str, str]] = ["dataset", "model", "method", "rule"]
    if has_runs:
        names.append("run")
    names.append("n")
    if any(summary.n_clusters for summary in summaries):
        names.append(("clusters", "n_clusters"))
    names += ["accuracy", *((rate.name, rate.column) for rate in rates), "answered"]
    names += [("no answer", "n_no_answer"), ("unknown", "n_unknown")]
    layout = Layout(5 if has_runs else 4, optional=("answered",))
    print_columns(console, to_columns(summaries, names), layout)
