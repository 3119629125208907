"""Parts of remote files, over real connections; the server's record says what was asked."""

import asyncio
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from ngramscan import errors
from ngramscan.errors import IndexChangedError, InputError, RemoteRefused, RemoteUnavailable
from ngramscan.progress import SILENT, Progress
from ngramscan.remote import files as remote_files
from ngramscan.remote import ranges as ranges_module
from ngramscan.remote.files import HEAD_BYTES, RemoteFile
from ngramscan.remote.range_cache import RangeCache
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.dask_cluster import wait_until
from tests.support.places import ROOT
from tests.support.range_server import Faults, RangeServer
from tests.support.recorder import Recorder
from tests.support.started import started

CONTENT = random.Random(7).randbytes(200_000)
KINDS = ("500", "cut", "wrong_range", "wrong_bytes", "wrong_total", "drop", "503", "429", "chunked")
REFUSED = {
    "403": "HTTP 403, access denied; is it public, is its name right, or has a signed URL expired?",
    "pays": "HTTP 403: the bucket's owner has the reader pay, about $0.40 per million requests "
    "and $0.09 per GB to the internet; use s3://… with --requester-pays",
    "html": "an HTML page, not a file; check the address, and whether it needs a login",
    "no_ranges": "the server can't send a part of a file; download the file, or ask its owner",
    "gzip": "the server sends parts of files compressed",
    "416": "HTTP 416",
    "loop": "redirected in a circle",
    "region": "the bucket is in the region eu-west-1; set AWS_DEFAULT_REGION=eu-west-1",
    "later": "HTTP 503; it says to retry in 3600 s",
}
"""What a server refuses, by the kind of its answer, and what is said of it."""
CHANGED = r"/file: it changed while it was read; start again$"
OTHERS = ("404", "basic", "login", "redirect", "no_etag", "stall", "slow", "away")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RangeServer]:
    """Serve one file in a folder for each kind of fault."""
    folder, kinds = tmp_path_factory.mktemp("served"), (*REFUSED, *OTHERS, *KINDS)
    for kind in (*kinds, "fine", "empty"):
        (folder / kind).mkdir()
        (folder / kind / "file").write_bytes(CONTENT * (kind != "empty"))
    with RangeServer(folder, faults=Faults(always={f"{kind}/": kind for kind in kinds})) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "file").write_bytes(CONTENT)
    return tmp_path / "served"


def ranges_of(progress: Progress = SILENT, **options: Any) -> Ranges:
    return Ranges(RangeOptions(**options), progress)


@contextmanager
def reading(url: str, **options: Any) -> Iterator[tuple[Ranges, RemoteFile]]:
    with ranges_of(**options) as ranges:
        yield ranges, opened(ranges, url)


def opened(ranges: Ranges, url: str) -> RemoteFile:
    file = ranges.run(ranges.open(url))
    assert file is not None
    return file


def pieces(starts: range, size: int) -> list[tuple[int, int]]:
    return [(start, start + size) for start in starts]


def check(
    ranges: Ranges, file: RemoteFile, *wanted: tuple[int, int], content: bytes = CONTENT
) -> None:
    """Read pieces at once; each has exactly the bytes of the file."""

    async def read() -> list[bytes]:
        return await asyncio.gather(*(ranges.read(file, *piece) for piece in wanted))

    assert ranges.run(read()) == [content[start:stop] for start, stop in wanted]


def asked(server: RangeServer, path: str) -> list[tuple[int, int]]:
    return [
        (request.start, request.stop)
        for request in server.record().requests
        if request.path == path
    ]


# What is read


def test_every_read_is_exact_although_a_third_of_the_answers_is_faulty(folder: Path) -> None:
    async def read_chain(ranges: Ranges, file: RemoteFile, seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(15):
            start = draw.randrange(len(CONTENT) - 600)
            stop = start + draw.randrange(600)
            assert await ranges.read(file, start, stop) == CONTENT[start:stop]

    async def read_chains(ranges: Ranges, file: RemoteFile) -> None:
        await asyncio.gather(*(read_chain(ranges, file, seed) for seed in range(12)))
        assert await ranges.read(file, 0, len(CONTENT)) == CONTENT

    faults = Faults(seed=3, rate=0.33, kinds=KINDS)
    with (
        RangeServer(folder, 0.002, faults) as server,
        reading(server.url + "file", concurrency=8) as (ranges, file),
    ):
        ranges.run(read_chains(ranges, file))
        record = server.record()
        assert {request.fault for request in record.requests} == {"", *KINDS}
        assert record.most_at_once == 8
        drops = sum(request.fault == "drop" for request in record.requests)
        # aiohttp repeats a request at once whose connection was closed without an answer.
        assert ranges.requests <= len(record.requests) <= ranges.requests + drops


def test_a_file_is_opened_by_one_request_that_brings_its_head(server: RangeServer) -> None:
    with reading(server.url + "fine/file") as (ranges, file):
        assert (file.size, file.head) == (len(CONTENT), CONTENT[:HEAD_BYTES])
        check(ranges, file, (8, 30), (HEAD_BYTES, HEAD_BYTES), (5, 5))
        assert (ranges.requests, ranges.bytes) == (1, HEAD_BYTES)
        assert ranges.run(ranges.read_whole(server.url + "fine/file", len(CONTENT))) == CONTENT
        with pytest.raises(RemoteRefused, match="200,000 bytes, more than the 1,000 expected"):
            ranges.run(ranges.read_whole(server.url + "fine/file", 1000))
        with pytest.raises(ValueError, match="199999 to 200001 of 200000"):
            ranges.run(ranges.read(file, 199_999, 200_001))
        urls = [
            server.url + path for path in ("fine/missing", "fine", "404/file", "fine/a file ü%20")
        ]
        assert [ranges.run(ranges.open(url)) for url in urls] == [None] * 4
        assert [ranges.run(ranges.read_whole(url, 9)) for url in urls] == [None] * 4
        assert ranges.run(ranges.read_whole(server.url + "empty/file", 9)) == b""
        assert ranges.run(ranges.list(server.url)) is None


def test_reads_of_one_turn_are_merged_where_they_are_near(server: RangeServer) -> None:
    near = [(50_000, 50_100), (50_300, 50_400), (50_050, 50_350), (50_000, 50_100)]
    far = [(60_000, 60_028), (60_541, 60_600), (90_000, 90_001)]
    before = len(asked(server, "fine/file"))
    with reading(server.url + "fine/file") as (ranges, file):
        for _ in range(2):
            check(ranges, file, *near, *far)
        assert sorted(asked(server, "fine/file")[before + 1 :]) == [(50_000, 50_400), *far]
        assert (ranges.requests, ranges.bytes, ranges.hits) == (5, HEAD_BYTES + 488, 7)


def test_what_is_under_way_is_not_asked_again(folder: Path) -> None:
    async def read_late(ranges: Ranges, file: RemoteFile, server: RangeServer) -> bytes:
        first = asyncio.create_task(ranges.read(file, 9000, 9100))
        while len(asked(server, "file")) < 2:  # the file is opened, and the piece is under way
            await asyncio.sleep(0.02)
        second = asyncio.create_task(ranges.read(file, 9000, 9100))
        await asyncio.sleep(0.05)
        first.cancel()  # the one that asked; the other still gets its bytes
        return await second

    with RangeServer(folder, 2.0) as server, reading(server.url + "file") as (ranges, file):
        assert ranges.run(read_late(ranges, file, server)) == CONTENT[9000:9100]
        assert asked(server, "file")[1:] == [(9000, 9100)]


def test_memory_keeps_what_was_read_last(server: RangeServer) -> None:
    # Five pieces of 200 bytes, and what they cost.
    with reading(server.url + "fine/file", cache_bytes=3000) as (ranges, file):
        for piece in pieces(range(10_000, 70_000, 10_000), 200):
            check(ranges, file, piece, (10_000, 10_200))
        assert (ranges.requests, ranges.hits) == (7, 5)
        check(ranges, file, (20_000, 20_200))
        assert (ranges.requests, ranges.hits) == (8, 5)
        check(ranges, file, (60_000, 60_200))
        assert (ranges.requests, ranges.hits) == (8, 6)


# What is refused, and what is tried again


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_is_one_line_with_the_cure(server: RangeServer, kind: str) -> None:
    url = server.url.replace("//", "//someone:secret@") + f"{kind}/file?signature=secret"
    before = len(asked(server, f"{kind}/file"))
    with ranges_of() as ranges, pytest.raises(errors.RemoteError) as caught:
        ranges.run(ranges.require(url))
    assert isinstance(caught.value, RemoteUnavailable) == (kind == "later")
    assert str(caught.value) == f"{server.url}{kind}/file: {REFUSED[kind]}"
    assert len(asked(server, f"{kind}/file")) - before == (10 if kind == "loop" else 1)


def test_a_redirect_is_followed_once(server: RangeServer) -> None:
    with reading(server.url + "redirect/file") as (ranges, file):
        for at in (10_000, 20_000):
            check(ranges, file, (at, at + 9))
    assert asked(server, "redirect/file") == [(0, HEAD_BYTES)]
    moved = [(0, HEAD_BYTES), (10_000, 10_009), (20_000, 20_009)]
    assert asked(server, "moved/redirect/file") == moved


def test_a_login_is_sent_with_every_request(server: RangeServer) -> None:
    with reading(server.url.replace("//", "//me:secret@") + "basic/file") as (ranges, file):
        check(ranges, file, (10_000, 10_009))
        assert "secret" not in f"{file} {file.url}"
        with pytest.raises(RemoteRefused, match="basic/file: HTTP 401, access denied"):
            ranges.run(ranges.open(server.url + "basic/file"))


def test_an_address_that_expired_is_asked_for_again(
    server: RangeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_files, "_ADDRESS_AGE_S", 0.0)
    with reading(server.url + "fine/file") as (ranges, file):
        file.address = server.url + "403/file"
        check(ranges, file, (30_000, 30_009))
        monkeypatch.setattr(remote_files, "_ADDRESS_AGE_S", 60.0)
        file.address = server.url + "403/file"
        with pytest.raises(RemoteRefused, match="fine/file: HTTP 403, access denied"):
            check(ranges, file, (40_000, 40_009))


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        pytest.param("500", "HTTP 500", id="500"),
        pytest.param("429", r"HTTP 429 \(--rate N asks more slowly\)", id="429"),
        pytest.param("drop", r"connection lost \(ServerDisconnectedError\)", id="drop"),
        pytest.param("cut", r"connection lost \(ClientPayloadError\)", id="cut"),
        pytest.param("stall", r"no answer in 0\.3 s", id="stall"),
        pytest.param("slow", r"no answer in 0\.3 s", id="slow"),
        pytest.param(
            "chunked",
            r"not valid HTTP \(Transfer-Encoding can't be present with Content-Length\)",
            id="chunked",
        ),
        pytest.param(
            "wrong_range", "bytes 0-4095 asked for, bytes 1-4095/200000 sent", id="wrong_range"
        ),
        pytest.param(
            "wrong_bytes", "bytes 0-4095 asked for, bytes 0-4094/200000 sent", id="wrong_bytes"
        ),
        pytest.param("away", r"no connection \(.*\)", id="away"),
    ],
)
def test_what_does_not_get_better_ends(
    server: RangeServer, monkeypatch: pytest.MonkeyPatch, kind: str, problem: str
) -> None:
    monkeypatch.setattr(ranges_module, "RETRIES", replace(ranges_module.RETRIES, attempts=3))
    before = len(asked(server, f"{kind}/file"))
    with (
        ranges_of(timeout_s=0.3, rate=0.0) as ranges,
        pytest.raises(RemoteUnavailable, match=f"{kind}/file: {problem}, after 3 attempts$"),
    ):
        ranges.run(ranges.open(f"{server.url}{kind}/file"))
    assert len(asked(server, f"{kind}/file")) - before == (6 if kind == "drop" else 3)


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        pytest.param("500", ["0.0", "0.0", "0.1", "0.3", "0.7"], id="after an error"),
        pytest.param("429", ["0.0", "0.1", "0.3", "0.7", "1.8"], id="asked to slow down"),
    ],
)
def test_waits_between_attempts_grow(
    server: RangeServer, monkeypatch: pytest.MonkeyPatch, kind: str, waits: list[str]
) -> None:
    monkeypatch.setattr(ranges_module, "RETRIES", replace(ranges_module.RETRIES, attempts=6))
    monkeypatch.setattr(random, "uniform", lambda low, high: (low + high) * 0.75)
    recorder = Recorder()
    with ranges_of(recorder) as ranges, pytest.raises(RemoteUnavailable):
        ranges.run(ranges.open(f"{server.url}{kind}/file"))
    problem = f"{server.url}{kind}/file: HTTP {kind}"
    assert recorder.details == [f"{problem}; again in {seconds} s" for seconds in waits]


@contextmanager
def answering(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """Answer the connections to a port by `serve`, one after another."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):  # it is closed at the end
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        serve(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def plain_http(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def refusal_over_tls(port: int) -> str:
    with ranges_of() as ranges, pytest.raises(RemoteRefused) as caught:
        ranges.run(ranges.open(f"https://127.0.0.1:{port}/file"))
    return str(caught.value).removeprefix(f"https://127.0.0.1:{port}/file: ")


@pytest.mark.parametrize(
    ("headers", "is_recent"),
    [
        pytest.param("Last-Modified: {}:09 GMT\r\nDate: {}:10 GMT", True, id="a second ago"),
        pytest.param("Last-Modified: {}:08 GMT\r\nDate: {}:10 GMT", False, id="two seconds ago"),
        pytest.param("Last-Modified: {}:10 GMT", False, id="no date of the answer"),
        pytest.param("Date: {}:10 GMT", False, id="no date of the file"),
        pytest.param("Last-Modified: yesterday\r\nDate: {}:10 GMT", False, id="no date at all"),
        pytest.param(
            "Last-Modified: {}:10 GMT\r\nDate: {}:10 GMT\r\nX-Amz-Id: 5", False, id="of a store"
        ),
    ],
)
def test_a_file_that_changed_just_before_is_not_told_by_its_date(
    headers: str, is_recent: bool
) -> None:
    minute = "Thu, 01 Jan 2026 00:00"
    head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-2/3\r\nContent-Length: 3"
    answer = f"{head}\r\n{headers.replace('{}', minute)}\r\nConnection: close\r\n\r\nabc"

    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(answer.encode())

    with answering(serve) as port, reading(f"http://127.0.0.1:{port}/file") as (_, file):
        assert (file.size, file.head, file.is_recent) == (3, b"abc", is_recent)
        assert file.stamp == ("" if is_recent else file.etag)


def test_only_a_page_in_place_of_a_file_is_kept_as_a_page(server: RangeServer) -> None:
    with ranges_of() as ranges:
        assert ranges.run(ranges.open("memory://nothing/here")) is None
        assert ranges.run(ranges.open(f"{server.url}nothing")) is None
        assert ranges.pages == []


def test_a_server_without_tls_is_said_with_the_cure() -> None:
    with answering(plain_http) as port:
        refusal = refusal_over_tls(port)
    found = re.fullmatch(r"TLS failed \((.+)\); is it http://… instead\?", refusal)
    assert found, refusal
    assert "wrong version number" in found[1]


def test_a_certificate_that_nobody_knows_is_said_with_the_cure(tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("this needs the program openssl")
    made = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=made.example")
    files = ("-keyout", "key.pem", "-out", "certificate.pem")
    subprocess.run([openssl, *made, *files], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")

    def serve(connection: socket.socket) -> None:
        context.wrap_socket(connection, server_side=True)

    with answering(serve) as port:
        refusal = refusal_over_tls(port)
    reasons = ("self-signed certificate", "self signed certificate")  # new and old OpenSSL
    cure = "SSL_CERT_FILE names the authorities of your network"
    assert refusal in {f"its certificate is refused ({reason}); {cure}" for reason in reasons}


def test_a_server_that_is_gone_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges_module, "RETRIES", replace(ranges_module.RETRIES, attempts=1))
    with ranges_of() as ranges:
        with RangeServer(folder) as server:
            file = opened(ranges, f"{server.url}file")
        with pytest.raises(RemoteUnavailable, match=r"/file: no connection, after 1 attempts$"):
            check(ranges, file, (9_000, 9_100))


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        pytest.param(
            "http://127.0.0.1:1/x",
            r"no connection \(.*\), after 3 attempts",
            id="no server",
        ),
        pytest.param("http://[::1/x", "not a URL; expected https://…", id="no URL"),
        pytest.param("nothing://bucket/x", "Protocol not known: nothing", id="no protocol"),
        pytest.param(
            "sftp://host/x",
            "a login is in it; put it into the configuration of fsspec",
            id="a login",
        ),
        pytest.param(
            "gs://bucket/x",
            "gcsfs is not installed; pip install gcsfs",
            id="a package that is not there",
        ),
    ],
)
def test_an_address_that_can_not_be_asked_is_told_without_secrets(url: str, problem: str) -> None:
    given = url.replace("sftp://", "sftp://me:secret@")
    with (
        ranges_of() as ranges,
        pytest.raises(errors.NgramscanError, match=f"^{re.escape(url)}: {problem}$"),
    ):
        ranges.run(ranges.open(given))


@pytest.mark.parametrize("kind", ["close", "hang_up"])
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_a_server_may_close_a_connection_after_an_answer(
    folder: Path, kind: str, rate: float
) -> None:
    progress, faults = Recorder(), Faults(seed=1, rate=rate, kinds=(kind,))
    wanted = pieces(range(10_000, 190_000, 1_800), 50)
    with (
        RangeServer(folder, faults=faults) as server,
        reading(server.url + "file", progress=progress) as (ranges, file),
    ):
        for piece in wanted[:50]:
            check(ranges, file, piece)
        for few in range(50, 100, 5):
            check(ranges, file, *wanted[few : few + 5])
        assert len(server.record().requests) == ranges.requests == 1 + len(wanted)
    assert not progress.details


@pytest.mark.parametrize("login", ["", "me:secret@"], ids=["open", "with a login"])
@pytest.mark.parametrize("kind", ["high", "utf8"])
def test_a_tag_may_have_any_bytes(folder: Path, tmp_path: Path, kind: str, login: str) -> None:
    requests = []
    with RangeServer(folder, faults=Faults(always={"": kind})) as server:
        url = server.url.replace("//", f"//{login}") + "file"
        for _ in range(2):
            with reading(url, cache_dir=tmp_path) as (ranges, file):
                check(ranges, file, *pieces(range(10_000, 190_000, 9_000), 50))
                requests.append(ranges.requests)
    assert requests == [21, 1]


def test_all_requests_wait_when_the_server_asks_for_it(folder: Path) -> None:
    progress, faults = Recorder(), Faults(rate=0.4, kinds=("503",))
    with (
        RangeServer(folder, faults=faults) as server,
        reading(server.url + "file", progress=progress) as (ranges, file),
    ):
        check(ranges, file, *pieces(range(10_000, 190_000, 6_000), 20))
    assert progress.details
    assert all("/file: HTTP 503; again in " in detail for detail in progress.details)


# A file that changes


@pytest.mark.parametrize("kind", ["fine", "date", "weak", "no_etag", "high", "utf8"])
def test_a_changed_file_is_an_error_and_never_a_mix(kind: str, tmp_path: Path) -> None:
    there, new = tmp_path / kind / "file", tmp_path / "new"
    there.parent.mkdir()
    there.write_bytes(CONTENT)
    other = CONTENT[::-1] + (b"longer" if kind == "no_etag" else b"")
    faults = Faults(always={} if kind == "fine" else {f"{kind}/": kind})
    with (
        RangeServer(tmp_path, faults=faults) as server,
        reading(f"{server.url}{kind}/file") as (ranges, file),
    ):
        check(ranges, file, (9000, 9100))
        new.write_bytes(other)
        os.utime(new, (1e9, 1e9))
        new.rename(there)
        with pytest.raises(IndexChangedError, match=CHANGED):
            check(ranges, file, (10_000, 10_100))
        there.unlink()
        with pytest.raises(IndexChangedError, match=CHANGED):
            check(ranges, file, (11_000, 11_100))


# Processes


@pytest.mark.integration
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_ended_leaves_nothing_and_harms_no_other(
    server: RangeServer, tmp_path: Path, ending: signal.Signals
) -> None:
    url, told = server.url + "fine/file", tmp_path / "stderr"
    before = len(asked(server, "stall/file"))
    both = pieces(range(9_000, 149_000, 100), 1000)
    program = ["-m", "tests.support.programs.read_until_stalled"]
    command = [sys.executable, "-W", "always", *program, url, str(tmp_path)]
    with (
        told.open("w") as stderr_file,  # no pipe: a full one would stop the process
        started(command, stdout=subprocess.PIPE, stderr=stderr_file, cwd=ROOT) as process,
        reading(url, cache_dir=tmp_path) as (ranges, file),
    ):
        assert process.stdout is not None
        check(ranges, file, *both[::2])
        assert process.stdout.readline() == "reading\n"
        wait_until(lambda: len(asked(server, "stall/file")) > before)
        process.send_signal(ending)
        process.wait(timeout=60)  # what it waits for never comes
    assert process.returncode == -ending
    stderr = told.read_text()
    if ending == signal.SIGINT:
        assert stderr.count("Traceback") == 1
        assert stderr.endswith("KeyboardInterrupt\n")
    assert not re.search("Task|nclosed|never|Warning", stderr), stderr
    with reading(url, cache_dir=tmp_path) as (ranges, file):
        check(ranges, file, *both)
        # The file is opened; a request more is for what it hadn't stored yet.
        assert ranges.requests == 1 + (ending == signal.SIGKILL)


def test_connections_are_closed_at_the_end(folder: Path) -> None:
    with RangeServer(folder, 0.01) as server:
        with reading(server.url + "file", concurrency=8) as (ranges, file):
            check(ranges, file, *pieces(range(9000, 199_000, 900), 9))
            assert server.record().open > 0
        wait_until(lambda: not server.record().open)


# Other protocols


def test_other_protocols_are_read_through_fsspec(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for url in ("memory://ranges", tmp_path.as_uri()):
        with subtests.test(url=url):
            system, root = fsspec.url_to_fs(url, auto_mkdir=True)
            for name in ("0/data.fm9", "1/data.fm9", "plan.json"):
                system.pipe_file(f"{root}/{name}", CONTENT)
            with reading(f"{url}/0/data.fm9") as (ranges, file):
                entries = ranges.run(ranges.list(url))
                assert sorted(entries or []) == ["0/", "1/", "plan.json"]
                assert ranges.run(ranges.list(f"{url}/missing")) == []
                assert ranges.run(ranges.open(f"{url}/missing")) is None
                assert ranges.run(ranges.open(f"{url}/0")) is None
                assert (file.size, file.head) == (len(CONTENT), CONTENT[:HEAD_BYTES])
                wanted = pieces(range(9000, 90_000, 700), 50)
                check(ranges, file, *wanted)
                assert ranges.bytes == HEAD_BYTES + 50 * len(wanted)
                system.pipe_file(f"{root}/0/data.fm9", CONTENT[::-1])
                with pytest.raises(
                    IndexChangedError, match=r"data\.fm9: it changed while it was read"
                ):
                    check(ranges, file, (100_000, 100_100))
                system.rm(root, recursive=True)
                with pytest.raises(
                    IndexChangedError, match=r"data\.fm9: it changed while it was read"
                ):
                    check(ranges, file, (110_000, 110_100))


@pytest.fixture
def s3_address(server: RangeServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Have the server answer for S3, whose clients find no credentials."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    clients = fsspec.get_filesystem_class("s3")
    clients.clear_instance_cache()
    yield server.url
    clients.clear_instance_cache()


def set_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "Secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "Secret")


def faults_at_login(server: RangeServer) -> list[str]:
    requests = server.record().requests
    return [request.fault for request in requests if request.path == "login/file"]


@pytest.mark.parametrize("has_credentials", [False, True], ids=["anonymous", "with credentials"])
def test_public_files_of_s3_are_read(
    s3_address: str, monkeypatch: pytest.MonkeyPatch, has_credentials: bool
) -> None:
    if has_credentials:
        set_credentials(monkeypatch)
    with reading("s3://fine/file") as (ranges, file):
        assert file.address == s3_address + "fine/file"
        file.address = file.origin  # as after its signature has expired
        check(ranges, file, (30_000, 30_009))
        assert ranges.run(ranges.open("s3://fine/missing")) is None
        with pytest.raises(RemoteRefused, match="/file: HTTP 403, access denied; is it pu"):
            opened(ranges, "s3://403/file")


@pytest.mark.usefixtures("s3_address")
def test_s3_without_credentials_is_asked_anonymously(server: RangeServer) -> None:
    before = len(faults_at_login(server))
    with (
        ranges_of() as ranges,
        pytest.raises(RemoteRefused, match="/file: HTTP 403, access denied; is it pu"),
    ):
        opened(ranges, "s3://login/file")
    assert faults_at_login(server)[before:] == ["403"]


@pytest.mark.usefixtures("s3_address")
def test_s3_is_asked_anonymously_and_then_with_its_credentials(
    server: RangeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_credentials(monkeypatch)
    before = len(faults_at_login(server))
    with reading("s3://login/file") as (ranges, signed):
        assert "X-Amz-Signature" in signed.address
        assert "Secret" not in repr(signed)
        for at in (30_000, 40_000):
            check(ranges, signed, (at, at + 9))
            signed.address = signed.origin
    assert faults_at_login(server)[before:] == ["403", *[""] * 4]


# On disk


def test_a_second_run_asks_only_whether_a_file_on_disk_is_still_the_same(
    server: RangeServer, tmp_path: Path
) -> None:
    requests = []
    for _ in range(3):
        with reading(server.url + "fine/file", cache_dir=tmp_path) as (ranges, file):
            assert file.head == CONTENT[:HEAD_BYTES]
            check(ranges, file, *pieces(range(10_000, 190_000, 300), 100))
            requests.append(ranges.requests)
    assert requests[0] > 1
    assert requests[1:] == [1, 1]
    assert (tmp_path / "ranges-1.sqlite").stat().st_mode & 0o777 == 0o600


def test_the_disk_has_no_bytes_of_another_version(
    server: RangeServer, folder: Path, tmp_path: Path
) -> None:
    with RangeServer(folder) as changing:
        url, piece = changing.url + "file", (10_000, 10_100)
        with reading(url, cache_dir=tmp_path) as given:
            check(*given, piece)
        with reading(url, cache_dir=tmp_path) as (ranges, file):
            check(ranges, file, piece)
            (folder / "file").write_bytes(CONTENT[::-1])
            with pytest.raises(IndexChangedError):
                check(ranges, file, (20_000, 20_100))
            check(ranges, opened(ranges, url), piece, content=CONTENT[::-1])
            (folder / "file").write_bytes(CONTENT)
        with reading(url, cache_dir=tmp_path) as (ranges, file):
            assert ranges.changed == [url]
            check(ranges, file, piece, (20_000, 20_100))
    for _ in range(2):  # a file whose versions can't be told apart is not kept
        with reading(server.url + "no_etag/file", cache_dir=tmp_path) as (ranges, file):
            check(ranges, file, piece)
            assert ranges.requests == 2


def test_the_disk_is_bounded_and_the_oldest_file_goes_first(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with RangeServer(folder) as server:
        for name in ("a", "b", "c"):
            (folder / name).write_bytes(CONTENT)
            with reading(server.url + name, cache_dir=cache, cache_bytes=110_000) as given:
                check(*given, (0, len(CONTENT)))
        assert sum(path.stat().st_size for path in cache.iterdir()) < 4 * 110_000 + 600_000
        requests = {}
        for name in ("c", "b", "a"):
            with reading(server.url + name, cache_dir=cache, cache_bytes=10**6) as (ranges, file):
                check(ranges, file, (0, len(CONTENT)))
                requests[name] = ranges.requests
        assert requests == {"c": 1, "b": 1, "a": 2}


def test_a_cache_that_fails_does_not_stop_a_run(server: RangeServer, tmp_path: Path) -> None:
    progress, problem = Recorder(), "no such table: pieces; this run continues without this cache"
    url, path = server.url + "fine/file", tmp_path / "ranges-1.sqlite"
    with reading(url, cache_dir=tmp_path) as given:
        check(*given, (10_000, 10_100))
    with reading(url, progress=progress, cache_dir=tmp_path) as given:
        with closing(sqlite3.connect(path)) as database:
            database.execute("DROP TABLE pieces")
        for start in (10_000, 20_000):
            check(*given, (start, start + 100))
    assert progress.notices == [f"{path}: {problem}"]
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(InputError) as caught:
        ranges_of(cache_dir=tmp_path)
    problem = "can't be used as a cache (file is not a database); remove the file, or name a folder"
    assert str(caught.value) == f"--index-cache {path}: {problem}"
    with pytest.raises(InputError, match="can't be used as a cache"):
        ranges_of(cache_dir=path)


def test_a_wrong_use_of_the_cache_is_no_failure_of_its_file(tmp_path: Path) -> None:
    progress, file = Recorder(), RemoteFile("http://h/f", 9, '"1"', b"", "http://h/f", "http://h/f")
    cache = RangeCache(tmp_path, 10**6, progress)
    cache.close()
    with pytest.raises(sqlite3.ProgrammingError):
        cache.add(file)
    assert not progress.notices


def test_a_file_without_a_tag_is_another_if_only_its_first_bytes_are(tmp_path: Path) -> None:
    served = tmp_path / "no_etag" / "file"
    served.parent.mkdir()
    served.write_bytes(CONTENT)
    faults = Faults(always={"no_etag/": "no_etag"})
    with RangeServer(tmp_path, faults=faults) as server, ranges_of() as ranges:
        check(ranges, opened(ranges, f"{server.url}no_etag/file"), (10_000, 10_100))
        ranges.check()
        served.write_bytes(bytes([CONTENT[0] ^ 1]) + CONTENT[1:])
        with pytest.raises(IndexChangedError):
            ranges.check()
