"""`contaminate` as a person runs it: planned, killed and run again."""

import contextlib
import os
import random
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.index_files.fm9.build import build_index
from ngramscan.indexes.http.identity import PROBES
from ngramscan.progress import SILENT
from tests.support.command import NGRAMSCAN, Ran, invoke
from tests.support.planted import Planted, expect_mini, make_planted, write_planted
from tests.support.service import ApiServer
from tests.support.sizes import slow

CONCURRENCY = 3
FILES = 40
KILLS = [1, slow(12)]


class Written(NamedTuple):
    folder: Path
    planted: Planted
    command: list[str | Path]
    rows: dict[str, tuple[str, ...]]
    """Windows, windows found, the verdict and the count of the rarest window of each entry."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder, whole = tmp_path_factory.mktemp("runs"), make_planted(0.3, 1)
    planted = Planted(whole.entries[::2], whole.files)
    benchmark, corpus = write_planted(folder, planted)
    build_index(open_corpus(str(corpus)), folder / "index", SILENT, ReadOptions())
    rows: dict[str, tuple[str, ...]] = {
        name: (
            str(expected.windows),
            str(expected.found),
            str(expected.verdict),
            str(expected.rarest_occurrences or ""),
        )
        for name, expected in expect_mini(planted).items()
    }
    return Written(
        folder, planted, ["contaminate", benchmark, "--rule", "mini", "--format", "csv"], rows
    )


def rows_of(ran: Ran) -> dict[str, tuple[str, ...]]:
    assert ran.code == 0, ran.stderr
    names = ("windows", "found", "verdict", "rarest_occurrences")
    return {row["id"]: tuple(row[name] for name in names) for row in ran.rows}


def queries_to(server: ApiServer) -> list[str]:
    return [request["query"] for request in server.read_log()]


def kill_once(command: list[str | Path], done: Callable[[], int], moment: int) -> None:
    """Start a command, and kill it with all its processes when more than that is done."""
    arguments, nowhere = [*NGRAMSCAN, *map(str, command)], subprocess.DEVNULL
    with subprocess.Popen(arguments, stdout=nowhere, start_new_session=True) as process:
        try:
            while process.poll() is None and done() <= moment:
                time.sleep(0.002)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL, "it was done before"


@pytest.mark.integration
@pytest.mark.parametrize("kills", KILLS)
def test_a_killed_run_over_a_service_asks_only_for_what_is_missing(
    kills: int, written: Written, tmp_path: Path
) -> None:
    draw = random.Random(kills)
    options = ("--journal", tmp_path / "j", "--concurrency", str(CONCURRENCY))
    with ApiServer({"made": written.folder / "index"}, delay=0.004) as server:
        command = [*written.command, "--index", f"{server.url}made", *options]
        plan = invoke(*command, "--dry-run").rows[0]
        planned, at_most = int(plan["requests"]), int(plan["requests_at_most"])
        assert not server.read_log(), "a plan asks nothing"
        moments = sorted(draw.sample(range(planned - 2 * CONCURRENCY), kills))
        for moment in moments:
            kill_once(command, lambda: len(server.read_log()), moment)
        assert rows_of(invoke(*command)) == written.rows
        # Each run also asks whether the host has another index by now.
        asked = Counter(query for query in queries_to(server) if query not in PROBES)
        assert planned < len(asked) <= at_most, "some clean entries have other forms"
        assert asked.total() - len(asked) <= kills * CONCURRENCY, "those under way at the kill"
        assert rows_of(invoke(*command)) == written.rows
        assert sum(query not in PROBES for query in queries_to(server)) == asked.total()


def kept(journal: Path) -> int:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as opened:
            return int(opened.execute("SELECT count(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.integration
@pytest.mark.parametrize("kills", KILLS)
def test_a_killed_scan_reads_only_the_files_that_are_missing(
    kills: int, written: Written, tmp_path: Path
) -> None:
    draw, journal, n = random.Random(kills), tmp_path / "j", FILES * kills
    one, copies = tmp_path / "one.jsonl", tmp_path / "copies"
    texts = [file.read_bytes() for file in (written.folder / "corpus").glob("*.jsonl")]
    one.write_bytes(b"".join(texts) * 4)
    copies.mkdir()
    for number in range(n):
        (copies / f"{number:04}.jsonl").hardlink_to(one)
    command = [*written.command, "--index", f"scan:{copies}"]
    undisturbed = invoke(*command, "--journal", tmp_path / "other", "--workers", "1")
    for _ in range(kills):
        moment = kept(journal) + draw.randrange(FILES // 4)
        kill_once([*command, "--journal", journal, "--workers", "2"], lambda: kept(journal), moment)
    done = kept(journal)
    assert 0 < done < n
    again = invoke(*command, "--journal", journal, "-v")
    assert again.stdout == undisturbed.stdout
    assert f"cached results for {done:,} of {n:,} parts" in again.stderr
    # What was found is looked for once more, to tell copies from common text.
    assert len(re.findall(r"\.jsonl: read$", again.stderr, flags=re.MULTILINE)) == 2 * n - done
