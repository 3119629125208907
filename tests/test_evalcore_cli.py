"""The commands of evalcore as a person runs them, against a server on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

import evalcore
from evalcore.benchmarks import load_dataset
from evalcore.cli import main
from evalcore.prompts import load_templates
from evalcore.records import read_records
from evalcore.scores import read_scores
from ngramscan.errors import IncompleteError, InputError
from tests.chat_server import Answer, ChatServer, Faults, chat_server, hash_of
from tests.made_benchmarks import write_financemath, write_proofbench

ROOT = Path(__file__).resolve().parent.parent
METHODS = ("cot", "pot", "f-1")
SECRET = "sk-made-up-1234567890"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    write_financemath(tmp_path)
    return tmp_path


def invoke(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def text_of(method: str, number: int) -> str:
    """A right answer to even problems, a wrong one to odd ones."""
    value = number / 8 + number % 2
    if method == "pot":
        return f"```python\ndef solution():\n    return {value}\n```"
    last = "Final Answer (3 decimal) : " if method == "f-1" else "Therefore, the answer is "
    return f"We divide.\n{last}{value:.3f}"


def replies(data: Path) -> Mapping[str, str]:
    """What a model answers, by the hash of the exact messages."""
    dataset = load_dataset("financemath", data)
    prompts = load_templates("financemath")
    return {
        hash_of(prompts.render(method, problem)): text_of(method, number)
        for method in METHODS
        for number, problem in enumerate(dataset.problems)
    }


def answering(known: Mapping[str, str]) -> Answer:
    return lambda messages: known.get(hash_of(messages))


def run_command(server: ChatServer, *more: str) -> list[str]:
    return [
        *("run", "--dataset", "financemath", "--data", "validation.json", "--model", "lab/made"),
        *("--method", ",".join(METHODS), "--base-url", server.url, "-o", "outputs", *more),
    ]


SCORE = ("score", "outputs", "--dataset", "financemath", "--data", "validation.json")


@pytest.mark.usefixtures("sandbox_here")
def test_a_benchmark_is_run_and_scored_although_the_server_fails_now_and_then(here: Path) -> None:
    known = replies(here / "validation.json")
    faults = Faults(too_many=0.1, error=0.05, stall=0.01, malformed=0.02, stall_s=0.5, seed=3)
    with chat_server(answering(known), faults) as server:
        code, stdout, stderr = invoke(*run_command(server, "--timeout", "0.3"))
        assert (code, stdout) == (0, ""), stderr
        assert set(server.seen.faults) == {"too_many", "error", "stall", "malformed"}
        asked = sum(server.seen.requests.values())
        code, _, stderr = invoke(*run_command(server))
        assert code == 0
        assert "200 there before" in stderr
        assert sum(server.seen.requests.values()) == asked, "nothing is asked twice"
    for method in METHODS:
        records = read_records(here / "outputs/financemath/lab--made" / f"{method}.jsonl")
        assert sorted(record.id for record in records) == sorted(
            f"validation-{n}" for n in range(200)
        )
    code, stdout, _ = invoke(*SCORE, "--rule", "strict", "--rule", "lenient", "--format", "jsonl")
    assert code == 0
    rows = [json.loads(line) for line in stdout.splitlines()]
    assert len(rows) == 3 * 200 * 2
    for row in rows:
        number = int(row["id"].split("-")[1])
        assert row["model"] == "lab/made"
        assert row["answer"] is not None
        if row["rule"] == "strict":
            assert row["value"] == float(number % 2 == 0), row
    code, stdout, _ = invoke(*SCORE)
    assert code == 0
    shown = [line.split() for line in stdout.splitlines()]
    for method in METHODS:
        start = ["financemath", "lab/made", method, "strict", "200", "50.0"]
        assert any(cells[:6] == start for cells in shown), stdout


def test_a_killed_run_goes_on_where_it_was(here: Path) -> None:
    known = replies(here / "validation.json")

    def slow(messages: Sequence[Mapping[str, str]]) -> str | None:
        time.sleep(0.01)
        return known.get(hash_of(messages))

    with chat_server(slow) as server:
        command = [sys.executable, "-m", "evalcore", *run_command(server, "--concurrency", "4")]
        killed = 0
        while killed < 3:
            process = subprocess.Popen(
                command, cwd=here, env={**os.environ, "PYTHONPATH": str(ROOT)}
            )
            before = sum(server.seen.answered.values())
            while sum(server.seen.answered.values()) < before + 120:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
        code, _, stderr = invoke(*run_command(server))
        assert code == 0, stderr
        twice = sum(count - 1 for count in server.seen.answered.values())
        assert len(server.seen.answered) == 600
        assert twice <= 3 * 4, "only what was under way is asked again"
    assert len(read_records(here / "outputs")) == 600


def test_a_key_is_sent_and_shown_nowhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", SECRET)
    command = ("--api-key-env", "LAB_KEY", "--limit", "2", "-v")
    with chat_server(key=SECRET) as server:
        code, stdout, stderr = invoke(*run_command(server, *command))
        assert code == 0, stderr
        said = stdout + stderr
    monkeypatch.setenv("LAB_KEY", SECRET + "-wrong")
    with chat_server(key=SECRET) as server:
        code, stdout, stderr = invoke(*run_command(server, *command, "-o", "others"))
        assert code == 1
        said += stdout + stderr
    assert "Error: " in said
    files = [path.read_bytes() for path in here.rglob("*") if path.is_file()]
    assert SECRET not in said
    assert not any(SECRET.encode() in content for content in files)


def test_missing_answers_are_told_and_end_with_1(here: Path) -> None:
    with chat_server(answering({})) as server:
        code, stdout, stderr = invoke(*run_command(server, "--limit", "3"))
    assert (code, stdout) == (1, "")
    assert stderr.count("3 of 3 answers are missing") == 3
    assert "no recorded reply to these messages" in stderr


def test_a_dry_run_prints_the_exact_messages_and_asks_no_one(here: Path) -> None:
    code, stdout, _ = invoke(
        *("run", "--dataset", "financemath", "--data", "validation.json", "--model", "m"),
        *("--method", "cot,formulate-and-solve", "--dry-run"),
    )
    assert code == 0
    prompts = load_templates("financemath")
    problem = load_dataset("financemath", here / "validation.json").problems[0]
    for method in ("cot", "formulate-and-solve"):
        for message in prompts.render(method, problem):
            assert message["content"] in stdout
    assert not (here / "outputs").exists()
    assert "# financemath, validation-0, cot\n" in stdout
    assert "# financemath, validation-0, formulate-and-solve (" in stdout


def test_recorded_outputs_take_the_place_of_a_model(here: Path) -> None:
    with chat_server(answering(replies(here / "validation.json"))) as server:
        assert invoke(*run_command(server, "--limit", "5"))[0] == 0
    code, _, stderr = invoke(
        *("run", "--dataset", "financemath", "--data", "validation.json", "--model", "lab/made"),
        *("--method", "cot", "--replay", "outputs", "-o", "again", "--limit", "6"),
    )
    assert code == 1
    assert "1 of 6 answers are missing" in stderr
    again = sorted(read_records(here / "again"), key=lambda record: record.id)
    assert [record.output for record in again] == [text_of("cot", n) for n in range(5)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param(("--method", "tot"), "method tot: unknown for financemath", id="method"),
        pytest.param(("--data", "none.json"), "none.json: no such file", id="data"),
        pytest.param(("--dataset", "gsm9k"), "gsm9k", id="dataset"),
        pytest.param((), "--base-url: missing", id="no endpoint"),
        pytest.param(("--base-url", "ftp://x"), "--base-url ftp://x: no URL", id="no URL"),
        pytest.param(
            ("--base-url", "http://127.0.0.1:1", "--param", "x"), "KEY=VALUE was", id="parameter"
        ),
        pytest.param(("--replay", "none"), "none: no such file or folder", id="replay"),
        pytest.param(("--method", ","), "--method: none named", id="no method"),
    ],
)
def test_wrong_usage_is_one_line_and_ends_with_2(
    here: Path, more: Sequence[str], message: str
) -> None:
    command = {
        "--dataset": "financemath",
        "--data": "validation.json",
        "--model": "m",
        "--method": "cot",
    } | dict(zip(more[::2], more[1::2], strict=True))
    code, stdout, stderr = invoke("run", *(part for pair in command.items() for part in pair))
    assert (code, stdout) == (2, "")
    assert message in stderr
    assert stderr.count("\n") == 1 + stderr.count("Note: ")


def test_functions_return_the_rows_of_the_commands(here: Path) -> None:
    with chat_server(answering(replies(here / "validation.json"))) as server:
        frame = evalcore.run(
            dataset="financemath",
            data="validation.json",
            model="made",
            methods=["cot"],
            base_url=server.url,
            limit=4,
        )
        assert list(frame["output"]) == [text_of("cot", n) for n in range(4)]
        assert frame["prompt_tokens"].dtype == "Int64"
        with pytest.raises(IncompleteError, match="1 of 5 answers are missing") as caught:
            evalcore.run(
                dataset="financemath",
                data="validation.json",
                model="made",
                methods=["cot"],
                base_url="http://127.0.0.1:1/v1",
                limit=5,
            )
        assert len(caught.value.rows) == 4
    scores = evalcore.score("outputs", dataset="financemath", data="validation.json")
    assert list(scores["value"]) == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = evalcore.nothing


@pytest.mark.usefixtures("sandbox_here")
def test_scores_of_a_part_say_what_is_not_there(here: Path) -> None:
    with chat_server(answering(replies(here / "validation.json"))) as server:
        assert invoke(*run_command(server, "--limit", "5"))[0] == 0
    code, stdout, stderr = invoke(*SCORE, "-o", "scores.csv")
    assert (code, stdout) == (0, "")
    assert "financemath/lab/made/cot: no output for 195 of 200 problems" in stderr
    assert len(read_scores(here / "scores.csv")) == 15
    assert all(row.sandbox for row in read_scores(here / "scores.csv") if row.method == "pot")


# Judges


def judged_reply(messages: Sequence[Mapping[str, str]]) -> str:
    number = int(messages[1]["content"].split("SOLUTION of ")[1].split()[0])
    assert f"GUIDELINES of {number}" in messages[1]["content"]
    if number == 7:
        return "I like this proof."
    return f"Fine.\n<points>{(7, 6, 1, 0)[number % 4]} out of 7</points>"


def write_proofs(here: Path) -> None:
    write_proofbench(here)
    folder = here / "outputs/imo-proofbench/made"
    folder.mkdir(parents=True)
    records = [{"id": f"PB-Basic-{n:03}", "output": f"Proof {n}."} for n in range(60)]
    records[59] |= {"finish_reason": "length"}
    lines = (json.dumps(record) + "\n" for record in records)
    (folder / "f-1.jsonl").write_text("".join(lines))


JUDGE = (
    *("judge", "outputs", "--dataset", "imo-proofbench", "--data", "proofbench_v2.csv"),
    *("--judge", "judge-a", "--judge", "judge-b"),
)


def test_judges_are_asked_once_and_their_replies_kept(here: Path) -> None:
    write_proofs(here)
    with chat_server(judged_reply) as server:
        first = invoke(*JUDGE, "--base-url", server.url, "-o", "judged.jsonl")
        assert first[:2] == (0, "")
        asked = sum(server.seen.requests.values())
        assert asked == 2 * 59, "a cut output is not judged"
        second = invoke(*JUDGE, "--base-url", server.url, "--format", "jsonl")
        assert sum(server.seen.requests.values()) == asked
    for messages in (body["messages"] for body in server.seen.bodies):
        assert "f-1" not in json.dumps(messages)
    assert "judge:judge-a: 1 replies are not what was asked for" in first[2]
    rows = [json.loads(line) for line in (here / "judged.jsonl").read_text().splitlines()]
    assert [json.loads(line) for line in second[1].splitlines()] == rows
    by_id = {row["id"]: row for row in rows if row["rule"] == "judge:judge-a"}
    assert len(rows) == 120
    assert (by_id["PB-Basic-000"]["value"], by_id["PB-Basic-001"]["answer"]) == (1.0, "6")
    assert (by_id["PB-Basic-007"]["value"], by_id["PB-Basic-007"]["reply"]) == (
        None,
        "I like this proof.",
    )
    assert (by_id["PB-Basic-059"]["reply"], by_id["PB-Basic-059"]["reason"]) == (
        None,
        "cut at the token limit",
    )
    assert read_scores(here / "judged.jsonl")[0].rule == "judge:judge-a"


def test_what_a_judge_could_not_be_asked_is_missing_and_asked_later(here: Path) -> None:
    write_proofs(here)
    fails = Faults(error=1.0)
    with chat_server(judged_reply, Faults(refusal=0.2, seed=1)) as server:
        code, _, stderr = invoke(*JUDGE, "--base-url", server.url, "-o", "judged.jsonl")
        assert code == 1
        assert "judgements are missing (the judge refused" in stderr
        there = len((here / "judged.jsonl").read_text().splitlines())
        assert 60 < there < 120
        server.plan = Faults()
        asked = sum(server.seen.requests.values())
        assert invoke(*JUDGE, "--base-url", server.url, "-o", "judged.jsonl")[0] == 0
        assert sum(server.seen.requests.values()) - asked == 120 - there
    assert fails.error == 1.0


@pytest.mark.usefixtures("sandbox_here")
def test_causes_are_asked_of_wrong_answers_only(here: Path) -> None:
    with chat_server(answering(replies(here / "validation.json"))) as server:
        assert invoke(*run_command(server, "--limit", "6"))[0] == 0
    assert invoke(*SCORE, "-o", "scores.jsonl", "-q")[0] == 0
    command = (
        *("judge", "outputs", "--dataset", "financemath", "--data", "validation.json"),
        *("--method", "f-1", "--judge", "j", "--task", "failure-causes"),
    )
    with chat_server(lambda _: '{"cause": "A", "why": "wrong equation"}') as server:
        code, stdout, stderr = invoke(
            *command, "--scores", "scores.jsonl", "--base-url", server.url, "--format", "jsonl"
        )
        assert code == 0, stderr
        rows = [json.loads(line) for line in stdout.splitlines()]
        assert [row["id"] for row in rows] == [f"validation-{n}" for n in (1, 3, 5)]
        assert {row["answer"] for row in rows} == {"A"}
        code, _, stderr = invoke(*command, "--base-url", server.url)
        assert (code, stderr.startswith("Error: --scores: missing")) == (2, True)


def test_judging_from_python(here: Path) -> None:
    write_proofs(here)
    with chat_server(judged_reply) as server:
        frame = evalcore.judge(
            "outputs",
            judges="judge-a",
            dataset="imo-proofbench",
            data="proofbench_v2.csv",
            base_url=server.url,
        )
    assert len(frame) == 60
    assert frame["value"].isna().sum() == 2
    with pytest.raises(InputError, match="--base-url: missing"):
        evalcore.judge("outputs", judges="j", dataset="imo-proofbench", data="proofbench_v2.csv")


# Benchmarks


def test_benchmarks_are_listed_and_checked(here: Path) -> None:
    code, stdout, _ = invoke("datasets", "list", "--format", "jsonl")
    assert code == 0
    names = [json.loads(line)["name"] for line in stdout.splitlines()]
    assert names == sorted(names)
    code, stdout, stderr = invoke("datasets", "check", "--data", ".", "--format", "jsonl")
    assert (code, stderr) == (0, "")
    row = json.loads(stdout.splitlines()[0])
    assert (row["dataset"], row["problems"], row["subtasks"]) == ("financemath", 200, 2)
    assert row["fault"], "its hash is not that of the published file"
    code, _, stderr = invoke("datasets", "check", "aicrypto", "--data", ".")
    assert code == 1
    assert stderr.startswith("Error: ")
    (here / "empty").mkdir()
    code, _, stderr = invoke("datasets", "check", "--data", "empty")
    assert (code, "no benchmark there" in stderr) == (1, True)
    code, _, stderr = invoke("datasets", "fetch", "gsm9k")
    assert (code, "unknown benchmark" in stderr) == (2, True)


def test_a_judge_whose_reply_is_cut_is_asked_again(here: Path) -> None:
    write_proofs(here)
    with chat_server(judged_reply, Faults(length=1.0)) as server:
        code, _, stderr = invoke(*JUDGE, "--base-url", server.url, "-o", "judged.jsonl")
        assert code == 1
        assert "118 of 120 judgements are missing (the reply was cut at the token limit" in stderr
        server.plan = Faults()
        assert invoke(*JUDGE, "--base-url", server.url, "-o", "judged.jsonl")[0] == 0


def test_judges_that_nobody_answers_for_are_missing(here: Path) -> None:
    write_proofs(here)
    with chat_server(judged_reply, key=SECRET) as server:
        code, stdout, stderr = invoke(*JUDGE, "--base-url", server.url)
        assert code == 1
        assert "judgements are missing" in stderr
        assert stdout.count("judge:judge-") == 2, "outputs that are not judged have rows"
        with pytest.raises(IncompleteError, match="judgements are missing"):
            evalcore.judge(
                "outputs",
                judges=["judge-a"],
                dataset="imo-proofbench",
                data="proofbench_v2.csv",
                base_url=server.url,
                journal=here / "own.sqlite",
            )
    assert (here / "own.sqlite").exists()


def test_what_judges_said_is_summed_up_in_the_terminal(here: Path) -> None:
    write_proofs(here)
    with chat_server(judged_reply) as server:
        code, stdout, _ = invoke(*JUDGE, "--base-url", server.url)
    assert code == 0
    cells = [line.split() for line in stdout.splitlines()]
    expected = ["imo-proofbench", "made", "f-1", "judge:judge-a", "0:", "13,", "1:", "15,"]
    assert any(line[:8] == expected for line in cells), stdout


def test_a_task_that_judges_do_not_have_is_refused(here: Path) -> None:
    write_proofs(here)
    with pytest.raises(InputError, match="--task praise: one of grade, failure-causes"):
        evalcore.judge("outputs", judges="j", dataset="imo-proofbench", task=cast("Any", "praise"))


MATHS = (
    '{"id": 1, "subfield": "A", "context": null, "question": "2 + 3?", "solution": ["5"],'
    ' "final_answer": ["$5$"], "is_multiple_answer": false, "unit": null,'
    ' "answer_type": "Numerical", "error": null}\n'
)


def test_formulas_are_scored_drawn_and_a_grader_that_fails_is_an_error(here: Path) -> None:
    lines = [MATHS.replace('"id": 1', f'"id": {n}') for n in range(674)]
    (here / "OE_TO_maths_en_COMP.jsonl").write_text("".join(lines))
    folder = here / "outputs/olympiadbench-oe-maths/made"
    folder.mkdir(parents=True)
    hard = "\\\\boxed{" + "+".join(f"{n}^{{{n}}}" for n in range(900, 960)) + "}"
    outputs = ["\\\\boxed{10/2}", "\\\\boxed{6}", "Hm.", hard]
    text = "".join(f'{{"id": "{n}", "output": "{o}"}}\n' for n, o in enumerate(outputs))
    (folder / "cot.jsonl").write_text(text)
    command = ("score", "outputs", "--dataset", "olympiadbench-oe-maths", "--data", ".")
    code, stdout, stderr = invoke(*command, "--format", "jsonl", "--figure", "accuracy.svg")
    assert code == 0, stderr
    rows = [json.loads(line) for line in stdout.splitlines()]
    assert [row["value"] for row in rows] == [1.0, 0.0, 0.0, 0.0]
    assert rows[2]["reason"] == "no answer found"
    assert (here / "accuracy.svg").read_text().startswith("<?xml")
