"""Clients of hosts: what is asked again, how they slow down, and when a host is given up."""

import json
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from ngramscan.errors import InputError, NgramscanError, RemoteRefused, RemoteUnavailable
from ngramscan.indexes.base import (
    QueryCount,
    QueryFailure,
)
from ngramscan.indexes.http import client as http_client
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.progress import Progress
from tests.support.fake_clock import FakeClock
from tests.support.made_hosts import (
    URL,
    Answer,
    client_for,
    count,
    failure_of,
    html,
    in_turn,
    index_of,
    ok,
)
from tests.support.recorder import Recorder


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(httpx.Response(500, json={"error": "[Flask] busy"}), id="500"),
        pytest.param(html(502), id="502 with HTML"),
        pytest.param(httpx.Response(503), id="503 without a body"),
        pytest.param(httpx.Response(408), id="408"),
        pytest.param(ok(error="engine busy"), id="200 with an error"),
        pytest.param(html(200), id="200 with HTML"),
        pytest.param(httpx.Response(200, content=b'{"coun'), id="200 with half a body"),
        pytest.param(httpx.Response(200, json=[1]), id="200 with a list"),
        pytest.param(httpx.ReadTimeout("slow"), id="a timeout"),
        pytest.param(httpx.RemoteProtocolError("Server disconnected"), id="a lost connection"),
        pytest.param(httpx.ConnectError("refused"), id="no connection"),
    ],
)
def test_what_may_pass_is_asked_again(failure: Answer) -> None:
    clock = FakeClock()
    with client_for(in_turn(failure, failure, ok()), clock) as client:
        (got,) = count(client)
    assert isinstance(got, QueryCount)
    assert (got.occurrences, got.source) == (7, "api")
    assert len(clock.waits) == 2
    assert 0.5 <= clock.waits[0] <= 1.0 <= clock.waits[1] <= 1.5


def test_pauses_double_and_end_after_seven_attempts() -> None:
    clock, progress = FakeClock(), Recorder()
    handle = in_turn(httpx.Response(500, json={"error": "no\nluck"}))
    with client_for(handle, clock, progress=progress) as client:
        error = failure_of(client)
    assert isinstance(error, RemoteUnavailable)
    assert str(error) == f"{URL}: HTTP 500: no luck, after 7 attempts"
    # Up to half a second more than 0.5, 1, 2, 4, 8 and 16.
    assert clock.waits == pytest.approx([0.75, 1.25, 2.25, 4.25, 8.25, 16.25], rel=0, abs=0.25)
    assert re.fullmatch(rf"{URL}: HTTP 500: no luck; again in \d\.\d s", progress.details[1])


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


@pytest.mark.parametrize(
    ("status", "asked", "paused"),
    [
        pytest.param(403, {"Retry-After": "3"}, 3, id="403, 3 s"),
        pytest.param(429, {"Retry-After": "3"}, 3, id="429, 3 s"),
        pytest.param(403, {}, 60, id="403, no time"),
        pytest.param(429, {"Retry-After": "soon"}, 60, id="429, no number"),
        pytest.param(429, {"Retry-After": "-1"}, 60, id="429, a negative number"),
        pytest.param(503, {"Retry-After": "9"}, 9, id="503, 9 s"),
    ],
)
def test_pauses_are_as_long_as_the_host_asks(
    status: int, asked: dict[str, str], paused: int
) -> None:
    clock, slow = FakeClock(), html(status, **asked)
    with client_for(in_turn(slow, slow, ok()), clock) as client:
        assert isinstance(count(client)[0], QueryCount)
    assert [round(wait) for wait in clock.waits] == [paused, paused]


def test_a_host_may_name_the_time_until_which_it_is_not_to_be_asked() -> None:
    clock = FakeClock()
    slow = html(429, **{"Retry-After": formatdate(time.time() + 500, usegmt=True)})
    with client_for(in_turn(slow, ok()), clock) as client:
        assert isinstance(count(client)[0], QueryCount)
    assert 200 < clock.waits[0] <= 500  # the test itself may take a while


@pytest.mark.parametrize(
    ("status", "pause", "kind", "message"),
    [
        (403, "1", RemoteRefused, "403: an HTML page, also after pauses at the lowest rate"),
        (429, "1", RemoteUnavailable, "429: an HTML page, also after pauses at the lowest rate"),
        (429, "3600", RemoteUnavailable, "it says to retry in 3600 s"),
    ],
    ids=["403", "429", "429, an hour"],
)
def test_slowing_down_in_vain_ends_the_host_for_all_questions(
    status: int, pause: str, kind: type[NgramscanError], message: str
) -> None:
    with client_for(in_turn(html(status, **{"Retry-After": pause}))) as client:
        failures = count(client, *"abcdefghij")
    errors = [failure.error for failure in failures if isinstance(failure, QueryFailure)]
    assert [type(error) for error in errors] == [kind] * 10
    assert message in str(errors[0])


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


def test_a_host_in_trouble_is_given_up_after_one_question() -> None:
    asked = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(500)

    with client_for(handle) as client:
        failures = count(client, *map(str, range(50)))
    messages = {str(row.error) for row in failures if isinstance(row, QueryFailure)}
    assert (len(failures), messages) == (50, {f"{URL}: HTTP 500, after 7 attempts"})
    assert len(asked) <= 2 * 7 + 2


@pytest.mark.parametrize("hangs", [False, True], ids=["refused", "a look-up that hangs"])
def test_a_host_without_a_connection_is_given_up_with_one_line(
    monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    monkeypatch.setattr(http_client, "UNREACHABLE_AFTER_S", 0.3)
    release = threading.Event()

    def hang(_: httpx.Request) -> httpx.Response:
        release.wait(60)
        raise httpx.ConnectError("name look-up")

    transport = httpx.MockTransport(hang) if hangs else None
    options = IndexOptions(concurrency=2)
    url = "http://127.0.0.1:9/"
    with (
        Journal(None) as journal,
        ApiClient(url, options, journal, Progress(), transport=transport) as client,
    ):
        failures = count(client, *map(str, range(100)))
        release.set()
    messages = {str(row.error) for row in failures if isinstance(row, QueryFailure)}
    # If somebody had waited for the look-up, its error would be the reason.
    reason = "no connection" if hangs else "[Errno 111] Connection refused"
    hint = "is ngramscan serve running there?"
    assert (len(failures), messages) == (100, {f"{url}: can't be reached ({reason}; {hint})"})


def test_closing_wakes_threads_that_wait_for_a_pause_to_end() -> None:
    waiting = threading.Event()

    def forbid(_: httpx.Request) -> httpx.Response:
        waiting.set()
        return html(403)

    with Journal(None) as journal:
        transport = httpx.MockTransport(forbid)
        client = ApiClient(URL, IndexOptions(), journal, Progress(), transport=transport)
        stream = index_of(client).counts(["the"])
        assert waiting.wait(60)
        client.close()
        (failure,) = stream
    assert isinstance(failure, QueryFailure)
    assert "interrupted" in str(failure.error)


@pytest.mark.parametrize("url", ["foo", "ftp://h/", "http://", "https:///x", "http://[::1"])
def test_an_address_that_is_not_a_url_is_refused(url: str) -> None:
    with Journal(None) as journal, pytest.raises(InputError, match="not a URL"):
        ApiClient(url, IndexOptions(), journal, Progress())


def test_a_login_is_taken_out_of_the_address() -> None:
    split = http_client.split_login
    assert split("--api-url", "http://u:p%40@H:80/x?y") == ("http://h:80/x/", ("u", "p@"))
    assert split("--api-url", "https://[::1]/") == ("https://[::1]/", None)
    assert split("--index", "http://h//a///b") == ("http://h/a/b/", None)
    with pytest.raises(InputError) as error:
        split("--api-url", "ftp://u:secret@h/")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "rate", "waits"),
    [
        pytest.param("http://api.test/", None, [0.25, 0.25], id="elsewhere"),
        pytest.param(URL, None, [], id="on loopback"),
        pytest.param(URL, 2.0, [0.5, 0.5], id="on loopback, but given"),
        pytest.param("http://x/", 0, [], id="elsewhere, but none"),
    ],
)
def test_the_rate_is_four_but_none_on_loopback(
    url: str, rate: float | None, waits: list[float]
) -> None:
    clock, transport = FakeClock(), httpx.MockTransport(in_turn(ok()))
    options = IndexOptions(rate=rate, concurrency=1)
    with (
        Journal(None) as journal,
        ApiClient(url, options, journal, Progress(), clock, transport) as client,
    ):
        count(client, "a", "b", "c")
    assert clock.waits == waits
