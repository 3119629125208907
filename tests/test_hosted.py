"""Hosted indexes end to end: the command against a server with faults."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from ngramscan.indexes.catalog import CATALOG, PAPER, find_hosted
from ngramscan.indexes.http import client as http_client
from ngramscan.patterns.files import load_patterns
from tests.support import oracle
from tests.support.command import NGRAMSCAN, Ran
from tests.support.command import invoke as run
from tests.support.service import FAULT_KINDS, ApiServer, Faults

DOCS = Path(__file__).parent / "replay" / "docs"
TEXTS = [pattern.text for pattern in load_patterns("f1").patterns]
NOWHERE = "http://127.0.0.1:9/"
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def truth() -> dict[str, int]:
    """Occurrences of each pattern in `a.jsonl`, counted by the definition."""
    lines = (DOCS / "a.jsonl").read_text(encoding="utf-8").split("\n")
    texts = [json.loads(line)["text"] for line in lines if line]
    return dict(zip(TEXTS, oracle.tally(TEXTS, texts)[0], strict=True))


def paper(faults: Faults | None = None, delay: float = 0.0) -> ApiServer:
    """Serve the same small corpus as each of the eight indexes of the paper."""
    return serve(*(hosted.name for hosted in PAPER), faults=faults, delay=delay)


def serve(*names: str, faults: Faults | None = None, delay: float = 0.0) -> ApiServer:
    return ApiServer(dict.fromkeys(names, DOCS / "a.jsonl"), faults=faults, delay=delay)


def count(url: str, journal: Path, *more: str | Path) -> Ran:
    return run("count", "f1", "--api-url", url, "--journal", journal, "--format", "csv", *more)


def check(ran: Ran, truth: dict[str, int]) -> None:
    assert ran.code == 0, ran.stderr
    rows = ran.rows
    expected = [(hosted.name, text) for hosted in PAPER for text in TEXTS]
    assert [(row["index"], row["pattern"]) for row in rows] == expected
    assert [int(row["occurrences"]) for row in rows] == [truth[text] for _, text in expected]
    assert {row["documents"] for row in rows} == {""}


def test_every_count_is_exact_though_a_fifth_of_the_answers_are_faults(
    tmp_path: Path, truth: dict[str, int]
) -> None:
    assert sum(truth.values()) > 1000
    faults = Faults(seed=7, rate=0.2, kinds=FAULT_KINDS, burst403_at=90)
    with paper(faults) as server:
        ran = count(server.url, tmp_path / "j.sqlite", "--concurrency", "32")
        log = server.read_log()
    # Not in a terminal, a pause is told on a line of its own; nothing else is.
    assert all("paused" in line for line in ran.stderr.splitlines())
    assert "paused 1 s: the server answers HTTP 403" in ran.stderr
    check(ran, truth)
    assert {entry["fault"] for entry in log} >= {*FAULT_KINDS, "burst403", None}


def test_a_question_that_always_fails_is_missing_alone_and_asked_alone_again(
    tmp_path: Path, truth: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing, journal = "governing equation", tmp_path / "j.sqlite"
    monkeypatch.setattr("ngramscan.remote.exchange.ATTEMPTS", 2)
    with serve("v2_dclm_all", faults=Faults(fail_always=(failing,))) as server:
        ran = count(server.url, journal, "--index", "dclm")
    assert (ran.code, ran.stderr) == (
        1,
        f"Error: {server.url}: HTTP 500: [Flask] Internal server error: engine crashed on this"
        f' query, after 2 attempts; the count of "{failing}" in v2_dclm_all is missing\n',
    )
    found = {row["pattern"]: int(row["occurrences"]) for row in ran.rows}
    assert found == {text: truth[text] for text in TEXTS if text != failing}
    with serve("v2_dclm_all") as mended:
        # The journal knows a host by its URL, and the mended one has another port.
        with sqlite3.connect(journal) as connection:
            connection.execute("UPDATE replies SET source = ?", (mended.url,))
        connection.close()
        ran = count(mended.url, journal, "--index", "dclm")
    assert [entry["query"] for entry in mended.read_log()] == [failing]
    assert "45 of 46 counts are from the journal" in ran.stderr
    assert {row["pattern"]: int(row["occurrences"]) for row in ran.rows} == truth
    assert {row["source"] for row in ran.rows} == {"api", "journal"}


@pytest.mark.integration
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_a_run_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, truth: dict[str, int], how: signal.Signals
) -> None:
    journal = tmp_path / "j.sqlite"
    with paper(delay=0.02) as server:
        arguments = ["count", "f1", "--api-url", server.url, "--journal", str(journal)]
        with subprocess.Popen(
            [*NGRAMSCAN, *arguments, "--format", "csv"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as stopped:
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
        ran = count(server.url, journal)
        asked = [(entry["index"], entry["query"]) for entry in server.read_log()]
    check(ran, truth)
    # At most four were under way at the end: those may be asked twice, and nothing else.
    assert asked_before < 368 == len(set(asked))
    assert len(asked) <= 368 + 4


def test_the_other_spelling_of_a_name_is_tried(tmp_path: Path) -> None:
    with serve("v2_cc_2025-05") as server:
        options = ("--index", "CC-2025-05", "--method", "pot", "--concurrency", "1")
        ran = count(server.url, tmp_path / "j.sqlite", *options)
        spelled = [entry["index"] for entry in server.read_log()]
        lost = count(server.url, tmp_path / "j.sqlite", "--index", "cc-2025-08")
        elsewhere = run("count", "f1", "--index", f"{server.url}nope")
    assert {row["index"] for row in ran.rows} == {"v2_cc-2025-05"}
    assert spelled == ["v2_cc-2025-05"] + ["v2_cc_2025-05"] * 10
    assert (lost.code, lost.stdout) == (1, "")
    assert lost.stderr == (
        f"Error: {server.url}: HTTP 400: Invalid index: v2_cc_2025-08; here are v2_cc_2025-05;"
        " 46 of 46 counts missing (v2_cc-2025-08)\n"
    )
    assert (elsewhere.code, elsewhere.stderr.count("\n")) == (1, 1)


def test_an_index_elsewhere_is_named_by_its_url(tmp_path: Path, truth: dict[str, int]) -> None:
    with serve("mine") as server:
        ran = run("count", "f1", "--index", f"{server.url}mine", "--format", "csv")
        (info,) = run("index", "info", f"{server.url}mine", "--format", "csv").rows
        unnamed = run("count", "f1", "--index", server.url)
    assert {row["pattern"]: int(row["occurrences"]) for row in ran.rows} == truth
    assert {row["index"] for row in ran.rows} == {f"{server.url}mine"}
    assert (info["name"], info["documents"]) == (f"{server.url}mine", "")
    assert (unnamed.code, "no index named" in unnamed.stderr) == (2, True)


HOSTILE = {
    '{"count": -1}': "no count in the reply",
    '{"count": 1' + "0" * 4000 + "}": "more occurrences than the corpus has bytes",
    " " * 1_100_000: "a body of more than 1,000,000 bytes",
    '{"count": ' + "[" * 100_000 + "]" * 100_000 + "}": "HTTP 200, but not a JSON object",
}


@pytest.mark.parametrize("body", HOSTILE, ids=HOSTILE.values())
def test_a_reply_without_a_count_is_one_line_and_no_number(
    tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ngramscan.remote.exchange.ATTEMPTS", 2)
    with serve("mine", faults=Faults(bodies={"next, we": body})) as server:
        options = ("--index", f"{server.url}mine", "--tier", "T3", "--format", "csv")
        ran = run("count", "f1", *options, "--journal", tmp_path / "j.sqlite")
        asked = [entry["query"] for entry in server.read_log()].count("next, we")
    may_pass = HOSTILE[body].startswith(("a body", "HTTP 200"))
    assert asked == 1 + may_pass, "an answer that can't be true is not asked for again"
    assert ran.code == 1
    patterns = [row["pattern"] for row in ran.rows]
    assert patterns == ["import numpy", "import math", "import sympy"]
    assert ran.stderr.startswith(f"Error: {server.url}: {HOSTILE[body]}")
    assert ran.stderr.endswith(f'; the count of "next, we" in {server.url}mine is missing\n')
    assert len(ran.stderr) < 500
    assert ran.stderr.count("\n") == 1


def test_metadata_that_is_nested_deeply_does_not_end_a_table() -> None:
    window = {
        "doc_ix": 0,
        "doc_len": 3,
        "disp_len": 3,
        "needle_offset": 0,
        "text": "key",
        "cnt": 1,
        "segment_by_shard": [[0, 1]],
        "metadata": "[" * 100_000 + "]" * 100_000,
    }
    with serve("mine", faults=Faults(bodies={"key": json.dumps(window)})) as server:
        ran = run("contexts", "-e", "key", "--index", f"{server.url}mine", "-n", "1")
    assert ran.code == 0, ran.stderr
    assert "'key' · 1 occurrence" in ran.stdout


def test_without_a_network_one_line_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "UNREACHABLE_AFTER_S", 0.3)
    cure = "without a network: --index python, or --index scan:PATH for a corpus of your own"
    for command, missing in (
        ("count f1", "368 of 368 counts missing (8 indexes)"),
        ("docnorm", "42 of 42 estimates missing (v2_dclm_all)"),
        ("contexts -e the", 'the lookup of "the" in v2_dclm_all is missing'),
    ):
        ran = run(*command.split(), "--api-url", NOWHERE)
        why = f"{NOWHERE}: can't be reached ([Errno 111] Connection refused)"
        assert ran == (1, "", f"Error: {why}; {missing}; {cure}\n")
    info = run("index", "info", "dclm", "--api-url", NOWHERE)
    assert info.code == 1
    assert "can't be reached" in info.stderr
    assert "--index python" in info.stderr


def test_the_rate_limits_what_is_sent() -> None:
    with serve("mine") as server:
        asked = ("count", "f1", "--tier", "T3", "--index", f"{server.url}mine", "--refresh")
        run(*asked)  # so that imports don't take the time that the rate should take
        started_at = time.monotonic()
        run(*asked, "--rate", "5")
        arrived = [entry["arrived_at"] - started_at for entry in server.read_log()[4:]]
    assert len(arrived) == 4
    # One may arrive late, and the next then soon after it, but none before its turn.
    assert all(at >= number / 5 for number, at in enumerate(arrived))
    assert run("count", "f1", "--index", "dclm", "--timeout", "0").code == 2


def test_the_catalog_has_the_documented_sizes(shared: Path) -> None:
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
