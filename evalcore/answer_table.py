"""Scores as one table of answers: which documents they are about, and what is known of each.

A cell is what is compared separately: a benchmark, a model, a group of problems and a rule, unless
`--by` pools some. Answers are about the same document if their hashes say so (see documents.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from evalcore.documents import join_tasks, name_documents
from evalcore.scores import ScoreRow
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, counted
from ngramscan.reading.score_values import NO_ANSWER, NOT_FOUND, SCORED, UNKNOWN
from ngramscan.reporting.columns import ALL
from ngramscan.statistics.clusters import describe_few_clusters

if TYPE_CHECKING:
    import pandas as pd

Frame: TypeAlias = "pd.DataFrame"
NoAnswer = Literal["wrong", "exclude"]
CELL = ["dataset", "model", "group", "rule"]
NAMES = [*CELL, "baseline", "treatment"]
NOT_ASKED, NOT_KNOWN, NOT_ANSWERED, ANSWERED, RIGHT = range(5)
"""How much is known about an answer; a pair or problem counts by its lowest level."""
LOWEST_COUNTED = {"wrong": NOT_ANSWERED, "exclude": ANSWERED}
"""The lowest level that counts, by how missing answers are treated."""
_COPIED = (
    "method",
    "id",
    "hash",
    "epoch",
    "value",
    "answer",
    "subtask",
    "status",
    "weight",
    "cluster",
)
"""Fields of score rows that are columns of the table, cells aside."""
_UNGROUPED = {"group": "", "weight": 1.0}
"""Values of scores that are not grouped."""


def make_answer_table(rows: Sequence[ScoreRow], by: Sequence[str] = CELL) -> Frame:
    """Return score rows in the order of their cells; columns that `by` does not name become `ALL`.

    Parameters
    ----------
    rows : sequence of ScoreRow
        Scores of one run per method.
    by : sequence of str
        Which of dataset and model are kept apart.

    Returns
    -------
    DataFrame
        The index is the number of the score row. Columns, besides those of scores:

        * `task`: the name of the benchmark in the scores; `benchmark`: the common name of tasks
          that are prompts of the same documents; `dataset`: the same, or `ALL`
        * `source_cell`: number of the original combination of dataset, model, group and rule
        * `document`, `problem`: name and number of the document
        * `unit`: number of what is independent: clusters of problems, or by default problems
        * `level`: how much is known about the answer, from NOT_KNOWN to ANSWERED
        * `not_found`: 1 or 0 in complete outputs, inf where that is not known, nan elsewhere
        * `position`: number of the row in this table

    Raises
    ------
    InputError
        An answer is scored twice, or a document has two weights or clusters.
    """
    table = _copy_fields(rows)
    benchmarks = join_tasks(rows)
    table["task"] = table["dataset"]
    table["dataset"] = table["task"].map(benchmarks)
    table["benchmark"] = table["dataset"]  # which stays where benchmarks are pooled
    table["document"] = name_documents(rows, benchmarks)
    table["source_cell"] = table.groupby(CELL, sort=False).ngroup()
    table["problem"] = table.groupby(["dataset", "document"]).ngroup()
    _refuse_repeated(table, rows)
    _refuse_uneven(table, "weight")
    _refuse_uneven(table, "cluster")
    table["unit"] = table["problem"]
    if table["cluster"].notna().all():
        table["unit"] = table.groupby(["dataset", "cluster"]).ngroup()
    table["subtask"] = table["subtask"].replace("", None)
    table["subtask"] = table.groupby(["source_cell", "problem"])["subtask"].transform("last")
    table = table.assign(**{name: ALL for name in CELL[:2] if name not in by})
    by_cell = table.groupby(CELL, sort=False).ngroup().argsort(kind="stable")
    return table.iloc[by_cell].assign(position=range(len(table)))


def _copy_fields(rows: Sequence[ScoreRow]) -> Frame:
    """Return the fields of score rows, and what they say about each answer."""
    import pandas as pd

    columns = {
        name: [getattr(row, name, _UNGROUPED.get(name)) for row in rows]
        for name in [*CELL, *_COPIED]
    }
    table = pd.DataFrame(columns)
    table["value"] = table["value"].astype(float)
    levels = table["status"].map({UNKNOWN: NOT_KNOWN, NO_ANSWER: NOT_ANSWERED})
    table["level"] = levels.fillna(ANSWERED)
    table["not_found"] = table["status"].map({SCORED: 0.0, NOT_FOUND: 1.0})
    lacks_answer = [row.status == SCORED and row.answer is None and not row.sandbox for row in rows]
    table.loc[lacks_answer, "not_found"] = inf
    return table


def _refuse_repeated(table: Frame, rows: Sequence[ScoreRow]) -> None:
    """Raise an InputError if an answer is scored twice."""
    is_repeated = table.duplicated(["source_cell", "method", "problem", "epoch"])
    if row := next(compress(rows, is_repeated), None):
        named = f"{row.dataset}, {row.model}, {row.method}, {row.rule}, id {row.id}"
        raise InputError(named, "scored twice; was a file given twice?")


def _refuse_uneven(table: Frame, column: Literal["weight", "cluster"]) -> None:
    """Raise an InputError if rows of one document differ in a column that describes it."""
    first_values = table.groupby("problem")[column].transform("first")
    different = table[table[column].notna() & (table[column] != first_values)]
    if not different.empty:
        place = f"{different['task'].iloc[0]}, id {different['id'].iloc[0]}"
        option = "the column that " + OptionUse(column) + " names"
        problem = "another row of this document has another value of " + option
        raise InputError(place, problem)


class Clusters(NamedTuple):
    """The clusters that the answers of a row are from."""

    n: int | None
    """Their number; None: `--cluster` is not given."""
    have_several_problems: bool
    """Whether any has several problems, so that problems are not independent."""
    note: str
    """Says that they are few or uneven; usually empty."""


def count_clusters(answers: Frame) -> Clusters:
    """Count the clusters of answers, a part of the answer table or of pairs from it."""
    sizes = answers.groupby("unit").size()
    n = len(sizes) if answers["cluster"].notna().any() else None
    have_several_problems = answers["problem"].nunique() > len(sizes)
    note = describe_few_clusters(sizes) if have_several_problems else ""
    return Clusters(n, have_several_problems, note)


def describe_documents(table: Frame) -> list[str]:
    """Return notices on tasks that are one benchmark, and on ids of different documents."""
    joined_tasks, shared_ids = _describe_joined_tasks(table), _describe_shared_ids(table)
    return [*_shorten(joined_tasks), *_shorten(shared_ids)]


def _shorten(notices: Iterable[str]) -> list[str]:
    """Return notices of one kind; only the first one of many."""
    listed = list(notices)
    return listed if len(listed) < 5 else [f"{listed[0]}; and {len(listed) - 1} more like this"]


def _describe_joined_tasks(table: Frame) -> Iterator[str]:
    tasks = table[["task", "benchmark"]].drop_duplicates().groupby("benchmark", sort=False)["task"]
    for benchmark, names in tasks:
        if len(names) > 1:
            yield f"{', '.join(names)} have documents in common: compared as {benchmark}"


def _describe_shared_ids(table: Frame) -> Iterator[str]:
    by_id = table.groupby(["benchmark", "id"], sort=False)["problem"].nunique()
    is_shared = by_id > 1
    for benchmark, n_problems in by_id[is_shared].groupby(level="benchmark", sort=False):
        ids = [*n_problems.index.get_level_values("id")]
        verb = "names" if len(ids) == 1 else "name"
        yield (
            f"{str(benchmark) or 'scores'}: {counted(len(ids), 'id')} {verb} different documents"
            f" ({first_few(ids)}), so answers are paired by the hash of the document"
        )


def first_few(names: Sequence[object]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(str, names[:3])) + more


def name_cell(names: Iterable[str]) -> str:
    """Return what messages call a cell, or something in one."""
    return ", ".join(filter(None, names))
