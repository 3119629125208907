"""Scores that are compared: which are read, what is known of each, two methods side by side.

A cell is what is compared separately: a benchmark, a model, a group of problems and a rule, unless
`--by` pools some.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import compress
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np

from evalcore.commands.logs import is_log, read_logs
from evalcore.options import ColumnNames, Names
from evalcore.scores import NO_ANSWER, NOT_FOUND, SCORED, UNKNOWN, GroupedRow, ScoreRow, read_all
from ngramscan.errors import InputError
from ngramscan.options import OPTIONS, Option
from ngramscan.progress import counted
from ngramscan.reading.row_files import GivenTables, Table, as_tables
from ngramscan.reporting.columns import ALL

if TYPE_CHECKING:
    import pandas as pd

Frame: TypeAlias = "pd.DataFrame"
NoAnswer = Literal["wrong", "exclude"]
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
    """

    heading: ClassVar[str] = OPTIONS

    by: ColumnNames = ("dataset", "model")
    rule: Names = ()
    run: Names = ()
    no_answer: NoAnswer = "wrong"
    right_from: Annotated[float | None, Option(metavar="VALUE", over=0, most=1)] = None

    @property
    def kept_apart(self) -> list[str]:
        """Return which of benchmark and model are not pooled."""
        return [name for name in CELL[:2] if name in self.by] or CELL[:2] * bool(self.by)

    @property
    def lowest(self) -> int:
        """Return the lowest level of an answer that counts."""
        return LEAST[self.no_answer]

    def read(
        self, scores: GivenTables, weight: str | None = None, is_one_rule: bool = True
    ) -> tuple[list[GroupedRow], list[str], list[str]]:
        """Return the rows of score tables and of logs, notices on logs, and logs that failed."""
        tables, notices, failures = list[Table](), list[str](), list[InputError]()
        for table in as_tables(scores):
            if isinstance(table, str | Path) and is_log(Path(table)):
                log = read_logs([table])
                placed: Any = [(str(table), asdict(row)) for row in log.rows]
                tables.append(placed)
                notices += log.notices
                failures += log.failures
            else:
                tables.append(table)
        by = [name for name in self.by if name not in CELL[:2]]
        rows = read_all(tables, self.rule, self.run, by, weight)
        if failures and len({row.method for row in rows}) < 2:
            raise failures[0]  # rather than an error that there is nothing to compare
        if is_one_rule:
            _refuse_rules(rows)
        if (least := self.right_from) is not None:
            rows = [
                row if row.value is None else replace(row, value=float(row.value >= least))
                for row in rows
            ]
        return rows, notices, [str(failure) for failure in failures]


def _refuse_rules(rows: Sequence[ScoreRow]) -> None:
    """Raise an InputError if a benchmark has several rules."""
    for dataset in dict.fromkeys(row.dataset for row in rows):
        known = dict.fromkeys(row.rule for row in rows if row.dataset == dataset)
        if len(known) > 1:
            raise InputError(dataset, f"scored by {', '.join(known)}; choose one with --rule")


def to_table(rows: Sequence[ScoreRow], by: Sequence[str] = CELL) -> Frame:
    """Return score rows in the order of their cells; columns that `by` does not name become `ALL`.

    `asked` numbers the original combinations of dataset, model and rule. `not_found` is 1 or 0 in
    complete outputs, inf where that is not known, and nan elsewhere.
    """
    import pandas as pd

    told = ("method", "id", "epoch", "value", "answer", "subtask", "status", "weight")
    usual = {"group": "", "weight": 1.0}  # of scores that are not grouped
    table = pd.DataFrame(
        {name: [getattr(row, name, usual.get(name)) for row in rows] for name in (*CELL, *told)}
    )
    table["value"] = table["value"].astype(float)
    levels = table["status"].map({UNKNOWN: NOT_KNOWN, NO_ANSWER: NOT_ANSWERED})
    table["level"] = levels.fillna(ANSWERED)
    table["not_found"] = table["status"].map({SCORED: 0.0, NOT_FOUND: 1.0})
    untold = [row.status == SCORED and row.answer is None and not row.sandbox for row in rows]
    table.loc[untold, "not_found"] = inf
    table["asked"] = table.groupby(CELL, sort=False).ngroup()
    table["problem"] = table.groupby(["dataset", "id"]).ngroup()
    is_second = table.duplicated(["asked", "method", "id", "epoch"])
    for row in compress(rows, is_second):
        named = f"{row.dataset}, {row.model}, {row.method}, {row.rule}, id {row.id}"
        raise InputError(named, "scored twice; was a file given twice?")
    table["subtask"] = table["subtask"].replace("", None)
    table["subtask"] = table.groupby(["asked", "id"])["subtask"].transform("last")
    table = table.assign(**{name: ALL for name in CELL[:2] if name not in by})
    by_cell = table.groupby(CELL, sort=False).ngroup().argsort(kind="stable")
    return table.iloc[by_cell].assign(place=range(len(table)))


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
    keys = [*CELL, "cell", "asked", "problem", "weight", "subtask", "id", "epoch"]
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


def left_out(what: str, cells: Iterable[tuple[str, Any]], lowest: int) -> dict[str, Any]:
    """Say how many `what` are left out of cells, given by name and levels, and why.

    Return the heading, notices and failures of a result.
    """
    notices, failures, totals = list[str](), list[str](), np.zeros(5, dtype=int)
    for name, levels in cells:
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
        if is_empty:
            failures.append(f"{name}: nothing to compare; {message}")
        elif why:
            notices.append(f"{name}: {message}")
    if len(notices) > 4:
        notices = [f"{notices[0]}; see n_unknown for {len(notices) - 1} more"]
    n = int(totals[:NOT_ANSWERED].sum())
    heading = f"{n:,} of {counted(int(totals.sum()), what)} {'is' if n == 1 else 'are'} left out"
    heading = f"{heading}, because one of the results is unknown" * bool(n)
    return {"heading": heading, "notices": notices, "failures": failures}
