"""Indexes on an object store, by processes and cluster workers that are killed meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.fm9.build import BuildOptions, build_index
from ngramscan.progress import Progress
from tests.support.dask_cluster import dask_cluster, wait_until
from tests.support.object_store import BUCKET, ObjectStore, object_store

pytestmark = pytest.mark.integration

SHARDS = 12
OPTIONS = BuildOptions(700)


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    pytest.importorskip("s3fs")
    with object_store() as store:
        yield store


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(3):
        texts = [f"document {number} {line} " + "ä b" * (line % 50) for line in range(31)]
        lines = [json.dumps({"text": text, "n": number}) + "\n" for text in texts]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def undisturbed(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the files of the index that one process builds in a folder."""
    index = tmp_path_factory.mktemp("undisturbed") / "index"
    assert (
        len(build_index(open_corpus(str(corpus)), index, Progress(), ReadOptions(), OPTIONS))
        == SHARDS
    )
    files = (path for path in index.rglob("*") if path.is_file())
    return {path.relative_to(index).as_posix(): path.read_bytes() for path in files}


BUILDER = f"""
import os, sys, time
from pathlib import Path
from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.fm9.build import BuildOptions, build_index
from ngramscan.progress import Progress
import s3fs
corpus, warm_up = sys.argv[1:3]
def build(place):
    build_index(open_corpus(corpus), place, Progress(), ReadOptions(), {OPTIONS!r})
build(warm_up)
for place in sys.stdin:
    if not (child := os.fork()):
        try:
            build(place.strip())
        except BaseException as error:
            print(error, flush=True)
            os._exit(1)
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""
"""Builds in a new process for each line, which has imported everything."""


def kill_at_uploads(
    store: ObjectStore, corpus: Path, folder: Path, moments: list[int], pauses: random.Random
) -> None:
    """Build until done; kill the process, and start the next, at each of some uploads."""
    command = [sys.executable, "-c", BUILDER, str(corpus), str(folder / "warm-up")]
    environment = store.environment | {"OMP_NUM_THREADS": "1"}  # its threads don't outlive a fork
    with subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        for moment in (*moments, None):
            print(f"s3://{BUCKET}/{folder.name}", file=process.stdin, flush=True)
            child = int(process.stdout.readline())
            if moment is not None:
                wait_until(partial(store.has_uploads, moment))
                time.sleep(pauses.uniform(0, 0.05))
                os.kill(child, signal.SIGKILL)
            assert process.stdout.readline() == ("0\n" if moment is None else "9\n")
        process.stdin.close()


def check_uploads(uploads: list[str], folder: str) -> None:
    """Check that no file of a shard was uploaded after the manifest that says it is finished."""
    seen = [path.removeprefix(f"{folder}/") for path in uploads if path.startswith(f"{folder}/")]
    finished = [name for name in seen if name.endswith("/manifest.json")]
    assert sorted(finished) == sorted(f"{n}/manifest.json" for n in range(SHARDS))
    for name in finished:
        later = seen[seen.index(name) + 1 :]
        assert not [one for one in later if one.startswith(name.removesuffix("manifest.json"))]
    assert seen[-1] == "manifest.json"


@pytest.mark.parametrize("n_kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_build_goes_on_and_uploads_no_finished_shard_again(
    n_kills: int,
    store: ObjectStore,
    corpus: Path,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
) -> None:
    drawn = random.Random(n_kills)
    begin = len(store.uploads)
    moments = sorted(drawn.sample(range(begin + 1, begin + 50), n_kills))  # of 62
    kill_at_uploads(store, corpus, tmp_path, moments, drawn)
    assert store.files(f"{tmp_path.name}/") == undisturbed
    check_uploads(store.uploads[begin:], tmp_path.name)


@pytest.mark.slow
def test_a_cluster_builds_the_same_index_though_a_worker_is_killed(
    store: ObjectStore,
    corpus: Path,
    undisturbed: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("distributed")
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    place, begin = f"s3://{BUCKET}/{tmp_path.name}", len(store.uploads)
    with dask_cluster(tmp_path, store.environment) as cluster:
        cluster.start_worker()
        doomed = cluster.start_worker()

        def kill() -> None:
            wait_until(partial(store.has_uploads, begin + 6))
            doomed.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        options = BuildOptions(700, scheduler=cluster.address)
        rows = build_index(open_corpus(str(corpus)), place, Progress(), ReadOptions(), options)
        killer.join()
    assert [row.shard for row in rows] == list(range(SHARDS))
    assert store.files(f"{tmp_path.name}/") == undisturbed
    again = Counter(store.uploads[begin:])
    assert sum(again[f"{tmp_path.name}/{n}/manifest.json"] for n in range(SHARDS)) <= SHARDS + 1
