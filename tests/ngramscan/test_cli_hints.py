"""Mistakes that a newcomer makes, each with the line that says how to go on."""

import json
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

import ngramscan
from ngramscan.journal import Journal
from tests.support.cases import case_table
from tests.support.command import NGRAMSCAN, invoke
from tests.support.outputs import refusal
from tests.support.places import REPLAY
from tests.support.started import started

SHARDS = REPLAY / "index" / "replay2"
SET = "name: mine\npatterns: [{text: step by step, method: cot, tier: T1, kind: narrative}]\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus, indexes whole and damaged, and what is neither, in the current and home folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("ngramscan.indexes.http.client.UNREACHABLE_AFTER_S", 0.3)
    for folder in ("corpus", "empty"):
        Path(folder).mkdir()
    documents = [json.dumps({"text": f"step by step {n}"}) + "\n" for n in range(3)]
    for path in ("corpus.jsonl", "corpus/a.jsonl", "corpus/b.jsonl"):
        Path(path).write_text("".join(documents))
    Path("list.paths").write_text("corpus/a.jsonl\n")
    Path("mine.yaml").write_text(SET)
    shutil.copytree(SHARDS / "0", "my-index")
    shutil.copytree(SHARDS, "sharded")
    shutil.copytree(SHARDS, "cut")
    Path("cut/1/meta.fm9").unlink()
    return tmp_path


def count(*arguments: str) -> list[str]:
    return ["count", "mine.yaml", "--journal", "j.sqlite", *arguments]


@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".specs.jsonl")))
def test_what_is_given_as_an_index_leads_to_the_spec_that_works(spec: str, hint: str) -> None:
    told = refusal(*count("--index", spec))
    assert told.startswith("--index")
    assert hint in told


def test_a_file_of_no_known_format_is_refused_with_the_option() -> None:
    told = refusal(*count("--index", "mine.yaml"))
    assert told.startswith("scan:mine.yaml: unknown format: .yaml; --input-format says it: jsonl, ")


def test_an_index_is_taken_by_its_spec_wherever_its_folder_is() -> None:
    assert "fm9:my-index: no damage found" in invoke("index", "verify", "fm9:my-index").stderr
    assert invoke("index", "build", "corpus", "-o", "fm9:new").code == 0
    assert ngramscan.count("mine.yaml", index="fm9:new")["occurrences"].tolist() == [6]


# Wrong usage or input is 2; what failed in the world is 1.
@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".endings.jsonl")))
def test_mistakes_end_with_2_and_failures_with_1(command: str, code: int) -> None:
    Journal(Path("j.sqlite")).close()
    is_given = not command.startswith(("count", "index info", "journal")) or "--jour" in command
    ran = invoke(*command.split(), *["--journal", "j.sqlite"] * (not is_given))
    assert ran.code == code, ran.stderr
    assert (ran.stdout, "Error: " in ran.stderr, "Traceback" in ran.stderr) == ("", True, False)


@pytest.mark.integration
def test_an_interrupted_count_ends_with_130() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(60)
        command = [*NGRAMSCAN, *count("--index", f"http://127.0.0.1:{silent.getsockname()[1]}/x")]
        with started(command, stderr=subprocess.PIPE) as process:
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(1)  # a question, which is never answered
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=60)
    assert (process.returncode, said.count("Interrupted")) == (130, 1)
