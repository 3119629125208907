"""The infini-gram-mini service on a loopback address: true answers, late answers and faults.

True answers come from `ngramscan.serve.protocol`, which its own tests hold against recordings of
the original; faults look as the original's gateway and framework send them.
"""

import atexit
import hashlib
import json
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any, NamedTuple, Self

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.index_files.fm9.build import build_index
from ngramscan.index_files.fm9.reader import Shard, open_shards
from ngramscan.index_files.formats import is_shard
from ngramscan.progress import Progress
from ngramscan.serve.protocol import RefusedError, ServedIndex, answer, to_json

Json = dict[str, Any]
Corpora = Mapping[str, Path | Sequence[Path]]


class Reply(NamedTuple):
    """What is sent; `body` None: the connection is closed instead; cut: after half of it."""

    status: int
    body: bytes | None
    kind: str = "application/json"
    retry_after: str = ""
    is_cut: bool = False


FORBIDDEN, BAD_GATEWAY = (
    f"<html><head><title>{title}</title></head>\r\n<body>\r\n"
    f"<center><h1>{title}</h1></center>\r\n</body>\r\n</html>\r\n".encode()
    for title in ("403 Forbidden", "502 Bad Gateway")
)
FAULTS = {
    "500": Reply(500, to_json({"error": "[Flask] Internal server error: out of luck"})),
    "drop": Reply(0, None),
    "html502": Reply(502, BAD_GATEWAY, "text/html"),
    "error200": Reply(200, to_json({"error": "engine busy", "latency": 1.0})),
    "429": Reply(429, to_json({"error": "Too many requests"}), retry_after="1"),
    "burst403": Reply(403, FORBIDDEN, "text/html", "1"),
    "forbid": Reply(403, FORBIDDEN, "text/html"),
    "fail_always": Reply(
        500, to_json({"error": "[Flask] Internal server error: engine crashed on this query"})
    ),
}
FAULT_KINDS = ("500", "drop", "stall", "html502", "error200", "429")


@dataclass(frozen=True)
class Faults:
    """What goes wrong, and for which requests (numbered from 1 in the order of arrival).

    `rate` is the share of requests that get one of the `kinds` (`cut`: half of the answer). From
    request `burst403_at` on all are refused for a while, from `forbid_after` on for ever.
    `fail_always` lists count and find queries that always get a 500; `bodies` maps queries to what
    is sent in place of an answer.
    """

    seed: int = 0
    rate: float = 0.0
    kinds: tuple[str, ...] = ()
    stall_s: float = 0.3
    burst403_at: int | None = None
    burst403_s: float = 1.5
    fail_always: tuple[str, ...] = ()
    forbid_after: int | None = None
    bodies: Mapping[str, str] = field(default_factory=dict)


@cache
def _built(source: Path, _content: str) -> Shard:
    """Build a shard of a JSONL file, or of a folder of them; the same content only once."""
    folder = Path(tempfile.mkdtemp(prefix="service-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    build_index(open_corpus(str(source)), folder / "index", Progress(), ReadOptions())
    return open_shards(folder / "index")[0]


def _shard(source: Path) -> Shard:
    if is_shard(source):
        return open_shards(source)[0]
    files = sorted(source.glob("*.jsonl")) if source.is_dir() else [source]
    return _built(source, hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest())


class ApiServer:
    """The service on a thread of this process, for the length of a `with` block.

    `corpora` maps the name of each index to its shards, each of which is a JSONL file, a folder of
    such files, or a shard that was built; a single path is one shard. Every answer is `delay`
    seconds late.
    """

    def __init__(
        self,
        corpora: Corpora,
        *,
        faults: Faults | None = None,
        delay: float = 0.0,
        port: int = 0,
    ) -> None:
        self._indexes = {
            name: ServedIndex(name, [_shard(s) for s in ([of] if isinstance(of, Path) else of)])
            for name, of in corpora.items()
        }
        self._faults, self._delay = faults or Faults(), delay
        self._random = random.Random(self._faults.seed)
        self._burst_ends = float("-inf")
        self._lock = threading.Lock()
        self._log: list[Json] = []
        self._http = _Server(self, port)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/"

    def read_log(self) -> list[Json]:
        """Return the questions in the order of arrival, each with `arrived_at` and `fault`."""
        with self._lock:
            return list(self._log)

    def reply(self, body: bytes) -> Reply:
        """Return what a request gets, once it may leave."""
        asked: Json = json.loads(body)
        with self._lock:
            fault = self._draw(len(self._log) + 1, asked)
            self._log.append({**asked, "arrived_at": time.monotonic(), "fault": fault})
        time.sleep(self._delay + self._faults.stall_s * (fault == "stall"))
        if fault == "body":
            return Reply(200, self._faults.bodies[asked["query"]].encode())
        if fault in FAULTS:
            return FAULTS[fault]
        try:
            return Reply(200, to_json(self.answer(asked, body)), is_cut=fault == "cut")
        except RefusedError as error:
            return Reply(400, to_json({"error": str(error)}))

    def list(self, path: str) -> Reply:
        """Return what a GET of a path gets: as from the original, a page that says no."""
        status = 405 if path == "/" else 404
        title = "Method Not Allowed" if path == "/" else "Not Found"
        return Reply(status, f"<!doctype html>\n<title>{title}</title>\n".encode(), "text/html")

    def answer(self, _: Json, body: bytes) -> Json:
        """Return the true answer to a question."""
        return answer(self._indexes, body)

    def _draw(self, number: int, asked: Json) -> str | None:
        faults, now = self._faults, time.monotonic()
        # Drawn for every request, so that the fault of one depends on its number and the seed.
        unlucky = self._random.random() < faults.rate
        kind = self._random.choice(faults.kinds) if faults.kinds else None
        if number == faults.burst403_at:
            self._burst_ends = now + faults.burst403_s
        if faults.forbid_after is not None and number >= faults.forbid_after:
            return "forbid"
        if now < self._burst_ends:
            return "burst403"
        if asked.get("query") in faults.bodies:
            return "body"
        if asked.get("query") in faults.fail_always and asked["query_type"] != "get_doc_by_rank":
            return "fail_always"
        return kind if unlucky else None

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # clients connect by the dozen
    daemon_threads = True

    def __init__(self, api: ApiServer, port: int) -> None:
        self.api = api
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        # HTTPServer would look up the name of the host, which can take seconds.
        TCPServer.server_bind(self)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet per answer: two would wait for each other's acknowledgement

    def do_GET(self) -> None:
        self._send(self.server.api.list(self.path))

    def do_POST(self) -> None:
        self._send(self.server.api.reply(self.rfile.read(int(self.headers["Content-Length"]))))

    def _send(self, reply: Reply) -> None:
        self.close_connection = True
        if reply.body is None:
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Connection", "close")
        if reply.retry_after:
            self.send_header("Retry-After", reply.retry_after)
        self.end_headers()
        with suppress(ConnectionError):
            self.wfile.write(reply.body[: len(reply.body) // 2 if reply.is_cut else None])
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass
