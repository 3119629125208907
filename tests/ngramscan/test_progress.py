"""No character of a foreign text controls the terminal; files keep it."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ngramscan.messages import counted
from ngramscan.progress import (
    Terminal,
    format_bytes,
    marked_line,
    short_amount,
    visible,
    visible_json,
    visible_line,
)
from tests.support.command import invoke

CONTROLLING = "\x1b[31m\x07 \x9b2J \u202eabc\u2066"
FORMS = ("table", "csv", "jsonl", "json", "latex")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    document = {"text": f"step {CONTROLLING} step"}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    return f"scan:{tmp_path}"


def on_terminal(*commands: list[str]) -> str:
    """Run commands in a process whose stdout and stderr are a terminal; return what that gets."""
    program = (
        "import json, sys\nfrom ngramscan.cli import main\n"
        "for command in json.loads(sys.argv[1]):\n    main(command, standalone_mode=False)\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    arguments = [sys.executable, "-c", program, json.dumps(commands)]
    with subprocess.Popen(arguments, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 1 << 16):
                parts.append(part)
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    text = b"".join(parts).decode()
    controls = {*map(chr, (*range(32), *range(127, 160))), *"\u202d\u202e\u2066\u2069\u200e\u061c"}
    assert not set(text) & controls - set("\t\n\r")
    return text


def test_texts_of_corpora_do_not_control_the_terminal(corpus: str) -> None:
    contexts = ["contexts", "-e", "step", "--index", corpus, "--width", "40", "-q"]
    options = [["--format", form] if form != "table" else [] for form in FORMS]
    shown = on_terminal(*([*contexts, *option] for option in options))
    assert shown.count("step") >= 2 * len(FORMS)


def test_names_of_files_are_shown_as_escapes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    with open(folder + b"/\x1b]0;title\x07\xff.jsonl", "w", encoding="utf-8") as file:
        file.write('{"text": "step"}\nno JSON\n')
    shown = on_terminal(["count", "f1", "--index", f"scan:{tmp_path}"])
    assert r"\x1b]0;title\x07\xff.jsonl" in shown.replace("\r\n", "")


def test_json_and_files_keep_every_character(corpus: str, tmp_path: Path) -> None:
    contexts = ("contexts", "-e", "step", "--index", corpus, "--format")
    printed = invoke(*contexts, "jsonl").stdout
    texts = "".join(json.loads(line)["right"] for line in printed.splitlines())
    assert CONTROLLING in texts
    assert CONTROLLING in invoke(*contexts, "csv").stdout
    path = tmp_path.with_name(f"{tmp_path.name}-rows.csv")
    invoke(*contexts[:-1], "-o", path)
    assert CONTROLLING in path.read_bytes().decode()


def test_a_note_stands_behind_the_bars(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    with Terminal(quiet=False, verbose=False) as progress:
        progress.expect(3, "files")
        progress.note("\udcff slow")
        progress.notice("\udcff.txt")
    assert re.search(r"\\xff\.txt\n(.|\n)*files.*\\xff slow", capsys.readouterr().err)


# Amounts


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1234, "1.23 kB"),
        (999_000, "999 kB"),
        (1_000_000, "1 MB"),
        (2_500_000_000, "2.5 GB"),
        (1_000_000_000_000, "1 TB"),
        (12_345_000_000_000_000, "1.234e+04 TB"),
    ],
)
def test_bytes_are_shown_in_a_unit_of_thousands(amount: int, shown: str) -> None:
    assert format_bytes(amount) == shown


@pytest.mark.parametrize(
    ("amount", "shown"), [(0, "0 times"), (1, "1 time"), (2, "2 times"), (1234, "1,234 times")]
)
def test_a_noun_is_plural_unless_it_is_one(amount: int, shown: str) -> None:
    assert counted(amount, "time") == shown


@pytest.mark.parametrize(
    ("unit", "shown"),
    [("bytes", "1.23 kB"), ("bytes of x", "1.23 kB"), ("answers", "1,234")],
)
def test_only_amounts_of_bytes_have_their_unit(unit: str, shown: str) -> None:
    assert short_amount(1234, unit) == shown


# Foreign texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\tb\nc", "a\tb\nc", id="tabs and line ends stay"),
        pytest.param("\x00\x08\x0b\x1f", r"\x00\x08\x0b\x1f", id="C0"),
        pytest.param(" ~\x7f\x9f\xa0", " ~\\x7f\\x9f\xa0", id="DEL and C1"),
        pytest.param("\u061c\u200e\u200f", r"\u061c\u200e\u200f", id="marks of direction"),
        pytest.param("\u200d\u2010", "\u200d\u2010", id="their neighbours"),
        pytest.param("\u2028\u202e\u2066\u2069", r"\u2028\u202e\u2066\u2069", id="overrides"),
        pytest.param("\u2027\u202f\u2065\u206a", "\u2027\u202f\u2065\u206a", id="others"),
        pytest.param("\udc80\udcff", r"\x80\xff", id="bytes of a name"),
        pytest.param("\ud800\udc7f\udd00", r"\ud800\udc7f\udd00", id="halves of characters"),
    ],
)
def test_what_steers_a_terminal_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_texts_on_one_line_have_marks_for_line_ends_and_tabs() -> None:
    assert visible_line("a\tb\nc\x1b") == r"a\tb\nc\x1b"
    assert marked_line("a\tb\nc\x1b") == r"a b⏎c\x1b"


def test_json_has_its_own_escapes_and_loses_nothing() -> None:
    text = "a\x7f\x9b\u202e\udc80\u2066"
    shown = visible_json(json.dumps(text, ensure_ascii=False))
    assert shown == r'"a\u007f\u009b\u202e\udc80\u2066"'
    assert json.loads(shown) == text


# What is told


@pytest.mark.parametrize(
    ("quiet", "verbose", "told"),
    [
        pytest.param(False, False, ["note", "notice"], id="usual"),
        pytest.param(False, True, ["note", "notice", "detail"], id="verbose"),
        pytest.param(True, False, [], id="quiet"),
        pytest.param(True, True, [], id="quiet though verbose"),
    ],
)
def test_a_pipe_gets_lines_unless_it_is_to_be_quiet(
    capsys: pytest.CaptureFixture[str], quiet: bool, verbose: bool, told: list[str]
) -> None:
    with Terminal(quiet=quiet, verbose=verbose) as progress:
        progress.expect(3, "files")
        progress.advance(1, "files")
        progress.note("note")
        progress.note("")
        progress.notice("notice")
        progress.detail("detail")
    assert capsys.readouterr().err.split() == told


def test_bars_have_what_is_done_of_what_is_expected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    with Terminal(quiet=False) as progress:
        progress.expect(2000, "bytes read")
        progress.expect(500, "bytes read")
        progress.expect(3, "files")
        progress.advance(1500, "bytes read")
        progress.advance(250, "bytes read")
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    assert "1.75 kB of 2.5 kB" in shown
    assert re.search(r"^files ", shown, re.MULTILINE)
