import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.journal import Journal


@pytest.mark.integration
def test_a_killed_process_loses_nothing_that_was_put(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    program = (
        "import os, signal, sys; from pathlib import Path; from ngramscan.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for i in range(20): journal.put('h', 'n', f'q{i}', 'r')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -9
    with Journal(path) as journal:
        assert len(journal.get("h", "n", [f"q{i}" for i in range(20)])) == 20


@pytest.mark.parametrize(
    ("made_by", "problem"),
    [
        ("CREATE TABLE mine (a)", "a database, but not a journal; name another file"),
        ("PRAGMA user_version = 99", "written by a newer ngramscan"),
        ("", r"can't be opened as a journal \(file is not a database\)"),
    ],
)
def test_files_that_are_no_journal_are_refused(tmp_path: Path, made_by: str, problem: str) -> None:
    path = tmp_path / "j.sqlite"
    if made_by:
        connection = sqlite3.connect(path)
        connection.execute(made_by)
        connection.close()
    else:
        path.write_text("this is no database, but long enough to be looked at as one" * 20)
    before = path.read_bytes()
    with pytest.raises(InputError, match=rf"--journal .*j\.sqlite: {problem}"):
        Journal(path)
    assert path.read_bytes() == before


def test_a_journal_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.sqlite")
    journal.close()
    with pytest.raises(InputError, match="can't be written"):
        journal.put("h", "n", "q", "r")
    with pytest.raises(InputError, match="can't be opened"):
        Journal(Path("/proc/nowhere/j.sqlite"))


def test_what_was_put_is_found_by_another_journal(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "j.sqlite"
    with Journal(path) as journal:
        for request, reply in (("q1", "r1"), ("q2", "r2"), ("q2", "newer")):
            journal.put("http://h/", "pile", request, reply)
        journal.put("http://h/", "name \udc80", "q1", "not UTF-8")
    assert path.stat().st_mode & 0o777 == 0o600
    with Journal(path) as journal:
        found = journal.get("http://h/", "pile", ["q1", "q2", "q3"])
        texts = {request: reply.text for request, reply in found.items()}
        assert texts == {"q1": "r1", "q2": "newer"}
        assert found["q1"].asked_at.endswith("+00:00")
        each = journal.get_each("http://h/", ["pile", "other", "name \udc80"], "q1")
        texts = {name: reply.text for name, reply in each.items()}
        assert texts == {"pile": "r1", "name \udc80": "not UTF-8"}
        assert journal.get("http://h/", "other", ["q1"]) == {}
        assert journal.get("http://other/", "pile", ["q1"]) == {}


def test_many_threads_and_two_journals_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    requests = [f"q{i}" for i in range(20)]
    with Journal(path) as one, Journal(path) as other:

        def write(journal: Journal, name: str) -> None:
            for request in requests:
                journal.put("h", name, request, "r")

        threads = [
            threading.Thread(target=write, args=(journal, f"{k}"))
            for k, journal in enumerate([one, other, one, other])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(len(one.get("h", f"{k}", requests)) == 20 for k in range(4))


def test_a_damaged_page_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "j.sqlite"
    with Journal(path) as journal:
        for number in range(200):
            journal.put("http://host/", "index", f"request {number}", "x" * 500)
    content = bytearray(path.read_bytes())
    content[4096:-4096] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with Journal(path) as journal, pytest.raises(InputError, match=r"damaged .*; delete it"):
        journal.get("http://host/", "index", [f"request {number}" for number in range(200)])
