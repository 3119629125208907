"""Connections over HTTP on which each step keeps the time limit of the whole exchange.

The read timeout of httpx is the time between two pieces, so a server that sends a byte per second
never reaches it. httpx has no setting for that; the connection pools of httpcore, on which it
stands, take a network backend.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from ngramscan.errors import InputError

_KEEP_ALIVE_S = 5.0
_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)
_EXCHANGE = threading.local()


_PROXY_SCHEMES = {"http", "https"}


def proxy_for(scheme: str, host: str | None, port: int | None = None) -> str | None:
    """Return the proxy for a host that the environment names; None if it names none.

    An InputError says that it is of a kind that can't be used.
    """
    place = host or "" if port is None else f"{host}:{port}"
    if proxy_bypass(place):  # NO_PROXY may name the host alone, or with its port
        return None
    proxies = getproxies()
    named = scheme if proxies.get(scheme) else "all"
    if not (proxy := proxies.get(named)):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    kind = proxy.partition("://")[0].lower()
    if kind not in _PROXY_SCHEMES:
        problem = f"a proxy of the kind {kind}:// can't be used; expected http://HOST:PORT"
        raise InputError(f"{named.upper()}_PROXY", problem)
    return proxy


class TimedTransport(httpx.BaseTransport):
    """Connections to one server, or to its proxy; no limit to their number."""

    def __init__(self, url: httpx.URL) -> None:
        proxy = None
        if address := proxy_for(url.scheme, url.host, url.port):
            named = httpx.Proxy(address)
            proxy = httpcore.Proxy(str(named.url), auth=named.raw_auth)
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context() if url.scheme == "https" else None,
            proxy=proxy,
            max_connections=None,
            keepalive_expiry=_KEEP_ALIVE_S,
            network_backend=_Backend(),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the body of the response is still to be read."""
        url = request.url
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _errors_of_httpx():
            got = self._pool.handle_request(sent)
        return httpx.Response(
            got.status, headers=got.headers, stream=_Body(got), extensions=got.extensions
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _errors_of_httpx():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Raise the errors of httpcore as those of httpx, which have the same names."""
    try:
        yield
    except _ERRORS as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit what this thread does on connections: connecting, sending and reading together."""
    _EXCHANGE.until = time.monotonic() + seconds
    try:
        yield
    finally:
        _EXCHANGE.until = None


def _shorten(timeout: float | None) -> float | None:
    """Return how long one step may take: its timeout, or the time that the exchange has left."""
    until: float | None = getattr(_EXCHANGE, "until", None)
    if until is None:
        return timeout
    remaining_s = until - time.monotonic()
    if remaining_s <= 0:
        raise httpcore.ReadTimeout("the request ran out of time")
    return remaining_s if timeout is None else min(remaining_s, timeout)


class _Backend(httpcore.SyncBackend):
    """Its streams keep the time limit of the exchange."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, _shorten(timeout), local_address, socket_options)
        return _DeadlineStream(stream)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _shorten(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _shorten(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(
            self._stream.start_tls(ssl_context, server_hostname, _shorten(timeout))
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
