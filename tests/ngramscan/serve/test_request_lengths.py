"""A request has one length: where two could be read, it is refused and the connection ends."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.serve.protocol import ServedIndex
from tests.support.serve_process import INDEXES, THE, Running, running

BODY = json.dumps(THE).encode()
N = str(len(BODY)).encode()
HEX = f"{len(BODY):x}".encode()
CHUNKS = HEX + b"\r\n" + BODY + b"\r\n0\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
LENGTH = b"Content-Length: " + N + b"\r\n"
FIRST = b"GET /indexes HTTP/1.1\r\nHost: localhost\r\n\r\n"
SECOND = b"GET /indexes HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
"""The last request of a connection, so that its answers have an end."""


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    with running(ServedIndex("replay", open_shards(INDEXES[0]))) as one:
        yield one


def exchange(served: Running, sent: bytes) -> list[bytes]:
    """Send something; return the statuses of the answers up to the end of the connection."""
    received = b""
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.sendall(sent)
        with suppress(ConnectionError):
            while part := connection.recv(65536):
                received += part
            received += b"HTTP/1.1 END"
    return [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]


def request(headers: bytes, body: bytes, version: bytes = b"HTTP/1.1") -> bytes:
    head = b"POST / " + version + b"\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head + headers + b"\r\n" + body


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        pytest.param(LENGTH + CHUNKED, CHUNKS, id="length, then chunks"),
        pytest.param(CHUNKED + LENGTH, CHUNKS, id="chunks, then length"),
        pytest.param(b"Content-Length: 6\r\n" + CHUNKED, b"0\r\n\r\n", id="a short length"),
        pytest.param(b"content-length: 0\r\nTRANSFER-ENCODING: CHUNKED\r\n", CHUNKS, id="case"),
        pytest.param(LENGTH * 2, BODY, id="the same length twice"),
        pytest.param(LENGTH + b"Content-Length: 3\r\n", BODY, id="two lengths"),
        pytest.param(b"Content-Length: " + N + b", " + N + b"\r\n", BODY, id="a list"),
        pytest.param(b"Content-Length: +" + N + b"\r\n", BODY, id="a plus"),
        pytest.param(b"Content-Length: -1\r\n", BODY, id="a minus"),
        pytest.param(b"Content-Length: 0x" + HEX + b"\r\n", BODY, id="hexadecimal"),
        pytest.param(b"Content-Length: " + N + b".0\r\n", BODY, id="a fraction"),
        pytest.param(b"Content-Length: 4_7\r\n", BODY, id="a digit group"),
        pytest.param(b"Content-Length:\r\n", BODY, id="no number"),
        pytest.param(b"Content-Length: \xd9\xa5\r\n", BODY, id="digits of another script"),
        pytest.param(b"Content-Length: 1 2\r\n", BODY, id="a space within"),
        pytest.param(b"Content-Length: 1" + b"0" * 18 + b"\r\n", BODY, id="19 digits"),
        pytest.param(b"Content-Length: 18446744073709551663\r\n", BODY, id="more than 64 bits"),
        pytest.param(b"Content-Length : " + N + b"\r\n", BODY, id="a space before the colon"),
        pytest.param(b"Content-Length\t: " + N + b"\r\n", BODY, id="a tab before the colon"),
        pytest.param(b"Transfer-Encoding : chunked\r\n", CHUNKS, id="chunks, with a space"),
        pytest.param(b"Content-Length:\r\n " + N + b"\r\n", BODY, id="folded"),
        pytest.param(b"X: y\r\n Content-Length: 3\r\n" + LENGTH, BODY, id="another one folded"),
        pytest.param(b"Transfer-Encoding:\r\n\tchunked\r\n", CHUNKS, id="chunks, folded"),
        pytest.param(b"Content-Length: " + N + b"\n", BODY, id="LF alone"),
        pytest.param(b"X: y\nContent-Length: " + N + b"\r\n", BODY, id="another one with LF"),
        pytest.param(b"X: y\rContent-Length: " + N + b"\r\n", BODY, id="CR alone"),
        pytest.param(LENGTH + b"X: y\r\n\n", BODY, id="LF alone before the body"),
        pytest.param(CHUNKED * 2, CHUNKS, id="chunked twice"),
        pytest.param(b"Transfer-Encoding: chunked, chunked\r\n", CHUNKS, id="chunked in a list"),
        pytest.param(b"Transfer-Encoding: chunked, identity\r\n", CHUNKS, id="then identity"),
        pytest.param(b"Transfer-Encoding: identity, chunked\r\n", CHUNKS, id="first identity"),
        pytest.param(b"Transfer-Encoding: identity\r\n", BODY, id="identity"),
        pytest.param(b"Transfer-Encoding: gzip\r\n", BODY, id="gzip"),
        pytest.param(b"Transfer-Encoding: xchunked\r\n", CHUNKS, id="nearly chunked"),
        pytest.param(b'Transfer-Encoding: "chunked"\r\n', CHUNKS, id="chunked in quotes"),
        pytest.param(b"Transfer-Encoding: chunked;q=1\r\n", CHUNKS, id="with a parameter"),
        pytest.param(b"Transfer-Encoding: \x0bchunked\r\n", CHUNKS, id="with a vertical tab"),
        pytest.param(b"Transfer-Encoding:\r\n", BODY, id="no encoding"),
    ],
)
def test_a_request_of_two_lengths_is_refused_and_nothing_after_it_is_read(
    served: Running, headers: bytes, body: bytes
) -> None:
    assert exchange(served, request(headers, body) + SECOND) == [b"400", b"END"]
    # Nor is it as a second request.
    assert exchange(served, FIRST + request(headers, body) + SECOND) == [b"200", b"400", b"END"]


def test_chunks_are_refused_in_http_1_0(served: Running) -> None:
    sent = request(CHUNKED, CHUNKS, version=b"HTTP/1.0")
    assert exchange(served, sent + SECOND) == [b"400", b"END"]


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(CHUNKS, id="plain"),
        pytest.param(HEX.upper() + b";a=b\r\n" + BODY + b"\r\n0;c\r\n\r\n", id="with extensions"),
        pytest.param(HEX + b"\r\n" + BODY + b"\r\n0\r\nContent-Length: 3\r\n\r\n", id="a trailer"),
        pytest.param(HEX + b"\r\n" + BODY + b"\r\n0\r\n\n", id="LF alone at the end"),
    ],
)
def test_what_follows_chunks_is_not_taken_for_a_request(served: Running, chunks: bytes) -> None:
    assert exchange(served, request(CHUNKED, chunks) + SECOND) == [b"200", b"END"]


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(HEX + b"\n" + BODY + b"\r\n0\r\n\r\n", id="LF alone"),
        pytest.param(HEX + b";a\nb\r\n" + BODY + b"\r\n0\r\n\r\n", id="LF in an extension"),
        pytest.param(b"0x" + CHUNKS, id="a prefix"),
        pytest.param(b"-" + CHUNKS, id="a minus"),
        pytest.param(b"0" * 21 + CHUNKS, id="too many digits"),
        pytest.param(HEX + b"\r\n" + BODY + b"xx0\r\n\r\n", id="a chunk that is longer"),
    ],
)
def test_chunks_that_are_none_are_refused(served: Running, chunks: bytes) -> None:
    got = exchange(served, request(CHUNKED, chunks) + SECOND)
    assert got[0] in {b"400", b"END"}
    assert b"200" not in got


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        pytest.param(LENGTH, BODY, id="a length"),
        pytest.param(b"content-length:\t" + N + b" \r\n", BODY, id="with white space around it"),
        pytest.param(b"Content-Length: 000" + N + b"\r\n", BODY, id="with zeros before it"),
        pytest.param(b"X-Content-Length: 3\r\n" + LENGTH, BODY, id="another header's name"),
        pytest.param(b"X: Content-Length: 3\r\n" + LENGTH, BODY, id="in another header"),
    ],
)
def test_a_request_of_one_length_is_answered_and_so_is_the_next(
    served: Running, headers: bytes, body: bytes
) -> None:
    assert exchange(served, request(headers, body) + SECOND) == [b"200", b"200", b"END"]


@pytest.mark.parametrize("size", [1, 7, 60])
def test_it_does_not_matter_in_which_pieces_a_request_arrives(served: Running, size: int) -> None:
    sent = request(LENGTH + CHUNKED, CHUNKS)
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):
            for at in range(0, len(sent), size):
                connection.sendall(sent[at : at + size])
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def test_head_and_body_of_an_answer_are_sent_together(served: Running) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
        for _ in range(20):
            connection.sendall(request(LENGTH, BODY))
            head, _, body = connection.recv(65536).partition(b"\r\n\r\n")
            assert b"content-length: %d\r\n" % len(body) in head + b"\r\n"
