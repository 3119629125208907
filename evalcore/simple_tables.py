"""The simplest tables of results, completed to score rows: ids and verdicts are enough.

Rows of `id`, `method` and a verdict; rows of `id` and a verdict in a file named after the method;
or rows of `id` and a column for each method.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalcore.path_names import TableName, name_by_path, named_part
from evalcore.scales import FROM_0_TO_1, ScoreScale
from evalcore.table_ids import TableRows, are_distinct, with_plain_ids
from ngramscan.errors import InputError, some_of
from ngramscan.messages import OptionUse, Text, joined
from ngramscan.reading.row_files import VALUE_NAMES, Table, name_of, read_table
from ngramscan.reading.streams import is_stream

RULE = "correct"
ID_NAMES = ("id", "question_id", "problem_id")
"""Names of the column with the id of a problem."""
_WHOLE = ("dataset", "model", "method", "id", "rule")
_OF_SCORES = {*_WHOLE, "epoch", "answer", "extraction", "reason", "sandbox", "subtask", "run"}
_OF_SCORES |= {"status", "hash", "cluster"}
_PLACES = {"#", "example", "idx", "index", "item", "problem", "question", "sample"}
"""Names of columns that may be ids."""
_KEYS = {*_WHOLE, "epoch", "run", "hash"}
"""Columns that tell rows apart."""
_UNNAMED = ("", "Unnamed: 0")
"""How pandas names the index of a frame in a CSV file, and in a frame read from one."""
_WORDS = {
    "true": 1.0,
    "false": 0.0,
    "yes": 1.0,
    "no": 0.0,
    "t": 1.0,
    "f": 0.0,
    "y": 1.0,
    "n": 0.0,
    "right": 1.0,
    "wrong": 0.0,
    "correct": 1.0,
    "incorrect": 0.0,
    "pass": 1.0,
    "fail": 0.0,
    "passed": 1.0,
    "failed": 0.0,
    "success": 1.0,
    "failure": 0.0,
    "✓": 1.0,
    "✗": 0.0,
    "✔": 1.0,
    "✘": 0.0,
    "✅": 1.0,
    "❌": 0.0,
}
_UNKNOWN = {"", "na", "n/a", "nan", "none", "null"}
_OTHER_SCALE = "`evalcore logs` reads points, with " + OptionUse("max_score")
_OF_PROBLEMS = (
    "a column that describes problems is named by "
    + joined([OptionUse("by"), OptionUse("weight"), OptionUse("cluster")], " or ")
    + ", or removed"
)
_FORMS = "id, method and value; or id and a column for each method"
_ScoreFields = Mapping[str, Any]


@dataclass(slots=True)
class CompletedTable:
    """The rows of a table with all columns of scores, and remarks on how they were read."""

    rows: TableRows
    remarks: list[str] = field(default_factory=list)


def complete_table(
    table: Table,
    described: Sequence[str] = (),
    scale: ScoreScale = FROM_0_TO_1,
    dataset: str = "",
    named: TableName | None = None,
) -> CompletedTable:
    """Read a table of scores, or one of the simplest tables, as rows of scores.

    Parameters
    ----------
    table : str, Path or DataFrame
        A table of scores, or of verdicts.
    described : sequence of str
        Columns that describe problems, and so are not methods.
    scale : Scale
        The scores of a wrong and of a right answer.
    dataset : str
        The benchmark of a table with one method, if no column names it.
    named : TableName, optional
        The method and the benchmark of rows without them, if other paths tell them apart.

    Returns
    -------
    CompletedTable
        Rows of scores after their places; rows that are complete are left as they are.

    Raises
    ------
    InputError
        The table has no ids or no verdicts, or something else where a verdict should be.
    """
    placed = list(read_table(table))
    columns = _columns_of(placed)
    if {*_WHOLE, "value"} <= columns.keys():
        return CompletedTable(placed)
    name = name_of(table)
    names = _usual_names(columns)
    placed = [(place, {names[column]: row[column] for column in row}) for place, row in placed]
    columns = _columns_of(placed)
    if "id" not in columns:
        raise InputError(name, f"no column id{_cure_for_id(columns)}; expected {_FORMS}")
    placed = with_plain_ids(placed)
    verdicts = _verdict_column(name, columns)
    if "method" not in columns and verdicts is None:
        return _complete_wide(table, placed, columns, described, scale)
    if verdicts is None:
        problem = f"no column value; a verdict may also be in {', '.join(VALUE_NAMES)}"
        raise InputError(name, problem)
    if named is None or "method" in columns:
        named = TableName(_name_in_path(table), dataset)
    return _complete_long(table, placed, columns, verdicts, scale, named)


def name_tables(tables: Iterable[Table]) -> Mapping[Path, TableName]:
    """Return the names of tables that are read together, if their paths tell them apart."""
    files = [Path(table) for table in tables if isinstance(table, str | Path)]
    return name_by_path([path for path in files if not is_stream(path)], _ids_of)


def _ids_of(path: Path) -> frozenset[str]:
    """Return the ids of a table; none if it can't be read, for which its reader has a message."""
    with suppress(InputError):
        return frozenset(str(row["id"]) for _, row in complete_table(path).rows)
    return frozenset()


def _columns_of(placed: TableRows) -> dict[str, None]:
    """Return the columns of all rows: JSON leaves out what a row does not have."""
    return dict.fromkeys(column for _, row in placed for column in row)


def _cure_for_id(columns: Iterable[str]) -> str:
    """Return which column may be the id."""
    words = {column: column.strip().lower() for column in columns}
    similar = [column for column, word in words.items() if word.endswith("id") or word in _PLACES]
    return f"; rename `{similar[0]}` to `id` if that is meant" if similar else ""


def _usual_names(columns: Mapping[str, None]) -> dict[str, str]:
    """Return what each column is called here: `id` for `ID`, for ` id`, and for an index."""
    names, taken = dict[str, str](), set[str]()
    has_id = any(column.strip().lower() == "id" for column in columns)
    for column in columns:
        usual = column.strip().lower()
        if column in _UNNAMED or (usual in ID_NAMES and not has_id):
            usual = "id"
        is_known = usual in {*_OF_SCORES, "value", *VALUE_NAMES} and usual not in columns
        is_free = usual not in taken
        names[column] = usual if is_known and is_free else column.strip() or column
        taken.add(names[column])
    return names


def _verdict_column(name: str, columns: Mapping[str, None]) -> str | None:
    if "value" in columns:
        return "value"
    candidates = [column for column in VALUE_NAMES if column in columns]
    if len(candidates) > 1:
        problem = f"{' and '.join(candidates)} may both be the verdict"
        raise InputError(name, f"{problem}; rename one of them to `value`")
    return candidates[0] if candidates else None


def _complete_long(
    table: Table,
    placed: TableRows,
    columns: Mapping[str, None],
    verdicts: str,
    scale: ScoreScale,
    named: TableName,
) -> CompletedTable:
    """Complete rows with one verdict each."""
    if "method" not in columns and not named.method:
        raise InputError(name_of(table), f"no column method; expected {_FORMS}")
    _refuse_unnamed_answers(name_of(table), placed, columns, verdicts)
    methods = {str(row.get("method")) for _, row in placed if "method" in columns}
    # A file with one method is one of several files about the same problems.
    names = _names(columns, named.method if len(methods) > 1 else named.dataset)
    if "method" not in columns:
        names["method"] = named.method
    rows = [
        (place, names | row | _verdict_of(place, verdicts, row.get(verdicts), scale))
        for place, row in placed
    ]
    return CompletedTable(rows, _describe(names, []))


def _refuse_unnamed_answers(
    name: str, placed: TableRows, columns: Mapping[str, None], verdicts: str
) -> None:
    """Raise an InputError if a column that is not known tells the answers to a problem apart."""
    keys = [column for column in columns if column in _KEYS]
    if are_distinct(placed, keys):
        return
    others = [column for column in columns if column not in {*_OF_SCORES, verdicts}]
    telling = next((column for column in others if are_distinct(placed, [*keys, column])), None)
    if telling is not None:
        has_method = "method" in columns
        usual, meaning = ("epoch", "repeated answers") if has_method else ("method", "the methods")
        problem = f"several rows of one id, which `{telling}` tells apart"
        raise InputError(name, f"{problem}; rename it to `{usual}` if it names {meaning}")


def _complete_wide(
    table: Table,
    placed: TableRows,
    columns: Mapping[str, None],
    described: Sequence[str],
    scale: ScoreScale,
) -> CompletedTable:
    """Complete rows with a column of verdicts for each method."""
    expected_columns = {*_OF_SCORES, *_UNNAMED, *described}
    others = [column for column in columns if column not in expected_columns]
    cells = {column: [(place, row.get(column)) for place, row in placed] for column in others}
    texts = [column for column in others if _is_text(value for _, value in cells[column])]
    methods = [column for column in others if column not in texts]
    if not methods:
        raise InputError(name_of(table), f"no column of verdicts; expected {_FORMS}")
    names = _names(columns, _name_in_path(table))
    shared_columns = [column for column in columns if column not in others]
    rows = TableRows()
    for method in methods:
        for (place, row), (_, cell) in zip(placed, cells[method], strict=True):
            of_problem = {column: row.get(column) for column in shared_columns}
            verdict = _verdict_of(place, method, cell, scale, _OF_PROBLEMS)
            rows.append((place, names | of_problem | {"method": method} | verdict))
    remarks = [f"methods are the columns {some_of(methods)}"]
    if texts:
        remarks.append(f"left out: {some_of(texts)}")
    return CompletedTable(rows, _describe(names, remarks))


def _is_text(cells: Iterable[Any]) -> bool:
    """Tell whether a column has no verdict at all, so that it describes problems."""
    filled = [cell for cell in cells if not _is_unknown(cell)]
    return bool(filled) and all(_number_of(cell) is None for cell in filled)


def _verdict_of(
    place: str, column: str, cell: Any, scale: ScoreScale, cure: Text = _OTHER_SCALE
) -> dict[str, Any]:
    """Return the value of a verdict and its reason; no value if it is unknown."""
    if _is_unknown(cell):
        return {"value": None, "reason": "recorded as unknown"}
    value = _share_of(cell, scale)
    if value is None:
        numbers = f"a number from {scale.lowest:g} to {scale.highest:g}"
        expected = f"expected true or false, yes or no, {numbers}, or nothing if unknown"
        raise InputError(place, f"{column} is {cell!r}; {expected} (" + cure + ")")
    return {"value": value, "reason": "as recorded"}


def _share_of(cell: Any, scale: ScoreScale) -> float | None:
    """Return a verdict as a number from 0 to 1; words and truth values have no other scale."""
    number = _number_of(cell)
    is_word = isinstance(cell, str) and cell.strip().lower() in _WORDS
    if number is None or is_word or isinstance(cell, bool):
        return number
    return scale.share_of(number)


def _is_unknown(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in _UNKNOWN
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _number_of(cell: Any) -> float | None:
    """Return the number that a cell is or means; None if it is something else."""
    if isinstance(cell, str):
        text = cell.strip().lower()
        if text in _WORDS:
            return _WORDS[text]
        with suppress(ValueError):
            return float(text)
    return float(cell) if isinstance(cell, bool | int | float) else None


def _names(columns: Mapping[str, None], dataset: str) -> dict[str, Any]:
    """Return the names that all rows get because the table has no column for them."""
    usual = {"dataset": dataset, "model": "", "rule": RULE}
    return {column: name for column, name in usual.items() if column not in columns}


def _name_in_path(table: Table) -> str:
    """Return the name of a file, or that of its folder; empty for frames and pipes."""
    if not isinstance(table, str | Path) or is_stream(Path(table)):
        return ""
    return named_part(Path(table)).stem


def _describe(names: Mapping[str, str], remarks: Sequence[str]) -> list[str]:
    """Return a remark on how a table was read, if it left anything open."""
    assumptions = [f"{column} is {name}" for column, name in names.items() if name]
    unnamed = [column for column, name in names.items() if not name]
    if unnamed:
        assumptions.append(f"no {' or '.join(unnamed)}")
    parts = [*remarks, *assumptions]
    return ["; ".join(parts)] if parts else []
