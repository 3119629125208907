"""No character of a foreign text steers the terminal; files keep it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import run

STEERING = "\x1b[31m\x07 \x9b2J \u202eabc\u2066"
SHOWN = r"\x1b[31m\x07 \x9b2J \u202eabc\u2066"


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    document = {"text": f"step {STEERING} step"}
    (tmp_path / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    return f"scan:{tmp_path}"


def on_terminal(*arguments: str) -> str:
    """Run a command whose stdout and stderr are a terminal; return what that gets."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ngramscan", *arguments]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 1 << 16):
                parts.append(part)
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return b"".join(parts).decode()


def steers(text: str) -> bool:
    controls = {*map(chr, (*range(32), *range(127, 160))), *"\u202d\u202e\u2066\u2069\u200e\u061c"}
    return bool(set(text) & controls - set("\t\n\r"))


@pytest.mark.parametrize("form", ["table", "csv", "jsonl", "json", "latex"])
def test_texts_of_corpora_do_not_steer_the_terminal(corpus: str, form: str) -> None:
    options = [] if form == "table" else ["--format", form]
    shown = on_terminal("contexts", "step", "--index", corpus, "--width", "40", *options)
    assert "step" in shown
    assert not steers(shown)


def test_json_and_files_keep_every_character(corpus: str, tmp_path: Path) -> None:
    printed = run("contexts", "step", "--index", corpus, "--format", "jsonl")
    texts = "".join(json.loads(line)["right"] for line in printed.stdout.splitlines())
    assert STEERING in texts
    path = tmp_path / "rows.csv"
    run("contexts", "step", "--index", corpus, "-o", path)
    assert STEERING in path.read_bytes().decode()
    piped = run("contexts", "step", "--index", corpus, "--format", "csv")
    assert STEERING in piped.stdout


def test_names_of_files_are_shown_as_escapes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    with open(folder + b"/\x1b]0;title\x07\xff.jsonl", "w", encoding="utf-8") as file:
        file.write('{"text": "step"}\nno JSON\n')
    shown = on_terminal("count", "f1", "--index", f"scan:{tmp_path}")
    assert r"\x1b]0;title\x07\xff.jsonl" in shown.replace("\r\n", "")
    assert not steers(shown)


@pytest.mark.parametrize("encoding", ["UTF-8 mode off", "UTF-8 mode on"])
def test_names_that_are_not_utf8_and_a_plain_locale_do_no_harm(
    tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.jsonl", "w", encoding="utf-8") as file:
        file.write('{"text": "un été"}\n')
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONCOERCECLOCALE", "0")
    monkeypatch.setenv("PYTHONUTF8", "0" if encoding == "UTF-8 mode off" else "1")
    options = ("--index", f"scan:{tmp_path}", "--format", "csv")
    done = run("contexts", "été", *options)
    assert (done.code, [row["match"] for row in done.rows]) == (0, ["été"])
    assert done.rows[0]["document"].endswith(r"\udcff.jsonl:1")


def test_a_text_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ngramscan", "contexts", "x\udcff", "--index", "python"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"Error: TEXT: it is not UTF-8\n")
