"""Folders and stores as places to write an index to, also by builds that are killed meanwhile."""

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from ngramscan.errors import DiskFullError, InputError, NgramscanError, RemoteUnavailable
from ngramscan.index_files import places
from ngramscan.index_files.fm9.manifest import SHARD_FILES
from ngramscan.remote.stores import is_remote
from tests.support.dask_cluster import wait_until
from tests.support.object_store import BUCKET, KEYS, ObjectStore, object_store
from tests.support.places import ROOT
from tests.support.range_server import Faults, RangeServer
from tests.support.sizes import slow
from tests.support.started import started

pytestmark = pytest.mark.integration

NAMES = ("data.fm9", "data_offset", "manifest.json", "meta.fm9", "meta_offset")


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store() as store:
        yield store


@pytest.fixture
def s3(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    use(monkeypatch, store.endpoint)
    return store


def use(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    for name, value in {**KEYS, "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    # fsspec keeps one client for each configuration, whatever the environment is.
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": endpoint})


@pytest.fixture(params=["folder", "memory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "s3":
        request.getfixturevalue("s3")
    kinds = {"folder": str(tmp_path / "index"), "s3": f"s3://{BUCKET}/{tmp_path.name}"}
    return kinds.get(request.param, f"memory://{tmp_path.name}")


def files_in(place: str) -> dict[str, bytes]:
    system, root = fsspec.url_to_fs(place, use_listings_cache=False)
    found = {path: path.removeprefix(root).lstrip("/") for path in system.find(root)}
    return {name: system.cat_file(path) for path, name in found.items()}


def finished(folder: Path, word: str = "one") -> Path:
    """Make a folder with the files of a shard; their content does not matter here."""
    folder.mkdir()
    for name in NAMES:
        (folder / name).write_bytes(f"{word} {name}".encode())
    return folder


def shard(word: str = "one", folder: str = "") -> dict[str, bytes]:
    return {folder + name: f"{word} {name}".encode() for name in NAMES}


def test_a_small_file_is_written_replaced_and_removed(place: str) -> None:
    assert places.read(place, "plan.json") is None
    for content in (b"one", b"", b"two"):
        places.write(place, "plan.json", content)
        assert places.read(f"{place}/", "plan.json") == content
    assert files_in(place) == {"plan.json": b"two"}
    for _ in range(2):
        places.remove(place, "plan.json")
        assert places.read(place, "plan.json") is None


def test_a_shard_is_published_or_moved_also_by_a_second_call(place: str, tmp_path: Path) -> None:
    places.write(place, "plan.json", b"plan")
    places.publish(finished(tmp_path / "work"), places.join(place, "11"), SHARD_FILES)
    others = {"plan.json": b"plan"} | shard(folder="11/")
    assert files_in(place) == others
    for word in ("two", "three"):
        places.publish(finished(tmp_path / word, word), places.join(place, ""), SHARD_FILES)
        assert files_in(place) == others | shard(word)
    assert is_remote(place) == (tmp_path / "two").exists()
    places.write(places.join(place, "0"), "data.fm9", b"three data.fm9")
    places.remove(place, "data.fm9")  # as by a call that was interrupted
    for _ in range(2):
        places.move(place, "", "0", SHARD_FILES)
        assert files_in(place) == others | shard("three", "0/")


def test_files_of_others_are_seen(s3: ObjectStore) -> None:
    place = f"s3://{BUCKET}/shared"
    assert places.read(place, "plan.json") is None
    s3.put(f"{BUCKET}/shared/plan.json", b"by another")
    assert places.read(place, "plan.json") == b"by another"


@pytest.mark.slow
def test_a_large_file_goes_in_parts(s3: ObjectStore, tmp_path: Path) -> None:
    work = finished(tmp_path / "work")
    (work / "data.fm9").write_bytes(content := os.urandom(130_000_000))
    places.publish(work, f"s3://{BUCKET}/large", SHARD_FILES)
    assert s3.files("large/")["data.fm9"] == content


# What can't be written


def problem_of(place: str, kind: type[NgramscanError] = InputError) -> str:
    with pytest.raises(kind) as caught:
        places.write(place, "plan.json", b"plan")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_folders_that_can_not_be_written_are_told(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "index"
    path = missing / "plan.json"
    assert problem_of(str(missing)) == f"{path}: can't be written (no such file or directory)"
    (tmp_path / ".plan.json.new").symlink_to("/dev/full")
    expected = f"{tmp_path}/plan.json: can't be written (no space left on device)"
    assert problem_of(str(tmp_path), DiskFullError) == expected
    (tmp_path / "plan.json").mkdir()
    with pytest.raises(InputError, match=r"plan\.json: can't be read \(is a directory\)"):
        places.read(str(tmp_path), "plan.json")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: can't be written \(not a directory\)"):
        places.publish(finished(tmp_path / "work"), str(tmp_path / "file"), SHARD_FILES)
    assert (tmp_path / "work" / "manifest.json").exists()


WRONG = {
    "s3://none/x": "s3://none/x/plan.json: can't be written (The specified bucket does not exist); "
    "the bucket must be there",
    "s3://me:secret@bucket/x": "s3://bucket/…: a password in it would be shown; put it into",
    "memory://x?token=secret": "memory://x: a query can't be written to",
    "never://x": "never://x/plan.json: Protocol not known: never",
    "gs://b": "gs://b/plan.json: gcsfs is not installed; pip install gcsfs",
}


@pytest.mark.parametrize("place", WRONG)
@pytest.mark.usefixtures("s3")
def test_a_store_without_bucket_library_or_protocol_is_told(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    said = problem_of(place)
    assert said.startswith(WRONG[place])
    assert "secret" not in said


def test_a_store_without_credentials_is_told(
    s3: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    use(monkeypatch, s3.endpoint.replace("127.0.0.1", "localhost"))  # another client
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    assert problem_of(f"s3://{BUCKET}/x").endswith(
        "no credentials (Unable to locate credentials); set AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY, or run: aws configure"
    )


@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        ("403", InputError, "access is denied (Access Denied); the credentials must allow"),
        ("500", RemoteUnavailable, "); later, the same command resumes"),
    ],
    ids=["403", "500"],
)
def test_refusals_are_told_and_failures_retried(
    kind: str,
    error: type[NgramscanError],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    retries = replace(places.RETRIES, attempts=2, first_pause_s=0.01)
    monkeypatch.setattr(places, "RETRIES", retries)
    with RangeServer(tmp_path, faults=Faults(always={"": kind})) as server:
        use(monkeypatch, server.url)
        assert words in problem_of(f"s3://{BUCKET}/x", error)
        assert len(server.record().requests) == (2 if kind == "500" else 1)


FAULTS: list[object] = []


def put_file(self: Any, lpath: str, rpath: str, **_options: Any) -> None:
    """Upload, but for the next fault: an error, or the bytes that arrive."""
    fault = FAULTS.pop(0) if FAULTS else None
    if isinstance(fault, Exception):
        raise fault
    content = Path(lpath).read_bytes()
    self.pipe_file(rpath, content[:fault] if isinstance(fault, int) else content)


def test_a_cut_or_failed_upload_is_repeated_and_a_third_one_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = {"protocol": "faulty", "put_file": put_file}
    faulty = type("FaultyStore", (MemoryFileSystem,), methods)
    fsspec.register_implementation("faulty", faulty, clobber=True)
    monkeypatch.setattr(places, "RETRIES", replace(places.RETRIES, first_pause_s=0.01))
    work, place = finished(tmp_path / "work"), "faulty://index"
    reset = OSError(errno.ECONNRESET, "reset")
    FAULTS[:] = [3, reset, None, reset]
    places.publish(work, place, SHARD_FILES)
    assert files_in(place) == shard()
    FAULTS[:] = [None, None, reset, reset, 3]
    with pytest.raises(RemoteUnavailable) as caught:
        places.publish(work, "faulty://other", SHARD_FILES)
    expected = "the store failed (3 of 12 bytes arrived); later, the same command resumes"
    assert str(caught.value) == f"faulty://other/{SHARD_FILES[2]}: {expected}"
    assert "manifest.json" not in files_in("faulty://other")
    FAULTS[:] = [NotImplementedError("read only")]
    with pytest.raises(InputError, match=r"can't be written \(read only\)"):
        places.publish(work, place, SHARD_FILES)


# Builds on a store


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(3):
        texts = [f"document {number} {line} " + "ä b" * (line % 50) for line in range(31)]
        lines = [json.dumps({"text": text, "n": number}) + "\n" for text in texts]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    return folder


def kill_at_uploads(
    store: ObjectStore, arguments: list[str], name: str, moments: list[int], pauses: random.Random
) -> None:
    """Build until done; kill the process, and start the next, at each of some uploads."""
    environment = store.environment | {"OMP_NUM_THREADS": "1"}  # its threads don't outlive a fork
    command = [sys.executable, "-m", "tests.support.programs.build_in_children", *arguments]
    with started(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        assert process.stdin
        assert process.stdout
        for moment in (*moments, None):
            print(f"s3://{BUCKET}/{name}", file=process.stdin, flush=True)
            child = int(process.stdout.readline())
            if moment is not None:
                wait_until(partial(store.has_uploads, moment))
                time.sleep(pauses.uniform(0, 0.05))
                os.kill(child, signal.SIGKILL)
            assert process.stdout.readline() == ("0\n" if moment is None else "9\n")
        process.stdin.close()


@pytest.mark.parametrize(("files", "n_kills"), [("0.jsonl", 1), slow("*", 20)])
def test_a_killed_build_goes_on_and_uploads_no_finished_shard_again(
    files: str, n_kills: int, store: ObjectStore, corpus: Path, tmp_path: Path
) -> None:
    drawn, begin, alone = random.Random(n_kills), len(store.uploads), tmp_path / "alone"
    last = 10 if files == "0.jsonl" else 50  # of 22 or 62
    moments = sorted(drawn.sample(range(begin + 1, begin + last), n_kills))
    kill_at_uploads(store, [f"{corpus}/{files}", str(alone)], tmp_path.name, moments, drawn)
    expected = files_in(str(alone))
    assert store.files(f"{tmp_path.name}/") == expected
    seen = [path.removeprefix(f"{tmp_path.name}/") for path in store.uploads[begin:]]
    finished = [name for name in seen if name.endswith("/manifest.json")]
    assert sorted(finished) == [
        name for name in sorted(expected) if name.endswith("/manifest.json")
    ]
    assert len(finished) > 3
    late = [
        path
        for name in finished
        for path in seen[seen.index(name) + 1 :]
        if path.startswith(name.removesuffix("manifest.json"))
    ]
    assert late == [], "files of a shard come after the manifest that says it is finished"
    assert seen[-1] == "manifest.json"
