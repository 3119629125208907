"""Servers that send too much, too slowly, or no answer cost one line and a bounded time."""

from __future__ import annotations

import gzip
import json
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import httpx
import pytest

from ngramscan.pace import exchange
from ngramscan.progress import SILENT

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Sender = Callable[[socket.socket], None]


@contextmanager
def server(send: Sender) -> Iterator[str]:
    """Answer each connection by `send`, whatever it asks."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    connection.recv(65536)
                    send(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def ask(url: str, most_bytes: int = 1_000_000, within_s: float = 1.0) -> httpx.Response:
    terms = exchange.Terms(most_bytes=most_bytes, within_s=within_s)
    with closing(exchange.Service(url, terms, SILENT)) as service:
        return service.post("{}")


def endless(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"\r\n")
    while True:
        connection.sendall(b" " * 65536)


BOMB = gzip.compress(b" " * 100_000_000, 1)


def bomb(connection: socket.socket) -> None:
    head = HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB)
    connection.sendall(head + BOMB)


def dripping(beginning: bytes) -> Sender:
    def send(connection: socket.socket) -> None:
        for byte in beginning + b"x" * 1000:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)

    return send


def body(content: bytes, encoding: str) -> Sender:
    head = HEAD + f"Content-Encoding: {encoding}\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    return lambda connection: connection.sendall(head + content)


@pytest.mark.parametrize("send", [endless, bomb])
def test_a_body_has_a_longest_length(send: Sender) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with server(send) as url, pytest.raises(exchange.BadBodyError, match="more than 1,000,000"):
        ask(url, within_s=20.0)
    if send is endless:
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


@pytest.mark.parametrize(
    "beginning",
    [pytest.param(HEAD, id="headers"), pytest.param(b"", id="status line")],
)
def test_an_exchange_has_a_time_wherever_bytes_drip(beginning: bytes) -> None:
    started_at = time.monotonic()
    with server(dripping(beginning)) as url, pytest.raises(exchange.TransientError):
        ask(url)
    assert time.monotonic() - started_at < 5


def test_an_exchange_has_a_time_in_its_body() -> None:
    def send(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\n")
        dripping(b"")(connection)

    started_at = time.monotonic()
    with server(send) as url, pytest.raises(exchange.TransientError, match="no answer in 1 s"):
        ask(url)
    assert time.monotonic() - started_at < 5


@pytest.mark.parametrize(
    ("content", "encoding", "problem"),
    [
        pytest.param(b"no gzip", "gzip", "not gzip", id="no gzip"),
        pytest.param(gzip.compress(b"{}" * 9)[:-6], "gzip", "without its end", id="cut gzip"),
        pytest.param(b"{}", "br", "unknown encoding", id="brotli"),
        pytest.param(b"{}", "zstd", "unknown encoding", id="zstd"),
    ],
)
def test_a_body_that_can_not_be_decoded_is_an_error(
    content: bytes, encoding: str, problem: str
) -> None:
    with (
        server(body(content, encoding)) as url,
        pytest.raises(exchange.BadBodyError, match=problem),
    ):
        ask(url)


def test_what_is_short_and_quick_is_read() -> None:
    content = json.dumps({"count": 7}).encode()
    with server(body(gzip.compress(content), "gzip")) as url:
        assert ask(url).json() == {"count": 7}
    with server(body(content, "identity")) as url:
        assert ask(url).json() == {"count": 7}
