"""What a newcomer to evalcore types first: each message is one line that leads on."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from evalcore import score as to_scores
from ngramscan.remote.pace import Clock
from tests.support.chat_server import chat_server
from tests.support.command import Ran, invoke
from tests.support.made_benchmarks import write, write_financemath, write_proofbench

QUESTIONS = [{"id": f"q{n}", "question": f"{n} + 1?", "answer": str(n + 1)} for n in range(4)]
OWN = "--data questions.jsonl"
RUN = f"run {OWN} --model m --method cot --limit 1"
WRONG_URLS = [
    "localhost:8000/v1",
    "http:///v1",
    "http://[::1]x/v1",
    "http://xn--/",
    "http://h:99999",
]
URL = "--base-url: not a URL; http://HOST:PORT/v1 or https://"


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


HINTS = [
    ("score outputs --dataset financemth", "unknown benchmark; .*; did you mean financemath\\?"),
    ("score outputs --dataset zzz", "unknown benchmark; .*--data FILE .*known: aicrypto, "),
    (f"score outputs {OWN} --rule nubmers", "--rule nubmers: .*did you mean numbers\\?"),
    (f"score outputs {OWN} --extraction boxd/1", "did you mean boxed/1\\?"),
    (f"score outputs {OWN} --method ctt", "no outputs of ctt .* in it; it has cot of questions"),
    ("score outputs --data other.jsonl", "no column id, question; the columns are key, problem, "),
    ("score outputs --data other.jsonl", "name the column with --id-field, --question-field"),
    ("score outputs", "outputs: it has outputs of questions; add --data FILE, the file with the q"),
    ("score of-finance", "of-finance: it has outputs of financemath; add --dataset financemath"),
    ("judge outputs --judge j", "it has outputs of questions; add --data FILE"),
    (f"score empty {OWN}", "empty: no outputs in it; `evalcore run -o FOLDER` writes them"),
    (f"score nowhere {OWN}", "nowhere: no such file or folder"),
    (f"score theirs {OWN}", "no .jsonl files in it; another --layout may fit gpt.json"),
    (
        f"score outputs {OWN} --layout bbh",
        "no .json files in it; another --layout may fit cot.jsonl",
    ),
    ("judge outputs --dataset financemath --data . --judge j", "use `evalcore score`"),
    ("datasets fetch financemth", "did you mean financemath\\?"),
    (RUN, "--base-url: missing; http://HOST:PORT/v1 or https://"),
    (f"run {OWN} --method cot", "Missing option '--model'"),
    (RUN.replace("cot", "ctt"), "--method ctt: .*did you mean cot\\?"),
    (RUN.replace("cot", ","), "--method: missing"),
    (RUN.replace(OWN, "--dataset gsm8k --data validation.json"), "gsm8k is not a shipped bench"),
    *((f"{RUN} --base-url {url}", URL) for url in WRONG_URLS),
    ("logs outputs", "outputs of models; `evalcore score` reads them; expected a log"),
    ("logs empty", "empty: no logs in it; expected"),
    ("logs cut.eval", "cut.eval: not a .eval file of Inspect, or truncated; copy it again"),
]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("line", "hint"), HINTS)
def test_wrong_usage_ends_with_2_and_says_what_to_do(line: str, hint: str) -> None:
    ran = evalcore(line)
    *usage, message = ran.stderr.splitlines()
    assert (ran.code, ran.stdout) == (2, "")
    assert message.startswith("Error: ")
    assert all(part.startswith(("Usage: ", "Try ", "Note: ")) or not part for part in usage)
    assert re.search(hint, message), message


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("key", ["", "sk-made-up"])
def test_an_endpoint_that_refuses_or_is_not_there_is_one_line_and_what_was_done_is_kept(
    here: Path, key: str
) -> None:
    with chat_server(key=key) as server:
        url = server.url if key else "http://127.0.0.1:1/v1"
        ran = evalcore(f"{RUN} --base-url {url} -o kept")
    told = "put the key into OPENAI_API_KEY, or name its variable" if key else "no connection"
    [error] = [line for line in ran.stderr.splitlines() if line.startswith("Error: ")]
    assert (ran.code, "1 of 1 answers are missing" in error, told in error) == (1, True, True)
    assert "run again to ask only these" in error
    with chat_server() as server:
        assert evalcore(f"{RUN} --base-url {server.url} -o kept").code == 0
        assert evalcore(f"{RUN.replace('1', '2')} --base-url {server.url} -o kept").code == 0
        assert server.seen.requests.total() == 2
    assert (here / "kept/questions/m/cot.jsonl").read_text().count("\n") == 2


@pytest.mark.usefixtures("here")
def test_a_judge_whose_every_reply_is_unusable_ends_with_1() -> None:
    line = "judge proofs --dataset imo-proofbench --data . --judge j,k --journal replies --base-url"
    with chat_server(lambda _: "Fine proof.") as server:
        ran = evalcore(f"{line} {server.url} --format jsonl")
    rows = [json.loads(row) for row in ran.stdout.splitlines()]
    assert [(row["rule"], row["status"]) for row in rows] == [
        ("judge:j", "unknown"),
        ("judge:k", "unknown"),
    ]
    told = (
        "1 of 1 replies have no value; unusable reply: no <points>N out of 7</points> in the reply"
    )
    assert (ran.code, ran.stderr) == (1, f"Error: judge:j: {told}\nError: judge:k: {told}\n")


def test_scores_in_a_file_or_pipe_end_with_the_summary_that_the_terminal_shows(here: Path) -> None:
    line = f"score outputs {OWN} --rule numbers"
    table = evalcore(line).stdout
    figures = [" ".join(row.split()) for row in table.splitlines() if "[" in row]
    assert [row.split("[")[0].split()[-1] for row in figures] == ["75.0", "50.0"]
    for more in ("-o scores.jsonl", "--format jsonl", "-o scores.csv"):
        ran = evalcore(f"{line} {more}")
        lines = [" ".join(row.split()) for row in ran.stderr.splitlines()]
        assert [row for row in lines if "[" in row] == figures
        assert evalcore(f"{line} {more} -q").stderr == ""
        assert [json.loads(row)["model"] for row in ran.stdout.splitlines()] in (
            [],
            list("mmmmnnnn"),
        )
    assert len((here / "scores.jsonl").read_text().splitlines()) == 8
    assert "75.0" in evalcore("logs scores.jsonl -o again.jsonl").stderr
    assert evalcore("logs scores.jsonl").stdout == table


@pytest.mark.parametrize("outputs", ["outputs/mine", "mine.jsonl", "-"])
def test_own_questions_answer_for_the_only_outputs_that_there_are(
    here: Path, outputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {} if outputs == "outputs/mine" else {"model": "m", "method": "cot"}
    lines = jsonl(*({"id": id_, "output": "The answer is 1.", **named} for id_ in ("q0", "q1")))
    write(here / "outputs/mine/m/cot.jsonl", lines)
    write(here / "mine.jsonl", lines)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    found = to_scores(outputs, data="questions.jsonl", rule="numbers")
    own = "standard input" if outputs == "-" else "mine"
    names = [found[name].unique().tolist() for name in ("dataset", "model", "method")]
    assert (names, found["value"].tolist()) == ([[own], ["m"], ["cot"]], [1, 0])
    ran = evalcore(f"score outputs/mine {OWN} --rule numbers -o - --format jsonl")
    assert (ran.code, [json.loads(row)["value"] for row in ran.stdout.splitlines()]) == (0, [1, 0])


def test_own_questions_never_answer_for_a_shipped_benchmark_or_for_several(here: Path) -> None:
    write(here / "outputs/more/m/cot.jsonl", jsonl({"id": "q0", "output": "1"}))
    own = "--data other.jsonl --id-field key --question-field problem"
    for outputs, there in (
        ("of-finance", "cot of financemath"),
        ("outputs", "cot of more, cot of"),
    ):
        ran = evalcore(f"score {outputs} {own}")
        message = f"Error: {outputs}: no outputs of other in it; it has {there}"
        assert (ran.code, ran.stderr[: len(message)]) == (2, message)
