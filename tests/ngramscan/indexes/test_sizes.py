"""Sizes and rates are those of the server that answers, whatever the name of its index."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ngramscan
from ngramscan.indexes.catalog import INFINI_GRAM_MINI, find_hosted
from tests.support.command import invoke as run
from tests.support.places import REPLAY
from tests.support.serve_process import INDEXES, Served, serving
from tests.support.service import ApiServer

NAME = "v2_dclm_all"
FILES = sorted((REPLAY / "docs").glob("*.jsonl"))
DOCS = FILES[0]
TEXTS = [
    json.loads(line)["text"] for file in FILES for line in file.read_text().split("\n") if line
]
BYTES = sum(len(text.encode()) for text in TEXTS)
RATES = ("bytes", "per_gigabyte", "per_million_documents")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server whose small index has the name of a public one."""
    folder = tmp_path_factory.mktemp("served") / NAME
    shutil.copytree(INDEXES[0], folder)
    with serving(indexes=(folder,)) as one:
        yield one


def count(url: str, journal: Path, *options: str) -> dict[str, str]:
    given = ("--index", "dclm", "--api-url", url, "--journal", journal, "--format", "csv")
    ran = run("count", "-e", "the", *given, *options)
    assert ran.code == 0, ran.stderr
    return ran.rows[0] | {"stderr": ran.stderr}


def test_the_rates_of_an_index_are_those_of_the_server_that_has_it(
    served: Served, tmp_path: Path
) -> None:
    row = count(served.url, tmp_path / "j")
    occurrences = int(row["occurrences"])
    assert row["index"] == NAME
    assert int(row["bytes"]) == BYTES
    assert float(row["per_gigabyte"]) == pytest.approx(occurrences / BYTES * 1e9)
    assert float(row["per_million_documents"]) == pytest.approx(occurrences / len(TEXTS) * 1e6)
    assert row["stderr"] == ""
    again = count(served.url, tmp_path / "j")
    assert again["source"] == "journal"
    assert [again[name] for name in RATES] == [row[name] for name in RATES]


@pytest.mark.parametrize("command", ["count", "docnorm", "contexts"])
def test_a_table_shows_the_size_that_the_server_tells(
    command: str, served: Served, tmp_path: Path
) -> None:
    given = ("--index", "dclm", "--api-url", served.url, "--journal", tmp_path / "j")
    ran = run(command, "-e", "the", *given)
    assert ran.code == 0, ran.stderr
    assert "TB of text" not in ran.stdout
    assert "DCLM-baseline" not in ran.stdout
    assert "2,948,096,911" not in ran.stdout


def test_the_size_of_an_index_is_that_which_its_server_tells(served: Served) -> None:
    [info] = run("index", "info", "dclm", "--api-url", served.url, "--format", "csv").rows
    assert (int(info["bytes"]), int(info["documents"])) == (BYTES, len(TEXTS))


def test_a_server_that_tells_no_size_has_no_rates_and_one_line_says_so(tmp_path: Path) -> None:
    with ApiServer({NAME: DOCS, "v2_cc-2025-05": DOCS}) as server:
        row = count(server.url, tmp_path / "j", "--index", "cc-2025-05")
        problem = f"{server.url}: the server doesn't tell the size of its indexes"
        assert row["stderr"] == f"{problem}, so there are no rates\n"
        assert [row[name] for name in RATES] == ["", "", ""]
        given = ("--index", "dclm", "--api-url", server.url, "--journal", tmp_path / "j")
        table = run("count", "f1", "--method", "cot", *given, "--totals", tmp_path / "totals.csv")
        assert "of text" not in table.stdout
        totals = (tmp_path / "totals.csv").read_text()
        assert "union_per_gigabyte,,,,,the number of bytes in the index is unknown" in totals
        [documents] = run("docnorm", "-e", "the", *given, "--format", "csv").rows
        assert documents["documents"]
        assert documents["documents_per_million"] == ""


def test_a_size_is_forgotten_when_another_server_has_the_address(
    served: Served, tmp_path: Path
) -> None:
    journal = tmp_path / "j"
    assert count(served.url, journal)["bytes"]
    served.end(15)
    with ApiServer({NAME: DOCS}, port=served.port) as silent:
        assert silent.url == served.url
        assert count(silent.url, journal)["bytes"] == ""


def test_the_documented_size_is_that_of_the_public_service(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hosted = find_hosted("dclm")
    assert hosted
    with ApiServer({NAME: DOCS}) as server:
        service = replace(INFINI_GRAM_MINI, url=server.url)
        monkeypatch.setattr("ngramscan.indexes.catalog.SERVICES", (service,))
        given: dict[str, Any] = {"index": "dclm", "api_url": server.url, "journal": tmp_path / "j"}
        row = ngramscan.count("the end", **given).iloc[0]
        assert row["bytes"] == hosted.bytes
