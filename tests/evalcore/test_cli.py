"""The commands of evalcore as a person runs them, against a server on loopback."""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalcore
from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.prompts import load_templates
from ngramscan.errors import IncompleteError
from ngramscan.remote.pace import Clock
from tests.support import command
from tests.support.chat_server import Answer, ChatServer, Faults, Messages, chat_server, hash_of
from tests.support.made_benchmarks import write, write_financemath, write_proofbench

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


def answering(data: Path) -> Answer:
    """Answer what is asked in the exact messages of a method, and nothing else."""
    benchmark = find_benchmark("financemath")
    dataset, prompts = load_dataset(benchmark, data), load_templates(benchmark)
    known = {
        hash_of(prompts.render(method, problem)): text_of(method, number)
        for number, problem in enumerate(dataset.problems)
        for method in METHODS
    }

    return lambda messages: known.get(hash_of(messages))


def run_command(server: ChatServer, *more: str) -> list[str]:
    model = ("--model", "lab/made", "--method", ",".join(METHODS))
    return ["run", *FINANCE, *model, "--base-url", server.url, "-o", "outputs", *more]


def test_a_key_is_sent_and_shown_nowhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ""
    monkeypatch.setitem(sys.modules, "math_verify", None)
    for code, key, folder in ((0, SECRET, "right"), (1, f"{SECRET}-wrong", "wrong")):
        monkeypatch.setenv("LAB_KEY", key)
        with chat_server(key=SECRET) as server:
            command = ("--api-key-env", "LAB_KEY", "--limit", "2", "-v", "-o", folder)
            said += "".join(invoke(*run_command(server, *command), code=code))
    assert ("Error: " in said, SECRET in said) == (True, False)
    assert said.count("Note: to score the outputs, pip install 'ngramscan[eval]'") == 2
    files = [path.read_bytes() for path in here.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in files)


def test_functions_return_the_rows_of_the_commands(here: Path, subtests: pytest.Subtests) -> None:
    finance: dict[str, Any] = {"dataset": "financemath", "data": "validation.json"}
    given = {**finance, "model": "lab/made", "methods": ["cot"], "limit": 4}
    with chat_server(answering(here)) as server:
        frame = evalcore.run(**given, base_url=server.url)
        assert list(frame["output"]) == [text_of("cot", n) for n in range(4)]
        assert frame["prompt_tokens"].dtype == "Int64"
    for where in ({"base_url": "http://127.0.0.1:1/v1"}, {"replay": "outputs", "output": "again"}):
        with subtests.test(where=where):
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


@pytest.mark.parametrize(
    ("faults", "key", "reason"),
    [
        ({"refusal": 0.2, "seed": 1}, "", "(the judge refused"),
        ({"length": 1.0}, "", "118 of 120 judgements are missing (the reply was cut at the"),
        ({}, "sk-made-up-1234567890", "118 of 120 judgements are missing (http://127.0.0.1"),
    ],
)
def test_what_no_judge_said_is_asked_later(
    proofs: Path, faults: dict[str, Any], key: str, reason: str
) -> None:
    with chat_server(judged_reply, Faults(**faults), key) as server:
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


def test_shares_of_a_sample_are_weighted_back_to_all_outputs(
    proofs: Path, subtests: pytest.Subtests
) -> None:
    few = [{"id": f"PB-Basic-{n:03}", "output": f"Proof {n}."} for n in (0, 1, 4, 7)]
    lines = "".join(json.dumps(record) + "\n" for record in few)
    write(proofs / "outputs/imo-proofbench/made/cot.jsonl", lines)
    with chat_server(judged_reply) as server:
        sampled = (*JUDGE, server.url, "--sample", "10", "-o", "judged.csv")
        _, stderr = invoke(*sampled, "--shares", "shares.csv")
        assert "14 of 63 outputs drawn from 2 strata (dataset, model, method), seed 1" in stderr
        asked = server.seen.requests.total()
        screen = invoke(*sampled[:-2])[0]
        assert asked == server.seen.requests.total() <= 28  # both methods may have one text
        judged, shares = pd.read_csv("judged.csv"), pd.read_csv("shares.csv")
        of_a = judged[judged.rule == "judge:judge-a"]
        assert of_a.groupby("method").weight.sum().to_dict() == {"f-1": 59, "cot": 4}
        assert of_a.groupby("method").size().to_dict() == {"f-1": 10, "cot": 4}
        told = of_a.fillna({"answer": -1}).groupby("answer").weight.agg(["size", "sum"])
        found = shares[shares.rule == "judge:judge-a"].fillna({"label": -1}).set_index("label")
        assert found["count"].to_dict() == told["size"].to_dict()
        assert found.share.to_dict() == pytest.approx((told["sum"] / 63).to_dict())
        shown = screen.partition("Shares of labels in all 63 outputs\n")[2].splitlines()[2:7]
        assert [row.split()[3] for row in shown] == [f"{100 * one:.1f}" for one in found.share]
        assert [*found.population.unique(), *found.strata.unique()] == [63, 2]
        assert ((found.share_low < found.share) & (found.share < found.share_high)).all()
        ids = set(of_a.id[of_a.method == "f-1"])
        for further, n, common in ((("--sample", "20"), 24, 10), (("--seed", "2"), 14, 1)):
            with subtests.test(further=further):
                frame = json_rows(invoke(*sampled[:-2], *further, "--format", "jsonl")[0])
                drawn = {(row["method"], row["id"]) for row in frame}
                assert (len(drawn), len({("f-1", id_) for id_ in ids} & drawn) >= common) == (
                    n,
                    True,
                )
                assert ({("f-1", id_) for id_ in ids} <= drawn) == (common == 10)
    for options, said in ((("--per", "model"), "--sample N"), (("--sample", "1"), "did you mean")):
        with subtests.test(options=options):
            problem = invoke(*JUDGE, "http://localhost:1", *options, "--per", "modle", code=2)[1]
            assert re.match(f"Error: --per.*{said}", problem)


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
