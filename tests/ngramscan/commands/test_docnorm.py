"""`ngramscan docnorm` and `ngramscan contexts` as a person runs them."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from ngramscan.prevalence.contexts import ContextRow, ContextsResult
from ngramscan.reporting.tables import print_contexts
from tests.support.command import invoke as run
from tests.support.outputs import refusal
from tests.support.replay_texts import SHARDS
from tests.support.service import ApiServer


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with ApiServer({"v2_dclm_all": SHARDS}) as server:
        yield server


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal for tests of what is shown, so that the same is asked once."""
    return tmp_path_factory.mktemp("kept") / "j"


def arguments(url: str, journal: Path, *more: str | Path) -> list[str | Path]:
    return ["docnorm", "--api-url", url, "--journal", journal, *more]


@pytest.mark.parametrize("width", ["60", "80", "200"])
@pytest.mark.parametrize("estimator", ["combined", "unique"])
def test_no_number_is_cut_at_any_width(
    server: ApiServer, kept: Path, monkeypatch: pytest.MonkeyPatch, width: str, estimator: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(Console, "is_terminal", True)
    more = ("--draws", "20", "--estimator", estimator, "--method", "cot", "--context", "200")
    ran = run(*arguments(server.url, kept, *more))
    assert ran.code == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", ran.stdout)
    assert max(map(len, shown.splitlines())) <= int(width)
    assert "…" not in shown
    if estimator == "unique":
        assert "can't tell 1 occurrence per document from 15" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--target", "0%"], "--target 0%: expected a share between 0 and 100%"),
        (["--target", "5", "--dry-run"], "a share between 0 and 100%"),
        (["--target", "x"], "--target x: expected a share"),
        (["--target", "5%", "--estimator", "unique"], "no interval that draws could narrow"),
        (["--target", "5%", "--draws", "9"], "--draws: it can't go with --target"),
        (["--max-draws", "9"], "--max-draws: it goes with --target"),
        (["--drawn", "d.txt"], "-o d.txt: no file format named"),
    ],
)
def test_wrong_usage_is_one_line(more: list[str], words: str) -> None:
    assert words in refusal("docnorm", *more)


# contexts


# The lines of a terminal

URL = '{"metadata": {"url": "http://a/"}}'
ROWS = [
    ContextRow("x", "key", "17", 5, "é\nfour\t", "key", " after", 0, 1, URL),
    ContextRow("x", "key", "4", None, "ตัวอย่าง 答え ", "key", "\x1b[31m red", 0, 2, "no JSON"),
    ContextRow("x", "key", "a.jsonl:3", 0, "", "key", "x" * 90, 0, 3, '{"source": "id-3"}'),
]


def lines(width: int, rows: list[ContextRow] = ROWS, color: bool = False) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=color, markup=False, highlight=False)
    print_contexts([ContextsResult("x", "key", 300 * len(rows), rows, [])], 7, console)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [30, 50, 80, 120, 300])
def test_matches_stand_below_each_other(width: int) -> None:
    head, *body = lines(width)
    assert head.split("\n")[0] == "x · 'key' · 900 occurrences, 3 drawn at random, seed 7"
    body = [line for line in body if line]
    assert len({cell_len(line[: line.index("key")]) for line in body}) == 1
    assert max(map(cell_len, body)) <= width
    assert not any("\x1b" in line for line in body)
    assert "é¶four key" in body[0]
    if width >= 80:
        assert body[0].rstrip().endswith("#17 http://a/")
        assert body[2].rstrip().endswith("a.jsonl:3 id-3")
