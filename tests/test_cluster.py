"""A real Dask scheduler and workers on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ngramscan.corpora import open_corpus
from ngramscan.errors import InputError
from ngramscan.indexes.base import Place, Window
from ngramscan.indexes.scan.index import ScanIndex, ScanOptions
from ngramscan.processes.dask import run_on_cluster
from ngramscan.processes.pool import Watch
from ngramscan.progress import Progress
from tests import corpus_files, worker_tasks
from tests.command import NGRAMSCAN, Ran, run, without
from tests.test_scan_runs import command, kept, undisturbed
from tests.test_scan_runs import slow as slow  # noqa: PLC0414 - a fixture of that module

pytest.importorskip("distributed")


@dataclass
class Cluster:
    """A scheduler and its workers."""

    address: str
    workers: list[subprocess.Popen[bytes]]


def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DASK_DISTRIBUTED__DASHBOARD__LINK": ""},
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    file = tmp_path / "scheduler.json"
    scheduler = start(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show",
        "--scheduler-file", str(file),
    )  # fmt: skip
    options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1"]
    options += ["--scheduler-file", str(file), "--local-directory", str(tmp_path)]
    workers = [start("worker", *options) for _ in range(2)]
    try:
        yield Cluster(wait_for(file, 2), workers)
    finally:
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()


def wait_for(file: Path, n_workers: int) -> str:
    import json

    from dask.distributed import Client

    ends = time.monotonic() + 60
    while not file.exists() or not file.read_text():
        assert time.monotonic() < ends
        time.sleep(0.05)
    address = str(json.loads(file.read_text())["address"])
    with Client(address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        if n_workers:
            client.wait_for_workers(n_workers, timeout=60)
    return address


def test_a_cluster_counts_the_same_though_a_worker_is_killed(slow: Path, cluster: Cluster) -> None:
    process = subprocess.Popen(
        [*NGRAMSCAN, *command(slow, "--scheduler", cluster.address)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while kept(slow) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    cluster.workers[0].send_signal(signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    assert "was lost; another does its tasks" in stderr
    rows = Ran(0, stdout, stderr).rows
    assert without(rows, "asked_at") == without(undisturbed(slow).rows, "asked_at")


def test_a_cluster_finds_the_same_occurrences(
    tmp_path: Path, cluster: Cluster, silent: Progress
) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(5):
        corpus_files.write(folder, "c.jsonl", ["é aa", "", "aaa é"]).rename(
            folder / f"{number}.jsonl"
        )
    windows = []
    for scheduler in (cluster.address, None):
        index = ScanIndex(open_corpus(str(folder)), ScanOptions(scheduler=scheduler), silent)
        places = [Place("aa", 0, rank) for rank in range(15)]
        found = {window.place: window for window in index.windows(places, 2)}
        windows.append([found[place] for place in places])
    assert windows[0] == windows[1]
    assert all(isinstance(window, Window) for window in windows[0])


def test_errors_of_documents_come_back_from_a_cluster(tmp_path: Path, cluster: Cluster) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"text": "solve for x"}\n')
    (folder / "b.jsonl").write_text('{"text": "a"}\n{"text": \n')
    arguments = ["count", "f1", "--index", f"scan:{folder}", "--scheduler", cluster.address]
    ran = run(*arguments, "--format", "csv")
    assert (ran.code, ran.stdout) == (1, "")
    assert f"Error: {folder / 'b.jsonl'}:2: not valid JSON" in ran.stderr


def test_no_scheduler_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    arguments = ["--index", f"scan:{tmp_path}", "--scheduler", "tcp://127.0.0.1:9"]
    ran = run("count", "f1", *arguments)
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr.startswith("Error: --scheduler tcp://127.0.0.1:9: can't be reached")


def test_without_dask_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    watch = Watch(lambda _: None, lambda _: None)
    with pytest.raises(InputError, match=r"needs Dask: pip install 'ngramscan\[cluster\]'"):
        list(run_on_cluster(worker_tasks.square, [1], "tcp://127.0.0.1:9", watch))


def test_a_scheduler_without_workers_is_said_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show"]
    scheduler = start("scheduler", *options, "--scheduler-file", str(file))
    try:
        address = wait_for(file, 0)
        (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
        ran = run("count", "f1", "--index", f"scan:{tmp_path}", "--scheduler", address)
    finally:
        scheduler.kill()
        scheduler.wait()
    assert (ran.code, ran.stdout) == (1, "")
    assert f"Error: --scheduler {address}: it has no workers" in ran.stderr


def test_a_mistake_of_ours_on_a_cluster_is_raised(cluster: Cluster) -> None:
    watch = Watch(lambda _: None, lambda _: None)
    with pytest.raises(RuntimeError, match="a worker of the cluster failed"):
        list(run_on_cluster(worker_tasks.crash, [1], cluster.address, watch))
