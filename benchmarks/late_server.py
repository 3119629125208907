"""A folder over HTTP whose replies are late, for measurements: little work for each request.

    python -m benchmarks.late_server FOLDER [LATENCY_MS]

It prints its port, and ends with its standard input. The server of the tests can fail in many ways,
and takes more processor time for it, which a client on the same two cores lacks. Here, one loop
reads sockets, finds ranges in files that are mapped to memory, and sends replies when they are due,
in the order of their requests. `/_record` returns what was asked since `/_clear`.
"""

from __future__ import annotations

import json
import mmap
import re
import select
import socket
import sys
import time
import urllib.request
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.server_process import ServerProcess

_NAME = re.compile(rb"GET /(\S*) HTTP/1\.1\r\n")
_RANGE = re.compile(rb"\r\nRange: bytes=(\d+)-(\d*)\r\n", re.IGNORECASE)
_END = b"\r\n\r\n"
_AT_ONCE = 256
"""Events of one turn of the loop: a reply that is due must not wait for many requests."""


class Record(NamedTuple):
    """What was asked so far."""

    requests: int
    sent_bytes: int
    """Bytes of files."""
    rounds: int
    """Longest chain of requests for files of one shard, each of which came after the reply to the
    one before it.
    """
    most_at_once: int
    """Most requests that waited for their replies at a time."""
    seconds: float
    """From the first request to the last reply."""
    bytes_by_file: dict[str, int]


class _File(NamedTuple):
    content: mmap.mmap
    size: int
    headers: bytes


class _Pending(NamedTuple):
    due_at: float
    connection: socket.socket
    reply: bytes
    shard: bytes
    round: int


class LateFolder:
    """The files of a folder, and the loop that serves them."""

    def __init__(self, folder: Path, latency_s: float) -> None:
        self._latency_s = latency_s
        self._files = {
            str(path.relative_to(folder)).encode(): _opened(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.stat().st_size
        }
        self._epoll = select.epoll()
        self._connections: dict[int, socket.socket] = {}
        self._unfinished: dict[int, bytes] = {}
        self._pending: deque[_Pending] = deque()
        self._requests = self._sent_bytes = self._most_at_once = 0
        self._rounds: dict[bytes, int] = {}
        self._first_at = self._last_at = 0.0
        self._bytes_by_file: dict[str, int] = {}
        self.clear()

    def clear(self) -> None:
        """Forget what was asked."""
        self._requests = self._sent_bytes = self._most_at_once = 0
        self._rounds = {}
        self._first_at = self._last_at = 0.0
        self._bytes_by_file = dict.fromkeys(map(bytes.decode, self._files), 0)

    def _record(self) -> bytes:
        seconds = self._last_at - self._first_at
        rounds = max(self._rounds.values(), default=0)
        numbers = self._requests, self._sent_bytes, rounds, self._most_at_once, seconds
        return json.dumps([*numbers, self._bytes_by_file]).encode()

    def serve(self, listening: socket.socket) -> None:
        """Serve until standard input ends."""
        self._epoll.register(listening.fileno(), select.EPOLLIN)
        self._epoll.register(sys.stdin.fileno(), select.EPOLLIN)
        while True:
            wait_s = max(0.0, self._pending[0].due_at - time.monotonic()) if self._pending else -1
            for number, _ in self._epoll.poll(wait_s, _AT_ONCE):
                if number == sys.stdin.fileno():
                    return
                if number == listening.fileno():
                    self._accept(listening)
                else:
                    self._read(number)
            self._send_due()

    def _accept(self, listening: socket.socket) -> None:
        connection, _ = listening.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections[connection.fileno()] = connection
        self._epoll.register(connection.fileno(), select.EPOLLIN)

    def _read(self, number: int) -> None:
        connection = self._connections[number]
        try:
            received = connection.recv(1 << 16)
        except ConnectionError:
            received = b""
        if not received:
            self._epoll.unregister(number)
            self._unfinished.pop(number, None)
            self._connections.pop(number).close()
            return
        *heads, rest = (self._unfinished.pop(number, b"") + received).split(_END)
        if rest:
            self._unfinished[number] = rest
        for head in heads:
            self._answer(connection, head + _END)

    def _answer(self, connection: socket.socket, head: bytes) -> None:
        named = _NAME.match(head)
        name = named[1] if named else b""
        if name == b"_record":
            _send(connection, _reply(b"200 -", self._record()))
            return
        if name == b"_clear":
            self.clear()
            _send(connection, _reply(b"200 -", b""))
            return
        now = time.monotonic()
        self._first_at = self._first_at or now
        self._requests += 1
        reply = self._content(name, _RANGE.search(head)) if named else _reply(b"400 -", b"")
        shard = name.rpartition(b".")[2]
        pending = _Pending(
            now + self._latency_s, connection, reply, shard, self._rounds.get(shard, 0) + 1
        )
        self._pending.append(pending)
        self._most_at_once = max(self._most_at_once, len(self._pending))

    def _content(self, name: bytes, place: re.Match[bytes] | None) -> bytes:
        file = self._files.get(name)
        if file is None:
            return _reply(b"404 -", b"")
        start = int(place[1]) if place else 0
        stop = min(int(place[2]) + 1, file.size) if place and place[2] else file.size
        if start >= file.size:
            return _reply(b"416 -", b"")
        self._sent_bytes += stop - start
        self._bytes_by_file[name.decode()] += stop - start
        content = file.content[start:stop]
        if place is None:
            return _reply(b"200 -", content, file.headers)
        content_range = b"Content-Range: bytes %d-%d/%d\r\n" % (start, stop - 1, file.size)
        return _reply(b"206 -", content, file.headers + content_range)

    def _send_due(self) -> None:
        now = time.monotonic()
        while self._pending and self._pending[0].due_at <= now:
            pending = self._pending.popleft()
            replied = self._rounds.get(pending.shard, 0)
            self._rounds[pending.shard] = max(replied, pending.round)
            self._last_at = now
            _send(pending.connection, pending.reply)


def _opened(path: Path) -> _File:
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    info = path.stat()
    etag = f'"{info.st_mtime_ns:x}-{info.st_size:x}"'
    return _File(content, info.st_size, f"ETag: {etag}\r\n".encode())


def _reply(status: bytes, content: bytes, headers: bytes = b"") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n%b\r\n%b" % (
        status,
        len(content),
        headers,
        content,
    )


def _send(connection: socket.socket, reply: bytes) -> None:
    with suppress(ConnectionError):  # who has gone needs no reply
        connection.sendall(reply)


class LateServer(ServerProcess):
    """The server in a process of its own, for the length of a `with` block."""

    def __init__(self, folder: Path, latency_s: float) -> None:
        super().__init__(
            [sys.executable, "-m", __name__, str(folder.resolve()), str(latency_s * 1000)]
        )

    def _ask(self, name: str) -> Any:
        with urllib.request.urlopen(self.url + name) as answer:
            return json.loads(answer.read() or b"null")

    def record(self) -> Record:
        """Return what was asked since it was cleared."""
        return Record(*self._ask("_record"))

    def clear(self) -> None:
        """Forget what was asked."""
        self._ask("_clear")


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    latency_s = float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.03
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        print(listening.getsockname()[1], flush=True)
        LateFolder(folder, latency_s).serve(listening)


if __name__ == "__main__":
    main()
