"""How rows and columns are printed, whatever they hold, at any width.

A value that is the same in all rows is shown once above them. In a table that is too wide, names
that many rows share become headings; then optional columns are left out, and named below; then the
table is folded into blocks, each with the columns that name its rows. No cell is cut, and no word
or interval is broken that fits on a line.
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
_PART = re.compile(r"[^/:_.=@-]*[/:_.=@-]*")
"""A part of a name, with the signs that end it."""
CellColumns = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Layout:
    """How some columns are printed."""

    texts: int
    """The first columns, which name the row and are set to the left; the others are values."""
    wrapping: frozenset[str] = frozenset()
    """Columns of words, set to the left, that may be broken into lines."""
    optional: tuple[str, ...] = ()
    """Columns that a narrow terminal may lack, the first to go first."""
    extra: tuple[str, ...] = ()
    """Columns that a narrow terminal leaves out first, and does not mention."""
    headings: int = 0
    """The first columns, by which rows are grouped; in a narrow terminal they become headings."""
    title: str | None = None
    section_ends: Sequence[bool] = ()
    """After which rows a section ends, groups aside."""
    names: frozenset[str] = frozenset()
    """Columns headed by names, as of corpora: shown as they are, and broken after their signs."""


def print_rows(console: Console, rows: Sequence[Any], row_type: type) -> None:
    """Print rows as they are, numbers to the right of texts."""
    names = [field.name for field in fields(row_type)]
    texts = [n for n in names if any(isinstance(getattr(row, n), str) for row in rows)]
    numbers = [name for name in names if name not in texts]
    columns = {name: [cell(getattr(row, name)) for row in rows] for name in texts + numbers}
    optional = (*reversed(numbers[3:]), *reversed(texts[1:]))
    print_columns(console, columns, Layout(len(texts), frozenset(texts[1:]), optional))


def print_columns(console: Console, columns: CellColumns, layout: Layout, note: str = "") -> None:
    """Print columns: those without any value never, optional ones where there is room.

    A note is printed right below the table.
    """
    printable_columns = {
        name: [visible_line(text) for text in cells] for name, cells in columns.items()
    }
    filled_columns = {
        name: cells
        for name, cells in printable_columns.items()
        if not cells or {*cells} - {"", UNKNOWN}
    }
    texts = [name for name in [*columns][: layout.texts] if name in filled_columns]
    same = [
        name
        for name in texts
        if len(filled_columns[name]) > 1 and len({*filled_columns[name]}) == 1
    ]
    constant = [f"{_heading(name)} {filled_columns.pop(name)[0]}" for name in same]
    if headline := " · ".join(filter(None, [layout.title, *constant])):
        print_line(console, headline, "bold")
    texts = [name for name in texts if name in filled_columns]
    groups = [name for name in [*columns][: layout.headings] if name in filled_columns]
    table = _PrintedTable(
        filled_columns, texts=texts, groups=groups, layout=layout, room=console.width
    )
    left_out = table.leave_out()
    for number, widths in enumerate(table.blocks()):
        if number:
            console.print()
        console.print(Text("\n").join(table.lines(widths)), soft_wrap=True)
    if note:
        print_line(console, note, "dim")
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


class _PrintedTable:
    """Columns, and the least widths of those that are shown."""

    def __init__(
        self,
        columns: CellColumns,
        *,
        texts: list[str],
        groups: list[str],
        layout: Layout,
        room: int,
    ) -> None:
        self.columns, self.texts, self.groups = columns, texts, groups
        self.layout, self.room = layout, room
        self.natural = {
            name: max(map(cell_len, [self._heading(name), *cells]))
            for name, cells in columns.items()
        }
        is_wide = sum(width + _GAP for width in self.natural.values()) > room
        rows = max(map(len, columns.values()), default=0)
        self.has_headings = is_wide and bool(groups) and self._distinct(groups) < rows
        names = [name for name in columns if name not in groups or not self.has_headings]
        self.widths = {name: self._least_width(name) for name in names}

    def _heading(self, name: str) -> str:
        return visible_line(name) if name in self.layout.names else _heading(name)

    def _least_width(self, name: str) -> int:
        widest = max(map(cell_len, self.columns[name]), default=0)
        if name in self.layout.wrapping:
            return max(min(widest, _WRAPPED_WIDTH), self._longest_word(name))
        is_name = name in self.layout.names
        words = _PART.findall(self._heading(name)) if is_name else _heading(name).split()
        return max([widest, *(cell_len(word) for word in words)])

    def _longest_word(self, name: str) -> int:
        words = " ".join([_heading(name), *self.columns[name]])
        return max(cell_len(word.lstrip()) for word in _WORD.findall(words or "-"))

    def _excess(self, names: Iterable[str]) -> int:
        """Return by how much some columns are too wide."""
        return sum(self.widths[name] + _GAP for name in names) - self.room

    def _distinct(self, names: Sequence[str]) -> int:
        """Return how many rows differ in some columns."""
        return len({*zip(*(self.columns[name] for name in names), strict=True)})

    def leave_out(self) -> list[str]:
        """Take away optional columns that have no room, unless rows would look the same."""
        left_out = []
        for name in (*self.layout.extra, *self.layout.optional):
            others = [text for text in self.texts if text != name]
            is_needed = name in self.texts and self._distinct(others) < self._distinct(self.texts)
            if name in self.widths and not is_needed and self._excess(self.widths) > 0:
                del self.widths[name]
                self.texts = others
                if name not in self.layout.extra:
                    left_out.append(name)
        return left_out

    def blocks(self) -> Iterator[dict[str, int]]:
        """Yield the columns of each block and their widths; each begins with those of the names.

        The names are the first text columns, as few as suffice to distinguish all rows that differ.
        """
        texts, n_distinct = self.texts, self._distinct(self.texts)
        needed = (n for n in range(1, len(texts)) if self._distinct(texts[:n]) == n_distinct)
        names = [name for name in texts[: next(needed, len(texts))] if name in self.widths]
        values = [name for name in self.widths if name not in names]
        widest = max(values, key=self.widths.__getitem__, default="")
        if self._excess(least := [*names, *filter(None, [widest])]) > 0:
            self.widths |= {name: self._longest_word(name) for name in names}
        if self._excess(least) > 0:  # words without room are broken
            most = max(self.room // len(least) - _GAP, 1)
            self.widths = {name: min(width, most) for name, width in self.widths.items()}
        block = [*names]
        for name in values:
            if len(block) > len(names) and self._excess([*block, name]) > 0:
                yield self._widened(block)
                block = [*names]
            block.append(name)
        yield self._widened(block)

    def _widened(self, names: Sequence[str]) -> dict[str, int]:
        """Return widths in which what a block has to spare goes to its first columns.

        Headings that are names have one line each if all of them have room for it.
        """
        spare, widths = max(-self._excess(names), 0), {}
        headed = [name for name in names if name in self.layout.names]
        if sum(self.natural[name] - self.widths[name] for name in headed) > spare:
            widths = {name: self.widths[name] for name in headed}
        for name in [name for name in names if name not in widths]:
            widths[name] = min(self.natural[name], self.widths[name] + spare)
            spare -= widths[name] - self.widths[name]
        return {name: widths[name] for name in names}

    def _header(self, widths: Mapping[str, int], lefts: Sequence[bool]) -> Iterator[str]:
        """Return the lines of headings; names are broken after their signs."""
        cells = [
            _wrapped(self._heading(name), width, _PART if name in self.layout.names else _WORD)
            for name, width in widths.items()
        ]
        return _lines(cells, widths.values(), lefts)

    def lines(self, widths: Mapping[str, int]) -> Iterator[Text]:
        """Yield the lines of a block: its header, then its rows below their headings."""
        lefts = [name in {*self.texts, *self.layout.wrapping} for name in widths]
        for line in self._header(widths, lefts):
            yield Text(line, style="bold")
        yield Text("".join(" " * _GAP + "─" * width for width in widths.values()))
        before = None
        for number, cells in enumerate(zip(*(self.columns[name] for name in widths), strict=True)):
            group = {name: self.columns[name][number] for name in self.groups}
            ends = group != before or True in self.layout.section_ends[number - 1 : number]
            if number and ends:
                yield Text("")
            if self.has_headings and group != before:
                named = (f"{_heading(name)} {text}" for name, text in group.items())
                for line in _wrapped(" · ".join(named), self.room):
                    yield Text(line, style="bold")
            yield from map(Text, _row(cells, widths.values(), lefts))
            before = group


def _row(cells: Sequence[str], widths: Iterable[int], lefts: Sequence[bool]) -> Iterator[str]:
    """Return the lines of a row, without blanks at their ends."""
    wrapped = [_wrapped(text, width) for text, width in zip(cells, widths, strict=True)]
    return _lines(wrapped, widths, lefts)


def _lines(
    cells: Sequence[Sequence[str]], widths: Iterable[int], lefts: Sequence[bool]
) -> Iterator[str]:
    columns = [*zip(widths, lefts, strict=True)]
    for texts in zip_longest(*cells, fillvalue=""):
        line = ""
        for text, (width, is_left) in zip(texts, columns, strict=True):
            blanks = " " * (width - cell_len(text))
            line += " " * _GAP + (text + blanks if is_left else blanks + text)
        yield line.rstrip()


def _wrapped(text: str, width: int, words: re.Pattern[str] = _WORD) -> list[str]:
    """Return a text in lines that end with words; only a wider word is broken."""
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for word in words.findall(text):
        if lines[-1] and cell_len(lines[-1] + word) > width:
            lines.append("")
        lines[-1] += word if lines[-1] or len(lines) == 1 else word.lstrip()
    return [part for line in lines for part in chop_cells(line, width)]


# Cells


def cell(value: object) -> str:
    """Return a value as text for a table."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return rate(value) if isinstance(value, float) else str(value)


def rate(value: float) -> str:
    """Return a number with three digits, or more where it is a large one."""
    text = f"{value:z,.0f}" if 100 <= abs(value) < 1e15 else f"{value:z.3g}"
    return text.replace("inf", "∞")


def percent(share: float | None) -> str:
    """Return a share as a percentage with one decimal.

    A smaller one than that has its first digit: an interval that has or lacks 0 is seen to do so.
    """
    if share is None:
        return UNKNOWN
    # 51 of 80 are 63.75%, which the float noise of 100 * share must not round down.
    value = round(100 * share, 9)
    return f"{value:.1g}" if 0 < abs(value) < 0.05 else f"{value:z.1f}"


def p_text(p: float | None, stars: bool = False) -> str:
    """Return a p-value with three digits, or as a power of ten if small; with stars if wanted."""
    if p is None:
        return UNKNOWN
    if p >= 0.9995:
        return "1" if p == 1 else ">0.999"
    text = f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
    return text + "*" * sum(stars and p < limit for limit in (0.05, 0.01, 0.001))


def with_interval(value: Any, low: Any, high: Any, show: Callable[[Any], str] = rate) -> str:
    """Return a value with its limits; a missing upper one is infinite."""
    if value is None:
        return UNKNOWN
    if low is None:
        return f"{show(value)} (no interval)"
    return f"{show(value)} [{show(low)}, {'∞' if high is None else show(high)}]"
