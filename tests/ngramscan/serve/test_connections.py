"""Clients that don't read their answers, or don't send their requests, don't hold up others."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

import pytest

from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.serve import app, bodies, connections, server
from ngramscan.serve.protocol import ServedIndex
from tests.support.dask_cluster import wait_until
from tests.support.serve_process import INDEXES, THE, Running, ask, running

LONG_PAGE = (
    b"GET /?q=" + b"%e6%bc%a2" * 1000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\n\r\n"
)
"""Its page is cheap and long: the question is repeated for each index."""
END = b"\r\n0\r\n\r\n"
SENT = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
FORM = (
    b"POST /trace HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n"
)


@contextmanager
def serving_long_pages() -> Iterator[Running]:
    shards = open_shards(INDEXES[0])
    names = ["replay", *(f"copy{number}" for number in range(300))]
    with running(*(ServedIndex(name, shards) for name in names)) as served:
        yield served


def connect(port: int, sent: bytes) -> socket.socket:
    """Ask as a client that reads little at once."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", port))
    connection.sendall(sent)
    return connection


def count(served: Running) -> int:
    got: int = ask(served.url, THE).json()["count"]
    return got


def ends_whole(connection: socket.socket) -> bool:
    """Read what is left of a page; tell whether it is complete."""
    page = b""
    with suppress(OSError):
        while received := connection.recv(1 << 20):
            page = (page + received)[-100:]
            if page.endswith(END):
                return True
    return False


def test_clients_that_never_read_hold_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_WAITING", 2)
    monkeypatch.setattr(connections, "READING_S", 600)
    with serving_long_pages() as served, ExitStack() as stack:
        stalled = []
        for _ in range(4):  # more than there are places
            stalled.append(stack.enter_context(connect(served.port, LONG_PAGE)))
            wait_until(lambda: served.unread_answers() == len(stalled))
            assert count(served) == 2918


def test_a_client_that_never_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READING_S", 6)
    with serving_long_pages() as served, connect(served.port, LONG_PAGE) as connection:
        wait_until(lambda: served.unread_answers() == 1)
        wait_until(lambda: served.unread_answers() == 0)
        assert not ends_whole(connection)


def test_a_client_that_reads_slowly_gets_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READING_S", 6)
    with serving_long_pages() as served, connect(served.port, LONG_PAGE) as connection:
        size = 0
        until = time.monotonic() + 13  # it is looked at twice
        while time.monotonic() < until:  # at most forty kilobytes a second
            size += len(connection.recv(2000))
            time.sleep(0.05)
        assert size < 1_000_000
        assert ends_whole(connection)


def test_of_many_clients_that_do_not_read_the_slowest_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MOST_UNREAD", 3)
    monkeypatch.setattr(connections, "READING_S", 600)
    with serving_long_pages() as served, ExitStack() as stack:
        stalled = []
        for _ in range(5):
            before = served.latest_unread_at()
            stalled.append(stack.enter_context(connect(served.port, LONG_PAGE)))
            wait_until(partial(served.has_answer_unread_since, before))
        assert served.unread_answers() == 3
        assert [*map(ends_whole, stalled)] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("head", "status"),
    [pytest.param(SENT, b" 400 ", id="JSON"), pytest.param(FORM, b" 200 ", id="a form")],
)
def test_clients_that_do_not_send_their_body_hold_no_place(
    monkeypatch: pytest.MonkeyPatch, head: bytes, status: bytes
) -> None:
    monkeypatch.setattr(app, "MAX_WAITING", 2)
    monkeypatch.setattr(bodies, "MOST_BODIES", 4)
    with serving_long_pages() as served, ExitStack() as stack:
        stalled = [
            stack.enter_context(connect(served.port, head + b"Content-Length: 9\r\n\r\n"))
            for _ in range(4)
        ]
        wait_until(lambda: served.bodies_under_way() == len(stalled))
        assert count(served) == 2918  # its own body is the fifth: the first one is given up
        assert b" 408 " in stalled[0].recv(1000)
        stalled[1].sendall(b"123456789")
        assert status in stalled[1].recv(1000)


def test_clients_that_never_read_do_not_keep_the_server_from_ending() -> None:
    shards = open_shards(INDEXES[0])
    indexes = [ServedIndex(f"copy{number}", shards) for number in range(300)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "GRACE_S", 5)
        patch.setattr(connections, "READING_S", 600)
        with running(*indexes) as served, connect(served.port, LONG_PAGE):
            wait_until(lambda: served.unread_answers() == 1)
            served.end()
    assert threading.active_count() < 100
