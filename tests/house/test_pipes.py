"""Rows in pipelines of whole processes: jq, DuckDB and pyarrow read what the commands print."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.support.places import ROOT

SET = """\
name: small
patterns:
  - {text: step by step, method: CoT, tier: T1, kind: narrative}
  - {text: "\\"quoted\\", é", method: CoT, tier: T2, kind: narrative}
  - {text: def f, method: PoT, tier: T1, kind: code}
"""
TEXTS = ('step by step by step, "quoted", é', "def f(): pass", "step by step")
TRUTH = {'"quoted", é': 1, "def f": 1, "step by step": 3}  # two of them overlap
COUNT = "ngramscan count small.yaml --index scan:c.jsonl --workers 1 -q"

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pattern set and a corpus in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.yaml").write_text(SET)
    lines = (json.dumps({"text": text}) + "\n" for text in TEXTS)
    (tmp_path / "c.jsonl").write_text("".join(lines))
    return tmp_path


PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""Programs are also found beside this Python, whether or not its environment is active."""


def pipe(line: str, program: str = "cat", code: int = 0) -> str:
    """Return what a pipeline prints; every part of it must end well, or with this code."""
    if not shutil.which(program, path=PATH):
        pytest.skip(f"no {program} on this machine")
    python = shlex.quote(sys.executable)
    for name in ("ngramscan", "evalcore"):
        line = line.replace(f"{name} ", f"{python} -m {name} ")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": PATH}
    command = ["bash", "-o", "pipefail", "-c", line]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert (done.returncode, done.stderr) == (code, ""), done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "reader"), [("jsonl", "json_auto"), ("csv", "csv_auto")])
def test_duckdb_reads_standard_input(name: str, reader: str) -> None:
    asked = f"select pattern, occurrences from read_{reader}('/dev/stdin') order by pattern"
    line = f"{COUNT} --format {name} -o - | duckdb -json -c {shlex.quote(asked)}"
    rows = json.loads(pipe(line, "duckdb"))
    assert {row["pattern"]: int(row["occurrences"]) for row in rows} == TRUTH


def test_parquet_goes_through_a_pipe() -> None:
    pipe(f"{COUNT} --format parquet | cat > rows.parquet")
    assert sorted(pd.read_parquet("rows.parquet")["occurrences"]) == sorted(TRUTH.values())


def test_scores_go_to_jq(here: Path) -> None:
    questions = [{"id": n, "question": f"{n} + 1?", "answer": n + 1} for n in range(3)]
    (here / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in questions))
    folder = here / "outputs" / "mine" / "m"
    folder.mkdir(parents=True)
    answers = [{"id": str(n), "output": f"The answer is {max(n, 1) + 1}."} for n in range(3)]
    (folder / "cot.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    line = "evalcore score outputs/mine --dataset mine --data questions.jsonl --rule numbers -q"
    values = pipe(f"{line} -o - --format jsonl --sort id | jq .value", "jq")
    assert [float(value) for value in values.split()] == [0, 1, 1]


@pytest.mark.parametrize("more", ["", "--format parquet"], ids=["table", "parquet"])
def test_a_reader_that_stops_early_is_silent(more: str) -> None:
    pipe(f"{{ {COUNT} {more} || true; }} | head -c 1 > /dev/null")


def test_a_full_disk_is_one_line() -> None:
    options = ("--format parquet", "--format csv -o -")
    told = [pipe(f"{COUNT} {more} 2>&1 > /dev/full", code=1) for more in options]
    assert told == ["Error: stdout: can't be written (no space left on device)\n"] * 2
