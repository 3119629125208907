"""`ngramscan contaminate --write-clean`: corpora without copies, as a person writes them."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import corpus_files
from tests.support.command import invoke
from tests.support.corpus_documents import texts_of
from tests.support.outputs import refusal
from tests.support.places import ROOT

QUESTION = (
    "A gardener plants 19 rows of tulips with 24 bulbs in every row and then gives away 70 bulbs"
    " to a neighbour who lost hers to frost. How many bulbs are left in the shed?"
)
EDITED = QUESTION.replace("in every row", "in each row").upper()
OTHERS = [f"Page {number} is about the weather in the valley, and no more." for number in range(9)]
TEXTS = [OTHERS[0], f"Old exam. {EDITED} Answer: 386.", *OTHERS[1:], QUESTION]
CLEAN = [OTHERS[0], *OTHERS[1:]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A benchmark of one question."""
    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text(json.dumps({"id": "gardener", "question": QUESTION}) + "\n")
    return tmp_path


def clean(index: str, folder: str, *more: str) -> None:
    done = invoke("contaminate", "q.jsonl", "--index", index, "--write-clean", folder, "-q", *more)
    assert done.code == 0, done.stderr


def verdict_in(index: str) -> str:
    done = invoke("contaminate", "q.jsonl", "--index", index, "-q", "--format", "csv")
    return done.rows[0]["verdict"]


NAMES = ["c.jsonl", "c.jsonl.gz", "c.jsonl.zst", "c.parquet"]


@pytest.mark.parametrize("name", NAMES)
def test_documents_with_copies_leave_and_the_others_stay(here: Path, name: str) -> None:
    corpus_files.write(here, name, TEXTS)
    clean(f"scan:{name}", "out")
    assert texts_of(Path("out") / name) == CLEAN
    assert verdict_in("scan:out") == "clean"
    removed = list(csv.DictReader(Path("out-removed.csv").read_text().splitlines()))
    assert [(row["file"], row["record"], row["entries"]) for row in removed] == [
        (name, "2", "gardener"),
        (name, "11", "gardener"),
    ]
    assert {row["characters_cut"] for row in removed} == {""}
    assert texts_of(here / name) == TEXTS


@pytest.mark.parametrize("name", NAMES)
def test_passages_are_cut_and_the_rest_of_their_documents_stays(here: Path, name: str) -> None:
    corpus_files.write(here, name, TEXTS)
    clean(f"scan:{name}", "out", "--cut", "--removed", "cut.csv")
    texts = texts_of(Path("out") / name)
    assert texts[0] == OTHERS[0]
    assert texts[1].startswith("Old exam.")
    assert texts[1].endswith("Answer: 386.")
    assert len(texts[1]) < 40
    assert texts[2:-1] == OTHERS[1:]
    assert len(texts[-1]) < 10
    assert verdict_in("scan:out") in {"clean", "shared"}
    removed = list(csv.DictReader(Path("cut.csv").read_text().splitlines()))
    assert all(int(row["characters_cut"]) > 100 for row in removed)
    assert not Path("out-removed.csv").exists()


def test_lines_that_stay_are_the_same_bytes(here: Path) -> None:
    rows = [b'{"text":  "a  page", "n": 1.50}', b'{ "text": "\\u00e9t\\u00e9 \\/" }', b""]
    copy = json.dumps({"text": QUESTION}).encode()
    Path("c.jsonl").write_bytes(b"\r\n".join([rows[0], copy, *rows[1:], copy, rows[1]]))
    clean("scan:c.jsonl", "out")
    assert Path("out/c.jsonl").read_bytes() == b"\r\n".join([*rows, rows[1]])
    assert here


def test_a_corpus_without_copies_is_copied_as_it_is(here: Path) -> None:
    path = corpus_files.write(here, "c.jsonl.gz", CLEAN)
    clean("scan:c.jsonl.gz", "out")
    assert Path("out/c.jsonl.gz").read_bytes() == path.read_bytes()
    assert Path("out-removed.csv").read_text().count("\n") == 1


def test_copies_that_only_show_without_others_leave_too(here: Path) -> None:
    """Ten copies make the rest of a page common; without them it is rare, and a copy."""
    half = QUESTION[: len(QUESTION) * 9 // 10]
    corpus_files.write(here, "c.jsonl", [*[QUESTION] * 12, f"{half} and so on", *OTHERS])
    clean("scan:c.jsonl", "out")
    assert texts_of(Path("out/c.jsonl")) == OTHERS
    assert verdict_in("scan:out") == "clean"


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def test_a_run_that_is_killed_several_times_writes_the_same_files(here: Path) -> None:
    Path("corpus").mkdir()
    for number in range(2):
        for name in NAMES:
            path = corpus_files.write(here, name, TEXTS)
            path.rename(here / "corpus" / f"{number}{name}")
    command = ["contaminate", "q.jsonl", "--index", "scan:corpus", "--write-clean"]
    clean("scan:corpus", "expected")
    kills = 0
    for number in range(1, 100, 4):
        arguments = [*command, "out", "-q", "--journal", f"{here}/j{number}.sqlite"]
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.killed_at", str(number), *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != -signal.SIGKILL:
            assert done.returncode == 0
            break
        kills += 1
        if kills % 2:  # every other run begins anew, and is killed later
            shutil.rmtree("out", ignore_errors=True)
    assert kills >= 5
    assert contents("out") == contents("expected")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        pytest.param(
            ["--index", "scan:c.jsonl", "--rule", "gpt3", "--write-clean", "out"],
            "--write-clean: rule gpt3 does not tell copies from common text",
            id="another rule",
        ),
        pytest.param(
            ["--index", "scan:c.jsonl", "--index", "scan:d.jsonl", "--write-clean", "out"],
            "--write-clean: requires one corpus, not 2",
            id="two corpora",
        ),
        pytest.param(
            ["--index", "scan:c.jsonl", "--limit-documents", "2", "--write-clean", "out"],
            "--write-clean: requires the whole corpus, without --limit-documents",
            id="a part of a corpus",
        ),
        pytest.param(
            ["--index", "scan:c.jsonl", "--write-clean", "."],
            ".: the corpus is in it",
            id="in place",
        ),
        pytest.param(
            ["--index", "scan:c.jsonl", "--cut"], "--cut: requires --write-clean", id="only cut"
        ),
        pytest.param(
            ["--index", "scan:c.jsonl", "--removed", "r.csv"],
            "--removed: requires --write-clean",
            id="only a list",
        ),
        pytest.param(
            ["--index", "scan:c.jsonl", "--write-clean", "used"],
            "used: it has other files, such as file.txt",
            id="a folder with files",
        ),
    ],
)
def test_what_can_t_be_written_is_refused_in_a_line(
    here: Path, more: list[str], problem: str
) -> None:
    shutil.copy(corpus_files.write(here, "c.jsonl", TEXTS), "d.jsonl")
    Path("used").mkdir()
    Path("used/file.txt").write_text("mine")
    assert refusal("contaminate", "q.jsonl", "-q", *more).startswith(problem)
    assert not Path("out").exists()
    assert Path("used/file.txt").read_text() == "mine"


def test_a_pipe_can_t_be_written(here: Path) -> None:
    path = corpus_files.write(here, "c.jsonl", TEXTS)
    done = invoke(
        *("contaminate", "q.jsonl", "--index", "scan:-", "--write-clean", "out", "-q"),
        content=path.read_bytes(),
    )
    assert done.code == 2
    assert "a pipe can't be read again to be written" in done.stderr
