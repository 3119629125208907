"""Rows → the cells of a table as a page shows them, and the rows as JSON for its script."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urlsplit

from ngramscan.progress import visible, visible_json, visible_line
from ngramscan.reporting.page.results import Results

FIRST_ROWS = 100
"""Rows that stand in the page as HTML; its script shows the others."""
MOST_TEXT = 10_000
"""Characters of a text that a page has."""
_CUT = 300
_SIDE = 80
"""Characters of a text that are shown at once, and of the text beside a match."""
_SIDES = ("left", "match", "right")
_EXACT = 10**15
"""From here on a script may not read integers exactly, and they are texts for it."""
_IN_SCRIPT = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as it is shown."""

    kind: str
    """`number`, `null`, `bool`, `text`, `long`, `match` or `source`."""
    text: str
    exact: str | None = None
    """A number or bool as CSV has it; None: a text."""
    whole: str = ""
    """The whole of a text that is shown in part."""
    side: str = ""
    """`left`, `match`, `right` or `source` in a table of contexts."""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """The rows of one file, as a page shows them."""

    total: int
    kept: int
    """Rows that the page has."""
    same: Sequence[tuple[str, Cell]]
    """Columns with the same value in all rows."""
    empty: Sequence[str]
    """Columns without any value."""
    shown: Sequence[str]
    """The columns of the table."""
    numbers: frozenset[str]
    rows: Sequence[Sequence[Cell]]
    """The first of them."""
    data: str
    """All of them as JSON, which is safe within a script element."""
    cut_texts: int
    size_bytes: int
    """Bytes of the rows, shown and as JSON."""
    most_text: int = MOST_TEXT

    def heading(self, name: str) -> str:
        """Return the heading of a column."""
        return "source" if name == "metadata" and {*_SIDES} <= {*self.shown} else name


def show_rows(results: Results, most_bytes: int) -> Shown:
    """Return the rows as a page shows them; those beyond some bytes of JSON are left out."""
    columns, rows = results.columns, results.rows
    first = rows[0] if rows else {}
    constant = [
        name
        for name in columns
        if len(rows) > 1
        and name not in _SIDES
        and all(_is_same(row[name], first[name]) for row in rows)
    ]
    numbers = frozenset(name for name in columns if _is_numeric(row[name] for row in rows))
    is_concordance = {*_SIDES} <= {*columns}
    sides = (*_SIDES, "metadata") if is_concordance else ()
    labels = [label for label in results.kind.labels if label not in {"document", *sides}]
    order = [*dict.fromkeys((*labels, *sides, *results.kind.labels, *columns))]
    order = [name for name in order if name in columns]
    shown = [name for name in order if name not in constant]
    cells = [
        [_cell(row[name], name, is_concordance) for name in shown] for row in rows[:FIRST_ROWS]
    ]
    texts, cut_texts, size_bytes = _bounded(rows, shown, [*map(_html_size, cells)], most_bytes)
    data = {
        "columns": columns,
        "shown": shown,
        "numbers": sorted(numbers),
        "concordance": is_concordance,
        "same": {name: _plain(first[name])[0] for name in constant},
    }
    start = _in_script(data).removesuffix("}")
    return Shown(
        len(rows) + results.left_out,
        len(texts),
        [
            (name, _cell(first[name], name, is_concordance=False))
            for name in order
            if name in constant and not _is_nothing(first[name])
        ],
        [name for name in order if name in constant and _is_nothing(first[name])],
        shown,
        numbers,
        cells[: len(texts)],
        f'{start},"rows":[{",".join(texts)}]}}',
        cut_texts,
        size_bytes,
    )


def _is_same(value: Any, other: Any) -> bool:
    return type(value) is type(other) and value == other


def _is_nothing(value: Any) -> bool:
    return value is None or value == ""


def _is_numeric(values: Iterator[Any]) -> bool:
    kinds = {type(value) for value in values if value is not None}
    return bool(kinds) and kinds <= {int, float}


def _bounded(
    rows: Sequence[Mapping[str, Any]], shown: Sequence[str], html: Sequence[int], most_bytes: int
) -> tuple[list[str], int, int]:
    """Return the JSON of as many rows as some bytes hold, the number of cut texts, and all bytes.

    `html` has the bytes that the first rows take besides.
    """
    texts: list[str] = []
    cut = size = 0
    for n, row in enumerate(rows):
        values = [_plain(row[name]) for name in shown]
        text = _in_script([value for value, _ in values])
        added = len(text.encode()) + 1 + (html[n] if n < len(html) else 0)
        if size + added > most_bytes:
            break
        size += added
        texts.append(text)
        cut += sum(is_cut for _, is_cut in values)
    return texts, cut, size


def _html_size(row: Sequence[Cell]) -> int:
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


def number(value: float) -> str:
    """Return a number as it is shown: four digits, or all of a whole number."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.2e}"
    if value == int(value):
        return f"{int(value):,}"
    text = f"{value:,.1f}" if size >= 1000 else f"{float(f'{value:.4g}'):,}"
    return text.removesuffix(".0")


def shortened(text: str, most: int = 2 * _CUT) -> str:
    """Return a text, or its beginning if it is long."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most:,} more characters)"


def _cell(value: Any, name: str, is_concordance: bool) -> Cell:
    if value is None:
        return Cell("null", "–", "")
    if isinstance(value, bool):
        return Cell("bool", "yes" if value else "no", str(value))
    if isinstance(value, int | float):
        return Cell("number", number(value), str(value))
    side = name if is_concordance and name in _SIDES else ""
    if side == "match" and len(value) <= _SIDE:
        return Cell("match", visible_line(value))
    if is_concordance and name == "metadata":
        value, url = source_of(value)
        if url:
            return Cell("source", visible_line(value), url=url)
        side = "source"
    return _text(value, side)


def _text(value: str, side: str) -> Cell:
    most = _SIDE if side else _CUT
    if len(value) <= most:
        return Cell("text", visible_line(value), side=side)
    shown = value[-most:] if side == "left" else value[:most]
    text = f"… {visible_line(shown)}" if side == "left" else f"{visible_line(shown)} …"
    return Cell("long", text, whole=visible(shortened(value, MOST_TEXT)), side=side)


def source_of(metadata: str) -> tuple[str, str]:
    """Return what metadata call their document, and its address if it is one of the web."""
    try:
        outer = json.loads(metadata)
    except (ValueError, RecursionError):
        outer = None
    if not isinstance(outer, dict):
        return metadata, ""
    inner = outer.get("metadata")
    for name in ("url", "source", "id", "path"):
        for place in (inner, outer):
            given = place.get(name) if isinstance(place, dict) else None
            if isinstance(given, str) and given:
                return given, given if _is_of_the_web(given) else ""
    return metadata, ""


def _is_of_the_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    is_plain = re.match(r"https?://[^\s/]", address, re.IGNORECASE) and len(address) < 2000
    return bool(is_plain and parts.scheme in {"http", "https"} and visible(address) == address)
