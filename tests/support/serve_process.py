"""`ngramscan serve` as a process, requests to it, and what the original was recorded to answer."""

import atexit
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import pytest
import uvicorn

from ngramscan.indexes.base import COMMON_CONTEXT
from ngramscan.progress import SILENT, Progress
from ngramscan.serve.app import IndexApplication
from ngramscan.serve.protocol import ServedIndex
from ngramscan.serve.server import Address, _run, _Server, open_socket, serve_folders
from tests.support.command_server import quick_command
from tests.support.places import REPLAY

INDEXES = (REPLAY / "index" / "replay", REPLAY / "index" / "replay2")
JSON = {"Content-Type": "application/json"}
THE = {"index": "replay", "query_type": "count", "query": "the"}
"""Answered with 2918."""


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a file, split at \\n only: the documents hold other line separators."""
    return [json.loads(line) for line in file.read_text().split("\n") if line]


EXCHANGES = read_lines(REPLAY / "exchanges.jsonl")


# On a busy machine an answer takes long: it waits for pages whose estimates take seconds each.
PATIENCE_S = 300
CLIENT = httpx.Client(verify=False, trust_env=False, timeout=PATIENCE_S)
atexit.register(CLIENT.close)  # it keeps connections


def send(
    url: str, body: Any, headers: dict[str, str], method: str = "POST", path: str = "/"
) -> httpx.Response:
    return CLIENT.request(method, url.rstrip("/") + path, content=body, headers=headers)


def ask(url: str, document: object, **headers: str) -> httpx.Response:
    return send(url, json.dumps(document).encode(), JSON | headers)


def replay(url: str, request: dict[str, Any]) -> httpx.Response:
    """Send a recorded request."""
    body: bytes | None = None
    if "json" in request:
        body = json.dumps(request["json"]).encode()
    elif "body_hex" in request:
        body = bytes.fromhex(request["body_hex"])
    elif "body" in request:
        body = request["body"].encode()
    headers = ({} if body is None else JSON) | request.get("headers", {})
    kept = {name: value for name, value in headers.items() if value is not None}
    return send(url, body, kept, request["method"], request["path"])


@dataclass
class Served:
    """A server that accepts connections, and what it has told on stderr so far."""

    process: subprocess.Popen[str]
    url: str
    lines: list[str]
    reader: threading.Thread

    @property
    def port(self) -> int:
        return int(self.url.rstrip("/").rpartition(":")[2])

    def end(self, signal_number: int | None = None) -> int:
        """Send a signal, if any, wait, and return the exit code."""
        if signal_number:
            self.process.send_signal(signal_number)
        code = self.process.wait(timeout=60)
        self.reader.join(timeout=10)
        return code

    def resident_bytes(self) -> int:
        """Return how much memory the process holds; 0 where that can't be read off, as on macOS."""
        file = Path(f"/proc/{self.process.pid}/statm")
        pages = file.read_text(encoding="ascii").split()[1] if file.exists() else 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def serving_here(
    *folders: Path, tokenizer: Path | None = None, max_context: int = COMMON_CONTEXT
) -> Iterator[str]:
    """Serve in a thread of this process, which has loaded everything; yield the address."""
    ready = Future[uvicorn.Server]()

    def start(config: uvicorn.Config, _: object) -> uvicorn.Server:
        one = _Server(config, lambda: ready.set_result(one))
        return one

    named_folders = [("", [folder]) for folder in folders]
    given = (named_folders, tokenizer, Address("127.0.0.1", 0), 4, max_context, SILENT)
    thread = threading.Thread(target=serve_folders, args=given, daemon=True)
    with mock.patch("ngramscan.serve.server._Server", start):
        thread.start()
        running = ready.result(120)
    try:
        yield f"http://127.0.0.1:{running.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        running.should_exit = True
        thread.join(timeout=60)


@contextmanager
def serving(
    *options: str,
    port: int = 0,
    indexes: tuple[Path, ...] = INDEXES,
    program: Sequence[str] | None = None,
) -> Iterator[Served]:
    """Start a server, on a free port by default, and wait until it is ready.

    `program` is `NGRAMSCAN` where a test looks at the process itself.
    """
    command = [*(program or quick_command("ngramscan")), "serve", *map(str, indexes)]
    command += [*options, "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8") as process:
        lines: list[str] = []
        ready = threading.Event()

        def read() -> None:
            assert process.stderr
            for line in process.stderr:
                lines.append(line.rstrip("\n"))
                if line.startswith("ngramscan count f1 --index "):
                    ready.set()
            ready.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            assert ready.wait(120)
            assert process.poll() is None, lines
            spec = lines[-1].split("--index ")[-1].removeprefix("infini-gram:")
            url = spec.rpartition("/")[0] + "/"
            yield Served(process, url, lines, reader)
        finally:
            process.kill()
            process.wait(timeout=60)
            reader.join(timeout=10)


@dataclass
class Running:
    """A server in a thread of this process."""

    port: int
    server: _Server
    service: IndexApplication
    thread: threading.Thread

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def end(self) -> float:
        """End it as a signal does; return how long that took."""
        began_at = time.monotonic()
        self.server.should_exit = True
        self.thread.join(timeout=60)
        assert not self.thread.is_alive()
        return time.monotonic() - began_at

    def unread_answers(self) -> int:
        """Return how many answers wait for their readers."""
        return len(self._unread_since())

    def latest_unread_at(self) -> float:
        """Return since when the latest answer waits for its reader, on the server's clock, or 0."""
        return max(self._unread_since(), default=0.0)

    def has_answer_unread_since(self, moment: float) -> bool:
        """Tell whether an answer began to wait for its reader after a moment on that clock."""
        return self.latest_unread_at() > moment

    def _unread_since(self) -> list[float]:
        connections = list(self.server.server_state.connections)
        began_at = (getattr(connection, "unread_since", None) for connection in connections)
        return [since for since in began_at if since is not None]

    def bodies_under_way(self) -> int:
        """Return how many bodies of requests are being read."""
        return len(self.service._bodies._limits)


@contextmanager
def running(*indexes: ServedIndex, threads: int = 1) -> Iterator[Running]:
    """Serve some indexes, which may be those of a test, in a thread."""
    made, ready = list[_Server](), threading.Event()
    by_name = {index.name: index for index in indexes}
    service = IndexApplication(by_name, threads, Progress(), {"localhost"})

    class Kept(_Server):
        def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
            super().__init__(config, ready)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch, open_socket("127.0.0.1", 0) as listener:
        patch.setattr("ngramscan.serve.server._Server", Kept)
        thread = threading.Thread(target=_run, args=(service.application, listener, ready.set))
        thread.start()
        assert ready.wait(60)
        one = Running(listener.getsockname()[1], made[0], service, thread)
        try:
            yield one
        finally:
            one.end()
