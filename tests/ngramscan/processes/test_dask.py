"""Tasks over a real Dask scheduler and workers on loopback."""

import re
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import (
    InputError,
    RemoteRefused,
    RemoteUnavailable,
)
from ngramscan.index_files.fm9.build import BuildOptions, build_index
from ngramscan.indexes.base import Place, Window
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.index import ScanIndex
from ngramscan.processes import dask
from ngramscan.processes.dask import run_on_cluster
from ngramscan.processes.pool import Report
from ngramscan.progress import SILENT
from tests.support import corpus_files, worker_tasks
from tests.support.dask_cluster import Cluster, dask_cluster, wait_until
from tests.support.object_store import BUCKET, object_store
from tests.support.recorder import Recorder
from tests.support.worker_tasks import watch_of

pytestmark = pytest.mark.integration


def run_there(
    address: str, work: Callable[[Any, Report], Any], *tasks: int, memory: int = 0
) -> Recorder:
    """Do tasks on a cluster; return what was heard, the results as details."""
    seen = Recorder()
    for done in run_on_cluster(work, tasks, address, watch_of(seen), memory):
        seen.detail(str(done.error or done.result))
    return seen


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with dask_cluster(tmp_path_factory.mktemp("dask")) as cluster:
        with pytest.raises(RemoteUnavailable, match=f"{cluster.address}: it has no workers$"):
            run_there(cluster.address, worker_tasks.square, 1)
        cluster.start_worker()
        yield cluster


def test_a_cluster_finds_the_same_occurrences(tmp_path: Path, cluster: Cluster) -> None:
    for number in range(5):
        path = corpus_files.write(tmp_path, "c.jsonl", ["é aa", "", "aaa é"])
        path.rename(tmp_path / f"{number}.jsonl")
    corpus, places = open_corpus(str(tmp_path)), [Place("aa", 0, rank) for rank in range(15)]
    counts, windows = [], []
    for scheduler in (cluster.address, None):
        index = ScanIndex(corpus, IndexOptions(scheduler=scheduler), SILENT)
        counts.append([count.occurrences for count in index.counts(["é", "aa"])])
        found = {window.place: window for window in index.windows(places, 2)}
        windows.append([found[place] for place in places])
    assert counts == [[10, 15], [10, 15]]
    assert windows[0] == windows[1]
    assert all(isinstance(window, Window) for window in windows[0])


def build_while_a_worker_is_killed(
    cluster: Cluster, place: str, is_under_way: Callable[[], bool], folder: Path
) -> dict[str, bytes]:
    """Build an index at a place; return the files of the one that this process builds alone."""
    texts = [f"document {number} " + "ä b" * number for number in range(40)]
    corpus = open_corpus(str(corpus_files.write(folder, "c.jsonl", texts)))
    doomed, seen = cluster.start_worker(), Recorder()

    def kill() -> None:
        wait_until(is_under_way)
        doomed.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    options = BuildOptions(700, scheduler=cluster.address)
    rows = build_index(corpus, place, seen, ReadOptions(), options)
    killer.join()
    assert [row.shard for row in rows] == list(range(len(rows)))
    assert len(rows) > 3
    (notice,) = [notice for notice in seen.notices if "worker" in notice]
    assert notice.endswith("was lost; another does its tasks")
    build_index(corpus, folder / "alone", SILENT, ReadOptions(), BuildOptions(700))
    return files_in(folder / "alone")


def files_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_cluster_builds_the_same_index_though_a_worker_is_killed(
    tmp_path: Path, cluster: Cluster
) -> None:
    there = tmp_path / "there"
    expected = build_while_a_worker_is_killed(
        cluster, str(there), lambda: any(there.glob("*/manifest.json")), tmp_path
    )
    assert files_in(there) == expected


@pytest.mark.slow
def test_a_cluster_builds_on_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with object_store() as store, dask_cluster(tmp_path, store.environment) as cluster:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        cluster.start_worker()
        expected = build_while_a_worker_is_killed(
            cluster, f"s3://{BUCKET}/there", lambda: len(store.uploads) > 6, tmp_path
        )
        assert store.files("there/") == expected
    finished = [path for path in store.uploads if path.count("/") == 2 and "manifest" in path]
    assert len(finished) <= len([name for name in expected if "/manifest" in name]) + 1


def test_errors_come_back_from_a_cluster(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run_there(cluster.address, worker_tasks.odd_ones_fail, 2, 3).details
    assert sorted(done) == ["2", "file3: it is odd"]
    with pytest.raises(RuntimeError, match="a worker of the cluster failed"):
        run_there(cluster.address, worker_tasks.crash, 1)
    only_here = ModuleType("only_here")
    exec("def work(number, report): return number", only_here.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", only_here)
    with pytest.raises(RemoteRefused, match=r"can't load the task.*; install the same ngramscan"):
        run_there(cluster.address, only_here.work, 1)


def test_a_worker_with_too_little_memory_is_told(cluster: Cluster) -> None:
    (notice,) = run_there(cluster.address, worker_tasks.square, 1, memory=10**15).notices
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


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere://x"])
def test_a_scheduler_that_is_not_there_is_told(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_CONNECT_S", 0.5)
    with pytest.raises(RemoteUnavailable, match=f"--scheduler {address}: can't be reached"):
        run_there(address, worker_tasks.square, 1)


def test_that_dask_is_missing_is_said(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(InputError, match=r"needs Dask: pip install 'ngramscan\[cluster\]'"):
        run_there(cluster.address, worker_tasks.square, 1)
