"""The parts that several tables share: headlines, groups, intervals, totals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console

from ngramscan.indexes.base import IndexSize, QueryFailure
from ngramscan.indexes.catalog import find_hosted
from ngramscan.indexes.sizes import size_parts
from ngramscan.messages import counted
from ngramscan.prevalence.count import CountRow
from ngramscan.prevalence.totals import Total
from ngramscan.reporting.layout import (
    UNKNOWN,
    Layout,
    cell,
    print_columns,
    print_line,
    with_interval,
)
from ngramscan.rows import Note

if TYPE_CHECKING:
    from ngramscan.prevalence.docnorm import DocnormRow  # loads scipy

BYTES_AND_TOKENS = (
    "two kinds of counts, never to be added: occurrences are those of the string,"
    " wherever it stands; token occurrences only those as an n-gram after a space or at the"
    " beginning of a line"
)
_FEW_INDEXES = 2
DOUBTFUL = "doubtful: a single file makes up more than a tenth of the estimate"
Row = TypeVar("Row")
AnyTotal = TypeVar("AnyTotal", bound=Total)


def print_index(console: Console, index: str, size: IndexSize) -> None:
    """Print the name and size of an index, above its tables."""
    parts = [index]
    hosted = find_hosted(index)
    # Another host may have anything under this name.
    if hosted and hosted.bytes == size.bytes:
        parts.append(f"{hosted.corpus}, {hosted.kind}")
    print_line(console, " · ".join([*parts, *size_parts(size)]), "bold")


def describe_few(sizes: Mapping[str, IndexSize], indexes: Sequence[str]) -> list[str]:
    """Return the sizes of indexes, a line each, if there are one or two."""
    if len(indexes) > _FEW_INDEXES:
        return []
    return [" · ".join([index, *size_parts(sizes[index])]) for index in indexes]


def describe_notes(
    rows: Iterable[CountRow | DocnormRow], notes: Mapping[str, Sequence[Note]]
) -> list[str]:
    """Return what the notes on some rows say, a line each, and how bytes and tokens differ.

    `notes` are those of each index.
    """
    units = group_by(rows, "unit")
    lines = [
        line
        for unit in sorted(units)
        for line in describe_shared_notes(
            {index: notes.get(index, ()) for index in group_by(units[unit], "index")}
        )
    ]
    return [*lines, BYTES_AND_TOKENS] if len(units) > 1 else lines


def describe_shared_notes(notes: Mapping[str, Sequence[Note]]) -> list[str]:
    """Return the general notes, then those that all indexes share, then those of single ones.

    `notes` are those of each index. Notes on single queries are left out: their rows have them.
    """
    every = [note for of_index in notes.values() for note in of_index]
    general = dict.fromkeys(note.text for note in every if note.scope == "general")
    by_index = {
        index: [note.text for note in of_index if note.scope == "index"]
        for index, of_index in notes.items()
    }
    shared = dict.fromkeys(
        text
        for texts in by_index.values()
        for text in texts
        if all(text in others for others in by_index.values())
    )
    lines = [*general, *shared]
    for index, texts in by_index.items():
        of_one = [text for text in texts if text not in shared]
        if of_one:
            lines.append(f"{index}: {'; '.join(of_one)}")
    return lines


def describe_lost_indexes(rows: Sequence[Any], sizes: Mapping[str, IndexSize]) -> list[str]:
    """Return a line for each index that has no row."""
    counted_indexes = {row.index for row in rows}
    return [f"no counts are known in {index}" for index in sizes if index not in counted_indexes]


def describe_lost_phrases(
    missing: Iterable[QueryFailure], phrases: Iterable[str], rows: Sequence[Any]
) -> list[str]:
    """Return how many phrases have no row in any index, if some have one."""
    failed = {failure.query for failure in missing} & {*phrases}
    failed -= {row.pattern for row in rows}
    if not failed or not rows:
        return []
    return [f"{counted(len(failed), 'phrase')} without a count in any corpus"]


def print_notes(console: Console, *lines: str) -> None:
    """Print notes that help to read the tables above."""
    for line in lines:
        print_line(console, line, "dim")


def group_by(rows: Iterable[Row], *names: str) -> dict[Any, list[Row]]:
    """Return rows by the values of one or several columns, in their order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(attrgetter(*names)(row), []).append(row)
    return groups


def print_indexes(
    console: Console, sizes: Mapping[str, IndexSize], rows: Iterable[Row]
) -> Iterator[tuple[str, list[Row]]]:
    """Print the headline of each index that has rows, and yield its name and rows."""
    by_index = group_by(rows, "index")
    for index, size in sizes.items():
        if index in by_index:
            print_index(console, index, size)
            yield index, by_index[index]


def pattern_columns(rows: Sequence[Any], name: str) -> dict[str, list[str]]:
    """Return the columns that name patterns; `name` is the column of their texts."""
    return {
        "method": [cell(row.method) for row in rows],
        "tier": [cell(row.tier) for row in rows],
        "pattern": [getattr(row, name) for row in rows],
    }


def naming(rows: Sequence[object], *names: str) -> dict[str, list[str]]:
    """Return the columns that name the rows: dataset and model, which are headings, and others."""
    columns = {name: [getattr(row, name) for row in rows] for name in ("dataset", "model", *names)}
    return columns | {"model": [model or UNKNOWN for model in columns["model"]]}


def pivot(
    rows: Iterable[Row], name: str, show: Callable[[Row], str]
) -> tuple[list[Row], dict[str, list[str]]]:
    """Return the first row of each prompt, and a column of cells for each value of `name`."""
    prompts = group_by(rows, "dataset", "model", "prompt").values()
    cells = [{getattr(row, name): show(row) for row in group} for group in prompts]
    values = dict.fromkeys(value for by_value in cells for value in by_value)
    columns = {value: [by_value.get(value, UNKNOWN) for by_value in cells] for value in values}
    return [group[0] for group in prompts], columns


def section_ends(rows: Sequence[object], *names: str) -> list[bool]:
    """Return after which rows the value of one of the columns changes."""
    return [key != following for key, following in pairwise(map(attrgetter(*names), rows))]


def interval(row: object, name: str, show: Callable[[Any], str] = cell) -> str:
    """Return a column with its limits: an exact value alone, no upper limit as infinite."""
    value, low, high = attrgetter(name, f"{name}_low", f"{name}_high")(row)
    return _with_limits(value, low, high, show)


def _with_limits(value: Any, low: Any, high: Any, show: Callable[[Any], str] = cell) -> str:
    is_exact = value is not None and value == low == high
    return show(value) if is_exact else with_interval(value, low, high, show)


def two_estimates(lower: Any, upper: Any, low: Any, high: Any) -> str:
    """Return two estimates with the limits around both; a missing upper one is infinite."""
    return with_interval(f"{cell(lower)}–{'∞' if upper is None else cell(upper)}", low, high, cell)


def show_total(total: Total | None) -> str:
    """Return a total with its limits."""
    if total is None or total.value is None:
        return UNKNOWN
    if total.statistic == "largest_pattern_share":
        return f"{total.note} ({total.value:.0%})"
    if total.level is None:
        return cell(total.value)
    return _with_limits(total.value, total.low, total.high)


def print_totals(
    console: Console,
    title: str | None,
    totals: Iterable[AnyTotal],
    statistics: Mapping[str, str],
    optional: tuple[str, ...] = (),
    show: Callable[[AnyTotal | None], str] = show_total,
) -> None:
    """Print one row per method, or pair of them, tiers and kind; columns are statistics by title.

    The kinds have a column if there are totals of single kinds as well as of a whole list.
    """
    printed_totals = [total for total in totals if total.statistic in statistics.values()]
    if not printed_totals:
        return
    groups = group_by(printed_totals, "tiers", "method", "versus", "kind")
    is_pair = printed_totals[0].versus is not None
    columns = {
        "methods" if is_pair else "method": [
            f"{method} : {versus}" if versus else method for _, method, versus, _ in groups
        ],
        "tiers": [tiers for tiers, *_ in groups],
    }
    if len({names[:3] for names in groups}) < len(groups):
        columns["kind"] = [kind or "all" for *_, kind in groups]
    names = len(columns)
    for name, statistic in statistics.items():
        by_name = [{total.statistic: total for total in group} for group in groups.values()]
        columns[name] = [show(by_statistic.get(statistic)) for by_statistic in by_name]
    layout = Layout(names, frozenset({"largest pattern"}), optional, title=title)
    print_columns(console, columns, layout)
