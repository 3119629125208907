"""Rows → the cells of a table as a page shows them, and the rows as JSON for its script."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ngramscan.prevalence.metadata import is_web_address, names_of_source
from ngramscan.progress import marked_line, visible, visible_json
from ngramscan.reporting.layout import UNKNOWN, cell, percent
from ngramscan.reporting.page.results import Results
from ngramscan.rows import DisplayUnit

FIRST_ROWS = 100
"""Rows that the page has as HTML; its script shows the others."""
MOST_TEXT = 10_000
"""Characters of a text that a page has."""
_CUT = 300
_SIDE = 80
"""Characters of a text that are shown at once, and of the text beside a match."""
_SIDES = ("left", "match", "right")
_FOUND = (
    *("value", "per_gigabyte", "verdict", "p_holm", "p_adjusted", "q", "p", "n", "n_problems"),
    *("problems", "pairs", "groups", "outputs", "entries"),
)
"""Columns of what was found, in the order in which they are shown."""
_HEADED: dict[DisplayUnit, str] = {"number": "", "percent": ", %", "points": ", points"}
_EXACT = 10**15
"""Larger integers are not exact in JavaScript, so scripts get them as texts."""
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


@dataclass(frozen=True, slots=True)
class PageCell:
    """One value as it is shown."""

    kind: str
    """`number`, `null`, `bool`, `text`, `long`, `match` or `source`."""
    text: str
    exact: str | None = None
    """A number or bool as in CSV; None for texts."""
    ends: tuple[str, str] | None = None
    """The limits of a number as CSV has them."""
    whole: str = ""
    """The whole of a text that is shown in part."""
    side: str = ""
    """`left`, `match`, `right` or `source` in a table of contexts."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column of a table."""

    name: str
    heading: str
    unit: DisplayUnit
    is_number: bool
    limits: tuple[str, str] | None
    """The columns of an interval shown in the same cells."""


@dataclass(frozen=True, slots=True)
class ShownRows:
    """The rows of one file, as a page shows them."""

    total: int
    rows_on_page: int
    """Rows that the page has."""
    same: Sequence[tuple[PageColumn, PageCell]]
    """Columns with the same value in all rows."""
    empty: Sequence[str]
    """Headings of columns without any value."""
    columns: Sequence[PageColumn]
    """The columns of the table."""
    rows: Sequence[Sequence[PageCell]]
    """The first of them."""
    data: str
    """All of them as JSON, which is safe within a script element."""
    cut_texts: int
    is_concordance: bool
    """Rows are matches with the text to their left and right."""
    size_bytes: int
    """Bytes of the rows, shown and as JSON."""
    most_text: int = MOST_TEXT


def show_rows(results: Results, most_bytes: int) -> ShownRows:
    """Return the rows as a page shows them; those beyond some bytes of JSON are left out."""
    names, rows = results.columns, results.rows
    first = rows[0] if rows else {}
    constant = _constant_columns(results)
    is_concordance = {*_SIDES} <= {*names}
    columns = [_column(name, results, constant, is_concordance) for name in _ordered(results)]
    limits = {end for column in columns for end in column.limits or ()}
    constant -= limits | {column.name for column in columns if column.limits}
    table = [column for column in columns if column.name not in constant | limits]
    shown_names = [column.name for column in columns if column.name not in constant]
    cells = [[_cell(row, column, is_concordance) for column in table] for row in rows[:FIRST_ROWS]]
    texts, cut_texts, size_bytes = _bounded(
        rows, shown_names, [*map(_html_size, cells)], most_bytes
    )
    data = {
        "columns": names,
        "shown": shown_names,
        "table": [
            {
                "name": column.name,
                "heading": column.heading,
                "limits": column.limits,
                "unit": column.unit,
            }
            | {"isNumber": column.is_number}
            for column in table
        ],
        "concordance": is_concordance,
        "same": {name: _plain(first[name])[0] for name in names if name in constant},
    }
    start = _in_script(data).removesuffix("}")
    same = [column for column in columns if column.name in constant]
    return ShownRows(
        len(rows) + results.left_out,
        len(texts),
        [
            (column, _cell(first, column, False))
            for column in same
            if not _is_nothing(first[column.name])
        ],
        [column.heading for column in same if _is_nothing(first[column.name])],
        table,
        cells[: len(texts)],
        f'{start},"rows":[{",".join(texts)}]}}',
        cut_texts,
        is_concordance,
        size_bytes,
    )


def _constant_columns(results: Results) -> set[str]:
    """Return the columns with one value in all of several rows, but not the sides of a context."""
    rows = results.rows
    if len(rows) < 2:
        return set()
    first = rows[0]
    return {
        name
        for name in results.columns
        if name not in _SIDES and all(_is_same(row[name], first[name]) for row in rows)
    }


def _ordered(results: Results) -> list[str]:
    """Return the names of columns: labels, then results, then the others.

    Values come first with their intervals, then adjusted p-values and sizes, so that they are
    visible if a table is wider than its page.
    """
    sides = (*_SIDES, "metadata") if {*_SIDES} <= {*results.columns} else ()
    labels = [label for label in results.kind.labels if label not in {"document", *sides}]
    value_columns = (*(plot.value for plot in results.kind.plots), *_FOUND)
    order = dict.fromkeys((*labels, *sides, *results.kind.labels, *value_columns, *results.columns))
    return [name for name in order if name in results.columns]


def _column(name: str, results: Results, constant: set[str], is_concordance: bool) -> PageColumn:
    is_number = _is_numeric(row[name] for row in results.rows)
    column = results.kind.columns[name]
    unit = column.unit_in(results.rows) if is_number else "number"
    heading = "source" if name == "metadata" and is_concordance else column.heading
    ends = column.limits
    is_joined = (
        is_number
        and not {name, *ends} <= constant
        and {*ends} <= {*results.columns}
        and any(row[end] is not None for row in results.rows for end in ends)
    )
    return PageColumn(name, heading + _HEADED[unit], unit, is_number, ends if is_joined else None)


def _is_same(value: Any, first_value: Any) -> bool:
    return type(value) is type(first_value) and value == first_value


def _is_nothing(value: Any) -> bool:
    return value is None or value == ""


def _is_numeric(values: Iterator[Any]) -> bool:
    kinds = {type(value) for value in values if value is not None}
    return bool(kinds) and kinds <= {int, float}


def _bounded(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], html: Sequence[int], most_bytes: int
) -> tuple[list[str], int, int]:
    """Return the JSON of as many rows as fit, the number of cut texts, and the total bytes.

    `html` has the additional bytes of the first rows.
    """
    texts: list[str] = []
    cut = size = 0
    for n, row in enumerate(rows):
        values = [_plain(row[name]) for name in names]
        text = _in_script([value for value, _ in values])
        added = len(text.encode()) + 1 + (html[n] if n < len(html) else 0)
        if size + added > most_bytes:
            break
        size += added
        texts.append(text)
        cut += sum(is_cut for _, is_cut in values)
    return texts, cut, size


def _html_size(row: Sequence[PageCell]) -> int:
    return sum(100 + len(escape(cell.text + cell.whole + cell.url * 2).encode()) for cell in row)


def _plain(value: Any) -> tuple[Any, bool]:
    """Return a value that JSON and a script keep exactly, and whether it is a text cut short."""
    if isinstance(value, str):
        return shortened(value, MOST_TEXT), len(value) > MOST_TEXT
    if isinstance(value, float) and math.isinf(value):
        return ("Infinity" if value > 0 else "-Infinity"), False
    is_large = isinstance(value, int) and abs(value) >= _EXACT
    return (str(value) if is_large else value), False


def _in_script(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return visible_json(text).translate(_IN_SCRIPT)


# Cells


def shortened(text: str, most: int = 2 * _CUT) -> str:
    """Return a text, or its beginning if it is long."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most:,} more characters)"


def shown_number(value: float | None, unit: DisplayUnit) -> str:
    """Return a number as tables on the screen show it, without its unit."""
    is_fraction = unit != "number" and value is not None and math.isfinite(value)
    return percent(value) if is_fraction else cell(value)


def _cell(row: Mapping[str, Any], column: PageColumn, is_concordance: bool) -> PageCell:
    name, value = column.name, row[column.name]
    if column.is_number and (value is not None or column.limits):
        return _number(value, [row[end] for end in column.limits or ()], column.unit)
    if value is None:
        return PageCell("null", UNKNOWN, "")
    if isinstance(value, bool):
        return PageCell("bool", cell(value), str(value))
    side = name if is_concordance and name in _SIDES else ""
    if side == "match" and len(value) <= _SIDE:
        return PageCell("match", marked_line(value))
    if is_concordance and name == "metadata":
        value, url = source_of(value)
        if url:
            return PageCell("source", marked_line(value), url=url)
        side = "source"
    return _text(value, side)


def _number(value: float | None, limits: Sequence[float | None], unit: DisplayUnit) -> PageCell:
    """Return a number with its interval, if any limit is known."""
    text = shown_number(value, unit)
    if any(limit is not None for limit in limits):
        ends = zip(("-∞", "∞"), limits, strict=True)
        ends_shown = [none if end is None else shown_number(end, unit) for none, end in ends]
        text += f" [{', '.join(ends_shown)}]"
    exact, *ends_exact = ("" if number is None else str(number) for number in (value, *limits))
    return PageCell("number", text, exact, (ends_exact[0], ends_exact[1]) if limits else None)


def _text(value: str, side: str) -> PageCell:
    most = _SIDE if side else _CUT
    if len(value) <= most:
        return PageCell("text", marked_line(value), side=side)
    excerpt = value[-most:] if side == "left" else value[:most]
    text = f"… {marked_line(excerpt)}" if side == "left" else f"{marked_line(excerpt)} …"
    return PageCell("long", text, whole=visible(shortened(value, MOST_TEXT)), side=side)


def source_of(metadata: str) -> tuple[str, str]:
    """Return the name of a document in its metadata, and its web address if it has one."""
    name = next(iter(names_of_source(metadata)), "")
    return name or metadata, name if is_web_address(name) else ""
