"""Scans as a person runs them: several processes, killed ones, interrupted ones, far files."""

import contextlib
import csv
import gzip
import io
import os
import re
import signal
import socketserver
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest

from ngramscan.corpora import open_corpus
from ngramscan.errors import CorpusError, InputError, NgramscanError
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.progress import SILENT
from tests.support import corpus_files, oracle
from tests.support.command import NGRAMSCAN, invoke
from tests.support.hard_texts import F1, make_texts

# Single letters occur so often that a scan of a few megabytes takes seconds.
LETTERS = "abcdefghijklm"
PATTERN = "  - {{text: {}, method: M, tier: T1, kind: code}}\n"
SLOW_SET = "name: slow\npatterns:\n" + "".join(map(PATTERN.format, LETTERS))
N_FILES, TIMES = 12, 12


@pytest.fixture
def slow(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder with a corpus and a set that takes seconds to count in it; and the counts."""
    (tmp_path / "slow.yaml").write_text(SLOW_SET)
    (tmp_path / "corpus").mkdir()
    texts = make_texts(300)
    for number in range(N_FILES):
        content = corpus_files.jsonl(texts[number:]) * TIMES
        (tmp_path / "corpus" / f"{number:02}.jsonl").write_bytes(content)
    in_all = "".join("".join(texts[number:]) for number in range(N_FILES))
    return tmp_path, {letter: str(TIMES * in_all.count(letter)) for letter in LETTERS}


def command(folder: Path, *more: str) -> list[str]:
    arguments = ["count", str(folder / "slow.yaml"), "--index", f"scan:{folder / 'corpus'}"]
    return [*arguments, "--format", "csv", "--journal", str(folder / "j.sqlite"), *more]


@contextlib.contextmanager
def started(folder: Path, n_kept: int) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Start to count; yield the process and its workers when some files are counted."""
    arguments, pipe = [*NGRAMSCAN, *command(folder, "--workers", "2")], subprocess.PIPE
    with subprocess.Popen(
        arguments, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            while kept(folder) < n_kept:
                assert process.poll() is None, process.communicate()
                time.sleep(0.01)
            listing = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            yield process, [int(pid) for pid in listing.read_text().split()]
        finally:
            process.kill()


def kept(folder: Path) -> int:
    uri = f"file:{folder / 'j.sqlite'}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def occurrences(stdout: str) -> dict[str, str]:
    return {row["query"]: row["occurrences"] for row in csv.DictReader(io.StringIO(stdout))}


@pytest.mark.integration
def test_a_killed_worker_changes_nothing_but_is_told(slow: tuple[Path, dict[str, str]]) -> None:
    folder, counts = slow
    with started(folder, 1) as (process, workers):
        os.kill(workers[0], signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "a worker process was lost (SIGKILL); another does its task" in stderr
    assert occurrences(stdout) == counts


@pytest.mark.integration
def test_ctrl_c_ends_all_and_the_next_run_reads_only_what_is_left(
    slow: tuple[Path, dict[str, str]],
) -> None:
    folder, counts = slow
    with started(folder, 2) as (process, workers):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == "Interrupted; what was done is kept: run the same command again.\n"
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    done = kept(folder)
    assert done < N_FILES
    again = invoke(*command(folder, "-v", "--workers", "1"))
    assert f"cached results for {done} of {N_FILES} parts" in again.stderr
    assert len(re.findall(r"\.jsonl: read$", again.stderr, flags=re.MULTILINE)) == N_FILES - done
    assert occurrences(again.stdout) == counts


# Far files


def check(location: str, texts: list[str], times: int = 1) -> None:
    counts = list(ScanIndex(open_corpus(location), IndexOptions(workers=1), SILENT).counts(F1))
    occurrences, documents = oracle.tally(F1, texts)
    assert [count.query for count in counts] == F1
    assert [count.occurrences for count in counts] == [times * n for n in occurrences]
    assert [count.documents for count in counts] == [times * n for n in documents]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def served(folder: Path, handler: type[_Quiet] = _Quiet) -> Iterator[str]:
    socketserver.TCPServer.request_queue_size = 16
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_is_not_there_is_said_in_one_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    with served(tmp_path) as host:
        for url in (f"{host}/no.jsonl", "http://127.0.0.1:9/c.jsonl", "klingon://x/c.jsonl"):
            with subtests.test(url=url):
                with pytest.raises(NgramscanError) as caught:
                    check(url, [])
                assert url in str(caught.value)
                assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", corpus_files.WRITERS)
def test_any_file_system_of_fsspec_is_read(name: str, subtests: pytest.Subtests) -> None:
    texts = make_texts(150)
    system = fsspec.filesystem("memory")
    for number in range(2):
        system.pipe(f"/corpus-{name}/{number}/{name}", corpus_files.WRITERS[name](texts))
    for location in (f"memory://corpus-{name}/*/{name}", f"memory://corpus-{name}/"):
        with subtests.test(location=location):
            assert all(file.size for file in open_corpus(location).files)
            check(location, texts, 2)


# Lists


def test_a_crawl_is_read_by_its_own_list_here_and_far_away(tmp_path: Path) -> None:
    names = [f"crawl-data/CC/segments/{n}/wet/{n}.warc.wet.gz" for n in range(3)]
    for number, name in enumerate(names):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(corpus_files.wet_gz(["solve for x"] * (number + 1)))
    listing = tmp_path / "crawl-data/CC/wet.paths.gz"
    listing.write_bytes(gzip.compress("".join(f"{name}\n" for name in names).encode()))
    here = open_corpus(str(listing))
    assert [file.path for file in here.files] == [str(tmp_path / name) for name in names]
    assert all(file.size for file in here.files)
    with served(tmp_path) as host:
        check(f"{host}/crawl-data/CC/wet.paths.gz", ["solve for x"] * 6)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param("", "an empty list", id="empty"),
        pytest.param("nowhere.jsonl\n", "lists nowhere.jsonl, which is in no folder", id="gone"),
        pytest.param("/nowhere/a.jsonl\n", "lists /nowhere/a.jsonl, where no file is", id="path"),
        pytest.param("list\n", "no known format", id="another format"),
        pytest.param("\udcff\udcfe", "not UTF-8", id="no text"),
        pytest.param("/a.jsonl\n/b.jsonl\n/a.jsonl\n", "lists /a.jsonl twice", id="twice"),
    ],
)
def test_lists_that_name_nothing_are_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "list").write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises((InputError, CorpusError), match=problem):
        open_corpus(f"@{tmp_path / 'list'}")
