"""Servers that send too much, too slowly, or what is no body cost a bounded time and memory."""

import gzip
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import httpx
import pytest

from ngramscan.errors import RemoteError, RemoteRefused, RemoteUnavailable
from ngramscan.progress import SILENT
from ngramscan.remote import exchange
from tests.support.fake_clock import FakeClock
from tests.support.recorder import Recorder

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Sender = Callable[[socket.socket], None]


@contextmanager
def server(send: Sender, asked: list[bytes] | None = None) -> Iterator[str]:
    """Answer each connection by `send`, whatever it asks; `asked` gets that."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection, suppress(OSError):
                    request = connection.recv(65536)
                    if asked is not None:
                        asked.append(request)
                    send(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def ask(url: str, within_s: float = 20.0) -> httpx.Response:
    terms = exchange.Terms(most_bytes=1_000_000, within_s=within_s)
    with closing(exchange.Service(url, terms, SILENT)) as service:
        return service.post("{}")


def endless(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"\r\n")
    while True:
        connection.sendall(b" " * 65536)


BOMB = gzip.compress(b" " * 20_000_000, 1)


def body(content: bytes, encoding: str) -> Sender:
    head = HEAD + f"Content-Encoding: {encoding}\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    return lambda connection: connection.sendall(head + content)


@pytest.mark.parametrize("send", [endless, body(BOMB, "gzip")], ids=["endless", "bomb"])
def test_a_body_has_a_longest_length(send: Sender) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with server(send) as url, pytest.raises(exchange.BadBodyError, match="more than 1,000,000"):
        ask(url)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 15_000  # kilobytes


@pytest.mark.parametrize(
    ("at_once", "dripping"),
    [(b"", HEAD), (HEAD, b"X-Header: "), (HEAD + b"\r\n", b"")],
    ids=["status line", "headers", "body"],
)
def test_an_exchange_has_a_time_wherever_bytes_drip(at_once: bytes, dripping: bytes) -> None:
    has_given_up = threading.Event()

    def send(connection: socket.socket) -> None:
        connection.sendall(at_once)
        for byte in dripping + b"x" * 100_000:  # of which each byte comes in time
            connection.sendall(bytes([byte]))
            if has_given_up.wait(0.02):
                return

    with server(send) as url:
        with pytest.raises(exchange.TransientError, match=r"no answer in 0\.2 s"):
            ask(url, within_s=0.2)
        has_given_up.set()


@pytest.mark.parametrize(
    ("content", "encoding", "problem"),
    [
        pytest.param(b"no gzip", "gzip", "not gzip", id="no gzip"),
        pytest.param(gzip.compress(b"{}" * 9)[:-6], "gzip", "without its end", id="cut gzip"),
        pytest.param(b"{}", "br", "unknown encoding 'br'", id="brotli"),
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


def test_a_proxy_that_the_environment_names_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def send(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"Content-Length: 2\r\n\r\n{}")

    with server(send, asked) as url:
        monkeypatch.setenv("http_proxy", url.replace("//", "//user:pass@"))
        assert ask("http://service.example/").json() == {}
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert ask(url).json() == {}
    assert asked[0].startswith(b"POST http://service.example/ HTTP/1.1")
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNz" in asked[0]
    assert asked[1].startswith(b"POST / HTTP/1.1")


# Questions that use up their attempts


def outcomes_of(questions: str, exhausted_in_a_row: int) -> tuple[list[str], int]:
    """Ask in turn; return the outcome of each question, and how many requests were sent.

    A question `x` never gets an answer, `-` gets one, and `r` is refused, which is an answer, too.
    """
    sent = 0

    def handle(request: httpx.Request) -> httpx.Response:
        nonlocal sent
        sent += 1
        return httpx.Response({"x": 500, "-": 200, "r": 400}[request.content.decode()])

    def read(response: httpx.Response) -> str:
        if response.status_code == 500:
            raise exchange.TransientError("HTTP 500")
        if response.status_code == 400:
            raise RemoteRefused("HTTP 400")
        return "answered"

    terms = exchange.Terms(most_bytes=1000, within_s=20.0, exhausted_in_a_row=exhausted_in_a_row)
    options: Any = {"clock": FakeClock(), "transport": httpx.MockTransport(handle)}
    found = []
    with closing(exchange.Service("http://made.example", terms, SILENT, **options)) as service:
        for question in questions:
            try:
                answer, _, _ = service.ask(question, read)
            except RemoteUnavailable:
                answer = "ended" if service.given_up else "failed"
            except RemoteError:
                answer = "refused"
            found.append(answer)
    return found, sent


F, A, R, E = "failed", "answered", "refused", "ended"


@pytest.mark.parametrize(
    ("questions", "in_a_row", "expected", "sent"),
    [
        pytest.param("xx", 1, [E, E], 7, id="one is enough to end it"),
        pytest.param("xxxx-", 3, [F, F, E, E, E], 21, id="the third in a row ends it"),
        pytest.param("xx-xx-", 3, [F, F, A, F, F, A], 30, id="an answer begins a new row"),
        pytest.param("xxrxx-", 3, [F, F, R, F, F, A], 30, id="a refusal begins a new row"),
        pytest.param("x-x-x-", 3, [F, A, F, A, F, A], 24, id="three, but not in a row"),
        pytest.param("-xxxx", 3, [A, F, F, E, E], 22, id="three in a row after an answer"),
        pytest.param("xx-xxx-", 3, [F, F, A, F, F, E, E], 36, id="the third of a new row ends it"),
    ],
)
def test_a_server_is_given_up_after_so_many_unanswered_questions_in_a_row(
    questions: str, in_a_row: int, expected: list[str], sent: int
) -> None:
    assert outcomes_of(questions, in_a_row) == (expected, sent)


@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [
        pytest.param(None, [0.5, 1, 2, 4, 8, 16], id="the server asks for nothing"),
        pytest.param(3.0, [3, 3, 3, 4, 8, 16], id="the server asks for three seconds"),
        pytest.param(1e6, [600, 600, 600, 600, 600, 600], id="the server asks for days"),
    ],
)
def test_waits_between_attempts_are_doubled_and_as_long_as_asked_for(
    retry_after: float | None, waits: list[float]
) -> None:
    def read(_: httpx.Response) -> str:
        raise exchange.TransientError("HTTP 500", retry_after)

    clock, recorder = FakeClock(), Recorder()
    terms = exchange.Terms(most_bytes=1000, within_s=20.0)
    transport = httpx.MockTransport(lambda _: httpx.Response(500))
    options: Any = {"clock": clock, "transport": transport}
    with (
        closing(exchange.Service("http://made.example", terms, recorder, **options)) as service,
        pytest.raises(RemoteUnavailable) as caught,
    ):
        service.ask("x", read)
    assert str(caught.value) == "http://made.example: HTTP 500, after 7 attempts"
    assert clock.waits == waits
    assert recorder.details == [
        f"http://made.example: HTTP 500; again in {seconds:.1f} s" for seconds in waits
    ]
