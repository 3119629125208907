"""Downloads, from a server on this machine: kept only whole and right, asked for only once."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, cast

import pytest
import responses

import evalcore
from evalcore.benchmarks import benchmarks
from ngramscan.errors import InputError, RemoteError
from tests.support.command import invoke
from tests.support.made_benchmarks import refused

BODY = b"some published bytes\n"
SHA256 = hashlib.sha256(BODY).hexdigest()
UNPINNED = "olympiadbench-tp-maths"


class Service(BaseHTTPRequestHandler):
    """What the server answers to every request, and which paths were asked for."""

    status, body, length = 200, BODY, len(BODY)
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(self.status)
        self.send_header("Content-Length", str(self.length))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """Serve all benchmarks, of which FinanceMath is pinned to these bytes; lend what is asked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(Service, "asked", [])
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        for name, known in benchmarks().items():
            url = f"http://127.0.0.1:{server.server_port}/{{name}}"
            files = {"validation.json": SHA256} if name == "financemath" else known.files
            monkeypatch.setitem(benchmarks(), name, replace(known, url=url, files=files))
        yield Service.asked
        server.shutdown()


def test_a_file_is_kept_in_the_cache_and_not_asked_for_again(
    asked: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = tmp_path / "ngramscan/datasets/financemath/validation.json"
    for kept in (None, BODY, BODY[:5]):
        if kept:
            expected.write_bytes(kept)
        rows = evalcore.datasets_fetch("financemath")
        assert rows.values.tolist() == [["financemath", str(expected)]]
        assert expected.read_bytes() == BODY
    assert asked == ["/validation.json"] * 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("field", "value", "error", "message"),
    [
        pytest.param("status", 404, RemoteError, "HTTP status 404", id="not found"),
        pytest.param(
            "body",
            b"x" * len(BODY),
            InputError,
            f"is [0-9a-f]+; expected {SHA256}",
            id="another file",
        ),
        pytest.param(
            "length", 99, RemoteError, r"fetched \(ChunkedEncodingError\)", id="half a file"
        ),
    ],
)
@pytest.mark.usefixtures("asked")
def test_a_failure_is_one_line_and_leaves_nothing(
    field: str,
    value: Any,
    error: Any,
    message: str,
    monkeypatch: Any,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    monkeypatch.setattr(Service, field, value)
    for name in ["financemath"] if field == "body" else ["financemath", UNPINNED]:
        with subtests.test(name=name):
            with pytest.raises(error, match=f"^http://127.0.0.1.*{message}") as caught:
                evalcore.datasets_fetch(name)
            assert "\n" not in str(caught.value)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("name", "files"),
    [pytest.param("aicrypto", 18, id="a folder"), pytest.param(UNPINNED, 1, id="a file")],
)
def test_hashes_that_are_not_pinned_are_told(asked: list[str], name: str, files: int) -> None:
    ran = invoke("datasets", "fetch", name)
    told = [line.rpartition(" has SHA-256 ") for line in ran.stderr.splitlines()]
    paths = [Path(place.removeprefix("not pinned: ")) for place, _, _ in told]
    assert (ran.code, {sha256 for _, _, sha256 in told}) == (0, {SHA256})
    assert [path.read_bytes() for path in paths] == [BODY] * files
    assert len(asked) == files
    shown = Path(ran.stdout.strip().split()[-1])
    assert shown == (paths[0].parent.parent if files > 1 else paths[0])


def test_what_could_not_be_kept_is_refused(asked: list[str], tmp_path: Path) -> None:
    (tmp_path / "ngramscan").write_text("a file where the folder should be")
    refused(r"validation\.json: not a directory", evalcore.datasets_fetch, "financemath")
    assert asked == ["/validation.json"]


def test_an_unknown_name_is_refused_before_anything_is_fetched(asked: list[str]) -> None:
    unknown = 'dataset="imo": unknown benchmark; .* known: aicrypto'
    refused(unknown, evalcore.datasets_fetch, ["financemath", "imo"])
    assert asked == []


def test_all_files_are_asked_for_at_their_published_addresses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, benchmark in benchmarks().items():
        with responses.RequestsMock() as publisher:
            for file in benchmark.files:
                publisher.get(benchmark.url.format(name=file), body=BODY)
                if pinned := benchmark.files[file]:
                    refused(f"{SHA256}; expected {pinned}", evalcore.datasets_fetch, name)
                    monkeypatch.setitem(cast("dict[str, str]", benchmark.files), file, SHA256)
            evalcore.datasets_fetch(name)
