"""Hosted indexes end to end: the command against a server with faults."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ngramscan.indexes.catalog import PAPER
from ngramscan.indexes.http import client as http_client
from ngramscan.indexes.http.identity import PROBES
from ngramscan.patterns.files import load_patterns
from tests.ngramscan.commands.test_count_literals import SHARDS
from tests.support import oracle
from tests.support.command import NGRAMSCAN, Ran
from tests.support.command import invoke as run
from tests.support.places import REPLAY, TOKENS
from tests.support.service import FAULT_KINDS, ApiServer, Faults
from tests.support.sizes import slow
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
            with subprocess.Popen(
                [*NGRAMSCAN, *command, "--journal", str(tmp_path / "j")],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as stopped:
                while asked() - before < needed // 4:
                    time.sleep(0.005)
                stopped.send_signal(how)
                stdout, stderr = stopped.communicate(timeout=60)
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
    assert found == {
        command: (1, "", f"Error: {why}; {missing}; {cure}\n")
        for command, missing in expected.items()
    }
    info = run("index", "info", "dclm", "--api-url", NOWHERE)
    assert info.code == 1
    assert "can't be reached" in info.stderr
    assert "--index python" in info.stderr
