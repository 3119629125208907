"""`ngramscan docnorm` as a person runs it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import ngramscan
from ngramscan.errors import IncompleteError
from ngramscan.patterns.files import load_patterns
from tests.support.command import invoke as run
from tests.support.outputs import refusal
from tests.support.replay_texts import SHARDS, TEXTS
from tests.support.service import ApiServer, Faults


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


def test_by_default_the_patterns_are_those_of_f1_in_dclm(server: ApiServer, kept: Path) -> None:
    asked = arguments(server.url, kept, "--draws", "5")
    table = run(*asked)
    assert table.code == 0
    assert table.stdout.splitlines()[:2] == ["v2_dclm_all", "Documents with any phrase of a method"]
    assert "--all: 42 phrases, totals, ratios" in table.stdout
    rows = run(*asked, "--format", "csv").rows
    assert len(rows) == 42
    assert {row["tier"] for row in rows} == {"T1", "T2"}
    exact = [row for row in rows if row["estimator"] == "exact"]
    assert {row["pattern"]: int(row["documents"]) for row in exact} == {
        row["pattern"]: sum(row["pattern"] in text for text in TEXTS) for row in exact
    }
    limits = {row["pattern"]: (row["documents_low"], row["documents_high"]) for row in rows}
    covered = [
        int(low) <= sum(pattern in text for text in TEXTS) <= int(high)
        for pattern, (low, high) in limits.items()
    ]
    assert sum(covered) >= 39


NOWHERE = "http://127.0.0.1:9/"


def planned(journal: Path, *more: str) -> list[dict[str, str]]:
    """Return what a run would take; nothing answers there."""
    return run(*arguments(NOWHERE, journal, "--dry-run", "--format", "csv", *more)).rows


def test_a_plan_asks_nothing_and_says_what_draws_would_take(tmp_path: Path) -> None:
    (plan,) = planned(tmp_path / "j")
    assert plan["index"] == "v2_dclm_all"
    # 42 patterns, three of which contain another query, and 200 draws of each.
    assert (plan["lookups"], plan["windows_at_most"]) == ("45", "8400")
    assert plan["requests_at_most"] == "8445"
    assert plan["duration"] == "0:35:11", "four a second: 2,111 seconds"


@pytest.mark.parametrize(
    ("rate", "duration"),
    [
        pytest.param("0.5", "4:41:30", id="one in two seconds"),
        pytest.param("8", "0:17:36", id="twice as many as by default"),
        pytest.param("0", "0:35:11", id="no limit: the pace of the public service"),
    ],
)
def test_a_plan_has_the_time_at_the_rate_that_is_given(
    rate: str, duration: str, tmp_path: Path
) -> None:
    (plan,) = planned(tmp_path / "j", "--rate", rate)
    assert (plan["requests"], plan["duration"]) == ("8445", duration)


@pytest.mark.parametrize(
    ("more", "windows"),
    [
        pytest.param(("--draws", "9"), 9 * 8, id="draws"),
        pytest.param(("--target", "10%"), 2000 * 8, id="a target: as many as are allowed"),
        pytest.param(("--target", "10%", "--max-draws", "300"), 300 * 8, id="fewer are allowed"),
    ],
)
def test_a_plan_has_the_draws_that_are_asked_for(
    tmp_path: Path, more: tuple[str, ...], windows: int
) -> None:
    (plan,) = planned(tmp_path / "j", "--method", "cot", *more)
    assert (plan["patterns"], plan["windows_at_most"]) == ("8", str(windows))


def test_a_plan_of_a_corpus_that_is_read_has_no_requests(tmp_path: Path) -> None:
    plans = planned(tmp_path / "j", "--index", f"scan:{SHARDS[0]}", "--index", "dclm")
    assert [plan["requests_at_most"] for plan in plans] == ["0", "8445"]


def test_totals_and_draws_go_to_files_of_their_own(server: ApiServer, tmp_path: Path) -> None:
    files = ("--totals", tmp_path / "t.csv", "--drawn", tmp_path / "d.parquet")
    more = ("--method", "pot", "--draws", "20", "--seed", "3", "--format", "csv")
    rows = run(*arguments(server.url, tmp_path / "j", *more, *files)).rows
    assert {row["seed"] for row in rows} == {"3"}
    drawn = pd.read_parquet(tmp_path / "d.parquet")
    numbers = {
        pattern: own["draw"].tolist() for pattern, own in drawn.groupby("pattern", sort=False)
    }
    assert numbers == {
        row["pattern"]: [*range(1, int(row["draws"]) + 1)] for row in rows if row["draws"] != "0"
    }
    assert len(numbers) > 1
    for draw in drawn.to_dict("records"):
        content = draw["text"].encode()
        assert content.startswith(draw["pattern"].encode(), draw["text_offset"])
        assert draw["text"] in TEXTS[int(draw["document"])] or draw["truncated"]
    statistics = set(pd.read_csv(tmp_path / "t.csv")["statistic"])
    assert statistics >= {"union_of_occurrences", "documents", "occurrences_per_document"}


def test_what_failed_is_missing_and_the_rest_is_there(tmp_path: Path) -> None:
    faults = Faults(bodies={"let's start by": '{"cnt": 1}'})
    with ApiServer({"v2_dclm_all": [SHARDS[0]]}, faults=faults) as failing:
        more = ("--method", "cot", "--draws", "10", "--format", "csv")
        ran = run(*arguments(failing.url, tmp_path / "j", *more))
        with pytest.raises(IncompleteError) as raised:
            ngramscan.docnorm(method="cot", draws=10, api_url=failing.url, journal=tmp_path / "j")
    assert (ran.code, len(ran.rows)) == (1, 7)
    assert "let's start by" not in {row["pattern"] for row in ran.rows}
    said = '{"cnt": 1}; the estimate of "let\'s start by" in v2_dclm_all is missing\n'
    assert ran.stderr.endswith(said)
    assert raised.value.rows["pattern"].tolist() == [row["pattern"] for row in ran.rows]


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
        pytest.param(
            ["--target", "0%"],
            "--target 0%: expected a share between 0 and 100%",
            id="a target of nothing",
        ),
        pytest.param(
            ["--target", "5", "--dry-run"], "a share between 0 and 100%", id="a target of 500%"
        ),
        pytest.param(["--target", "x"], "--target x: expected a share", id="no number as target"),
        pytest.param(
            ["--target", "5%", "--estimator", "unique"],
            "no interval that draws could narrow",
            id="an estimator without draws",
        ),
        pytest.param(
            ["--target", "5%", "--draws", "9"],
            "--draws: not allowed with --target",
            id="draws with a target",
        ),
        pytest.param(
            ["--max-draws", "9"],
            "--max-draws: requires --target",
            id="max-draws without a target",
        ),
        pytest.param(
            ["--drawn", "d.txt"], "--drawn d.txt: no file format named", id="a file of no format"
        ),
    ],
)
def test_wrong_usage_is_one_line(more: list[str], words: str) -> None:
    assert words in refusal("docnorm", *more)


def test_the_patterns_that_are_taken_without_any_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.jsonl").write_text('{"text": "step by step"}\n')
    counted = [
        len([each for each in load_patterns("f1").patterns if each.tier in tiers])
        for tiers in (("T1", "T2"), ("T1", "T2", "T3"))
    ]
    said = f"{counted[0]} of the {counted[1]} patterns of f1 are counted, those of T1 and T2; all: "
    for options in (("--dry-run",), ("--journal", "j.sqlite")):
        ran = run("docnorm", "--index", "c.jsonl", *options, "--format", "csv")
        assert f"{said}ngramscan docnorm f1\n" in ran.stderr
    assert len(ran.rows) == counted[0]
    named = run("docnorm", "f1", "--index", "c.jsonl", "--dry-run", "--format", "csv")
    assert ("are counted" in named.stderr, named.rows[0]["patterns"]) == (False, str(counted[1]))
    tier = run("docnorm", "--tier", "T3", "--index", "c.jsonl", "--dry-run", "--format", "csv")
    assert "are counted" not in tier.stderr


def test_a_plan_says_why_it_looks_up_more_texts_than_patterns() -> None:
    ran = run("docnorm", "f1", "--index", "dclm", "--dry-run", "--format", "csv")
    (row,) = ran.rows
    more = int(row["lookups"]) - int(row["patterns"])
    assert more > 1
    assert f"lookups are those of the patterns and of {more} texts in which two" in ran.stderr
    few = run("docnorm", "-e", "step by step", "--index", "dclm", "--dry-run", "--format", "csv")
    assert "lookups are" not in few.stderr
