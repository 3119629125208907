"""Downloads: pooch and requests as they are, only the answers of the services are made."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests
import responses

from evalcore.benchmarks import benchmarks, fetch_dataset
from ngramscan.errors import InputError, NgramscanError, RemoteRefused, RemoteUnavailable

BODY = b"some published bytes\n"


def url_of_first(name: str) -> str:
    benchmark = benchmarks()[name]
    return benchmark.url_of(benchmark.files[0])


@pytest.fixture
def service() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> str:
    """FinanceMath, pinned to the bytes that the service of these tests gives."""
    benchmark = benchmarks()["financemath"]
    pinned = replace(benchmark.files[0], sha256=hashlib.sha256(BODY).hexdigest())
    monkeypatch.setitem(benchmarks(), "financemath", replace(benchmark, files=(pinned,)))
    return benchmark.url_of(pinned)


def files_of(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [
        path for path in tmp_path_factory.getbasetemp().rglob("datasets/**/*") if path.is_file()
    ]


def test_a_file_is_kept_in_the_cache_and_not_asked_for_again(
    service: responses.RequestsMock, url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    service.get(url, body=BODY)
    path, notices = fetch_dataset("financemath")
    assert path.name == "validation.json"
    assert path.parent.parts[-3:] == ("ngramscan", "datasets", "financemath")
    assert path.read_bytes() == BODY
    assert notices == ()
    assert fetch_dataset("financemath") == (path, ())
    assert len(service.calls) == 1
    assert capfd.readouterr() == ("", "")


def test_a_file_that_was_damaged_in_the_cache_is_fetched_again(
    service: responses.RequestsMock, url: str
) -> None:
    service.get(url, body=BODY)
    path, _ = fetch_dataset("financemath")
    path.write_bytes(BODY[:5])
    assert fetch_dataset("financemath")[0].read_bytes() == BODY
    assert len(service.calls) == 2


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        pytest.param({"status": 404}, RemoteRefused, "HTTP status 404", id="gone"),
        pytest.param({"status": 503}, RemoteUnavailable, "HTTP status 503", id="in trouble"),
        pytest.param({"status": 429}, RemoteUnavailable, "HTTP status 429", id="too often"),
        pytest.param(
            {"body": requests.ConnectionError("refused")},
            RemoteUnavailable,
            "ConnectionError while it was fetched",
            id="out of reach",
        ),
        pytest.param(
            {"body": BODY + b"altered"},
            InputError,
            f"its SHA-256 is {hashlib.sha256(BODY + b'altered').hexdigest()}; expected "
            f"{hashlib.sha256(BODY).hexdigest()}",
            id="altered",
        ),
        pytest.param(
            {
                "body": BODY[:7],
                "headers": {"Content-Length": str(len(BODY))},
                "auto_calculate_content_length": False,
            },
            NgramscanError,
            "ChunkedEncodingError while it was fetched|its SHA-256 is",
            id="cut",
        ),
    ],
)
def test_a_failure_is_one_line_and_leaves_nothing(
    answer: dict[str, object],
    error: type[NgramscanError],
    message: str,
    service: responses.RequestsMock,
    url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    service.get(url, **answer)
    before = files_of(tmp_path_factory)
    with pytest.raises(error, match=message) as caught:
        fetch_dataset("financemath")
    assert str(caught.value).startswith(url)
    assert "\n" not in str(caught.value)
    assert files_of(tmp_path_factory) == before


def test_a_file_that_is_not_pinned_is_fetched_and_its_hash_told(
    service: responses.RequestsMock,
) -> None:
    service.get(url_of_first("olympiadbench-tp-maths"), body=BODY)
    path, notices = fetch_dataset("olympiadbench-tp-maths")
    assert path.name == "TP_TO_maths_en_COMP.parquet"
    assert notices == (f"not pinned: {path} has SHA-256 {hashlib.sha256(BODY).hexdigest()}",)


def test_a_file_that_is_not_pinned_is_not_kept_when_it_is_cut(
    service: responses.RequestsMock, tmp_path_factory: pytest.TempPathFactory
) -> None:
    service.get(
        url_of_first("olympiadbench-tp-maths"),
        body=BODY[:7],
        headers={"Content-Length": str(len(BODY))},
        auto_calculate_content_length=False,
    )
    before = files_of(tmp_path_factory)
    with pytest.raises(RemoteUnavailable, match="while it was fetched"):
        fetch_dataset("olympiadbench-tp-maths")
    assert files_of(tmp_path_factory) == before


def test_a_benchmark_of_many_files_is_fetched_into_folders(service: responses.RequestsMock) -> None:
    for file in benchmarks()["aicrypto"].files:
        service.get(benchmarks()["aicrypto"].url_of(file), body=f"of {file.name}")
    folder, notices = fetch_dataset("aicrypto")
    assert (folder / "exam3/problem6.tex").read_text() == "of exam3/problem6.tex"
    assert len(notices) == len(service.calls) == 18


def test_a_cache_that_can_not_be_written_is_named(
    service: responses.RequestsMock, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ngramscan").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    service.get(url, body=BODY)
    with pytest.raises(InputError, match=r"validation\.json: "):
        fetch_dataset("financemath")


def test_without_pooch_it_says_what_to_install(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(InputError, match=r"pip install 'ngramscan\[eval\]'"):
        fetch_dataset("financemath")


def test_an_unknown_benchmark_is_refused() -> None:
    with pytest.raises(InputError, match="dataset imo: unknown"):
        fetch_dataset("imo")
