"""Work stops when its client has left, and work that takes long doesn't hold up the others."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlencode

import httpx
import pytest

from ngramscan.index_files.fm9.reader import Shard, open_shards
from ngramscan.serve import clients, server, turns
from ngramscan.serve.protocol import ServedIndex
from ngramscan.serve.turns import RequestWork, Turns
from ngramscan.stopping import current_work
from tests.support.dask_cluster import wait_until
from tests.support.serve_process import INDEXES, THE, running, serving_here


class LongIndex(ServedIndex):
    """Searches until it is stopped, or for a time, as compiled loops do."""

    def __init__(self, name: str, seconds: float = 600.0) -> None:
        super().__init__(name, open_shards(INDEXES[0]))
        self.seconds, self.running, self.stopped_by = seconds, 0, list[str]()
        self.has_begun = threading.Event()

    def segments(self, query: bytes) -> list[list[int]]:
        self.running += 1
        self.has_begun.set()
        try:
            until = time.monotonic() + self.seconds
            while time.monotonic() < until:
                current_work().check()
        except Exception as error:
            self.stopped_by.append(type(error).__name__)
            raise
        finally:
            self.running -= 1
        return [[0, len(query)]]


def request_for(index: str) -> bytes:
    body = json.dumps(THE | {"index": index})
    head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


def send_to(port: int, index: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(request_for(index))
    return connection


def status_of(port: int, index: str) -> int:
    with httpx.Client(timeout=120) as client:
        return client.post(f"http://127.0.0.1:{port}/", json=THE | {"index": index}).status_code


# --- clients ------------------------------------------------------------------------------------


def test_the_search_of_a_client_that_left_stops_at_once() -> None:
    index = LongIndex("long")
    with running(index) as served:
        connection = send_to(served.port, "long")
        assert index.has_begun.wait(60)
        connection.close()
        wait_until(lambda: not index.running)
        assert index.stopped_by == ["ClientLeftError"]


def test_short_searches_are_answered_while_long_ones_hold_all_threads() -> None:
    long_one, short = LongIndex("long"), LongIndex("short", 0.001)
    with running(long_one, short, threads=2) as served:
        long_clients = [send_to(served.port, "long") for _ in range(6)]
        assert long_one.has_begun.wait(60)
        took = []
        for _ in range(20):
            asked_at = time.monotonic()
            assert status_of(served.port, "short") == 200
            took.append(time.monotonic() - asked_at)
        assert sorted(took)[10] < 5
        assert long_one.running >= 2
        for connection in long_clients:
            connection.close()


def test_long_searches_get_on_however_many_short_ones_come() -> None:
    long_one, short = LongIndex("long", 0.5), LongIndex("short", 0.001)
    with running(long_one, short) as served:
        ended = threading.Event()

        def ask_on() -> None:
            while not ended.is_set():
                status_of(served.port, "short")

        askers = [threading.Thread(target=ask_on) for _ in range(3)]
        for asker in askers:
            asker.start()
        assert status_of(served.port, "long") == 200
        ended.set()
        for asker in askers:
            asker.join()


def test_a_search_that_takes_too_long_is_stopped_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MOST_WORK_S", 1.0)
    index = LongIndex("long")
    with running(index) as served, httpx.Client(timeout=120) as client:
        got = client.post(f"http://127.0.0.1:{served.port}/", json=THE | {"index": "long"})
        assert (got.status_code, got.headers["retry-after"]) == (503, "1")
        assert got.json() == {"error": "Stopped after 1 s; ask for less"}
        assert index.stopped_by == ["TookTooLongError"]


class DeafIndex(ServedIndex):
    """Is in the midst of what no flag stops."""

    def __init__(self) -> None:
        super().__init__("deaf", open_shards(INDEXES[0]))
        self.has_begun, self.go = threading.Event(), threading.Event()

    def segments(self, query: bytes) -> list[list[int]]:
        self.has_begun.set()
        assert self.go.wait(60)
        return [[0, len(query)]]


def test_who_waits_for_a_thread_in_vain_is_asked_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clients, "MOST_WAITING_S", 0.3)
    deaf = DeafIndex()
    with running(deaf, LongIndex("short", 0.001)) as served:
        with send_to(served.port, "deaf"):
            assert deaf.has_begun.wait(60)
            with httpx.Client(timeout=120) as client:
                url = f"http://127.0.0.1:{served.port}/"
                got = client.post(url, json=THE | {"index": "short"})
                page = client.get(f"{url}?q=the", headers={"Accept": "text/html"})
            problem = "All threads are busy; come back later"
            assert (got.status_code, got.json()) == (503, {"error": problem})
            assert page.status_code == 503
            assert problem in page.text
            assert page.headers["retry-after"] == "1"
            monkeypatch.setattr(clients, "MOST_WAITING_S", 60)
            deaf.go.set()
        assert status_of(served.port, "short") == 200


# --- the end ------------------------------------------------------------------------------------


def test_the_server_ends_at_once_where_all_clients_have_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "GRACE_S", 600)
    index = LongIndex("long")
    with running(index) as served:
        connection = send_to(served.port, "long")
        assert index.has_begun.wait(60)
        connection.close()
        assert served.end() < 60
    assert index.running == 0


def test_the_server_ends_in_time_while_clients_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "GRACE_S", 8)
    monkeypatch.setattr(server, "_ENDING_S", 6)
    index = LongIndex("long")
    with running(index) as served, send_to(served.port, "long"):
        assert index.has_begun.wait(60)
        assert 1 < served.end() < 8
    wait_until(lambda: not index.running)
    assert index.stopped_by == ["ClientLeftError"]


# --- turns --------------------------------------------------------------------------------------


def busy_for(milliseconds: int) -> Callable[[], float]:
    """Return work of so many steps, of which each takes a millisecond or more."""

    def work() -> float:
        """Return when it was done."""
        for _ in range(milliseconds):
            time.sleep(0.001)
            current_work().check()
        return time.monotonic()

    return work


def test_no_more_jobs_run_than_there_are_places() -> None:
    at_once, most = 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal at_once, most
        for _ in range(20):
            with lock:
                at_once += 1
                most = max(most, at_once)
            time.sleep(0.002)
            with lock:
                at_once -= 1
            current_work().check()

    async def scene() -> None:
        some = Turns(3)
        await asyncio.gather(*(some.submit(RequestWork(some), work) for _ in range(20)))

    asyncio.run(scene())
    assert most == 3


def test_what_takes_less_time_is_done_first() -> None:
    async def scene() -> list[float]:
        some = Turns(1)
        works = [busy_for(milliseconds) for milliseconds in (1000, 300, 1)]
        return await asyncio.gather(*(some.submit(RequestWork(some), work) for work in works))

    longest, middle, shortest = asyncio.run(scene())
    assert shortest < middle < longest


def test_stopped_and_cancelled_jobs_of_several_tasks_lose_no_place() -> None:
    async def scene() -> float:
        some = Turns(2)

        async def ask(number: int) -> None:
            job = RequestWork(some)
            with suppress(clients.ClientLeftError, asyncio.CancelledError):
                for _ in range(3):
                    result = some.submit(job, busy_for(number % 60))
                    if number % 3 == 1:
                        result.cancel()
                    if number % 3 == 2:
                        await asyncio.sleep(0.001 * (number % 7))
                        job.stop(clients.ClientLeftError)
                    await result

        await asyncio.gather(*map(ask, range(120)))
        assert not some._running
        assert not some._paused
        return await some.submit(RequestWork(some), busy_for(0))

    assert asyncio.run(asyncio.wait_for(scene(), 60))


def test_an_error_of_a_task_is_that_of_its_result() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    async def scene() -> int:
        some = Turns(1)
        with pytest.raises(ZeroDivisionError):
            await some.submit(RequestWork(some), fail)
        return await some.submit(RequestWork(some), lambda: 7)

    assert asyncio.run(scene()) == 7


def test_turns_are_short() -> None:
    assert turns.TURN_S <= 0.1


# --- pasted texts -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a " * 5000, id="one word"),
        pytest.param("a b " * 2500, id="two in turn"),
        pytest.param("x y z " * 1666, id="a period of three"),
        pytest.param("q" * 10_000, id="no space"),
        pytest.param("a " * 2500 + "a b " * 1250, id="a run longer than the document's"),
    ],
)
def test_a_text_that_repeats_itself_is_traced_soon_on_a_small_page(shard: Shard, text: str) -> None:
    folder = shard.directory
    with serving_here(folder) as url, httpx.Client(timeout=120) as client:
        html = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
        asked_at = time.monotonic()
        got = client.post(f"{url}trace", content=urlencode({"text": text}), headers=html)
        assert got.status_code == 200
        assert time.monotonic() - asked_at < 60
        assert len(got.content) < 3_000_000


def test_a_page_of_a_search_that_takes_too_long_says_so(
    shard: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "MOST_WORK_S", 0.0)
    with running(ServedIndex("repeated", [shard])) as served, httpx.Client(timeout=120) as client:
        text = "".join(f"a {'a ' * number}b " for number in range(60))
        html = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded"}
        got = client.post(f"{served.url}trace", content=urlencode({"text": text}), headers=html)
    assert got.status_code in {200, 503}
    assert got.text.rstrip().endswith("</html>")
    assert "Internal error" not in got.text
