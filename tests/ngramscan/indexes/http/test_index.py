"""Indexes of hosts: their spellings, what is kept of their answers, and windows."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ngramscan.indexes.base import (
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Window,
    WindowFailure,
)
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.index import ApiIndex
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.progress import Progress
from tests.support.fake_clock import FakeClock
from tests.support.made_hosts import (
    URL,
    Answer,
    client_for,
    count,
    html,
    in_turn,
    index_of,
    ok,
)
from tests.support.places import REPLAY
from tests.support.service import ApiServer

DOCS = REPLAY / "docs"
SHARDS = {"replay2": [DOCS / "a.jsonl", DOCS / "b.jsonl"]}
TEXTS = [
    json.loads(line)["text"]
    for file in SHARDS["replay2"]
    for line in file.read_text().split("\n")
    if line
]


@pytest.mark.parametrize(
    ("answer", "longest"),
    [
        pytest.param(ok(indexes=[{"name": "pile", "max_context": 70_000}]), 70_000, id="so much"),
        pytest.param(ok(indexes=[{"name": "pile", "max_context": "70000"}]), 10_000, id="a text"),
        pytest.param(ok(indexes=[{"name": "pile", "max_context": 2**80}]), 10_000, id="too much"),
        pytest.param(ok(indexes=[{"name": "other", "max_context": 70_000}]), 10_000, id="another"),
        pytest.param(ok(indexes="pile"), 10_000, id="no list"),
        pytest.param(ok(), 10_000, id="none"),
        pytest.param(html(404), 10_000, id="404"),
        pytest.param(httpx.Response(429, headers={"Retry-After": "9"}), 10_000, id="429"),
        pytest.param(httpx.ConnectError("refused"), 10_000, id="no connection"),
    ],
)
def test_a_host_that_lists_its_indexes_says_how_much_it_shows(
    tmp_path: Path, answer: Answer, longest: int
) -> None:
    clock = FakeClock()
    with client_for(in_turn(answer), clock, journal=tmp_path / "j") as client:
        assert index_of(client).longest_context == longest
        assert client.service.most_bytes == max(1_000_000, 40 * longest)
    with client_for(in_turn(html(404)), clock, journal=tmp_path / "j") as client:
        assert index_of(client).longest_context == longest  # as it said last
    assert clock.waits == []


# Spellings, and what is kept


def test_the_other_spelling_is_tried_and_remembered(tmp_path: Path) -> None:
    asked = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content)["index"])
        known = asked[-1] == "v2_x"
        return ok() if known else httpx.Response(400, json={"error": "[Flask] Invalid index: v2-x"})

    for refresh in (False, True):
        with client_for(
            handle, journal=tmp_path / "j.sqlite", concurrency=1, refresh=refresh
        ) as client:
            assert len(list(index_of(client, "v2-x", "v2_x").counts(["a", "b"]))) == 2
    assert asked == ["v2-x", "v2_x", "v2_x", "v2_x", "v2_x"]
    with client_for(handle) as client:
        (failure,) = index_of(client, "other", "none").counts(["a"])
    assert isinstance(failure, QueryFailure)
    assert "Invalid index" in str(failure.error)
    assert asked[5:] == ["other", "none"]


NOT_REPLIES = {
    "a list": "[]",
    "a text": '{"count": "7"}',
    "too many": '{"count": 10001}',
    "deep": "[" * 99_999,
    "cut": '{"coun',
    "a number": "7",
    "null": "null",
}


@pytest.mark.parametrize("kept", NOT_REPLIES.values(), ids=NOT_REPLIES)
def test_a_kept_reply_that_can_t_be_true_is_asked_for_again(tmp_path: Path, kept: str) -> None:
    journal = tmp_path / "j.sqlite"
    with Journal(journal) as damaged:
        request = json.dumps({"query_type": "count", "query": "the"}, sort_keys=True)
        damaged.put(URL, "pile", request, kept)
    sources = []
    for _ in range(2):
        with client_for(in_turn(ok()), journal=journal) as client:
            (got,) = count(client)
            assert isinstance(got, QueryCount)
            sources.append(got.source)
    assert sources == ["api", "journal"]


# Windows


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    with ApiServer(SHARDS) as server:
        yield server


@contextmanager
def open_index(server: ApiServer, journal: Path, **options: Any) -> Iterator[ApiIndex]:
    with (
        Journal(journal) as kept,
        ApiClient(server.url, IndexOptions(**options), kept, Progress(), FakeClock()) as client,
    ):
        yield ApiIndex("replay2", ["replay2"], IndexSize(), client)


def places_of(index: ApiIndex, query: str, most: int) -> list[Place]:
    (found,) = index.find([query])
    assert isinstance(found, Occurrences)
    ranks = [(s.shard, rank) for s in found.segments for rank in range(s.low, s.high)]
    assert len(ranks) == sum(text.startswith(query, n) for text in TEXTS for n in range(len(text)))
    return [Place(query, shard, rank) for shard, rank in ranks[:: max(1, len(ranks) // most)]]


def test_what_was_asked_is_not_asked_again(server: ApiServer, tmp_path: Path) -> None:
    def ask(context: int, **options: Any) -> tuple[list[Window | WindowFailure], set[str]]:
        """Return the windows in order, and the questions; one may be repeated if it takes long."""
        before = len(server.read_log())
        with open_index(server, tmp_path / "j.sqlite", **options) as index:
            windows = list(index.windows(places_of(index, "ภาษ", 8), context))
        log = [{**entry, "arrived_at": 0} for entry in server.read_log()[before:]]
        questions = {json.dumps(entry, sort_keys=True) for entry in log}
        return sorted(windows, key=lambda window: window.place.rank), questions

    first, asked = ask(50)
    assert len(asked) > len(first) > 1
    assert ask(50) == (first, set())
    assert len(ask(60)[1]) >= len(first)  # another window is another question
    assert ask(50, refresh=True) == (first, asked)


CUT = ok(error="Failed to decode document text with UTF-8. This is likely because …", latency=1.0)


def test_a_window_is_moved_until_it_cuts_no_character() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        left = 100 - asked["max_ctx_len"]
        right = asked["max_ctx_len"] + len(asked["query"]) - 100 - len("é".encode())
        if divmod(asked["rank"], 4) != (left, right):
            return CUT
        text = "a" * (100 - left) + "é" + "b" * (100 + right)
        shown = {"doc_ix": 3, "doc_len": 900, "disp_len": len(text.encode()), "text": text}
        return ok(**shown, needle_offset=100 - left, metadata="")

    places = [Place("é", 0, rank) for rank in range(17)]
    with client_for(handle) as client:
        replies = list(index_of(client).windows(places, 100))
    windows = [reply for reply in replies if isinstance(reply, Window)]
    shown = [(window.place.rank, window.offset, window.starts_document) for window in windows]
    assert sorted(shown) == [(rank, 100 - rank // 4, False) for rank in range(16)]
    (failure,) = [reply for reply in replies if isinstance(reply, WindowFailure)]
    assert failure.place.rank == 16  # cut wherever it is asked for
    assert "Failed to decode" in str(failure.error)
