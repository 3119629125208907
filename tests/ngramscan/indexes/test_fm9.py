"""A local index as the commands see it: same answers as brute force over the documents."""

import json
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import Place, QueryCount, Window, WindowFailure
from ngramscan.indexes.fm9 import Fm9Index, open_fm9
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.progress import Progress
from tests.support.fm9_shards import DOCUMENTS, brute_force, write_shard
from tests.support.places import REPLAY


def local(name: str = "replay2") -> Fm9Index:
    return open_fm9(REPLAY / "index" / name, Progress())


def places_of(index: Fm9Index, query: str) -> list[Place]:
    (found,) = index.find([query])
    return [
        Place(query, segment.shard, rank)
        for segment in found.segments
        for rank in range(segment.low, segment.high)
    ]


QUERIES = (
    "step by step",
    "the answer is",
    "no such words",
    "\n",
    "\0",
    "\r\n",
    "é",
    "e",
    "aa",
    "😀",
)


@pytest.mark.parametrize(("name", "shards"), [("replay", 1), ("replay2", 2)])
def test_counts_and_sizes_are_those_of_the_documents(name: str, shards: int) -> None:
    index = local(name)
    counts = [count for count in index.counts(QUERIES) if isinstance(count, QueryCount)]
    assert {count.query: count.occurrences for count in counts} == {
        query: brute_force(query) for query in QUERIES
    }
    assert {(count.source, count.documents) for count in counts} == {("fm9", None)}
    files = (path for path in (REPLAY / "index" / name).rglob("*") if path.is_file())
    index_bytes = sum(path.stat().st_size for path in files)
    text_bytes = sum(len(document.encode()) for document in DOCUMENTS)
    size, largest = index.size(), index.size().largest_shard_bytes or 0
    assert (size.documents, size.bytes) == (len(DOCUMENTS), text_bytes)
    assert (size.shards, size.index_bytes) == (shards, index_bytes)
    assert text_bytes / shards <= largest <= text_bytes


def check_window(window: Window, context: int) -> None:
    """A window shows its query, whole characters, and as much text as was asked for."""
    text, query = DOCUMENTS[int(window.document)].encode(), window.place.query.encode()
    end = window.offset + len(query)
    assert window.text[window.offset : end] == query
    assert window.document_bytes == len(text)
    assert window.text.decode() in DOCUMENTS[int(window.document)]
    before, behind = window.offset, len(window.text) - end
    assert max(before, behind) <= context
    if window.starts_document:
        assert text.startswith(window.text)
    else:
        assert before > context - 4
    assert behind > context - 4 or text.endswith(window.text)
    metadata = json.loads(window.metadata)
    first = {"a.jsonl": 0, "b.jsonl": 141}[metadata["path"]]
    assert metadata["linenum"] == int(window.document) - first


@pytest.mark.parametrize("context", [0, 2, 50, 1 << 40])
def test_windows_show_the_occurrences_and_cut_no_character(context: int) -> None:
    index = local()
    every = 72 if context > 50 else 9  # whole documents are long
    queries = ("é", "the answer is", "😀", "\n")
    places = [place for query in queries for place in places_of(index, query)[::every]]
    assert {place.shard for place in places} == {0, 1}
    windows = list(index.windows(places, context))
    assert {window.place for window in windows} == set(places)
    for window in windows:
        assert isinstance(window, Window)
        check_window(window, context)


def test_each_occurrence_is_shown_once() -> None:
    index = local()
    windows = list(index.windows(places_of(index, "ภาษา"), 1 << 40))
    seen = {(window.document, window.offset) for window in windows if isinstance(window, Window)}
    assert len(seen) == len(windows) == brute_force("ภาษา") > 30


@pytest.mark.parametrize(
    ("spot", "words"),
    [
        (["e", 0, -1], "ranks are 0 to 196517"),
        (["e", 0, 1000000000000], "ranks are 0 to 196517"),
        (["e", 7, 0], "no such shard, only 0 to 1"),
        (["e", -1, 0], "no such shard"),
        (["e", 0, 0], "no occurrence of 'e'"),
        (["e", 0, 196517], "no occurrence of 'e'"),
    ],
    ids=[
        "before the first rank",
        "far behind the last rank",
        "behind the last shard",
        "before the first shard",
        "the first rank",
        "the last rank",
    ],
)
def test_a_place_outside_the_index_fails_alone(spot: list[Any], words: str) -> None:
    index = local()
    good = places_of(index, "e")[0]
    place = Place(*spot)
    replies = {reply.place: reply for reply in index.windows([good, place], 10)}
    assert isinstance(replies[good], Window)
    failure = replies[place]
    assert isinstance(failure, WindowFailure)
    assert isinstance(failure.error, InputError)
    assert words in str(failure.error)


def test_it_is_opened_by_its_spec() -> None:
    spec = f"fm9:{REPLAY / 'index' / 'replay2'}"
    with open_indexes([spec, spec], IndexOptions(), Progress()) as (index,):
        assert index.name == spec
        (count,) = index.counts(["step by step"])
    assert isinstance(count, QueryCount)
    assert count == QueryCount("step by step", 713, None, "fm9", count.asked_at)


@pytest.mark.parametrize(
    "line", [b"not JSON", b"[1]", b"\xe9"], ids=["not valid JSON", "a list", "not UTF-8"]
)
def test_metadata_that_are_none_fail_their_window(tmp_path: Path, line: bytes) -> None:
    """The index is corrupt then, and what else it shows may be wrong too."""
    write_shard(tmp_path, [b"a key", b"key key"], [b'{"n": 1}', line])
    index = open_fm9(tmp_path, Progress())
    windows = list(index.windows(places_of(index, "key"), 50))
    good = [window for window in windows if isinstance(window, Window)]
    assert [window.document for window in good] == ["0"]
    failures = [window for window in windows if isinstance(window, WindowFailure)]
    assert len(failures) == 2
    assert all("not a JSON object" in str(failure.error) for failure in failures)
