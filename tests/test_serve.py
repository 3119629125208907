"""The server of local indexes says what the original service was recorded to say, and no less."""

from __future__ import annotations

import asyncio
import http.client
import json
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.fm9.reader import open_shards
from ngramscan.progress import Silent
from ngramscan.serve import ServeOptions, app, name_folders, serve_folders
from ngramscan.serve.protocol import RefusedError, ServedIndex, answer, to_json
from ngramscan.serve.server import open_socket
from tests.command import run
from tests.serve_process import INDEXES, REPLAY, Served, serving
from tests.support.exchanges import EXCHANGES, Answer, ask, comparable, read_lines, replay, send

QUERIES = ("step by step", "first, we need to", "ภาษา", "return")
PATTERNS = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: "first, we need to", method: CoT, tier: T2, kind: narrative}
  - {text: ภาษา, method: CoT, tier: T2, kind: narrative}
  - {text: return, method: PoT, tier: T2, kind: code}
"""
THE = {"index": "replay", "query_type": "count", "query": "the"}
JSON = {"Content-Type": "application/json"}
WINDOW = {
    **THE,
    "query_type": "get_doc_by_rank",
    "query": "step by step",
    "s": 0,
    "rank": 296330,
    "max_ctx_len": 20,
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def indexes() -> dict[str, ServedIndex]:
    return {folder.name: ServedIndex(folder.name, open_shards(folder)) for folder in INDEXES}


# --- recordings ---------------------------------------------------------------------------------

# Served by the original, refused here: outside the documented range.
REFUSED = {
    "get.replay.paper01.s0.first.ctx0",
    "get.replay.paper01.s0.first.ctx10001",
    "get.replay.paper01.s0.first.ctx1000000",
    "get.ctx_true",
    "get.ctx_2pow63",
    "get.ctx_2pow64_minus_1",
}
# Refused by the original, served here: fields that are not known do no harm.
IGNORED = {
    "get.unknown_field",
    "get.needle_len_field",
    "count.unknown_field",
    "count.max_ctx_len_field",
    "find.rank_field",
}


def is_answered(exchange: dict[str, Any]) -> bool:
    """Whether the recording is an answer that this server gives too."""
    if exchange["valid"]:
        return True
    response = exchange["response"]
    answered = response["status"] == 200 and "latency" in (response.get("json") or {})
    return answered and exchange["name"] not in REFUSED


ANSWERED = [exchange for exchange in EXCHANGES if is_answered(exchange)]
REST = [exchange for exchange in EXCHANGES if not is_answered(exchange)]


def test_all_exchanges_are_replayed() -> None:
    assert len(EXCHANGES) == 893
    names = {exchange["name"] for exchange in REST}
    assert names > REFUSED | IGNORED
    assert sum(exchange["valid"] for exchange in ANSWERED) == 787


@pytest.mark.parametrize("exchange", ANSWERED, ids=lambda exchange: exchange["name"])
def test_request_is_answered_as_by_the_original(served: Served, exchange: dict[str, Any]) -> None:
    got = replay(served.url, exchange["request"])
    expected = exchange.get("correct", exchange["response"].get("json"))
    assert (got.status, got.headers["content-type"]) == (200, "application/json")
    assert comparable(got.json) == comparable(expected)
    assert isinstance(got.json["latency"], float)
    assert got.text.isascii()
    assert got.text == json.dumps(got.json, sort_keys=True, separators=(",", ":")) + "\n"


def expected_status(exchange: dict[str, Any]) -> int:
    recorded: int | None = exchange["response"]["status"]
    return recorded if recorded in {404, 405, 415} else 400


def assert_is_refusal(got: Answer, status: int) -> str:
    assert (got.status, got.headers["content-type"]) == (status, "application/json")
    assert list(got.json) == ["error"]
    problem = got.json["error"]
    assert problem
    for word in ("Flask", "Processor", "()", "object at", "Traceback", "<"):
        assert word not in problem
    assert isinstance(problem, str)
    return problem


@pytest.mark.parametrize(
    "exchange",
    [e for e in REST if e["name"] not in IGNORED and not e["name"].startswith("method_")],
    ids=lambda exchange: exchange["name"],
)
def test_request_is_refused_in_json(served: Served, exchange: dict[str, Any]) -> None:
    got = replay(served.url, exchange["request"])
    problem = assert_is_refusal(got, expected_status(exchange))
    for part, field in (
        (".ctx", "max_ctx_len"),
        (".rank_", "rank"),
        (".s_", "s "),
        (".query_", "query"),
        ("index_", "index"),
        ("query_type_", "query_type"),
        ("surrogate", "query"),
        ("body_", "body"),
        ("content_type", "Content-Type"),
    ):
        if part in exchange["name"]:
            assert field in problem
    missing = exchange["name"].partition("missing_")[2]
    if missing and missing != "all":
        assert repr(missing) in problem


@pytest.mark.parametrize(
    "exchange", [e for e in REST if e["name"] in IGNORED], ids=lambda exchange: exchange["name"]
)
def test_unknown_fields_are_ignored(served: Served, exchange: dict[str, Any]) -> None:
    request = exchange["request"]["json"]
    names = ["index", "query_type", "query"]
    if request["query_type"] == "get_doc_by_rank":
        names += ["s", "rank", "max_ctx_len"]
    got = ask(served.url, request)
    assert got.status == 200
    plain = ask(served.url, {name: request[name] for name in names})
    assert comparable(got.json) == comparable(plain.json)


@pytest.mark.parametrize(
    "exchange",
    [e for e in REST if e["name"].startswith("method_")],
    ids=lambda exchange: exchange["name"],
)
def test_method_is_told_what_is_allowed(served: Served, exchange: dict[str, Any]) -> None:
    got = replay(served.url, exchange["request"])
    assert got.status == exchange["response"]["status"]
    assert set(got.headers["allow"].split(", ")) == {"OPTIONS", "POST"}
    if exchange["request"]["method"] not in {"HEAD", "OPTIONS"}:
        assert_is_refusal(got, 405)


def test_other_client_of_the_recordings_is_content(indexes: dict[str, ServedIndex]) -> None:
    for line in read_lines("reader_expected.jsonl"):
        cut = line.get("window")
        if line["kind"] == "rank" and cut and cut["text"] is not None:
            index = indexes[line["index"]]
            length, context = cut["needle_len"], cut["max_ctx_len"]
            window = index.window(line["shard"], line["rank"], length, context)
            expected = {
                name: cut[name] for name in ("disp_len", "doc_len", "needle_offset", "text")
            }
            expected |= {name: line[name] for name in ("doc_ix", "metadata")}
            assert window == expected


# --- fields -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"s": 1}, "s is out of range; 0 to 0 was expected"),
        ({"rank": 361157}, "rank is out of range; 0 to 361156 was expected"),
        ({"rank": -1}, "rank is out of range; 0 to 361156 was expected"),
        ({"rank": 1.0}, "rank is a number that is not whole; a whole number was expected"),
        ({"rank": True}, "rank is a boolean; a whole number was expected"),
        ({"rank": "1"}, "rank is a string; a whole number was expected"),
        ({"rank": None}, "rank is null; a whole number was expected"),
        ({"s": []}, "s is a list; a whole number was expected"),
        ({"max_ctx_len": 0}, "max_ctx_len is out of range; 1 to 10000 was expected"),
        ({"max_ctx_len": 2**70}, "max_ctx_len is out of range; 1 to 10000 was expected"),
        ({"query": 5}, "query is a number; a string was expected"),
        ({"query": "a\ud800"}, "query has a lone surrogate at character 1; Unicode text was "),
        ({"query_type": {}}, "query_type is an object; a string was expected"),
        ({"query_type": "Count"}, "Invalid query_type: Count; count, find or get_doc_by_rank was"),
        ({"index": "x" * 999}, f"Invalid index: {'x' * 100}…; here are replay, replay2"),
    ],
)
def test_refusal_names_the_field(
    indexes: dict[str, ServedIndex], change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        answer(indexes, json.dumps({**WINDOW, **change}).encode())
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("body", [b"[" * 500_000, b'{"a":' * 100_000, b'{"s": ' + b"9" * 5000])
def test_body_that_breaks_parsers_is_refused(indexes: dict[str, ServedIndex], body: bytes) -> None:
    with pytest.raises(RefusedError, match="The body is"):
        answer(indexes, body)


def test_rank_outside_the_segment_is_served(served: Served) -> None:
    got = ask(served.url, {**WINDOW, "query": "nothing here"})
    assert got.status == 200
    assert got.json["spans"] == [[got.json["text"], None]]


# --- HTTP ---------------------------------------------------------------------------------------


def test_list_tells_what_is_served(served: Served) -> None:
    got = send(served.url, "GET", "/indexes", None, {})
    one = {"bytes": 360899, "documents": 257}
    assert got.json == {
        "indexes": [
            {**one, "name": "replay", "shards": 1},
            {**one, "name": "replay2", "shards": 2},
        ]
    }
    assert_is_refusal(send(served.url, "POST", "/indexes", b"{}", JSON), 405)
    assert_is_refusal(send(served.url, "GET", "/indexes/", None, {}), 404)


def test_connection_is_kept(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    for body in (json.dumps(THE), "{}", json.dumps(THE)):
        connection.request("POST", "/", body, JSON)
        response = connection.getresponse()
        assert response.status == (400 if body == "{}" else 200)
        response.read()
        assert connection.sock is not None
    connection.close()


@pytest.mark.parametrize("chunked", [False, True])
def test_long_body_is_refused(served: Served, chunked: bool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    block = b" " * 100_000
    body = iter([block] * 30) if chunked else block * 30
    connection.request("POST", "/", body, JSON, encode_chunked=chunked)
    response = connection.getresponse()
    assert response.status == 413
    assert "1000000 bytes" in json.loads(response.read())["error"]
    connection.close()


def test_query_may_be_as_long_as_the_body(served: Served) -> None:
    assert ask(served.url, {**THE, "query": "the " * 200_000}).json["count"] == 0


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01 hello\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"]
)
def test_what_is_no_http_gets_json_too(served: Served, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(sent)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"]


def test_broken_chunks_get_json_too(served: Served) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    assert reply.startswith(b"HTTP/1.1 400 ")
    assert ask(served.url, THE).json["count"] == 2918


def test_parallel_clients_get_their_own_answers(served: Served) -> None:
    queries = {"the": 2918, "step by step": 713, "step-by-step": 341, "zqxjkvbpzqxjkvbp": 0}
    asked = list(queries) * 50
    with ThreadPoolExecutor(8) as pool:
        got = pool.map(lambda query: ask(served.url, {**THE, "query": query}).json["count"], asked)
    assert list(got) == [queries[query] for query in asked]


# --- bounds, without a socket -------------------------------------------------------------------

Message = MutableMapping[str, Any]


class SlowIndex(ServedIndex):
    """Answers when it is told to."""

    def __init__(self) -> None:
        super().__init__("slow", [])
        self.go = threading.Event()

    def segments(self, query: bytes) -> list[list[int]]:
        self.go.wait(30)
        return [[0, len(query)]]


async def post(
    service: app.Service,
    parts: Sequence[bytes],
    pause_s: float = 0,
    sent: list[Message] | None = None,
) -> list[Message]:
    """Send the parts of a body to the application; return what it sends."""
    left = list(parts)
    sent = [] if sent is None else sent

    async def receive() -> Message:
        await asyncio.sleep(pause_s)
        if not left:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send_message(message: Message) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    await service.application()(scope, receive, send_message)
    return sent


SLOW = json.dumps({"index": "slow", "query_type": "count", "query": "abc"}).encode()


def test_slow_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "BODY_TIMEOUT_S", 0.05)
    service = app.Service({}, 1, Silent())
    start, body = asyncio.run(post(service, [b"{"] * 100, pause_s=0.02))
    assert start["status"] == 408
    assert (b"connection", b"close") in start["headers"]
    assert "did not come" in json.loads(body["body"])["error"]


def test_client_that_leaves_costs_nothing() -> None:
    service = app.Service({"slow": SlowIndex()}, 1, Silent())
    message, *_ = asyncio.run(post(service, []))
    assert message["status"] == 400
    assert service._under_way == 0


def test_more_than_can_wait_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_WAITING", 2)
    slow = SlowIndex()
    service = app.Service({"slow": slow}, 1, Silent())

    async def scene() -> list[list[Message]]:
        waiting = [asyncio.create_task(post(service, [SLOW])) for _ in range(3)]
        await asyncio.sleep(0.05)
        refused = await post(service, [SLOW])
        slow.go.set()
        return [refused, *await asyncio.gather(*waiting), await post(service, [SLOW])]

    (start, body), *answered = asyncio.run(scene())
    assert start["status"] == 503
    assert (b"retry-after", b"1") in start["headers"]
    assert "Too many" in json.loads(body["body"])["error"]
    assert [reply[0]["status"] for reply in answered] == [200] * 4
    assert json.loads(answered[0][1]["body"])["count"] == 3


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (IndexFormatError("data.fm9", "field rrr: wrong"), "data.fm9: field rrr: wrong"),
        (ZeroDivisionError("a secret"), "Internal error"),
    ],
)
def test_fault_of_the_server_is_told_in_json(error: Exception, problem: str) -> None:
    class BrokenIndex(SlowIndex):
        def segments(self, query: bytes) -> list[list[int]]:
            raise error

    sent: list[Message] = []
    service = app.Service({"slow": BrokenIndex()}, 1, Silent())
    # What is not anticipated is raised too, for the log.
    with nullcontext() if problem != "Internal error" else pytest.raises(ZeroDivisionError):
        asyncio.run(post(service, [SLOW], sent=sent))
    start, body = sent
    assert start["status"] == 500
    assert json.loads(body["body"]) == {"error": problem}


# --- beginning and end --------------------------------------------------------------------------


def test_start_tells_where_and_how() -> None:
    with serving() as server:
        url = server.url
        assert server.lines == [
            f"{url}replay: 257 documents, 361 kB of text",
            f"{url}replay2: 257 documents, 361 kB of text",
            f"curl {url} -H 'Content-Type: application/json' -d "
            """'{"index": "replay", "query_type": "count", "query": "step by step"}'""",
            f"ngramscan count f1 --index {url}replay",
        ]
        assert server.end(signal.SIGTERM) == 0
        assert len(server.lines) == 4


@pytest.mark.parametrize(("signal_number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_end_waits_for_requests_under_way(signal_number: int, code: int) -> None:
    body = json.dumps(THE).encode()
    head = (
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with serving() as server:
        idle = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        asking = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        with idle, asking:
            asking.sendall(head.encode() + body[:10])
            assert ask(server.url, THE).status == 200  # so the other one has arrived
            server.process.send_signal(signal_number)
            assert idle.recv(100) == b""  # closed: it ends
            asking.sendall(body[10:])
            reply = b"".join(iter(lambda: asking.recv(65536), b""))
        assert reply.startswith(b"HTTP/1.1 200 ")
        assert json.loads(reply.partition(b"\r\n\r\n")[2])["count"] == 2918
        assert server.process.wait(timeout=30) == code
        server.reader.join(timeout=10)
        assert len(server.lines) == 4  # no traceback


def test_killed_server_starts_again_at_the_same_port() -> None:
    with serving() as first:
        port = first.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/", json.dumps(THE), JSON)
        connection.getresponse().read()
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
        with serving("--port", str(port)) as second:
            assert second.port == port
            assert ask(second.url, THE).json["count"] == 2918
        connection.close()


@pytest.mark.parametrize(
    "host", ["localhost:80", "LOCALHOST", "127.0.0.1:9", "[::1]:9", "10.1.2.3"]
)
def test_server_answers_to_its_own_names_and_to_addresses(served: Served, host: str) -> None:
    answer = send(served.url, "POST", "/", json.dumps(THE).encode(), {**JSON, "Host": host})
    assert answer.status == 200


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_page_elsewhere_cannot_ask_a_loopback_server(served: Served, method: str) -> None:
    path = "/" if method == "POST" else "/indexes"
    headers = {**JSON, "Host": "evil.example:8787"}
    answer = send(served.url, method, path, json.dumps(THE).encode(), headers)
    assert answer.status == 421
    assert "evil.example" in json.loads(answer.text)["error"]


def test_allowed_host_is_answered() -> None:
    with serving("--allow-host", "Corpora.Example") as server:
        headers = {**JSON, "Host": "corpora.example"}
        assert send(server.url, "POST", "/", json.dumps(THE).encode(), headers).status == 200


def test_slow_headers_are_given_up(served: Served) -> None:
    """A byte every second keeps no connection for longer than ten."""
    with socket.create_connection(("127.0.0.1", served.port)) as client:
        client.settimeout(0.2)
        started_at = time.monotonic()
        for byte in b"POST / HTTP/1.1\r\nHost: localhost\r\n":
            with suppress(TimeoutError, OSError):
                client.sendall(bytes([byte]))
            try:
                if client.recv(1) == b"":
                    break
            except TimeoutError:
                time.sleep(0.8)
            except OSError:
                break
    assert 8 < time.monotonic() - started_at < 14


def test_file_cut_while_served_is_a_503_for_that_index(tmp_path: Path) -> None:
    folders = [tmp_path / "cut", tmp_path / "whole"]
    for folder in folders:
        shutil.copytree(INDEXES[0], folder)
    with serving(indexes=tuple(folders)) as server:
        with (folders[0] / "data.fm9").open("r+b") as file:
            file.truncate(100)
        for name, status in (("cut", 503), ("whole", 200), ("cut", 503)):
            asked = json.dumps({**THE, "index": name}).encode()
            answer = send(server.url, "POST", "/", asked, JSON)
            assert answer.status == status
            assert ("became shorter" in answer.text) == (status == 503)


def test_port_in_use_is_one_line(served: Served) -> None:
    ran = run("serve", INDEXES[0], "--port", str(served.port))
    assert ran.code == 2
    assert ran.stderr == (f"Error: --host 127.0.0.1 --port {served.port}: address already in use\n")


def test_host_elsewhere_is_one_line() -> None:
    ran = run("serve", INDEXES[0], "--host", "192.0.2.1", "--port", "0")
    assert (ran.code, ran.stderr.count("\n")) == (2, 1)
    assert ran.stderr.startswith("Error: --host 192.0.2.1")


def test_public_host_is_warned_of() -> None:
    with serving("--host", "0.0.0.0", indexes=INDEXES[:1]) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert ask(server.url, THE).status == 200
        server.end(signal.SIGTERM)
        assert server.lines[1] == ("whoever reaches 0.0.0.0 can ask: there is no authentication")


def test_small_answers_are_sent_at_once() -> None:
    with open_socket("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # what asyncio looks at


def test_folders_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "replay").mkdir()
    with pytest.raises(InputError, match=r"has the same name, so requests can't tell them apart"):
        name_folders([INDEXES[0], tmp_path / "replay"])
    with pytest.raises(InputError, match="has the same name"):
        name_folders([INDEXES[0], INDEXES[0]])
    with pytest.raises(InputError, match="can't name an index"):
        name_folders([Path("/")])


def test_corrupt_index_is_never_served(tmp_path: Path) -> None:
    shutil.copytree(INDEXES[1], tmp_path / "cut")
    file = tmp_path / "cut" / "1" / "data.fm9"
    file.write_bytes(file.read_bytes()[:-9])
    ran = run("serve", INDEXES[0], tmp_path / "cut", "--port", "0")
    assert ran.code == 1
    assert ran.stderr.startswith(f"Error: {file}: ")
    assert ran.stderr.count("\n") == 1


def test_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    ran = run("serve", tmp_path, "--port", "0")
    assert ran.code == 1
    assert ran.stderr.startswith(f"Error: {tmp_path}: no index")


@pytest.mark.parametrize("module", ["uvicorn", "starlette.applications", "numba"])
def test_missing_extra_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith(("ngramscan.serve.", "ngramscan.fm9")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("ngramscan.serve.app", raising=False)
    monkeypatch.delattr("ngramscan.serve.server", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"needs .*: pip install 'ngramscan\[serve\]'"):
        serve_folders([INDEXES[0]], ServeOptions(port=0), Silent())


def test_verbose_tells_of_requests() -> None:
    with serving("-v", indexes=INDEXES[:1]) as server:
        ask(server.url, THE)
        server.end(signal.SIGTERM)
        assert server.lines[-1].startswith("200 in ")


# --- the commands over HTTP ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def texts() -> list[str]:
    files = [REPLAY / "docs" / "a.jsonl", REPLAY / "docs" / "b.jsonl"]
    lines = [line for file in files for line in file.read_text("utf-8").split("\n") if line]
    return [json.loads(line)["text"] for line in lines]


@pytest.fixture
def pattern_file(tmp_path: Path) -> Path:
    file = tmp_path / "mine.yaml"
    file.write_text(PATTERNS, encoding="utf-8")
    return file


def occurrences(text: str, query: str) -> int:
    return sum(text.startswith(query, at) for at in range(len(text)))


@pytest.mark.parametrize("name", ["replay", "replay2"])
def test_count_says_what_the_documents_say(
    served: Served, texts: list[str], pattern_file: Path, name: str
) -> None:
    ran = run("count", pattern_file, "--index", f"{served.url}{name}", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    counted = {row["pattern"]: int(row["occurrences"]) for row in ran.rows}
    assert counted == {query: sum(occurrences(text, query) for text in texts) for query in QUERIES}


def test_docnorm_says_what_the_documents_say(
    served: Served, texts: list[str], pattern_file: Path
) -> None:
    where = f"{served.url}replay2"
    ran = run("docnorm", pattern_file, "--index", where, "--samples", "20", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert {row["pattern"] for row in ran.rows} == set(QUERIES)
    for row in ran.rows:
        holding = sum(row["pattern"] in text for text in texts)
        assert int(row["documents_low"]) <= holding <= int(row["documents_high"])
        assert int(row["occurrences"]) == sum(occurrences(text, row["pattern"]) for text in texts)


def test_contexts_are_of_the_documents(served: Served, texts: list[str]) -> None:
    where = f"{served.url}replay2"
    ran = run("contexts", "ภาษา", "--index", where, "-n", "20", "--format", "csv")
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.rows
    for row in ran.rows:
        assert row["match"] == "ภาษา"
        document = texts[int(row["document"])]
        assert row["left"] + row["match"] + row["right"] in document
        known = json.loads(row["metadata"])
        assert (
            texts.index(document) - (0 if known["path"] == "a.jsonl" else 141) == known["linenum"]
        )


def test_answers_are_ascii_lines() -> None:
    assert to_json({"b": "é\u2028", "a": 1}) == b'{"a":1,"b":"\\u00e9\\u2028"}\n'
