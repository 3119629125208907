from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from ngramscan.errors import InputError, RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.indexes.base import ApiSettings
from ngramscan.indexes.http.client import ApiClient
from ngramscan.progress import Progress
from tests.support.fake_clock import FakeClock

URL = "http://127.0.0.1:1/"
QUESTION = {"index": "pile", "query_type": "count", "query": "the"}
Answer = httpx.Response | Exception


def html(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, html="<html><h1>No</h1></html>", headers=headers)


def client_for(
    answers: list[Answer] | Callable[[httpx.Request], httpx.Response],
    clock: FakeClock | None = None,
    progress: Progress | None = None,
    rate: float | None = None,
) -> ApiClient:
    """Return a client of a host that gives these answers in turn, the last one for ever."""
    lock = threading.Lock()

    def handle(request: httpx.Request) -> httpx.Response:
        if callable(answers):
            return answers(request)
        with lock:
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    return ApiClient(
        URL,
        ApiSettings(concurrency=2, rate=rate),
        progress or Progress(),
        transport=httpx.MockTransport(handle),
        clock=clock or FakeClock(),
    )


def ok(count: Any = 7) -> httpx.Response:
    return httpx.Response(200, json={"count": count, "latency": 1.0})


MAY_PASS = [
    pytest.param(httpx.Response(500, json={"error": "[Flask] busy"}), id="500"),
    pytest.param(html(502), id="502 with HTML"),
    pytest.param(httpx.Response(503), id="503 without a body"),
    pytest.param(html(504), id="504"),
    pytest.param(httpx.Response(408), id="408"),
    pytest.param(httpx.Response(200, json={"error": "engine busy"}), id="200 with an error"),
    pytest.param(html(200), id="200 with HTML"),
    pytest.param(httpx.Response(200, content=b'{"coun'), id="200 with half a body"),
    pytest.param(httpx.Response(200, json=[1]), id="200 with a list"),
    pytest.param(httpx.ReadTimeout("slow"), id="a timeout"),
    pytest.param(httpx.RemoteProtocolError("Server disconnected"), id="a lost connection"),
    pytest.param(httpx.ConnectError("refused"), id="no connection"),
]


@pytest.mark.parametrize("failure", MAY_PASS)
def test_what_may_pass_is_asked_again(failure: Answer) -> None:
    clock = FakeClock()
    with client_for([failure, failure, ok()], clock) as client:
        assert client.ask(QUESTION)["count"] == 7
    assert len(clock.waits) == 2
    assert 0.5 <= clock.waits[0] <= 1.0
    assert 1.0 <= clock.waits[1] <= 1.5


def test_pauses_double_up_to_half_a_minute_and_end_after_seven_attempts() -> None:
    clock = FakeClock()
    answer = httpx.Response(500, json={"error": "no\nluck"})
    with client_for([answer], clock) as client, pytest.raises(RemoteUnavailable) as error:
        client.ask(QUESTION)
    assert str(error.value) == f"{URL}: HTTP 500: no luck, after 7 attempts"
    for wait, least in zip(clock.waits, [0.5, 1, 2, 4, 8, 16], strict=True):
        assert least <= wait <= least + 0.5


def test_retry_after_lengthens_a_pause() -> None:
    clock = FakeClock()
    with client_for([html(503, **{"Retry-After": "9"}), ok()], clock) as client:
        client.ask(QUESTION)
    assert clock.waits == [9.0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(
            httpx.Response(400, json={"error": "[Flask] Invalid index: pile"}),
            "HTTP 400: [Flask] Invalid index: pile",
            id="400",
        ),
        pytest.param(html(404), "HTTP 404: an HTML page", id="404 with HTML"),
        pytest.param(html(415), "HTTP 415: an HTML page", id="415"),
        pytest.param(httpx.Response(301, headers={"Location": "/x"}), "HTTP 301", id="a redirect"),
        pytest.param(httpx.Response(501), "HTTP 501", id="501"),
    ],
)
def test_what_will_not_pass_is_asked_once(answer: httpx.Response, message: str) -> None:
    clock = FakeClock()
    with client_for([answer], clock) as client, pytest.raises(RemoteRefused) as error:
        client.ask(QUESTION)
    assert str(error.value) == f"{URL}: {message}"
    assert clock.waits == []


@pytest.mark.parametrize("status", [403, 429])
def test_slow_down_is_no_attempt(status: int) -> None:
    clock = FakeClock()
    answers: list[Answer] = [html(status, **{"Retry-After": "3"})] * 2
    with client_for([*answers, ok()], clock) as client:
        assert client.ask(QUESTION)["count"] == 7
    assert [round(wait) for wait in clock.waits] == [3, 3]


def test_without_retry_after_a_pause_lasts_a_minute() -> None:
    clock = FakeClock()
    with client_for([html(403), ok()], clock) as client:
        client.ask(QUESTION)
    assert [round(wait) for wait in clock.waits] == [60]


def test_retry_after_may_be_a_date() -> None:
    clock = FakeClock()
    date = formatdate(time.time() + 30, usegmt=True)
    with client_for([html(429, **{"Retry-After": date}), ok()], clock) as client:
        client.ask(QUESTION)
    assert 27 <= clock.waits[0] <= 30


@pytest.mark.parametrize("nonsense", ["soon", "-1", ""])
def test_a_retry_after_that_is_no_time_is_none(nonsense: str) -> None:
    clock = FakeClock()
    with client_for([html(429, **{"Retry-After": nonsense}), ok()], clock) as client:
        client.ask(QUESTION)
    assert [round(wait) for wait in clock.waits] == [60]


@pytest.mark.parametrize(("status", "kind"), [(403, RemoteRefused), (429, RemoteUnavailable)])
def test_slow_down_at_the_lowest_rate_ends_the_host_for_all_questions(
    status: int, kind: type[RemoteError]
) -> None:
    clock = FakeClock()
    with client_for([html(status, **{"Retry-After": "1"})], clock) as client:
        futures = [client.submit(lambda: client.ask(QUESTION)) for _ in range(10)]
        errors = [future.exception(timeout=10) for future in futures]
    assert {type(error) for error in errors} == {kind}
    assert f"HTTP {status}: an HTML page, also after pauses at the lowest rate" in str(errors[0])


def test_a_pause_of_hours_is_not_waited_for() -> None:
    answer = html(429, **{"Retry-After": "3600"})
    with client_for([answer]) as client, pytest.raises(RemoteUnavailable) as error:
        client.ask(QUESTION)
    assert "it asks to come back in 3600 s" in str(error.value)


def test_one_question_that_is_always_forbidden_ends_alone() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content)["query"] == "DROP TABLE":
            return html(403, **{"Retry-After": "0"})
        return ok()

    with client_for(handle) as client:
        forbidden = client.submit(lambda: client.ask({**QUESTION, "query": "DROP TABLE"}))
        while not forbidden.done():
            assert client.submit(lambda: client.ask(QUESTION)).result(10)["count"] == 7
        with pytest.raises(RemoteError, match="HTTP 403"):
            forbidden.result()


def test_a_question_without_luck_ends_alone_while_others_are_answered() -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if json.loads(request.content)["query"] == "crash":
            time.sleep(0.01)  # so that others are answered meanwhile
            return httpx.Response(500, json={"error": "engine crashed"})
        return ok()

    with client_for(handle) as client:
        crashing = client.submit(lambda: client.ask({**QUESTION, "query": "crash"}))
        while not crashing.done():
            assert client.submit(lambda: client.ask(QUESTION)).result(10)["count"] == 7
        with pytest.raises(RemoteUnavailable, match="engine crashed, after 7 attempts"):
            crashing.result()
        assert client.submit(lambda: client.ask(QUESTION)).result(10)["count"] == 7


def test_a_host_in_trouble_is_given_up_after_one_question() -> None:
    asked = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(500)

    with client_for(handle) as client:
        futures = [client.submit(lambda: client.ask(QUESTION)) for _ in range(50)]
        errors = {str(future.exception(timeout=10)) for future in futures}
    assert errors == {f"{URL}: HTTP 500, after 7 attempts"}
    assert len(asked) <= 2 * 7 + 2


def test_a_host_without_a_connection_is_given_up_in_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ngramscan.indexes.http.client.UNREACHABLE_AFTER_S", 0.3)
    client = ApiClient("http://127.0.0.1:9/", ApiSettings(), Progress())
    with client:
        started_at = time.perf_counter()
        futures = [client.submit(lambda: client.ask(QUESTION)) for _ in range(100)]
        errors = [future.exception(timeout=5) for future in futures]
        assert time.perf_counter() - started_at < 2
    assert {type(error) for error in errors} == {RemoteUnavailable}
    assert {str(error) for error in errors} == {
        "http://127.0.0.1:9/: can't be reached ([Errno 111] Connection refused)"
    }


def test_even_a_look_up_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ngramscan.indexes.http.client.UNREACHABLE_AFTER_S", 0.2)
    release = threading.Event()

    def hang(_: httpx.Request) -> httpx.Response:
        release.wait(10)
        raise httpx.ConnectError("name look-up")

    with client_for(hang) as client:
        future = client.submit(lambda: client.ask(QUESTION))
        with pytest.raises(RemoteUnavailable, match=r"can't be reached \(no connection\)"):
            future.result(timeout=5)
        release.set()


def test_closing_wakes_who_waits() -> None:
    client = ApiClient(
        URL,
        ApiSettings(),
        Progress(),
        transport=httpx.MockTransport(lambda _: html(403)),
    )
    future = client.submit(lambda: client.ask(QUESTION))
    time.sleep(0.2)  # the thread clock.waits for a minute now
    started_at = time.perf_counter()
    client.close()
    with pytest.raises(RemoteUnavailable, match="interrupted"):
        future.result(timeout=5)
    assert time.perf_counter() - started_at < 1


def test_errors_of_the_work_reach_who_asked() -> None:
    def fail() -> None:
        raise ValueError("mine")

    with client_for([ok()]) as client:
        with pytest.raises(ValueError, match="mine"):
            client.submit(fail).result(5)
        assert client.submit(lambda: client.ask(QUESTION)).result(5)["count"] == 7


@pytest.mark.parametrize("url", ["foo", "ftp://h/", "http://", "https:///x"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="not a URL"):
        ApiClient(url, ApiSettings(), Progress())


def test_the_rate_is_four_but_none_on_loopback() -> None:
    assert ApiSettings().rate_for("api.infini-gram-mini.io") == 4.0
    assert ApiSettings().rate_for("127.0.0.1") == 0.0
    assert ApiSettings(rate=2.5).rate_for("localhost") == 2.5


def test_retries_are_told_to_who_wants_details() -> None:
    class Details(Progress):
        def __init__(self) -> None:
            self.told: list[str] = []

        def detail(self, text: str) -> None:
            self.told.append(text)

    progress = Details()
    with client_for([html(502), ok()], progress=progress) as client:
        client.ask(QUESTION)
    assert re.fullmatch(rf"{URL}: HTTP 502: an HTML page; again in \d\.\d s", progress.told[0])
