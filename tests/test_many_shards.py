"""Indexes of many shards: few descriptors, little memory, and no shard is silently left out."""

from __future__ import annotations

import gc
import json
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import ngramscan
from ngramscan.errors import IncompleteError, IndexChangedError, IndexFormatError
from ngramscan.fm9.folders import shard_folders
from ngramscan.fm9.layout import FILES
from ngramscan.fm9.manifest import describe_shard, in_folder, to_manifest
from ngramscan.fm9.mapped import MappedFile
from ngramscan.fm9.reader import Shard, find_in_all, open_shards
from ngramscan.matching import count_by_brute_force
from tests.support.command import invoke
from tests.support.serve_process import ask, serving

HERE = Path(__file__).parent
SMALL = HERE / "fm9" / "d5" / "index"
TEXTS = [
    json.loads(line)["text"].encode()
    for line in (SMALL.parent / "docs.jsonl").read_bytes().splitlines()
]


@contextmanager
def few_descriptors(limit: int) -> Iterator[None]:
    """Let this process, and those that it starts, open only a few files at a time."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def link_shards(folder: Path, number: int) -> Path:
    """Make an index of many shards that are all the same files."""
    for shard in range(number):
        (folder / f"{shard}").mkdir(parents=True)
        for name in FILES:
            os.link(SMALL / name, folder / f"{shard}" / name)
    return folder


def write_manifest(folder: Path, names: list[str]) -> None:
    entry = describe_shard(SMALL, len(TEXTS), sum(map(len, TEXTS)))
    (folder / "manifest.json").write_bytes(to_manifest(in_folder(entry, name) for name in names))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("number", "limit"), [(200, 128), pytest.param(10_000, 1024, marks=pytest.mark.slow)]
)
def test_more_shards_than_descriptors_are_counted_shown_and_served(
    tmp_path: Path, number: int, limit: int
) -> None:
    folder = link_shards(tmp_path / "x", number)
    write_manifest(folder, [*map(str, range(number))])
    inside = count_by_brute_force(b"lo", b"\xff".join(TEXTS))
    assert inside > 0
    with few_descriptors(limit):
        counted = invoke("count", "-e", "lo", "--index", f"fm9:{folder}", "--format", "csv")
        assert [row["occurrences"] for row in counted.rows] == [f"{inside * number}"], counted
        with serving(indexes=(folder,)) as server:
            request = {"index": "x", "query_type": "find", "query": "lo"}
            found = ask(server.url, request).json()
            assert (found["cnt"], len(found["segment_by_shard"])) == (inside * number, number)
            last = {"s": number - 1, "rank": found["segment_by_shard"][-1][0]}
            shown = ask(server.url, request | {"query_type": "get_doc_by_rank"} | last).json()
            assert "lo" in shown["text"]
            assert shown["doc_ix"] // len(TEXTS) == number - 1
        shards = open_shards(folder)
        before = len(os.listdir("/dev/fd"))
        windows = [window for shard in shards for window in shard.windows([3], 1, 50)]
        assert len({window.text for window in windows}) == 1
        assert len(os.listdir("/dev/fd")) == before


# Mapped files


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text("utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_file_is_mapped_as_long_as_anything_refers_to_it(tmp_path: Path) -> None:
    shard = Shard(Path(shutil.copytree(SMALL, tmp_path / "x")))
    path, content = tmp_path / "x" / "data.fm9", (SMALL / "data.fm9").read_bytes()
    assert is_mapped(path)
    assert not is_mapped(tmp_path / "x" / "meta.fm9")
    part = shard.data.tables.data[8:20].view(np.uint16)[2:4]
    del shard
    gc.collect()
    assert is_mapped(path)
    assert part.tobytes() == content[12:16]
    assert not part.flags.writeable
    del part
    gc.collect()
    assert not is_mapped(path)


def test_a_file_that_was_removed_or_replaced_is_still_there(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to(shutil.copytree(SMALL, tmp_path / "old"))
    shard, wanted = Shard(tmp_path / "x"), Shard(SMALL).find([b"lo"]).tolist()
    shard.windows([0], 1, 1)
    shutil.copytree(HERE / "fm9" / "d1" / "index", tmp_path / "new")
    (tmp_path / "y").symlink_to(tmp_path / "new")
    (tmp_path / "y").replace(tmp_path / "x")
    assert shard.find([b"lo"]).tolist() == wanted
    shutil.rmtree(tmp_path / "new")
    assert shard.find([b"lo"]).tolist() == wanted


@pytest.mark.parametrize("name", FILES[1:])
def test_files_of_two_indexes_are_never_read_together(tmp_path: Path, name: str) -> None:
    shard = Shard(Path(shutil.copytree(SMALL, tmp_path / "x")))
    shutil.copy(SMALL / name, tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / "x" / name)
    with pytest.raises(IndexChangedError, match=f"{name}: was changed while the index was open"):
        shard.metadata([window.document for window in shard.windows([5], 1, 1)])


def test_damaged_metadata_is_refused_before_any_is_shown(tmp_path: Path) -> None:
    shutil.copytree(SMALL, tmp_path / "x")
    (tmp_path / "x" / "meta.fm9").write_bytes(b"")
    shard = Shard(tmp_path / "x")
    assert shard.find([b"lo"]).tolist() == Shard(SMALL).find([b"lo"]).tolist()
    with pytest.raises(IndexFormatError, match=r"meta\.fm9: field n: the file ends within it"):
        shard.metadata([0])


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of addresses")
def test_a_limit_of_mapped_files_is_one_line_with_the_cure(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 39, hard))
    try:
        with pytest.raises(IndexFormatError, match=r"large: no memory left.*max_map_count=\d+$"):
            MappedFile(tmp_path / "large")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


# Threads


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # that is the test
def test_all_shards_are_asked_each_once(tmp_path: Path) -> None:
    draw, kinds = random.Random(1), [SMALL, *(HERE / "replay" / "index" / "replay2").iterdir()]
    shards = [Shard(draw.choice(kinds)) for _ in range(50)]
    patterns = [b"the", b"lo", b"zz", b"e"]
    wanted = [shard.find(patterns).tolist() for shard in shards]
    for number in (1, 2, 50):
        found = find_in_all(shards[:number], patterns)
        assert [pairs.tolist() for pairs in found] == wanted[:number]
    child = os.fork()
    if not child:  # it has no thread but this one
        signal.alarm(60)
        again = find_in_all(shards, patterns)
        os._exit([pairs.tolist() for pairs in again] != wanted)
    assert os.waitpid(child, 0)[1] == 0


def test_an_error_in_one_of_many_shards_is_never_a_smaller_count(tmp_path: Path) -> None:
    shutil.copytree(SMALL, tmp_path / "cut")
    for place in (0, 30, 59):
        folders = [SMALL] * 60
        folders[place] = Path(shutil.copytree(SMALL, tmp_path / f"{place}"))
        shards = [Shard(folder) for folder in folders]
        os.truncate(folders[place] / "data.fm9", 50)
        with pytest.raises(IndexChangedError, match=f"{place}/data.fm9: became shorter"):
            find_in_all(shards, [b"lo"])


# Which folders are an index


def test_a_shard_that_is_missing_is_an_error(tmp_path: Path) -> None:
    link_shards(tmp_path, 4)
    shutil.rmtree(tmp_path / "2")
    for allow_partial in (False, True):
        with pytest.raises(IndexFormatError, match="shard 2 is missing: there are others up to 3"):
            shard_folders(tmp_path, allow_partial)


def test_a_manifest_says_which_shards_there_are(tmp_path: Path) -> None:
    names = ["b", "a", "10", "9"]
    for name in names:  # no file in them is looked at
        (tmp_path / name).mkdir()
    write_manifest(tmp_path, names)
    assert [folder.name for folder in shard_folders(tmp_path)] == names
    (tmp_path / ".9.building").mkdir()
    (tmp_path / "notes").mkdir()
    assert [folder.name for folder in shard_folders(tmp_path)] == names
    (tmp_path / "a").rmdir()
    with pytest.raises(IndexFormatError, match=r"/a: missing, but manifest\.json lists it; copy"):
        shard_folders(tmp_path)
    shutil.copytree(SMALL, tmp_path / "a")
    for place in (tmp_path / "11", tmp_path):
        shutil.copytree(SMALL, place, dirs_exist_ok=True)
        with pytest.raises(IndexFormatError, match=f"{place}: files of an index that manifest"):
            shard_folders(tmp_path)
    shutil.rmtree(tmp_path / "11")
    write_manifest(tmp_path, [""])
    assert shard_folders(tmp_path) == [tmp_path]


def test_an_index_that_is_not_complete_is_refused_but_described(tmp_path: Path) -> None:
    link_shards(tmp_path / "x", 3)
    planned = [{"folder": f"{number}"} for number in range(7)]
    plan = tmp_path / "x" / "plan.json"
    plan.write_text(json.dumps({"shards": planned}), "utf-8")
    problem = "incomplete: 0 of 7 shards are built; run the same command again"
    for allow_partial in (False, True):
        with pytest.raises(IndexFormatError, match=problem):
            shard_folders(tmp_path / "x", allow_partial)
    for name in ("0", "2"):
        write_manifest(tmp_path / "x" / name, [""])
    done = invoke("count", "f1", "--index", f"fm9:{tmp_path / 'x'}")
    assert (done.code, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert problem.replace("0 of", "2 of") in done.stderr
    info = invoke("index", "info", f"fm9:{tmp_path / 'x'}", "--format", "csv")
    assert (info.code, [row["shards"] for row in info.rows]) == (1, ["2"])
    assert "incomplete: 2 of 7 shards are built" in info.stderr
    with pytest.raises(IncompleteError, match="2 of 7 shards") as caught:
        ngramscan.index_info(f"fm9:{tmp_path / 'x'}")
    assert caught.value.rows["documents"].tolist() == [2 * len(TEXTS)]
    plan.write_text('{"shards": 7}', "utf-8")
    with pytest.raises(IndexFormatError, match=r"plan\.json: not the plan of an index"):
        shard_folders(tmp_path / "x")


def test_index_info_says_what_asking_and_building_take(tmp_path: Path) -> None:
    link_shards(tmp_path / "x", 3)
    (info,) = ngramscan.index_info(f"fm9:{tmp_path / 'x'}").to_dict("records")
    size = sum(map(len, TEXTS))
    assert (info["shards"], info["bytes"]) == (3, 3 * size)
    assert info["memory_to_build"] == 200_000_000 + round(5.6 * size)
    assert 100_000_000 < info["memory_to_ask"] < 200_000_000
    scanned = invoke("index", "info", f"scan:{SMALL.parent / 'docs.jsonl'}")
    assert "docs.jsonl: an index takes about 10 kB of files in" in scanned.stderr
    assert "1 shard, 200 MB of memory to build" in scanned.stderr
