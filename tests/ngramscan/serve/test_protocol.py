"""The server of local indexes says what the original service was recorded to say, and no less."""

import asyncio
import json
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

import ngramscan
from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.progress import Progress
from ngramscan.serve import app, bodies, connections, server
from ngramscan.serve.protocol import RefusedError, ServedIndex, answer
from tests.support.command import invoke
from tests.support.dask_cluster import wait_until
from tests.support.places import TOKENS
from tests.support.serve_process import INDEXES, JSON, THE, Served, ask, send, serving

PLACE = {"query": "step by step", "s": 0, "rank": 296330, "max_ctx_len": 20}
WINDOW = {**THE, "query_type": "get_doc_by_rank", **PLACE}
HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + f"Content-Length: {len(json.dumps(THE))}\r\n\r\n{json.dumps(THE)}".encode()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("-v", "--allow-host", "Corpora.Example") as running:
        yield running


@pytest.fixture(scope="module")
def indexes() -> dict[str, ServedIndex]:
    return {folder.name: ServedIndex(folder.name, open_shards(folder)) for folder in INDEXES}


# --- recordings ---------------------------------------------------------------------------------


def assert_is_refusal(got: httpx.Response, status: int) -> str:
    assert (got.status_code, got.headers["content-type"]) == (status, "application/json")
    assert list(got.json()) == ["error"]
    problem = got.json()["error"]
    assert isinstance(problem, str)
    assert problem
    for word in ("Flask", "Processor", "()", "object at", "Traceback", "<"):
        assert word not in problem
    return problem


# --- fields -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            {"rank": 361157}, "rank is out of range; expected 0 to 361156", id="beyond the last"
        ),
        pytest.param({"rank": -1}, "rank is out of range; expected 0 to 361156", id="negative"),
        pytest.param(
            {"rank": 1.0},
            "rank is a number that is not whole; expected a whole number",
            id="a number that is not whole",
        ),
        pytest.param({"rank": True}, "rank is a boolean; expected a whole number", id="a boolean"),
        pytest.param({"rank": None}, "rank is null; expected a whole number", id="null"),
        pytest.param({"s": []}, "s is a list; expected a whole number", id="a list"),
        pytest.param(
            {"max_ctx_len": 1180591620717411303424},
            "max_ctx_len is out of range; expected 1 to 10000",
            id="beyond 64 bits",
        ),
        pytest.param(
            {"query": 5}, "query is a number; expected a string", id="a number for a text"
        ),
        pytest.param(
            {"query": "a\ud800"},
            "query has a lone surrogate at character 1; expected Unicode text",
            id="half of a character",
        ),
        pytest.param(
            {"query_type": {}}, "query_type is an object; expected a string", id="an object"
        ),
        pytest.param(
            {"query_type": "Count"},
            "Invalid query_type: Count; expected count, find or get_doc_by_rank",
            id="another letter case",
        ),
        pytest.param(
            {"index": "x" * 120},
            f"Invalid index: {'x' * 100}…; available: replay, replay2",
            id="a long name",
        ),
    ],
)
def test_refusal_names_the_field(
    indexes: dict[str, ServedIndex], change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(RefusedError) as caught:
        answer(indexes, json.dumps({**WINDOW, **change}).encode())
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("body", [b"[" * 500_000, b'{"a":' * 100_000, b'{"s": ' + b"9" * 5000])
def test_body_that_breaks_parsers_is_refused(indexes: dict[str, ServedIndex], body: bytes) -> None:
    with pytest.raises(RefusedError, match="nested too deeply, or a number in it has too many"):
        answer(indexes, body)


# --- HTTP ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunked", [False, True])
def test_query_may_be_as_long_as_the_body_which_is_refused_where_longer(
    served: Served, chunked: bool
) -> None:
    assert ask(served.url, {**THE, "query": "the " * 200_000}).json()["count"] == 0
    block = b" " * 100_000
    body = iter([block] * 30) if chunked else block * 30
    got = send(served.url, body, JSON)
    assert "1000000 bytes" in assert_is_refusal(got, 413)


def test_server_answers_to_its_own_names_but_not_to_a_page_elsewhere(
    served: Served,
) -> None:
    names = "localhost:80", "LOCALHOST", "127.0.0.1:9", "[::1]:9", "10.1.2.3", "corpora.example"
    assert {ask(served.url, THE, Host=host).status_code for host in names} == {200}
    headers = {**JSON, "Host": "evil.example:8787"}
    content = json.dumps(THE).encode()
    replies = [
        send(served.url, content, headers, *place) for place in (("POST", "/"), ("GET", "/indexes"))
    ]
    assert ["evil.example" in assert_is_refusal(reply, 421) for reply in replies] == [True, True]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "same-origin", "none", None])
def test_a_question_of_a_page_elsewhere_is_refused(served: Served, site: str | None) -> None:
    """Browsers say so, and pages can't make them say anything else."""
    header = {"Sec-Fetch-Site": site} if site else {}
    got = ask(served.url, THE, **header)
    if site in {"cross-site", "same-site"}:
        assert "A web page elsewhere may not query" in assert_is_refusal(got, 403)
    else:
        assert got.json()["count"] == 2918


# --- bounds, without a socket -------------------------------------------------------------------


class SlowIndex(ServedIndex):
    """Answers when the test lets it, or fails."""

    go = threading.Event()
    error: Exception | None = None

    def segments(self, query: bytes) -> list[list[int]]:
        if self.error:
            raise self.error
        assert self.go.wait(60)
        return [[0, len(query)]]


async def post(service: app.IndexApplication, index: str = "slow") -> httpx.Response:
    transport = httpx.ASGITransport(service.application, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport) as client:
        return await client.post("http://127.0.0.1/", json={**THE, "index": index})


def test_too_many_clients_are_asked_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_WAITING", 2)
    slow = SlowIndex("slow", [])
    service = app.IndexApplication({"slow": slow}, 1, Progress())

    async def scene() -> list[httpx.Response]:
        waiting = [asyncio.create_task(post(service)) for _ in range(3)]
        async with asyncio.timeout(60):
            while service._under_way < len(waiting):
                await asyncio.sleep(0.01)
        refused = await post(service)
        slow.go.set()
        return [refused, *await asyncio.gather(*waiting), await post(service)]

    refused, *answered = asyncio.run(scene())
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert "Too many" in refused.json()["error"]
    assert [(reply.status_code, reply.json()["count"]) for reply in answered] == [(200, 3)] * 4


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        pytest.param(
            IndexFormatError("data.fm9", "field rrr: wrong"),
            "data.fm9: field rrr: wrong",
            id="a corrupt index",
        ),
        pytest.param(ZeroDivisionError("a secret"), "Internal error", id="another error"),
    ],
)
def test_an_error_of_the_server_is_answered_in_json(error: Exception, problem: str) -> None:
    broken = SlowIndex("slow", [])
    broken.error = error
    reply = asyncio.run(post(app.IndexApplication({"slow": broken}, 1, Progress())))
    assert (reply.status_code, reply.json()) == (500, {"error": problem})


def cut(folder: Path, _: Path) -> None:
    for path in folder.iterdir():
        os.truncate(path, 0)


def repair(folder: Path, original: Path) -> None:
    cut(folder, original)
    for path in original.iterdir():
        shutil.copy(path, folder / "copy")
        (folder / "copy").replace(folder / path.name)


def remove(folder: Path, original: Path) -> None:
    cut(folder, original)
    shutil.rmtree(folder)


def replace_then_cut(folder: Path, original: Path) -> None:
    """Cut the files that are mapped when they are no longer those at their paths."""
    old = folder.with_name(f"old_{folder.name}")
    folder.rename(old)
    shutil.copytree(original, folder)
    cut(old, original)


DAMAGES = (cut, repair, remove, replace_then_cut)


RIGHT = {"m": 2918, "t": 18_136}
"""Occurrences of `the`, by the first letter of an index's name."""


@contextmanager
def under_load(url: str, names: Sequence[str]) -> Iterator[Callable[[], None]]:
    """Ask all indexes all the time; yield what waits for more answers. No count is wrong."""
    stop, wrong, statuses = threading.Event(), list[str](), list[int]()

    def ask_on(number: int) -> None:
        with httpx.Client(timeout=60) as client:
            while not stop.is_set():
                number += 3
                name = names[number % len(names)]
                got = client.post(url, json=THE | {"index": name})
                statuses.append(got.status_code)
                if got.status_code != 503 and got.json().get("count") != RIGHT[name[0]]:
                    wrong.append(got.text)

    threads = [threading.Thread(target=ask_on, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()

    def wait() -> None:
        enough = len(statuses) + 2 * len(names)
        wait_until(lambda: len(statuses) > enough)

    try:
        yield wait
    finally:
        stop.set()
        for thread in threads:
            thread.join(timeout=60)
    assert wrong == []


def test_no_file_ends_the_server(tmp_path: Path) -> None:
    """Files also change in the middle of an answer, which is then none."""
    originals = {"m": INDEXES[0], "t": TOKENS / "v5_pysmall_llama"}
    names = [f"{kind}{n}" for kind in originals for n in range(len(DAMAGES) + 1)]
    folders = tuple(tmp_path / name for name in names)
    for folder in folders:
        shutil.copytree(originals[folder.name[0]], folder)
    with (
        serving("--tokenizer", str(TOKENS / "llamalike.model"), indexes=folders) as running,
        under_load(running.url, names) as wait_for_answers,
    ):
        for number, damage in enumerate(DAMAGES):
            for kind, original in originals.items():
                damage(tmp_path / f"{kind}{number}", original)
            wait_for_answers()
            damaged = {name for name in names if int(name[1:]) <= number}
            replies = {name: ask(running.url, THE | {"index": name}) for name in names}
            assert {name: reply.status_code for name, reply in replies.items()} == {
                name: 503 if name in damaged else 200 for name in names
            }
            told = [name for name in names if "was changed or removed" in replies[name].text]
            assert {*told} == damaged
        assert running.process.poll() is None


# --- a server in a thread, with less patience ---------------------------------------------------


@contextmanager
def in_a_thread(service: app.IndexApplication) -> Iterator[int]:
    """Run a server in a thread of this process; yield its port."""
    ready, made = threading.Event(), []

    class Stoppable(server._Server):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    with pytest.MonkeyPatch.context() as patch, server.open_socket("127.0.0.1", 0) as listener:
        patch.setattr(server, "_Server", Stoppable)
        assert listener.proto == socket.IPPROTO_TCP  # so that asyncio sends small answers at once
        arguments = (service.application, listener, ready.set)
        thread = threading.Thread(target=server._run, args=arguments)
        thread.start()
        assert ready.wait(60)
        try:
            yield listener.getsockname()[1]
        finally:
            made[0].should_exit = True
            thread.join(timeout=60)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[app.IndexApplication, int]]:
    """A server that waits a second for headers and bodies, and its port."""
    monkeypatch.setattr(connections, "HEADERS_S", 1)
    monkeypatch.setattr(bodies, "BODY_TIMEOUT_S", 1)
    index = ServedIndex("replay", open_shards(INDEXES[0]))
    service = app.IndexApplication({"replay": index}, 2, Progress(), {"localhost"}, 50_000)
    with in_a_thread(service) as port:
        yield service, port


class CountingIndex(ServedIndex):
    """Counts the questions, and answers them when the test lets it."""

    def __init__(self) -> None:
        super().__init__("replay", [])
        self.go, self.asked = threading.Event(), 0

    def segments(self, query: bytes) -> list[list[int]]:
        self.asked += 1
        assert self.go.wait(60)
        return [[0, len(query)]]


def test_nothing_is_done_for_clients_that_left() -> None:
    index = CountingIndex()
    service = app.IndexApplication({"replay": index}, 1, Progress(), {"localhost"})
    with in_a_thread(service) as port:
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(6)]
        for client in clients:
            client.sendall(WHOLE)
        wait_until(lambda: service._under_way == len(clients))
        for client in clients[:-1]:
            client.close()
        wait_until(lambda: service._under_way == 1)
        index.go.set()
        assert b"200 OK" in clients[-1].recv(1000)
        clients[-1].close()
        assert index.asked <= 2  # the first one was under way


def test_a_served_index_shows_what_the_files_do_whatever_its_address(
    impatient: tuple[app.IndexApplication, int], tmp_path: Path
) -> None:
    url, width = f"http://127.0.0.1:{impatient[1]}/", 12_000
    assert ask(f"{url}/", {**WINDOW, "max_ctx_len": 50_000}).status_code == 200
    assert ask(f"{url}/", {**WINDOW, "max_ctx_len": 50_001}).status_code == 400
    kept: dict[str, Any] = {"journal": tmp_path / "j", "n": 5, "seed": 3, "width": width}
    moved = shutil.copytree(INDEXES[0], tmp_path / "elsewhere" / "replay")
    rows = [
        ngramscan.contexts("and the", index=spec, api_url=url, **kept).drop(columns="index")
        for spec in (f"fm9:{INDEXES[0]}", f"{url}/replay", "replay", f"fm9:{moved}/")
    ]
    assert rows[0]["left"].str.len().max() == width  # of a document that is longer
    assert [other.equals(rows[0]) for other in rows] == [True] * 4


def test_a_name_that_a_host_does_not_have_is_told_with_those_it_has(served: Served) -> None:
    given = ("count", "and the", "--api-url", served.url, "--index", "nonesuch")
    problem = f"{served.url} has no index of this name; it has replay, replay2"
    form = f"or by address: --index {served.url}replay"
    assert run(*given) == (2, f"Error: --index nonesuch: {problem} ({form})\n")


def trickle(connection: socket.socket) -> None:
    """Send more headers byte by byte, for a minute, which gains no time."""
    for _ in range(600):
        connection.sendall(b"s")
        time.sleep(0.1)


def test_clients_that_stall_stop_nobody_and_are_given_up(
    impatient: tuple[app.IndexApplication, int],
) -> None:
    service, port = impatient
    with ExitStack() as open_sockets:
        stalled = []
        for number in range(50):
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
            stalled.append(open_sockets.enter_context(connection))
            connection.sendall(WHOLE[: -5 if number % 2 else 30])
        stalled.pop().close()  # this one leaves
        counts = [ask(f"http://127.0.0.1:{port}/", THE).json()["count"] for _ in range(20)]
        assert counts == [2918] * 20
        with pytest.raises(OSError):
            trickle(stalled[0])
        replies = [
            b"".join(iter(partial(connection.recv, 65536), b"")) for connection in stalled[1:]
        ]
    assert set(replies[1::2]) == {b""}
    refusals = replies[::2]
    assert {reply[:13] for reply in refusals} == {b"HTTP/1.1 408 "}
    assert [reply for reply in refusals if b"connection: close" not in reply] == []
    assert [reply for reply in refusals if b"did not arrive" not in reply] == []
    wait_until(lambda: service._under_way == 0)


# --- beginning and end --------------------------------------------------------------------------


def test_public_host_is_warned_of(indexes: dict[str, ServedIndex]) -> None:
    with server.open_socket("0.0.0.0", 0) as listener:
        lines = list(server._describe([indexes["replay"]], "0.0.0.0", listener))
        assert f"http://127.0.0.1:{listener.getsockname()[1]}/replay: 257" in lines[0]
    assert lines[1] == "anyone who can reach 0.0.0.0 can query it: there is no authentication"


def run(*arguments: str | Path) -> tuple[int, str]:
    """Run a command here that prints nothing; return its exit code and what it says."""
    ran = invoke(*arguments)
    assert not ran.stdout
    return ran.code, ran.stderr


def test_address_that_cannot_be_taken_is_one_line(served: Served) -> None:
    where = f"--host 127.0.0.1 --port {served.port}"
    ran = run("serve", INDEXES[0], *where.split())
    assert ran == (2, f"Error: {where}: address already in use; --port 0 takes any that is free\n")
    code, message = run("serve", INDEXES[0], "--host", "192.0.2.1", "--port", "0")
    assert (code, message.count("\n")) == (2, 1)
    assert message.startswith("Error: --host 192.0.2.1")


def test_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "replay").mkdir()
    code, message = run("serve", INDEXES[0], tmp_path / "replay")
    assert (code, message.count("\n")) == (2, 1)
    assert "has the same name, so requests can't tell them apart" in message
    assert run("serve", "/") == (2, "Error: /: the name of this folder can't name an index\n")
    shutil.copytree(INDEXES[1], tmp_path / "cut")
    file = tmp_path / "cut" / "1" / "data.fm9"
    file.write_bytes(file.read_bytes()[:-9])
    code, message = run("serve", INDEXES[0], tmp_path / "cut", "--port", "0")
    assert (code, message.count("\n")) == (1, 1)
    assert message.startswith(f"Error: {file}: ")
