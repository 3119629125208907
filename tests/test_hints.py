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
from tests.support.command import NGRAMSCAN, invoke

SHARDS = Path(__file__).parent / "replay" / "index" / "replay2"
SET = "name: mine\npatterns: [{text: step by step, method: cot, tier: T1, kind: narrative}]\n"
NOWHERE = "http://127.0.0.1:9/"


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


INDEXES = {
    "my-index": "an index; to ask it: --index fm9:my-index",
    "sharded": "an index; to ask it: --index fm9:sharded",
    "scan:my-index": "an index; to ask it: --index fm9:my-index",
    "scan:sharded": "an index; to ask it: --index fm9:sharded",
    "corpus.jsonl": "a corpus; to read it: --index scan:corpus.jsonl",
    "corpus": "a corpus; to read it: --index scan:corpus",
    "corpus/*.jsonl": "a corpus; to read it: --index scan:corpus/*.jsonl",
    "@list.paths": "a corpus; to read it: --index scan:@list.paths",
    "fm9:corpus.jsonl": "a corpus; to read it: --index scan:corpus.jsonl",
    "fm9:corpus": "a corpus; to read it: --index scan:corpus",
    "s3://bucket/key": "to read a corpus there: --index scan:s3://bucket/key",
    "https://host/x.jsonl.gz": "a file, not an index; to read it: --index scan:https://host/x.js",
    "empty": "neither an index nor a corpus in a known format",
    "mine.yaml": "neither an index nor a corpus in a known format",
    "pyton": "no index of this name; did you mean python?",
    "PYTHON": "no index of this name; did you mean python?",
    "pythn": "did you mean python?",
    "pap": "did you mean paper?",
    "v2_dclm": "did you mean v2_dclm_all?",
    "cc-2025-5": "did you mean cc-2025-05?",
    "CC-MAIN-2025-5": "did you mean cc-2025-05?",
    "dcml": "did you mean dclm?",
    "pile": "did you mean piletrain or pileval?",
    "scn:corpus.jsonl": "did you mean scan:corpus.jsonl?",
    "fm:my-index": "did you mean fm9:my-index?",
    "xyzzy": "no index of this name; expected scan:PATH, fm9:DIR, tokens:DIR, infini-gram:NAME,",
    "": "it is empty; expected scan:PATH",
    "scan:": "nothing after the colon; expected scan:PATH",
    "fm9:": "nothing after the colon; expected scan:PATH",
    "tokens:": "nothing after the colon; expected scan:PATH",
    "infini-gram:": "nothing after the colon; expected scan:PATH",
    "infini-gram:http://h/": "no index named; infini-gram:http://h/NAME was expected",
    "localhost:8787/x": "begins with http://; did you mean http://localhost:8787/x?",
    "http://localhost:8787": "no index named; http://localhost:8787/NAME was expected",
    "https://dclm": "no index named; --index dclm was expected",
    "http://127.0.0.1:99999/x": "not a URL; expected http://… or https://…",
}


@pytest.mark.parametrize("spec", INDEXES)
def test_what_is_given_as_an_index_leads_to_the_spec_that_works(spec: str) -> None:
    ran = invoke(*count("--index", spec))
    assert (ran.code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("Error: --index")
    assert INDEXES[spec] in ran.stderr


def test_an_index_is_taken_by_its_spec_wherever_its_folder_is() -> None:
    assert "fm9:my-index: sound" in invoke("index", "verify", "fm9:my-index").stderr
    assert invoke("index", "build", "corpus", "-o", "fm9:new").code == 0
    assert ngramscan.count("mine.yaml", index="fm9:new")["occurrences"].tolist() == [6]


READING = ["--sample-files 50%", "--limit-documents 3", "--exclude-source x*", "--ignore-case"]
UNUSED = [("fm9:my-index", option, "scan: and python take") for option in READING]
UNUSED += [(index, READING[1], "scan: and python take") for index in ("dclm", f"{NOWHERE}x")]
JSONL = ["--text-field body", "--skip-bad-lines", "--skip-unknown"]
OTHERS = ["python", "dclm", "fm9:my-index"]
UNUSED += [(index, option, "scan: takes") for index in OTHERS for option in JSONL]


# Wrong usage or input is 2; what failed in the world is 1.
ENDINGS = {
    "count mine.yaml --index fm9:nope": 2,
    "count mine.yaml --index scan:nope": 2,
    "count mine.yaml --index dclm --api-url localhost:9": 2,
    "count mine.yaml --index dclm --journal corpus": 2,
    "count mine.yaml --index dclm --journal corpus.jsonl": 2,
    "index info nope": 2,
    f"index info {NOWHERE}x": 1,
    "index build nope -o new": 2,
    "index build empty -o new": 2,
    "index build corpus -o sharded": 2,
    "index build corpus -o mine.yaml": 2,
    "index build corpus -o no/new": 2,
    "index build corpus -o new --shard-size 5000GB": 2,
    "index build corpus": 2,
    "index verify corpus.jsonl": 2,
    "serve corpus": 2,
    "serve cut --port 0": 1,
    "serve my-index --port 70000": 2,
    "serve my-index --host nope.invalid": 2,
    "serve my-index my-index": 2,
    "journal info --journal corpus": 2,
    "journal clear --journal corpus.jsonl --yes": 2,
    "journal clear --index xyzzy --yes": 2,
}


@pytest.mark.parametrize("command", ENDINGS)
def test_mistakes_end_with_2_and_failures_with_1(command: str) -> None:
    Journal(Path("j.sqlite")).close()
    is_given = not command.startswith(("count", "index info", "journal")) or "--jour" in command
    ran = invoke(*command.split(), *["--journal", "j.sqlite"] * (not is_given))
    assert ran.code == ENDINGS[command], ran.stderr
    assert (ran.stdout, "Error: " in ran.stderr, "Traceback" in ran.stderr) == ("", True, False)


@pytest.mark.integration
def test_an_interrupted_count_ends_with_130() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent.settimeout(60)
        command = [*NGRAMSCAN, *count("--index", f"http://127.0.0.1:{silent.getsockname()[1]}/x")]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(1)  # a question, which is never answered
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=30)
    assert (process.returncode, said.count("Interrupted")) == (130, 1)
