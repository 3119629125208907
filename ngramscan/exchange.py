"""One HTTP request whose answer can be neither endless nor slow without end.

A time-out of httpx is one between two pieces: a server that sends a byte per second keeps it from
ever coming, and a body of any size would be read. Here the whole exchange has a time, and the body,
decoded, a length. Only gzip is decoded, as far as the length goes: other encodings could make
gigabytes of one piece.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore
import httpx

_LIMITS = threading.local()
ENCODINGS = {"Accept-Encoding": "gzip"}
"""The header that a client of this module sends."""


class BadBodyError(Exception):
    """A body is longer than it may be, or is not what its header says."""


def keep_time(client: httpx.Client) -> httpx.Client:
    """Have the connections of a client end reading where the time of an exchange is over."""
    # httpx has no setting for it; its pools of connections, those of proxies too, take one.
    for transport in (client._transport, *client._mounts.values()):
        pool: Any = getattr(transport, "_pool", None)
        if pool is not None:
            pool._network_backend = _Backend(pool._network_backend)
    return client


def post(
    client: httpx.Client,
    url: str,
    content: str,
    most_bytes: int,
    within_s: float,
    extensions: dict[str, Any] | None = None,
) -> httpx.Response:
    """Send a request and return its answer with the body read and decoded.

    Parameters
    ----------
    client : httpx.Client
        One that `keep_time` has seen, with the header `ENCODINGS`.
    url, content : str
        Where to, and the JSON to send.
    most_bytes : int
        Of the body, decoded.
    within_s : float
        For all of it, from the connection to the last byte.
    extensions : dict, optional
        Passed to httpx.

    Raises
    ------
    BadBodyError
        The body is too long, or not encoded as its header says.
    httpx.TimeoutException, httpx.TransportError
        As httpx raises them.
    """
    _LIMITS.until = time.monotonic() + within_s
    try:
        headers = {"Content-Type": "application/json"}
        with client.stream(
            "POST", url, content=content, headers=headers, extensions=extensions
        ) as response:
            encoding = response.headers.get("content-encoding", "identity").strip().lower()
            # A transport that is no network may hand over a body that is read already.
            whole = response.is_stream_consumed
            raw = [response.content] if whole else response.iter_raw()
            body = b"".join(_decoded(raw, "identity" if whole else encoding, most_bytes))
    finally:
        _LIMITS.until = None
    # As bytes: a header may hold any, and httpx takes only ASCII as text.
    kept = [pair for pair in response.headers.raw if pair[0].lower() not in _OF_TRANSFER]
    return httpx.Response(
        response.status_code, headers=kept, content=body, request=response.request
    )


_OF_TRANSFER = {b"content-encoding", b"content-length", b"transfer-encoding"}


def _decoded(parts: Iterable[bytes], encoding: str, most_bytes: int) -> Iterator[bytes]:
    if encoding not in {"identity", "", "gzip"}:
        raise BadBodyError(f"a body in the unknown encoding {encoding[:40]!r}")
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
    length = 0
    for raw in parts:
        try:
            part = unzip.decompress(raw, most_bytes - length + 1) if unzip else raw
        except zlib.error as error:
            raise BadBodyError("a body that is not gzip, as its header says") from error
        length += len(part)
        if length > most_bytes:
            raise BadBodyError(f"a body of more than {most_bytes:,} bytes")
        yield part
    if unzip and not unzip.eof:
        raise BadBodyError("a gzip body without its end")


def _left(timeout: float | None) -> float | None:
    """Return how long one step may take: no longer than its own time-out and the exchange's."""
    until: float | None = getattr(_LIMITS, "until", None)
    if until is None:
        return timeout
    left = until - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time of the request is over")
    return left if timeout is None else min(left, timeout)


class _Backend(httpcore.NetworkBackend):
    """Connects as another backend does, to streams that keep the time of the exchange."""

    def __init__(self, backend: httpcore.NetworkBackend) -> None:
        self._backend = backend

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *others: Any, **options: Any
    ) -> httpcore.NetworkStream:
        connected = self._backend.connect_tcp(host, port, _left(timeout), *others, **options)
        return _Stream(connected)

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, *others: Any, **options: Any
    ) -> httpcore.NetworkStream:
        connected = self._backend.connect_unix_socket(path, _left(timeout), *others, **options)
        return _Stream(connected)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
