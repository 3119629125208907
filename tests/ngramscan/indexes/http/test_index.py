"""Hosts of the infini-gram-mini protocol: what is asked again, given up, and kept."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ngramscan.errors import InputError, NgramscanError, RemoteRefused
from ngramscan.indexes.base import (
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Window,
    WindowFailure,
)
from ngramscan.indexes.http import client as http_client
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.index import ApiIndex
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.progress import Progress
from tests.support.fake_clock import FakeClock
from tests.support.places import REPLAY
from tests.support.service import ApiServer

URL = "http://127.0.0.1:1/"
DOCS = REPLAY / "docs"
SHARDS = {"replay2": [DOCS / "a.jsonl", DOCS / "b.jsonl"]}
TEXTS = [
    json.loads(line)["text"]
    for file in SHARDS["replay2"]
    for line in file.read_text().split("\n")
    if line
]
Answer = httpx.Response | Exception
Handler = Callable[[httpx.Request], httpx.Response]


def html(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, html="<html><h1>No</h1></html>", headers=headers)


def ok(**fields: Any) -> httpx.Response:
    return httpx.Response(200, json=fields or {"count": 7, "latency": 1.0})


def in_turn(*answers: Answer) -> Handler:
    """Give these answers in turn, the last one for ever."""
    left, lock = list(answers), threading.Lock()

    def handle(_: httpx.Request) -> httpx.Response:
        with lock:
            answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    return handle


@contextmanager
def client_for(
    handle: Handler, clock: FakeClock | None = None, journal: Path | None = None, **options: Any
) -> Iterator[ApiClient]:
    given = IndexOptions(**{"concurrency": 2, **options})
    transport = httpx.MockTransport(handle)
    with (
        Journal(journal) as kept,
        ApiClient(URL, given, kept, Progress(), clock or FakeClock(), transport) as client,
    ):
        yield client


def index_of(client: ApiClient, *spellings: str) -> ApiIndex:
    return ApiIndex("pile", spellings or ["pile"], IndexSize(bytes=10_000), client)


def count(client: ApiClient, *queries: str) -> list[QueryCount | QueryFailure]:
    return list(index_of(client).counts(queries or ["the"]))


def failure_of(client: ApiClient, *queries: str) -> NgramscanError:
    failure = count(client, *queries)[0]
    assert isinstance(failure, QueryFailure)
    return failure.error


# What is asked again


@pytest.mark.parametrize(
    ("response", "message"),
    [
        pytest.param(
            {"status_code": 400, "json": {"error": "[Flask] bad"}}, "400: [Flask] bad", id="400"
        ),
        pytest.param(
            {"status_code": 404, "html": "<html><h1>No</h1></html>"},
            "404: an HTML page",
            id="404 with HTML",
        ),
        pytest.param({"status_code": 301, "headers": {"Location": "/x"}}, "301", id="a redirect"),
        pytest.param({"status_code": 501}, "501", id="501"),
    ],
)
def test_what_will_not_pass_is_asked_once(response: dict[str, Any], message: str) -> None:
    clock = FakeClock()
    with client_for(in_turn(httpx.Response(**response)), clock) as client:
        error = failure_of(client)
    assert isinstance(error, RemoteRefused)
    assert (str(error), clock.waits) == (f"{URL}: HTTP {message}", [])


# Slowing down


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda: html(403, **{"Retry-After": "0"}), "HTTP 403"),
        (lambda: httpx.Response(500, json={"error": "crashed"}), "crashed, after 7 attempts"),
    ],
)
def test_one_question_without_luck_ends_alone_while_others_are_answered(
    answer: Callable[[], httpx.Response], message: str
) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content)["query"] != "crash":
            return ok()
        time.sleep(0.01)  # so that others are answered meanwhile
        return answer()

    with client_for(handle) as client, ThreadPoolExecutor(1) as pool:
        crashing = pool.submit(failure_of, client, "crash")
        number = 0
        while not crashing.done():
            assert isinstance(count(client, f"fine {(number := number + 1)}")[0], QueryCount)
    assert message in str(crashing.result())


# A host that is given up


def test_a_login_is_taken_out_of_the_address() -> None:
    split = http_client.split_login
    assert split("--api-url", "http://u:p%40@H:80/x?y") == ("http://h:80/x/", ("u", "p@"))
    assert split("--api-url", "https://[::1]/") == ("https://[::1]/", None)
    assert split("--index", "http://h//a///b") == ("http://h/a/b/", None)
    with pytest.raises(InputError) as error:
        split("--api-url", "ftp://u:secret@h/")
    assert "secret" not in str(error.value)


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


NOT_REPLIES = ["[]", '{"count": "7"}', '{"count": 10001}', "[" * 99_999, '{"coun', "7", "null"]


@pytest.mark.parametrize("kept", NOT_REPLIES)
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
    given = IndexOptions(**options)
    with (
        Journal(journal) as kept,
        ApiClient(server.url, given, kept, Progress(), FakeClock()) as client,
    ):
        yield ApiIndex("replay2", ["replay2"], IndexSize(), client)


def places_of(index: ApiIndex, query: str, most: int) -> list[Place]:
    (found,) = index.find([query])
    assert isinstance(found, Occurrences)
    ranks = [(s.shard, rank) for s in found.segments for rank in range(s.low, s.high)]
    assert len(ranks) == sum(text.startswith(query, n) for text in TEXTS for n in range(len(text)))
    return [Place(query, *each) for each in ranks[:: max(1, len(ranks) // most)]]


def test_what_was_asked_is_not_asked_again(server: ApiServer, tmp_path: Path) -> None:
    def ask(context: int, **options: Any) -> tuple[list[Window | WindowFailure], set[str]]:
        """Return the windows in order, and the questions; one may be repeated if it takes long."""
        before = len(server.read_log())
        with open_index(server, tmp_path / "j.sqlite", **options) as index:
            windows = list(index.windows(places_of(index, "ภาษ", 8), context))
        log = [{**one, "arrived_at": 0} for one in server.read_log()[before:]]
        questions = {json.dumps(one, sort_keys=True) for one in log}
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
    assert sorted(window.place.rank for window in windows) == list(range(16))
    for window in windows:
        assert (window.offset, window.starts_document) == (100 - window.place.rank // 4, False)
    (failure,) = [reply for reply in replies if isinstance(reply, WindowFailure)]
    assert failure.place.rank == 16  # cut wherever it is asked for
    assert "Failed to decode" in str(failure.error)
