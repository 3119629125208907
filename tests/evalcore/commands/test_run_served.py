"""`evalcore run` against a server on loopback: faults, kills, and what is asked again."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalcore.benchmarks import find_benchmark, load_dataset
from evalcore.prompts import load_templates
from evalcore.records import read_records
from tests.support.chat_server import Faults, Messages, chat_server
from tests.support.command import invoke_ending, json_rows
from tests.support.finance_run import FINANCE, METHODS, answering, run_command
from tests.support.outputs import write_lines

SCORE = ("score", "outputs", *FINANCE)


@pytest.mark.usefixtures("sandbox_here")
def test_a_benchmark_is_run_and_scored_although_the_server_fails(working_folder: Path) -> None:
    faults = Faults(too_many=0.1, error=0.05, malformed=0.05, seed=3)
    with chat_server(answering(working_folder), faults) as server:
        assert invoke_ending(0, *run_command(server, "--limit", "60")).stdout == ""
        assert set(server.seen.faults) == {"too_many", "error", "malformed"}
        server.plan, before = Faults(), server.seen.requests.total()
        again = invoke_ending(0, *run_command(server, "--limit", "60"))
        assert again.stderr.count("0 answered, 60 already answered of 60") == 3
        assert server.seen.requests.total() == before
    folder = working_folder / "outputs/financemath/lab--made"
    records = {method: read_records(folder / f"{method}.jsonl") for method in METHODS}
    assert {
        method: sorted(int(record.id.split("-")[1]) for record in of_method)
        for method, of_method in records.items()
    } == {method: list(range(60)) for method in METHODS}
    asked = (*SCORE, "--rule", "strict", "--rule", "lenient", "--format", "jsonl")
    rows = json_rows(invoke_ending(0, *asked).stdout)
    assert len(rows) == 3 * 60 * 2
    assert {row["model"] for row in rows} == {"lab/made"}
    assert all(row["answer"] is not None for row in rows)
    assert {row["method"] for row in rows if row["sandbox"]} == {"pot"}
    strict = [row for row in rows if row["rule"] == "strict"]
    wrong = [row for row in strict if row["value"] != (int(row["id"].split("-")[1]) % 2 == 0)]
    assert wrong == []
    shown = invoke_ending(0, *SCORE, "--figure", "accuracy.svg")
    accurate = re.findall(r"(\S+) +(?:strict +)?60 +50.0 ", shown.stdout)
    assert sorted({*accurate} & {*METHODS}) == sorted(METHODS), shown.stdout
    incomplete = re.findall(
        r"financemath/lab/made/(\S+): no output for 140 of 200 problems", shown.stderr
    )
    assert sorted(incomplete) == sorted(METHODS)
    assert (working_folder / "accuracy.svg").read_text().startswith("<?xml")


def test_a_killed_run_goes_on_where_it_was(working_folder: Path) -> None:
    known = answering(working_folder)

    def answer_slowly(messages: Messages) -> str | None:
        time.sleep(0.005)
        return known(messages)

    with chat_server(answer_slowly) as server:
        command = [sys.executable, "-m", "evalcore", *run_command(server, "--concurrency", "4")]
        answered = server.seen.answered
        for _ in range(3):
            before = answered.total()
            with subprocess.Popen(command, cwd=working_folder) as process:
                try:
                    while answered.total() < before + 100 and process.poll() is None:
                        time.sleep(0.01)
                finally:
                    process.kill()
            assert process.returncode < 0, "it ended before it was killed"
        invoke_ending(0, *run_command(server))
        assert len(answered) == 600
        assert answered.total() <= 600 + 3 * 4, "only what was under way is asked again"
    assert len(read_records(working_folder / "outputs")) == 600


@pytest.mark.parametrize(
    ("method", "remark"),
    [
        pytest.param("cot", "", id="printed in the paper"),
        pytest.param(
            "formulate-and-solve",
            " (The paper prints no prompt; this one follows its description.)",
            id="described in the paper",
        ),
    ],
)
def test_a_dry_run_prints_the_exact_messages_and_asks_no_one(
    working_folder: Path, method: str, remark: str
) -> None:
    options = ("--model", "m", "--method", "cot,formulate-and-solve", "--dry-run")
    stdout = invoke_ending(0, "run", *FINANCE, *options).stdout
    assert not (working_folder / "outputs").exists()
    benchmark = find_benchmark("financemath")
    prompts = load_templates(benchmark)
    problem = load_dataset(benchmark, working_folder).problems[0]
    shown = [
        f"[{message['role']}]\n{message['content']}\n"
        for message in prompts.render(method, problem)
    ]
    assert "\n".join([f"# financemath, validation-0, {method}{remark}", *shown]) in stdout


def test_the_messages_of_a_dry_run_are_rows(working_folder: Path) -> None:
    told = ("--model", "m", "--method", "cot", "--limit", "1", "--dry-run", "--format", "jsonl")
    rows = json_rows(invoke_ending(0, "run", *FINANCE, *told).stdout)
    benchmark = find_benchmark("financemath")
    problem = load_dataset(benchmark, working_folder).problems[0]
    messages = load_templates(benchmark).render("cot", problem)
    about = {"dataset": "financemath", "id": "validation-0", "method": "cot"}
    assert rows == [{**about, **message} for message in messages]


OWN = ("run", "--data", "questions.jsonl", "--model", "m", "--method", "cot", "-o", "kept")


@pytest.mark.parametrize(
    ("key", "cure"),
    [
        pytest.param("", "no connection", id="no server"),
        pytest.param(
            "sk-made-up",
            "put the key into OPENAI_API_KEY, or name its variable",
            id="the key is missing",
        ),
    ],
)
def test_what_an_endpoint_refused_is_one_line_and_asked_later(
    working_folder: Path, key: str, cure: str
) -> None:
    questions = [{"id": f"q{n}", "question": f"{n} + 1?", "answer": str(n + 1)} for n in range(2)]
    write_lines(working_folder / "questions.jsonl", *questions)
    with chat_server(key=key) as server:
        url = server.url if key else "http://127.0.0.1:1/v1"
        ran = invoke_ending(1, *OWN, "--limit", "1", "--base-url", url)
    [error] = [line for line in ran.stderr.splitlines() if line.startswith("Error: ")]
    assert "1 of 1 answers are missing" in error
    assert cure in error
    assert "run again to request only these" in error
    with chat_server() as server:
        for limit in ("1", "2"):
            invoke_ending(0, *OWN, "--limit", limit, "--base-url", server.url)
        assert server.seen.requests.total() == 2
    assert (working_folder / "kept/questions/m/cot.jsonl").read_text().count("\n") == 2
