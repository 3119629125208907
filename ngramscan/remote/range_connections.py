"""Requests for parts of files that are answered as expected, with little work for each.

Reading an index takes tens of thousands of requests of a few hundred bytes each. aiohttp can handle
everything that a server may send, and takes three times the processor time. Here only one answer is
understood: 206 with just the bytes that were asked for. Any other is left to aiohttp.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress

from yarl import URL

_HEADER = re.compile(
    rb"^(content-(?:range|length|encoding)|transfer-encoding|etag|connection):([^\r]*)\r$",
    re.IGNORECASE | re.M,
)
_BUFFER_BYTES = 1 << 20

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class OddAnswerError(Exception):
    """An answer of another kind, or none."""


class _NoAnswerError(OddAnswerError):
    """The connection ended before an answer."""


class Connections:
    """Connections to any number of servers; made and used on one event loop."""

    def __init__(self) -> None:
        self._idle: dict[tuple[str, str, int], list[Streams]] = {}
        self._tls: ssl.SSLContext | None = None

    async def get(
        self, url: URL, headers: Mapping[str, str], etag: str, start: int, stop: int, size: int
    ) -> bytes:
        """Return these bytes of a file that has this strong ETag and size."""
        place = url.scheme, url.host or "", url.port or 0
        idle = self._idle.setdefault(place, [])
        request = (
            f"GET {url.raw_path_qs} HTTP/1.1\r\nHost: {url.host_port_subcomponent}\r\n"
            f"Range: bytes={start}-{stop - 1}\r\nIf-Match: {etag}\r\n"
            "Accept-Encoding: identity\r\nUser-Agent: ngramscan\r\n"
        )
        request += "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
        expected = {
            b"content-range": b"bytes %d-%d/%d" % (start, stop - 1, size),
            b"content-length": b"%d" % (stop - start),
            b"etag": etag.encode("latin-1"),
        }
        asked = request.encode("latin-1"), expected, idle
        # A server may have closed it silently: then another one is made.
        if streams := _take_open(idle):
            with suppress(_NoAnswerError):
                return await _exchange(streams, *asked)
        try:
            streams = await self._connect(*place)
        except OSError as error:
            raise OddAnswerError("no connection") from error
        return await _exchange(streams, *asked)

    async def _connect(self, scheme: str, host: str, port: int) -> Streams:
        if scheme == "https" and self._tls is None:
            self._tls = ssl.create_default_context()
        tls = self._tls if scheme == "https" else None
        return await asyncio.open_connection(host, port, ssl=tls, limit=_BUFFER_BYTES)

    async def close(self) -> None:
        """Close all connections; requests under way have ended by then."""
        for idle in self._idle.values():
            for _, writer in idle:
                writer.transport.abort()
        await asyncio.sleep(0)  # the loop tells each in its next turn


def _take_open(idle: list[Streams]) -> Streams | None:
    """Return a connection that is not known to be closed; None if there is none."""
    while idle:
        reader, writer = streams = idle.pop()
        if not (reader.at_eof() or writer.is_closing()):
            return streams
        writer.transport.abort()
    return None


async def _exchange(
    streams: Streams, request: bytes, expected: dict[bytes, bytes], idle: list[Streams]
) -> bytes:
    """Return the body of an answer; the connection is idle then, unless its server closes it."""
    reader, writer = streams
    head, stays_open = b"", False
    try:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        headers = {name.lower(): value.strip() for name, value in _HEADER.findall(head)}
        is_last = b"close" in headers.pop(b"connection", b"").lower()
        if not head.startswith(b"HTTP/1.1 206") or headers != expected:
            raise OddAnswerError(f"HTTP {head[9:12].decode('ascii', 'replace')}")
        body = await reader.readexactly(int(expected[b"content-length"]))
        stays_open = not is_last
    except (OSError, EOFError, asyncio.LimitOverrunError) as error:
        raise (OddAnswerError if head else _NoAnswerError)("connection lost") from error
    finally:
        if stays_open:
            idle.append(streams)
        else:
            writer.transport.abort()
    return body
