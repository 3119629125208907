import logging
import re
import traceback
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import Mock, create_autospec

import httpcore
import httpx
import pytest

from evalcore.endpoint import ApiKey, Question, ask_all, open_endpoint, read_key
from evalcore.endpoint import request_parameters as parameters_of
from ngramscan.errors import InputError, RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.progress import Progress
from tests.support.cases import objects
from tests.support.chat_server import chat_server
from tests.support.fake_clock import FakeClock
from tests.support.mocked_chat import BASE, BLANK, QUESTION, URL, asking, ok

SECRET = "sk-made-up-9f8e7d6c5b4a"
SAID = "temperature is not supported"
Answer = httpx.Response | Exception


def test_a_request_has_the_messages_and_all_parameters() -> None:
    parameters = parameters_of(0.0, 512, ["seed=7", 'stop=["\\n"]', "reasoning_effort=low"])
    messages = [{"role": "user", "content": "2 \ud83d 2?"}]
    with chat_server(lambda _: "yes") as server, open_endpoint(server.url, ApiKey(SECRET)) as ask:
        record = ask(Question(replace(BLANK, parameters=parameters), messages))
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


def test_what_is_unusable_is_refused_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWO_LINES", f"{SECRET}\n{SECRET}")
    monkeypatch.setenv("ACCENT", f"{SECRET}é")
    calls: dict[str, Any] = {
        "parameters": partial(parameters_of, 0.0, None),
        "address": address,
        "key": read_key,
    }
    for call, given, problem in map(dict.values, objects("endpoint_usage")):
        with pytest.raises(InputError, match=problem) as caught:
            calls[call](given)
        assert SECRET not in str(caught.value)


def test_a_reply_is_read() -> None:
    for answer, expected in map(dict.values, objects("endpoint_replies")):
        response = ok(**answer)
        with asking([response]) as ask:
            reply = ask(QUESTION)
        assert {name: getattr(reply, name) for name in expected} == expected, response.text


def test_what_may_pass_is_asked_again_after_growing_pauses() -> None:
    table: list[tuple[Answer, str]] = [
        (httpx.ReadTimeout("slow"), "no answer in 600 s"),
        (httpx.Response(200, content=b"[" * 100_000), "but not a JSON object"),
        *((httpx.Response(**r["response"]), r["words"]) for r in objects("passing_failures")),
    ]
    for failure, words in table:
        clock = FakeClock()
        with asking([ok(), *[failure] * 2, ok(), failure], clock=clock) as ask:
            ask(QUESTION)
            assert ask(QUESTION).attempts == 3
            with pytest.raises(RemoteUnavailable) as caught:
                ask(QUESTION)
        assert clock.waits == [0.5, 1.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0], words
        assert re.fullmatch(f"{URL}: .*{re.escape(words)}.*, after 7 attempts", str(caught.value))


def test_a_refusal_is_told_in_one_line_and_one_of_everything_ends_the_asking() -> None:
    for response, words, ends_all in map(dict.values, objects("endpoint_refusals")):
        with asking([httpx.Response(**response), ok()]) as ask:
            with pytest.raises(RemoteRefused) as caught:
                ask(QUESTION)
            assert re.fullmatch(f"{URL}: {words}", str(caught.value))
            with pytest.raises(RemoteRefused) if ends_all else nullcontext():
                assert ask(QUESTION).attempts == 1


def test_what_is_no_error_of_the_endpoint_is_not_hidden() -> None:
    with asking([ZeroDivisionError()]) as ask, pytest.raises(ZeroDivisionError):
        list(ask_all(ask, iter([QUESTION] * 3), 2))


def test_a_server_that_repeats_the_key_shows_it_to_nobody(subtests: pytest.Subtests) -> None:
    for answer in (
        ok({"content": SECRET, "reasoning": SECRET}),
        httpx.Response(401, json={"error": {"message": f"wrong key {SECRET}"}}),
        httpx.Response(429, json={"error": SECRET}),
        httpx.Response(200, json={SECRET: 1}),
        httpx.Response(200, json={"error": {"message": "no", "metadata": {"raw": SECRET}}}),
        httpx.Response(200, text=f"{SECRET} is no key"),
        ok(finish_reason=f"error: {SECRET}"),
        httpx.RemoteProtocolError(f"no {SECRET}"),
    ):
        with subtests.test(answer=answer):
            listener = create_autospec(Progress)
            with asking([answer], key=SECRET, progress=listener) as ask:
                try:
                    shown = repr(ask(QUESTION))
                except RemoteError as problem:
                    shown = f"{problem!r} {problem}"
            assert (SECRET in f"{shown} {listener.mock_calls}", "[key]" in shown) == (False, True)


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
