from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalcore.scoring import grading_workers
from evalcore.scoring.base import Verdict
from evalcore.scoring.grading_workers import Graders
from evalcore.scoring.mathematics import MathGold, MathTask
from ngramscan.errors import InputError, WorkerLostError

ROOT = Path(__file__).resolve().parent.parent
ENDLESS = MathTask(r"\prod_{k=1}^{100000000} k", MathGold("7"))


def task(answer: str, gold: str) -> MathTask:
    return MathTask(answer, MathGold(gold))


def gone(pid: int) -> bool:
    """Whether a process has ended within ten seconds."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_verdicts_come_in_the_order_of_the_tasks() -> None:
    tasks = [task(f"{k}/2", f"{k / 2}") for k in range(30)] + [task("1", "2"), task("3", "3")]
    with Graders(workers=2) as graders:
        verdicts = list(graders.grade(tasks))
    assert verdicts == [Verdict(1.0, "equal")] * 30 + [
        Verdict(0.0, "not equal"),
        Verdict(1.0, "the same text"),
    ]


def test_a_task_that_takes_too_long_fails_alone() -> None:
    tasks = [task("1/2", "0.5"), ENDLESS, task("1/4", "0.25"), task("1/8", "0.125")]
    started = time.monotonic()
    with Graders(workers=1, seconds=1.5) as graders:
        verdicts = list(graders.grade(tasks))
    assert [one.value for one in verdicts] == [1.0, None, 1.0, 1.0]
    assert verdicts[1] == Verdict(None, "grader: time-out after 1.5 s", failed=True)
    assert time.monotonic() - started < 30


def test_a_killed_process_fails_its_task_and_is_replaced() -> None:
    with Graders(workers=1, seconds=60) as graders:
        verdicts = graders.grade([task("1/2", "0.5"), ENDLESS, task("1/4", "0.25")])
        assert next(verdicts).value == 1.0
        first = graders.pids[0]
        pid = subprocess.Popen(
            [sys.executable, "-c", f"import os, time; time.sleep(1); os.kill({first}, 9)"]
        )
        killed = "grader: the process was killed by SIGKILL"
        assert next(verdicts) == Verdict(None, killed, failed=True)
        assert next(verdicts).value == 1.0
        assert graders.pids != [first]
        assert pid.wait() == 0


def test_a_process_killed_between_two_runs_is_replaced() -> None:
    with Graders(workers=1) as graders:
        assert next(graders.grade([task("1/2", "0.5")])).value == 1.0
        first = graders.pids[0]
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        assert next(graders.grade([task("1/2", "0.5")])).value == 1.0
        assert graders.pids != [first]


def test_a_gold_that_is_no_mathematics_keeps_the_process() -> None:
    with Graders(workers=1) as graders:
        verdicts = graders.grade([task("1", r"\foo"), task("1/2", "0.5")])
        assert next(verdicts).failed
        first = graders.pids
        assert next(verdicts).value == 1.0
        assert graders.pids == first


@pytest.mark.parametrize(
    ("accident", "said"),
    [
        pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="an error"),
        pytest.param(
            "bytearray(3 << 30)",
            "MemoryError",
            id="too much memory",
            marks=pytest.mark.skipif(sys.platform == "darwin", reason="macOS sets no such limit"),
        ),
        pytest.param("(_ for _ in ()).throw(SystemExit(4))", "exit status 4", id="an exit"),
        pytest.param("__import__('os').abort()", "killed by SIGABRT", id="an abort"),
    ],
)
def test_a_crash_fails_its_task_and_says_how(
    accident: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashing = grading_workers._COMMAND.replace(
        "serve(",
        "import evalcore.scoring.math_worker as w; real = w.judged_by_algebra; "
        f"w.judged_by_algebra = lambda t: {accident} if t.answer == '5' else real(t); serve(",
    )
    monkeypatch.setattr(grading_workers, "_COMMAND", crashing)
    with Graders(workers=1) as graders:
        crash, other = graders.grade([task("5", "6"), task("1/2", "0.5")])
    assert (crash.value, crash.failed, other) == (None, True, Verdict(1.0, "equal"))
    assert said in crash.reason


def test_a_process_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading_workers, "_COMMAND", "raise SystemExit(3)")
    with (
        Graders(workers=1) as graders,
        pytest.raises(WorkerLostError, match="could not start: the process ended with exit st"),
    ):
        list(graders.grade([task("1/2", "0.5")]))


def test_a_process_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    mute = "print('{\"ready\": true}', flush=True); import time; time.sleep(600)"
    monkeypatch.setattr(grading_workers, "_COMMAND", mute)
    monkeypatch.setattr(grading_workers, "START_SECONDS", 0.5)
    with Graders(workers=1, seconds=0.5) as graders:
        verdicts = list(graders.grade([task("1/2", "0.5")]))
    assert verdicts == [Verdict(None, "grader: the process does not answer", failed=True)]


def test_tasks_are_read_only_a_little_ahead() -> None:
    read = []

    def endless() -> Iterator[MathTask]:
        while True:
            read.append(1)
            yield task("1/2", "0.5")

    with Graders(workers=1) as graders:
        verdicts = graders.grade(endless())
        assert next(verdicts).value == 1.0
        assert len(read) <= 16


def test_a_run_left_early_leaves_no_verdict_for_the_next() -> None:
    with Graders(workers=1, seconds=60) as graders:
        left = graders.grade([task("1/2", "0.5"), ENDLESS])
        assert next(left).value == 1.0
        left.close()
        assert [one.value for one in graders.grade([task("1", "2")])] == [0.0]


def test_nothing_runs_after_the_end() -> None:
    with Graders(workers=2, seconds=60) as graders:
        assert next(graders.grade([task("1/2", "0.5"), task("1/4", "0.25")])).value == 1.0
        pids = graders.pids
        assert pids
    assert all(gone(pid) for pid in pids)


CALLER = """
from evalcore.scoring.grading_workers import Graders
from evalcore.scoring.mathematics import MathGold, MathTask
print("run", flush=True)
with Graders(workers=1, seconds=2) as graders:
    tasks = [MathTask("1/2", MathGold("0.5")), MathTask({answer!r}, MathGold("7"))]
    for verdict in graders.grade(tasks):
        print(*graders.pids, flush=True)
"""


@pytest.mark.parametrize(
    "how", [pytest.param(signal.SIGINT, id="Ctrl-C"), pytest.param(signal.SIGKILL, id="kill -9")]
)
def test_no_process_outlives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(CALLER.format(answer=ENDLESS.answer), encoding="utf-8")
    caller = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "API_KEY": "secret"},
        text=True,
    )
    assert caller.stdout is not None
    assert caller.stdout.readline() == "run\n"
    worker = int(caller.stdout.readline())
    environment = Path(f"/proc/{worker}/environ")
    if environment.exists():
        assert b"secret" not in environment.read_bytes()
    caller.send_signal(how)
    rest, _ = caller.communicate(timeout=20)
    assert rest == ""  # the script was not run again
    assert gone(worker)


@pytest.mark.parametrize(("workers", "seconds"), [(0, 1.0), (1, 0.0)])
def test_numbers_that_are_not_positive_are_refused(workers: int, seconds: float) -> None:
    with pytest.raises(InputError, match="more than 0"):
        Graders(workers, seconds)


def test_without_math_verify_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'ngramscan\[eval\]'"):
        Graders()
