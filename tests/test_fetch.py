"""Downloads, from a server on this machine: kept only whole and right, asked for only once."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest
import responses
from click.testing import CliRunner

import evalcore
from evalcore.benchmarks import benchmarks
from evalcore.cli import main
from ngramscan.errors import InputError, RemoteError

BODY = b"some published bytes\n"
SHA256 = hashlib.sha256(BODY).hexdigest()
UNPINNED = "olympiadbench-tp-maths"


@dataclass
class Service:
    """What the server answers to every request, and which paths were asked for."""

    status: int = 200
    body: bytes = BODY
    claimed_bytes: int | None = None
    """The length that it states; None: the true one."""
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Service]:
    """Serve all benchmarks, of which FinanceMath is pinned to these bytes."""
    state = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            self.send_response(state.status)
            length = len(state.body) if state.claimed_bytes is None else state.claimed_bytes
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        for name, known in benchmarks().items():
            served = replace(known, url=f"http://127.0.0.1:{server.server_port}/{{name}}")
            if name == "financemath":
                served = replace(served, files={"validation.json": SHA256})
            monkeypatch.setitem(benchmarks(), name, served)
        yield state
        server.shutdown()


def test_a_file_is_kept_in_the_cache_and_not_asked_for_again(
    service: Service, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = tmp_path / "ngramscan/datasets/financemath/validation.json"
    for kept in (None, BODY, BODY[:5]):
        if kept:
            expected.write_bytes(kept)
        rows = evalcore.datasets_fetch("financemath")
        assert rows.values.tolist() == [["financemath", str(expected)]]
        assert expected.read_bytes() == BODY
    assert service.asked == ["/validation.json"] * 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        pytest.param({"status": 404}, RemoteError, "HTTP status 404", id="gone"),
        pytest.param({"status": 503}, RemoteError, "HTTP status 503", id="in trouble"),
        pytest.param(
            {"body": b"other"}, InputError, rf"is [0-9a-f]+; expected {SHA256}", id="other"
        ),
        pytest.param({"claimed_bytes": 99}, RemoteError, "ChunkedEncodingError while", id="cut"),
    ],
)
def test_a_failure_is_one_line_and_leaves_nothing(
    changes: dict[str, Any], error: type[Exception], message: str, service: Service, tmp_path: Path
) -> None:
    for key, value in changes.items():
        setattr(service, key, value)
    for name in ["financemath"] if "body" in changes else ["financemath", UNPINNED]:
        with pytest.raises(error, match=f"^http://127.0.0.1.*{message}") as caught:
            evalcore.datasets_fetch(name)
        assert "\n" not in str(caught.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(("name", "files"), [("aicrypto", 18), (UNPINNED, 1)])
def test_files_that_are_not_pinned_are_fetched_and_their_hashes_told(
    service: Service, name: str, files: int
) -> None:
    ran = CliRunner().invoke(main, ["datasets", "fetch", name])
    told = [line.rpartition(" has SHA-256 ") for line in ran.stderr.splitlines()]
    paths = [Path(place.removeprefix("not pinned: ")) for place, _, _ in told]
    assert (ran.exit_code, {sha256 for _, _, sha256 in told}) == (0, {SHA256})
    assert [path.read_bytes() for path in paths] == [BODY] * files == [BODY] * len(service.asked)
    shown = Path(ran.stdout.strip())
    assert shown == (paths[0].parent.parent if files > 1 else paths[0])


def test_a_cache_that_can_not_be_written_is_named(service: Service, tmp_path: Path) -> None:
    (tmp_path / "ngramscan").write_text("a file where the folder should be")
    with pytest.raises(InputError, match=r"validation\.json: not a directory"):
        evalcore.datasets_fetch("financemath")


def test_nothing_is_fetched_where_one_name_is_unknown(service: Service) -> None:
    with pytest.raises(InputError, match="--dataset imo: unknown benchmark; known are aicrypto"):
        evalcore.datasets_fetch(["financemath", "imo"])
    assert service.asked == []


def test_all_files_are_asked_for_at_their_published_addresses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, benchmark in benchmarks().items():
        with responses.RequestsMock() as publisher:
            for file in benchmark.files:
                publisher.get(benchmark.url.format(name=file), body=BODY)
                if pinned := benchmark.files[file]:
                    with pytest.raises(InputError, match=f"{SHA256}; expected {pinned}"):
                        evalcore.datasets_fetch(name)
                    monkeypatch.setitem(cast("dict[str, str]", benchmark.files), file, SHA256)
            evalcore.datasets_fetch(name)


def test_without_requests_it_says_what_to_install(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(InputError, match=re.escape("pip install 'ngramscan[eval]'")):
        evalcore.datasets_fetch("financemath")
