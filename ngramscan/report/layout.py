"""How rows and columns are printed, whatever they hold, at any width.

What is the same in all rows stands once above them. In a table that is too wide, names that many
rows share become headings; then optional columns are left out, and named below; then the table is
folded into blocks, each with the columns that name its rows. No cell is cut, and no word or
interval is broken that fits on a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from ngramscan.progress import visible_line

UNKNOWN = "–"
_GAP = 2
"""Blanks between two columns, and before the first."""
_WRAPPED_WIDTH = 16
_WORD = re.compile(r"\s*(?:\[[\d.,eE+∞ -]+\]|\S)+")
"""A word with the blanks before it; an interval is one."""
Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Layout:
    """How some columns are printed."""

    texts: int
    """The first columns, which name the row and are set to the left; the others are values."""
    wrapping: frozenset[str] = frozenset()
    """Columns of words, set to the left, that may be broken into lines."""
    optional: tuple[str, ...] = ()
    """Columns that a narrow terminal may lack, the first to go first."""
    headings: int = 0
    """So many of the first columns become headings in a narrow terminal."""
    title: str | None = None
    section_ends: Sequence[bool] = ()
    """After which rows a section ends."""


def print_rows(console: Console, rows: Sequence[Any], row_type: type) -> None:
    """Print rows as they are, numbers to the right of texts."""
    names = [field.name for field in fields(row_type)]
    texts = [n for n in names if any(isinstance(getattr(row, n), str) for row in rows)]
    numbers = [name for name in names if name not in texts]
    columns = {name: [cell(getattr(row, name)) for row in rows] for name in texts + numbers}
    optional = (*reversed(numbers[3:]), *reversed(texts[1:]))
    print_columns(console, columns, Layout(len(texts), frozenset(texts[1:]), optional))


def print_columns(console: Console, columns: Columns, layout: Layout) -> None:
    """Print columns: those without any value never, optional ones where there is room."""
    known = {name: [visible_line(text) for text in cells] for name, cells in columns.items()}
    shown = {name: cells for name, cells in known.items() if not cells or {*cells} - {"", UNKNOWN}}
    texts = [name for name in list(columns)[: layout.texts] if name in shown]
    same = [name for name in texts if len(shown[name]) > 1 and len({*shown[name]}) == 1]
    told = [f"{_heading(name)} {shown.pop(name)[0]}" for name in same]
    if headline := " · ".join(filter(None, [layout.title, *told])):
        print_line(console, headline, "bold")
    texts = [name for name in texts if name in shown]
    room, first = console.width, [*columns][: layout.headings]
    heads = _heads(shown, [name for name in first if name in texts], room)
    parts = [[f"{_heading(name)} {text}" for text in shown[name]] for name in heads]
    labels = [" · ".join(texts) for texts in zip(*parts, strict=True)]
    widths = {
        name: _least_width(name, cells, name in layout.wrapping)
        for name, cells in shown.items()
        if name not in heads
    }
    left_out = _leave_out(widths, shown, texts, layout.optional, room)
    names = _naming(shown, [name for name in texts if name not in left_out])
    for block in _blocks(widths, [name for name in names if name not in heads], shown, room):
        lefts = [name in texts or name in layout.wrapping for name in block]
        lines = _lines(block, shown, lefts, labels, layout)
        console.print(Text("\n").join(lines), soft_wrap=True)
        console.print()
    if left_out:
        hidden = ", ".join(map(_heading, left_out))
        print_line(console, f"not shown: {hidden} (--wide or -o FILE shows them)", "dim")
        console.print()


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print a text in lines that end with words."""
    lines = _wrapped(visible_line(text), console.width)
    console.print(Text("\n".join(lines), style=style), soft_wrap=True)


def _heading(name: str) -> str:
    return visible_line(" ".join(name.replace("_", " ").split()))


# What fits


def _heads(columns: Columns, texts: Sequence[str], room: int) -> Sequence[str]:
    """Return the texts that become headings: none where there is room, or one for each row."""
    rows = max(map(len, columns.values()), default=0)
    is_wide = _total(_widest(name, cells) for name, cells in columns.items()) > room
    return texts if is_wide and _distinct(columns, texts) < rows else ()


def _distinct(columns: Columns, names: Sequence[str]) -> int:
    """Return how many rows the cells of some columns tell apart."""
    return len({*zip(*(columns[name] for name in names), strict=True)})


def _naming(columns: Columns, texts: Sequence[str]) -> Sequence[str]:
    """Return the first texts, as many as tell apart all rows that can be told apart."""
    every = _distinct(columns, texts)
    needed = (n for n in range(1, len(texts)) if _distinct(columns, texts[:n]) == every)
    return texts[: next(needed, len(texts))]


def _leave_out(
    widths: dict[str, int],
    columns: Columns,
    texts: Sequence[str],
    optional: Sequence[str],
    room: int,
) -> list[str]:
    """Take away optional columns as long as there is no room, but none that names rows."""
    left_out: list[str] = []
    for name in optional:
        others = [text for text in texts if text not in {name, *left_out}]
        is_needed = name in texts and _distinct(columns, others) < _distinct(columns, texts)
        if name in widths and not is_needed and _total(widths.values()) > room:
            del widths[name]
            left_out.append(name)
    return left_out


def _blocks(
    widths: dict[str, int], names: Sequence[str], columns: Columns, room: int
) -> Iterator[dict[str, int]]:
    """Yield the columns of each block and their widths; each begins with the names."""
    values = [name for name in widths if name not in names]

    def excess() -> int:
        widest = [max(widths[name] for name in values)] if values else []
        return _total([*(widths[name] for name in names), *widest]) - room

    if excess() > 0:
        widths |= {name: _longest_word(name, columns[name]) for name in names}
    while excess() > 0 and max(widths.values()) > 1:  # words that no line holds are broken
        widths[max(widths, key=widths.__getitem__)] -= 1
    block = [*names]
    for name in values:
        if len(block) > len(names) and _total(widths[one] for one in [*block, name]) > room:
            yield _widened({one: widths[one] for one in block}, columns, room)
            block = [*names]
        block.append(name)
    yield _widened({one: widths[one] for one in block}, columns, room)


def _widened(widths: dict[str, int], columns: Columns, room: int) -> dict[str, int]:
    """Return widths in which what a block has to spare goes to its first columns."""
    for name, width in widths.items():
        spare = max(room - _total(widths.values()), 0)
        widths[name] = min(_widest(name, columns[name]), width + spare)
    return widths


def _total(widths: Iterable[int]) -> int:
    return sum(width + _GAP for width in widths)


def _widest(name: str, cells: Sequence[str]) -> int:
    return max(map(cell_len, [_heading(name), *cells]))


def _least_width(name: str, cells: Sequence[str], is_wrapping: bool) -> int:
    widest = max(map(cell_len, cells), default=0)
    if not is_wrapping:
        return max(widest, _longest_word(name, ()))
    return max(min(widest, _WRAPPED_WIDTH), _longest_word(name, cells))


def _longest_word(name: str, cells: Sequence[str]) -> int:
    words = (word for text in (_heading(name), *cells) for word in _WORD.findall(text))
    return max((cell_len(word.lstrip()) for word in words), default=1)


# Lines


def _lines(
    widths: Mapping[str, int],
    columns: Columns,
    lefts: Sequence[bool],
    labels: Sequence[str],
    layout: Layout,
) -> Iterator[Text]:
    """Yield the lines of a block: its header, then its rows below their headings."""
    for line in _row([_heading(name) for name in widths], widths, lefts):
        yield Text(line, style="bold")
    yield Text("".join(" " * _GAP + "─" * width for width in widths.values()))
    rows = zip(*(columns[name] for name in widths), strict=True)
    for number, (cells, label) in enumerate(zip_longest(rows, labels)):
        is_new = label is not None and (not number or label != labels[number - 1])
        if number and (is_new or True in layout.section_ends[number - 1 : number]):
            yield Text("")
        if is_new:
            yield Text(label, style="bold")
        yield from map(Text, _row(cells, widths, lefts))


def _row(cells: Sequence[str], widths: Mapping[str, int], lefts: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a row, without blanks at their ends."""
    parts = [_wrapped(text, width) for text, width in zip(cells, widths.values(), strict=True)]
    for texts in zip_longest(*parts, fillvalue=""):
        line = ""
        for text, width, is_left in zip(texts, widths.values(), lefts, strict=True):
            blanks = " " * (width - cell_len(text))
            line += " " * _GAP + (text + blanks if is_left else blanks + text)
        yield line.rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines that end with words; only a wider word is broken."""
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for word in _WORD.findall(text):
        if lines[-1] and cell_len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word if lines[-1] or len(lines) == 1 else word.lstrip()
    return [part for line in lines for part in chop_cells(line, width)]


# Cells


def cell(value: object) -> str:
    """Return a value as it stands in a table."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return rate(value) if isinstance(value, float) else str(value)


def rate(value: float) -> str:
    """Return a number with three digits, or more where it is a large one."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    show: Callable[[float], str] = rate,
) -> str:
    """Return a value with its interval as they stand in a table."""
    if value is None:
        return UNKNOWN
    if low is None or high is None:
        return f"{show(value)} (no interval)"
    return f"{show(value)} [{show(low)}, {show(high)}]"
