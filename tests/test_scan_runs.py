"""Scans as a person runs them: several processes, killed ones, interrupted ones, far files."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socketserver
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ngramscan import count
from ngramscan.corpora import open_corpus
from ngramscan.corpora.files import find_files
from ngramscan.errors import CorpusError, InputError
from ngramscan.indexes.scan.index import ScanIndex, ScanOptions
from ngramscan.progress import Progress
from tests import corpus_files, oracle
from tests.command import NGRAMSCAN, Ran, run, without
from tests.test_formats import F1, make_texts

# Single letters occur so often that a scan of a few megabytes takes seconds.
SLOW_SET = "name: slow\npatterns:\n" + "".join(
    f"  - {{text: {letter}, method: M, tier: T1, kind: code}}\n" for letter in "abcdefghijklm"
)


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """A folder with a corpus of 24 files and a set that takes seconds to count in it."""
    (tmp_path / "slow.yaml").write_text(SLOW_SET)
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(24):
        texts = make_texts(300, seed=number)
        (folder / f"{number:02}.jsonl").write_bytes(corpus_files.jsonl(texts * 60))
    return tmp_path


def command(folder: Path, *more: str) -> list[str]:
    journal = str(folder / "j.sqlite")
    arguments = ["count", str(folder / "slow.yaml"), "--index", f"scan:{folder / 'corpus'}"]
    return [*arguments, "--format", "csv", "--journal", journal, *more]


def undisturbed(folder: Path) -> Ran:
    return run(*command(folder, "--workers", "1", "--journal", str(folder / "other.sqlite")))


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    listing = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in listing.read_text().split()]


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*NGRAMSCAN, *command(folder, *more)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kept(folder: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{folder / 'j.sqlite'}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        if "connection" in locals():
            connection.close()


def test_a_killed_worker_changes_nothing_but_is_told(slow: Path) -> None:
    process = start(slow, "--workers", "2")
    while len(workers_of(process)) < 2 or kept(slow) < 1:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "a worker process was lost (SIGKILL); another does its task" in stderr
    rows = Ran(0, stdout, stderr).rows
    assert without(rows, "asked_at") == without(undisturbed(slow).rows, "asked_at")


def test_ctrl_c_ends_in_a_second_and_the_next_run_reads_only_what_is_left(slow: Path) -> None:
    process = start(slow, "--workers", "2")
    while kept(slow) < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    workers = workers_of(process)
    started_at = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    stdout, stderr = process.communicate(timeout=20)
    assert time.monotonic() - started_at < 1.5
    assert (process.returncode, stdout) == (130, "")
    assert stderr == "Interrupted; what was done is kept: run the same command again.\n"
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    done = kept(slow)
    assert done < 24
    again = run(*command(slow, "-v"))
    assert f"{done} of 24 files or parts are from the journal" in again.stderr
    assert len(re.findall(r"\.jsonl: read$", again.stderr, flags=re.MULTILINE)) == 24 - done
    assert without(again.rows, "asked_at") == without(undisturbed(slow).rows, "asked_at")


def test_cut_files_are_named_and_the_others_are_not_read_again(tmp_path: Path) -> None:
    texts = make_texts(500)
    for name in corpus_files.WRITERS:
        corpus_files.write(tmp_path, name, texts)
    whole = (tmp_path / "c.jsonl.gz").read_bytes()
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    arguments = ["count", "f1", "--index", f"scan:{tmp_path}", "--format", "csv"]
    arguments += ["--journal", str(tmp_path / "j.sqlite")]
    ran = run(*arguments)
    assert (ran.code, ran.stdout) == (1, "")
    assert re.match(
        r"Error: .*/cut\.jsonl\.gz:\d+: the file is truncated", ran.stderr.splitlines()[-1]
    )
    (tmp_path / "cut.jsonl.gz").write_bytes(whole)
    again = run(*arguments, "-v")
    assert again.code == 0
    assert "6 of 7 files or parts are from the journal" in again.stderr
    assert re.findall(r"(\S+): read$", again.stderr, flags=re.MULTILINE) == [
        str(tmp_path / "cut.jsonl.gz")
    ]
    occurrences, documents = oracle.tally(F1, texts)
    assert [int(row["occurrences"]) for row in again.rows] == [7 * n for n in occurrences]
    assert [int(row["documents"]) for row in again.rows] == [7 * n for n in documents]


DAMAGED = [
    "{",
    "[" * 100_000,
    "[]",
    '{"occurrences": []}',
    *(("occurrences", value) for value in ([1], [10**30] + [0] * 24, [-1] + [0] * 24, [0.5] * 25)),
    *(("documents", value) for value in ([1] * 25, [2, *[0] * 24], ["1"] * 25)),
    *((name, -1) for name in ("documents_read", "bytes_read", "bytes_consumed", "skipped")),
    ("documents_read", 0),
    ("unions", [5]),
]


@pytest.mark.parametrize("damage", DAMAGED, ids=lambda damage: str(damage)[:30])
def test_damaged_counts_in_the_journal_are_counted_again(
    tmp_path: Path, damage: str | tuple[str, object]
) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["solve for x", "let x = 1"])
    journal = tmp_path / "j.sqlite"
    numbers = ["occurrences", "documents"]
    first = count("f1", index=f"scan:{path}", journal=journal)[numbers]
    with contextlib.closing(sqlite3.connect(journal)) as connection:
        (kept,) = connection.execute("SELECT reply FROM replies").fetchone()
        if not isinstance(damage, str):
            damage = json.dumps(json.loads(kept) | dict([damage]))
        connection.execute("UPDATE replies SET reply = ?", (damage,))
        connection.commit()
        again = count("f1", index=f"scan:{path}", journal=journal)[numbers]
        assert again.equals(first)
        assert connection.execute("SELECT reply FROM replies").fetchone() == (kept,)


def test_a_changed_file_or_question_is_read_again(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["solve for x"])
    arguments = ["count", "f1", "--index", f"scan:{path}", "--format", "csv"]
    first = run(*arguments)
    assert first.stderr == ""
    assert "1 of 1 files or parts are from the journal" in run(*arguments).stderr
    assert run(*arguments, "--refresh").stderr == ""
    assert run(*arguments, "--ignore-case").stderr == ""
    assert run(*arguments, "--method", "cot").stderr == ""
    corpus_files.write(tmp_path, "c.jsonl", ["solve for x, solve for y"])
    changed = run(*arguments)
    assert changed.stderr == ""
    assert [r["occurrences"] for r in changed.rows if r["query"] == "solve for"] == ["2"]


def test_a_scan_needs_no_journal_but_one_that_is_named_must_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["solve for x"])
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    arguments = ["count", "f1", "--index", f"scan:{path}", "--format", "csv"]
    ran = run(*arguments)
    assert ran.code == 0
    assert "without one, what is done is not kept" in ran.stderr
    named = run(*arguments, "--journal", "/proc/nowhere/j.sqlite")
    assert (named.code, named.stdout) == (2, "")


def test_several_corpora_are_several_indexes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        corpus_files.write(tmp_path / name, "c.jsonl", ["solve for x"] * (2 + (name == "b")))
    specs = [option for n in "ab" for option in ("--index", f"scan:{tmp_path / n}")]
    ran = run("count", "f1", *specs, "--format", "csv", "-q")
    found = [row["documents"] for row in ran.rows if row["query"] == "solve for"]
    assert found == ["2", "3"]


# Far files


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class _Cutting(_Quiet):
    """Sends half of each file and closes the connection."""

    def copyfile(self, source: object, outputfile: object) -> None:
        content = source.read()  # type: ignore[attr-defined]
        outputfile.write(content[: len(content) // 2])  # type: ignore[attr-defined]
        self.close_connection = True


@contextmanager
def served(folder: Path, handler: type[_Quiet] = _Quiet) -> Iterator[str]:
    socketserver.TCPServer.request_queue_size = 16
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


STREAMED = ["c.jsonl", "c.jsonl.gz", "c.jsonl.zst", "c.warc.wet.gz"]


@pytest.mark.parametrize("name", STREAMED)
def test_files_behind_http_are_read_as_files_here(tmp_path: Path, name: str) -> None:
    texts = make_texts(2000)
    corpus_files.write(tmp_path, name, texts)
    with served(tmp_path) as host:
        ran = run("count", "f1", "--index", f"scan:{host}/{name}", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    occurrences, documents = oracle.tally(F1, texts)
    assert [int(row["occurrences"]) for row in ran.rows] == occurrences
    assert [int(row["documents"]) for row in ran.rows] == documents


@pytest.mark.parametrize("name", STREAMED)
def test_a_connection_that_breaks_is_an_error(tmp_path: Path, name: str) -> None:
    corpus_files.write(tmp_path, name, make_texts(3000))
    with served(tmp_path, _Cutting) as host:
        ran = run("count", "f1", "--index", f"scan:{host}/{name}", "--format", "csv")
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr.count("\n") == 1
    assert f"{host}/{name}" in ran.stderr


def test_what_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    with served(tmp_path) as host:
        for url in (f"{host}/no.jsonl", "http://127.0.0.1:9/c.jsonl", "klingon://x/c.jsonl"):
            ran = run("count", "f1", "--index", f"scan:{url}")
            assert ran.code in (1, 2)
            assert ran.stdout == ""
            assert ran.stderr.count("\n") == 1
            assert url in ran.stderr


@pytest.mark.parametrize("name", corpus_files.WRITERS)
def test_any_file_system_of_fsspec_is_read(name: str, silent: Progress) -> None:
    import fsspec

    texts = make_texts(1500)
    system = fsspec.filesystem("memory")
    for number in range(2):
        system.pipe(f"/corpus-{name}/{number}/{name}", corpus_files.WRITERS[name](texts))
    for location in (f"memory://corpus-{name}/*/{name}", f"memory://corpus-{name}/"):
        corpus = open_corpus(location)
        assert all(file.size for file in corpus.files)
        index = ScanIndex(corpus, ScanOptions(workers=1), silent)
        counts = {reply.query: reply for reply in index.counts(F1)}
        occurrences, documents = oracle.tally(F1, texts)
        assert [counts[query].occurrences for query in F1] == [2 * n for n in occurrences]
        assert [counts[query].documents for query in F1] == [2 * n for n in documents]


# Lists


def make_crawl(folder: Path) -> list[str]:
    names = [f"crawl-data/CC/segments/{n}/wet/{n}.warc.wet.gz" for n in range(3)]
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_bytes(corpus_files.wet_gz(["solve for x"] * (number + 1)))
    import gzip

    listing = folder / "crawl-data" / "CC" / "wet.paths.gz"
    listing.write_bytes(gzip.compress("".join(f"{name}\n" for name in names).encode()))
    return names


def test_a_crawl_is_read_by_its_own_list_here_and_far_away(tmp_path: Path) -> None:
    names = make_crawl(tmp_path)
    here = find_files(str(tmp_path / "crawl-data/CC/wet.paths.gz"))
    assert [file.path for file in here.files] == [str(tmp_path / name) for name in names]
    assert all(file.size for file in here.files)
    with served(tmp_path) as host:
        spec = f"scan:{host}/crawl-data/CC/wet.paths.gz"
        ran = run("count", "f1", "--index", spec, "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert [r["documents"] for r in ran.rows if r["query"] == "solve for"] == ["6"]


def test_a_list_of_ones_own_names_paths_and_urls(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        (tmp_path / name).write_bytes(corpus_files.jsonl(["solve for x"]))
    with served(tmp_path) as host:
        listing = tmp_path / "my list"
        listing.write_text(f"# mine\n{tmp_path / 'a.jsonl'}\n\nb.jsonl\n{host}/c.jsonl\n")
        ran = run("count", "f1", "--index", f"scan:@{listing}", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert [r["documents"] for r in ran.rows if r["query"] == "solve for"] == ["3"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"", "an empty list", id="empty"),
        pytest.param(b"nowhere.jsonl\n", "lists nowhere.jsonl, which is in no folder", id="gone"),
        pytest.param(b"/nowhere/a.jsonl\n", "lists /nowhere/a.jsonl, where no file is", id="path"),
        pytest.param(b"list\n", "no known format", id="another format"),
        pytest.param(b"\xff\xfe", "not UTF-8", id="no text"),
        pytest.param(b"/a.jsonl\n/b.jsonl\n/a.jsonl\n", "lists /a.jsonl twice", id="twice"),
    ],
)
def test_lists_that_name_nothing_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "list").write_bytes(content)
    with pytest.raises((InputError, CorpusError), match=problem):
        find_files(f"@{tmp_path / 'list'}")
