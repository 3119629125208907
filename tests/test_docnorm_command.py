"""`ngramscan docnorm` and `ngramscan contexts` as a person runs them."""

import io
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from ngramscan.prevalence.contexts import ContextRow, ContextsResult
from ngramscan.reporting.tables import print_contexts
from tests.support.cases import case_table
from tests.support.command import NGRAMSCAN
from tests.support.command import invoke as run
from tests.support.service import Spawned, spawn
from tests.test_literals import SHARDS


@pytest.fixture(scope="module")
def server() -> Iterator[Spawned]:
    with spawn({"v2_dclm_all": SHARDS}) as server:
        yield server


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal for tests of what is shown, so that the same is asked once."""
    return tmp_path_factory.mktemp("kept") / "j"


def arguments(url: str, journal: Path, *more: str | Path) -> list[str | Path]:
    return ["docnorm", "--api-url", url, "--journal", journal, *more]


# docnorm


@pytest.mark.integration
def test_a_run_that_was_stopped_gives_the_rows_of_one_that_was_not(tmp_path: Path) -> None:
    more = ("--method", "cot", "--draws", "40", "--format", "csv", "--context", "200")
    with spawn({"v2_dclm_all": SHARDS}, delay=0.01) as server:
        undisturbed = run(*arguments(server.url, tmp_path / "whole", *more))
        assert undisturbed.code == 0
        needed = len(server.read_log())
        command = list(map(str, arguments(server.url, tmp_path / "j", *more)))
        for how, answers in ((signal.SIGKILL, 40), (signal.SIGINT, 80)):
            before = len(server.read_log())
            with subprocess.Popen(
                [*NGRAMSCAN, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as stopped:
                while len(server.read_log()) - before < answers:
                    time.sleep(0.005)
                stopped.send_signal(how)
                assert stopped.communicate(timeout=20)[0] == ""
            assert stopped.returncode == (130 if how == signal.SIGINT else -9)
        before = len(server.read_log())
        assert run(*command).stdout == undisturbed.stdout
        # What was answered is not asked again; under way were four at most, each time.
        assert len(server.read_log()) - before <= needed - 120 + 8
        before = len(server.read_log())
        assert run(*command).stdout == undisturbed.stdout
        assert len(server.read_log()) == before


@pytest.mark.parametrize("width", ["60", "80", "200"])
@pytest.mark.parametrize("estimator", ["combined", "unique"])
def test_no_number_is_cut_at_any_width(
    server: Spawned, kept: Path, monkeypatch: pytest.MonkeyPatch, width: str, estimator: str
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


@pytest.mark.parametrize(*case_table("docnorm_usage"))
def test_wrong_usage_is_one_line(more: list[str], words: str) -> None:
    ran = run("docnorm", *more)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert ran.stderr.count("\n") == 1


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


@pytest.mark.parametrize("width", [50, 80, 120, 300])
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
