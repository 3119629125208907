import logging
import re
import traceback
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import Mock, create_autospec

import httpcore
import httpx
import pytest

from evalcore.endpoint import ApiKey, PromptRequest, ask_all, open_endpoint, read_key
from evalcore.endpoint import request_parameters as parameters_of
from ngramscan.errors import InputError, RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.progress import Progress
from tests.support.chat_server import chat_server
from tests.support.fake_clock import FakeClock
from tests.support.mocked_chat import BASE, BLANK, QUESTION, URL, asking, ok

SECRET = "sk-made-up-9f8e7d6c5b4a"
SAID = {"error": {"message": "temperature is\nnot supported", "code": ""}}
Answer = httpx.Response | Exception


def test_a_request_has_the_messages_and_all_parameters() -> None:
    parameters = parameters_of(0.0, 512, ["seed=7", 'stop=["\\n"]', "reasoning_effort=low"])
    messages = [{"role": "user", "content": "2 \ud83d 2?"}]
    with chat_server(lambda _: "yes") as server, open_endpoint(server.url, ApiKey(SECRET)) as ask:
        record = ask(PromptRequest(replace(BLANK, parameters=parameters), messages))
    sent = {"temperature": 0.0, "max_tokens": 512, "seed": 7, "stop": ["\n"]}
    sent |= {"model": "lab/made-1", "messages": messages, "reasoning_effort": "low"}
    assert (server.seen.bodies, server.seen.keys) == ([sent], [f"Bearer {SECRET}"])
    known = {"id": "1", "output": "yes", "attempts": 1, "reported_model": "lab/made-1-0125"}
    known |= {"prompt_tokens": 3, "completion_tokens": 1, "reasoning_tokens": 0}
    assert {name: getattr(record, name) for name in known} == known
    assert (record.asked_at or "").endswith("+00:00")
    assert 0 <= (-1 if record.latency_s is None else record.latency_s) < 5
    won = parameters_of(0.0, 9, ["temperature=null", "max_tokens=5", "top_p=NaN"])
    assert won == {"max_tokens": 5, "top_p": "NaN"}, "null leaves one out, and extras win"


def address(url: str) -> None:
    open_endpoint(url, ApiKey()).__enter__()


@pytest.mark.parametrize(
    ("call", "value", "problem"),
    [
        pytest.param(
            "parameters",
            ["seed"],
            "--params seed: expected KEY=VALUE",
            id="an option without a value",
        ),
        pytest.param(
            "parameters",
            ["model=x"],
            "'model' can't be set this way",
            id="an option of the request",
        ),
        pytest.param(
            "parameters",
            [f"api_key={SECRET}"],
            "^--params api_key: outputs would keep the secret; ",
            id="a key as an option",
        ),
        pytest.param("address", "", "--base-url: missing", id="no address"),
        pytest.param(
            "address",
            "ftp://host/v1",
            "--base-url.*not a URL; expected http://HOST",
            id="another protocol",
        ),
        pytest.param(
            "address", "http://", "--base-url.*not a URL; expected http://HOST", id="no host"
        ),
        pytest.param(
            "address",
            f"http://{SECRET}@[x",
            "--base-url: not a URL",
            id="half an address",
        ),
        pytest.param(
            "address",
            f"https://user:{SECRET}@host/v1",
            "--base-url.*more than an address",
            id="a user in the address",
        ),
        pytest.param(
            "address",
            f"https://host/v1?key={SECRET}",
            "--base-url.*more than an address",
            id="a key in the address",
        ),
        pytest.param("key", "TWO_LINES", "TWO_LINES", id="a key of two lines"),
        pytest.param("key", "ACCENT", "ACCENT", id="a key with an accent"),
    ],
)
def test_what_is_unusable_is_refused_unseen(
    monkeypatch: pytest.MonkeyPatch, call: str, value: Any, problem: str
) -> None:
    monkeypatch.setenv("TWO_LINES", f"{SECRET}\n{SECRET}")
    monkeypatch.setenv("ACCENT", f"{SECRET}é")
    calls: dict[str, Any] = {
        "parameters": partial(parameters_of, 0.0, None),
        "address": address,
        "key": read_key,
    }
    with pytest.raises(InputError, match=problem) as caught:
        calls[call](value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(
            {"message": {"content": ""}}, {"refusal": None, "output": ""}, id="an empty answer"
        ),
        pytest.param(
            {"message": {"content": "4", "reasoning": "a"}},
            {"refusal": None, "output": "4", "reasoning": "a"},
            id="reasoning",
        ),
        pytest.param(
            {"message": {"content": "4", "reasoning_content": "a"}},
            {"refusal": None, "reasoning": "a"},
            id="reasoning under its other name",
        ),
        pytest.param(
            {
                "message": {
                    "content": [
                        {"type": "thinking", "thinking": "hm"},
                        {"type": "text", "text": "4"},
                        {"type": "output_text", "text": "4"},
                    ]
                }
            },
            {"refusal": None, "output": "44"},
            id="parts of text after thinking",
        ),
        pytest.param(
            {"message": {"refusal": "No."}}, {"refusal": "No.", "output": None}, id="a refusal"
        ),
        pytest.param(
            {"message": {"content": [{"type": "refusal", "refusal": "No."}]}},
            {"refusal": "No."},
            id="a part that refuses",
        ),
        pytest.param(
            {"message": {"content": "a\ud83db"}},
            {"refusal": None, "output": "a\ufffdb"},
            id="half a character",
        ),
        pytest.param(
            {"message": {"content": "4"}, "finish_reason": "content_filter"},
            {"refusal": "content_filter", "output": None},
            id="a filter",
        ),
        pytest.param(
            {
                "usage": {
                    "prompt_tokens": 10,
                    "completion_tokens": 7,
                    "completion_tokens_details": {"reasoning_tokens": 5},
                }
            },
            {"refusal": None, "prompt_tokens": 10, "completion_tokens": 7, "reasoning_tokens": 5},
            id="tokens",
        ),
        pytest.param(
            {"usage": {"completion_tokens": "7"}},
            {"refusal": None, "prompt_tokens": None, "completion_tokens": None},
            id="a count that is a text",
        ),
    ],
)
def test_a_reply_is_read(answer: dict[str, Any], expected: dict[str, Any]) -> None:
    response = ok(**answer)
    with asking([response]) as ask:
        reply = ask(QUESTION)
    assert {name: getattr(reply, name) for name in expected} == expected, response.text


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        pytest.param(httpx.ReadTimeout("slow"), "no answer in 600 s", id="silence"),
        pytest.param(
            httpx.Response(200, content=b"[" * 100_000), "but not a JSON object", id="brackets"
        ),
        pytest.param(
            httpx.Response(status_code=502, html="<h1>Bad</h1>"),
            "HTTP 502: an HTML page",
            id="a page of a gateway",
        ),
        pytest.param(httpx.Response(status_code=408), "HTTP 408", id="a timeout of the server"),
        pytest.param(
            httpx.Response(status_code=200, json={"error": {"message": "no"}}),
            "with an error: no",
            id="an error with status 200",
        ),
        pytest.param(
            httpx.Response(
                status_code=200,
                json={"choices": [{"message": {"content": "4"}, "finish_reason": "error"}]},
            ),
            "broken off: no reason given",
            id="broken off",
        ),
        pytest.param(
            httpx.Response(
                status_code=200,
                json={"choices": [{"message": {"content": 4}, "finish_reason": "stop"}]},
            ),
            "the answer is not text",
            id="an answer that is a number",
        ),
        pytest.param(
            httpx.Response(
                status_code=200,
                json={
                    "choices": [{"message": {"content": "4"}, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": -1},
                },
            ),
            "prompt_tokens can't be true",
            id="a negative count",
        ),
    ],
)
def test_what_may_pass_is_asked_again_after_growing_pauses(failure: Answer, words: str) -> None:
    clock = FakeClock()
    with asking([ok(), failure, failure, ok(), failure], clock=clock) as ask:
        ask(QUESTION)
        assert ask(QUESTION).attempts == 3
        with pytest.raises(RemoteUnavailable) as caught:
            ask(QUESTION)
    assert clock.waits == [0.5, 1.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert re.fullmatch(f"{URL}: .*{re.escape(words)}.*, after 7 attempts", str(caught.value))


@pytest.mark.parametrize(
    ("refusal", "words", "ends_all"),
    [
        pytest.param(
            httpx.Response(status_code=400, json=SAID),
            "HTTP 400: temperature is not supported; .*--param",
            False,
            id="400",
        ),
        pytest.param(
            httpx.Response(status_code=403, json=SAID),
            "HTTP 403: temperature is not supported",
            False,
            id="403",
        ),
        pytest.param(
            httpx.Response(status_code=401, json=SAID),
            "HTTP 401: temperature is not supported; .* with --api-key-env",
            True,
            id="401",
        ),
        pytest.param(
            httpx.Response(status_code=402, json=SAID),
            "HTTP 402: temperature is not supported",
            True,
            id="402",
        ),
        pytest.param(
            httpx.Response(status_code=404, json=SAID),
            "HTTP 404: temperature is not supported; check the base URL .*",
            True,
            id="404",
        ),
        pytest.param(
            httpx.Response(
                status_code=301, json=SAID, headers={"Location": "http://elsewhere.example/"}
            ),
            "HTTP 301: temperature is not supported.*followed.*",
            True,
            id="301",
        ),
        pytest.param(
            httpx.Response(
                status_code=429,
                json={
                    "error": {
                        "message": "temperature is\nnot supported",
                        "code": "insufficient_quota",
                    }
                },
            ),
            "HTTP 429: temperature is not supported",
            True,
            id="429 without credit",
        ),
        pytest.param(
            httpx.Response(
                status_code=200,
                json={
                    "choices": [
                        {"message": {"content": [{"type": "image_url"}]}, "finish_reason": "stop"}
                    ]
                },
            ),
            ".* a part of the answer is not text",
            False,
            id="an answer that is a picture",
        ),
    ],
)
def test_a_refusal_is_one_line_and_one_of_everything_ends_the_asking(
    refusal: httpx.Response, words: str, ends_all: bool
) -> None:
    with asking([refusal, ok()]) as ask:
        with pytest.raises(RemoteRefused) as caught:
            ask(QUESTION)
        assert re.fullmatch(f"{URL}: {words}", str(caught.value))
        if ends_all:
            with pytest.raises(RemoteRefused):
                ask(QUESTION)
        else:
            assert ask(QUESTION).attempts == 1


def test_what_is_no_error_of_the_endpoint_is_not_hidden() -> None:
    with asking([ZeroDivisionError()]) as ask, pytest.raises(ZeroDivisionError):
        list(ask_all(ask, iter([QUESTION] * 3), 2))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(ok({"content": SECRET, "reasoning": SECRET}), id="in the answer"),
        pytest.param(
            httpx.Response(401, json={"error": {"message": f"wrong key {SECRET}"}}),
            id="in a refusal",
        ),
        pytest.param(httpx.Response(429, json={"error": SECRET}), id="in an error of words"),
        pytest.param(httpx.Response(200, json={SECRET: 1}), id="as the name of a field"),
        pytest.param(
            httpx.Response(200, json={"error": {"message": "no", "metadata": {"raw": SECRET}}}),
            id="in the words of another server",
        ),
        pytest.param(httpx.Response(200, text=f"{SECRET} is no key"), id="in plain text"),
        pytest.param(ok(finish_reason=f"error: {SECRET}"), id="in the reason of the end"),
        pytest.param(httpx.RemoteProtocolError(f"no {SECRET}"), id="in the protocol"),
    ],
)
def test_a_server_that_repeats_the_key_shows_it_to_nobody(answer: Answer) -> None:
    listener = create_autospec(Progress)
    with asking([answer], key=SECRET, progress=listener) as ask:
        try:
            shown = repr(ask(QUESTION))
        except RemoteError as problem:
            shown = f"{problem!r} {problem}"
    assert SECRET not in f"{shown} {listener.mock_calls}"
    assert "[key]" in shown


def test_the_key_shows_in_no_log_repr_or_traceback(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    stuck = Mock(side_effect=httpcore.WriteTimeout("full"))
    monkeypatch.setattr(httpcore.MockStream, "write", stuck)
    transport = httpx.HTTPTransport()
    transport._pool = httpcore.ConnectionPool(network_backend=httpcore.MockBackend([]))
    with (
        pytest.raises(RemoteUnavailable, match="no answer in") as caught,
        open_endpoint(BASE, ApiKey(SECRET), transport=transport, clock=FakeClock()) as ask,
    ):
        ask(QUESTION)
    error = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    told, logged = "".join(error.format()), caplog.text
    assert "httpcore.WriteTimeout: full" in told
    assert "send_request_headers" in logged, "the libraries told all they tell"
    assert SECRET not in f"{logged} {told} {ask!r} {ApiKey(SECRET)!r}"


def failure(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, json=SAID, headers=headers)


def test_429_pauses_as_long_as_the_server_asks() -> None:
    clock, soon = FakeClock(), failure(429, **{"Retry-After": "0"})
    busy = [failure(429, **{"Retry-After": "20"}), soon, failure(429), failure(429), ok()]
    with asking(busy, clock=clock) as ask:
        assert ask(QUESTION).attempts == 5
    with asking([failure(503, **{"Retry-After": "7"}), ok()], clock=clock) as ask:
        ask(QUESTION)
    assert clock.waits == [20.0, 1.0, 2.0, 4.0, 7.0]
    with (
        asking([soon], clock=clock) as ask,
        pytest.raises(RemoteUnavailable, match=r"HTTP 429: temperature .*, also after long pauses"),
    ):
        ask(QUESTION)
    assert sum(clock.waits[5:]) > 60, "limits per minute have passed by then"


@pytest.mark.parametrize(
    ("answer", "problem", "waits"),
    [
        pytest.param(
            httpx.ConnectError("refused"),
            r"no connection \(refused\), after 4 attempts",
            3,
            id="no server",
        ),
        pytest.param(
            httpx.Response(500), "HTTP 500, after 7 attempts", 3 * 6, id="three failures in a row"
        ),
    ],
)
def test_where_nobody_answers_the_next_question_is_not_even_asked(
    answer: Answer, problem: str, waits: int
) -> None:
    clock = FakeClock()
    with asking([answer], clock=clock) as ask:
        for _ in range(8):
            with pytest.raises(RemoteUnavailable, match=problem):
                ask(QUESTION)
    assert len(clock.waits) == waits


def test_a_key_is_read_from_its_variable_or_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADE_KEY", f" {SECRET}\n")
    assert [read_key("MADE_KEY"), read_key("NO_KEY")] == [SECRET, ""]
    assert "Authorization" not in ApiKey().headers()


def test_a_placeholder_for_a_key_is_no_secret() -> None:
    with asking([ok({"content": "The set is EMPTY."})], key="EMPTY") as ask:
        assert ask(QUESTION).output == "The set is EMPTY."
