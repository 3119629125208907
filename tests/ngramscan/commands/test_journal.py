"""`ngramscan journal` as a person runs it: rows, what is removed, and what is asked before."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import ngramscan
from ngramscan.journal import Journal, default_path
from tests.support.command import NGRAMSCAN, invoke
from tests.support.started import started


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A journal with replies of two hosted indexes and of the files of a corpus, one by one."""
    path = tmp_path / "kept.sqlite"
    with Journal(path) as journal:
        for name, replies in (("v2_dclm_all", 3), ("http://h/mine", 1)):
            for number in range(replies):
                journal.put("https://host/", name, f"request {number}", "reply")
        for file in ("/data/a.jsonl|9|1|0|None", "/data/b.jsonl|9|1|0|5", "/data/b.jsonl|9|1|5|9"):
            journal.put("scan", file, "request", "reply")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE replies SET asked_at = '2020' WHERE request = 'request 1'")
    connection.close()
    return path


def test_rows_say_how_many_replies_there_are_and_since_when(kept: Path) -> None:
    with sqlite3.connect(kept) as connection:
        connection.execute("UPDATE replies SET asked_at = '2024' WHERE request = 'request 0'")
        connection.execute("UPDATE replies SET asked_at = '2022' WHERE request = 'request 2'")
        connection.execute("UPDATE replies SET asked_at = '2023' WHERE source = 'scan'")
    connection.close()
    rows = invoke("journal", "info", "--journal", kept, "--format", "csv").rows
    assert rows == [
        {
            "source": source,
            "index": index,
            "replies": replies,
            "oldest": oldest,
            "newest": newest,
        }
        for source, index, replies, oldest, newest in [
            ("https://host/", "http://h/mine", "1", "2024", "2024"),
            ("https://host/", "v2_dclm_all", "3", "2020", "2024"),
            ("scan", "scan:/data", "3", "2023", "2023"),
        ]
    ]


def test_the_replies_of_one_index_are_removed_and_then_all(kept: Path) -> None:
    removed = invoke("journal", "clear", "--index", "dclm", "--journal", kept, "--yes")
    assert (removed.code, removed.stdout) == (0, "")
    assert removed.stderr == f"{kept}: replies removed: 3\n"
    with Journal(kept) as journal:
        assert journal.get("https://host/", "v2_dclm_all", ["request 0"]) == {}
        assert journal.get("https://host/", "http://h/mine", ["request 0"])
    wrong = invoke("journal", "clear", "--index", "scan:/dat", "--journal", kept)
    assert (wrong.code, "no replies from it; did you mean scan:/data?" in wrong.stderr) == (2, True)
    assert ngramscan.journal_clear(journal=kept)["replies"].sum() == 4
    assert ngramscan.journal_info(journal=kept).empty


@pytest.mark.parametrize(
    ("form", "removed"),
    [
        ("{}", 1),
        ("{}/", 3),
        ("{}/*.jsonl", 2),
        ("{}/a.jsonl", 1),
        ("{}/.", 3),
    ],
)
def test_an_index_is_cleared_by_each_form_that_count_takes(
    form: str, removed: int, tmp_path: Path
) -> None:
    kept, folder = tmp_path / "kept.sqlite", tmp_path / "corpus"
    (folder / "inner").mkdir(parents=True)
    for name in ("a", "b", "inner/c"):
        (folder / f"{name}.jsonl").write_text('{"text": "a"}\n')
    spec = "scan:" + form.format(folder / "a.jsonl" if form == "{}" else folder)
    invoke("count", "-e", "a", "--index", f"scan:{folder}", "--journal", kept)
    cleared = invoke("journal", "clear", "--index", spec, "--journal", kept, "--yes")
    assert (cleared.code, cleared.stderr) == (0, f"{kept}: replies removed: {removed}\n")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"n\n", id="no"),
        pytest.param(b"y\n", id="yes"),
    ],
)
def test_without_a_terminal_nothing_is_removed_unless_yes_is_said(
    kept: Path, content: bytes, subtests: pytest.Subtests
) -> None:
    for more, what in (((), "all replies"), (("--index", "dclm"), "the replies from dclm")):
        with subtests.test(more=more):
            refused = invoke("journal", "clear", *more, "--journal", kept, content=content)
            assert (refused.code, refused.stdout) == (2, "")
            problem = f"removing {what} must be confirmed, and standard input is not a terminal"
            assert refused.stderr == f"Error: {kept}: {problem}; add --yes\n"
    assert ngramscan.journal_info(journal=kept)["replies"].sum() == 7
    assert invoke("journal", "clear", "--journal", kept, "--yes", content=content).code == 0
    assert ngramscan.journal_info(journal=kept).empty


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("y", 0),
        ("n", 7),
        ("", 7),
    ],
)
def test_a_terminal_is_asked_before_replies_are_removed(kept: Path, answer: str, left: int) -> None:
    parent, child = os.openpty()
    command = [*NGRAMSCAN, "journal", "clear", "--journal", str(kept)]
    with started(command, stdin=child, stderr=subprocess.PIPE) as process:
        os.write(parent, f"{answer}\n".encode())
        _, said = process.communicate(timeout=60)
    os.close(parent)
    os.close(child)
    assert (process.returncode, f"Remove all replies from {kept}?" in said) == (left > 0, True)
    assert ngramscan.journal_info(journal=kept)["replies"].sum() == left


KILLED = """
import os, sys
from pathlib import Path
from ngramscan.journal import Journal
journal = Journal(Path(sys.argv[1]))
journal.put("source", "name", "request", "reply")
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("command", ["count", "info"])
def test_the_next_run_leaves_no_files_of_a_killed_one_and_loses_no_reply(
    tmp_path: Path, command: str
) -> None:
    path, corpus = tmp_path / "replies.sqlite", tmp_path / "corpus.jsonl"
    corpus.write_text('{"text": "a word"}\n')
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert len(list(tmp_path.glob("replies.sqlite-*"))) == 2, "or there was nothing to clear up"
    if command == "count":
        asked = ("-e", "word", "--index", f"scan:{corpus}", "--workers", "1", "--journal", path)
        assert invoke("count", *asked).code == 0
    else:
        assert invoke("journal", "info", "--journal", path).code == 0
    assert list(tmp_path.glob("replies.sqlite-*")) == []
    with Journal(path) as journal:
        assert journal.get("source", "name", ["request"])["request"].text == "reply"


def test_where_there_is_no_journal_nothing_is_made(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    info = invoke("journal", "info", "--journal", path)
    assert (info.code, info.stdout) == (0, f"{path}: no journal yet, replies: 0\n")
    cleared = invoke("journal", "clear", "--journal", path)
    assert (cleared.code, cleared.stderr) == (0, f"{path}: replies removed: 0\n")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("command", ["journal --help", "journal info --help", "count --help-all"])
def test_the_default_journal_is_where_the_help_says(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    path = f"~/{default_path().relative_to(Path.home())}"
    assert path in "".join(invoke(*command.split()).stdout.split())
