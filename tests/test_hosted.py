"""Hosted indexes end to end: the command as a process against a server process with faults."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from ngramscan.indexes.catalog import CATALOG, PAPER, find_hosted
from ngramscan.patterns.files import load_patterns
from tests.api_server import FAULT_KINDS, ApiServer, Faults, Spawned, spawn
from tests.support import oracle
from tests.support.command import NGRAMSCAN, Ran, run, without

DOCS = Path(__file__).parent / "replay" / "docs"
TEXTS = [pattern.text for pattern in load_patterns("f1").patterns]


@pytest.fixture(scope="module")
def truth() -> dict[str, int]:
    """Occurrences of each pattern in `a.jsonl`, counted by the definition."""
    lines = (DOCS / "a.jsonl").read_text(encoding="utf-8").split("\n")
    texts = [json.loads(line)["text"] for line in lines if line]
    return dict(zip(TEXTS, oracle.tally(TEXTS, texts)[0], strict=True))


@contextmanager
def paper(faults: Faults | None = None, delay: float = 0.0) -> Iterator[Spawned]:
    """Serve the same small corpus as each of the eight indexes of the paper."""
    with spawn({h.name: [DOCS / "a.jsonl"] for h in PAPER}, faults=faults, delay=delay) as server:
        yield server


def count(url: str, journal: Path, *more: str | Path) -> Ran:
    arguments = ["--api-url", url, "--journal", journal, "--format", "csv", *more]
    return run("count", "f1", *arguments)


def check(ran: Ran, truth: dict[str, int]) -> None:
    expected = [(hosted.name, text) for hosted in PAPER for text in TEXTS]
    assert [(row["index"], row["pattern"]) for row in ran.rows] == expected
    assert [int(row["occurrences"]) for row in ran.rows] == [truth[text] for _, text in expected]
    assert {row["documents"] for row in ran.rows} == {""}


def test_every_count_is_exact_though_a_fifth_of_the_answers_are_faults(
    tmp_path: Path, truth: dict[str, int]
) -> None:
    assert sum(truth.values()) > 1000
    faults = Faults(seed=7, rate=0.2, kinds=FAULT_KINDS, burst403_at=90)
    with paper(faults) as server:
        ran = count(server.url, tmp_path / "j.sqlite", "--concurrency", "8")
        log = server.read_log()
    assert ran.code == 0
    # Not in a terminal, a pause is told on a line of its own; nothing else is.
    assert all("paused" in line for line in ran.stderr.splitlines())
    assert "paused 2 s: the server answers HTTP 403" in ran.stderr
    check(ran, truth)
    assert {entry["fault"] for entry in log} >= {*FAULT_KINDS, "burst403", None}


def test_a_question_that_always_fails_is_missing_alone_and_asked_alone_again(
    tmp_path: Path, truth: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = "governing equation"
    journal = tmp_path / "j.sqlite"
    only_one = ["--index", "dclm", "--concurrency", "8"]
    with paper(Faults(fail_always=(failing,))) as server:
        ran = count(server.url, journal, *only_one)
        assert ran.code == 1
        assert ran.stderr == (
            f"Error: {server.url}: HTTP 500: [Flask] Internal server error: engine crashed on this"
            f' query, after 7 attempts; the count of "{failing}" in v2_dclm_all is missing\n'
        )
        found = {row["pattern"]: int(row["occurrences"]) for row in ran.rows}
        assert found == {text: truth[text] for text in TEXTS if text != failing}
    with paper() as mended:
        # The journal knows a host by its URL, and the mended one has another port.
        rename(journal, server.url, mended.url)
        ran = count(mended.url, journal, *only_one)
        assert (ran.code, [entry["query"] for entry in mended.read_log()]) == (0, [failing])
        assert "45 of 46 counts are from the journal" in ran.stderr
    assert {row["pattern"]: int(row["occurrences"]) for row in ran.rows} == truth
    assert {row["source"] for row in ran.rows} == {"api", "journal"}


def rename(journal: Path, old: str, new: str) -> None:
    import sqlite3

    with sqlite3.connect(journal) as connection:
        connection.execute("UPDATE replies SET source = ? WHERE source = ?", (new, old))
    connection.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_a_run_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, truth: dict[str, int], how: signal.Signals
) -> None:
    journal = tmp_path / "j.sqlite"
    with paper(delay=0.02) as server:
        arguments = ["count", "f1", "--api-url", server.url, "--journal", str(journal)]
        stopped = subprocess.Popen(
            [*NGRAMSCAN, *arguments, "--format", "csv"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while len(server.read_log()) < 120:
            time.sleep(0.01)
        stopped.send_signal(how)
        started_at = time.monotonic()
        stdout, stderr = stopped.communicate(timeout=20)
        assert time.monotonic() - started_at < 2
        assert stdout == ""
        if how == signal.SIGINT:
            assert stopped.returncode == 130
            assert stderr.startswith("Interrupted; what was done is kept")
        asked_before = len(server.read_log())
        assert asked_before < 368
        ran = count(server.url, journal)
        asked = [(entry["index"], entry["query"]) for entry in server.read_log()]
    check(ran, truth)
    # In flight at the end were four at most: those may be asked twice, and nothing else.
    assert len(asked) - len(set(asked)) <= 4
    assert len(asked) <= 368 + 4
    assert len(set(asked)) == 368
    with paper() as server:
        undisturbed = count(server.url, tmp_path / "other.sqlite")
    changing = ("source", "asked_at")
    assert without(ran.rows, *changing) == without(undisturbed.rows, *changing)


def test_the_other_spelling_of_a_name_is_tried_and_remembered(tmp_path: Path) -> None:
    journal = tmp_path / "j.sqlite"
    with spawn({"v2_cc_2025-05": [DOCS / "a.jsonl"]}) as server:
        options = ["--index", "CC-2025-05", "--method", "pot", "--concurrency", "1"]
        ran = count(server.url, journal, *options)
        assert ran.code == 0
        assert {row["index"] for row in ran.rows} == {"v2_cc-2025-05"}
        spelled = [entry["index"] for entry in server.read_log()]
        assert spelled == ["v2_cc-2025-05"] + ["v2_cc_2025-05"] * 10
        count(server.url, journal, *options, "--refresh")
        assert [e["index"] for e in server.read_log()][11:] == ["v2_cc_2025-05"] * 10


def test_an_index_that_no_spelling_finds_is_refused_in_one_line(tmp_path: Path) -> None:
    with spawn({"other": [DOCS / "a.jsonl"]}) as server:
        ran = count(server.url, tmp_path / "j.sqlite", "--index", "cc-2025-05")
        elsewhere = run("count", "f1", "--index", f"{server.url}nope")
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr == (
        f"Error: {server.url}: HTTP 400: [Flask] Invalid index: v2_cc_2025-05;"
        " 46 of 46 counts missing (v2_cc-2025-05)\n"
    )
    assert elsewhere.code == 1
    assert elsewhere.stderr.count("\n") == 1


def test_an_index_elsewhere_is_named_by_its_url(tmp_path: Path, truth: dict[str, int]) -> None:
    with spawn({"mine": [DOCS / "a.jsonl"]}) as server:
        ran = run("count", "f1", "--index", f"{server.url}mine", "--format", "csv")
        assert {row["pattern"]: int(row["occurrences"]) for row in ran.rows} == truth
        assert {row["index"] for row in ran.rows} == {f"{server.url}mine"}
        info = run("index", "info", f"{server.url}mine", "--format", "csv")
        assert info.rows[0]["name"] == f"{server.url}mine"
        assert info.rows[0]["documents"] == ""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param('{"count": -1}', id="a negative count"),
        pytest.param('{"count": 3.5}', id="a fraction"),
        pytest.param('{"count": "3"}', id="a string"),
        pytest.param('{"count": true}', id="a boolean"),
        pytest.param('{"count": null}', id="null"),
        pytest.param('{"cnt": 3}', id="another field"),
    ],
)
def test_what_is_no_count_is_an_error_and_no_count(tmp_path: Path, body: str) -> None:
    with spawn({"mine": [DOCS / "a.jsonl"]}, faults=Faults(bodies={"next, we": body})) as server:
        ran = run("count", "f1", "--index", f"{server.url}mine", "--tier", "T3", "--format", "csv")
        assert len([entry for entry in server.read_log() if entry["query"] == "next, we"]) == 1
    assert ran.code == 1
    assert [row["pattern"] for row in ran.rows] == ["import numpy", "import math", "import sympy"]
    assert ran.stderr == (
        f"Error: {server.url}: no count in the reply {body};"
        f' the count of "next, we" in {server.url}mine is missing\n'
    )


def test_without_a_network_one_line_says_what_works() -> None:
    started_at = time.monotonic()
    ran = run("count", "f1", "--api-url", "http://127.0.0.1:9/")
    assert time.monotonic() - started_at < 15
    assert (ran.code, ran.stdout) == (1, "")
    assert ran.stderr == (
        "Error: http://127.0.0.1:9/: can't be reached ([Errno 111] Connection refused); 368 of 368"
        " counts missing (8 indexes); without a network: --index python, or --index scan:PATH"
        " for a corpus of your own\n"
    )
    info = run("index", "info", "dclm", "--api-url", "http://127.0.0.1:9/")
    assert info.code == 1
    assert "can't be reached" in info.stderr
    assert "--index python" in info.stderr


def test_the_rate_limits_what_is_sent(tmp_path: Path) -> None:
    with ApiServer({"mine": DOCS / "a.jsonl"}) as server:
        run("count", "f1", "--index", f"{server.url}mine", "--tier", "T3", "--rate", "5")
        arrived = [received.arrived for received in server.requests]
    gaps = [b - a for a, b in pairwise(arrived)]
    assert len(gaps) == 3
    assert min(gaps) > 0.15


def test_the_catalog_has_the_documented_sizes(shared: Path) -> None:
    import csv

    with (shared / "paper" / "corpora.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            hosted = find_hosted(row["index_name"])
            assert hosted is not None
            assert hosted.bytes == int(row["bytes_of_text"])
            assert hosted.documents == int(row["documents"])
            assert (hosted.corpus, hosted.kind) == (row["corpus"], row["kind"])


def test_the_catalog_is_found_by_name_alias_and_both_spellings() -> None:
    assert len(CATALOG) == 10
    for hosted in CATALOG:
        for name in (hosted.name, hosted.alias, hosted.alias.upper(), *hosted.spellings):
            assert find_hosted(name) == hosted
    crawl = find_hosted("cc_2025-13")
    assert crawl is not None
    assert crawl.spellings == ("v2_cc-2025-13", "v2_cc_2025-13")
    assert find_hosted("c4") is None
    pile = find_hosted("pileval")
    assert pile is not None
    assert (pile.documents, pile.bytes) == (214_670, 1_344_908_273)
