"""Sandboxes: programs at once and in order, and what becomes of them where something fails."""

import itertools
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from evalcore.sandbox import kernel, layers
from evalcore.sandbox import sandbox as sandbox_module
from evalcore.sandbox.layers import ProgramLimits
from evalcore.sandbox.sandbox import Sandbox
from tests.support.sandbox_programs import (
    SMALL,
    answer,
    error_of,
    forging,
    outcome_of,
    require_all_layers,
    run_first,
    solution,
)

needs_all_layers = pytest.mark.usefixtures("all_layers")


ENDLESS = "while True: pass"


@pytest.fixture(scope="module")
def all_layers() -> None:
    require_all_layers()


def test_programs_run_at_once_in_order_and_are_read_as_needed() -> None:
    numbers = itertools.count()
    # Those behind end before those in front; one after the other, the last would begin 15 s late.
    source = "import time\nanswer = {0} * 1e9 + time.monotonic()\ntime.sleep(5 - {0} % 2 / 10)"
    with Sandbox(SMALL, allow_weak=True, workers=4) as made:
        assert list(made.run([])) == []
        outcomes = made.run(answer(source.format(number)) for number in numbers)
        first = [next(outcomes) for _ in range(4)]
        found, started = np.divmod([float(outcome.value or 0) for outcome in first], 1e9)
        assert found.tolist() == [0, 1, 2, 3]
        # They are counted by the process that watches, which may be late on a busy machine.
        assert [outcome for outcome in first if not 1 <= outcome.seconds < 60] == []
        assert max(started) - min(started) < 4.9
        outcomes.close()
    assert next(numbers) < 4 * (1 + sandbox_module.AHEAD_AT_MOST)


def test_without_namespaces_and_landlock_programs_run_only_on_request() -> None:
    message = error_of(leave_out=["namespaces", "landlock"])
    assert message.startswith("sandbox: programs can't be run safely on this machine: ")
    assert "namespaces missing: left out on request; landlock missing: left out" in message
    assert message.endswith("; --allow-weak-sandbox runs them with what there is")
    with Sandbox(SMALL, allow_weak=True, leave_out=layers.NAMES) as made:
        assert outcome_of(made, solution("return 1")).value == 1
        made.close()  # and once more at the end
    with pytest.raises(ValueError, match="no layer of the sandbox is named 'walls'"):
        Sandbox(leave_out=["walls"])
    with pytest.raises(ValueError, match="workers must be at least 1, not 0"):
        Sandbox(workers=0)


def test_another_system_lacks_the_layers_but_the_time_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_first(monkeypatch, "kernel.LINUX, sys.platform = False, 'darwin'")
    monkeypatch.setattr(kernel, "LINUX", False)
    assert "namespaces missing: darwin does not have it; it needs Linux" in error_of()
    child = answer("import os, time\nif os.fork() == 0: time.sleep(600)\nanswer = 1")
    with Sandbox(SMALL, allow_weak=True) as made:
        quick = list(made.run([solution("return 1"), child]))
    assert [(outcome.status, outcome.value) for outcome in quick] == [("ok", 1)] * 2
    told = b'{"status": "ok", "value": 1, "kind": "int"}'
    with Sandbox(ProgramLimits(seconds=0.5), allow_weak=True) as made:
        late = outcome_of(made, forging(told, ENDLESS))
    assert (late.status, late.value, late.message) == ("timeout", None, "not done within 0.5 s")
    assert 0.5 <= late.seconds < 60


@needs_all_layers
def test_a_zygote_that_does_not_move_is_replaced_or_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "GRACE_S", 0.2)
    monkeypatch.setattr(sandbox_module, "END_WITHIN_S", 0.2)
    with Sandbox(ProgramLimits(seconds=5), workers=4) as made:
        first = made._zygotes[False].process
        first.send_signal(signal.SIGSTOP)
        # The programs had not been started, so they are run by the next one.
        outcomes = made.run([solution("return 1")] * 4)
        assert [each.value for each in outcomes] == [1] * 4
        second = made._zygotes[False].process
        second.send_signal(signal.SIGSTOP)
    assert [first.returncode, second.returncode] == [-signal.SIGKILL] * 2


def test_an_error_of_the_consumer_or_of_the_source_ends_the_programs() -> None:
    programs = [solution(ENDLESS), solution("return 1")]
    before = time.monotonic()
    with Sandbox(ProgramLimits(seconds=600), allow_weak=True) as made:
        with pytest.raises(IndexError, match="out of range"):
            list(made.run(map(programs.__getitem__, itertools.count())))
        outcomes = made.run(reversed(programs))
        assert next(outcomes).value == 1
        with pytest.raises(LookupError, match="stop"):
            outcomes.throw(LookupError("stop"))
        assert time.monotonic() - before < 300
        assert outcome_of(made, solution("return 2")).value == 2


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        pytest.param("nan", "OSError: cannot convert float NaN to integer", id="not a number"),
        pytest.param("inf", "OSError: its process ended while being confined", id="infinite"),
    ],
)
def test_a_program_whose_limits_can_not_be_set_is_lost(seconds: str, why: str) -> None:
    with Sandbox(ProgramLimits(seconds=float(seconds)), allow_weak=True) as made:
        ends = list(made.run([answer("answer = 1")] * 2))
    assert [(end.status, end.message) for end in ends] == [
        ("lost", f"it could not be run: {why}"),
        ("lost", f"it could not be run: {why}"),
    ]


def test_a_program_without_a_folder_to_work_in_is_lost(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Sandbox(SMALL, allow_weak=True, leave_out=["namespaces"]) as made:
        shutil.rmtree(next(tmp_path.iterdir()))
        end = outcome_of(made, answer("answer = 1"))
    assert end.status == "lost"
    assert end.message.startswith("it could not be run: FileNotFoundError")


NOT_STARTED = "sandbox: its first process can't be started: "


def test_a_first_process_without_a_folder_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no"))
    message = error_of(leave_out=["namespaces"])
    assert message.startswith(NOT_STARTED)
    assert "No such file" in message


def test_a_first_process_that_always_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    run_first(monkeypatch, "zygote.serve = lambda *_: None")
    message = "sandbox: its first process ended 3 times before a program started"
    assert error_of(allow_weak=True) == message


def test_a_first_process_that_ends_at_once_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "START", "raise SystemExit(1)")
    assert error_of() == f"{NOT_STARTED}it ended at once"


def test_a_first_process_that_is_silent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "START", "import time\ntime.sleep(600)")
    monkeypatch.setattr(sandbox_module, "ANSWER_WITHIN_S", 0.2)
    assert error_of() == f"{NOT_STARTED}no answer within 0 s"


def test_a_python_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert error_of() == "/no/such/python: can't be started: No such file or directory"
