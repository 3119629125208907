"""A local index as the commands see it: same answers as brute force over the documents."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import IndexSize, Place, QueryCount, Window, WindowFailure
from ngramscan.indexes.fm9 import Fm9Index, open_fm9
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.progress import Progress
from tests.support.recorder import Recorder
from tests.test_fm9_reader import write_shard

REPLAY = Path(__file__).parent / "replay"
DOCUMENTS = [
    json.loads(line)["text"]
    for name in ("a", "b")
    for line in (REPLAY / "docs" / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]
QUERIES = [
    *("step by step", "the answer is", "no such words"),
    *("\n", "\0", "\r\n", "é", "e", "aa", "😀"),
]
SHARDS = pytest.mark.parametrize(("name", "shards"), [("replay", 1), ("replay2", 2)])


def local(name: str = "replay2", progress: Progress | None = None) -> Fm9Index:
    return open_fm9(REPLAY / "index" / name, progress or Progress())


def brute_force(query: str) -> int:
    return sum(
        document.startswith(query, at) for document in DOCUMENTS for at in range(len(document))
    )


def places_of(index: Fm9Index, query: str) -> list[Place]:
    (found,) = index.find([query])
    return [
        Place(query, segment.shard, rank)
        for segment in found.segments
        for rank in range(segment.low, segment.high)
    ]


@SHARDS
def test_counts_and_sizes_are_those_of_the_documents(name: str, shards: int) -> None:
    index = local(name)
    counts = {count.query: count for count in index.counts(QUERIES)}
    assert {query: count.occurrences for query, count in counts.items()} == {
        query: brute_force(query) for query in QUERIES
    }
    assert {(count.source, count.documents) for count in counts.values()} == {("fm9", None)}
    index_bytes = sum(f.stat().st_size for f in (REPLAY / "index" / name).rglob("*") if f.is_file())
    text_bytes = sum(len(document.encode()) for document in DOCUMENTS)
    size, largest = index.size(), index.size().largest_shard_bytes
    assert size == IndexSize(len(DOCUMENTS), text_bytes, shards, index_bytes, largest)
    assert text_bytes / shards <= (largest or 0) <= text_bytes


def test_windows_show_the_occurrences_and_cut_no_character() -> None:
    index = local()
    places = [
        p for query in ("é", "the answer is", "😀", "\n") for p in places_of(index, query)[::9]
    ]
    assert {place.shard for place in places} == {0, 1}
    for context in (0, 2, 50, 1 << 40):
        some = places[::8] if context > 50 else places  # whole documents are long
        windows = list(index.windows(some, context))
        assert {window.place for window in windows} == set(some)
        for window in windows:
            assert isinstance(window, Window)
            check_window(window, context)


def check_window(window: Window, context: int) -> None:
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


def test_each_occurrence_is_shown_once() -> None:
    index = local()
    windows = list(index.windows(places_of(index, "ภาษา"), 1 << 40))
    seen = {(window.document, window.offset) for window in windows if isinstance(window, Window)}
    assert len(seen) == len(windows) == brute_force("ภาษา") > 30


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Place("e", 0, -1), "ranks are 0 to 196517"),
        (Place("e", 0, 10**12), "ranks are 0 to 196517"),
        (Place("e", 7, 0), "no such shard, only 0 to 1"),
        (Place("e", -1, 0), "no such shard"),
        (Place("e", 0, 0), "no occurrence of 'e'"),
        (Place("e", 0, 196517), "no occurrence of 'e'"),
    ],
)
def test_a_place_outside_the_index_fails_alone(place: Place, words: str) -> None:
    index = local()
    good = places_of(index, "e")[0]
    replies = {reply.place: reply for reply in index.windows([good, place], 10)}
    assert isinstance(replies[good], Window)
    failure = replies[place]
    assert isinstance(failure, WindowFailure)
    assert isinstance(failure.error, InputError)
    assert words in str(failure.error)


def test_the_work_is_reported_and_ends_early_where_nobody_reads_on() -> None:
    ledger = Recorder()
    index = local("replay", ledger)
    list(index.counts(QUERIES * 60))
    places = places_of(index, "the")[:150]
    list(index.windows(places, 10))
    assert ledger.announced == ledger.done == {"queries": 601, "windows": 150}
    windows = index.windows(places, 100)
    assert isinstance(windows, Generator)
    assert isinstance(next(windows), Window)
    windows.close()
    assert list(windows) == []


def test_it_is_opened_by_its_spec() -> None:
    spec = f"fm9:{REPLAY / 'index' / 'replay2'}"
    with open_indexes([spec, spec], IndexOptions(), Progress()) as (index,):
        assert index.name == spec
        (count,) = index.counts(["step by step"])
    assert isinstance(count, QueryCount)
    assert count == QueryCount("step by step", 713, None, "fm9", count.asked_at)


@pytest.mark.parametrize("line", [b"not JSON", b"[1]", b"\xe9"])
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
