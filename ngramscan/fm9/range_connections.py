"""Requests for parts of files that are answered as expected, with little work for each.

An index is asked by ten thousands of requests of which each brings a few hundred bytes. aiohttp can
answer everything that a server may send, and takes three times the processor time. Here only one
answer is understood: 206 with just the bytes that were asked for. Any other is left to aiohttp.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from typing import cast

from yarl import URL

_HEADER = re.compile(rb"^(content-range|content-length|etag): *(.*?) *\r$", re.IGNORECASE | re.M)
_PARTIAL = b"HTTP/1.1 206"
_LONGEST_HEAD = 1 << 16


class OddAnswerError(Exception):
    """An answer of another kind, or none."""


class Connections:
    """Connections to any number of servers; made and used on one event loop."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, str, int], list[_Connection]] = {}
        self._all: set[_Connection] = set()
        self._tls: ssl.SSLContext | None = None

    async def get(self, url: URL, etag: str, start: int, stop: int, size: int) -> bytes:
        """Return these bytes of a file that has this strong ETag and size."""
        place = url.scheme, url.host or "", url.port or 0
        idle = self._idle.setdefault(place, [])
        connection = idle.pop() if idle else await self._connect(*place)
        request = (
            f"GET {url.raw_path_qs} HTTP/1.1\r\nHost: {url.host_port_subcomponent}\r\n"
            f"Range: bytes={start}-{stop - 1}\r\nIf-Match: {etag}\r\n"
            "Accept-Encoding: identity\r\nUser-Agent: ngramscan\r\n\r\n"
        )
        try:
            head, body = await connection.ask(request.encode("ascii"), stop - start)
            found = {name.lower(): value for name, value in _HEADER.findall(head)}
            expected = {
                b"content-range": b"bytes %d-%d/%d" % (start, stop - 1, size),
                b"content-length": b"%d" % (stop - start),
                b"etag": etag.encode(),
            }
            if not head.startswith(_PARTIAL) or found != expected or len(body) != stop - start:
                raise OddAnswerError(f"HTTP {head[9:12].decode('ascii', 'replace')}")
        except BaseException:
            self._close(connection)
            raise
        idle.append(connection)
        return body

    async def _connect(self, scheme: str, host: str, port: int) -> _Connection:
        if scheme == "https" and self._tls is None:
            self._tls = ssl.create_default_context()
        tls = self._tls if scheme == "https" else None
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(_Connection, host, port, ssl=tls)
        except OSError as error:
            raise OddAnswerError("no connection") from error
        self._all.add(connection)
        return connection

    def _close(self, connection: _Connection) -> None:
        connection.transport.abort()
        self._all.discard(connection)

    async def close(self) -> None:
        """Close all connections."""
        for connection in [*self._all]:
            self._close(connection)
        await asyncio.sleep(0)  # each is told in the loop's next turn


class _Connection(asyncio.Protocol):
    """One connection, with one request at a time."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._body_bytes = 0
        self._answer: asyncio.Future[tuple[bytes, bytes]] | None = None
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    async def ask(self, request: bytes, body_bytes: int) -> tuple[bytes, bytes]:
        """Return the head of an answer, and so many bytes that follow; fewer after an error."""
        if self._is_lost or self._received:
            raise OddAnswerError("connection lost")
        self._body_bytes, self._answer = body_bytes, asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._answer

    def data_received(self, data: bytes) -> None:
        """Complete the answer when all of it is there; of another kind, the head is enough."""
        self._received += data
        end = self._received.find(b"\r\n\r\n", 0, _LONGEST_HEAD) + 4
        length = b"\r\ncontent-length: %d\r\n" % self._body_bytes
        is_other = not self._received.startswith(_PARTIAL)
        is_other |= length not in self._received[:end].lower()
        if not self._answer or self._answer.done() or (end == 3 and len(data) < _LONGEST_HEAD):
            return
        if is_other or len(self._received) >= end + self._body_bytes:
            self._answer.set_result((bytes(self._received[:end]), bytes(self._received[end:])))
            self._received.clear()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Fail the answer that is under way."""
        self._is_lost = True
        if self._answer and not self._answer.done():
            self._answer.set_exception(OddAnswerError("connection lost"))
