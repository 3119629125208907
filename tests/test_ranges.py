"""Parts of remote files, over real connections; the server's record says what was asked."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import fsspec
import pytest

from ngramscan.errors import (
    IndexChangedError,
    InputError,
    NgramscanError,
    RemoteError,
    RemoteRefused,
    RemoteUnavailable,
)
from ngramscan.fm9.range_sources import HEAD_BYTES, RemoteFile
from ngramscan.fm9.ranges import RangeOptions, Ranges
from ngramscan.progress import Progress
from tests.support.range_server import Faults, RangeServer

CONTENT = random.Random(7).randbytes(200_000)
KINDS = ("500", "cut", "wrong_range", "wrong_bytes", "wrong_total", "drop", "503", "429")
REFUSED = {
    "403": "HTTP 403, access denied; is it public, and its name right?",
    "401": "HTTP 401, access denied; is it public, and its name right?",
    "pays": "HTTP 403: its owner has the requester pay; use s3://… with credentials, and "
    "FSSPEC_S3_REQUESTER_PAYS=true",
    "html": "an HTML page, not a file; check the address",
    "no_ranges": "the server can't send a part of a file; download the index, or ask its owner",
    "gzip": "the server sends parts of files compressed",
    "416": "HTTP 416",
    "loop": "redirected in a circle",
    "region": "the bucket is in the region eu-west-1; set AWS_DEFAULT_REGION=eu-west-1",
    "later": "HTTP 503; it asks to come back in 3600 s",
}
OTHERS = ("404", "basic", "login", "redirect", "no_etag", "date", "weak", "stall", "slow", "away")
PLAIN = ("fine", "empty")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file in a folder for each kind of fault."""
    folder = tmp_path_factory.mktemp("served")
    for kind in (*REFUSED, *OTHERS, *KINDS, *PLAIN):
        (folder / kind).mkdir()
        (folder / kind / "file").write_bytes(CONTENT * (kind != "empty"))
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[RangeServer]:
    always = {f"{kind}/": kind for kind in (*REFUSED, *OTHERS, *KINDS)}
    with RangeServer(folder, faults=Faults(always=always)) as server:
        yield server


@contextmanager
def ranges_of(progress: Progress | None = None, **options: object) -> Iterator[Ranges]:
    with Ranges(RangeOptions(**options), progress or Progress()) as ranges:  # type: ignore[arg-type]
        yield ranges


def opened(ranges: Ranges, url: str) -> RemoteFile:
    file = ranges.run(ranges.open(url))
    assert file is not None
    return file


def read_all(ranges: Ranges, file: RemoteFile, pieces: list[tuple[int, int]]) -> list[bytes]:
    async def read() -> list[bytes]:
        return await asyncio.gather(*(ranges.read(file, *piece) for piece in pieces))

    return ranges.run(read())


def asked(server: RangeServer, path: str) -> list[tuple[int, int]]:
    return [(each.start, each.stop) for each in server.record().requests if each.path == path]


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
    with RangeServer(folder, 0.002, faults) as server, ranges_of(concurrency=8) as ranges:
        ranges.run(read_chains(ranges, opened(ranges, server.url + "fine/file")))
        record = server.record()
        assert {each.fault for each in record.requests} == {"", *KINDS}
        assert record.most_at_once == 8
        drops = sum(each.fault == "drop" for each in record.requests)
        # aiohttp repeats a request at once whose connection was closed without an answer.
        assert ranges.requests <= len(record.requests) <= ranges.requests + drops


def test_a_file_is_opened_by_one_request_that_brings_its_head(server: RangeServer) -> None:
    with ranges_of() as ranges:
        file = opened(ranges, server.url + "fine/file")
        assert (file.size, file.head) == (len(CONTENT), CONTENT[:HEAD_BYTES])
        assert (
            read_all(ranges, file, [(8, 30), (HEAD_BYTES, HEAD_BYTES), (5, 5)])[0] == CONTENT[8:30]
        )
        assert (ranges.requests, ranges.bytes) == (1, 0)
        assert ranges.run(ranges.read_whole(server.url + "fine/file", len(CONTENT))) == CONTENT
        with pytest.raises(RemoteRefused, match="200,000 bytes, more than the 1,000 expected"):
            ranges.run(ranges.read_whole(server.url + "fine/file", 1000))
        with pytest.raises(ValueError, match="199999 to 200001 of 200000"):
            ranges.run(ranges.read(file, 199_999, 200_001))


def test_what_is_missing_is_none_and_what_is_empty_is_empty(server: RangeServer) -> None:
    with ranges_of() as ranges:
        for path in ("fine/missing", "fine", "404/file", "fine/a file ü%20"):
            assert ranges.run(ranges.open(server.url + path)) is None
            assert ranges.run(ranges.read_whole(server.url + path, 9)) is None
        assert ranges.run(ranges.read_whole(server.url + "empty/file", 9)) == b""
        assert ranges.run(ranges.list(server.url)) is None


def test_reads_of_one_turn_are_merged_where_they_are_near(server: RangeServer) -> None:
    near = [(50_000, 50_100), (50_300, 50_400), (50_050, 50_350), (50_000, 50_100)]
    far = [(60_000, 60_028), (60_541, 60_600), (90_000, 90_001)]
    before = len(asked(server, "fine/file"))
    with ranges_of() as ranges:
        file = opened(ranges, server.url + "fine/file")
        pieces = near + far
        assert read_all(ranges, file, pieces) == [CONTENT[slice(*piece)] for piece in pieces]
        assert read_all(ranges, file, pieces) == [CONTENT[slice(*piece)] for piece in pieces]
        expected = [(50_000, 50_400), (60_000, 60_028), (60_541, 60_600), (90_000, 90_001)]
        assert sorted(asked(server, "fine/file")[before + 1 :]) == expected
        assert (ranges.requests, ranges.bytes, ranges.hits) == (5, 488, 7)


def test_what_is_under_way_is_not_asked_again(folder: Path) -> None:
    async def read_late(ranges: Ranges, file: RemoteFile) -> bytes:
        first = asyncio.create_task(ranges.read(file, 9000, 9100))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(ranges.read(file, 9000, 9100))
        await asyncio.sleep(0.05)
        first.cancel()  # the one that asked; the other still gets its bytes
        return await second

    with RangeServer(folder, 0.3) as server, ranges_of() as ranges:
        file = opened(ranges, server.url + "fine/file")
        assert ranges.run(read_late(ranges, file)) == CONTENT[9000:9100]
        assert asked(server, "fine/file")[1:] == [(9000, 9100)]


def test_memory_keeps_what_was_read_last(server: RangeServer) -> None:
    with ranges_of(cache_bytes=3000) as ranges:  # five pieces of 200 bytes, and what they cost
        file = opened(ranges, server.url + "fine/file")
        pieces = [(at, at + 200) for at in range(10_000, 70_000, 10_000)]
        for piece in pieces:
            read_all(ranges, file, [piece, (10_000, 10_200)])
        assert (ranges.requests, ranges.hits) == (7, 5)
        read_all(ranges, file, [(20_000, 20_200)])
        assert (ranges.requests, ranges.hits) == (8, 5)
        read_all(ranges, file, [(60_000, 60_200)])
        assert (ranges.requests, ranges.hits) == (8, 6)


# What is refused, and what is tried again


@pytest.mark.parametrize("kind", REFUSED)
def test_a_refusal_is_one_line_with_the_cure(server: RangeServer, kind: str) -> None:
    url = server.url.replace("//", "//someone:secret@") + f"{kind}/file?signature=secret"
    with ranges_of() as ranges, pytest.raises(RemoteError) as caught:
        ranges.run(ranges.open(url))
    assert isinstance(caught.value, RemoteUnavailable) == (kind == "later")
    assert str(caught.value) == f"{server.url}{kind}/file: {REFUSED[kind]}"
    assert len(asked(server, f"{kind}/file")) == (10 if kind == "loop" else 1)


def test_a_redirect_is_followed_once(server: RangeServer) -> None:
    with ranges_of() as ranges:
        file = opened(ranges, server.url + "redirect/file")
        for at in (10_000, 20_000):
            assert read_all(ranges, file, [(at, at + 9)]) == [CONTENT[at : at + 9]]
    assert asked(server, "redirect/file") == [(0, HEAD_BYTES)]
    moved = [(0, HEAD_BYTES), (10_000, 10_009), (20_000, 20_009)]
    assert asked(server, "moved/redirect/file") == moved


def test_a_login_is_sent_with_every_request(server: RangeServer) -> None:
    with ranges_of() as ranges:
        file = opened(ranges, server.url.replace("//", "//me:secret@") + "basic/file")
        assert read_all(ranges, file, [(10_000, 10_009)]) == [CONTENT[10_000:10_009]]
        assert "secret" not in f"{file} {file.url}"
        with pytest.raises(RemoteRefused, match="basic/file: HTTP 401, access denied"):
            ranges.run(ranges.open(server.url + "basic/file"))


def test_an_address_that_expired_is_asked_for_again(
    server: RangeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ngramscan.fm9.range_sources._ADDRESS_AGE_S", 0.0)
    with ranges_of() as ranges:
        file = opened(ranges, server.url + "fine/file")
        file.address = server.url + "403/file"
        assert read_all(ranges, file, [(30_000, 30_009)]) == [CONTENT[30_000:30_009]]
        monkeypatch.setattr("ngramscan.fm9.range_sources._ADDRESS_AGE_S", 60.0)
        file.address = server.url + "403/file"
        with pytest.raises(RemoteRefused, match="fine/file: HTTP 403, access denied"):
            read_all(ranges, file, [(40_000, 40_009)])


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        ("500", "HTTP 500"),
        ("503", "HTTP 503"),
        ("429", "HTTP 429"),
        ("drop", r"connection lost \(ServerDisconnectedError\)"),
        ("cut", r"connection lost \(ClientPayloadError\)"),
        ("stall", r"no answer in 0\.3 s"),
        ("slow", r"no answer in 0\.3 s"),
        ("wrong_range", r"bytes 0-4095 asked for, bytes 1-4095/200000 sent"),
        ("wrong_bytes", r"bytes 0-4095 asked for, bytes 0-4094/200000 sent"),
        ("away", r"no connection \(.*\)"),
    ],
)
def test_what_does_not_get_better_ends(
    server: RangeServer, monkeypatch: pytest.MonkeyPatch, kind: str, problem: str
) -> None:
    monkeypatch.setattr("ngramscan.fm9.ranges.ATTEMPTS", 3)
    with (
        ranges_of(timeout_s=0.3) as ranges,
        pytest.raises(RemoteUnavailable, match=f"{kind}/file: {problem}, after 3 attempts$"),
    ):
        ranges.run(ranges.open(f"{server.url}{kind}/file"))
    assert len(asked(server, f"{kind}/file")) == (6 if kind == "drop" else 3)


def test_nobody_there_is_said_soon() -> None:
    with ranges_of() as ranges:
        with pytest.raises(RemoteUnavailable, match=r"0\.0\.1:1/x: no connection \(.*\), after 3"):
            ranges.run(ranges.open("http://127.0.0.1:1/x"))
        with pytest.raises(InputError, match="not a URL"):
            ranges.run(ranges.open("http://[::1/x"))


def test_all_requests_wait_when_the_server_asks_for_it(folder: Path) -> None:
    notes: list[str] = []

    class Notes(Progress):
        def detail(self, text: str) -> None:
            notes.append(text)

    faults = Faults(rate=0.4, kinds=("503",))
    with RangeServer(folder, faults=faults) as server, ranges_of(Notes()) as ranges:
        file = opened(ranges, server.url + "fine/file")
        pieces = [(at, at + 20) for at in range(10_000, 190_000, 6_000)]
        assert read_all(ranges, file, pieces) == [CONTENT[slice(*piece)] for piece in pieces]
    assert notes
    assert all("fine/file: HTTP 503; again in 0." in note for note in notes)


# A file that changes


@pytest.mark.parametrize("kind", ["fine", "date", "weak", "no_etag"])
def test_a_changed_file_is_an_error_and_never_a_mix(kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    faults = Faults(always={"": kind} if kind != "fine" else {})
    with RangeServer(tmp_path, faults=faults) as server, ranges_of() as ranges:
        file = opened(ranges, server.url + "file")
        assert read_all(ranges, file, [(9000, 9100)]) == [CONTENT[9000:9100]]
        (tmp_path / "new").write_bytes(CONTENT[::-1] + b"longer" * (kind == "no_etag"))
        os.utime(tmp_path / "new", (1e9, 1e9))
        (tmp_path / "new").rename(tmp_path / "file")
        error, problem = IndexChangedError, "it changed while it was read; start again"
        with pytest.raises(error, match=f"/file: {problem}"):
            read_all(ranges, file, [(10_000, 10_100)])
        (tmp_path / "file").unlink()
        with pytest.raises(error, match=f"/file: {problem}"):
            read_all(ranges, file, [(11_000, 11_100)])


def test_a_change_between_two_of_many_requests_is_seen(folder: Path) -> None:
    faults = Faults(changed_from=30)
    with RangeServer(folder, faults=faults) as server, ranges_of(concurrency=4) as ranges:
        file = opened(ranges, server.url + "fine/file")
        pieces = [(at, at + 100) for at in range(10_000, 190_000, 3_000)]
        with pytest.raises(IndexChangedError, match="it changed while it was read"):
            read_all(ranges, file, pieces)


# Ctrl-C

PROGRAM = """
import asyncio, sys
from ngramscan.fm9.ranges import RangeOptions, Ranges
from ngramscan.progress import Progress
with Ranges(RangeOptions(), Progress()) as ranges:
    file = ranges.run(ranges.open(sys.argv[1]))
    file.address = sys.argv[1].replace("fine", "stall")
    async def read():
        print("reading", flush=True)
        await asyncio.gather(*(ranges.read(file, at, at + 9) for at in range(9000, 199000, 900)))
    ranges.run(read())
"""


@pytest.mark.integration
def test_ctrl_c_ends_at_once_and_leaves_nothing(server: RangeServer) -> None:
    command = [sys.executable, "-W", "always", "-c", PROGRAM, server.url + "fine/file"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "reading\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        stderr = process.stderr.read()
        process.wait()
        assert time.monotonic() - started < 5
    assert process.returncode == -signal.SIGINT
    assert stderr.count("Traceback") == 1
    assert stderr.endswith("KeyboardInterrupt\n")
    for word in ("Task", "nclosed", "never", "Warning"):
        assert word not in stderr, stderr


def test_connections_are_closed_at_the_end_and_reads_then_fail(folder: Path) -> None:
    with RangeServer(folder, 0.01) as server:
        with ranges_of(concurrency=8) as ranges:
            file = opened(ranges, server.url + "fine/file")
            read_all(ranges, file, [(at, at + 9) for at in range(9000, 199_000, 900)])
            assert server.record().open == 8 + 1  # by which the file was opened
        ranges.close()
        for _ in range(100):
            if not server.record().open:
                break
            time.sleep(0.02)
        assert server.record().open == 0


# Other protocols


def test_other_protocols_are_read_through_fsspec(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    for name in ("0/data.fm9", "1/data.fm9", "plan.json"):
        memory.pipe(f"/ranges/{name}", CONTENT)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(CONTENT)
    for url in ("memory://ranges", tmp_path.as_uri()):
        with ranges_of() as ranges:
            folders = ranges.run(ranges.list(url))
            assert sorted(folders or []) == ["0", "1"]
            assert ranges.run(ranges.list(f"{url}/missing")) == []
            assert ranges.run(ranges.open(f"{url}/missing")) is None
            assert ranges.run(ranges.open(f"{url}/0")) is None
            file = opened(ranges, f"{url}/0/data.fm9")
            assert (file.size, file.head) == (len(CONTENT), CONTENT[:HEAD_BYTES])
            pieces = [(at, at + 50) for at in range(9000, 90_000, 700)]
            assert read_all(ranges, file, pieces) == [CONTENT[slice(*piece)] for piece in pieces]
            assert ranges.bytes == 50 * len(pieces)
            with fsspec.open(f"{url}/0/data.fm9", "wb") as changed:
                changed.write(CONTENT[::-1])
            with pytest.raises(IndexChangedError, match=r"data\.fm9: it changed while it was read"):
                read_all(ranges, file, [(100_000, 100_100)])
    memory.rm("/ranges", recursive=True)


def test_s3_is_asked_anonymously_and_then_with_the_credentials_that_there_are(
    server: RangeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for keys in ([], ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]):
        for key in keys:
            monkeypatch.setenv(key, "Secret")
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        with ranges_of() as ranges:
            file = opened(ranges, "s3://fine/file")
            assert file.address == server.url + "fine/file"
            file.address = file.origin  # as after its signature has expired
            assert read_all(ranges, file, [(30_000, 30_009)]) == [CONTENT[30_000:30_009]]
            assert ranges.run(ranges.open("s3://fine/missing")) is None
            with pytest.raises(RemoteRefused, match="/file: HTTP 403, access denied; is it public"):
                opened(ranges, "s3://403/file")
            if not keys:
                with pytest.raises(RemoteRefused, match="login/file: HTTP 403"):
                    opened(ranges, "s3://login/file")
                continue
            file = opened(ranges, "s3://login/file")
            assert "X-Amz-Signature" in file.address
            assert "Secret" not in repr(file)
            for at in (30_000, 40_000):
                assert read_all(ranges, file, [(at, at + 9)]) == [CONTENT[at : at + 9]]
                file.address = file.origin
    faults = [each.fault for each in server.record().requests if each.path == "login/file"]
    assert faults == ["403", "403", *[""] * 4]
    fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nothing://bucket/x", "nothing://bucket/x: Protocol not known: nothing"),
        (
            "sftp://me:secret@host/x",
            "sftp://host/x: a login is in it; put it into the configuration of fsspec",
        ),
        ("gs://bucket/x", "gs://bucket/x: gcsfs is not installed; pip install gcsfs"),
    ],
)
def test_what_fsspec_can_not_open_is_told_without_secrets(url: str, problem: str) -> None:
    with ranges_of() as ranges, pytest.raises(NgramscanError) as caught:
        ranges.run(ranges.open(url))
    assert str(caught.value) == problem


# On disk


def test_a_second_run_asks_nothing_of_what_is_on_disk(folder: Path, tmp_path: Path) -> None:
    pieces = [(at, at + 100) for at in range(10_000, 190_000, 300)]
    with RangeServer(folder) as server:
        for run in range(3):
            with ranges_of(cache_dir=tmp_path, refresh=run == 2) as ranges:
                file = opened(ranges, server.url + "fine/file")
                assert file.head == CONTENT[:HEAD_BYTES]
                expected = [CONTENT[slice(*piece)] for piece in pieces]
                assert read_all(ranges, file, pieces) == expected
                assert run == 0 or ranges.requests == (run == 2)
    assert (tmp_path / "ranges-1.sqlite").stat().st_mode & 0o777 == 0o600


def test_the_disk_has_no_bytes_of_another_version(server: RangeServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(CONTENT)
    with RangeServer(tmp_path) as changing:
        for content in (CONTENT, CONTENT[::-1]):
            with ranges_of(cache_dir=tmp_path / "cache") as ranges:
                file = opened(ranges, changing.url + "file")
                if content != CONTENT:
                    assert read_all(ranges, file, [(10_000, 10_100)]) == [CONTENT[10_000:10_100]]
                    (tmp_path / "file").write_bytes(content)
                    with pytest.raises(IndexChangedError):
                        read_all(ranges, file, [(20_000, 20_100)])
                    file = opened(ranges, changing.url + "file")
                assert read_all(ranges, file, [(10_000, 10_100)]) == [content[10_000:10_100]]
    for _ in range(2):  # a file whose versions can't be told apart is not kept
        with ranges_of(cache_dir=tmp_path / "cache") as ranges:
            read_all(ranges, opened(ranges, server.url + "no_etag/file"), [(10_000, 10_100)])
            assert ranges.requests == 2


def test_the_disk_is_bounded_and_the_oldest_file_goes_first(
    server: RangeServer, folder: Path, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        (folder / "fine" / name).write_bytes(CONTENT)
        with ranges_of(cache_dir=tmp_path, cache_bytes=110_000) as ranges:
            file = opened(ranges, server.url + f"fine/{name}")
            assert read_all(ranges, file, [(0, len(CONTENT))]) == [CONTENT]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 4 * 110_000 + 600_000
    for name, expected in (("c", 0), ("b", 0), ("a", 2)):
        with ranges_of(cache_dir=tmp_path, cache_bytes=10**6) as ranges:
            read_all(ranges, opened(ranges, server.url + f"fine/{name}"), [(0, len(CONTENT))])
            assert ranges.requests == expected, name


READER = """
import asyncio, os, signal, sys
from pathlib import Path
from ngramscan.fm9.ranges import RangeOptions, Ranges
from ngramscan.progress import Progress
ranges = Ranges(RangeOptions(cache_dir=Path(sys.argv[2])), Progress())
file = ranges.run(ranges.open(sys.argv[1]))
async def read():
    for first in range(10_000, 130_000, 5_000):
        starts = range(first, first + 5_000, 100)
        await asyncio.gather(*(ranges.read(file, at, at + 100) for at in starts))
ranges.run(read())
if sys.argv[3] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
ranges.close()
"""


@pytest.mark.integration
def test_two_processes_share_a_folder_and_a_killed_one_harms_nobody(
    server: RangeServer, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", READER, server.url + "fine/file", str(tmp_path)]
    runs = [subprocess.Popen([*command, how]) for how in ("kill", "stay", "stay")]
    assert [run.wait() for run in runs] == [-signal.SIGKILL, 0, 0]
    pieces = [(at, at + 100) for at in range(10_000, 130_000, 100)]
    with ranges_of(cache_dir=tmp_path) as ranges:
        file = opened(ranges, server.url + "fine/file")
        assert read_all(ranges, file, pieces) == [CONTENT[slice(*piece)] for piece in pieces]
        assert ranges.requests == 0


def test_a_cache_that_fails_does_not_stop_a_run(server: RangeServer, tmp_path: Path) -> None:
    notices: list[str] = []

    class Notices(Progress):
        def notice(self, text: str) -> None:
            notices.append(text)

    url, path = server.url + "fine/file", tmp_path / "ranges-1.sqlite"
    with ranges_of(cache_dir=tmp_path) as ranges:
        read_all(ranges, opened(ranges, url), [(10_000, 10_100)])
    with ranges_of(Notices(), cache_dir=tmp_path) as ranges:
        file = opened(ranges, url)
        with sqlite3.connect(path) as other:
            other.execute("DROP TABLE pieces")
        other.close()
        for piece in ((10_000, 10_100), (20_000, 20_100)):
            assert read_all(ranges, file, [piece]) == [CONTENT[slice(*piece)]]
    assert notices == [f"{path}: no such table: pieces; this run goes on without this cache"]
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(InputError) as caught:
        Ranges(RangeOptions(cache_dir=tmp_path), Progress())
    problem = "can't be used as a cache (file is not a database); remove the file, or name a folder"
    assert str(caught.value) == f"--cache-dir {path}: {problem}"
    with pytest.raises(InputError, match="can't be used as a cache"):
        Ranges(RangeOptions(cache_dir=path), Progress())
