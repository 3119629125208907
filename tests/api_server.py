"""A loopback HTTP server that answers as the infini-gram-mini service does, faults included.

Runs inside a test process (`ApiServer`) or as a process of its own (`spawn`, or
``python tests/api_server.py --corpus NAME=FILE.jsonl``). What it says was recorded from the
original service: see ``recorded/`` and ``replay/``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from pathlib import Path
from socketserver import TCPServer
from typing import Any, Self, TextIO

Json = dict[str, Any]
Headers = tuple[tuple[str, str], ...]
Corpora = Mapping[str, Path | Sequence[Path]]

SEPARATOR = b"\xff"
END = b"\xfa"
WORD = 2**64  # the engine computes in unsigned 64-bit numbers, and wraps
DEFAULT_CONTEXT = 1000
FAULT_KINDS = ("500", "drop", "stall", "html502", "error200", "429")


# --- corpora ------------------------------------------------------------------------------------


def read_documents(file: Path) -> Iterator[tuple[bytes, str]]:
    """Yield the text and the metadata line of every document of a JSONL file."""
    with file.open(encoding="utf-8", newline="\n") as lines:
        for linenum, line in enumerate(lines):
            fields = json.loads(line)
            text = fields.pop("text").encode()
            yield text, json.dumps({"path": file.name, "linenum": linenum, "metadata": fields})


def suffix_array(text: bytes) -> array[int]:
    """Sort the suffixes of a text that ends with a byte found nowhere else in it."""
    # Loaded here: most servers never sort, and start faster without it.
    np = importlib.import_module("numpy")
    # Near-duplicate documents share prefixes of thousands of bytes, so suffixes are never
    # compared byte by byte: every round doubles the length by which they are sorted.
    size, span = len(text), 7
    padded = np.frombuffer(text + bytes(span), dtype=np.uint8).astype(np.int64)
    keys = np.zeros(size, dtype=np.int64)
    for ahead in range(span):
        keys = keys * 256 + padded[ahead : ahead + size]
    while True:
        order = np.argsort(keys, kind="stable")
        in_order = keys[order]
        ranks = np.zeros(size, dtype=np.int64)
        ranks[order[1:]] = np.cumsum(in_order[1:] != in_order[:-1])
        if ranks[order[-1]] == size - 1:
            return array("q", order.astype(np.int64).tobytes())
        keys = ranks * (size + 1)
        keys[: max(size - span, 0)] += ranks[span:] + 1
        span *= 2


@dataclass(frozen=True)
class Window:
    """Part of a document around a position; all numbers are bytes."""

    doc: int
    doc_len: int
    needle_offset: int
    content: bytes


class Shard:
    """The text of one shard (FF doc0 FF doc1 ... FA) and, once asked for, its suffix array."""

    def __init__(self, files: Sequence[Path]) -> None:
        documents = [document for file in files for document in read_documents(file)]
        texts = [text for text, _ in documents]
        self.metadata = [line for _, line in documents]
        self.text = b"".join(SEPARATOR + text for text in texts) + END
        self.marks = list(accumulate((1 + len(text) for text in texts), initial=0))
        self._order: array[int] | None = None
        self._sorting = threading.Lock()

    @property
    def order(self) -> array[int]:
        """The suffix array; sorting waits for the first request that needs it."""
        with self._sorting:
            if self._order is None:
                self._order = suffix_array(self.text)
            return self._order

    def count(self, needle: bytes) -> int:
        """Count overlapping occurrences."""
        if not needle:
            return len(self.text)
        # bytes.count skips the occurrences that overlap
        found, at = 0, self.text.find(needle)
        while at >= 0:
            found += 1
            at = self.text.find(needle, at + 1)
        return found

    def segment(self, needle: bytes) -> tuple[int, int]:
        """Return the ranks of the suffixes that begin with the needle."""
        order, text, size = self.order, self.text, len(needle)

        def head(position: int) -> bytes:
            return text[position : position + size]

        return bisect_left(order, needle, key=head), bisect_right(order, needle, key=head)

    def window(self, position: int, needle_len: int, max_ctx_len: int) -> Window:
        """Cut the context of a position out of its document, as the engine does."""
        doc = bisect_right(self.marks, position, hi=len(self.metadata)) - 1
        start, end = self.marks[doc] + 1, self.marks[doc + 1]
        left = max(start, position - max_ctx_len)
        right = min(end, (position + needle_len + max_ctx_len) % WORD)
        if right < left:
            raise AbortedError
        offset = (position - left) % WORD  # wraps on the separator in front of the document
        return Window(doc, end - start, offset, self.text[left:right])


class Corpus:
    """The shards of one index and the three questions that can be asked about them."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = shards
        sizes = (len(shard.metadata) for shard in shards)
        self.first_docs = list(accumulate(sizes, initial=0))

    @classmethod
    def load(cls, sources: Path | Sequence[Path]) -> Self:
        """Read one shard per source: a JSONL file, or a directory with several of them."""
        listed = [sources] if isinstance(sources, Path) else sources
        return cls([Shard(_source_files(source)) for source in listed])

    def count(self, query: str) -> Json:
        """Answer `count`."""
        needle = self._engine_bytes("count", "CountResult", query)
        return {"count": sum(shard.count(needle) for shard in self.shards)}

    def find(self, query: str) -> Json:
        """Answer `find`."""
        needle = self._engine_bytes("find", "FindResult", query)
        segments = [shard.segment(needle) for shard in self.shards]
        return {"cnt": sum(hi - lo for lo, hi in segments), "segment_by_shard": segments}

    def get_doc_by_rank(
        self, query: str, s: object, rank: object, max_ctx_len: object = DEFAULT_CONTEXT
    ) -> Json:
        """Answer `get_doc_by_rank`."""
        # The service counts the needle in characters where its engine expects bytes.
        sent = (s, rank, len(query), max_ctx_len)
        shard_ix, place, needle_len, context = self._engine_sizes(sent)
        if shard_ix >= len(self.shards) or place >= len(self.shards[shard_ix].text):
            raise AbortedError
        shard = self.shards[shard_ix]
        window = shard.window(shard.order[place], needle_len, context)
        try:
            text = window.content.decode()
        except UnicodeDecodeError:
            return {"error": CUT_CHARACTER}
        return {
            "disp_len": len(window.content),
            "doc_ix": self.first_docs[shard_ix] + window.doc,
            "doc_len": window.doc_len,
            "metadata": shard.metadata[window.doc],
            "needle_offset": window.needle_offset,
            "spans": label_spans(text, query),
            "text": text,
        }

    def _engine_bytes(self, method: str, result: str, query: str) -> bytes:
        try:
            return query.encode()
        except UnicodeEncodeError as error:  # a lone surrogate
            signature = f"query: str) -> src.cpp_engine.{result}"
            raise self._wrong_arguments(method, signature, (query,)) from error

    def _engine_sizes(self, values: tuple[object, ...]) -> list[int]:
        sizes = [int(v) for v in values if isinstance(v, int) and 0 <= v < WORD]
        if len(sizes) == len(values):
            return sizes
        number = "typing.SupportsInt | typing.SupportsIndex"
        names = ("s", "rank", "needle_len", "max_ctx_len")
        parameters = ", ".join(f"{name}: {number}" for name in names)
        signature = f"{parameters}) -> src.cpp_engine.DocResult"
        raise self._wrong_arguments("get_doc_by_rank", signature, values)

    def _wrong_arguments(
        self, method: str, signature: str, values: tuple[object, ...]
    ) -> RefusedError:
        shown = ", ".join(map(repr, values))
        return RefusedError(
            500,
            f"Internal server error: {method}(): incompatible function arguments. "
            "The following argument types are supported:\n"
            f"    1. (self: src.cpp_engine.Engine, {signature}\n\n"
            f"Invoked with: <src.cpp_engine.Engine object at {id(self):#x}>, {shown}",
        )


def _source_files(source: Path) -> list[Path]:
    return sorted(source.glob("*.jsonl")) if source.is_dir() else [source]


def label_spans(text: str, query: str) -> list[tuple[str, str | None]]:
    """Split a text into occurrences of the query, labelled "0", and what lies between them."""
    spans: list[tuple[str, str | None]] = []
    for number, between in enumerate(text.split(query) if query else [text]):
        if number:
            spans.append((query, "0"))
        if between:
            spans.append((between, None))
    return spans or [("", None)]


# --- answers ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """An HTTP answer."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: Headers = ()


class RefusedError(Exception):
    """A request that the service answers with a JSON error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class FrameworkError(Exception):
    """A request that the service trips over outside of its own error handling."""


class AbortedError(Exception):
    """A request that kills the worker which serves it: the connection closes unanswered."""


def json_reply(payload: Json, status: int = 200, headers: Headers = ()) -> Reply:
    """Serialise an answer as the service does: sorted keys, ASCII, a final newline."""
    text = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    return Reply(status, f"{text}\n".encode(), headers=headers)


def framework_page(status: int, title: str, sentence: str, headers: Headers = ()) -> Reply:
    """Build an error page of the web framework behind the service."""
    html = (
        f"<!doctype html>\n<html lang=en>\n<title>{status} {title}</title>\n"
        f"<h1>{title}</h1>\n<p>{sentence}</p>\n"
    )
    return Reply(status, html.encode(), "text/html; charset=utf-8", headers)


def gateway_page(status: int, title: str, headers: Headers = ()) -> Reply:
    """Build an error page of the gateway in front of the service."""
    html = (
        f"<html><head><title>{status} {title}</title></head>\r\n<body>\r\n"
        f"<center><h1>{status} {title}</h1></center>\r\n</body>\r\n</html>\r\n"
    )
    return Reply(status, html.encode(), "text/html", headers)


CUT_CHARACTER = (
    "Failed to decode document text with UTF-8. This is likely because the context was cut off "
    "in the middle of a multi-byte char. Please try with a different max context length."
)
ALLOWED: Headers = (("Allow", "OPTIONS, POST"),)
OPTIONS = Reply(200, b"", "text/html; charset=utf-8", ALLOWED)
BAD_REQUEST = framework_page(
    400,
    "Bad Request",
    "The browser (or proxy) sent a request that this server could not understand.",
)
NOT_FOUND = framework_page(
    404,
    "Not Found",
    "The requested URL was not found on the server. "
    "If you entered the URL manually please check your spelling and try again.",
)
NOT_ALLOWED = framework_page(
    405, "Method Not Allowed", "The method is not allowed for the requested URL.", ALLOWED
)
UNSUPPORTED = framework_page(
    415,
    "Unsupported Media Type",
    "Did not attempt to load JSON data because the request Content-Type was not "
    "&#39;application/json&#39;.",
)
SERVER_ERROR = framework_page(
    500,
    "Internal Server Error",
    "The server encountered an internal error and was unable to complete your request. "
    "Either the server is overloaded or there is an error in the application.",
)

# Query types that name something else than a question, found by the service all the same.
ATTRIBUTE_ERRORS = {"engine": "'InfiniGramMiniEngine' object is not callable", "__class__": ""}
REQUIRED: dict[str, tuple[str, ...]] = {
    "count": (),
    "find": (),
    "get_doc_by_rank": ("s", "rank"),
}
ACCEPTED = {**REQUIRED, "get_doc_by_rank": ("s", "rank", "max_ctx_len")}
IGNORED = ("query_type", "index", "query", "source", "timestamp")


@dataclass(frozen=True)
class Call:
    """A request as it came in; `document` is its parsed body."""

    method: str
    path: str
    content_type: str
    document: object
    malformed: bool

    @classmethod
    def parse(cls, method: str, path: str, content_type: str, body: bytes) -> Self:
        """Parse the body whatever its declared type: the log wants it even if refused."""
        try:
            return cls(method, path, content_type, json.loads(body), malformed=False)
        except ValueError:
            return cls(method, path, content_type, None, malformed=True)

    def field(self, name: str) -> Any:
        """Return one field of the body, None if there is no such thing."""
        return self.document.get(name) if isinstance(self.document, dict) else None

    @property
    def is_json(self) -> bool:
        """Whether the declared type is one that the web framework parses."""
        kind = self.content_type.partition(";")[0].strip().lower()
        return kind == "application/json" or (
            kind.startswith("application/") and kind.endswith("+json")
        )


def answer(corpora: Mapping[str, Corpus], call: Call) -> Reply | None:
    """Answer a request; None stands for a connection closed without an answer."""
    if refusal := _http_refusal(call):
        return refusal
    started = time.perf_counter()
    try:
        payload = _dispatch(corpora, call.document)
    except FrameworkError:
        return SERVER_ERROR
    except RefusedError as error:
        return json_reply({"error": f"[Flask] {error}"}, error.status)
    except AbortedError:
        return None
    if payload is None:
        return json_reply({"error": "query must be a string!"})
    return json_reply({**payload, "latency": (time.perf_counter() - started) * 1000})


def _http_refusal(call: Call) -> Reply | None:
    if call.path.partition("?")[0] != "/":
        return NOT_FOUND
    if call.method != "POST":
        return OPTIONS if call.method == "OPTIONS" else NOT_ALLOWED
    if not call.is_json:
        return UNSUPPORTED
    return BAD_REQUEST if call.malformed else None


def _dispatch(corpora: Mapping[str, Corpus], data: object) -> Json | None:
    if not isinstance(data, dict):
        raise FrameworkError
    _check_fields(corpora, data)
    kind, index, query = data["query_type"], data["index"], data["query"]
    if not isinstance(query, str):
        return None
    if kind in ATTRIBUTE_ERRORS:
        raise RefusedError(500, f"Internal server error: {ATTRIBUTE_ERRORS[kind]}")
    arguments = {name: value for name, value in data.items() if name not in IGNORED}
    _check_arguments(kind, arguments)
    result: Json = getattr(corpora[index], kind)(query, **arguments)
    return result


def _check_fields(corpora: Mapping[str, Corpus], data: Json) -> None:
    for name in ("query_type", "index", "query"):
        if name not in data:
            raise RefusedError(400, f"Missing required field: '{name}'")
    kind, index = data["query_type"], data["index"]
    if isinstance(index, dict | list):
        raise FrameworkError
    if index not in corpora:
        raise RefusedError(400, f"Invalid index: {index}")
    if not isinstance(kind, str):
        raise FrameworkError
    if kind not in ACCEPTED and kind not in ATTRIBUTE_ERRORS:
        raise RefusedError(400, f"Invalid query_type: {kind}")


def _check_arguments(kind: str, arguments: Json) -> None:
    # Python's own messages differ between versions, so they are spelled out.
    for name in arguments:
        if name not in ACCEPTED[kind]:
            raise RefusedError(
                500,
                f"Internal server error: Processor.{kind}() "
                f"got an unexpected keyword argument '{name}'",
            )
    missing = [repr(name) for name in REQUIRED[kind] if name not in arguments]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        raise RefusedError(
            500,
            f"Internal server error: Processor.{kind}() missing {len(missing)} required "
            f"positional argument{plural}: {' and '.join(missing)}",
        )


# --- faults -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Faults:
    """What goes wrong, and for which requests (numbered from 1 in the order of arrival).

    `rate` is the share of requests that get a fault of one of the `kinds`. From request
    `burst403_at` on, every request within `burst403_s` seconds is refused; from request
    `forbid_after` on, every request is. `fail_always` lists count and find queries that always
    get a 500; `bodies` maps queries to the raw text sent in place of an answer.
    """

    seed: int = 0
    rate: float = 0.0
    kinds: tuple[str, ...] = ()
    stall_s: float = 3.0
    burst403_at: int | None = None
    burst403_s: float = 2.0
    fail_always: tuple[str, ...] = ()
    forbid_after: int | None = None
    bodies: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unknown := set(self.kinds) - set(FAULT_KINDS):
            raise ValueError(f"unknown kinds of faults: {sorted(unknown)}")
        if self.rate > 0 and not self.kinds:
            raise ValueError("a rate of faults needs their kinds")

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read the faults of a JSON file."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        lists = {name: tuple(v) for name, v in fields.items() if isinstance(v, list)}
        return cls(**{**fields, **lists})

    def dump(self, file: Path) -> None:
        """Write a JSON file that `load` reads."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")


class FaultPlan:
    """Decides the fault of each request; its caller holds a lock."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._random = random.Random(faults.seed)
        self._burst_ends = float("-inf")

    def draw(self, n: int, call: Call) -> str | None:
        """Return the kind of fault that request number n gets, None for most."""
        # Drawn for every request, so that the fault of number n depends on the seed alone.
        unlucky = self._random.random() < self.faults.rate
        kind = self._random.choice(self.faults.kinds) if self.faults.kinds else None
        return self._forbidden(n) or self._bewitched(call) or (kind if unlucky else None)

    def _forbidden(self, n: int) -> str | None:
        forbid_after, now = self.faults.forbid_after, time.monotonic()
        if n == self.faults.burst403_at:
            self._burst_ends = now + self.faults.burst403_s
        if forbid_after is not None and n >= forbid_after:
            return "forbid"
        return "burst403" if now < self._burst_ends else None

    def _bewitched(self, call: Call) -> str | None:
        query = call.field("query")
        if not isinstance(query, str):
            return None
        if query in self.faults.bodies:
            return "body"
        counted = call.field("query_type") in ("count", "find")
        return "fail_always" if counted and query in self.faults.fail_always else None


def fault_replies(faults: Faults, query: str) -> dict[str, Reply]:
    """Return what is sent for the faults that send something of their own."""
    busy = (("Retry-After", "1"),)
    crashed = "[Flask] Internal server error: engine crashed on this query"
    return {
        "500": json_reply({"error": "[Flask] Internal server error: out of luck"}, 500),
        "html502": gateway_page(502, "Bad Gateway"),
        "error200": json_reply({"error": "engine busy", "latency": 1.0}),
        "429": json_reply({"error": "Too many requests"}, 429, busy),
        "burst403": gateway_page(403, "Forbidden", (("Retry-After", "2"),)),
        "forbid": gateway_page(403, "Forbidden"),
        "fail_always": json_reply({"error": crashed}, 500),
        "body": Reply(200, faults.bodies.get(query, "").encode()),
    }


# --- the server ---------------------------------------------------------------------------------


@dataclass
class Received:
    """A request and what became of it; `status` None: closed without an answer, or not yet."""

    n: int
    arrived: float
    method: str
    body: Any
    fault: str | None
    status: int | None = None
    finished: float | None = None


class Journal:
    """Numbers the requests, decides their faults and remembers them, under one lock."""

    def __init__(self, faults: Faults, log: TextIO | None) -> None:
        self._lock = threading.Lock()
        self._plan = FaultPlan(faults)
        self._log = log
        self._entries: list[Received] = []

    def receive(self, call: Call) -> Received:
        """Enter a request, before anything is done about it."""
        with self._lock:
            n = len(self._entries) + 1
            fault = self._plan.draw(n, call)
            entry = Received(n, time.time(), call.method, call.document, fault)
            self._entries.append(entry)
            if self._log:
                # flushed at once: a killed server has logged all that it has received
                self._log.write(json.dumps(_log_line(entry, call)) + "\n")
                self._log.flush()
            return entry

    def finish(self, entry: Received, status: int | None) -> None:
        """Note what is about to be sent."""
        with self._lock:
            entry.status, entry.finished = status, time.time()

    def snapshot(self) -> list[Received]:
        """Return a copy of all entries."""
        with self._lock:
            return [replace(entry) for entry in self._entries]


def _log_line(entry: Received, call: Call) -> Json:
    asked = {name: call.field(name) for name in ("index", "query_type", "query")}
    document = call.document if isinstance(call.document, dict) else {}
    place = {name: document[name] for name in ("s", "rank") if name in document}
    return {"n": entry.n, "time": entry.arrived, **asked, **place, "fault": entry.fault}


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # clients connect by the dozen

    def __init__(self, port: int, api: ApiServer) -> None:
        self.api = api
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        # HTTPServer would look up the name of the host, which can take seconds
        TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # clients that give up are part of the tests
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet per answer: two would wait for each other's acknowledgement

    def serve(self) -> None:
        """Answer any method: the service has an answer for each of them."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        arrived = time.monotonic()
        content_type = self.headers.get("Content-Type", "")
        call = Call.parse(self.command, self.path, content_type, body)
        api = self.server.api
        entry = api.journal.receive(call)
        reply = api.reply(call, entry.fault)
        time.sleep(max(0.0, arrived + api.pause(entry.fault) - time.monotonic()))
        self.close_connection = True
        # noted first, so that a client which has the answer finds it noted
        api.journal.finish(entry, reply.status if reply else None)
        if reply:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the journal is the log."""


for _method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
    setattr(_Handler, f"do_{_method}", _Handler.serve)


class ApiServer:
    """The service on a thread of this process, for the length of a `with` block.

    `corpora` maps the name of each index to its shards, a JSONL file or a directory of JSONL
    files each; a single path is one shard. Every answer leaves `delay` seconds after its
    request came in. `log_path` gets one line per request.
    """

    def __init__(
        self,
        corpora: Corpora,
        *,
        faults: Faults | None = None,
        delay: float = 0.0,
        log_path: Path | None = None,
        port: int = 0,
    ) -> None:
        self.corpora = {name: Corpus.load(sources) for name, sources in corpora.items()}
        self.faults = faults or Faults()
        self.delay = delay
        self._log = log_path.open("a", encoding="utf-8") if log_path else None
        self.journal = Journal(self.faults, self._log)
        self._server = _Server(port, self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """The address to ask."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/"

    @property
    def requests(self) -> list[Received]:
        """A copy of what was received so far, in the order of arrival."""
        return self.journal.snapshot()

    def reply(self, call: Call, fault: str | None) -> Reply | None:
        """Return what a request gets, None if the connection is to be closed."""
        if fault == "drop":
            return None
        if fault is None or fault == "stall":
            return answer(self.corpora, call)
        return fault_replies(self.faults, str(call.field("query")))[fault]

    def pause(self, fault: str | None) -> float:
        """Return the seconds between a request and its answer."""
        return self.delay + (self.faults.stall_s if fault == "stall" else 0.0)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self._log:
            self._log.close()


# --- as a process -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spawned:
    """The service as a process."""

    url: str
    log_path: Path
    process: subprocess.Popen[str]

    def read_log(self) -> list[Json]:
        """Return what was received so far, in the order of arrival."""
        lines = self.log_path.read_text(encoding="utf-8").split("\n")
        # a line without an end is still being written
        return [json.loads(line) for line in lines[:-1]]

    def kill(self) -> None:
        """Kill the process at once, as a power cut would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def spawn(
    corpora: Corpora,
    *,
    faults: Faults | None = None,
    delay: float = 0.0,
    log_path: Path | None = None,
    port: int = 0,
) -> Iterator[Spawned]:
    """Run the service as a process of its own, ready when yielded and killed at the end."""
    with tempfile.TemporaryDirectory() as scratch:
        log = log_path or Path(scratch, "requests.jsonl")
        log.touch()
        command = [sys.executable, __file__, f"--port={port}", f"--delay={delay}", f"--log={log}"]
        for name, sources in corpora.items():
            listed = [sources] if isinstance(sources, Path) else sources
            command.append(f"--corpus={name}={','.join(map(str, listed))}")
        if faults:
            faults.dump(Path(scratch, "faults.json"))
            command.append(f"--faults={Path(scratch, 'faults.json')}")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield Spawned(_read_url(process), log, process)
            finally:
                process.kill()


def _read_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line.startswith("listening on "):
        raise RuntimeError(f"the server did not start: {line!r}")
    return line.removeprefix("listening on ").strip()


def parse_corpus(text: str) -> tuple[str, list[Path]]:
    """Parse NAME=SHARD[,SHARD...]."""
    name, equals, sources = text.partition("=")
    if not (name and equals and sources):
        raise argparse.ArgumentTypeError(f"not NAME=FILE.jsonl[,FILE2.jsonl]: {text}")
    return name, [Path(source) for source in sources.split(",")]


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--corpus",
        type=parse_corpus,
        action="append",
        required=True,
        metavar="NAME=FILE.jsonl[,FILE2.jsonl]",
        help="an index and its shards: a JSONL file or a directory of them each",
    )
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--log", type=Path, help="file that gets one line per request")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--faults", type=Path, help="JSON file with the fields of Faults")
    given = parser.parse_args()
    faults = Faults.load(given.faults) if given.faults else None
    api = ApiServer(
        dict(given.corpus), faults=faults, delay=given.delay, log_path=given.log, port=given.port
    )
    with api:
        sys.stdout.write(f"listening on {api.url}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
