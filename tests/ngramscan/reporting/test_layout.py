"""Screens of six models and three methods, read back: every row can be told, nothing is cut."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from rich.cells import cell_len
from rich.console import Console

from ngramscan.reporting.layout import UNKNOWN, Layout, print_columns
from tests.support.outputs import shown_in
from tests.support.screens import COMMANDS, Made

Cells = dict[str, list[str]]


# A screen is read back


@dataclass
class Block:
    """What stands below one header, cells by column; `headline` and headings are columns too."""

    headline: str
    columns: Cells
    hidden: set[str] = field(default_factory=set)


def blocks_of(screen: str) -> list[Block]:
    """Read the blocks of a screen by the rules below their headers."""
    lines = screen.splitlines()
    rules = [number for number, line in enumerate(lines) if re.fullmatch("( +─+)+", line)]
    tops = [_top(lines, rule) for rule in rules]
    ends = [*(above for above, _ in tops[1:]), len(lines)]
    found = []
    for rule, (above, header), end in zip(rules, tops, ends, strict=False):
        spans = [match.span() for match in re.finditer("─+", lines[rule])]
        names = [
            " ".join(parts).strip() for parts in zip(*_cut(lines[header:rule], spans), strict=True)
        ]
        block = Block(" ".join(lines[above:header]), {name: [] for name in names})
        _read_rows(block, lines[rule + 1 : end], spans)
        found.append(block)
    return found


def _top(lines: Sequence[str], rule: int) -> tuple[int, int]:
    """Return where the headline and the header above a rule begin."""
    header = rule
    while header and lines[header - 1].startswith("  "):
        header -= 1
    above = header
    while above and lines[above - 1] and not lines[above - 1].startswith("  "):
        above -= 1
    return above, header


def _cut(lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> Iterator[list[str]]:
    for line in lines:
        yield [line[start:end].strip() for start, end in spans]


def _read_rows(block: Block, lines: Sequence[str], spans: Sequence[tuple[int, int]]) -> None:
    """Read rows, which may have several lines, and the headings and notes between them."""
    heading, notes = "", False
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if not line:
            continue
        if line.startswith("not shown: "):
            text = " ".join(lines[number:]).removeprefix("not shown: ")
            block.hidden |= {*text.partition(" (--wide or -o FILE shows them)")[0].split(", ")}
            notes = True
        elif not line.startswith("  "):
            heading, notes = line, notes or not following.startswith("  ")
        elif not notes:
            (cells,) = _cut([line], spans)
            _add_line(block.columns, cells, heading)


def _add_line(columns: Cells, cells: Sequence[str], heading: str) -> None:
    names = [name for name in columns if name != "heading"]
    is_new = all([cells[0], cells[-1]]) or not columns[names[0]]
    for name, text in zip(names, cells, strict=True):
        if is_new:
            columns[name].append(text)
        elif text:
            columns[name][-1] += f" {text}"
    if is_new:
        columns.setdefault("heading", []).append(heading)


# What holds on every screen


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_row_can_be_told_from_every_other_at_any_width(
    command: str, made: Made, subtests: pytest.Subtests
) -> None:
    screen = COMMANDS[command](made)
    wide = blocks_of(shown_in(1000, screen))
    assert wide or command == "audit"
    assert not any(block.hidden for block in wide)
    for width in (80, 120):
        with subtests.test(width=width):
            _check_screen(wide, shown_in(width, screen), width)


def _check_screen(wide: list[Block], text: str, width: int) -> None:
    lines = text.splitlines()
    assert lines == [line.rstrip() for line in lines if cell_len(line) <= width]
    narrow = blocks_of(text)
    for table in wide:
        parts = _parts_of(table, narrow)
        assert parts[0].headline == table.headline
        _check_names(table, parts)
        _check_cells(table, parts)
    assert not narrow


def _parts_of(table: Block, narrow: list[Block]) -> list[Block]:
    """Take the blocks of a table from the front: until no column of it is missing."""
    missing = {*table.columns} - {"heading"}
    parts: list[Block] = []
    while missing:
        block = narrow.pop(0)
        headings = {name for name in missing if block.columns["heading"][0].startswith(f"{name} ")}
        headings |= {name for name in missing if f" · {name} " in block.columns["heading"][0]}
        missing -= {*block.columns, *block.hidden, *headings}
        parts.append(block)
    return parts


def _check_names(table: Block, parts: list[Block]) -> None:
    """Check that the names of rows, which all blocks have, tell what they tell in a wide table."""
    texts = [name for name, cells in table.columns.items() if any(map(_is_word, cells))]
    rows = [*zip(*(table.columns[name] for name in texts), strict=True)]
    for block in parts:
        names = [name for name in block.columns if all(name in part.columns for part in parts)]
        if len(parts) == 1:
            names = [name for name in names if name in {*texts, "heading"}]
        told = [*zip(*(block.columns[name] for name in names), strict=True)]
        assert len(told) == len(rows)
        assert len({*told}) >= len({*rows}) or not texts


def _is_word(text: str) -> bool:
    return bool(re.search("[^-+≈−.,:%* \\d]", text.replace(UNKNOWN, "").partition("[")[0]))


def _check_cells(table: Block, parts: list[Block]) -> None:
    """Check that each cell of the wide table stands whole in a block or a heading."""
    hidden = {name for block in parts for name in block.hidden}
    for name, cells in table.columns.items():
        found = [block.columns[name] for block in parts if name in block.columns]
        headings = [f" · {text} · " for text in parts[0].columns["heading"]]
        if name == "heading":
            continue
        if found:
            assert all(column == cells for column in found)
            assert name not in hidden
        elif name not in hidden:
            told = [f" · {name} {text} · " for text in cells]
            assert all(own in heading for own, heading in zip(told, headings, strict=True))


# The layout


def printed(width: int, columns: Cells, layout: Layout) -> str:
    file = io.StringIO()
    print_columns(Console(file=file, width=width), columns, layout)
    return file.getvalue()


def test_only_a_word_that_has_no_room_is_broken() -> None:
    columns = {"name": ["x" * 50, "a few words"], "n": ["1" * 10, "2"]}
    text = printed(40, columns, Layout(1))
    (block,) = blocks_of(text)
    assert [cells.replace(" ", "") for cells in block.columns["name"]] == ["x" * 50, "afewwords"]
    assert max(map(len, text.splitlines())) <= 40
    assert "a few words" in text
