"""No character of a foreign text controls the terminal; files keep it."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ngramscan.progress import Terminal
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
