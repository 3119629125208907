"""Occurrences behind the HTTP protocol: where they are, and the text around them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ngramscan.errors import RemoteRefused, RemoteUnavailable
from ngramscan.indexes.base import (
    ApiSettings,
    Found,
    Index,
    IndexSize,
    Place,
    QueryFailure,
    Window,
    WindowFailure,
)
from ngramscan.indexes.http.api import ApiAccess, ApiIndex
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.replies import read_found, read_window
from ngramscan.journal import Journal
from ngramscan.progress import Progress
from tests.api_server import ApiServer, Faults
from tests.support.fake_clock import FakeClock

REPLAY = Path(__file__).parent / "replay"
SHARDS = {"replay2": [REPLAY / "docs" / "a.jsonl", REPLAY / "docs" / "b.jsonl"]}
TEXTS = [
    json.loads(line)["text"]
    for file in SHARDS["replay2"]
    for line in file.read_text(encoding="utf-8").split("\n")
    if line
]
EXPECTED = [
    row
    for line in (REPLAY / "reader_expected.jsonl").read_text(encoding="utf-8").splitlines()
    if (row := json.loads(line))["index"] == "replay2" and row["kind"] == "pattern"
    if row["pattern"]
]


@contextmanager
def index_at(
    url: str, journal: Path, refresh: bool = False, clock: FakeClock | None = None
) -> Iterator[ApiIndex]:
    with (
        ApiClient(url, ApiSettings(concurrency=4, rate=0), Progress(), clock=clock) as client,
        Journal(journal) as kept,
    ):
        access = ApiAccess(client, kept, Progress(), refresh)
        yield ApiIndex("replay2", ["replay2"], IndexSize(), access)


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with ApiServer(SHARDS) as server:
        yield server


@pytest.fixture
def index(server: ApiServer, tmp_path: Path) -> Iterator[ApiIndex]:
    with index_at(server.url, tmp_path / "j.sqlite") as index:
        yield index


def found(index: Index, query: str) -> Found:
    (reply,) = index.find([query])
    assert isinstance(reply, Found)
    return reply


def windows(index: Index, places: list[Place], context: int) -> dict[Place, Window]:
    got = list(index.windows(places, context))
    assert all(isinstance(window, Window) for window in got), got
    by_place = {window.place: window for window in got if isinstance(window, Window)}
    assert set(by_place) == set(places)
    return by_place


def test_every_pattern_is_found_where_a_correct_reader_finds_it(index: ApiIndex) -> None:
    queries = [row["pattern"] for row in EXPECTED]
    replies = {reply.query: reply for reply in index.find(queries)}
    assert len(EXPECTED) > 100
    for row in EXPECTED:
        reply = replies[row["pattern"]]
        assert isinstance(reply, Found)
        assert reply.occurrences == row["count"]
        expected = [(n, *segment) for n, segment in enumerate(row["segments"]) if segment]
        assert [(s.shard, s.low, s.high) for s in reply.segments] == expected


def places_of(found: Found, most: int) -> list[Place]:
    places = [
        Place(found.query, segment.shard, rank)
        for segment in found.segments
        for rank in range(segment.low, segment.high)
    ]
    return places[:: max(1, len(places) // most)]


@pytest.mark.parametrize("context", [10_000, 100, 37])
@pytest.mark.parametrize("query", ["the", "ภาษ", "🎉", "é", "\\frac{", "step by step", "ว"])
def test_windows_are_cut_from_their_documents_and_say_so(
    index: ApiIndex, query: str, context: int
) -> None:
    needle = query.encode()
    places = places_of(found(index, query), 25)
    assert places
    for window in windows(index, places, context).values():
        document = TEXTS[int(window.document)].encode()
        assert window.document_bytes == len(document)
        start = position_in(document, window)
        assert document[start + window.offset :].startswith(needle)
        behind = len(window.text) - window.offset - len(needle)
        ends = start + len(window.text) == len(document)
        assert window.offset >= context - 3 or start == 0
        assert behind >= context - 3 or ends
        assert max(window.offset, behind - 6) <= context
        if window.starts_document:
            assert start == 0
        assert window.is_truncated == (start > 0 or not ends)
        assert json.loads(window.metadata)["path"] in {"a.jsonl", "b.jsonl"}


def position_in(document: bytes, window: Window) -> int:
    """Where a window begins; a repeated text may be at several places, of which one fits."""
    position = document.find(window.text)
    assert position >= 0
    return position


def test_all_occurrences_are_reached_by_rank(index: ApiIndex) -> None:
    where = found(index, "governing equation")
    got = windows(index, places_of(where, where.occurrences), 10_000)
    per_document: dict[str, int] = {}
    for window in got.values():
        per_document[window.document] = per_document.get(window.document, 0) + 1
    expected = {
        str(n): text.count("governing equation") for n, text in enumerate(TEXTS)
        if "governing equation" in text
    }  # fmt: skip
    assert per_document == expected


def test_what_was_asked_is_not_asked_again(server: ApiServer, tmp_path: Path) -> None:
    journal = tmp_path / "j.sqlite"
    with index_at(server.url, journal) as index:
        places = places_of(found(index, "ภาษ"), 20)
        first = windows(index, places, 50)
    asked = len(server.requests)
    with index_at(server.url, journal) as index:
        assert windows(index, places_of(found(index, "ภาษ"), 20), 50) == first
        assert len(server.requests) == asked
        # Another window is another question.
        windows(index, places[:1], 60)
        assert len(server.requests) > asked
    asked = len(server.requests)
    with index_at(server.url, journal, refresh=True) as index:
        assert windows(index, places, 50) == first
        assert len(server.requests) >= asked + len(places)


def test_no_request_asks_for_more_than_is_documented(server: ApiServer, tmp_path: Path) -> None:
    with index_at(server.url, tmp_path / "j.sqlite") as index:
        windows(index, places_of(found(index, "ตัวอย่าง"), 5), index.longest_context)
    sent = [r.body["max_ctx_len"] for r in server.requests if "max_ctx_len" in r.body]
    assert max(sent) == 10_000


def test_faults_fail_alone_or_pass(tmp_path: Path) -> None:
    faults = Faults(seed=3, rate=0.2, kinds=("500", "drop", "error200"), fail_always=("key",))
    with (
        ApiServer(SHARDS, faults=faults) as server,
        index_at(server.url, tmp_path / "j.sqlite", clock=FakeClock()) as index,
    ):
        assert len(windows(index, places_of(found(index, "the"), 30), 200)) >= 30
        (failure,) = index.find(["key"])
        assert isinstance(failure, QueryFailure)
        assert isinstance(failure.error, RemoteUnavailable)


def test_a_window_that_can_t_be_had_is_a_failure_of_its_place(tmp_path: Path) -> None:
    """A rank out of range kills the worker that serves it: no answer, however often asked."""
    with (
        ApiServer(SHARDS) as server,
        index_at(server.url, tmp_path / "j.sqlite", clock=FakeClock()) as index,
    ):
        good = places_of(found(index, "the"), 3)[0]
        beyond = Place("the", 0, 10**9)
        assert isinstance(next(index.windows([good], 100)), Window)
        (reply,) = index.windows([beyond], 100)
        assert isinstance(reply, WindowFailure)
        assert reply.place == beyond
        assert "connection lost" in str(reply.error)


# A server whose windows are always cut: only the shifts that fit both ends are answered


@pytest.mark.parametrize("left", range(4))
@pytest.mark.parametrize("right", range(4))
def test_a_window_is_moved_until_it_cuts_no_character(
    tmp_path: Path, left: int, right: int
) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        moved = 100 - asked["max_ctx_len"]
        behind = asked["max_ctx_len"] + len(asked["query"]) - 100 - len("é".encode())
        if (moved, behind) != (left, right):
            words = "Failed to decode document text with UTF-8. This is likely because …"
            return httpx.Response(200, json={"error": words, "latency": 1.0})
        text = "a" * (100 - left) + "é" + "b" * (100 + right)
        shown = len(text.encode())
        return httpx.Response(200, json=reply(text, 100 - left, 900, shown))

    with (
        ApiClient("http://127.0.0.1:1/", ApiSettings(), Progress(),
                  transport=httpx.MockTransport(handle)) as client,
        Journal(tmp_path / "j.sqlite") as journal,
    ):  # fmt: skip
        index = ApiIndex("x", ["x"], IndexSize(), ApiAccess(client, journal, Progress()))
        (window,) = index.windows([Place("é", 0, 5)], 100)
    assert isinstance(window, Window)
    assert (window.offset, window.starts_document) == (100 - left, False)


def test_a_window_that_is_cut_wherever_it_is_asked_for_is_refused(tmp_path: Path) -> None:
    always = httpx.MockTransport(
        lambda _: httpx.Response(200, json={"error": "Failed to decode document text with UTF-8"})
    )
    with (
        ApiClient("http://127.0.0.1:1/", ApiSettings(), Progress(), transport=always) as client,
        Journal(tmp_path / "j.sqlite") as journal,
    ):
        index = ApiIndex("x", ["x"], IndexSize(), ApiAccess(client, journal, Progress()))
        (failure,) = index.windows([Place("é", 0, 5)], 100)
    assert isinstance(failure, WindowFailure)
    assert "Failed to decode" in str(failure.error)


# Replies that are none


def reply(text: str, offset: int, document_bytes: int, shown: int) -> dict[str, Any]:
    return {
        "doc_ix": 3,
        "doc_len": document_bytes,
        "disp_len": shown,
        "needle_offset": offset,
        "text": text,
        "metadata": "",
        "latency": 1.0,
    }


GOOD = reply("a key b", 2, 7, 7)
PLACE = Place("key", 0, 5)


def test_a_good_reply_is_read() -> None:
    window = read_window(GOOD, PLACE, 10, "http://h/")
    assert window == Window(PLACE, "3", 7, b"a key b", 2, True, "")
    assert not window.is_truncated


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"doc_ix": -1}, "no window in the reply"),
        ({"doc_ix": True}, "no window in the reply"),
        ({"doc_len": "7"}, "no window in the reply"),
        ({"text": None}, "no window in the reply"),
        ({"metadata": {}}, "no window in the reply"),
        ({"disp_len": 6}, "contradicting lengths"),
        ({"doc_len": 6}, "contradicting lengths"),
        ({"needle_offset": 2**64 - 1}, "no window in the reply"),
        ({"needle_offset": 2**40}, "contradicting lengths"),
        ({"text": "a key \ud800"}, "half a character"),
        ({"metadata": "\udfff"}, "half a character"),
        ({"needle_offset": 1}, "does not show 'key'"),
        ({"needle_offset": 5}, "does not show 'key'"),
        ({"text": "a kez b"}, "does not show 'key'"),
    ],
)
def test_a_window_of_something_else_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(RemoteRefused, match=words):
        read_window({**GOOD, **change}, PLACE, 10, "http://h/")


@pytest.mark.parametrize("missing", sorted(set(GOOD) - {"latency"}))
def test_a_window_without_a_field_is_refused(missing: str) -> None:
    with pytest.raises(RemoteRefused, match="no window in the reply"):
        read_window({k: v for k, v in GOOD.items() if k != missing}, PLACE, 10, "http://h/")


def test_a_document_that_begins_where_the_window_does_may_be_cut() -> None:
    shown = reply("a key b", 2, 90, 7)
    assert not read_window(shown, PLACE, 2, "http://h/").starts_document
    assert read_window(shown, PLACE, 3, "http://h/").starts_document
    assert read_window(GOOD, PLACE, 2, "http://h/").starts_document


@pytest.mark.parametrize("segments", [[], [[5, 5], [9, 9]], [[1, 1]]])
def test_no_occurrence_has_no_segment(segments: list[list[int]]) -> None:
    got = read_found({"cnt": 0, "segment_by_shard": segments}, "q", "http://h/")
    assert (got.segments, got.occurrences) == ((), 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"cnt": 2},
        {"cnt": 2, "segment_by_shard": [[0, 1]]},
        {"cnt": True, "segment_by_shard": [[3, 2]]},
        {"cnt": 1, "segment_by_shard": [[0, 1, 2]]},
        {"cnt": 1, "segment_by_shard": [[-1, 0]]},
        {"cnt": 1, "segment_by_shard": ["01"]},
        {"cnt": 1, "segment_by_shard": [[False, True]]},
        {"cnt": 1, "segment_by_shard": {"0": [0, 1]}},
    ],
)
def test_segments_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RemoteRefused, match="segments"):
        read_found(wrong, "q", "http://h/")
