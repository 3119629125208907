"""Builds that stop and go on, and indexes that grow: what is finished stays as it is."""

import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import threading
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import CorpusError, InputError
from ngramscan.index_files.documents import SourceFile
from ngramscan.index_files.fm9.build import BuildOptions, BuildRow, build_index, fitting
from ngramscan.index_files.fm9.plan import ShardPlan, Workers, parse_plan
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.index_files.fm9.shard import ShardTask, build_shard
from ngramscan.progress import SILENT, Progress
from tests.support import corpus_files
from tests.support.command import NGRAMSCAN, invoke
from tests.support.dask_cluster import wait_until
from tests.support.places import FM9
from tests.support.recorder import Recorder
from tests.support.resource_limits import limited
from tests.support.sizes import slow
from tests.support.started import started

D5 = FM9 / "d5"
SHARD_BYTES = 6_800
READ = ReadOptions()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return documents in two files; they make 12 shards."""
    (tmp_path / "c").mkdir()
    draw = random.Random(1)
    texts = ["".join(draw.choices("abc é", k=draw.randrange(900))) for _ in range(130)]
    (tmp_path / "c" / "a.jsonl").write_bytes(corpus_files.jsonl(texts[:70]))
    (tmp_path / "c" / "b.jsonl.gz").write_bytes(corpus_files.WRITERS["c.jsonl.gz"](texts[70:]))
    return tmp_path / "c"


def build(
    corpus: Path | str, out: Path, *, add: bool = False, progress: Progress = SILENT, **how: Any
) -> list[BuildRow]:
    options = BuildOptions(**{"shard_bytes": SHARD_BYTES} | how, is_adding=add)
    return build_index(open_corpus(str(corpus)), out, progress, READ, options)


def contents(index: Path) -> dict[str, str]:
    """Return the SHA-256 of all files of an index."""
    # A killed process may leave its lock behind, which nobody has.
    files = [p for p in sorted(index.rglob("*")) if p.is_file() and p.name != ".building.lock"]
    return {str(p.relative_to(index)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def identities(index: Path) -> dict[str, tuple[int, int]]:
    """Return what changes where a finished shard is written again."""
    found = {}
    for manifest in index.glob("[0-9]*/manifest.json"):
        with suppress(FileNotFoundError):
            found[manifest.parent.name] = (manifest.stat().st_ino, manifest.stat().st_mtime_ns)
    return found


def interrupt(corpus: Path, out: Path, **how: Any) -> None:
    """Leave a build behind that has a plan, and no shard yet."""
    with limited(resource.RLIMIT_FSIZE, 4_000), pytest.raises(InputError, match="can't be written"):
        build(corpus, out, **how)


# Interruptions


def start_build(
    corpus: Path, out: Path, workers: int = 1
) -> AbstractContextManager[subprocess.Popen[str]]:
    command = [*NGRAMSCAN, "index", "build", str(corpus), "-o", str(out)]
    command += ["--shard-size", f"{SHARD_BYTES}", "--workers", f"{workers}"]
    return started(command, stderr=subprocess.PIPE, start_new_session=True)


@pytest.mark.integration
@pytest.mark.parametrize(("kills", "workers"), [(1, 1), slow(20, 2)])
def test_a_killed_build_goes_on(kills: int, workers: int, corpus: Path, tmp_path: Path) -> None:
    build(corpus, tmp_path / "whole")
    expected = contents(tmp_path / "whole")
    assert len(expected) == 12 * 5 + 1
    out, draw, killed = tmp_path / "index", random.Random(kills), 0
    finished: dict[str, tuple[int, int]] = {}
    while killed < kills:
        if (out / "manifest.json").exists():  # it came to its end: the next kills are of another
            assert contents(out) == expected
            shutil.rmtree(out)
            finished = {}
        with start_build(corpus, out, workers) as process:
            if not killed:
                wait_until((out / "plan.json").exists)
                with pytest.raises(InputError, match="another process is building it"):
                    build(corpus, out)
            target = len(finished) + (draw.randrange(2) if killed else 1)
            while process.poll() is None and len(identities(out)) < target:
                time.sleep(0.001)
            time.sleep(draw.random() * 0.03)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                killed += 1
        now = identities(out)
        assert now.items() >= finished.items(), "a finished shard was built again"
        finished = now
    if (out / "plan.json").exists():
        build(corpus, out)
    assert identities(out).items() >= finished.items()
    assert contents(out) == expected


def test_a_full_disk_ends_a_build_that_goes_on(corpus: Path, tmp_path: Path) -> None:
    first = build(corpus, tmp_path / "whole")
    out = tmp_path / "index"
    interrupt(corpus, out)
    assert [path.name for path in out.iterdir()] == ["plan.json"]
    (tmp_path / "whole" / "3").rename(out / "3")
    before = identities(out)
    rows = build(corpus, out)
    assert identities(out).items() >= before.items()
    assert [row.seconds is None for row in rows] == [number == 3 for number in range(12)]
    assert [row.documents for row in rows] == [row.documents for row in first]
    assert not (out / "plan.json").exists()


@pytest.mark.integration
def test_ctrl_c_keeps_what_was_done(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    with start_build(corpus, out) as process:
        wait_until(lambda: bool(identities(out)))
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "what was done is kept: run the same command again." in stderr
    assert identities(out)
    assert (out / "plan.json").exists()
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_a_build_goes_on_after_a_change_of_permissions(corpus: Path, tmp_path: Path) -> None:
    interrupt(corpus, tmp_path / "index")
    for path in corpus.iterdir():
        path.chmod(0o640)
    build(corpus, tmp_path / "index")
    build(corpus, tmp_path / "whole")
    assert contents(tmp_path / "index") == contents(tmp_path / "whole")


# Plans that differ


@pytest.mark.parametrize(
    ("file", "texts", "options", "words"),
    [
        ("a.jsonl", ["other"], {}, r"a\.jsonl has changed"),
        ("a.jsonl", None, {}, r"a\.jsonl is no longer in the corpus"),
        ("d.jsonl", ["new"], {}, r"d\.jsonl is new in the corpus"),
        ("", None, {"shard_bytes": 6000}, "--shard-size was 6800 and is 6000 now"),
        ("", None, {"memory": 300000000}, "--memory was None and is 300000000 now"),
    ],
    ids=["a changed file", "a missing file", "a new file", "another size", "another memory"],
)
def test_another_plan_is_refused(
    file: str, texts: list[str], options: dict[str, Any], words: str, corpus: Path, tmp_path: Path
) -> None:
    interrupt(corpus, tmp_path / "index")
    if texts:
        (corpus / file).write_bytes(corpus_files.jsonl(texts))
    elif file:
        (corpus / file).unlink()
    expected = rf"another build is unfinished there: .*{words}; give a new folder, or delete"
    with pytest.raises(InputError, match=expected):
        build(corpus, tmp_path / "index", **options)


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"options": {}, "files": [[]], "shards": []}'],
    ids=["not valid JSON", "a list", "a file without its fields"],
)
def test_a_damaged_plan_is_refused(content: bytes, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "plan.json").write_bytes(content)
    with pytest.raises(InputError, match=r"plan\.json: not a plan of an index"):
        build(corpus, tmp_path / "index")


def test_a_shard_of_another_index_is_refused(corpus: Path, tmp_path: Path) -> None:
    interrupt(corpus, tmp_path / "index")
    build(D5 / "docs.jsonl", tmp_path / "index" / "2")
    with pytest.raises(InputError, match=r"2/manifest\.json: not a shard of this build"):
        build(corpus, tmp_path / "index")


def test_a_corpus_that_changes_under_way_is_an_error(corpus: Path, tmp_path: Path) -> None:
    interrupt(corpus, tmp_path / "index")
    plan = parse_plan((tmp_path / "index" / "plan.json").read_bytes(), "")
    task = ShardTask(str(tmp_path / "index"), plan.shards[0], plan.files_of(0), READ)
    file, status = corpus / "a.jsonl", (corpus / "a.jsonl").stat()
    content = file.read_bytes()
    file.write_bytes(content.replace(b"a", b"\\n", 9))
    with pytest.raises(CorpusError, match=r"a\.jsonl: has changed since the build began; delete"):
        build_shard(task, lambda _: None)
    # Size and time as before; a plan that doesn't know the rest: as many documents, and longer.
    file.write_bytes(content.replace(b'"id": 1, ', b"", 1) + b" " * len(b'"id": 1, '))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(CorpusError, match=r"a\.jsonl: has changed since the build began; delete"):
        build_shard(task, lambda _: None)
    far = [
        SourceFile(replace(file, path=f"file://{file.path}", status=""), name)
        for file, name in task.files
    ]
    with pytest.raises(CorpusError, match="or a file after it has changed"):
        build_shard(task._replace(files=far), lambda _: None)
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["plan.json"]


# Planning


def test_parts_of_a_file_make_the_same_index(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (corpus / "a.jsonl").read_bytes().splitlines(keepends=True)
    (corpus / "a.jsonl").write_bytes(b"\n".join(lines[:30]) + b"".join(lines[30:]))
    build(corpus, tmp_path / "whole", shard_bytes=20_000)
    monkeypatch.setattr("ngramscan.corpora.jsonl.PART_BYTES", 777)
    build(corpus, tmp_path / "parts", shard_bytes=20_000)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_a_bad_record_is_found_before_anything_is_built(corpus: Path, tmp_path: Path) -> None:
    (corpus / "z.jsonl").write_text('{"text": "good"}\n{"text": bad}\n')
    with pytest.raises(CorpusError, match=r"z\.jsonl:2: not valid JSON"):
        build(corpus, tmp_path / "index", workers=2)
    assert not (tmp_path / "index").exists()


def test_a_pipe_is_copied_first(tmp_path: Path) -> None:
    pipe = tmp_path / "a.jsonl"
    os.mkfifo(pipe)
    docs = (D5 / "docs.jsonl").read_bytes()
    for number, content in enumerate((docs, docs + b"broken\n")):
        thread = threading.Thread(target=pipe.write_bytes, args=[content])
        thread.start()
        bad = pytest.raises(CorpusError, match=r"^a\.jsonl:6: not valid JSON")
        with bad if number else nullcontext():
            build(pipe, tmp_path / str(number), shard_bytes=10**6)
        thread.join()
    same = contents(tmp_path / "0")
    del same["manifest.json"]
    assert same == contents(D5 / "index")
    assert not (tmp_path / "1").exists()


# Memory


@pytest.mark.parametrize(
    ("text_bytes", "count", "notice"),
    [
        (6_799, 3, "needs up to 600 MB of memory, for a shard of 6.8 kB in each of 3 processes"),
        (10**15, 1, r"needs up to 9,400 TB .* of 1,000 TB; 1 of 3 workers run at once: .* are ava"),
    ],
    ids=["enough for all", "enough for one"],
)
def test_as_many_workers_run_as_memory_allows(text_bytes: int, count: int, notice: str) -> None:
    sums = Recorder()
    shards = [ShardPlan("0", 0, text_bytes, 0, 0)] * 3
    assert fitting(Workers(8, None, sums), shards).count == count
    assert re.match(notice, sums.notices[0])
    fitting(Workers(8, "tcp://x", sums), shards)
    assert sums.notices[1].endswith("in each thread of the cluster")


def test_the_size_of_shards_follows_from_memory() -> None:
    sizes = {16 * 10**9: 2**31 - 1, 10**11: 10617021276}
    assert {memory: BuildOptions(memory=memory).shard_limit for memory in sizes} == sizes
    limits = {n: BuildOptions(memory=4 * 10**9, workers=n).shard_limit for n in (1, 4)}
    needed = [n * (limit * 5.2 + 200e6) for n, limit in limits.items()]
    assert needed == pytest.approx([4e9] * 2, rel=1e-6)
    with pytest.raises(
        InputError, match="--memory 1000: expected more than 200 MB for each worker"
    ):
        _ = BuildOptions(memory=1000).shard_limit
    both = invoke("index", "build", D5, "-o", "x", "--memory", "1GB", "--shard-size", "1GB")
    assert both.code == 2
    assert "--memory: it determines the size of shards; leave out --shard-size" in both.stderr


# Adding


def texts_of(index: Path) -> list[str]:
    """Return all documents, in the order in which they are numbered."""
    found = []
    for shard in open_shards(index):
        for number in range(shard.documents):
            (row,) = shard.metadata([number])
            found.append(json.loads(row)["path"] + str(json.loads(row)["linenum"]))
    return found


@pytest.mark.parametrize("is_original", [True, False])
def test_documents_are_added_to_an_index(is_original: bool, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    size: dict[str, Any] = {"shard_bytes": 30_000}
    build(D5 / "docs.jsonl", out, **size)
    old = {f"0/{name}": content for name, content in contents(out).items()}
    if is_original:
        (out / "manifest.json").unlink()
        del old["0/manifest.json"]  # that of an index that this package built says from what
    before = texts_of(out)
    interrupt(corpus, out, add=True, **size)
    assert contents(out).items() >= old.items()
    assert (out / "plan.json").exists(), "so it is refused until it is complete"
    with pytest.raises(InputError, match="the command was index add and is index build now"):
        build(corpus, out, **size)
    rows = build(corpus, out, add=True, **size)
    build(corpus, tmp_path / "new", **size)
    new = contents(tmp_path / "new")
    del new["manifest.json"]
    shifted = {f"{int(name.split('/')[0]) + 1}/{name.split('/')[1]}": new[name] for name in new}
    now = contents(out)
    del now["manifest.json"]
    if is_original:
        del now["0/manifest.json"]
    assert now == old | shifted
    assert [row.seconds is None for row in rows] == [True] + [False] * 3
    assert texts_of(out) == before + texts_of(tmp_path / "new")
    build(D5 / "docs.jsonl", out, add=True, **size)
    assert texts_of(out)[-5:] == before
    entries = json.loads((out / "manifest.json").read_text())["shards"]
    assert [entry["folder"] for entry in entries] == [str(number) for number in range(5)]
