"""Indexes of many shards: few descriptors, little memory, and no shard is silently left out."""

import json
import os
import resource
import shutil
from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import IncompleteError, IndexChangedError, IndexFormatError
from ngramscan.index_files.fm9.folders import shard_folders
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.manifest import describe_shard, in_folder, to_manifest
from ngramscan.index_files.fm9.reader import Shard, find_in_all, open_shards
from ngramscan.matching import count_by_brute_force
from tests.support.command import invoke
from tests.support.places import FM9
from tests.support.resource_limits import limited
from tests.support.serve_process import ask, serving_here
from tests.support.sizes import slow

SMALL = FM9 / "d5" / "index"
TEXTS = [
    json.loads(line)["text"].encode()
    for line in (SMALL.parent / "docs.jsonl").read_bytes().splitlines()
]


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
@pytest.mark.parametrize(("number", "limit"), [(200, 128), slow(10_000, 1024)])
def test_more_shards_than_descriptors_are_counted_shown_and_served(
    tmp_path: Path, number: int, limit: int
) -> None:
    folder = link_shards(tmp_path / "x", number)
    write_manifest(folder, [*map(str, range(number))])
    inside = count_by_brute_force(b"lo", b"\xff".join(TEXTS))
    assert inside > 0
    with limited(resource.RLIMIT_NOFILE, limit):
        counted = invoke("count", "-e", "lo", "--index", f"fm9:{folder}", "--format", "csv")
        assert [row["occurrences"] for row in counted.rows] == [f"{inside * number}"], counted
        with serving_here(folder) as url:
            request = {"index": "x", "query_type": "find", "query": "lo"}
            found = ask(url, request).json()
            assert (found["cnt"], len(found["segment_by_shard"])) == (inside * number, number)
            last = {"s": number - 1, "rank": found["segment_by_shard"][-1][0]}
            shown = ask(url, request | {"query_type": "get_doc_by_rank"} | last).json()
            assert "lo" in shown["text"]
            assert shown["doc_ix"] // len(TEXTS) == number - 1
        shards = open_shards(folder)
        before = len(os.listdir("/dev/fd"))
        windows = [window for shard in shards for window in shard.windows([3], 1, 50)]
        assert len({window.text for window in windows}) == 1
        assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("place", [0, 30, 59])
def test_an_error_in_one_of_many_shards_is_never_a_smaller_count(
    tmp_path: Path, place: int
) -> None:
    folders = [SMALL] * 60
    folders[place] = Path(shutil.copytree(SMALL, tmp_path / "cut"))
    shards = [Shard(folder) for folder in folders]
    os.truncate(folders[place] / "data.fm9", 50)
    with pytest.raises(IndexChangedError, match=r"cut/data\.fm9: was changed or removed"):
        find_in_all(shards, [b"lo"])


# Which folders are an index


@pytest.mark.parametrize("allow_partial", [False, True])
def test_a_shard_that_is_missing_between_others_is_an_error(
    tmp_path: Path, allow_partial: bool
) -> None:
    link_shards(tmp_path, 4)
    shutil.rmtree(tmp_path / "2")
    with pytest.raises(IndexFormatError, match="shard 2 is missing: there are others up to 3"):
        shard_folders(tmp_path, allow_partial)


def test_shards_without_a_manifest_are_taken_in_the_order_of_numbers(tmp_path: Path) -> None:
    link_shards(tmp_path, 11)
    (tmp_path / "notes").mkdir()
    (tmp_path / ".11.building").mkdir()
    assert [path.name for path in shard_folders(tmp_path)] == [str(n) for n in range(11)]


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
    plan.write_text(json.dumps({"shards": planned}))
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
    plan.write_text('{"shards": 7}')
    with pytest.raises(IndexFormatError, match=r"plan\.json: not the plan of an index"):
        shard_folders(tmp_path / "x")
