"""What a newcomer to evalcore types first: each message is one line that leads on."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from ngramscan.remote.pace import Clock
from tests.support.cases import case_table
from tests.support.command import Ran, invoke
from tests.support.made_benchmarks import write, write_financemath, write_proofbench

QUESTIONS = [{"id": f"q{n}", "question": f"{n} + 1?", "answer": str(n + 1)} for n in range(4)]


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Clock, "wait", lambda _, seconds: None)
    write_financemath(tmp_path)
    write_proofbench(tmp_path)
    write(tmp_path / "questions.jsonl", jsonl(*QUESTIONS))
    write(tmp_path / "other.jsonl", jsonl({"key": 1, "problem": "1 + 1?", "answer": "2"}))
    for path, wrong in (("outputs/questions/m/cot.jsonl", 1), ("outputs/questions/n/cot.jsonl", 2)):
        texts = [f"The answer is {n + 1 + (n < wrong)}." for n in range(4)]
        records = [{"id": f"q{n}", "output": text} for n, text in enumerate(texts)]
        write(tmp_path / path, jsonl(*records))
    write(tmp_path / "of-finance/financemath/m/cot.jsonl", jsonl({"id": "x", "output": "1"}))
    write(
        tmp_path / "proofs/imo-proofbench/m/cot.jsonl", jsonl({"id": "PB-Basic-000", "output": "p"})
    )
    write(tmp_path / "theirs/gpt.json", [{"question_id": "validation-1", "output": ["1"]}])
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "cut.eval", "w") as archive:
        archive.writestr("header.json", "{}" * 1000)
    whole = (tmp_path / "cut.eval").read_bytes()
    write(tmp_path / "cut.eval", whole[: len(whole) // 2])
    return tmp_path


def evalcore(line: str) -> Ran:
    return invoke(*line.split())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(*case_table(Path(__file__).with_suffix(".jsonl")))
def test_wrong_usage_ends_with_2_and_says_what_to_do(line: str, hint: str) -> None:
    ran = evalcore(line)
    *usage, message = ran.stderr.splitlines()
    assert (ran.code, ran.stdout) == (2, "")
    assert message.startswith("Error: ")
    assert all(part.startswith(("Usage: ", "Try ", "Note: ")) or not part for part in usage)
    assert re.search(hint, message), message
