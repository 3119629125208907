"""What a run asks, keeps and tells; `test_evalcore_cli` has the command, with faults and kills."""

import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import pytest

from evalcore.commands.run import Spending, ask_missing, replay_from
from evalcore.endpoint import Ask, Question
from evalcore.records import Record, read_records
from ngramscan.errors import InputError
from ngramscan.progress import SILENT, Progress
from tests.support.cases import objects
from tests.support.chat_server import hash_of
from tests.support.made_records import recorded

ANSWER: Any = {"output": "4", "attempts": 1, "prompt_tokens": 10, "completion_tokens": 5}


class Made:
    """A model that answers at once, with these fields of a record or errors for these problems."""

    def __init__(self, **answers: dict[str, Any] | Exception) -> None:
        self.asked: list[tuple[str, int | None]] = []
        self._answers = answers

    def __call__(self, question: Question) -> Record:
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
        questions.append(Question(Record(id=f"p-{n}", epoch=epoch, **fields), asked))
    path = folder / f"{method}.jsonl"
    said, missing = ask_missing(ask, path, questions, usage, size, progress)
    return said.removeprefix(f"{path}: "), missing.removeprefix(f"{path}: ")


def test_answers_to_something_else_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "cot.jsonl"
    for first, then, problem in map(dict.values, objects("other_answers")):
        file.unlink(missing_ok=True)
        run(Made(), tmp_path, size=1, **first)
        content, model = file.read_bytes(), Made()
        with pytest.raises(InputError, match=f"holds answers {problem}.* choose another -o"):
            run(model, tmp_path, **then)
        assert (model.asked, file.read_bytes()) == ([], content)
    file.write_bytes(content * 2)
    with pytest.raises(InputError, match="'p-0' twice"):
        run(model, tmp_path, **first)


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
