"""The stand-in for the service says what the original was recorded to say."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.api_server import (
    DEFAULT_CONTEXT,
    FAULT_KINDS,
    ApiServer,
    Corpora,
    Corpus,
    Faults,
    Spawned,
    spawn,
    suffix_array,
)

HERE = Path(__file__).parent
DOCS = HERE / "replay" / "docs"
CORPORA: Corpora = {"replay": DOCS, "replay2": [DOCS / "a.jsonl", DOCS / "b.jsonl"]}
# The recordings asked corpora that are not kept; names are enough for what is compared.
STAND_INS: Corpora = dict.fromkeys(("v2_small", "v2_small2", "v2_nonul"), DOCS)
THE = {"index": "replay", "query_type": "count", "query": "the"}


def read_lines(name: str) -> list[dict[str, Any]]:
    text = (HERE / "replay" / name).read_text(encoding="utf-8")
    # split at \n only: the documents hold other line separators
    return [json.loads(line) for line in text.split("\n") if line]


EXCHANGES = read_lines("exchanges.jsonl")
RECORDED = [json.loads(file.read_bytes()) for file in sorted(HERE.glob("recorded/*.json"))]


@dataclass
class Answer:
    """What came back; `status` None: the connection was closed instead."""

    status: int | None
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def send(url: str, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
    host = url.removeprefix("http://").rstrip("/")
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        sent = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, sent, response.read().decode())
    except http.client.RemoteDisconnected:
        return Answer(None, {}, "")
    finally:
        connection.close()


def ask(url: str, document: object) -> Answer:
    body = json.dumps(document).encode()
    return send(url, "POST", "/", body, {"Content-Type": "application/json"})


def replay(url: str, request: dict[str, Any]) -> Answer:
    body: bytes | None = None
    if "json" in request:
        body = json.dumps(request["json"]).encode()
    elif "body_hex" in request:
        body = bytes.fromhex(request["body_hex"])
    elif "body" in request:
        body = request["body"].encode()
    elif "raw_body" in request:  # one character per byte
        body = request["raw_body"].encode("latin-1")
    headers = {} if body is None else {"Content-Type": "application/json"}
    headers |= request.get("headers", {})
    if "content_type" in request:
        headers["Content-Type"] = request["content_type"]
    kept = {name: value for name, value in headers.items() if value is not None}
    return send(url, request["method"], request["path"], body, kept)


def comparable(body: Any) -> Any:
    """Blank what differs from one answer to the next: time, addresses, empty segments."""
    if not isinstance(body, dict):
        return body
    blank = dict(body)
    if "latency" in blank:
        blank["latency"] = None
    if "error" in blank:
        blank["error"] = re.sub(r"0x[0-9a-f]+", "0x0", blank["error"])
    if "segment_by_shard" in blank:
        segments = blank["segment_by_shard"]
        blank["segment_by_shard"] = [[lo, hi] if lo < hi else [0, 0] for lo, hi in segments]
    return blank


@pytest.fixture(scope="module")
def api() -> Iterator[ApiServer]:
    with ApiServer({**CORPORA, **STAND_INS}) as server:
        yield server


# --- recordings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("exchange", EXCHANGES, ids=lambda exchange: exchange["name"])
def test_exchange_is_answered_as_by_the_original(api: ApiServer, exchange: dict[str, Any]) -> None:
    expected = exchange["response"]
    if "correct" in exchange:
        expected = {
            "status": 200,
            "content_type": "application/json",
            "json": exchange["correct"],
        }
    got = replay(api.url, exchange["request"])
    assert got.status == expected["status"]
    if got.status is None:
        return
    assert got.headers["content-type"] == expected["content_type"]
    assert set(got.headers.get("allow", "").split(", ")) == set(
        expected.get("allow", "").split(", ")
    )
    if "text" in expected:
        assert got.text == expected["text"]
        return
    assert comparable(got.json) == comparable(expected["json"])
    if "latency" in got.json:
        assert isinstance(got.json["latency"], float)


def is_independent_of_the_corpus(recording: dict[str, Any]) -> bool:
    # Answers with a latency come from a corpus; the context has a default here.
    found = "latency" in (recording["response"].get("json") or {})
    return not found and recording["name"] != "get_missing_max_ctx_len"


@pytest.mark.parametrize(
    "recording",
    [recording for recording in RECORDED if is_independent_of_the_corpus(recording)],
    ids=lambda recording: recording["name"],
)
def test_recording_is_answered_as_by_the_original(
    api: ApiServer, recording: dict[str, Any]
) -> None:
    expected = recording["response"]
    got = replay(api.url, recording["request"])
    assert got.status == expected["status"]
    if got.status is None:
        return
    for name in ("content-type", "connection"):
        assert got.headers[name] == expected["headers"][name]
    if "json" not in expected:
        assert got.text == expected["text"]
        assert got.headers["content-length"] == expected["headers"]["content-length"]
        return
    assert comparable(got.json) == comparable(expected["json"])
    if "0x" not in got.text:  # not even the spaces differ
        assert got.headers["content-length"] == expected["headers"]["content-length"]


@pytest.mark.parametrize(
    "recording",
    [
        recording
        for recording in RECORDED
        if recording["name"].startswith(("count_", "find_"))
        and is_independent_of_the_corpus(recording) is False
    ],
    ids=lambda recording: recording["name"],
)
def test_recorded_question_gets_the_same_fields(api: ApiServer, recording: dict[str, Any]) -> None:
    got = replay(api.url, recording["request"])
    assert got.status == 200
    assert list(got.json) == sorted(recording["response"]["json"])


def test_text_is_ascii_in_key_order_on_one_line(api: ApiServer) -> None:
    lo, _ = ask(api.url, {**THE, "query_type": "find", "query": "ภาษา"}).json["segment_by_shard"][0]
    question = {**THE, "query_type": "get_doc_by_rank", "query": "ภาษา", "s": 0, "rank": lo}
    text = ask(api.url, {**question, "max_ctx_len": DEFAULT_CONTEXT * 10}).text
    assert text.isascii()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) + "\n"


# --- corpora ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpora() -> dict[str, Corpus]:
    return {name: Corpus.load(sources) for name, sources in CORPORA.items()}


def test_patterns_are_found_where_the_documents_hold_them(corpora: dict[str, Corpus]) -> None:
    expected = [line for line in read_lines("reader_expected.jsonl") if line["kind"] == "pattern"]
    assert expected
    for line in expected:
        needle = bytes.fromhex(line["pattern_hex"])
        shards = corpora[line["index"]].shards
        assert sum(shard.count(needle) for shard in shards) == line["count"], line["name"]
        segments = [list(shard.segment(needle)) for shard in shards]
        assert [[lo, hi] if lo < hi else None for lo, hi in segments] == line["segments"]


def test_ranks_point_into_the_documents(corpora: dict[str, Corpus]) -> None:
    expected = [line for line in read_lines("reader_expected.jsonl") if line["kind"] == "rank"]
    assert expected
    for line in expected:
        shard = corpora[line["index"]].shards[line["shard"]]
        assert shard.order[line["rank"]] == line["position"]
        if cut := line["window"]:
            got = shard.window(line["position"], cut["needle_len"], cut["max_ctx_len"])
            assert got.content.hex() == cut["text_hex"]
            assert got.needle_offset == cut["needle_offset"]
            assert shard.metadata[got.doc] == line["metadata"]


@pytest.mark.parametrize("body", [b"", b"a", b"banana", b"\0\0\0", b"ab" * 40, b"abcdefg"])
def test_suffixes_are_sorted(body: bytes) -> None:
    text = b"\xff" + body + b"\xfa"
    assert list(suffix_array(text)) == sorted(range(len(text)), key=lambda at: text[at:])


def test_repeated_text_sorts_in_seconds() -> None:
    page = bytes(range(97, 123)) * 800
    text = b"".join(b"\xff" + page for _ in range(20)) + b"\xfa"
    started = time.perf_counter()
    order = suffix_array(text)
    assert time.perf_counter() - started < 5
    assert text[order[-1] :].startswith(b"\xff")


# --- requests, log, delay -----------------------------------------------------------------------


def test_requests_are_kept_with_their_outcome() -> None:
    with ApiServer(CORPORA) as server:
        ask(server.url, THE)
        ask(server.url, {**THE, "index": "nope"})
        send(server.url, "GET", "/", None, {})
        kept = server.requests
    assert [entry.n for entry in kept] == [1, 2, 3]
    assert [entry.body for entry in kept] == [THE, {**THE, "index": "nope"}, None]
    assert [entry.status for entry in kept] == [200, 400, 405]
    assert all(entry.finished and entry.finished >= entry.arrived for entry in kept)


def test_nothing_is_printed_per_request(capfd: pytest.CaptureFixture[str]) -> None:
    with spawn(CORPORA) as server:
        ask(server.url, THE)
        ask(server.url, {})
    assert capfd.readouterr() == ("", "")


def test_process_answers_as_the_thread_does(api: ApiServer) -> None:
    question = {**THE, "query_type": "find", "index": "replay2"}
    with spawn(CORPORA) as server:
        assert comparable(ask(server.url, question).json) == comparable(ask(api.url, question).json)


def wait_for_log(server: Spawned, lines: int) -> list[dict[str, Any]]:
    for _ in range(500):
        if len(server.read_log()) >= lines:
            break
        time.sleep(0.01)
    return server.read_log()


def test_log_survives_a_kill(tmp_path: Path) -> None:
    place = {"s": 0, "rank": 5}
    with (
        spawn(CORPORA, delay=5, log_path=tmp_path / "log.jsonl") as server,
        ThreadPoolExecutor() as pool,
    ):
        pool.submit(ask, server.url, THE)
        wait_for_log(server, 1)
        # waiting for its answer when the process dies
        pool.submit(ask, server.url, {**THE, "query_type": "get_doc_by_rank", **place})
        wait_for_log(server, 2)
        server.kill()
    first, second = server.read_log()
    assert first.pop("time") <= second.pop("time") <= time.time()
    assert first == {"n": 1, **THE, "fault": None}
    assert second == {"n": 2, **THE, "query_type": "get_doc_by_rank", **place, "fault": None}


def test_log_is_continued_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        with spawn(CORPORA, log_path=tmp_path / "log.jsonl") as server:
            ask(server.url, THE)
    assert [line["query"] for line in server.read_log()] == ["the", "the"]


def test_delay_holds_for_parallel_clients() -> None:
    def timed(_: int) -> float:
        started = time.perf_counter()
        assert ask(server.url, THE).status == 200
        return time.perf_counter() - started

    with ApiServer(CORPORA, delay=0.4) as server, ThreadPoolExecutor(8) as pool:
        started = time.perf_counter()
        took = list(pool.map(timed, range(8)))
        total = time.perf_counter() - started
    assert min(took) >= 0.4
    assert total < 1.2  # one after the other: 3.2


# --- faults -------------------------------------------------------------------------------------


def outcomes(faults: Faults, requests: int, question: object = THE) -> list[Answer]:
    with ApiServer(CORPORA, faults=faults) as server:
        return [ask(server.url, question) for _ in range(requests)]


def only(kind: str) -> Faults:
    return Faults(rate=1, kinds=(kind,), stall_s=0.3)


@pytest.mark.parametrize(
    ("kind", "status", "content_type"),
    [
        ("500", 500, "application/json"),
        ("429", 429, "application/json"),
        ("error200", 200, "application/json"),
        ("html502", 502, "text/html"),
    ],
)
def test_fault_replaces_the_answer(kind: str, status: int, content_type: str) -> None:
    (got,) = outcomes(only(kind), 1)
    assert (got.status, got.headers["content-type"]) == (status, content_type)
    assert got.headers.get("retry-after") == ("1" if kind == "429" else None)
    if content_type == "application/json":
        assert "count" not in got.json
        assert got.json["error"]
    else:
        assert got.text.startswith("<html><head><title>502 Bad Gateway</title></head>")


def test_error_with_status_200_has_a_latency() -> None:
    (got,) = outcomes(only("error200"), 1)
    assert got.json == {"error": "engine busy", "latency": 1.0}


def test_drop_closes_the_connection() -> None:
    assert [got.status for got in outcomes(only("drop"), 2)] == [None, None]


def test_stall_answers_late_but_right() -> None:
    started = time.perf_counter()
    (got,) = outcomes(only("stall"), 1)
    assert time.perf_counter() - started >= 0.3
    assert got.json["count"] == 2918


def test_burst_forbids_everything_for_a_while() -> None:
    with ApiServer(CORPORA, faults=Faults(burst403_at=2, burst403_s=0.5)) as server:
        statuses = [ask(server.url, THE).status]
        refused = ask(server.url, THE)
        statuses += [refused.status, ask(server.url, THE).status]
        time.sleep(0.6)
        statuses.append(ask(server.url, THE).status)
    assert statuses == [200, 403, 403, 200]
    assert refused.headers["retry-after"] == "2"
    assert refused.headers["content-type"] == "text/html"
    assert refused.text.startswith("<html><head><title>403 Forbidden</title></head>")


def test_forbidden_for_good() -> None:
    answers = outcomes(Faults(forbid_after=3), 5)
    assert [got.status for got in answers] == [200, 200, 403, 403, 403]
    assert "retry-after" not in answers[-1].headers


def test_one_query_always_fails() -> None:
    with ApiServer(CORPORA, faults=Faults(fail_always=("the",))) as server:
        for kind in ("count", "find", "count"):
            got = ask(server.url, {**THE, "query_type": kind})
            assert got.status == 500
            crash = "[Flask] Internal server error: engine crashed on this query"
            assert got.json == {"error": crash}
        place = {"s": 0, "rank": 1000, "max_ctx_len": 20}
        assert ask(server.url, {**THE, "query_type": "get_doc_by_rank", **place}).status == 200
        assert ask(server.url, {**THE, "query": "then"}).status == 200
        assert [entry.fault for entry in server.requests] == ["fail_always"] * 3 + [None] * 2


@pytest.mark.parametrize("raw", ["", "{", '{"count": "7"}', "[]", '{"count": NaN}'])
def test_malformed_body_is_sent_as_it_is(raw: str) -> None:
    (got,) = outcomes(Faults(bodies={"the": raw}), 1)
    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert got.text == raw


def test_faults_depend_on_the_seed() -> None:
    def drawn(seed: int) -> list[int | None]:
        faults = Faults(seed=seed, rate=0.3, kinds=("500", "drop", "429"))
        return [got.status for got in outcomes(faults, 150)]

    first = drawn(1)
    assert first == drawn(1)
    assert first != drawn(2)
    assert 0.5 < first.count(200) / len(first) < 0.9
    assert set(first) == {200, 500, None, 429}


def test_faults_of_a_process_are_logged(tmp_path: Path) -> None:
    faults = Faults(rate=1, kinds=("500",), bodies={"x": "{"}, forbid_after=3)
    with spawn(CORPORA, faults=faults) as server:
        answers = [ask(server.url, {**THE, "query": query}) for query in "axa"]
        logged = [line["fault"] for line in server.read_log()]
    assert [got.status for got in answers] == [500, 200, 403]
    assert logged == ["500", "body", "forbid"]


def test_faults_come_back_from_their_file(tmp_path: Path) -> None:
    faults = Faults(7, 0.5, FAULT_KINDS, 1.5, 3, 0.1, ("a", "b"), 9, {"q": "["})
    faults.dump(tmp_path / "faults.json")
    assert Faults.load(tmp_path / "faults.json") == faults


@pytest.mark.parametrize("faults", [{"kinds": ("501",)}, {"rate": 0.5}])
def test_impossible_faults_are_refused(faults: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        Faults(**faults)
