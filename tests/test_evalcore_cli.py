"""The commands of evalcore as a person runs them, against a server on loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import evalcore
from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.prompts import load_templates
from evalcore.records import read_records
from evalcore.scores import read_scores
from ngramscan.errors import IncompleteError
from ngramscan.remote.pace import Clock
from tests.support import command
from tests.support.chat_server import Answer, ChatServer, Faults, Messages, chat_server, hash_of
from tests.support.made_benchmarks import write, write_financemath, write_proofbench

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("cot", "pot", "f-1")
SECRET = "sk-made-up-1234567890"
FINANCE = ("--dataset", "financemath", "--data", "validation.json")
JUDGE = (
    *("judge", "outputs", "--dataset", "imo-proofbench", "--data", "proofbench_v2.csv"),
    *("--judge", "judge-a", "--judge", "judge-b", "--base-url"),
)
PROOFBENCH: dict[str, Any] = {"dataset": "imo-proofbench", "data": "proofbench_v2.csv"}
SCORE = ("score", "outputs", *FINANCE)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    # Pauses are a hundredth of their length; `test_http_index` proves how long they are.
    monkeypatch.setattr(Clock, "wait", lambda _, seconds: time.sleep(seconds / 100))
    write_financemath(tmp_path)
    return tmp_path


def invoke(*arguments: str, code: int = 0) -> tuple[str, str]:
    """Return what a command that ends with this code prints, and what it says besides."""
    ran = command.invoke(*arguments)
    assert ran.code == code, ran
    return ran.stdout, ran.stderr


def json_rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def text_of(method: str, number: int) -> str:
    """A right answer to even problems, a wrong one to odd ones."""
    value = number / 8 + number % 2
    if method == "pot":
        return f"```python\ndef solution():\n    return {value}\n```"
    last = "Final Answer (3 decimal) : " if method == "f-1" else "Therefore, the answer is "
    return f"We divide.\n{last}{value:.3f}"


def answering(data: Path, delay_s: float = 0.0) -> Answer:
    """Answer what is asked in the exact messages of a method, and nothing else."""
    benchmark = find_benchmark("financemath")
    dataset, prompts = load_dataset(benchmark, data), load_templates(benchmark)
    known = {
        hash_of(prompts.render(method, problem)): text_of(method, number)
        for number, problem in enumerate(dataset.problems)
        for method in METHODS
    }

    def answer(messages: Messages) -> str | None:
        time.sleep(delay_s)
        return known.get(hash_of(messages))

    return answer


def run_command(server: ChatServer, *more: str) -> list[str]:
    model = ("--model", "lab/made", "--method", ",".join(METHODS))
    return ["run", *FINANCE, *model, "--base-url", server.url, "-o", "outputs", *more]


@pytest.mark.usefixtures("sandbox_here")
def test_a_benchmark_is_run_and_scored_although_the_server_fails_now_and_then(here: Path) -> None:
    faults = Faults(too_many=0.1, error=0.05, stall=0.02, malformed=0.05, stall_s=0.5, seed=3)
    with chat_server(answering(here), faults) as server:
        assert invoke(*run_command(server, "--limit", "60", "--timeout", "0.3"))[0] == ""
        assert set(server.seen.faults) == {"too_many", "error", "stall", "malformed"}
        server.plan, before = Faults(), server.seen.requests.total()
        _, stderr = invoke(*run_command(server, "--limit", "60"))
        assert (stderr.count("60 there before"), server.seen.requests.total()) == (3, before)
    for method in METHODS:
        records = read_records(here / "outputs/financemath/lab--made" / f"{method}.jsonl")
        assert sorted(int(record.id.split("-")[1]) for record in records) == list(range(60))
    stdout, _ = invoke(*SCORE, "--rule", "strict", "--rule", "lenient", "--format", "jsonl")
    rows = json_rows(stdout)
    assert len(rows) == 3 * 60 * 2
    for row in rows:
        is_right = int(row["id"].split("-")[1]) % 2 == 0
        assert (row["model"], row["answer"] is None) == ("lab/made", False)
        assert bool(row["sandbox"]) == (row["method"] == "pot")
        assert row["rule"] == "lenient" or row["value"] == is_right, row
    stdout, stderr = invoke(*SCORE, "--figure", "accuracy.svg")
    for method in METHODS:
        assert re.search(f"{method} +(?:strict +)?60 +50.0 ", stdout), stdout
        assert f"financemath/lab/made/{method}: no output for 140 of 200 problems" in stderr
    assert (here / "accuracy.svg").read_text().startswith("<?xml")


def test_a_killed_run_goes_on_where_it_was(here: Path) -> None:
    with chat_server(answering(here, delay_s=0.005)) as server:
        command = [sys.executable, "-m", "evalcore", *run_command(server, "--concurrency", "4")]
        answered, env = server.seen.answered, {**os.environ, "PYTHONPATH": str(ROOT)}
        for _ in range(3):
            before = answered.total()
            with subprocess.Popen(command, cwd=here, env=env) as process:
                while answered.total() < before + 120:
                    time.sleep(0.01)
                process.kill()
        invoke(*run_command(server))
        assert len(answered) == 600
        assert answered.total() <= 600 + 3 * 4, "only what was under way is asked again"
    assert len(read_records(here / "outputs")) == 600


def test_a_key_is_sent_and_shown_nowhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ""
    for code, key, folder in ((0, SECRET, "right"), (1, f"{SECRET}-wrong", "wrong")):
        monkeypatch.setenv("LAB_KEY", key)
        with chat_server(key=SECRET) as server:
            command = ("--api-key-env", "LAB_KEY", "--limit", "2", "-v", "-o", folder)
            said += "".join(invoke(*run_command(server, *command), code=code))
    assert ("Error: " in said, SECRET in said) == (True, False)
    files = [path.read_bytes() for path in here.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in files)


def test_a_dry_run_prints_the_exact_messages_and_asks_no_one(here: Path) -> None:
    told = ("--model", "m", "--method", "cot,formulate-and-solve", "--dry-run")
    stdout, _ = invoke("run", *FINANCE, *told)
    assert not (here / "outputs").exists()
    benchmark = find_benchmark("financemath")
    prompts, problem = load_templates(benchmark), load_dataset(benchmark, here).problems[0]
    for method, end in (("cot", "\n"), ("formulate-and-solve", " (")):
        texts = [message["content"] for message in prompts.render(method, problem)]
        for text in (*texts, f"# financemath, validation-0, {method}{end}"):
            assert text in stdout


def test_functions_return_the_rows_of_the_commands(here: Path) -> None:
    finance: dict[str, Any] = {"dataset": "financemath", "data": "validation.json"}
    given = {**finance, "model": "lab/made", "methods": ["cot"], "limit": 4}
    with chat_server(answering(here)) as server:
        frame = evalcore.run(**given, base_url=server.url)
        assert list(frame["output"]) == [text_of("cot", n) for n in range(4)]
        assert frame["prompt_tokens"].dtype == "Int64"
    for where in ({"base_url": "http://127.0.0.1:1/v1"}, {"replay": "outputs", "output": "again"}):
        with pytest.raises(IncompleteError, match="1 of 5 answers are missing") as caught:
            evalcore.run(**given | {"limit": 5} | where)
        assert list(caught.value.rows["output"]) == list(frame["output"])
    assert list(evalcore.score("again", **finance)["value"]) == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = evalcore.nothing


def judged_reply(messages: Messages) -> str:
    number = int(messages[1]["content"].split("SOLUTION of ")[1].split()[0])
    assert f"GUIDELINES of {number}" in messages[1]["content"]
    said = f"Fine.\n<points>{(7, 6, 1, 0)[number % 4]} out of 7</points>"
    return "I like this proof." if number == 7 else said


@pytest.fixture
def proofs(here: Path) -> Path:
    """60 proofs, of which one is cut."""
    write_proofbench(here)
    records = [{"id": f"PB-Basic-{n:03}", "output": f"Proof {n}."} for n in range(60)]
    records[59] |= {"finish_reason": "length"}
    lines = "".join(json.dumps(record) + "\n" for record in records)
    write(here / "outputs/imo-proofbench/made/f-1.jsonl", lines)
    return here


def test_judges_are_asked_once_and_their_replies_kept_and_summed_up(proofs: Path) -> None:
    with chat_server(judged_reply) as server:
        stdout, stderr = invoke(*JUDGE, server.url, "-o", "judged.jsonl")
        assert (stdout, server.seen.requests.total()) == ("", 2 * 59), "a cut output is not judged"
        lines, _ = invoke(*JUDGE, server.url, "--format", "jsonl")
        table, _ = invoke(*JUDGE, server.url)
        frame = evalcore.judge("outputs", judges="judge-a", **PROOFBENCH, base_url=server.url)
        assert server.seen.requests.total() == 2 * 59
    assert "f-1" not in json.dumps([body["messages"] for body in server.seen.bodies])
    assert "judge:judge-a: 1 of 59 replies have no value; unusable reply: no <points>N" in stderr
    rows = json_rows((proofs / "judged.jsonl").read_text())
    assert json_rows(lines) == rows
    by_id = {row["id"]: row for row in rows if row["rule"] == "judge:judge-a"}
    assert (len(rows), len(frame), frame["value"].isna().sum()) == (120, 60, 2)
    assert (by_id["PB-Basic-000"]["value"], by_id["PB-Basic-001"]["answer"]) == (1.0, "6")
    unread, cut = by_id["PB-Basic-007"], by_id["PB-Basic-059"]
    assert (unread["value"], unread["reply"]) == (None, "I like this proof.")
    assert (cut["reply"], cut["reason"]) == (None, "cut at the token limit")
    assert read_scores(proofs / "judged.jsonl")[0].rule == "judge:judge-a"
    assert re.search("judge:judge-a .*60 +58 +51.7", table), table
    assert "0: 13, 1: 15, 6: 15, 7: 15" in table


@pytest.mark.parametrize(
    ("faults", "key", "reason"),
    [
        (Faults(refusal=0.2, seed=1), "", "(the judge refused"),
        (Faults(length=1.0), "", "118 of 120 judgements are missing (the reply was cut at the"),
        (Faults(), SECRET, "118 of 120 judgements are missing (http://127.0.0.1"),
    ],
)
def test_what_no_judge_said_is_asked_later(
    proofs: Path, faults: Faults, key: str, reason: str
) -> None:
    with chat_server(judged_reply, faults, key) as server:
        _, stderr = invoke(*JUDGE, server.url, "-o", "judged.jsonl", code=1)
        assert ("judgements are missing" in stderr, reason in stderr) == (True, True)
        given: dict[str, Any] = {**PROOFBENCH, "base_url": server.url, "journal": "own.sqlite"}
        with pytest.raises(IncompleteError, match="judgements are missing"):
            evalcore.judge("outputs", judges=["judge-a"], **given)
        assert (proofs / "own.sqlite").exists()
        there = len((proofs / "judged.jsonl").read_text().splitlines())
        server.plan, server.key, before = Faults(), "", server.seen.requests.total()
        invoke(*JUDGE, server.url, "-o", "judged.jsonl")
        assert server.seen.requests.total() - before == 120 - there > 0


@pytest.mark.usefixtures("sandbox_here")
def test_causes_are_asked_of_wrong_answers_only(here: Path) -> None:
    with chat_server(answering(here)) as server:
        invoke(*run_command(server, "--limit", "6"))
    invoke(*SCORE, "-o", "scores.jsonl", "-q")
    task = ("--method", "f-1", "--judge", "j", "--task", "failure-causes", "--base-url")
    with chat_server(lambda _: '{"cause": "A", "why": "wrong equation"}') as server:
        command = ("judge", "outputs", *FINANCE, *task, server.url)
        stdout, _ = invoke(*command, "--scores", "scores.jsonl", "--format", "jsonl")
        told = [(row["id"], row["answer"]) for row in json_rows(stdout)]
        assert told == [(f"validation-{n}", "A") for n in (1, 3, 5)]
        assert invoke(*command, code=2)[1].startswith("Error: --scores: missing")


@pytest.mark.usefixtures("here")
def test_benchmarks_are_listed_and_checked() -> None:
    stdout, _ = invoke("datasets", "list")
    assert ("financemath" in stdout, "yes" in stdout) == (True, True)
    stdout, stderr = invoke("datasets", "check", "financemath", "aicrypto", "--data", ".", code=1)
    told = r"financemath +not the published file: its SHA-256 is [0-9a-f]{64} +200 +2 *\n"
    assert re.search(told, stdout), stdout
    assert stderr == "Error: .: no exam1/problem1.tex in it\n"
