"""Screens of six models and three methods, read back: every row can be told, nothing is cut."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from rich.cells import cell_len
from rich.console import Console

from ngramscan.reporting.layout import UNKNOWN, Layout, print_columns
from tests.support.command import NGRAMSCAN, invoke
from tests.support.outputs import shown_in
from tests.support.screens import COMMANDS, MODELS, Made

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
    blocks = []
    for rule, (above, header), end in zip(rules, tops, ends, strict=False):
        spans = [match.span() for match in re.finditer("─+", lines[rule])]
        names = [
            " ".join(parts).strip() for parts in zip(*_cut(lines[header:rule], spans), strict=True)
        ]
        block = Block(" ".join(lines[above:header]), {name: [] for name in names})
        _read_rows(block, lines[rule + 1 : end], spans)
        blocks.append(block)
    return blocks


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
    assert wide
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


def rows_of(block: Block, names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the rows of some columns of a block, which have the same number of cells."""
    columns = [block.columns[name] for name in names]
    return list(zip(*columns, strict=True))


def _check_names(table: Block, parts: list[Block]) -> None:
    """Check that the names of rows, which all blocks have, tell what they tell in a wide table."""
    texts = [name for name, cells in table.columns.items() if any(map(_is_word, cells))]
    rows = rows_of(table, texts)
    for block in parts:
        names = [name for name in block.columns if all(name in part.columns for part in parts)]
        if len(parts) == 1:
            names = [name for name in names if name in {*texts, "heading"}]
        shown = rows_of(block, names)
        assert len(shown) == len(rows)
        assert len({*shown}) >= len({*rows}) or not texts


def _is_word(text: str) -> bool:
    return bool(re.search("[^-+≈−.,:%* \\d]", text.replace(UNKNOWN, "").partition("[")[0]))


def _check_cells(table: Block, parts: list[Block]) -> None:
    """Check that each cell of the wide table stands whole in a block or a heading."""
    hidden = {name for block in parts for name in block.hidden}
    for name, cells in table.columns.items():
        columns = [block.columns[name] for block in parts if name in block.columns]
        headings = [f" · {text} · " for text in parts[0].columns["heading"]]
        if name == "heading":
            continue
        if columns:
            assert all(column == cells for column in columns)
            assert name not in hidden
        elif name not in hidden:
            shown = [f" · {name} {text} · " for text in cells]
            assert all(own in heading for own, heading in zip(shown, headings, strict=True))


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


@pytest.mark.parametrize("command", ["blend", "strategies", "tiers"])
def test_rows_of_all_models_together_come_first(command: str, made: Made) -> None:
    blocks = blocks_of(shown_in(1000, COMMANDS[command](made)))
    columns = [block.columns["model"] for block in blocks if "model" in block.columns]
    models = [list(dict.fromkeys(column)) for column in columns]
    assert [(names[0], {*names[1:]}) for names in models] == [("all", {*MODELS})] * len(columns)
    headlines = [block.headline for block in blocks]
    assert [line for line in headlines if "dataset questions-of-finance" not in line] == []


def test_literals_have_no_method_no_totals_and_no_legend(made: Made) -> None:
    text = shown_in(80, made.literals())
    (block,) = blocks_of(text)
    assert list(block.columns) == ["index", "pattern", "occurrences", "per GB", "heading"]
    assert block.columns["per GB"] == ["308,642", "308,642", UNKNOWN, UNKNOWN]
    assert text.endswith("–\n              time, slowly\n\n")


def test_what_is_the_same_stands_above_and_what_is_empty_nowhere() -> None:
    columns = {"data_set": ["d", "d"], "model": ["a", "b"], "note": ["", "–"], "n": ["1", "1"]}
    text = printed(80, columns, Layout(3, title="Title"))
    assert text == "Title · data set d\n  model  n\n  ─────  ─\n  a      1\n  b      1\n\n"
    first_rows = {name: cells[:1] for name, cells in columns.items()}
    assert (
        " ".join(printed(80, first_rows, Layout(3)).split())
        == "data set model n ──────── ───── ─ d a 1"
    )


def test_an_optional_column_that_names_rows_stays() -> None:
    columns = {"model": ["a", "a", "b"], "epoch": ["x" * 9, "y" * 9, "x" * 9], "n": ["1", "2", "3"]}
    text = printed(20, columns, Layout(2, optional=("epoch", "model", "n")))
    assert "not shown: n" in text
    rows = [line.split() for line in text.splitlines()[2:5]]
    assert rows == [["a", "x" * 9], ["a", "y" * 9], ["b", "x" * 9]]


def test_a_wide_table_is_folded_with_its_names_and_intervals_stay_whole() -> None:
    interval = "12.5 [-1.25, 3,000]"
    columns = {"model": ["one a b", "two"], "x": [interval, "1"], "y": ["2", interval]}
    text = printed(30, columns, Layout(1, frozenset({"model", "x"})))
    first, second = blocks_of(text)
    assert (first.columns["x"], second.columns["y"]) == ([interval, "1"], ["2", interval])
    assert first.columns["model"] == second.columns["model"] == ["one a b", "two"]


def test_a_screen_without_rows_has_a_header() -> None:
    assert printed(80, {"model": [], "n": []}, Layout(1)).split() == ["model", "n", "─────", "─"]


def in_terminal(width: int, *arguments: str, **environment: str) -> str:
    """Run the command in a terminal, and return what it shows without its colours."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    names = {"COLUMNS", "LINES"}
    known = {name: value for name, value in os.environ.items() if name not in names}
    with subprocess.Popen(
        [*NGRAMSCAN, *arguments], stdin=inner, stdout=inner, stderr=inner, env=known | environment
    ):
        os.close(inner)
        shown = b""
        try:
            while part := os.read(outer, 65536):
                shown += part
        except OSError:  # the other end is closed
            pass
    os.close(outer)
    return re.sub("\x1b\\[[\\d;]*m", "", shown.decode()).replace("\r\n", "\n")


def test_a_terminal_gets_what_fits_and_with_wide_what_a_pipe_gets() -> None:
    piped = invoke("index", "list").stdout
    narrow = in_terminal(80, "index", "list", TERM="xterm")
    assert "not shown: kind" in narrow
    assert "kind" in piped.splitlines()[1].split()
    assert max(map(len, narrow.splitlines())) <= 80
    wide = in_terminal(80, "index", "list", "--wide", TERM="dumb", NO_COLOR="1")
    assert wide == piped
