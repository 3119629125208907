"""`ngramscan docnorm` as a person runs it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

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
