from __future__ import annotations

import io

import pytest
from rich.console import Console

from ngramscan.commands.index import IndexRow
from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import run_count
from ngramscan.prevalence.totals import make_totals
from ngramscan.report.tables import print_counting, print_rows
from tests.test_totals import COUNTS, SET, Known

SIZE = IndexSize(documents=2_000_000, bytes=4_000_000_000)


def printed(width: int, names: tuple[str, ...] = ("v2_cc-2025-05", "v2_cc-2025-08")) -> str:
    counting = run_count(SET.queries(), [Known(name, COUNTS, SIZE) for name in names])
    console = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    print_counting(console, counting, make_totals(counting))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_number_is_cut_at_any_width(width: int) -> None:
    text = printed(width)
    assert max(map(len, text.splitlines())) <= width
    cells = text.split()
    for number in ("1,000", "130", "100"):
        assert number in cells


def test_a_narrow_terminal_loses_columns_and_a_wide_one_has_all() -> None:
    narrow, wide = printed(60), printed(200)
    assert "per M documents" in wide
    assert "no largest " in wide
    assert "not shown, for want of room: per M documents, per GB" in narrow
    assert "not shown, for want of room: no largest" in narrow.split("Ratios")[1]
    assert "not shown" not in wide


def test_a_sum_over_snapshots_comes_with_its_warning() -> None:
    text = printed(100)
    assert "sum over 2 crawl snapshots: snapshots share pages: this counts page versions" in text
    assert "sum over" not in printed(100, ("v2_dclm_all", "v2_cc-2025-05"))


def test_an_index_without_a_count_has_no_section() -> None:
    counting = run_count(SET.queries(), [Known("a", {}, SIZE), Known("b", COUNTS, SIZE)])
    console = Console(file=io.StringIO(), width=100)
    print_counting(console, counting, make_totals(counting))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith("b · 4 GB of text · 2,000,000 documents")


def test_environments_that_are_counted_twice_are_flagged() -> None:
    text = printed(200)
    assert "F: \\begin{align} and \\end{align} are the same environments" in text
    assert "other overlaps within methods: 2; --totals FILE lists them" in text


def test_rows_are_printed_with_what_fits() -> None:
    console = Console(file=io.StringIO(), width=80)
    sizes = 2_948_096_911, 16_666_308_904_212
    row = IndexRow("v2_dclm_all", "dclm", "DCLM-baseline", "curated", *sizes)
    print_rows(console, [row], IndexRow)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "16,666,308,904,212" in text
    assert "not shown, for want of room: kind" in text
    assert text.count("kind") == 1
    assert max(map(len, text.splitlines())) <= 80
