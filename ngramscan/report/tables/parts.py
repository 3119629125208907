"""What the tables of several commands share: headlines, groups, intervals, totals, matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.catalog import find_hosted
from ngramscan.prevalence.totals import Total
from ngramscan.progress import format_bytes
from ngramscan.report.layout import UNKNOWN, Layout, cell, print_columns

Row = TypeVar("Row")
_WRAPPED_WIDTH = 16


def print_index(console: Console, index: str, size: IndexSize) -> None:
    """Print what an index is and how large, above its tables."""
    parts = [index]
    if hosted := find_hosted(index):
        parts.append(f"{hosted.corpus}, {hosted.kind}")
    if size.bytes is not None:
        parts.append(f"{format_bytes(size.bytes)} of text")
    if size.documents is not None:
        parts.append(f"{size.documents:,} documents")
    console.print(Text(" · ".join(parts), style="bold"))


def print_notes(console: Console, *lines: str) -> None:
    """Print what has to be known to read the tables above."""
    for line in lines:
        console.print(Text(line, style="dim"))


def group_by(rows: Iterable[Row], *names: str) -> dict[Any, list[Row]]:
    """Return rows by the values of one or several columns, in their order."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(attrgetter(*names)(row), []).append(row)
    return groups


def scopes(console: Console, rows: Iterable[Row]) -> Iterator[tuple[Any, list[Row]]]:
    """Yield the rows of each dataset and model, after a headline that names them."""
    for (dataset, model), group in group_by(rows, "dataset", "model").items():
        console.print(Text(f"{dataset} · {model or 'model not named'}", style="bold"))
        yield (dataset, model), group


def section_ends(rows: Sequence[object], *names: str) -> list[bool]:
    """Return after which rows the value of one of the columns changes."""
    return [one != following for one, following in pairwise(map(attrgetter(*names), rows))]


def percent(share: float | None) -> str:
    """Return a share as it stands in a column of percentages."""
    return UNKNOWN if share is None else f"{100 * share:.1f}"


def interval(row: object, name: str, show: Callable[[Any], str] = cell) -> str:
    """Return a column with its limits: an exact value alone, no upper limit as infinite."""
    value, low, high = attrgetter(name, f"{name}_low", f"{name}_high")(row)
    return _with_limits(value, low, high, show)


def _with_limits(value: Any, low: Any, high: Any, show: Callable[[Any], str] = cell) -> str:
    if value is None:
        return UNKNOWN
    if value == low == high:
        return show(value)
    if low is None:
        return f"{show(value)} (no interval)"
    return f"{show(value)} [{show(low)}, {'∞' if high is None else show(high)}]"


def print_totals(
    console: Console,
    title: str | None,
    totals: Iterable[Total],
    statistics: Mapping[str, str],
    optional: tuple[str, ...] = (),
) -> None:
    """Print one row per method, or pair of them, and tiers; columns are statistics by title."""
    found = [total for total in totals if total.statistic in statistics.values()]
    if not found:
        return
    groups = group_by(found, "tiers", "method", "versus")
    is_pair = found[0].versus is not None
    columns = {
        "methods" if is_pair else "method": [
            f"{method} : {versus}" if versus else method for _, method, versus in groups
        ],
        "tiers": [tiers for tiers, _, _ in groups],
    }
    for name, statistic in statistics.items():
        by_name = [{total.statistic: total for total in group} for group in groups.values()]
        columns[name] = [_show_total(one.get(statistic)) for one in by_name]
    texts = ("largest pattern",) if "largest pattern" in columns else ()
    print_columns(console, columns, Layout(2 + len(texts), frozenset(texts), optional, title))


def _show_total(total: Total | None) -> str:
    if total is None or total.value is None:
        return UNKNOWN
    if total.statistic == "largest_pattern_share":
        return f"{total.note} ({total.value:.0%})"
    if total.level is None:
        return cell(total.value)
    return _with_limits(total.value, total.low, total.high)


def print_matrix(
    console: Console,
    title: str,
    cells: Mapping[tuple[str, str], str],
    sizes: Mapping[str, Sequence[str]],
) -> None:
    """Print cells by prompt and column; where not all columns fit, in several tables.

    `sizes` are columns of each table that a narrow terminal may lack, the last one first.
    """
    prompts = list(dict.fromkeys(prompt for prompt, _ in cells))
    names = list(dict.fromkeys(name for _, name in cells))
    first = min(_WRAPPED_WIDTH, max(map(cell_len, ["prompt", *prompts])))
    widest = min(_WRAPPED_WIDTH, max(map(cell_len, [*names, *cells.values()])))
    at_once = max(1, (console.width - first - 3) // (widest + 3))
    for start in range(0, len(names), at_once):
        chosen = names[start : start + at_once]
        columns = {"prompt": prompts, **sizes}
        columns |= {name: [cells[prompt, name] for prompt in prompts] for name in chosen}
        optional = tuple(reversed([*sizes]))
        layout = Layout(1, frozenset({"prompt", *chosen}), optional, None if start else title)
        print_columns(console, columns, layout)
