"""What a newcomer to evalcore types first: each message is one line that leads on."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from ngramscan.remote.pace import Clock
from tests.support.cases import case_table
from tests.support.chat_server import chat_server
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


OWN = "--data questions.jsonl --rule numbers"


@pytest.mark.parametrize(
    ("outputs", "dataset"),
    [("outputs/mine", "mine"), ("mine.jsonl", "mine"), ("-", "standard input")],
    ids=["a folder", "a file", "standard input"],
)
def test_own_questions_answer_for_the_only_outputs_that_there_are(
    here: Path, outputs: str, dataset: str
) -> None:
    texts = [{"id": name, "output": "The answer is 1."} for name in ("q0", "q1")]
    write(here / "outputs/mine/m/cot.jsonl", jsonl(*texts))
    named = jsonl(*({**text, "model": "m", "method": "cot"} for text in texts))
    write(here / "mine.jsonl", named)
    line = f"score {outputs} {OWN} -o - --format jsonl"
    ran = invoke(*line.split(), content=named.encode())
    found = [json.loads(row) for row in ran.stdout.splitlines()]
    assert ran.code == 0
    assert [(row["dataset"], row["model"], row["method"], row["value"]) for row in found] == [
        (dataset, "m", "cot", 1),
        (dataset, "m", "cot", 0),
    ]


@pytest.mark.parametrize(
    ("outputs", "there"),
    [
        pytest.param("of-finance", "cot of financemath", id="a shipped benchmark"),
        pytest.param("outputs", "cot of more, cot of", id="several"),
    ],
)
def test_own_questions_answer_for_neither_a_benchmark_nor_several(
    here: Path, outputs: str, there: str
) -> None:
    write(here / "outputs/more/m/cot.jsonl", jsonl({"id": "q0", "output": "1"}))
    columns = "--id-field key --question-field problem"
    ran = evalcore(f"score {outputs} --data other.jsonl {columns}")
    message = f"Error: {outputs}: no outputs of other in it; it has {there}"
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(message)


def figures_in(screen: str) -> list[str]:
    """Return the lines of a screen that have intervals, with single blanks."""
    return [" ".join(line.split()) for line in screen.splitlines() if "[" in line]


@pytest.mark.usefixtures("here")
def test_scores_on_the_terminal_end_with_a_summary() -> None:
    figures = figures_in(evalcore(f"score outputs {OWN}").stdout)
    assert [line.split("[")[0].split()[-1] for line in figures] == ["75.0", "50.0"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("more", ["-o scores.jsonl", "-o scores.csv", "--format jsonl"])
def test_scores_in_a_file_or_pipe_end_with_the_summary_of_the_terminal(more: str) -> None:
    figures = figures_in(evalcore(f"score outputs {OWN}").stdout)
    ran = evalcore(f"score outputs {OWN} {more}")
    assert figures_in(ran.stderr) == figures
    models = [json.loads(row)["model"] for row in ran.stdout.splitlines()]
    assert models == ([*"mmmmnnnn"] if more == "--format jsonl" else [])
    quiet = evalcore(f"score outputs {OWN} {more} -q")
    assert (quiet.code, quiet.stderr) == (0, "")


@pytest.mark.usefixtures("here")
def test_scores_that_are_read_again_have_the_same_summary() -> None:
    table = evalcore(f"score outputs {OWN}").stdout
    evalcore(f"score outputs {OWN} -o scores.jsonl")
    assert evalcore("logs scores.jsonl").stdout == table
    assert "75.0" in evalcore("logs scores.jsonl -o again.jsonl").stderr


RUN = "run --data questions.jsonl --model m --method cot -o kept"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("key", "told"),
    [
        pytest.param("sk-made-up", "put the key into OPENAI_API_KEY", id="refused"),
        pytest.param("", "no connection", id="not there"),
    ],
)
def test_an_endpoint_that_fails_is_one_line_and_what_was_done_is_kept(
    here: Path, key: str, told: str
) -> None:
    with chat_server(key=key) as server:
        url = server.url if key else "http://127.0.0.1:1/v1"
        ran = evalcore(f"{RUN} --limit 1 --base-url {url}")
    (error,) = [line for line in ran.stderr.splitlines() if line.startswith("Error: ")]
    assert ran.code == 1
    assert "1 of 1 answers are missing" in error
    assert told in error
    assert "run again to request only these" in error
    with chat_server() as server:
        done = [evalcore(f"{RUN} --limit {n} --base-url {server.url}").code for n in (1, 2)]
        assert (done, server.seen.requests.total()) == ([0, 0], 2)
    assert len((here / "kept/questions/m/cot.jsonl").read_text().splitlines()) == 2


@pytest.mark.usefixtures("here")
def test_judges_whose_every_reply_is_unusable_end_with_1() -> None:
    line = "judge proofs --dataset imo-proofbench --data . --judge j,k --journal replies"
    with chat_server(lambda _: "Fine proof.") as server:
        ran = evalcore(f"{line} --base-url {server.url} --format jsonl")
    rows = [json.loads(row) for row in ran.stdout.splitlines()]
    assert [(row["rule"], row["status"]) for row in rows] == [
        ("judge:j", "unknown"),
        ("judge:k", "unknown"),
    ]
    unusable = "unusable reply: no <points>N out of 7</points> in the reply"
    errors = [line for line in ran.stderr.splitlines() if line.startswith("Error: ")]
    assert ran.code == 1
    assert errors == [
        f"Error: judge:{name}: 1 of 1 replies have no value; {unusable}" for name in ("j", "k")
    ]
