from __future__ import annotations

import io
import json
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import httpcore
import httpx
import pytest

from evalcore.asking import Replay
from evalcore.endpoint import (
    ATTEMPTS,
    ATTEMPTS_TO_CONNECT,
    EXHAUSTED_IN_A_ROW,
    ApiKey,
    ChatModel,
    Endpoint,
    EndpointUnavailable,
    ProblemKey,
    read_key,
    request_parameters,
)
from evalcore.replies import EndpointRefused, Reply
from ngramscan.errors import InputError, RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.pace import Pace
from ngramscan.progress import SILENT, Progress, Silent
from tests.chat_server import Faults, chat_server, hash_of
from tests.fake_clock import FakeClock
from tests.test_records import record_line

MESSAGES = [{"role": "user", "content": "2 + 2?"}]
KEY = ProblemKey("sums", "cot", "1")
ENDPOINT = Endpoint("http://127.0.0.1:1/v1", "made-1")
SECRET = "sk-made-up-9f8e7d6c5b4a"
Answer = httpx.Response | Exception


def ok(message: dict[str, Any] | None = None, **fields: Any) -> httpx.Response:
    choice = {"message": message or {"content": "4"}, "finish_reason": "stop"}
    return httpx.Response(200, json={"choices": [choice], **fields})


def model_for(
    answers: list[Answer] | Callable[[httpx.Request], httpx.Response],
    clock: FakeClock | None = None,
    endpoint: Endpoint = ENDPOINT,
    key: ApiKey | None = None,
    progress: Progress = SILENT,
) -> ChatModel:
    """Return a model that gives these answers in turn, the last one for ever."""

    def handle(request: httpx.Request) -> httpx.Response:
        if callable(answers):
            return answers(request)
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    transport = httpx.MockTransport(handle)
    return ChatModel(endpoint, key, progress, transport, clock or FakeClock())


def ask(*answers: Answer) -> Reply:
    with model_for(list(answers)) as model:
        return model.ask(MESSAGES, KEY)


# Requests


def test_a_request_has_the_messages_and_all_parameters() -> None:
    parameters = request_parameters(0.0, 512, ["seed=7", 'stop=["\\n"]', "reasoning_effort=low"])
    with chat_server() as server:
        endpoint = Endpoint(server.url + "/", "lab/made-1", parameters)
        with ChatModel(endpoint, ApiKey(SECRET)) as model:
            reply = model.ask(MESSAGES, KEY)
    assert server.seen.bodies == [
        {
            "model": "lab/made-1",
            "messages": MESSAGES,
            "temperature": 0.0,
            "max_tokens": 512,
            "seed": 7,
            "stop": ["\n"],
            "reasoning_effort": "low",
        }
    ]
    assert server.seen.keys == [f"Bearer {SECRET}"]
    assert reply.output == "You said: 2 + 2?"
    assert (reply.reported_model, reply.prompt_tokens, reply.completion_tokens) == (
        "lab/made-1-0125",
        3,
        5,
    )
    assert reply.latency_s is not None
    assert 0 <= reply.latency_s < 5


def test_null_leaves_a_parameter_out_and_an_extra_wins() -> None:
    assert request_parameters(0.0, 9, ["temperature=null", "max_tokens=5", "top_p=NaN"]) == {
        "max_tokens": 5,
        "top_p": "NaN",
    }


@pytest.mark.parametrize("extra", ["seed", "=1", "model=x", "stream=true", "n=2"])
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
    with pytest.raises(InputError, match="--base-url") as caught:
        ChatModel(Endpoint(url, "made-1"))
    assert SECRET not in str(caught.value)


def test_half_a_character_in_a_prompt_can_be_sent() -> None:
    with chat_server(lambda messages: "yes") as server, ChatModel(Endpoint(server.url, "m")) as m:
        assert m.ask([{"role": "user", "content": "\ud83d"}], KEY).output == "yes"
    assert server.seen.bodies[0]["messages"][0]["content"] == "\ud83d"


# Replies


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param({"content": "4"}, {"output": "4"}, id="a text"),
        pytest.param({"content": ""}, {"output": ""}, id="an empty text is a text"),
        pytest.param({"content": None}, {"output": None}, id="no text"),
        pytest.param(
            {"content": "4", "reasoning_content": "2 and 2"},
            {"output": "4", "reasoning": "2 and 2"},
            id="reasoning_content",
        ),
        pytest.param(
            {"content": "4", "reasoning": "2 and 2"},
            {"output": "4", "reasoning": "2 and 2"},
            id="reasoning",
        ),
        pytest.param(
            {"content": [{"type": "text", "text": "4"}, {"type": "output_text", "text": "2"}]},
            {"output": "42"},
            id="parts of text",
        ),
        pytest.param(
            {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "4"}]},
            {"output": "4"},
            id="parts of thinking are no answer",
        ),
        pytest.param(
            {"content": None, "refusal": "I can't."}, {"refusal": "I can't."}, id="a refusal"
        ),
        pytest.param(
            {"content": [{"type": "refusal", "refusal": "No."}]}, {"refusal": "No."}, id="in a part"
        ),
        pytest.param({"content": "a\ud83db"}, {"output": "a\ufffdb"}, id="half a character"),
    ],
)
def test_a_message_is_read(message: dict[str, Any], expected: dict[str, Any]) -> None:
    content = {"choices": [{"message": message, "finish_reason": "stop"}]}
    reply = ask(httpx.Response(200, content=json.dumps(content).encode()))
    found = {"output": reply.output, "reasoning": reply.reasoning, "refusal": reply.refusal}
    assert found == {"output": None, "reasoning": None, "refusal": None} | expected


def test_what_a_filter_let_pass_of_an_answer_is_no_output() -> None:
    choice = {"message": {"content": "The first st"}, "finish_reason": "content_filter"}
    reply = ask(httpx.Response(200, json={"choices": [choice]}))
    assert (reply.output, reply.refusal) == (None, "content_filter")


def test_token_counts_are_those_of_the_server_or_unknown() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    reply = ask(ok(usage=usage))
    assert (reply.prompt_tokens, reply.completion_tokens, reply.reasoning_tokens) == (10, 7, 5)
    odd_ones: list[Any] = [None, [], {"prompt_tokens": None, "completion_tokens": "7"}]
    for odd in odd_ones:
        reply = ask(ok(usage=odd))
        assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)


def test_an_answer_of_pictures_is_refused() -> None:
    with pytest.raises(RemoteRefused, match="a part of the answer is no text"):
        ask(ok({"content": [{"type": "image_url", "image_url": {}}]}))


# Failures


MAY_PASS = [
    pytest.param(httpx.Response(500, json={"error": {"message": "busy"}}), id="500"),
    pytest.param(httpx.Response(502, html="<h1>Bad</h1>"), id="502 with HTML"),
    pytest.param(httpx.Response(503), id="503 without a body"),
    pytest.param(httpx.Response(504), id="504"),
    pytest.param(httpx.Response(529), id="529"),
    pytest.param(httpx.Response(408), id="408"),
    pytest.param(httpx.Response(200, json={"error": {"message": "busy"}}), id="200 with an error"),
    pytest.param(httpx.Response(200, json={"choices": []}), id="200 without choices"),
    pytest.param(httpx.Response(200, json={"choices": [{}]}), id="200 without a message"),
    pytest.param(ok({"content": 4}), id="200 with a number"),
    pytest.param(httpx.Response(200, html="<html>"), id="200 with HTML"),
    pytest.param(httpx.Response(200, content=b'{"choi'), id="200 with half a body"),
    pytest.param(httpx.Response(200, content=b"[" * 100_000), id="200 with endless nesting"),
    pytest.param(httpx.Response(200, json=[1]), id="200 with a list"),
    pytest.param(
        httpx.Response(
            200, json={"choices": [{"message": {"content": "a"}, "finish_reason": "error"}]}
        ),
        id="200 with an answer that was broken off",
    ),
    pytest.param(httpx.ReadTimeout("slow"), id="a timeout"),
    pytest.param(httpx.RemoteProtocolError("Server disconnected"), id="a lost connection"),
    pytest.param(httpx.DecodingError("bad gzip"), id="a damaged body"),
    pytest.param(httpx.ConnectError("refused"), id="no connection"),
]


@pytest.mark.parametrize("failure", MAY_PASS)
def test_what_may_pass_is_asked_again(failure: Answer) -> None:
    clock = FakeClock()
    with model_for([failure, failure, ok()], clock) as model:
        reply = model.ask(MESSAGES, KEY)
    assert (reply.output, reply.attempts) == ("4", 3)
    assert clock.waits == [0.5, 1.0]


def test_pauses_between_attempts_grow_and_are_bounded() -> None:
    clock = FakeClock()
    with model_for([httpx.Response(500)], clock) as model, pytest.raises(RemoteUnavailable) as c:
        model.ask(MESSAGES, KEY)
    assert clock.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
    assert str(c.value) == f"{ENDPOINT.url}: HTTP 500, after {ATTEMPTS} attempts"


def test_where_nobody_ever_answered_fewer_attempts_are_made() -> None:
    clock = FakeClock()
    with model_for([httpx.ConnectError("refused")], clock) as model:
        with pytest.raises(EndpointUnavailable, match=r"no connection \(refused\)"):
            model.ask(MESSAGES, KEY)
        assert len(clock.waits) == ATTEMPTS_TO_CONNECT - 1
        with pytest.raises(EndpointUnavailable, match="no connection"):
            model.ask(MESSAGES, KEY)
    assert len(clock.waits) == ATTEMPTS_TO_CONNECT - 1, "the next question is not even asked"


def test_a_question_that_always_fails_ends_nothing_while_others_are_answered() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(500) if b"hard" in request.content else ok()

    with model_for(answer) as model:
        for _ in range(5):
            with pytest.raises(RemoteUnavailable) as caught:
                model.ask([{"role": "user", "content": "hard"}], KEY)
            assert not isinstance(caught.value, EndpointUnavailable)
            assert model.ask(MESSAGES, KEY).output == "4"


def test_an_endpoint_that_answers_no_question_any_more_is_given_up() -> None:
    kinds: list[type[RemoteError]] = []
    with model_for([ok(), httpx.Response(500)]) as model:
        model.ask(MESSAGES, KEY)
        for _ in range(EXHAUSTED_IN_A_ROW):
            with pytest.raises(RemoteUnavailable, match="after 7 attempts") as caught:
                model.ask(MESSAGES, KEY)
            kinds.append(type(caught.value))
    assert kinds == [RemoteUnavailable, RemoteUnavailable, EndpointUnavailable]


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [
        pytest.param("7", 7.0, id="seconds"),
        pytest.param("0.25", 0.5, id="less than our own pause"),
        pytest.param("soon", 0.5, id="neither seconds nor a date"),
        pytest.param("99999", 600.0, id="longer than we wait"),
    ],
)
def test_a_server_in_trouble_names_the_pause(retry_after: str, wait: float) -> None:
    clock = FakeClock()
    with model_for([httpx.Response(503, headers={"Retry-After": retry_after}), ok()], clock) as m:
        m.ask(MESSAGES, KEY)
    assert clock.waits == [wait]


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        pytest.param(400, RemoteRefused, "temperature is not supported; .*--param", id="400"),
        pytest.param(422, RemoteRefused, "--param", id="422"),
        pytest.param(403, RemoteRefused, "HTTP 403: temperature", id="403"),
        pytest.param(401, EndpointRefused, "--api-key-env", id="401"),
        pytest.param(402, EndpointRefused, "HTTP 402", id="402"),
        pytest.param(404, EndpointRefused, "is the base URL right", id="404"),
    ],
)
def test_a_refusal_is_told_in_one_line_and_not_asked_again(
    status: int, kind: type[RemoteError], words: str
) -> None:
    clock = FakeClock()
    said = {"error": {"message": "temperature is\nnot supported"}}
    model = model_for([httpx.Response(status, json=said)], clock)
    with model, pytest.raises(RemoteRefused, match=words) as caught:
        model.ask(MESSAGES, KEY)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(f"{ENDPOINT.url}: HTTP {status}: temperature is not")
    assert "\n" not in str(caught.value)
    assert clock.waits == []


def test_after_a_refusal_of_the_key_nothing_more_is_asked() -> None:
    answers: list[Answer] = [httpx.Response(401), ok()]
    with model_for(answers) as model:
        for _ in range(2):
            with pytest.raises(EndpointRefused, match="HTTP 401"):
                model.ask(MESSAGES, KEY)
    assert len(answers) == 1


def test_a_redirect_is_not_followed() -> None:
    moved = httpx.Response(301, headers={"Location": "http://elsewhere.example/"})
    with pytest.raises(EndpointRefused, match="not followed"):
        ask(moved, ok())


# Slowing down


def too_many(retry_after: str | None = None) -> httpx.Response:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return httpx.Response(429, json={"error": {"message": "slow down"}}, headers=headers)


def test_429_pauses_as_long_as_the_server_asks_and_longer_while_nothing_is_answered() -> None:
    clock = FakeClock()
    with model_for([too_many("20"), too_many("0"), too_many(), too_many(), ok()], clock) as model:
        assert model.ask(MESSAGES, KEY).attempts == 5
    assert clock.waits == [20.0, 1.0, 2.0, 4.0]


def test_a_date_in_retry_after_is_understood() -> None:
    clock = FakeClock()
    with model_for([too_many(formatdate(time.time() + 30, usegmt=True)), ok()], clock) as model:
        model.ask(MESSAGES, KEY)
    assert clock.waits == [pytest.approx(30, abs=2)]


def test_429_for_ever_ends_the_run() -> None:
    clock = FakeClock()
    model = model_for([too_many("0")], clock)
    with model, pytest.raises(EndpointUnavailable, match="also after long pauses"):
        model.ask(MESSAGES, KEY)
    assert sum(clock.waits) > 60, "limits per minute have passed by then"


def test_a_pause_of_hours_ends_the_run() -> None:
    with pytest.raises(EndpointUnavailable, match="come back in 7200 s"):
        ask(too_many("7200"), ok())


def test_429_because_nothing_is_left_to_spend_ends_the_run() -> None:
    error = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    with pytest.raises(EndpointRefused, match="exceeded your quota"):
        ask(httpx.Response(429, json=error), ok())


def test_a_pause_holds_for_all_requests_and_is_shown() -> None:
    clock = FakeClock()
    notes: list[str] = []
    pace = Pace(None, clock, notes.append)
    first, second = pace.acquire(), pace.acquire()
    assert pace.slow_down(first, 5.0, "HTTP 429")
    assert pace.slow_down(second, 8.0, "HTTP 429"), "sent before the pause: only makes it longer"
    pace.acquire()
    assert clock.waits == [8.0]
    assert notes == ["paused 5 s: the server answers HTTP 429", ""]


def test_requests_keep_the_highest_rate() -> None:
    clock = FakeClock()
    with model_for([ok()], clock, Endpoint("http://127.0.0.1:1", "m", {}, rate=4.0)) as model:
        for _ in range(4):
            model.ask(MESSAGES, KEY)
    assert clock.waits == [0.25, 0.25, 0.25]


def test_closing_ends_a_pause_at_once() -> None:
    model = ChatModel(ENDPOINT, transport=httpx.MockTransport(lambda request: too_many("500")))
    errors: list[RemoteError] = []

    def work() -> None:
        try:
            model.ask(MESSAGES, KEY)
        except RemoteError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    model.__exit__(None, None, None)
    thread.join(timeout=5)
    assert [str(error) for error in errors] == ["interrupted"]
    with pytest.raises(RemoteUnavailable, match="interrupted"):
        model.ask(MESSAGES, KEY)


def test_a_closed_model_is_not_asked() -> None:
    with model_for([ok()]) as model:
        pass
    with pytest.raises(RemoteUnavailable, match="chat/completions: interrupted"):
        model.ask(MESSAGES, KEY)


def test_a_stall_on_a_real_connection_is_a_timeout() -> None:
    faults = Faults(stall=1.0, stall_s=0.6)
    with chat_server(faults=faults) as server:
        model = ChatModel(Endpoint(server.url, "m", timeout_s=0.1), clock=FakeClock())
        with model, pytest.raises(RemoteUnavailable, match=r"no answer in 0.1 s, after 7"):
            model.ask(MESSAGES, KEY)


# The key


def test_a_key_is_read_from_its_variable_or_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MADE_KEY", f" {SECRET}\n")
    key = read_key("MADE_KEY")
    assert key is not None
    assert key.header() == {"Authorization": f"Bearer {SECRET}"}
    monkeypatch.setenv("MADE_KEY", "")
    assert read_key("MADE_KEY") is None
    monkeypatch.delenv("MADE_KEY")
    assert read_key("MADE_KEY") is None


@pytest.mark.parametrize("secret", [f"{SECRET}\n{SECRET}", f"a {SECRET}", f"{SECRET}é"])
def test_what_can_be_no_key_is_refused_unseen(monkeypatch: pytest.MonkeyPatch, secret: str) -> None:
    monkeypatch.setenv("MADE_KEY", secret)
    with pytest.raises(InputError, match="MADE_KEY") as caught:
        read_key("MADE_KEY")
    assert SECRET not in str(caught.value)


def test_a_key_travels_to_no_other_process() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(ApiKey(SECRET))


def test_a_placeholder_for_a_key_is_not_taken_out_of_answers() -> None:
    with model_for([ok({"content": "The set is EMPTY."})], key=ApiKey("EMPTY")) as model:
        assert model.ask(MESSAGES, KEY).output == "The set is EMPTY."


class Listener(Silent):
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)

    def detail(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([ok({"content": f"{SECRET}", "reasoning": SECRET})], id="an answer"),
        pytest.param([ok({"content": None, "refusal": SECRET})], id="a refusal to answer"),
        pytest.param([ok(model=SECRET)], id="the name of the model"),
        pytest.param(
            [httpx.Response(401, json={"error": {"message": f"wrong key {SECRET}"}})], id="a 401"
        ),
        pytest.param([httpx.Response(400, json={"error": SECRET})], id="a 400"),
        pytest.param([httpx.Response(500, json={"error": SECRET})], id="500s"),
        pytest.param([httpx.Response(429, json={"error": SECRET})], id="429s"),
        pytest.param([httpx.ConnectError(f"no {SECRET}")], id="no connection"),
        pytest.param([httpx.RemoteProtocolError(f"no {SECRET}")], id="a lost connection"),
    ],
)
def test_a_server_that_repeats_the_key_shows_it_to_nobody(answers: list[Answer]) -> None:
    listener = Listener()
    with model_for(answers, key=ApiKey(SECRET), progress=listener) as model:
        try:
            shown = repr(model.ask(MESSAGES, KEY))
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
            endpoint = Endpoint(server.url, "m")
            with ChatModel(endpoint, ApiKey(SECRET), clock=FakeClock()) as model:
                try:
                    model.ask(MESSAGES, KEY)
                except RemoteError as error:
                    shown.append("".join(traceback.format_exception(error)))
                shown += [repr(model), repr(vars(model)), repr(endpoint), repr(ApiKey(SECRET))]
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert server.seen.keys[0] == f"Bearer {SECRET}"
    assert "connection lost" in shown[0]
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
    model = ChatModel(ENDPOINT, ApiKey(SECRET), transport=transport, clock=FakeClock())
    with model, pytest.raises(RemoteUnavailable) as caught:
        model.ask(MESSAGES, KEY)
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    text = "".join(told.format())
    assert "httpcore.WriteTimeout: full" in text
    assert SECRET not in text


# Recorded outputs


def test_recorded_outputs_answer_in_the_place_of_a_model(tmp_path: Path) -> None:
    file = tmp_path / "sums" / "lab--made-1" / "cot.jsonl"
    file.parent.mkdir(parents=True)
    known = record_line(id="1", output="4", messages_sha256=hash_of(MESSAGES), prompt_tokens=3)
    file.write_bytes(known + record_line(id="2", epoch=None, output=None, refusal="No."))
    model = Replay(tmp_path, "lab--made-1")
    reply = model.ask(MESSAGES, KEY)
    assert (reply.output, reply.prompt_tokens) == ("4", 3)
    assert model.ask(MESSAGES, KEY._replace(id="2")).refusal == "No."
    with pytest.raises(RemoteRefused, match="no recorded output of sums, cot, 3"):
        model.ask(MESSAGES, KEY._replace(id="3"))
    with pytest.raises(RemoteRefused, match="cot, 1, epoch 2"):
        model.ask(MESSAGES, KEY._replace(epoch=2))
    with pytest.raises(RemoteRefused, match="written to other messages"):
        model.ask([{"role": "user", "content": "3 + 3?"}], KEY)
    with pytest.raises(InputError, match="no recorded outputs of 'made-2' there"):
        Replay(tmp_path, "made-2")


# The test server


def test_the_test_server_is_a_command_too(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({hash_of(MESSAGES): "four"}), encoding="utf-8")
    command = [sys.executable, "-m", "tests.chat_server", "--answers", str(answers)]
    root = Path(__file__).parent.parent
    with subprocess.Popen(
        [*command, "--key", SECRET], stdout=subprocess.PIPE, text=True, cwd=root, env=os.environ
    ) as process:
        try:
            assert process.stdout
            url = process.stdout.readline().strip()
            with ChatModel(Endpoint(url, "m"), ApiKey(SECRET)) as model:
                assert model.ask(MESSAGES, KEY).output == "four"
                with pytest.raises(RemoteRefused, match="no recorded reply"):
                    model.ask([{"role": "user", "content": "?"}], KEY)
            model = ChatModel(Endpoint(url, "m"), ApiKey("wrong-key-wrong"))
            with model, pytest.raises(EndpointRefused, match="Incorrect API key provided"):
                model.ask(MESSAGES, KEY)
            told = httpx.get(f"{url}/counts").json()
            assert told["requests"][hash_of(MESSAGES)] == 1
        finally:
            process.kill()
