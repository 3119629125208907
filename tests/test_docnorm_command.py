"""`ngramscan docnorm` and `ngramscan contexts` as a person runs them."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console

import ngramscan
from ngramscan.errors import IncompleteError, InputError
from ngramscan.prevalence.contexts import ContextRow, ContextsResult
from ngramscan.prevalence.docnorm import DocnormRow
from ngramscan.prevalence.draws import DrawRow
from ngramscan.reporting.tables import print_contexts
from tests.support.command import NGRAMSCAN
from tests.support.command import invoke as run
from tests.support.service import ApiServer, Faults, Spawned, spawn
from tests.test_literals import SHARDS, TEXTS

DOCS = Path(__file__).parent / "replay" / "docs"


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


def test_the_defaults_are_the_paper_s_patterns_in_dclm(server: Spawned, tmp_path: Path) -> None:
    given = arguments(server.url, tmp_path / "j", "--draws", "5")
    table = run(*given)
    assert (table.code, table.stderr) == (0, "")
    assert table.stdout.startswith("v2_dclm_all · DCLM-baseline, curated · 16.67 TB of text")
    assert "the interval is the guaranteed one" in table.stdout
    assert "seed 1" in table.stdout
    rows = run(*given, "--format", "csv").rows
    assert list(rows[0]) == list(DocnormRow.__dataclass_fields__)
    assert len(rows) == 42
    assert {row["tier"] for row in rows} == {"T1", "T2"}
    covered = []
    for row in rows:
        exact = sum(row["pattern"] in text for text in TEXTS)
        covered.append(int(row["documents_low"]) <= exact <= int(row["documents_high"]))
        assert row["estimator"] != "exact" or int(row["documents"]) == exact
    assert sum(covered) >= 39


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


def test_a_dry_run_asks_nothing_and_says_what_it_would_take(tmp_path: Path) -> None:
    nowhere = arguments("http://127.0.0.1:9/", tmp_path / "j", "--dry-run")
    (plan,) = run(*nowhere, "--format", "csv").rows
    assert plan["index"] == "v2_dclm_all"
    assert (plan["lookups"], plan["windows_at_most"]) == ("45", "8400")
    assert plan["requests_at_most"] == "8445"
    # 8445 requests, four a second: 2111 seconds.
    assert plan["duration"] == "0:35:11"
    (plan,) = run(*nowhere, "--format", "csv", "--method", "cot", "--target", "10%").rows
    assert plan["windows_at_most"] == "16000"
    rows = run(*nowhere, "--format", "csv", "--index", f"scan:{DOCS}", "--index", "dclm").rows
    assert [row["requests_at_most"] for row in rows] == ["0", "8445"]


def test_totals_and_draws_go_to_files_of_their_own(server: Spawned, tmp_path: Path) -> None:
    draws = tmp_path / "draws.parquet"
    frame = ngramscan.docnorm(
        method=["pot"], draws=20, seed=3, api_url=server.url, journal=tmp_path / "j",
        totals=tmp_path / "t.csv", drawn=draws,
    )  # fmt: skip
    assert list(frame.columns) == list(DocnormRow.__dataclass_fields__)
    assert set(frame["seed"]) == {3}
    drawn = pd.read_parquet(draws)
    assert list(drawn.columns) == list(DrawRow.__dataclass_fields__)
    assert len(drawn) == frame["draws"].sum()
    for draw in drawn.itertuples():
        content = str(draw.text).encode()
        assert content.startswith(str(draw.pattern).encode(), int(str(draw.text_offset)))
    statistics = set(pd.read_csv(tmp_path / "t.csv")["statistic"])
    assert statistics == {"union_of_occurrences", "documents", "occurrences_per_document"}
    with pytest.raises(InputError, match="draws=1"):
        ngramscan.docnorm(draws=1)
    with pytest.raises(InputError, match='estimator="best"'):
        ngramscan.docnorm(estimator=cast("Any", "best"))


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


def test_what_failed_is_missing_and_the_rest_is_there(tmp_path: Path) -> None:
    faults = Faults(bodies={"let's start by": '{"cnt": 1}'})
    with ApiServer({"v2_dclm_all": [DOCS / "a.jsonl"]}, faults=faults) as server:
        more = ("--method", "cot", "--draws", "10", "--format", "csv")
        ran = run(*arguments(server.url, tmp_path / "j", *more))
        assert (ran.code, len(ran.rows)) == (1, 7)
        assert ran.stderr.endswith(
            '{"cnt": 1}; the estimate of "let\'s start by" in v2_dclm_all is missing\n'
        )
        with pytest.raises(IncompleteError) as error:
            ngramscan.docnorm(method="cot", draws=10, api_url=server.url, journal=tmp_path / "j")
        assert len(error.value.rows) == 7


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--target", "0%"], "--target 0%: a share between 0 and 100%"),
        (["--target", "5", "--dry-run"], "a share between 0 and 100%"),
        (["--target", "x"], "--target x: a share"),
        (["--target", "5%", "--estimator", "unique"], "no interval that draws could narrow"),
        (["--target", "5%", "--draws", "9"], "--draws: it can't go with --target"),
        (["--max-draws", "9"], "--max-draws: it goes with --target"),
        (["--drawn", "d.txt"], "-o d.txt: no file format named"),
    ],
)
def test_wrong_usage_is_one_line(more: list[str], words: str) -> None:
    ran = run("docnorm", *more)
    assert (ran.code, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert ran.stderr.count("\n") == 1


# contexts

Contexts = Callable[..., list[dict[str, str]]]


@pytest.fixture
def contexts(server: Spawned, tmp_path: Path) -> Contexts:
    def ask(text: str, *more: str) -> list[dict[str, str]]:
        asked = ("--api-url", server.url, "--journal", tmp_path / "j", "--format", "csv")
        ran = run("contexts", "-e", text, *asked, *more)
        assert (ran.code, ran.stderr) == (0, "")
        return ran.rows

    return ask


@pytest.mark.parametrize("text", ["step by step", "ภาษา", "🎉", "\\frac{"])
def test_contexts_are_what_stands_around_the_text(contexts: Contexts, text: str) -> None:
    rows = contexts(text, "-n", "15", "--width", "30")
    assert len(rows) == 15
    for row in rows:
        document = TEXTS[int(row["document"])]
        assert row["match"] == text
        assert row["left"] + text + row["right"] in document
        at_start = document.startswith(row["left"] + text)
        assert len(row["left"]) == 30 or at_start
        assert len(row["right"]) == 30 or document.endswith(text + row["right"])
        if row["offset"]:
            assert document.encode()[int(row["offset"]) :].startswith(text.encode())
        assert json.loads(row["metadata"])["path"] in {"a.jsonl", "b.jsonl"}
    assert contexts(text, "-n", "15", "--width", "30") == rows
    assert contexts(text, "-n", "15", "--seed", "2") != rows
    # All are shown where there are few.
    assert len(contexts("write code to", "-n", "100")) == str(TEXTS).count("write code to")
    assert contexts("no such text") == []


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


def test_the_match_is_bold_and_none_is_said() -> None:
    assert any("\x1b[1;31mkey" in line for line in lines(100, color=True))
    assert lines(80, []) == ["x · 'key' · 0 occurrences, all", ""]
