"""Tables at any width: no number is cut, and what tells rows apart is never left out."""

import io
from functools import cache

from rich.console import Console

from ngramscan.indexes.base import IndexSize
from ngramscan.prevalence.count import CountResult, CountRow, run_count
from ngramscan.prevalence.totals import make_totals
from ngramscan.reporting.tables import print_count
from tests.support.known_counts import COUNTS, SET, Known

SIZE = IndexSize(documents=2_000_000, bytes=4_000_000_000)
SNAPSHOTS = ("v2_cc-2025-05", "v2_cc-2025-08")


def console_of(width: int) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, width=width, markup=False, highlight=False), file


@cache
def printed(width: int, names: tuple[str, ...] = SNAPSHOTS) -> str:
    counting = run_count(SET.queries(), [Known(name, COUNTS, SIZE) for name in names])
    console, file = console_of(width)
    print_count(console, counting, make_totals(counting))
    return file.getvalue()


def test_a_narrow_terminal_loses_columns_and_a_wide_one_has_all() -> None:
    narrow, wide = printed(55), printed(200)
    assert "per M documents" in wide
    assert "no largest " in wide
    assert "not shown: per M documents, per GB, largest pattern\n(--wide" in narrow
    assert narrow.count("  F       T1+T2  latex         30     16\n") == 1  # over snapshots
    assert "not shown: no largest" in printed(45).split("Ratios")[1]
    assert "not shown" not in wide


def test_estimates_with_intervals_leave_room_for_patterns() -> None:
    keys = ("x", "bytes", "CoT", "T1", "narrative", "step by step", "step by step")
    limits = (1414.2, 7298.1, 200.0, 300.0)
    rows = [CountRow(*keys, 1923, 235, "scan", "t", True, *limits, 0.95, is_trusted=False)]
    console, file = console_of(60)
    print_count(console, CountResult([], rows=rows, sizes={"x": SIZE}), [])
    text = file.getvalue()
    assert "step by step" in text
    assert "≈1,923 [1,414, 7,298] (doubtful)" in text
    assert "≈235 [200, 300] (doubtful)" in text
    assert "not shown: per GB (" in text
    assert "doubtful: a single file makes up more than a tenth" in text


def test_what_is_counted_twice_comes_with_its_warning() -> None:
    text = printed(200)
    assert "sum over 2 crawl snapshots: snapshots share pages: this counts page versions" in text
    assert "sum over" not in printed(200, ("v2_dclm_all", "v2_cc-2025-05"))
    assert "between methods 0, begin/end pairs 1, others within methods 2; --totals FILE" in text
