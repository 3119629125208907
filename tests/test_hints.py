"""Mistakes that a newcomer makes, each with the line that says how to go on."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import InputError
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


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ((f"{NOWHERE}x",), "refused; is ngramscan serve running there?)"),
        (("CC-MAIN-2025-05", "--api-url", NOWHERE), "in v2_cc-2025-05 is missing"),
    ],
)
def test_a_server_that_is_not_there_is_a_failure(index: Sequence[str], said: str) -> None:
    ran = invoke(*count("--index", *index))
    assert (ran.code, ran.stdout, said in ran.stderr) == (1, "", True)


def test_commas_separate_indexes_of_all_kinds() -> None:
    found = ngramscan.count("mine.yaml", index="fm9:my-index,scan:corpus", journal="j.sqlite")
    assert found["index"].tolist() == ["fm9:my-index", "scan:corpus"]


def test_the_home_folder_is_found_behind_a_colon() -> None:
    for spec in ("scan:~/corpus", "scan:@~/list.paths", "fm9:~/my-index"):
        assert ngramscan.count("mine.yaml", index=spec)["occurrences"].min() > 0


@pytest.mark.parametrize("command", ["index verify {}", "serve {}", "index info fm9:{}"])
@pytest.mark.parametrize("at", [("nope", "no such folder"), ("empty", "not an ind")])
def test_a_folder_without_an_index_says_how_to_make_one(command: str, at: tuple[str, str]) -> None:
    place, problem = at
    ran = invoke(*command.format(place).split())
    assert (ran.code, ran.stdout) == (2, "")
    assert re.fullmatch(rf"Error: {place}: {problem}.*ngramscan index build.*\n", ran.stderr)


def test_an_incomplete_shard_is_never_left_out_of_the_counts() -> None:
    ran = invoke(*count("--index", "fm9:cut"))
    assert (ran.code, ran.stdout) == (1, "")
    assert "Error: cut/1/meta.fm9: missing; copy it here, or build the index again" in ran.stderr
    verified = invoke("index", "verify", "cut", "--format", "csv")
    found = [(row["shard"], row["file"], row["problem"]) for row in verified.rows]
    assert (verified.code, found) == (1, [("cut/1", "meta.fm9", "missing")])


def test_an_index_is_taken_by_its_spec_wherever_its_folder_is() -> None:
    assert "fm9:my-index: sound" in invoke("index", "verify", "fm9:my-index").stderr
    assert invoke("index", "build", "corpus", "-o", "fm9:new").code == 0
    assert ngramscan.count("mine.yaml", index="fm9:new")["occurrences"].tolist() == [6]


@pytest.mark.parametrize("corpus", ["my-index", "fm9:sharded"])
def test_an_index_of_an_index_is_not_built(corpus: str) -> None:
    ran = invoke("index", "build", corpus, "-o", "new")
    assert (ran.code, Path("new").exists()) == (2, False)
    assert f"an index; to ask it: --index fm9:{corpus.removeprefix('fm9:')}" in ran.stderr


READING = ["--sample-files 50%", "--limit-documents 3", "--exclude-source x*", "--ignore-case"]
UNUSED = [("fm9:my-index", option, "scan: and python take") for option in READING]
UNUSED += [(index, READING[1], "scan: and python take") for index in ("dclm", f"{NOWHERE}x")]
JSONL = ["--text-field body", "--skip-bad-lines", "--skip-unknown"]
OTHERS = ["python", "dclm", "fm9:my-index"]
UNUSED += [(index, option, "scan: takes") for index in OTHERS for option in JSONL]


@pytest.mark.parametrize(("index", "option", "takers"), UNUSED)
def test_an_option_that_no_index_takes_is_not_ignored(index: str, option: str, takers: str) -> None:
    ran = invoke(*count("--index", index, *option.split()))
    assert (ran.code, ran.stdout) == (2, "")
    flag = option.partition(" ")[0]
    assert f"Error: {flag}: only {takers} it, not " in ran.stderr


def test_an_option_that_one_of_the_indexes_takes_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    both = ["fm9:my-index", "scan:corpus"]
    found = ngramscan.count("mine.yaml", index=both, journal="j.sqlite", limit_documents=2)
    assert found["index"].tolist() == both
    with pytest.raises(InputError, match="text_field: only scan: takes it, not fm9:my-index"):
        ngramscan.count("mine.yaml", index="fm9:my-index", text_field="body")
    monkeypatch.setenv("NGRAMSCAN_TEXT_FIELD", "body")
    assert len(ngramscan.count("mine.yaml", index="fm9:my-index", text_field="body")) == 1


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
