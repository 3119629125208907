from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalcore.asking import Replay, Usage
from evalcore.endpoint import ApiKey, ChatModel, Endpoint, Messages, ProblemKey
from evalcore.records import open_records, read_records
from evalcore.replies import EndpointRefused, Reply
from evalcore.run import RunResult, Task, run_task
from ngramscan.errors import InputError, RemoteRefused
from ngramscan.progress import SILENT, Progress, Silent
from tests.chat_server import ChatServer, Faults, chat_server, hash_of
from tests.run_process import KEY_VARIABLE, METHODS, PROBLEMS, made_task

ROOT = Path(__file__).resolve().parent.parent
SECRET = "sk-made-up-9f8e7d6c5b4a"


class Made:
    """A model that answers at once, unless a function says otherwise."""

    name = "lab/made-1"

    def __init__(self, **answers: Reply | Exception) -> None:
        self.parameters: Mapping[str, Any] = {"temperature": 0}
        self.asked: list[ProblemKey] = []
        self._answers = answers
        self._lock = threading.Lock()

    def ask(self, messages: Messages, key: ProblemKey, /) -> Reply:
        with self._lock:
            self.asked.append(key)
        answer = self._answers.get(key.id.replace("-", "_"))
        if isinstance(answer, Exception):
            raise answer
        text = f"{messages[-1]['content']} 4"
        return answer or Reply(output=text, prompt_tokens=10, completion_tokens=5)


class Listener(Silent):
    def __init__(self) -> None:
        self.expected = self.done = 0
        self.said: list[str] = []

    def expect(self, amount: int, unit: str) -> None:
        self.expected += amount

    def advance(self, amount: int, unit: str) -> None:
        self.done += amount

    def note(self, text: str) -> None:
        self.said.append(text)

    def notice(self, text: str) -> None:
        self.said.append(text)


def run(
    model: Any,
    task: Task,
    folder: Path,
    progress: Progress = SILENT,
    usage: Usage | None = None,
    concurrency: int = 16,
) -> RunResult:
    return run_task(model, task, folder, usage or Usage(), concurrency, progress)


# What is asked and kept


def test_every_problem_is_asked_once_and_recorded_with_all_that_is_known(tmp_path: Path) -> None:
    model, progress = Made(), Listener()
    task = made_task("cot", 3)
    result = run(model, task, tmp_path, progress)
    assert (result.answered, result.already_there, result.problem) == (3, 0, "")
    assert (progress.expected, progress.done) == (3, 3)
    assert result.file == tmp_path / "sums" / "lab--made-1" / "cot.jsonl"
    records = sorted(read_records(tmp_path), key=lambda record: record.id)
    assert [record.id for record in records] == ["p-0", "p-1", "p-2"]
    written = json.loads(result.file.read_bytes().splitlines()[0])
    for name, value in {
        "dataset": "sums",
        "model": "lab/made-1",
        "method": "cot",
        "messages_sha256": hash_of(dict(task.questions)[written["id"]]),
        "prompt_tokens": 10,
        "refusal": None,
        "epoch": None,
        "prompts_sha256": "e" * 64,
        "dataset_sha256": "d" * 64,
        "parameters": {"temperature": 0},
        "attempts": 1,
    }.items():
        assert written[name] == value, name
    assert written["asked_at"].endswith("+00:00")


def test_the_same_run_again_asks_nothing(tmp_path: Path) -> None:
    task = made_task("cot", 3)
    run(Made(), task, tmp_path)
    model = Made()
    result = run(model, task, tmp_path)
    assert (model.asked, result.already_there, result.answered) == ([], 3, 0)


def test_a_longer_run_asks_only_what_is_new(tmp_path: Path) -> None:
    run(Made(), made_task("cot", 3), tmp_path)
    model = Made()
    run(model, made_task("cot", 5), tmp_path)
    assert sorted(key.id for key in model.asked) == ["p-3", "p-4"]


def test_each_epoch_is_a_record_of_its_own(tmp_path: Path) -> None:
    model = Made()
    result = run(model, replace(made_task("cot", 2), epochs=3), tmp_path)
    assert result.questions == 6
    keys = sorted(record.key for record in read_records(tmp_path))
    assert keys == [(f"p-{number}", epoch) for number in range(2) for epoch in (1, 2, 3)]
    model = Made()
    run(model, replace(made_task("cot", 2), epochs=4), tmp_path)
    assert sorted(key[2:] for key in model.asked) == [("p-0", 4), ("p-1", 4)]


def test_refused_and_cut_answers_are_recorded_as_such_and_not_asked_again(tmp_path: Path) -> None:
    refused = Reply(output=None, refusal="I can't.", finish_reason="stop")
    cut = Reply(output="The answ", finish_reason="length")
    model = Made(p_0=refused, p_1=cut)
    result = run(model, made_task("cot", 3), tmp_path)
    assert (result.answered, result.refused, result.cut, result.missing) == (3, 1, 1, [])
    reasons = {record.id: record.not_scorable for record in read_records(tmp_path)}
    assert reasons == {"p-0": "refused: I can't.", "p-1": "cut at the token limit", "p-2": None}


def test_a_failed_request_is_no_record_and_the_next_run_asks_it(tmp_path: Path) -> None:
    failing = Made(p_1=RemoteRefused("http://x: HTTP 400: too long"))
    result = run(failing, made_task("cot", 3), tmp_path)
    assert result.answered == 2
    assert result.missing == [("p-1", None, "http://x: HTTP 400: too long")]
    assert result.problem == (
        f"{result.file}: 1 of 3 answers are missing (1 × http://x: HTTP 400: too long); "
        "run again to ask only these"
    )
    assert result.stopped == ""
    model = Made()
    assert run(model, made_task("cot", 3), tmp_path).problem == ""
    assert [key.id for key in model.asked] == ["p-1"]


def test_many_reasons_are_counted_in_one_line(tmp_path: Path) -> None:
    failures = {f"p_{number}": RemoteRefused(f"reason {number // 2}") for number in range(9)}
    result = run(Made(**failures), made_task("cot", 9), tmp_path)
    assert "9 of 9" in result.problem
    assert "2 × reason" in result.problem
    assert "; 2 other reasons)" in result.problem


def test_an_endpoint_that_refuses_everything_ends_the_run(tmp_path: Path) -> None:
    model = Made(p_0=EndpointRefused("http://x: HTTP 401: wrong key"))
    result = run(model, made_task("cot", 50), tmp_path, concurrency=1)
    assert len(model.asked) == 1
    assert result.stopped == "http://x: HTTP 401: wrong key"
    assert [missing[0] for missing in result.missing] == [f"p-{number}" for number in range(50)]
    assert "50 of 50 answers are missing (50 × http://x: HTTP 401" in str(result.problem)


def test_what_is_no_error_of_the_model_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run(Made(p_1=ZeroDivisionError()), made_task("cot", 3), tmp_path)


def test_two_problems_with_one_id_are_refused(tmp_path: Path) -> None:
    task = made_task("cot", 2)
    twice = replace(task, questions=[*task.questions, task.questions[0]])
    with pytest.raises(InputError, match="'p-0' stands there twice"):
        run(Made(), twice, tmp_path)


# What is there already


def changed(task: Task) -> Task:
    return replace(
        task, questions=[(name, [{"role": "user", "content": "?"}]) for name, _ in task.questions]
    )


@pytest.mark.parametrize("case", ["prompts", "parameters", "epochs", "fewer epochs", "model"])
def test_answers_to_something_else_are_refused_before_anything_is_asked(
    tmp_path: Path, case: str
) -> None:
    task = made_task("cot", 2)
    before = replace(task, epochs=2) if case == "fewer epochs" else task
    file = run(Made(), before, tmp_path).file
    content = file.read_bytes()
    model = Made()
    if case == "prompts":
        task = changed(task)
    if case == "parameters":
        model.parameters = {"temperature": 0.7}
    if case == "epochs":
        task = replace(task, epochs=2)
    if case == "model":
        model.name = "lab--made-1"
    with pytest.raises(InputError, match="use another -o or move it away") as caught:
        run(model, task, tmp_path)
    assert caught.value.where == str(file)
    assert model.asked == []
    assert file.read_bytes() == content


def test_answers_to_problems_that_are_not_asked_now_do_not_disturb(tmp_path: Path) -> None:
    run(Made(), made_task("cot", 5), tmp_path)
    result = run(Made(), made_task("cot", 2), tmp_path)
    assert (result.questions, result.already_there) == (2, 2)
    assert len(read_records(tmp_path)) == 5


def test_a_file_with_two_answers_to_one_problem_is_refused(tmp_path: Path) -> None:
    file = run(Made(), made_task("cot", 1), tmp_path).file
    file.write_bytes(file.read_bytes() * 2)
    with pytest.raises(InputError, match="'p-0' stands in it twice"):
        run(Made(), made_task("cot", 1), tmp_path)


# Limits


def test_no_more_questions_than_wanted_are_under_way(tmp_path: Path) -> None:
    def slow(messages: object) -> str:
        time.sleep(0.01)
        return "4"

    with chat_server(slow) as server, ChatModel(Endpoint(server.url, "m")) as model:
        run(model, made_task("cot", 40), tmp_path, concurrency=4)
    assert server.seen.most_at_once == 4


def test_nothing_more_is_asked_when_the_token_budget_is_used_up(tmp_path: Path) -> None:
    usage, model = Usage(token_budget=100), Made()
    first = run(model, made_task("cot", 5), tmp_path, usage=usage, concurrency=1)
    assert first.problem == ""
    second = run(model, made_task("pot", 5), tmp_path, usage=usage, concurrency=1)
    assert (second.answered, len(second.missing)) == (2, 3)  # 15 tokens each: 105 after seven
    assert second.stopped == "the token budget of 100 is used up"
    assert second.missing[0] == ("p-2", None, second.stopped)


def test_a_budget_that_can_not_be_kept_is_not_pretended(tmp_path: Path) -> None:
    model = Made(p_0=Reply(output="4"))
    usage = Usage(token_budget=100)
    result = run(model, made_task("cot", 5), tmp_path, usage=usage, concurrency=1)
    assert result.answered == 1
    assert result.stopped == "the server does not count tokens, so no token budget can be kept"


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        pytest.param({}, "2,000,000 + 500,000 tokens", id="no prices"),
        pytest.param({"price_in": 3.0}, "2,000,000 + 500,000 tokens", id="one price"),
        pytest.param(
            {"price_in": 3.0, "price_out": 15.0},
            "2,000,000 + 500,000 tokens, cost 13.50",
            id="both prices",
        ),
    ],
)
def test_tokens_and_cost_are_told(prices: dict[str, float], words: str) -> None:
    usage = Usage(**prices)  # type: ignore[arg-type]
    usage.add(Reply(output="", prompt_tokens=2_000_000, completion_tokens=500_000))
    assert str(usage) == words
    usage.add(Reply(output=""))
    assert str(usage) == f"{words}; the server did not count those of 1 answers"


def test_tokens_and_cost_are_noted_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["evalcore.run"], "_NOTE_EVERY_S", 0.0)
    progress = Listener()
    usage = Usage(price_in=1e5, price_out=1e5)
    run(Made(), made_task("cot", 2), tmp_path, progress, usage, concurrency=1)
    assert progress.said == ["10 + 5 tokens, cost 1.50", "20 + 10 tokens, cost 3.00", ""]


def test_a_run_on_a_file_that_is_being_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sums" / "lab--made-1" / "cot.jsonl"
    with open_records(path, print), pytest.raises(InputError, match="another run is writing"):
        run(Made(), made_task("cot", 2), tmp_path)


def test_a_run_from_recorded_outputs_needs_no_model(tmp_path: Path) -> None:
    run(Made(), made_task("cot", 3), tmp_path / "first")
    model = Replay(tmp_path / "first", "lab/made-1")
    result = run(model, made_task("cot", 4), tmp_path / "second")
    outputs = [
        sorted((record.id, record.output) for record in read_records(tmp_path / name))
        for name in ("first", "second")
    ]
    assert outputs[0] == outputs[1]
    assert [missing[0] for missing in result.missing] == ["p-3"]


# End to end, against a real server, with a process that is killed

FAULTS = Faults(
    too_many=0.10,
    error=0.05,
    stall=0.01,
    malformed=0.02,
    dropped=0.01,
    refusal=0.02,
    length=0.02,
    stall_s=2.5,
)


def start(server: ChatServer, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.run_process", server.url, str(folder)]
    environment = os.environ | {KEY_VARIABLE: SECRET}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def wait_for_records(folder: Path, count: int) -> None:
    ends_at = time.monotonic() + 60
    while time.monotonic() < ends_at:
        files = folder.rglob("*.jsonl")
        if sum(file.read_bytes().count(b"\n") for file in files) >= count:
            return
        time.sleep(0.005)
    raise AssertionError("the run did not get on")


def test_a_run_with_faults_that_is_killed_twice_loses_only_what_was_under_way(
    tmp_path: Path,
) -> None:
    def slow(messages: Messages) -> str:
        time.sleep(0.02)
        return f"{messages[-1]['content']} It is 4."

    with chat_server(slow, FAULTS, SECRET) as server:
        for enough in (100, 350):
            with start(server, tmp_path) as process:
                wait_for_records(tmp_path, enough)
                process.kill()
            kept = len(list(read_lines_of(tmp_path)))
            assert enough <= kept < 600
        asked_before = server.seen.requests.copy()
        kept_hashes = {line["messages_sha256"] for line in read_lines_of(tmp_path)}
        with start(server, tmp_path) as process:
            _, told = process.communicate(timeout=60)
        assert (process.returncode, told) == (0, "")
        asked_again = set(server.seen.requests - asked_before)

    records = read_records(tmp_path)
    expected = {(method, f"p-{number}") for method in METHODS for number in range(PROBLEMS)}
    assert len(records) == 600
    assert {(record.method, record.id) for record in records} == expected
    assert not asked_again & kept_hashes, "only what is missing is asked"
    # Each kill may lose the 16 that were under way; each of them is then answered once more.
    answers = server.seen.answered
    assert set(answers) == {record.messages_sha256 for record in records}
    assert sum(answers.values()) <= 600 + 2 * 16
    assert set(server.seen.faults) == {
        *("too_many", "error", "stall", "malformed", "dropped", "refusal", "length")
    }
    check_refused_and_cut(records)
    check_key_is_nowhere(tmp_path, told)


def read_lines_of(folder: Path) -> list[dict[str, Any]]:
    """Return the whole lines of all files."""
    lines: list[dict[str, Any]] = []
    for file in folder.rglob("*.jsonl"):
        lines += [json.loads(line) for line in file.read_bytes().split(b"\n")[:-1]]
    return lines


def check_refused_and_cut(records: list[Any]) -> None:
    refused = [record for record in records if record.refusal]
    cut = [record for record in records if record.finish_reason == "length"]
    assert 2 <= len(refused) <= 30
    assert 2 <= len(cut) <= 30
    assert all(record.output is None for record in refused)
    whole = [record for record in records if record.not_scorable is None]
    assert len(whole) == 600 - len(refused) - len(cut)
    assert all(record.output.endswith("It is 4.") for record in whole)


def check_key_is_nowhere(folder: Path, told: str) -> None:
    assert SECRET not in told
    assert all(SECRET.encode() not in file.read_bytes() for file in folder.rglob("*.jsonl"))


def test_a_wrong_key_ends_the_run_at_once_and_is_not_shown(tmp_path: Path) -> None:
    with (
        chat_server(key="another-key-of-the-server") as server,
        ChatModel(Endpoint(server.url, "m"), ApiKey(SECRET)) as model,
    ):
        result = run(model, made_task("cot"), tmp_path)
    assert len(result.missing) == 200
    assert len(server.seen.keys) <= 16
    assert "HTTP 401: Incorrect API key provided: Bearer [key]; --api-key-env" in str(
        result.stopped
    )
    assert SECRET not in repr(result)


def test_ctrl_c_ends_at_once_and_keeps_what_was_written(tmp_path: Path) -> None:
    started = threading.Event()

    def answer(messages: Messages) -> str:
        if " 1 " in messages[-1]["content"]:
            started.set()
            time.sleep(20)
        return "4"

    def interrupt() -> None:
        started.wait(10)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    with chat_server(answer) as server, ChatModel(Endpoint(server.url, "m")) as model:
        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        started_at = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            run(model, made_task("cot", 20), tmp_path)
    assert time.monotonic() - started_at < 5
    interrupter.join()
    assert len(read_records(tmp_path)) == 19
