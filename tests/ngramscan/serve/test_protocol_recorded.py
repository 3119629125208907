"""The server of local indexes answers and refuses as the original was recorded to do."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

import ngramscan
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.serve.protocol import ServedIndex, answer
from tests.support.places import REPLAY
from tests.support.serve_process import (
    EXCHANGES,
    INDEXES,
    JSON,
    THE,
    Served,
    ask,
    read_lines,
    replay,
    send,
    serving,
)

PLACE = {"query": "step by step", "s": 0, "rank": 296330, "max_ctx_len": 20}

WINDOW = {**THE, "query_type": "get_doc_by_rank", **PLACE}

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("-v", "--allow-host", "Corpora.Example") as one:
        yield one


@pytest.fixture(scope="module")
def indexes() -> dict[str, ServedIndex]:
    return {folder.name: ServedIndex(folder.name, open_shards(folder)) for folder in INDEXES}


# Served by the original, refused here: outside the documented range.
CONTEXTS = {f"get.replay.paper01.s0.first.ctx{n}" for n in (0, 10_001, 1_000_000)}

REFUSED = {*CONTEXTS, "get.ctx_true", "get.ctx_2pow63", "get.ctx_2pow64_minus_1"}

# Refused by the original, served here: fields that are not known do no harm.
IGNORED = {
    *("get.unknown_field", "get.needle_len_field", "count.unknown_field"),
    *("count.max_ctx_len_field", "find.rank_field"),
}


def is_answered(exchange: dict[str, Any]) -> bool:
    """Whether the recording is an answer that this server gives too."""
    response = exchange["response"]
    answered = response["status"] == 200 and "latency" in (response.get("json") or {})
    return exchange["valid"] or (answered and exchange["name"] not in REFUSED)


def comparable(body: Any) -> Any:
    """Blank what differs from one answer to the next: time, and where empty segments are."""
    segments = [[lo, hi] if lo < hi else [0, 0] for lo, hi in body.get("segment_by_shard", [])]
    return {**body, "latency": None, "segment_by_shard": segments}


def test_requests_are_answered_as_by_the_original(served: Served) -> None:
    answered = [exchange for exchange in EXCHANGES if is_answered(exchange)]
    assert len(EXCHANGES) == 893
    assert sum(exchange["valid"] for exchange in answered) == 787
    wrong: dict[str, Any] = {}
    for exchange in answered:
        got = replay(served.url, exchange["request"])
        expected = exchange.get("correct", exchange["response"].get("json"))
        if (got.status_code, got.headers["content-type"]) != (200, "application/json"):
            wrong[exchange["name"]] = (exchange["request"], got.status_code, got.text, expected)
        elif comparable(got.json()) != comparable(expected) or not is_spelt_alike(got):
            wrong[exchange["name"]] = (exchange["request"], got.text, expected)
    assert wrong == {}


def is_spelt_alike(got: httpx.Response) -> bool:
    """Tell whether an answer is sorted, ASCII, without blanks, on one line, and has its time."""
    spelling = json.dumps(got.json(), sort_keys=True, separators=(",", ":"))
    return got.text == f"{spelling}\n" and isinstance(got.json()["latency"], float)


def assert_is_refusal(got: httpx.Response, status: int) -> str:
    assert (got.status_code, got.headers["content-type"]) == (status, "application/json")
    assert list(got.json()) == ["error"]
    problem = got.json()["error"]
    assert isinstance(problem, str)
    assert problem
    for word in ("Flask", "Processor", "()", "object at", "Traceback", "<"):
        assert word not in problem
    return problem


REST = [
    exchange
    for exchange in EXCHANGES
    if not is_answered(exchange) and exchange["name"] not in IGNORED
]
WITHOUT_A_BODY = {"method_HEAD", "method_OPTIONS"}
FIELDS = {
    ".ctx": "max_ctx_len",
    ".rank_": "rank",
    ".s_": "s ",
    ".query_": "query",
    "index_": "index",
    "query_type_": "query_type",
    "surrogate": "query",
    "body_": "body",
    "content_type": "Content-Type",
}
"""What a refusal names, by a part of the names of its recordings."""


def test_all_that_the_original_takes_beyond_its_range_is_among_the_rest() -> None:
    names = {exchange["name"] for exchange in EXCHANGES if not is_answered(exchange)}
    assert names > REFUSED | IGNORED


@pytest.mark.parametrize(
    "exchange",
    [pytest.param(exchange, id=exchange["name"]) for exchange in REST],
)
def test_the_rest_is_refused_in_json(served: Served, exchange: dict[str, Any]) -> None:
    name, recorded = exchange["name"], exchange["response"]["status"]
    got = replay(served.url, exchange["request"])
    if name.startswith("method_"):
        assert got.status_code == recorded
        assert set(got.headers["allow"].split(", ")) == {"OPTIONS", "POST"}
    if name in WITHOUT_A_BODY:
        assert got.content == b""
        return
    problem = assert_is_refusal(got, recorded if recorded in {404, 405, 415} else 400)
    assert {
        field for part, field in FIELDS.items() if part in name and field not in problem
    } == set()
    missing = name.partition("missing_")[2]
    assert missing in {"", "all"} or repr(missing) in problem


@pytest.mark.parametrize("name", sorted(IGNORED))
def test_unknown_fields_are_ignored(indexes: dict[str, ServedIndex], name: str) -> None:
    (request,) = [one["request"]["json"] for one in EXCHANGES if one["name"] == name]
    known = WINDOW if request["query_type"] == "get_doc_by_rank" else THE
    plain = {field: request[field] for field in known}
    both = [answer(indexes, json.dumps(one).encode()) for one in (request, plain)]
    assert comparable(both[0]) == comparable(both[1])


def test_rank_outside_the_segment_is_served(indexes: dict[str, ServedIndex]) -> None:
    got = answer(indexes, json.dumps({**WINDOW, "query": "nothing here"}).encode())
    assert got["spans"] == [(got["text"], None)]


def test_the_list_has_all_served_indexes(served: Served) -> None:
    one = {"bytes": 360899, "documents": 257, "max_context": 10_000}
    indexes = [{**one, "name": "replay", "shards": 1}, {**one, "name": "replay2", "shards": 2}]
    assert send(served.url, None, {}, "GET", "/indexes").json() == {"indexes": indexes}
    wrong = send(served.url, b"{}", JSON, path="/indexes")
    assert assert_is_refusal(wrong, 405) == "POST is not allowed; expected GET"
    assert_is_refusal(send(served.url, None, {}, "GET", "/indexes/"), 404)


def test_connection_is_kept(served: Served) -> None:
    with httpx.Client(verify=False) as client:
        replies = [client.post(served.url, json=document) for document in (THE, {}, THE)]
        assert [reply.status_code for reply in replies] == [200, 400, 200]
        streams = [reply.extensions["network_stream"] for reply in replies]
        assert len({stream.get_extra_info("client_addr") for stream in streams}) == 1


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01 hello\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["no HTTP", "no length", "no chunks"],
)
def test_invalid_http_gets_json_too(served: Served, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(sent)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"Transfer-Encoding" in sent or json.loads(body)["error"]
    assert ask(served.url, THE).json()["count"] == 2918


def test_parallel_clients_get_their_own_answers(served: Served) -> None:
    queries = {"the": 2918, "step by step": 713, "step-by-step": 341, "zqxjkvbpzqxjkvbp": 0}
    with ThreadPoolExecutor(8) as pool:
        asked = [THE | {"query": query} for query in queries] * 50
        got = pool.map(ask, [served.url] * len(asked), asked)
        assert [one.json()["count"] for one in got] == [*queries.values()] * 50


def test_count_says_what_the_documents_say(served: Served) -> None:
    texts = [line["text"] for name in "ab" for line in read_lines(REPLAY / f"docs/{name}.jsonl")]
    rows = ngramscan.count("f1", index=f"{served.url}replay2", rate=0).to_dict("records")
    assert sum(row["occurrences"] for row in rows) > 1000
    counted = {
        row["query"]: sum(len(re.findall(f"(?={re.escape(row['query'])})", text)) for text in texts)
        for row in rows
    }
    assert {row["query"]: row["occurrences"] for row in rows} == counted
