"""A folder over HTTP with ranges, as an object store serves it: late, faulty, and with a record.

The server is a process of its own, so that it doesn't share a core's time with the client in the
tests. `python -m tests.support.range_server FOLDER 0.03 '{"rate": 0.2}'` serves one by hand.
"""

import asyncio
import email.utils
import json
import os
import random
import re
import socket
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from tests.support.server_process import ServerProcess

_RANGE = re.compile(rb"\r\nrange: *bytes=(\d+)-(\d*)", re.IGNORECASE)
_END = b"\r\n\r\n"
_IF_MATCH = re.compile(rb"\r\nif-match: *(\S+)", re.IGNORECASE)


@dataclass(frozen=True)
class Faults:
    """What goes wrong.

    `rate` is the share of requests that get one of `kinds`, drawn by `seed`; `always` maps the
    beginning of a path (without its slash) to the kind that every request there gets. From request
    `changed_from` on (numbered from 1), files have another ETag. Kinds are statuses, also `pays`
    (403), `later` (503 with Retry-After 3600), `basic` (401 without a login), `login` (403 without
    a signature of S3), `region` (301), `redirect` (307 to /moved/…, the same folder), `loop`,
    `away` (to another host), `no_ranges` (200 and the whole file) and `html`; no answer, or half of
    one, by `drop`, `stall` (none for 60 s), `slow` (a byte every 20 ms) and `cut`; and wrong ones:
    `wrong_range`, `wrong_total`, `wrong_bytes` (one less than asked for), `gzip`, `chunked` (with a
    length, too), `no_etag`, `weak` (ETag), `date` (Last-Modified in place of an ETag). Right ones
    are `high` and `utf8` (an ETag that is not ASCII), `close` (as the header says) and `hang_up`
    (without a word).
    """

    seed: int = 0
    rate: float = 0.0
    kinds: tuple[str, ...] = ("500", "cut", "wrong_range")
    always: Mapping[str, str] = field(default_factory=dict)
    changed_from: int | None = None


class Asked(NamedTuple):
    """One request that was answered or not; `stop` is exclusive, 0 if no range was asked for."""

    path: str
    start: int
    stop: int
    fault: str


class Record(NamedTuple):
    """The requests so far, connections open now, and most requests under way at one time."""

    requests: list[Asked]
    open: int
    most_at_once: int


class _Server:
    def __init__(self, folder: str, latency_s: float, faults: Faults) -> None:
        self.folder, self.latency_s, self.faults = os.path.realpath(folder), latency_s, faults
        self.random = random.Random(faults.seed)
        self.asked: list[Asked] = []
        self.open = self.under_way = self.most = 0

    def fault(self, path: str) -> str:
        # Drawn for every request, so that the faults depend on the seed alone.
        unlucky = self.random.random() < self.faults.rate
        kind = self.random.choice(self.faults.kinds)
        for prefix, always in self.faults.always.items():
            if path.startswith(prefix):
                return always
        return kind if unlucky else ""

    def answer(self, head: bytes) -> tuple[bytes, str]:
        """Return an answer as bytes, and the fault in it."""
        path = unquote(head.split(b" ", 2)[1].decode().partition("?")[0]).lstrip("/")
        if path == "_record":
            record = Record(self.asked, self.open, self.most)
            return _reply(200, json.dumps(record).encode()), "record"
        found = _RANGE.search(head)
        start = int(found[1]) if found else 0
        stop = int(found[2]) + 1 if found and found[2] else 0
        fault = self.fault(path)
        if fault in _LOGINS:
            login, otherwise = _LOGINS[fault]
            fault = "" if login in head else otherwise
        self.asked.append(Asked(path, start, stop, fault))
        if fault in _PLAIN:
            status, body, *headers = _PLAIN[fault]
            return _reply(status, body, *headers), fault
        to = {"redirect": f"/moved/{path}", "loop": f"/{path}", "away": "http://0.0.0.0:1/"}
        if fault in to:
            return _reply(307, b"", f"Location: {to[fault]}"), fault
        reply = self.read(path.removeprefix("moved/"), head, range(start, stop), fault)
        return reply[: reply.index(_END) + 4] if head.startswith(b"HEAD") else reply, fault

    def read(self, path: str, head: bytes, asked: range, fault: str) -> bytes:
        file = Path(self.folder, path)
        if not file.is_file():
            return _reply(404, b"not found")
        with file.open("rb", buffering=0) as opened:
            info = os.fstat(opened.fileno())
            size, etag = info.st_size, self.etag(info)
            wanted = _IF_MATCH.search(head)
            if wanted and wanted[1].decode("latin-1") != etag and fault != "no_etag":
                return _reply(412, b"changed")
            headers = [f"ETag: {etag}"] * (fault not in {"no_etag", "date"})
            date = email.utils.formatdate(info.st_mtime, usegmt=True)
            headers += [f"Last-Modified: {date}"] * (fault == "date")
            if not (asked or asked.start) or fault == "no_ranges":
                return _reply(200, os.pread(opened.fileno(), size, 0), *headers)
            stop = min(asked.stop or size, size)
            if asked.start >= size:
                return _reply(416, b"", f"Content-Range: bytes */{size}")
            start = asked.start + (fault == "wrong_range")
            stop -= fault == "wrong_bytes"
            total = size + (fault == "wrong_total")
            headers += [f"Content-Range: bytes {start}-{stop - 1}/{total}"]
            headers += ["Content-Encoding: gzip"] * (fault == "gzip")
            headers += ["Connection: close"] * (fault == "close")
            body = os.pread(opened.fileno(), stop - asked.start, asked.start)
            if fault != "chunked":
                return _reply(206, body, *headers)
            head, _, _ = _reply(206, body, "Transfer-Encoding: chunked", *headers).partition(_END)
            return head + _END + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)

    def etag(self, info: os.stat_result) -> str:
        changed_from = self.faults.changed_from
        is_changed = changed_from is not None and len(self.asked) >= changed_from
        weak = "W/" * ((fault := self.asked[-1].fault) == "weak")
        other = {"high": "\xff\xe9", "utf8": "\xc3\xa9"}.get(fault, "")
        return f'{weak}"{other}{info.st_mtime_ns:x}-{info.st_size:x}{"-new" * is_changed}"'


_LOGINS = {"login": (b"X-Amz-Signature=", "403"), "basic": (b"\r\nAuthorization: Basic ", "401")}
_PLAIN: dict[str, tuple[Any, ...]] = {
    "500": (500, b"out of luck"),
    "503": (503, b"<Error><Code>SlowDown</Code></Error>", "Retry-After: 0"),
    "later": (503, b"", "Retry-After: 3600"),
    "region": (301, b"", "x-amz-bucket-region: eu-west-1"),
    "429": (429, b"slow down"),
    "404": (404, b"not found"),
    "416": (416, b"", "Content-Range: bytes */5"),
    "403": (403, b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"),
    "401": (401, b""),
    "pays": (403, b"<Error><Message>Requester Pays buckets require the x-amz-request-payer header"),
    "html": (200, b"<!DOCTYPE html><html>", "Content-Type: text/html; charset=utf-8"),
}


def _reply(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} -", f"Content-Length: {len(body)}", *headers, "\r\n"]
    return "\r\n".join(lines).encode("latin-1") + body


class _Connection(asyncio.Protocol):
    def __init__(self, server: _Server) -> None:
        self.server, self.buffer = server, b""

    def connection_made(self, transport: Any) -> None:
        self.transport, self.loop = transport, asyncio.get_running_loop()
        self.server.open += 1
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.open -= 1

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while _END in self.buffer:
            head, _, self.buffer = self.buffer.partition(_END)
            reply, fault = self.server.answer(head + b"\r\n")
            if fault == "record":
                self.transport.write(reply)
                continue
            self.server.under_way += 1
            self.server.most = max(self.server.most, self.server.under_way)
            wait_s = 60.0 if fault == "stall" else self.server.latency_s
            self.loop.call_later(wait_s, self.send, reply, fault)

    def send(self, reply: bytes, fault: str) -> None:
        self.server.under_way -= 1
        body = reply.index(_END) + 4
        if fault == "slow":
            for i in range(body, len(reply)):
                self.loop.call_later(0.02 * (i - body), self.write, reply[i : i + 1])
        parts = {"slow": body, "cut": (body + len(reply)) // 2, "drop": 0}
        self.write(reply[: parts.get(fault)])
        if fault in {"cut", "drop", "close", "hang_up"}:
            self.transport.close()

    def write(self, content: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(content)


async def _serve(folder: str, latency_s: float, faults: Faults) -> None:
    loop = asyncio.get_running_loop()
    server = _Server(folder, latency_s, faults)
    listening = await loop.create_server(lambda: _Connection(server), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{listening.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    # The end of standard input is the end of the process that started this one.
    over = asyncio.Event()
    loop.add_reader(sys.stdin, over.set)
    await over.wait()
    listening.close()


class RangeServer(ServerProcess):
    """The server for the length of a `with` block; every answer is `latency_s` late."""

    def __init__(self, folder: Path, latency_s: float = 0.0, faults: Faults | None = None) -> None:
        options = [str(folder), str(latency_s), json.dumps(asdict(faults or Faults()))]
        super().__init__([sys.executable, "-m", __name__, *options])

    def record(self) -> Record:
        """Return what was asked so far."""
        with urllib.request.urlopen(f"{self.url}_record") as answer:
            asked, *rest = json.loads(answer.read())
        return Record([Asked(*row) for row in asked], rest[0] - 1, rest[1])


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], float(sys.argv[2]), Faults(**json.loads(sys.argv[3]))))
