"""The options that say which scores are compared, and how they count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from evalcore.answer_table import CELL, LOWEST_COUNTED, NoAnswer
from evalcore.commands.logs import Log, is_log, read_logs
from evalcore.messages import Messages
from evalcore.options import ColumnName, ColumnNames, OptionNames
from evalcore.scores import GroupedRow, ScoreRow, read_all
from ngramscan.errors import InputError
from ngramscan.messages import OptionUse, Text
from ngramscan.options import OPTIONS, Option
from ngramscan.reading.row_files import GivenTables, Table, as_tables

PairBy = Literal["hash", "id"]


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
    rule: OptionNames = ()
    run: OptionNames = ()
    no_answer: NoAnswer = "wrong"
    right_from: Annotated[float | None, Option(metavar="VALUE", over=0, most=1)] = None
    pair_by: PairBy = "hash"
    cluster: ColumnName = None

    @property
    def unpooled(self) -> list[str]:
        """Return which of benchmark and model are not pooled."""
        named = [name for name in CELL[:2] if name in self.by]
        return named or (CELL[:2] if self.by else [])

    @property
    def lowest_level(self) -> int:
        """Return the lowest level of an answer that counts."""
        return LOWEST_COUNTED[self.no_answer]

    def read(
        self, scores: GivenTables, weight: str | None = None, is_one_rule: bool = True
    ) -> tuple[list[GroupedRow], Messages]:
        """Return the rows of score tables and of logs, and messages on logs that failed."""
        tables, log = _replace_logs(as_tables(scores), self.cluster)
        by = [name for name in self.by if name not in CELL[:2]]
        rows, table_notices = read_all(tables, self.rule, self.run, by, weight, self.cluster)
        if log.failures and len({row.method for row in rows}) < 2:
            raise log.failures[0]  # rather than an error that there is nothing to compare
        if self.pair_by == "id":
            rows = without_hashes(rows)
        if is_one_rule:
            _refuse_several_rules(rows)
        if self.right_from is not None:
            rows = _count_right(rows, self.right_from)
        failures: list[Text] = [str(failure) for failure in log.failures]
        return rows, Messages(notices=log.notices + table_notices, failures=failures)


def _replace_logs(tables: Sequence[Table], cluster: str | None) -> tuple[list[Table], Log]:
    """Return tables, in which rows replace logs, and the logs."""
    paths = [table for table in tables if isinstance(table, str | Path) and is_log(Path(table))]
    if not paths:
        return [*tables], Log()
    log = read_logs(paths, cluster=cluster)  # together, since each may complete another one
    cluster_column = "cluster" if cluster is None else cluster
    rows: Any = [
        (f"{row.dataset}, {row.method}", asdict(row) | {cluster_column: row.cluster})
        for row in log.rows
    ]
    replaced = [rows if table is paths[0] else table for table in tables]
    return [table for table in replaced if not any(table is path for path in paths)], log


def _count_right(rows: Iterable[GroupedRow], least: float) -> list[GroupedRow]:
    """Return scores in which values from `least` on are 1, and others 0."""
    return [
        row if row.value is None else replace(row, value=float(row.value >= least)) for row in rows
    ]


def _refuse_several_rules(rows: Sequence[ScoreRow]) -> None:
    """Raise an InputError if a benchmark has several rules."""
    for dataset in dict.fromkeys(row.dataset for row in rows):
        rules = dict.fromkeys(row.rule for row in rows if row.dataset == dataset)
        if len(rules) > 1:
            cure = "choose one with " + OptionUse("rule")
            raise InputError(dataset, f"scored by {', '.join(rules)}; " + cure)


def without_hashes(rows: Iterable[GroupedRow]) -> list[GroupedRow]:
    """Return score rows that are paired by id alone."""
    return [replace(row, hash=None) for row in rows]
