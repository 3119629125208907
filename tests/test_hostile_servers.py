"""Answers of a server that can't be true, or have no end, fail alone and poison no journal."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ngramscan.cli import main
from ngramscan.pace import exchange

TEXT = "here step by step we go"
DEEP = b"[" * 100_000 + b"]" * 100_000
Answer = Callable[[dict[str, Any]], dict[str, Any]]


def healthy(question: dict[str, Any]) -> dict[str, Any]:
    """Answer as for a corpus of one document, `TEXT`."""
    start = TEXT.index("step by step")
    kind = question["query_type"]
    if kind == "count":
        return {"count": 7}
    if kind == "find":
        return {"cnt": 1, "segment_by_shard": [[3, 4]]}
    left = max(0, start - question["max_ctx_len"])
    stop = start + len(question["query"]) + question["max_ctx_len"]
    shown = TEXT[left:stop]
    return {
        "doc_ix": 0,
        "doc_len": len(TEXT),
        "disp_len": len(shown),
        "needle_offset": start - left,
        "metadata": "{}",
        "text": shown,
    }


class Server:
    """A service on the loopback address whose answers can be made bad."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.change: Answer | None = None
        self.body: bytes | None = None
        self.drip_s = 0.0
        self.asked = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked += 1
        question = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        said = healthy(question)
        body = json.dumps({**said, **(self.change(said) if self.change else {})}).encode()
        body = body if self.body is None else self.body
        handler.send_response(self.status)
        for name, value in self.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        try:
            for byte in body if self.drip_s else ():
                handler.wfile.write(bytes([byte]))
                time.sleep(self.drip_s)
            if not self.drip_s:
                handler.wfile.write(body)
        except OSError:
            pass

    def recover(self) -> None:
        self.status, self.headers, self.change, self.body, self.drip_s = 200, {}, None, None, 0.0

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # A failure that may pass is asked again for half a minute, which is tested elsewhere.
    monkeypatch.setattr(exchange, "ATTEMPTS", 1)
    made = Server()
    yield made
    made.close()


@pytest.fixture
def patterns(tmp_path: Path) -> Path:
    path = tmp_path / "p.yaml"
    path.write_text(
        "name: p\npatterns:\n  - {text: step by step, method: CoT, tier: T1, kind: code}\n"
    )
    return path


def count(server: Server, patterns: Path, *more: str) -> Result:
    where = ("--api-url", server.url, "--index", "dclm", "--format", "csv")
    return CliRunner().invoke(main, ["count", str(patterns), *where, *more])


def contexts(server: Server, *more: str) -> Result:
    where = ("--api-url", server.url, "--index", "dclm", "--format", "jsonl")
    return CliRunner().invoke(main, ["contexts", "step by step", *where, "-n", "1", *more])


def failed(done: Result, problem: str) -> None:
    """Check that a command ended with one line that says what is wrong."""
    assert done.exit_code == 1, done.output
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("Error: ")
    assert problem in lines[0]
    assert len(lines[0]) < 1000


HOSTILE_REPLIES = [
    pytest.param({"body": DEEP}, "no JSON object", id="nested list"),
    pytest.param({"body": b'{"count": ' + DEEP + b"}"}, "no JSON object", id="nested count"),
    pytest.param({"body": b'{"error": ' + DEEP + b"}"}, "no JSON object", id="nested error"),
    pytest.param({"status": 503, "headers": {"Retry-After": "²"}}, "HTTP 503", id="Retry-After"),
    pytest.param(
        {"status": 503, "headers": {"Retry-After": "9" * 5000}}, "HTTP 503", id="long Retry-After"
    ),
    pytest.param({"headers": {"Content-Encoding": "gzip"}}, "not gzip", id="no gzip"),
    pytest.param(
        {"headers": {"Content-Encoding": "zstd"}}, "unknown encoding 'zstd'", id="encoding"
    ),
    pytest.param({"body": b'{"count": 1' + b"0" * 4000 + b"}"}, "more occurrences", id="10^4000"),
    pytest.param({"body": b'{"count": 1' + b"0" * 5000 + b"}"}, "no JSON object", id="10^5000"),
    pytest.param({"body": b'{"count": 90000000000000}'}, "more occurrences", id="above the bytes"),
    pytest.param({"body": b'{"count": -1}'}, "no count", id="below 0"),
    pytest.param({"body": b" " * 1_100_000}, "more than 1,000,000 bytes", id="long"),
    pytest.param({"drip_s": 0.3}, "no answer in 1 s", id="drip"),
]


@pytest.mark.parametrize(("faults", "problem"), HOSTILE_REPLIES)
def test_a_count_that_can_not_be_true_is_one_line_and_not_kept(
    server: Server, patterns: Path, faults: dict[str, Any], problem: str
) -> None:
    for name, value in faults.items():
        setattr(server, name, value)
    started_at = time.monotonic()
    failed(count(server, patterns, "--timeout", "1"), problem)
    assert time.monotonic() - started_at < 10
    server.recover()
    asked = server.asked
    done = count(server, patterns)
    assert (done.exit_code, done.stdout.count(",7,,api,")) == (0, 1), done.output
    assert server.asked > asked
    assert ",7,,journal," in count(server, patterns).stdout


HOSTILE_WINDOWS = [
    pytest.param({"segment_by_shard": [[3, 2**70]], "cnt": 2**70 - 3}, "segments", id="2^70"),
    pytest.param({"segment_by_shard": [[-1, 0]]}, "no segments", id="negative rank"),
    pytest.param({"segment_by_shard": [[0, 2**47]], "cnt": 2**47}, "more occ", id="above bytes"),
    pytest.param({"cnt": 2}, "do not sum", id="another sum"),
    pytest.param({"text": TEXT + "\ud83d", "disp_len": 26}, "half a character", id="half"),
    pytest.param({"metadata": "\ud83d"}, "half a character", id="half in the metadata"),
    pytest.param(
        {"text": TEXT + "x" * 10_000, "disp_len": 10_023, "doc_len": 10_023},
        "contradicting lengths",
        id="longer than asked",
    ),
    pytest.param({"needle_offset": 2**70}, "no window", id="offset"),
]


@pytest.mark.parametrize(("said", "problem"), HOSTILE_WINDOWS)
def test_a_window_that_can_not_be_true_is_one_line_and_not_kept(
    server: Server, said: dict[str, Any], problem: str
) -> None:
    server.change = lambda usual: {name: said[name] for name in said if name in usual}
    failed(contexts(server), problem)
    server.recover()
    done = contexts(server)
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert (shown["left"], shown["match"], shown["right"]) == ("here ", "step by step", " we go")


def test_metadata_that_is_nested_deeply_does_not_end_a_table(server: Server) -> None:
    server.change = lambda usual: {"metadata": DEEP.decode()} if "metadata" in usual else {}
    where = ("--api-url", server.url, "--index", "dclm")
    done = CliRunner().invoke(main, ["contexts", "step by step", *where, "-n", "1"])
    assert done.exit_code == 0, done.output
    assert "step by step" in done.stdout


def test_a_time_that_is_none_is_refused(server: Server, patterns: Path) -> None:
    assert count(server, patterns, "--timeout", "0").exit_code == 2
    assert server.asked == 0
