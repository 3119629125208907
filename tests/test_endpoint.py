from __future__ import annotations

import io
import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpcore
import httpx
import pytest

from evalcore.endpoint import (
    ApiKey,
    Question,
    ask_all,
    open_endpoint,
    read_key,
    request_parameters,
)
from evalcore.records import Record
from ngramscan.errors import InputError, RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.pace import Pace
from ngramscan.progress import Silent
from tests.chat_server import Faults, chat_server
from tests.fake_clock import FakeClock

BASE = "http://127.0.0.1:1/v1"
URL = f"{BASE}/chat/completions"
MESSAGES = [{"role": "user", "content": "2 + 2?"}]
BLANK = Record(id="1", dataset="sums", model="lab/made-1", method="cot", output=None)
QUESTION = Question(BLANK, MESSAGES)
SECRET = "sk-made-up-9f8e7d6c5b4a"
NO_KEY = ApiKey()
Answer = httpx.Response | Exception
Ask = Callable[[Question], Record]


def ok(message: dict[str, Any] | None = None, **fields: Any) -> httpx.Response:
    choice = {"message": message or {"content": "4"}, "finish_reason": "stop"}
    return httpx.Response(200, json={"choices": [choice], **fields})


@contextmanager
def asking(
    answers: list[Answer] | Callable[[httpx.Request], httpx.Response],
    clock: FakeClock | None = None,
    key: str = "",
    **options: Any,
) -> Iterator[Ask]:
    """Lend an endpoint that gives these answers in turn, the last one for ever."""

    def handle(request: httpx.Request) -> httpx.Response:
        if callable(answers):
            return answers(request)
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    options |= {"transport": httpx.MockTransport(handle), "clock": clock or FakeClock()}
    with open_endpoint(BASE, ApiKey(key), **options) as ask:
        yield ask


def ask_once(*answers: Answer, clock: FakeClock | None = None) -> Record:
    with asking(list(answers), clock) as ask:
        return ask(QUESTION)


# Requests


def test_a_request_has_the_messages_and_all_parameters() -> None:
    parameters = request_parameters(0.0, 512, ["seed=7", 'stop=["\\n"]', "reasoning_effort=low"])
    with chat_server() as server, open_endpoint(server.url + "/", ApiKey(SECRET)) as ask:
        record = ask(Question(replace(BLANK, parameters=parameters), MESSAGES))
    sent = {"temperature": 0.0, "max_tokens": 512, "seed": 7, "stop": ["\n"]}
    sent |= {"model": "lab/made-1", "messages": MESSAGES, "reasoning_effort": "low"}
    assert server.seen.bodies == [sent]
    assert server.seen.keys == [f"Bearer {SECRET}"]
    assert (record.id, record.output, record.attempts) == ("1", "You said: 2 + 2?", 1)
    assert record.reported_model == "lab/made-1-0125"
    assert (record.prompt_tokens, record.completion_tokens, record.reasoning_tokens) == (3, 5, 0)
    assert record.asked_at is not None
    assert record.asked_at.endswith("+00:00")
    assert record.latency_s is not None
    assert 0 <= record.latency_s < 5


def test_null_leaves_a_parameter_out_and_an_extra_wins() -> None:
    assert request_parameters(0.0, 9, ["temperature=null", "max_tokens=5", "top_p=NaN"]) == {
        "max_tokens": 5,
        "top_p": "NaN",
    }


@pytest.mark.parametrize("extra", ["seed", "=1", "model=x", "n=2", "api_key=x"])
def test_a_parameter_that_is_none_is_refused(extra: str) -> None:
    with pytest.raises(InputError, match="--param"):
        request_parameters(0.0, None, [extra])


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("localhost:8000/v1", id="no scheme"),
        pytest.param("ftp://host/v1", id="another protocol"),
        pytest.param("http://", id="no host"),
        pytest.param(f"https://user:{SECRET}@host/v1", id="a password"),
        pytest.param(f"https://host/v1?key={SECRET}", id="a key in the query"),
    ],
)
def test_an_unusable_base_url_is_refused_without_showing_a_secret(url: str) -> None:
    with pytest.raises(InputError, match="--base-url") as caught, open_endpoint(url, NO_KEY):
        pass
    assert SECRET not in str(caught.value)


def test_half_a_character_in_a_prompt_can_be_sent() -> None:
    messages = [{"role": "user", "content": "\ud83d"}]
    with chat_server(lambda _: "yes") as server, open_endpoint(server.url, NO_KEY) as ask:
        assert ask(Question(BLANK, messages)).output == "yes"
    assert server.seen.bodies[0]["messages"] == messages


# Replies


REASONED = {"output": "4", "reasoning": "2 and 2"}
TEXT, THOUGHT = {"type": "text", "text": "4"}, {"type": "thinking", "thinking": "hm"}
READ: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a text": ({"content": "4"}, {"output": "4"}),
    "an empty text is a text": ({"content": ""}, {"output": ""}),
    "no text": ({"content": None}, {}),
    "reasoning": ({"content": "4", "reasoning": "2 and 2"}, REASONED),
    "reasoning_content": ({"content": "4", "reasoning_content": "2 and 2"}, REASONED),
    "parts of text": ({"content": [TEXT, {"type": "output_text", "text": "2"}]}, {"output": "42"}),
    "parts of thinking are no answer": ({"content": [THOUGHT, TEXT]}, {"output": "4"}),
    "a refusal": ({"content": None, "refusal": "I can't."}, {"refusal": "I can't."}),
    "in a part": ({"content": [{"type": "refusal", "refusal": "No."}]}, {"refusal": "No."}),
    "half a character": ({"content": "a\ud83db"}, {"output": "a\ufffdb"}),
}


@pytest.mark.parametrize(("message", "expected"), READ.values(), ids=READ)
def test_a_message_is_read(message: dict[str, Any], expected: dict[str, Any]) -> None:
    content = {"choices": [{"message": message, "finish_reason": "stop"}]}
    reply = ask_once(httpx.Response(200, content=json.dumps(content).encode()))
    found = {"output": reply.output, "reasoning": reply.reasoning, "refusal": reply.refusal}
    assert found == {"output": None, "reasoning": None, "refusal": None} | expected


def test_what_a_filter_let_pass_of_an_answer_is_no_output() -> None:
    choice = {"message": {"content": "The first st"}, "finish_reason": "content_filter"}
    reply = ask_once(httpx.Response(200, json={"choices": [choice]}))
    assert (reply.output, reply.refusal) == (None, "content_filter")


def test_token_counts_are_those_of_the_server_or_unknown() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    reply = ask_once(ok(usage=usage))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.reasoning_tokens) == (10, 7, 5)
    odd_ones: list[Any] = [None, [], {"prompt_tokens": None, "completion_tokens": "7"}]
    for odd in odd_ones:
        reply = ask_once(ok(usage=odd))
        assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


def test_an_answer_of_pictures_is_refused() -> None:
    with pytest.raises(RemoteRefused, match="a part of the answer is no text"):
        ask_once(ok({"content": [{"type": "image_url", "image_url": {}}]}))


# Failures


BROKEN = {"choices": [{"message": {"content": "a"}, "finish_reason": "error"}]}
NO_OBJECT = "HTTP 200, but no JSON object"
MAY_PASS: dict[str, tuple[Answer, str]] = {
    "502": (httpx.Response(502, html="<h1>Bad</h1>"), "HTTP 502: an HTML page"),
    "529": (httpx.Response(529), "HTTP 529"),
    "408": (httpx.Response(408), "HTTP 408"),
    "an error": (httpx.Response(200, json={"error": {"message": "no"}}), "with an error: no"),
    "no choices": (httpx.Response(200, json={"choices": []}), "no answer in it"),
    "no message": (httpx.Response(200, json={"choices": [{}]}), "no answer in it"),
    "broken off": (httpx.Response(200, json=BROKEN), "broken off: no reason given"),
    "a number": (ok({"content": 4}), "the answer is no text"),
    "tokens": (ok(usage={"prompt_tokens": -1}), "prompt_tokens can't be true"),
    "HTML": (httpx.Response(200, html="<html>"), f"{NO_OBJECT}: an HTML page"),
    "half a body": (httpx.Response(200, content=b'{"choi'), NO_OBJECT),
    "endless nesting": (httpx.Response(200, content=b"[" * 100_000), NO_OBJECT),
    "a list": (httpx.Response(200, content=b"[1]"), NO_OBJECT),
    "a timeout": (httpx.ReadTimeout("slow"), "no answer in 600 s"),
    "a lost connection": (httpx.RemoteProtocolError("gone"), "connection lost (gone)"),
    "no connection": (httpx.ConnectError("refused"), "no connection (refused)"),
}


@pytest.mark.parametrize(("failure", "words"), MAY_PASS.values(), ids=MAY_PASS)
def test_what_may_pass_is_asked_again_after_growing_pauses(failure: Answer, words: str) -> None:
    clock = FakeClock()
    answers = [ok(), *[failure] * 2, ok(), failure]
    with asking(answers, clock) as ask:
        ask(QUESTION)
        record = ask(QUESTION)
        assert (record.output, record.attempts) == ("4", 3)
        with pytest.raises(RemoteUnavailable) as caught:
            ask(QUESTION)
    assert clock.waits == [0.5, 1.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert str(caught.value).startswith(f"{URL}: ")
    assert words in str(caught.value)
    assert str(caught.value).endswith(", after 7 attempts")


def test_where_nobody_ever_answered_fewer_attempts_are_made() -> None:
    clock = FakeClock()
    with asking([httpx.ConnectError("refused")], clock) as ask:
        for _ in range(2):
            with pytest.raises(RemoteUnavailable, match=r"no connection \(refused\), after 4 att"):
                ask(QUESTION)
    assert len(clock.waits) == 3, "the next question is not even asked"


def test_a_question_that_always_fails_ends_nothing_while_others_are_answered() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(500) if b"hard" in request.content else ok()

    with asking(answer) as ask:
        for _ in range(5):
            with pytest.raises(RemoteUnavailable):
                ask(Question(BLANK, [{"role": "user", "content": "hard"}]))
            assert ask(QUESTION).output == "4"


def test_an_endpoint_that_answers_no_question_any_more_is_given_up() -> None:
    clock = FakeClock()
    with asking([ok(), httpx.Response(500)], clock) as ask:
        ask(QUESTION)
        for _ in range(8):
            with pytest.raises(RemoteUnavailable, match="HTTP 500, after 7 attempts"):
                ask(QUESTION)
    assert len(clock.waits) == 3 * 6


@pytest.mark.parametrize(("retry_after", "wait"), [("7", 7.0), ("0.25", 0.5), ("99999", 600.0)])
def test_a_server_in_trouble_names_the_pause(retry_after: str, wait: float) -> None:
    clock = FakeClock()
    ask_once(httpx.Response(503, headers={"Retry-After": retry_after}), ok(), clock=clock)
    assert clock.waits == [wait]


REFUSALS = {
    400: ("temperature is not supported; .*--param", 2),
    422: ("--param", 2),
    403: ("HTTP 403: temperature", 2),
    401: ("--api-key-env", 1),
    402: ("HTTP 402", 1),
    404: ("is the base URL right", 1),
    301: ("not followed", 1),
}


@pytest.mark.parametrize("status", REFUSALS)
def test_a_refusal_is_told_in_one_line_and_one_of_everything_ends_the_asking(
    status: int,
) -> None:
    words, asked = REFUSALS[status]
    clock, requests = FakeClock(), []
    said = {"error": {"message": "temperature is\nnot supported"}}

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(status, json=said, headers={"Location": "http://elsewhere.example/"})

    with asking(answer, clock) as ask:
        for _ in range(2):
            with pytest.raises(RemoteRefused, match=words) as caught:
                ask(QUESTION)
    assert str(caught.value).startswith(f"{URL}: HTTP {status}: temperature is not")
    assert "\n" not in str(caught.value)
    assert (clock.waits, len(requests)) == ([], asked)


# Slowing down


def too_many(retry_after: str | None = None) -> httpx.Response:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return httpx.Response(429, json={"error": {"message": "slow down"}}, headers=headers)


def test_429_pauses_as_long_as_the_server_asks_and_longer_while_nothing_is_answered() -> None:
    clock = FakeClock()
    answers = [too_many("20"), too_many("0"), too_many(), too_many(), ok()]
    assert ask_once(*answers, clock=clock).attempts == 5
    assert clock.waits == [20.0, 1.0, 2.0, 4.0]


def test_429_for_ever_ends_the_run() -> None:
    clock = FakeClock()
    with pytest.raises(RemoteUnavailable, match="HTTP 429: slow down, also after long pauses"):
        ask_once(too_many("0"), clock=clock)
    assert sum(clock.waits) > 60, "limits per minute have passed by then"


def test_a_pause_of_hours_ends_the_run() -> None:
    with pytest.raises(RemoteUnavailable, match="; it asks to come back in 7200 s"):
        ask_once(too_many("7200"), ok())


def test_429_because_nothing_is_left_to_spend_ends_the_run() -> None:
    error = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    with pytest.raises(RemoteRefused, match="exceeded your quota"):
        ask_once(httpx.Response(429, json=error), ok())


def test_a_pause_holds_for_all_requests_and_is_shown() -> None:
    clock = FakeClock()
    notes: list[str] = []
    pace = Pace(None, clock, notes.append)
    first, second = pace.acquire(), pace.acquire()
    assert not pace.slow_down(first, 5.0, "HTTP 429")
    assert not pace.slow_down(second, 8.0, "HTTP 429"), (
        "sent before the pause: only makes it longer"
    )
    pace.acquire()
    assert clock.waits == [8.0]
    assert notes == ["paused 5 s: the server answers HTTP 429", ""]


def test_closing_ends_a_pause_at_once_and_nothing_is_asked_any_more() -> None:
    errors: list[str] = []

    def work() -> None:
        with pytest.raises(RemoteUnavailable) as caught:
            ask(QUESTION)
        errors.append(str(caught.value))

    transport = httpx.MockTransport(lambda _: too_many("500"))
    with open_endpoint(BASE, NO_KEY, transport=transport) as ask:
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.1)
    thread.join(timeout=5)
    work()
    assert errors == ["interrupted", f"{URL}: interrupted"]


def test_a_stall_on_a_real_connection_is_a_timeout() -> None:
    clock = FakeClock()
    with (
        chat_server(faults=Faults(stall=1.0, stall_s=0.6)) as server,
        open_endpoint(server.url, NO_KEY, timeout_s=0.1, clock=clock) as ask,
        pytest.raises(RemoteUnavailable, match=r"no answer in 0.1 s, after 7"),
    ):
        ask(QUESTION)


def test_what_is_no_error_of_the_endpoint_is_not_hidden() -> None:
    with asking([ZeroDivisionError()]) as ask, pytest.raises(ZeroDivisionError):
        list(ask_all(ask, iter([QUESTION] * 3), 2))


# The key


# The key


def test_a_key_is_read_from_its_variable_or_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADE_KEY", f" {SECRET}\n")
    assert read_key("MADE_KEY") == SECRET
    monkeypatch.delenv("MADE_KEY")
    assert not read_key("MADE_KEY")
    with chat_server() as server, open_endpoint(server.url, read_key("MADE_KEY")) as ask:
        ask(QUESTION)
    assert server.seen.keys == [None]


@pytest.mark.parametrize("secret", [f"{SECRET}\n{SECRET}", f"a {SECRET}", f"{SECRET}é"])
def test_what_can_be_no_key_is_refused_unseen(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setenv("MADE_KEY", secret)
    with pytest.raises(InputError, match="MADE_KEY") as caught:
        read_key("MADE_KEY")
    assert SECRET not in str(caught.value)


def test_a_placeholder_for_a_key_is_not_taken_out_of_answers() -> None:
    with asking([ok({"content": "The set is EMPTY."})], key="EMPTY") as ask:
        assert ask(QUESTION).output == "The set is EMPTY."


class Listener(Silent):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)

    def detail(self, text: str) -> None:
        self.said.append(text)


REPEATED: dict[str, Answer] = {
    "an answer": ok({"content": f"{SECRET}", "reasoning": SECRET}),
    "a refusal to answer": ok({"content": None, "refusal": SECRET}),
    "the name of the model": ok(model=SECRET),
    "a 401": httpx.Response(401, json={"error": {"message": f"wrong key {SECRET}"}}),
    "a 400": httpx.Response(400, json={"error": SECRET}),
    "500s": httpx.Response(500, json={"error": SECRET}),
    "429s": httpx.Response(429, json={"error": SECRET}),
    "no connection": httpx.ConnectError(f"no {SECRET}"),
    "a lost connection": httpx.RemoteProtocolError(f"no {SECRET}"),
}


@pytest.mark.parametrize("answer", REPEATED.values(), ids=REPEATED)
def test_a_server_that_repeats_the_key_shows_it_to_nobody(answer: Answer) -> None:
    listener = Listener()
    with asking([answer], key=SECRET, progress=listener) as ask:
        try:
            shown = repr(ask(QUESTION))
        except RemoteError as error:
            shown = f"{error!r} {error}"
    assert SECRET not in shown
    assert SECRET not in " ".join(listener.said)
    assert "[key]" in shown


def test_the_key_shows_in_no_log_repr_or_traceback() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    shown: list[str] = []
    try:
        with chat_server(faults=Faults(dropped=1.0)) as server:
            try:
                with open_endpoint(server.url, ApiKey(SECRET), clock=FakeClock()) as ask:
                    shown += [repr(ask), repr(ApiKey(SECRET))]
                    ask(QUESTION)
            except RemoteError as error:
                shown.append("".join(traceback.format_exception(error)))
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert server.seen.keys[0] == f"Bearer {SECRET}"
    assert "connection lost" in shown[-1]
    assert "send_request_headers" in stream.getvalue(), "the libraries told all they tell"
    assert SECRET not in "".join(shown) + stream.getvalue()


class Stuck(httpcore.NetworkStream):
    """A connection that takes no bytes."""

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        raise httpcore.WriteTimeout("full")

    def close(self) -> None:
        pass

    def get_extra_info(self, info: str) -> None:
        return None


class StuckNetwork(httpcore.NetworkBackend):
    def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
        return Stuck()


def test_the_key_shows_in_no_traceback_with_local_variables() -> None:
    transport = httpx.HTTPTransport()
    transport._pool = httpcore.ConnectionPool(network_backend=StuckNetwork())
    options: dict[str, Any] = {"transport": transport, "clock": FakeClock()}
    with (
        pytest.raises(RemoteUnavailable) as caught,
        open_endpoint(BASE, ApiKey(SECRET), **options) as ask,
    ):
        ask(QUESTION)
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    text = "".join(told.format())
    assert "httpcore.WriteTimeout: full" in text
    assert SECRET not in text
