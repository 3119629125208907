"""Tasks over real processes, and over a real Dask scheduler and workers on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import (
    CorpusError,
    InputError,
    RemoteRefused,
    RemoteUnavailable,
    WorkerLostError,
)
from ngramscan.fm9.build import BuildOptions, build_index
from ngramscan.indexes.base import IndexOptions, Place, Window
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.processes import dask
from ngramscan.processes.dask import run_on_cluster
from ngramscan.processes.pool import Report, Watch, run_on_processes
from ngramscan.progress import Progress
from tests.support import corpus_files, worker_tasks
from tests.support.dask_cluster import Cluster, dask_cluster, wait_until
from tests.support.recorder import Recorder

pytestmark = pytest.mark.integration


def watch_of(seen: Recorder) -> Watch:
    return Watch(lambda amount: seen.advance(amount, "tasks"), seen.notice)


def run(
    work: Callable[[Any, Report], Any], tasks: list[Any], workers: int, seen: Recorder | None = None
) -> dict[int, Any]:
    done = list(run_on_processes(work, tasks, workers, watch_of(seen or Recorder())))
    assert len({one.task for one in done}) == len(done) == len(tasks)
    return {one.task: one.error or one.result for one in done}


def run_there(
    cluster: Cluster, work: Callable[[Any, Report], Any], *tasks: int, memory: int = 0
) -> Recorder:
    """Do tasks on a cluster; return what was heard, the results as details."""
    seen = Recorder()
    for done in run_on_cluster(work, tasks, cluster.address, watch_of(seen), memory):
        seen.detail(str(done.error or done.result))
    return seen


@pytest.mark.parametrize("workers", [1, 3])
def test_every_task_is_done_once(workers: int) -> None:
    seen = Recorder()
    done = run(worker_tasks.square, list(range(40)), workers, seen)
    assert done == {n: n * n for n in range(40)}
    assert seen.advanced == 40
    assert run(worker_tasks.square, [], workers) == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_anticipated_error_is_a_result_and_the_others_go_on(workers: int) -> None:
    done = run(worker_tasks.odd_ones_fail, list(range(6)), workers)
    assert [done[n] for n in (0, 2, 4)] == [0, 2, 4]
    for n in (1, 3, 5):
        assert isinstance(done[n], CorpusError)
        assert (str(done[n]), done[n].where) == (f"file{n}: it is odd", f"file{n}")


def test_a_mistake_of_ours_is_raised_with_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run(worker_tasks.crash, [1, 2, 3], 2)


def test_the_task_of_a_killed_process_is_done_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Recorder()
    tasks = [(n, str(tmp_path)) for n in range(10)]
    assert run(worker_tasks.die_once, tasks, 2, seen) == {n: n for n in range(10)}
    assert seen.notices == ["a worker process was lost (SIGKILL); another does its task"] * 2
    assert seen.advanced == 10  # what the lost attempts had reported was taken back


def test_a_task_that_kills_every_process_is_given_up_and_the_others_are_done() -> None:
    seen = Recorder()
    done = run(worker_tasks.always_die, [0, 1, 2, 3], 2, seen)
    assert [done[n] for n in (0, 2, 3)] == [0, 2, 3]
    assert isinstance(done[1], WorkerLostError)
    assert "lost 3 times at the same task (exit code 3)" in str(done[1])
    assert len(seen.notices) == 2


def test_a_reader_that_stops_ends_the_processes() -> None:
    before = children()
    stream = run_on_processes(worker_tasks.square, list(range(100)), 2, watch_of(Recorder()))
    next(stream)
    assert len(children() - before) == 2
    stream.close()  # type: ignore[attr-defined]
    assert children() - before == set()


def children(pid: int | None = None) -> set[str]:
    process = pid or os.getpid()
    return set(Path(f"/proc/{process}/task/{process}/children").read_text().split())


def test_processes_end_when_their_parent_is_killed() -> None:
    program = (
        "import time\nfrom tests.support.worker_tasks import square\n"
        "from ngramscan.processes.pool import *\n"
        "stream = run_on_processes(square, list(range(9)), 2, Watch(print, print))\n"
        "next(stream); time.sleep(60)\n"
    )
    root = Path(__file__).resolve().parent.parent
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.DEVNULL)
    while len(workers := children(parent.pid)) < 2:
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(is_running(pid) for pid in workers))


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_script_without_a_main_guard_may_count(tmp_path: Path) -> None:
    """The usual way of multiprocessing would run the script once more in every process."""
    for n in range(4):
        (tmp_path / f"{n}.jsonl").write_text('{"text": "solve for x"}\n' * 25)
    script = textwrap.dedent(f"""
        import ngramscan
        from ngramscan.indexes.scan import pieces
        print("started")
        pieces.LEAST_TASK_BYTES = 1  # a task per file
        frame = ngramscan.count("f1", index="scan:{tmp_path}/*.jsonl", workers=2)
        print(frame.query("query == 'solve for'")["documents"].item())
    """)
    (tmp_path / "analysis.py").write_text(script)
    command = [sys.executable, str(tmp_path / "analysis.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "started\n100\n"


# Dask


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with dask_cluster(tmp_path_factory.mktemp("dask")) as cluster:
        with pytest.raises(RemoteUnavailable, match=f"{cluster.address}: it has no workers$"):
            run_there(cluster, worker_tasks.square, 1)
        cluster.start_worker()
        yield cluster


def test_a_cluster_finds_the_same_occurrences(
    tmp_path: Path, cluster: Cluster, silent: Progress
) -> None:
    for number in range(5):
        path = corpus_files.write(tmp_path, "c.jsonl", ["é aa", "", "aaa é"])
        path.rename(tmp_path / f"{number}.jsonl")
    corpus, places = open_corpus(str(tmp_path)), [Place("aa", 0, rank) for rank in range(15)]
    windows = []
    for scheduler in (cluster.address, None):
        index = ScanIndex(corpus, IndexOptions(scheduler=scheduler), silent)
        assert [count.occurrences for count in index.counts(["é", "aa"])] == [10, 15]
        found = {window.place: window for window in index.windows(places, 2)}
        windows.append([found[place] for place in places])
    assert windows[0] == windows[1]
    assert all(isinstance(window, Window) for window in windows[0])


def test_a_cluster_builds_the_same_index_though_a_worker_is_killed(
    tmp_path: Path, cluster: Cluster, silent: Progress
) -> None:
    texts = [f"document {number} " + "ä b" * number for number in range(40)]
    corpus = open_corpus(str(corpus_files.write(tmp_path, "c.jsonl", texts)))
    doomed, there, seen = cluster.start_worker(), tmp_path / "there", Recorder()

    def kill() -> None:
        wait_until(lambda: any(there.glob("*/manifest.json")))
        doomed.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    options = BuildOptions(700, scheduler=cluster.address)
    rows = build_index(corpus, there, seen, ReadOptions(), options)
    killer.join()
    assert [row.shard for row in rows] == list(range(len(rows)))
    assert len(rows) > 3
    (notice,) = [one for one in seen.notices if "worker" in one]
    assert notice.endswith("was lost; another does its tasks")
    build_index(corpus, tmp_path / "alone", silent, ReadOptions(), BuildOptions(700))
    assert files_in(there) == files_in(tmp_path / "alone")


def files_in(folder: Path) -> dict[Path, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_errors_come_back_from_a_cluster(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run_there(cluster, worker_tasks.odd_ones_fail, 2, 3).details
    assert sorted(done) == ["2", "file3: it is odd"]
    with pytest.raises(RuntimeError, match="a worker of the cluster failed"):
        run_there(cluster, worker_tasks.crash, 1)
    only_here = ModuleType("only_here")
    exec("def work(number, report): return number", only_here.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", only_here)
    with pytest.raises(RemoteRefused, match=r"can't load the task.*; install the same ngramscan"):
        run_there(cluster, only_here.work, 1)


def test_a_worker_with_too_little_memory_is_told(cluster: Cluster) -> None:
    (notice,) = run_there(cluster, worker_tasks.square, 1, memory=10**15).notices
    told = r"it has [\d.]+ GB of memory for 1 of --nthreads, and each may need 1e\+06 GB; fewer"
    assert re.match(rf"the worker tcp://\S+: {told} of them need less$", notice)


@pytest.mark.slow
def test_a_lost_scheduler_is_told(tmp_path: Path) -> None:
    with dask_cluster(tmp_path) as other:
        other.start_worker()
        tasks = run_on_cluster(
            worker_tasks.slow_square, range(900), other.address, watch_of(Recorder())
        )
        next(tasks)
        other.processes[0].kill()
        with pytest.raises(RemoteUnavailable, match="the connection to it was lost"):
            list(tasks)


def test_what_is_missing_for_a_cluster_is_said(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_CONNECT_S", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere://x"):
        with pytest.raises(RemoteUnavailable, match=f"--scheduler {address}: can't be reached"):
            run_there(replace(cluster, address=address), worker_tasks.square, 1)
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(InputError, match=r"needs Dask: pip install 'ngramscan\[cluster\]'"):
        run_there(cluster, worker_tasks.square, 1)
