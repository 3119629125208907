"""Hosted indexes end to end: the command against a server with faults."""

import json
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ngramscan.indexes.catalog import PAPER
from ngramscan.indexes.http import client as http_client
from ngramscan.indexes.http.identity import PROBES
from ngramscan.patterns.files import load_patterns
from ngramscan.remote.exchange import RETRIES
from tests.support import oracle
from tests.support.command import NGRAMSCAN, Ran
from tests.support.command import invoke as run
from tests.support.dask_cluster import wait_until
from tests.support.places import REPLAY, TOKENS
from tests.support.real_servers import free_port
from tests.support.replay_texts import SHARDS
from tests.support.service import FAULT_KINDS, ApiServer, Faults
from tests.support.sizes import slow
from tests.support.started import started
from tests.support.token_service import TokenServer

DOCS = REPLAY / "docs"
TEXTS = [pattern.text for pattern in load_patterns("f1").patterns]
NOWHERE = "http://127.0.0.1:9/"
LLAMA = "v4_pysmall_llama_s3"


@pytest.fixture(scope="module")
def truth() -> dict[str, int]:
    """Occurrences of each pattern in `a.jsonl`, counted by the definition."""
    lines = (DOCS / "a.jsonl").read_bytes().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    return dict(zip(TEXTS, oracle.tally(TEXTS, texts)[0], strict=True))


def paper(faults: Faults | None = None, delay: float = 0.0) -> ApiServer:
    """Serve the same small corpus as each of the eight indexes of the paper."""
    corpora = {hosted.name: DOCS / "a.jsonl" for hosted in PAPER}
    return ApiServer(corpora, faults=faults, delay=delay)


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
    kinds = FAULT_KINDS[:-1] * 9 + FAULT_KINDS[-1:]  # each 429 pauses everything for a second
    with paper(Faults(seed=7, rate=0.2, kinds=kinds, burst403_at=90)) as server:
        ran = count(server.url, tmp_path / "j.sqlite", "--concurrency=32")
        log = server.read_log()
    # Without a terminal, each pause has a line of its own.
    *pauses, about_sizes = ran.stderr.splitlines()
    assert about_sizes.endswith("doesn't tell the size of its indexes, so there are no rates")
    assert all("paused" in line for line in pauses)
    assert "paused 1 s: the server answers HTTP 403" in ran.stderr
    check(ran, truth)
    assert {entry["fault"] for entry in log} >= {*FAULT_KINDS, "burst403", None}


def serve(*names: str, faults: Faults | None = None) -> ApiServer:
    """Serve the small corpus under some names."""
    return ApiServer(dict.fromkeys(names, DOCS / "a.jsonl"), faults=faults)


def errors_of(ran: Ran) -> list[str]:
    """Return the lines of a run that are errors; others are notices."""
    return [line for line in ran.stderr.splitlines() if line.startswith("Error")]


def test_a_question_that_fails_is_missing_alone_and_asked_alone_again(
    tmp_path: Path, truth: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing, journal, port = "governing equation", tmp_path / "j.sqlite", free_port()
    monkeypatch.setattr(http_client, "RETRIES", replace(RETRIES, attempts=2))
    corpora, faults = {"v2_dclm_all": DOCS / "a.jsonl"}, Faults(fail_always=(failing,))
    with ApiServer(corpora, faults=faults, port=port) as server:
        ran = count(server.url, journal, "--index", "dclm")
    assert ran.code == 1
    assert errors_of(ran) == [
        f"Error: {server.url}: HTTP 500: [Flask] Internal server error: engine crashed on this"
        f' query, after 2 attempts; the count of "{failing}" in v2_dclm_all is missing'
    ]
    found = {row["pattern"]: int(row["occurrences"]) for row in ran.rows}
    assert found == {text: truth[text] for text in TEXTS if text != failing}
    with ApiServer(corpora, port=port) as mended:
        again = count(mended.url, journal, "--index", "dclm")
        asked = [row["query"] for row in mended.read_log() if row["query"] not in PROBES]
    assert asked == [failing]
    assert {row["pattern"]: int(row["occurrences"]) for row in again.rows} == truth
    assert {row["source"] for row in again.rows} == {"api", "journal"}


def test_the_other_spelling_is_tried_and_an_unknown_name_is_one_line(
    tmp_path: Path,
) -> None:
    with serve("v2_cc_2025-05") as server:
        options = ("--index", "CC-2025-05", "--method", "pot", "--concurrency", "1")
        ran = count(server.url, tmp_path / "j.sqlite", *options)
        log = [entry for entry in server.read_log() if entry["query"] not in PROBES]
        lost = count(server.url, tmp_path / "j.sqlite", "--index", "cc-2025-08")
    assert {row["index"] for row in ran.rows} == {"v2_cc-2025-05"}
    spelled = [entry["index"] for entry in log]
    assert spelled == ["v2_cc-2025-05"] + ["v2_cc_2025-05"] * len(ran.rows)
    assert (lost.code, lost.stdout) == (1, "")
    problem = "HTTP 400: Invalid index: v2_cc_2025-08; available: v2_cc_2025-05"
    missing = "46 of 46 counts missing (v2_cc-2025-08)"
    assert errors_of(lost) == [f"Error: {server.url}: {problem}; {missing}"]


def test_an_index_elsewhere_is_named_by_its_url(truth: dict[str, int]) -> None:
    with serve("mine") as server:
        ran = run("count", "f1", "--index", f"{server.url}mine", "--format", "csv")
        (info,) = run("index", "info", f"{server.url}mine", "--format", "csv").rows
        unnamed = run("count", "f1", "--index", server.url)
    assert {row["pattern"]: int(row["occurrences"]) for row in ran.rows} == truth
    assert {row["index"] for row in ran.rows} == {f"{server.url}mine"}
    assert info["name"] == f"{server.url}mine"
    assert (unnamed.code, "no index named" in unnamed.stderr) == (2, True)


HOSTILE = {
    "a negative count": ('{"count": -1}', "no count in the reply"),
    "a count without end": (
        '{"count": 1' + "0" * 4000 + "}",
        "more occurrences than the corpus has bytes",
    ),
    "a long body": (" " * 1_100_000, "a body of more than 1,000,000 bytes"),
    "deep brackets": (
        '{"count": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "HTTP 200, but not a JSON object",
    ),
}
"""What may be sent in place of a count, and what is said of it."""


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_reply_without_a_count_is_one_line_and_no_number(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, problem = HOSTILE[kind]
    monkeypatch.setattr(http_client, "RETRIES", replace(RETRIES, attempts=2))
    with serve("mine", faults=Faults(bodies={"next, we": body})) as server:
        options = ("--index", f"{server.url}mine", "--tier", "T3", "--format", "csv")
        ran = run("count", "f1", *options, "--journal", tmp_path / "j.sqlite")
        asked = [entry["query"] for entry in server.read_log()].count("next, we")
    may_pass = problem.startswith(("a body", "HTTP 200"))
    assert asked == (2 if may_pass else 1), "what can't be true is not asked for again"
    assert ran.code == 1
    assert [row["pattern"] for row in ran.rows] == ["import numpy", "import math", "import sympy"]
    (said,) = errors_of(ran)
    assert said.startswith(f"Error: {server.url}: {problem}")
    assert said.endswith(f'; the count of "next, we" in {server.url}mine is missing')
    assert len(said) < 500


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
    assert "1 occurrence" in ran.stdout


def test_the_rate_limits_what_is_sent(tmp_path: Path) -> None:
    with serve("mine") as server:
        given = ("--index", f"{server.url}mine", "--journal", tmp_path / "j", "--rate", "5")
        assert run("count", "f1", "--tier", "T3", *given).code == 0
        log = server.read_log()
    arrived = [entry["arrived_at"] for entry in log if entry["query"] not in PROBES]
    assert len(arrived) == 4
    # One may arrive late, and the next then soon after it, but none before its turn.
    assert arrived[-1] - log[0]["arrived_at"] >= 3 / 5


def tokens() -> TokenServer:
    folder = TOKENS
    return TokenServer({LLAMA: (folder / LLAMA, folder / "llamalike.model")}, delay=0.01)


PHRASES = ("step by step", "Return", "the file", "see also", "vermilion", "ha ha", "of the", "as")
GIVEN = [part for text in PHRASES for part in ("-e", text)]
DOCNORM = ("docnorm", *GIVEN[:6], "--draws", "20", "--context", "200")
RUNS: Mapping[str, tuple[Callable[[], ApiServer], Sequence[str]]] = {
    "count": (lambda: paper(delay=0.02), ("count", "f1", "--method", "cot")),
    "docnorm": (lambda: ApiServer({"v2_dclm_all": SHARDS}, delay=0.01), DOCNORM),
    "tokens": (tokens, ("count", *GIVEN)),
}


@pytest.mark.integration
@pytest.mark.parametrize("kind", ["count", slow("docnorm"), "tokens"])
def test_a_run_that_was_stopped_goes_on_where_it_was(kind: str, tmp_path: Path) -> None:
    serve, arguments = RUNS[kind]
    with serve() as server:

        def asked() -> int:
            # Each run also asks whether the host has another index by now.
            return sum(each.get("query") not in PROBES for each in server.read_log())

        def has_asked(questions: int) -> bool:
            return asked() >= questions

        def rows(journal: str) -> list[dict[str, Any]]:
            ran = run(*command, "--journal", tmp_path / journal)
            assert ran.code == 0, ran.stderr
            return [{**row, "source": "", "asked_at": ""} for row in ran.rows]

        where = ("--index", f"infini-gram:{server.url}{LLAMA}")
        where = where if kind == "tokens" else ("--api-url", server.url)
        command = [*arguments, *where, "--format", "csv"]
        undisturbed = rows("whole")
        needed = asked()
        for how in (signal.SIGKILL, signal.SIGINT):
            before = asked()
            with started(
                [*NGRAMSCAN, *command, "--journal", str(tmp_path / "j")],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as stopped:
                wait_until(partial(has_asked, before + needed // 4))
                stopped.send_signal(how)
                stdout, stderr = stopped.communicate(timeout=120)
            assert (stdout, stopped.returncode) == ("", 130 if how == signal.SIGINT else -how)
        assert stderr.startswith("Interrupted; what was done is kept")
        assert rows("j") == undisturbed
        # At most four were under way at each end: those are asked twice, and nothing else.
        assert 0 <= asked() - 2 * needed <= 2 * 4
        before = asked()
        assert rows("j") == undisturbed
        assert asked() == before


def test_without_a_network_one_line_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "UNREACHABLE_AFTER_S", 0.3)
    cure = "without a network: --index python, or --index scan:PATH for a corpus of your own"
    why = f"{NOWHERE}: can't be reached ([Errno 111] Connection refused)"
    expected = {
        "count f1": "368 of 368 counts missing (8 indexes)",
        "docnorm": "42 of 42 estimates missing (v2_dclm_all)",
        "contexts -e the": 'the lookup of "the" in v2_dclm_all is missing',
    }
    found = {command: run(*command.split(), "--api-url", NOWHERE) for command in expected}
    # docnorm says first which patterns of the set it takes.
    notices = {"docnorm": found["docnorm"].stderr.splitlines(keepends=True)[0]}
    assert notices["docnorm"].startswith("42 of the 46 patterns of f1 are counted")
    assert found == {
        command: (1, "", f"{notices.get(command, '')}Error: {why}; {missing}; {cure}\n")
        for command, missing in expected.items()
    }
    info = run("index", "info", "dclm", "--api-url", NOWHERE)
    assert info.code == 1
    assert "can't be reached" in info.stderr
    assert "--index python" in info.stderr
