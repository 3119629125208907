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

import pytest
import responses
from click.testing import CliRunner

from evalcore.benchmarks import benchmarks, fetch_each
from evalcore.cli import main
from ngramscan.errors import InputError, NgramscanError, RemoteRefused, RemoteUnavailable

BODY = b"some published bytes\n"
SHA256 = hashlib.sha256(BODY).hexdigest()


@dataclass
class Service:
    """What the server answers to every request, and which paths were asked for."""

    url: str = ""
    status: int = 200
    body: bytes = BODY
    claimed_bytes: int | None = None
    """The length that it states; None: the true one."""
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Service]:
    """Serve FinanceMath, pinned to these bytes, one benchmark that is not pinned, and AICrypto."""
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
        state.url = f"http://127.0.0.1:{server.server_port}/{{name}}"
        for name in ("financemath", "olympiadbench-tp-maths", "aicrypto"):
            monkeypatch.setitem(benchmarks(), name, replace(benchmarks()[name], url=state.url))
        pinned = replace(benchmarks()["financemath"], files={"validation.json": SHA256})
        monkeypatch.setitem(benchmarks(), "financemath", pinned)
        yield state
        server.shutdown()


def test_a_file_is_kept_in_the_cache_and_not_asked_for_again(
    service: Service, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    [(path, notices)] = fetch_each(["financemath"])
    assert path == tmp_path / "ngramscan/datasets/financemath/validation.json"
    assert (path.read_bytes(), notices) == (BODY, [])
    assert list(fetch_each(["financemath"])) == [(path, [])]
    assert service.asked == ["/validation.json"]
    path.write_bytes(BODY[:5])
    list(fetch_each(["financemath"]))
    assert path.read_bytes() == BODY
    assert len(service.asked) == 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        pytest.param({"status": 404}, RemoteRefused, "HTTP status 404", id="gone"),
        pytest.param({"status": 503}, RemoteUnavailable, "HTTP status 503", id="in trouble"),
        pytest.param({"status": 429}, RemoteUnavailable, "HTTP status 429", id="too often"),
        pytest.param(
            {"body": b"altered"},
            InputError,
            f"its SHA-256 is {hashlib.sha256(b'altered').hexdigest()}; expected {SHA256}",
            id="altered",
        ),
        pytest.param(
            {"claimed_bytes": 99}, RemoteUnavailable, "ChunkedEncodingError while", id="cut"
        ),
    ],
)
def test_a_failure_is_one_line_and_leaves_nothing(
    changes: dict[str, object],
    error: type[NgramscanError],
    message: str,
    service: Service,
    tmp_path: Path,
) -> None:
    for key, value in changes.items():
        setattr(service, key, value)
    pinned = ["financemath"]
    for name in pinned if "body" in changes else [*pinned, "olympiadbench-tp-maths"]:
        with pytest.raises(error, match=message) as caught:
            list(fetch_each([name]))
        assert str(caught.value).startswith("http://127.0.0.1")
        assert "\n" not in str(caught.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_service_that_is_not_there_is_unavailable(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = replace(benchmarks()["financemath"], url="http://127.0.0.1:9/{name}")
    monkeypatch.setitem(benchmarks(), "financemath", gone)
    with pytest.raises(RemoteUnavailable, match="ConnectionError while it was fetched"):
        list(fetch_each(["financemath"]))


def test_a_file_that_is_not_pinned_is_fetched_and_its_hash_told(service: Service) -> None:
    [(path, notices)] = fetch_each(["olympiadbench-tp-maths"])
    assert path.name == "TP_TO_maths_en_COMP.parquet"
    assert notices == [f"not pinned: {path} has SHA-256 {SHA256}"]


def test_a_benchmark_of_many_files_is_fetched_into_folders(service: Service) -> None:
    ran = CliRunner().invoke(main, ["datasets", "fetch", "aicrypto"])
    assert (ran.exit_code, ran.stderr.count("not pinned: ")) == (0, 18)
    assert (Path(ran.stdout.strip()) / "exam3/problem6.tex").read_bytes() == BODY
    assert "/exam3/problem6.tex" in service.asked
    assert len(service.asked) == 18


def test_a_cache_that_can_not_be_written_is_named(service: Service, tmp_path: Path) -> None:
    (tmp_path / "ngramscan").write_text("a file where the folder should be")
    with pytest.raises(InputError, match=r"validation\.json: "):
        list(fetch_each(["financemath"]))


def test_nothing_is_fetched_where_one_name_is_unknown(service: Service) -> None:
    with pytest.raises(InputError, match="--dataset imo: unknown benchmark; known are aicrypto"):
        list(fetch_each(["financemath", "imo"]))
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
                        list(fetch_each([name]))
                    monkeypatch.setitem(benchmark.files, file, SHA256)
            list(fetch_each([name]))


def test_without_requests_it_says_what_to_install(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(InputError, match=re.escape("pip install 'ngramscan[eval]'")):
        list(fetch_each(["financemath"]))
