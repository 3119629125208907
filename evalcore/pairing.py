"""Scores that are compared: which are read, what is known of each, two methods side by side.

A cell is what is compared separately: a benchmark, a model, a group of problems and a rule, unless
`--by` pools some. Answers are paired if they are about the same document (see documents.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, compress
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from evalcore.commands.logs import Log, is_log, read_logs
from evalcore.documents import join_tasks, name_documents
from evalcore.options import ColumnName, ColumnNames, Names
from evalcore.scores import NO_ANSWER, NOT_FOUND, SCORED, UNKNOWN, GroupedRow, ScoreRow, read_all
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, counted
from ngramscan.options import OPTIONS, Option
from ngramscan.reading.row_files import GivenTables, Table, as_tables
from ngramscan.reporting.columns import ALL
from ngramscan.statistics.clusters import describe_few_clusters

if TYPE_CHECKING:
    import pandas as pd

Frame: TypeAlias = "pd.DataFrame"
NoAnswer = Literal["wrong", "exclude"]
PairBy = Literal["hash", "id"]
CELL = ["dataset", "model", "group", "rule"]
NAMES = [*CELL, "baseline", "treatment"]
NOT_ASKED, NOT_KNOWN, NOT_ANSWERED, ANSWERED, RIGHT = range(5)
"""How much is known about an answer; a pair or problem counts by its lowest level."""
LEAST = {"wrong": NOT_ANSWERED, "exclude": ANSWERED}
"""The lowest level that counts, by how missing answers are treated."""


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """Which scores are compared, and how they count.

    Parameters
    ----------
    by : str or sequence of str
        Show separately each value of these columns of the scores, which may be any that describe
        problems. Benchmarks and models are kept apart unless only one of them is named.
    rule : str or sequence of str
        Use only scores by these rules.
    run : str or sequence of str
        The run to use where a method has several: its name, part of it, or `latest`.
    no_answer : str
        How to count outputs that were refused, cut off or empty: as `wrong`, or `exclude` them.
    right_from : float, optional
        Count graded answers as right from this value on (0 to 1), and as wrong below it.
    pair_by : str
        Pair answers by the `hash` of the document where both have one, or only by `id`.
    cluster : str, optional
        Take problems with the same value of this column, such as their passage, together: they are
        not independent. In logs, a field of the sample's metadata or of the document.
    """

    heading: ClassVar[str] = OPTIONS

    by: ColumnNames = ("dataset", "model")
    rule: Names = ()
    run: Names = ()
    no_answer: NoAnswer = "wrong"
    right_from: Annotated[float | None, Option(metavar="VALUE", over=0, most=1)] = None
    pair_by: PairBy = "hash"
    cluster: ColumnName = None

    @property
    def kept_apart(self) -> list[str]:
        """Return which of benchmark and model are not pooled."""
        named = [name for name in CELL[:2] if name in self.by]
        return named or (CELL[:2] if self.by else [])

    @property
    def lowest(self) -> int:
        """Return the lowest level of an answer that counts."""
        return LEAST[self.no_answer]

    def read(
        self, scores: GivenTables, weight: str | None = None, is_one_rule: bool = True
    ) -> tuple[list[GroupedRow], list[str], list[str]]:
        """Return the rows of score tables and of logs, notices on them, and logs that failed."""
        tables, log = _with_logs(as_tables(scores), self.cluster)
        by = [name for name in self.by if name not in CELL[:2]]
        rows, of_tables = read_all(tables, self.rule, self.run, by, weight, self.cluster)
        if log.failures and len({row.method for row in rows}) < 2:
            raise log.failures[0]  # rather than an error that there is nothing to compare
        if self.pair_by == "id":
            rows = without_hashes(rows)
        if is_one_rule:
            _refuse_rules(rows)
        if (least := self.right_from) is not None:
            rows = [
                row if row.value is None else replace(row, value=float(row.value >= least))
                for row in rows
            ]
        return rows, log.notices + of_tables, [str(failure) for failure in log.failures]


def _with_logs(given: Sequence[Table], cluster: str | None) -> tuple[list[Table], Log]:
    """Return tables, in which rows take the place of logs, and the logs."""
    paths = [table for table in given if isinstance(table, str | Path) and is_log(Path(table))]
    if not paths:
        return [*given], Log()
    log = read_logs(paths, cluster=cluster)  # together, since one tells what another one lacks
    named = "cluster" if cluster is None else cluster
    rows: Any = [
        (f"{row.dataset}, {row.method}", asdict(row) | {named: row.cluster}) for row in log.rows
    ]
    tables = [rows if table is paths[0] else table for table in given]
    return [table for table in tables if not any(table is path for path in paths)], log


def _refuse_rules(rows: Sequence[ScoreRow]) -> None:
    """Raise an InputError if a benchmark has several rules."""
    for dataset in dict.fromkeys(row.dataset for row in rows):
        known = dict.fromkeys(row.rule for row in rows if row.dataset == dataset)
        if len(known) > 1:
            raise InputError(
                dataset, f"scored by {', '.join(known)}; choose one with " + OptionUse("rule")
            )


def without_hashes(rows: Iterable[GroupedRow]) -> list[GroupedRow]:
    """Return score rows that are paired by id alone."""
    return [replace(row, hash=None) for row in rows]


def to_table(rows: Sequence[ScoreRow], by: Sequence[str] = CELL) -> Frame:
    """Return score rows in the order of their cells; columns that `by` does not name become `ALL`.

    `asked` numbers the original combinations of dataset, model and rule, `problem` the documents,
    and `unit` what is independent: clusters of problems, or by default problems. Tasks that are
    prompts of the same documents are one dataset; `task` has their names.
    `not_found` is 1 or 0 in complete outputs, inf where that is not known, and nan elsewhere.
    """
    import pandas as pd

    copied = ["method", "id", "hash", "epoch", "value", "answer", "subtask", "status", "weight"]
    copied.append("cluster")
    usual = {"group": "", "weight": 1.0}  # of scores that are not grouped
    table = pd.DataFrame(
        {name: [getattr(row, name, usual.get(name)) for row in rows] for name in [*CELL, *copied]}
    )
    table["value"] = table["value"].astype(float)
    levels = table["status"].map({UNKNOWN: NOT_KNOWN, NO_ANSWER: NOT_ANSWERED})
    table["level"] = levels.fillna(ANSWERED)
    table["not_found"] = table["status"].map({SCORED: 0.0, NOT_FOUND: 1.0})
    untold = [row.status == SCORED and row.answer is None and not row.sandbox for row in rows]
    table.loc[untold, "not_found"] = inf
    benchmarks = join_tasks(rows)
    table["task"] = table["dataset"]
    table["dataset"] = table["task"].map(benchmarks)
    table["benchmark"] = table["dataset"]  # which stays where benchmarks are pooled
    table["document"] = name_documents(rows, benchmarks)
    table["asked"] = table.groupby(CELL, sort=False).ngroup()
    table["problem"] = table.groupby(["dataset", "document"]).ngroup()
    is_second = table.duplicated(["asked", "method", "problem", "epoch"])
    if row := next(compress(rows, is_second), None):
        named = f"{row.dataset}, {row.model}, {row.method}, {row.rule}, id {row.id}"
        raise InputError(named, "scored twice; was a file given twice?")
    _refuse_uneven(table, "weight")
    _refuse_uneven(table, "cluster")
    table["unit"] = table["problem"]
    if table["cluster"].notna().all():
        table["unit"] = table.groupby(["dataset", "cluster"]).ngroup()
    table["subtask"] = table["subtask"].replace("", None)
    table["subtask"] = table.groupby(["asked", "problem"])["subtask"].transform("last")
    table = table.assign(**{name: ALL for name in CELL[:2] if name not in by})
    by_cell = table.groupby(CELL, sort=False).ngroup().argsort(kind="stable")
    return table.iloc[by_cell].assign(place=range(len(table)))


def _refuse_uneven(table: Frame, column: Literal["weight", "cluster"]) -> None:
    """Raise an InputError if rows of one document differ in a column that describes it."""
    first = table.groupby("problem")[column].transform("first")
    different = table[table[column].notna() & (table[column] != first)]
    if not different.empty:
        place = f"{different['task'].iloc[0]}, id {different['id'].iloc[0]}"
        named = "the column that " + OptionUse(column) + " names"
        problem = "another row of this document has another value of " + named
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
    """Count the clusters of answers, a part of `to_table` or of pairs from it."""
    sizes = answers.groupby("unit").size()
    n = len(sizes) if answers["cluster"].notna().any() else None
    have_several_problems = answers["problem"].nunique() > len(sizes)
    note = describe_few_clusters(sizes) if have_several_problems else ""
    return Clusters(n, have_several_problems, note)


def describe_documents(table: Frame) -> list[str]:
    """Return notices on tasks that are one benchmark, and on ids of different documents."""
    return [*_some(_describe_joined_tasks(table)), *_some(_describe_shared_ids(table))]


def _some(notices: Iterable[str]) -> list[str]:
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
    for benchmark, several in by_id[by_id > 1].groupby(level="benchmark", sort=False):
        ids = [*several.index.get_level_values("id")]
        verb = "names" if len(ids) == 1 else "name"
        yield (
            f"{str(benchmark) or 'scores'}: {counted(len(ids), 'id')} {verb} different documents"
            f" ({first_few(ids)}), so answers are paired by the hash of the document"
        )


def describe_tasks_apart(table: Frame) -> list[str]:
    """Say how many documents two tasks have in common that are compared separately."""
    hashes = table.dropna(subset="hash").groupby("task", sort=False)["hash"].agg(set)
    documents: Any = hashes.to_dict()
    for (first, own), (second, other) in combinations(documents.items(), 2):
        n_common, smaller = len(own & other), min(len(own), len(other))
        if 2 * n_common < smaller:
            common = f"{n_common:,} of {smaller:,} documents" if n_common else "no document"
            cure = "for one benchmark, `evalcore logs --dataset NAME`, then `compare --pair-by id`"
            return [f"{first} and {second} have {common} in common ({cure})"]
    return []


def first_few(names: Sequence[object]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(map(str, names[:3])) + more


def name_cell(names: Iterable[str]) -> str:
    """Return what messages call a cell, or something in one."""
    return ", ".join(filter(None, names))


def find_pairs(table: Frame, methods: Iterable[tuple[str, str]]) -> list[Frame]:
    """Return the pairs of answers of each baseline and treatment, for each cell that has both.

    Columns of the baseline end in 1. Answers are paired by epoch if both methods have the same
    epochs. Otherwise each answer of one is paired with each answer of the other, so that the mean
    of the differences is the difference of a problem's means.
    """
    table = table.assign(cell=table.groupby(CELL, sort=False).ngroup())
    epochs: Any = table.groupby(["asked", "method"])["epoch"].agg(frozenset).to_dict()
    keys = [*CELL, "cell", "asked", "problem", "document", "unit", "cluster", "weight"]
    keys += ["subtask", "epoch"]
    found = []
    for number, chosen in enumerate(methods):
        uneven = [n for n, _ in epochs if len({epochs.get((n, name)) for name in chosen}) > 1]
        matching = table.assign(epoch=table["epoch"].mask(table["asked"].isin(uneven)))
        first, second = (matching[matching["method"] == name] for name in chosen)
        both = first.merge(second, how="outer", on=keys, suffixes=("_1", "_2"))
        levels = both[["level_1", "level_2"]].fillna(NOT_ASKED)
        both = both.assign(least=levels.min(axis=1), baseline=chosen[0], treatment=chosen[1])
        for cell, pairs in both.sort_values("place_1", kind="stable").groupby("cell"):
            if levels.loc[pairs.index].any().all():
                found.append((cell, number, pairs))
    return [pairs for _, _, pairs in sorted(found, key=itemgetter(0, 1))]


def overlap_of_pairs(pairs: Frame) -> str:
    """Describe which documents the two methods of pairs have in common; see `describe_overlap`."""
    chosen = [pairs["baseline"].iloc[0], pairs["treatment"].iloc[0]]
    is_asked = pairs[["level_1", "level_2"]].notna().set_axis(chosen, axis=1)
    has_hashes = bool(pairs[["hash_1", "hash_2"]].notna().any(axis=None))
    by_problem = is_asked.groupby([pairs["problem"], pairs["document"]], sort=False).any()
    return describe_overlap(by_problem.droplevel("problem"), has_hashes)


def describe_overlap(is_asked: Frame, has_hashes: bool) -> str:
    """Describe which documents methods have in common.

    Parameters
    ----------
    is_asked : DataFrame of bool
        Whether a method, a column, was asked about a document, a row.
    has_hashes : bool
        Whether the hash of a document is known.

    Returns
    -------
    str
        Part of a sentence; empty if one method was asked about all that another one was.
    """
    sizes, n_common = is_asked.sum(), int(is_asked.all(axis=1).sum())
    if n_common == 0:
        named = [f"{method} has {first_few([*has[has].index])}" for method, has in is_asked.items()]
        cure = "if their ids mean the same, --pair-by id" if has_hashes else "check the ids"
        return f"no document in common: {'; '.join(named)} ({cure})"
    if n_common == sizes.min():
        return ""
    every = "both" if len(sizes) == 2 else "all"
    if sizes.nunique() == 1:
        return f"{n_common:,} of {sizes.iloc[0]:,} documents are in {every}"
    each = ", ".join(f"{n:,} of {method}" for method, n in sizes.items())
    return f"of the documents ({each}) {n_common:,} are in {every}"


def left_out(what: str, cells: Iterable[tuple[str, Any, str]], lowest: int) -> dict[str, Any]:
    """Say how many `what` are left out of cells, given by name, levels and overlap, and why.

    Return the heading, notices and failures of a result.
    """
    notices, failures, totals = list[str](), list[str](), np.zeros(5, dtype=int)
    for name, levels, overlap in cells:
        counts = np.bincount(levels.astype(int), minlength=5)
        totals += counts
        one_sided, unknown, no_answer, *_ = counts.tolist()
        is_empty = not counts[lowest:].any()
        reasons = {
            "with an unknown result": unknown,
            "not put to every method": one_sided,
            "without an answer": no_answer if is_empty else 0,
        }
        why = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items() if n)
        message = f"{counted(sum(reasons.values()), what)} left out: {why}"
        if overlap:
            message += f"; {overlap}"
        if is_empty:
            failures.append(f"{name}: nothing to compare; {message}")
        elif why:
            notices.append(f"{name}: {message}")
    if len(notices) > 4:
        notices = [f"{notices[0]}; see n_unknown for {len(notices) - 1} more"]
    heading = _describe_left_out(what, totals)
    return {"heading": heading, "notices": notices, "failures": failures}


def _describe_left_out(what: str, totals: npt.NDArray[np.int_]) -> str:
    """Return how many of all pairs or problems are left out and why; empty if none is."""
    one_sided, unknown = int(totals[NOT_ASKED]), int(totals[NOT_KNOWN])
    n = one_sided + unknown
    if not n:
        return ""
    verb = "is" if n == 1 else "are"
    cause = "one of the results is unknown"
    if one_sided:
        cause = f"{cause} or missing" if unknown else "not every method was asked"
    return f"{n:,} of {counted(int(totals.sum()), what)} {verb} left out, because {cause}"
