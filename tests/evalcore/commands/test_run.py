"""What a run asks, keeps and tells."""

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import pytest

from evalcore.benchmarks import benchmarks
from evalcore.commands.run import Spending, ask_missing, compares_formulas, replay_from
from evalcore.endpoint import ApiKey, Ask, PromptRequest, open_endpoint
from evalcore.records import Record, read_records
from ngramscan.errors import InputError, RemoteRefused
from ngramscan.progress import SILENT, Progress
from tests.support.chat_server import Messages, chat_server, hash_of
from tests.support.command import invoke, json_rows
from tests.support.made_records import recorded

ANSWER: Any = {"output": "4", "attempts": 1, "prompt_tokens": 10, "completion_tokens": 5}


class Made:
    """A model that answers at once, with these fields of a record or errors for these problems."""

    def __init__(self, **answers: dict[str, Any] | Exception) -> None:
        self.asked: list[tuple[str, int | None]] = []
        self._answers = answers

    def __call__(self, question: PromptRequest) -> Record:
        self.asked.append(question.record.key)
        answer = self._answers.get(question.record.id, {})
        if isinstance(answer, Exception):
            raise answer
        return replace(question.record, **ANSWER | answer)


def messages(method: str, number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"{method}: what is {number} + 1?"}]


def run(ask: Ask, folder: Path, count: int = 3, epochs: int = 1, **changes: Any) -> tuple[str, str]:
    """Put so many problems to a model; return what was done and what is missing, with no path."""
    usage, size = changes.pop("usage", Spending()), changes.pop("size", 16)
    progress, method = changes.pop("progress", SILENT), changes.get("method", "cot")
    known: dict[str, Any] = {"dataset": "sums", "model": "lab/made-1", "method": method}
    known |= {"prompts_sha256": "e" * 64, "parameters": {"temperature": 0}, "output": None}
    questions = []
    for epoch, n in product(range(1, epochs + 1) if epochs > 1 else [None], range(count)):
        asked = messages(method, n)
        fields = known | {"messages_sha256": hash_of(asked)} | changes
        questions.append(PromptRequest(Record(id=f"p-{n}", epoch=epoch, **fields), asked))
    path = folder / f"{method}.jsonl"
    said, missing = ask_missing(ask, path, questions, usage, size, progress)
    return said.removeprefix(f"{path}: "), missing.removeprefix(f"{path}: ")


def test_every_problem_is_recorded_with_all_that_is_known(tmp_path: Path) -> None:
    assert run(Made(), tmp_path) == ("3 answered of 3", "")
    records = sorted(read_records(tmp_path / "cot.jsonl"), key=lambda record: record.id)
    assert records == [
        Record(
            id=f"p-{n}",
            dataset="sums",
            model="lab/made-1",
            method="cot",
            messages_sha256=hash_of(messages("cot", n)),
            prompts_sha256="e" * 64,
            parameters={"temperature": 0},
            **ANSWER,
        )
        for n in range(3)
    ]


@pytest.mark.parametrize(
    ("count", "said", "asked"),
    [
        pytest.param(3, "0 answered, 3 already answered of 3", [], id="the same"),
        pytest.param(2, "0 answered, 2 already answered of 2", [], id="fewer"),
        pytest.param(
            5,
            "2 answered, 3 already answered of 5",
            [("p-3", None), ("p-4", None)],
            id="more problems",
        ),
    ],
)
def test_what_is_recorded_is_not_asked_again(
    tmp_path: Path, count: int, said: str, asked: list[tuple[str, int | None]]
) -> None:
    run(Made(), tmp_path, 3)
    model = Made()
    assert run(model, tmp_path, count) == (said, "")
    assert sorted(model.asked) == asked
    assert len(read_records(tmp_path / "cot.jsonl")) == max(3, count)


def test_of_more_epochs_only_the_further_ones_are_asked(tmp_path: Path) -> None:
    assert run(Made(), tmp_path, 2, epochs=3) == ("6 answered of 6", "")
    model = Made()
    assert run(model, tmp_path, 2, epochs=4)[0] == "2 answered, 6 already answered of 8"
    assert sorted(model.asked) == [("p-0", 4), ("p-1", 4)]


def test_refused_and_cut_answers_are_kept(tmp_path: Path) -> None:
    refused: dict[str, Any] = {"output": None, "refusal": "I can't."}
    model = Made(**{"p-0": refused, "p-1": {"finish_reason": "length"}})
    assert run(model, tmp_path) == ("3 answered, 1 refused, 1 cut at the token limit of 3", "")
    reasons = {record.id: record.not_scorable for record in read_records(tmp_path / "cot.jsonl")}
    assert reasons == {"p-0": "refused: I can't.", "p-1": "cut at the token limit", "p-2": None}
    assert run(Made(), tmp_path)[0] == "0 answered, 3 already answered of 3"


def test_requests_that_failed_are_counted_and_asked_again(tmp_path: Path) -> None:
    failures = {f"p-{number}": RemoteRefused(f"reason {number // 2}") for number in range(9)}
    said, missing = run(Made(**failures), tmp_path, 10)
    counted = "2 × reason 0; 2 × reason 1; 2 × reason 2; 2 other reasons"
    assert said == "1 answered of 10"
    assert missing == f"9 of 10 answers are missing ({counted}); run again to request only these"
    model = Made()
    assert run(model, tmp_path, 10)[1] == ""
    assert sorted(id_ for id_, _ in model.asked) == sorted(failures)


def test_ctrl_c_ends_at_once_and_keeps_what_was_written(tmp_path: Path) -> None:
    file, may_end = tmp_path / "cot.jsonl", threading.Event()

    def answer(asked: Messages) -> str:
        if " 1 " in asked[-1]["content"]:
            may_end.wait(60)
        return "4"

    def interrupt() -> None:
        until = time.monotonic() + 60
        while not (file.exists() and file.read_bytes().count(b"\n") == 19):
            if time.monotonic() > until:
                break
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with chat_server(answer) as server, open_endpoint(server.url, ApiKey()) as ask:
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            with pytest.raises(KeyboardInterrupt):
                run(ask, tmp_path, 20)
            assert not may_end.is_set(), "it did not wait for the stalled answer"
        finally:
            may_end.set()
    assert len(read_records(file)) == 19


@pytest.mark.parametrize(
    ("first", "then", "problem"),
    [
        pytest.param(
            {}, {"model": "lab--made-1"}, "of sums, lab/made-1, cot;", id="of another model"
        ),
        pytest.param(
            {}, {"parameters": {}}, "under other .* \\(id 'p-0': {'temp", id="of other parameters"
        ),
        pytest.param({}, {"epochs": 2}, "of one epoch;", id="of several epochs"),
        pytest.param({"epochs": 2}, {}, "of several epochs;", id="of one epoch"),
        pytest.param(
            {},
            {"messages_sha256": "0" * 64},
            "to other prompts \\(id 'p-0'\\);",
            id="to other prompts",
        ),
    ],
)
def test_answers_to_something_else_are_refused_before_anything_is_asked(
    tmp_path: Path, first: dict[str, Any], then: dict[str, Any], problem: str
) -> None:
    file = tmp_path / "cot.jsonl"
    run(Made(), tmp_path, size=1, **first)
    content, model = file.read_bytes(), Made()
    with pytest.raises(InputError, match=f"contains answers {problem}.* choose another --output"):
        run(model, tmp_path, **then)
    assert (model.asked, file.read_bytes()) == ([], content)


def test_a_file_that_answers_a_problem_twice_is_refused_unasked(tmp_path: Path) -> None:
    file, model = tmp_path / "cot.jsonl", Made()
    run(Made(), tmp_path, size=1)
    file.write_bytes(file.read_bytes() * 2)
    with pytest.raises(InputError, match="'p-0' twice"):
        run(model, tmp_path)
    assert model.asked == []


def test_cost_is_told_and_a_budget_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = Spending(token_budget=100)
    assert run(Made(), tmp_path, 5, usage=usage, size=1)[1] == ""
    said, missing = run(Made(), tmp_path, 5, usage=usage, size=1, method="pot")
    assert said == "2 answered of 5"  # 15 tokens each: 105 after seven
    assert "3 of 5 answers are missing (3 × the token budget of 100 is used up)" in missing
    uncounted = Made(**{"p-0": {"completion_tokens": None}})
    said, missing = run(uncounted, tmp_path, 5, usage=Spending(100), size=1, method="f-1")
    assert said == "1 answered of 5"
    assert "(4 × the server does not count tokens, so --token-budget can't be kept)" in missing
    monkeypatch.setattr(sys.modules["evalcore.commands.run"], "_NOTE_EVERY_S", 0.0)
    progress, usage = create_autospec(Progress), Spending(price_in=1e5, price_out=1e7)
    model = Made(**{"p-1": {"prompt_tokens": 5000, "completion_tokens": None}})
    run(model, tmp_path, 2, usage=usage, progress=progress, size=1, method="f-2")
    second = "5,010 prompt and 5 completion tokens, cost 551.00; without those of 1 answers,"
    second += " which are unknown"
    noted = [call.args[0] for call in progress.note.call_args_list]
    assert noted == ["10 prompt and 5 completion tokens, cost 51.00", second, ""]
    assert str(Spending(price_in=3.0)) == "0 prompt and 0 completion tokens"


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        pytest.param({"finish_reason": "stop"}, "", id="a complete answer"),
        pytest.param({"finish_reason": "length"}, "1 cut at the token limit", id="length"),
        pytest.param({"finish_reason": "MAX_TOKENS"}, "1 cut at the token limit", id="MAX_TOKENS"),
        pytest.param(
            {"finish_reason": "model_length"}, "1 cut at the model's context limit", id="context"
        ),
        pytest.param({"refusal": "No.", "finish_reason": "length"}, "1 refused", id="a refusal"),
        pytest.param({"finish_reason": "SAFETY"}, "1 refused", id="a filter"),
        pytest.param({"finish_reason": "odd"}, "1 cut for an unknown reason", id="another word"),
    ],
)
def test_answers_that_ended_early_are_counted_by_their_reason(
    tmp_path: Path, answer: dict[str, Any], counted: str
) -> None:
    said, missing = run(Made(**{"p-0": answer}), tmp_path, 2)
    assert said == ", ".join(filter(None, ["2 answered", counted])) + " of 2"
    assert missing == ""


def test_recorded_outputs_answer_in_the_place_of_a_model(tmp_path: Path) -> None:
    file = tmp_path / "recorded" / "sums" / "lab--made-1" / "cot.jsonl"
    file.parent.mkdir(parents=True)
    first = {"messages_sha256": hash_of(messages("cot", 0)), "attempts": None}
    file.write_bytes(
        recorded(id="p-0", output="4", **first).line()
        + recorded(id="p-1", epoch=None, output=None, refusal="No.").line()
        + recorded(id="p-2", messages_sha256="0" * 64).line()
    )
    replayed = replay_from(tmp_path / "recorded", "lab--made-1")
    said, missing = run(replayed, tmp_path, 4, parameters={"replayed": True})
    assert "cot, p-0, epoch 2" in run(replayed, tmp_path / "new", 1, epochs=2)[1]
    assert said == "2 answered, 1 refused of 4"
    assert "recorded output of sums, cot, p-2 answers other messages" in missing
    assert "no recorded output of sums, cot, p-3" in missing
    one, two = sorted(read_records(tmp_path / "cot.jsonl"), key=lambda record: record.id)
    assert (one.output, one.attempts, one.prompts_sha256) == ("4", 1, "e" * 64)
    assert (two.refusal, two.parameters) == ("No.", {"replayed": True})
    with pytest.raises(InputError, match="no recorded outputs of 'made-2' in it"):
        replay_from(tmp_path / "recorded", "made-2")


def test_a_budget_that_is_used_up_exactly_is_used_up(tmp_path: Path) -> None:
    # Each answer has 15 tokens.
    usage = Spending(token_budget=30)
    assert run(Made(), tmp_path, 3, usage=usage, size=1)[0] == "2 answered of 3"


def test_only_benchmarks_of_formulas_need_what_compares_formulas() -> None:
    assert {name for name, entry in benchmarks().items() if compares_formulas(entry)} == {
        "imo-answerbench",
        "olympiadbench-oe-maths",
        "olympiadbench-oe-physics",
    }


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table without ids, in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "sums.csv"
    file.write_text("question,answer\n1 + 1?,2\n2 + 2?,4\n")
    return file


@pytest.mark.parametrize(
    "written", ["{{problem}}", "{{ question }}", "{question}", "{problem}", "{{question}}"]
)
@pytest.mark.parametrize("flag", ["--prompts", "--prompt", "--template"])
def test_a_text_is_a_method_of_its_name(questions: Path, flag: str, written: str) -> None:
    Path("Mine.txt").write_text(f"Q: {written} In \\boxed{{}}.\n")
    asked = ("run", "--data", questions, "--model", "any", flag, "Mine.txt", "--dry-run")
    ended = invoke(*asked, "--format", "jsonl")
    assert (ended.code, ended.stderr) == (0, "")
    [message] = json_rows(ended.stdout)
    assert (message["method"], message["id"]) == ("mine", "1")
    assert message["content"] == "Q: 1 + 1? In \\boxed{}."
    assert invoke(*asked, "--method", "mine", "--format", "jsonl").stdout == ended.stdout


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.txt", "No place.", "a.txt: write {{problem}} where the text of the problem belongs"),
        ("cot.md", "{{problem}}", "cot.md: methods: the name cot is taken; choose another"),
        ("a.txt", "{{problem}} {{x}}", "a.txt: method a: unknown placeholder {{x}}; known: "),
        (
            "Q: {problem}",
            "",
            "--prompts 'Q: {problem}': expected a file; write the text into one, ",
        ),
    ],
    ids=["no place", "a shipped name", "unknown placeholder", "no file"],
)
def test_a_text_that_is_no_method_is_refused(
    questions: Path, name: str, text: str, problem: str
) -> None:
    if text:
        Path(name).write_text(text)
    ended = invoke("run", "--data", questions, "--model", "any", "--prompts", name, "--dry-run")
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"Error: {problem}")


def test_the_methods_are_said_where_none_is_chosen(questions: Path) -> None:
    ended = invoke("run", "--data", questions, "--model", "any", "--dry-run")
    assert ended.code == 2
    assert ended.stderr.startswith("Error: --method: missing; sums has zero-shot, cot, pot, ")


@pytest.mark.parametrize(
    ("name", "end"), [("gsm8k", "olympiadbench-tp-physics\n"), ("bbh", "tp-physics\n")]
)
def test_a_benchmark_that_is_not_there_is_answered_with_those_that_are(name: str, end: str) -> None:
    ended = invoke("run", "--data", name, "--model", "any", "--method", "cot", "--dry-run")
    assert ended.code == 2
    assert ended.stderr.startswith(f"Error: --data {name}: no such file; name a benchmark with --d")
    assert "or give a file of questions (JSONL, CSV, JSON or Parquet)" in ended.stderr
    assert ended.stderr.endswith(end)
