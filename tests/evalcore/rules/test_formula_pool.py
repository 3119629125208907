"""Texts compared without algebra, and formulas in processes of their own."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evalcore.formats import Problem
from evalcore.rules import AnswerToGrade, Grade, formula_pool
from evalcore.rules.formula_pool import compare_all, compare_texts
from ngramscan.errors import InputError, WorkerLostError
from tests.support.sandbox_programs import PROGRAMS

ENDLESS = r"\prod_{k=1}^{100000000} k"
SAME = Grade(1.0, "equal")
NEEDS_A_JUDGE = "needs a judge: the reference answer is "


def item(answer: str, gold: str, **details: Any) -> AnswerToGrade:
    return AnswerToGrade(Problem("1", "?", gold, details=details), answer)


# Texts


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param("1" * 10_001, "longer than 10,000 characters", id="long"),
        pytest.param("(" * 61 + ")" * 61, "brackets nested deeper than 60", id="deep"),
    ],
)
def test_what_is_too_long_or_too_deep_is_wrong_with_the_reason(answer: str, reason: str) -> None:
    assert compare_texts(item(answer, "1")) == Grade(0.0, reason)


def test_an_answer_of_the_greatest_length_is_compared() -> None:
    assert compare_texts(item("1" * 10_000, "1")) is None


@pytest.mark.parametrize(
    ("gold", "why"),
    [
        pytest.param("odd $n$", "prose", id="an adjective"),
        pytest.param("no solutions", "prose", id="words"),
        pytest.param("n is prime", "prose", id="a sentence"),
        pytest.param("$x=1$ for some $a>0$", "prose", id="a condition in words"),
        pytest.param("2 if n is even", "prose", id="a case"),
        pytest.param("1 ($n=2$)", "prose", id="a case in brackets"),
        pytest.param(r"1 \text{if } n=2", "prose", id="a case in a formula"),
        pytest.param("5 ($n=2", "prose", id="an open formula"),
        pytest.param(r"$1$, $n \text{ is even}$", "prose", id="a property in a list"),
        pytest.param(r"1,2,\ldots,3", "written with dots", id="dots"),
        pytest.param(r"\{ (a,b): ab>1 \}", "a set given by a condition", id="a set"),
    ],
)
def test_prose_is_for_a_judge(gold: str, why: str) -> None:
    assert compare_texts(item("?", gold)) == Grade(None, NEEDS_A_JUDGE + why)


@pytest.mark.parametrize(
    "gold", ["5", "$2n$", r"\frac{a}{b}", "1, 2", r"$\sin x$", r"5 \text{ or } 6", "$XZ-XY$"]
)
def test_formulas_are_not_for_a_judge(gold: str) -> None:
    assert compare_texts(item("?", gold)) is None


@pytest.mark.parametrize(
    ("answer", "gold", "verdict"),
    [
        pytest.param(
            "even $n$", "odd $n$", Grade(None, f"{NEEDS_A_JUDGE}prose"), id="as many words"
        ),
        pytest.param(
            "even $n$",
            r"$n \text{ is odd}$",
            Grade(None, f"{NEEDS_A_JUDGE}prose"),
            id="fewer words",
        ),
        pytest.param("odd n", " odd $n$.", Grade(1.0, "the same text"), id="signs of a formula"),
        pytest.param("the odd n", "odd $n$", Grade(1.0, "the same words"), id="an article"),
        pytest.param(r"$x +\foo$", r"x+\foo", Grade(1.0, "the same text"), id="the same text"),
    ],
)
def test_the_same_text_needs_no_judge(answer: str, gold: str, verdict: Grade) -> None:
    assert compare_texts(item(answer, gold)) == verdict


# Processes


LATE = "time-out after 2 s"
VERDICTS = [
    *[(item(f"{k}/2", f"{k / 2}"), SAME) for k in range(8)],
    # An answer that can't be read is wrong if its gold can.
    (item(f"(1, {ENDLESS})", "(1, 2)"), Grade(0.0, f"answer can't be read: {LATE}")),
    (item("1", "2"), Grade(0.0, "not equal")),
    (item("3", "3"), Grade(1.0, "the same text")),
    (item("|" * 3000, "x^2"), Grade(0.0, f"answer can't be read: {LATE}")),
    (item("7", ENDLESS), Grade(None, f"grader: {LATE}", failed=True)),
    (item("1/2", "0.5"), SAME),
]


def test_verdicts_of_two_processes_come_in_order_and_a_late_one_is_alone() -> None:
    verdicts = list(compare_all([task for task, _ in VERDICTS], seconds=2, workers=2))
    assert verdicts == [expected for _, expected in VERDICTS]


def test_a_tower_of_powers_is_wrong_whether_it_is_too_deep_or_too_late() -> None:
    (wrong,) = compare_all([item("2^" * 1000 + "1", "7")], seconds=2, workers=1)
    assert (wrong.value, wrong.failed) == (0.0, False)


CRASHES = {
    # macOS sets no limit.
    "11": "MemoryError" if sys.platform == "linux" else "macOS sets no limit",
    "12": "the process was killed by SIGABRT",
    "13": "the process ended with exit status 4",
    "14": "ZeroDivisionError: division by zero",
}


def test_a_crash_fails_one(monkeypatch: pytest.MonkeyPatch) -> None:
    command = "import runpy; runpy.run_module('tests.support.programs.crashing_formulas')"
    monkeypatch.setattr(formula_pool, "_COMMAND", command)
    items = [item(value, "0.5") for crash in CRASHES for value in (crash, "1/2")]
    verdicts = list(compare_all(items, seconds=60, workers=1))
    assert verdicts[1::2] == [SAME] * len(CRASHES)
    found = dict(zip(CRASHES, verdicts[::2], strict=True))
    assert {crash: verdict.reason for crash, verdict in found.items()} == {
        crash: f"grader: {reason}" for crash, reason in CRASHES.items()
    }
    assert {(verdict.value, verdict.failed) for verdict in found.values()} == {(None, True)}


def test_a_process_that_can_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formula_pool, "_COMMAND", "raise SystemExit(3)")
    message = "grader: a process could not start: the process ended with exit status 3"
    with pytest.raises(WorkerLostError, match=f"^{message}$"):
        list(compare_all([item("1/2", "0.5")]))


def test_without_the_library_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'ngramscan\[eval\]'"):
        list(compare_all([]))


@pytest.mark.parametrize(
    ("ended_by", "then"),
    [
        pytest.param(signal.SIGINT, "next", id="interrupted"),
        pytest.param(signal.SIGKILL, "next", id="killed"),
        pytest.param(None, "close", id="a loop left early"),
    ],
)
def test_no_process_outlives_its_parent_or_knows_its_keys(
    ended_by: signal.Signals | None, then: str
) -> None:
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "API_KEY": "secret"}
    command = [sys.executable, str(PROGRAMS / "formula_caller.py"), ENDLESS, then]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=known, text=True) as caller:
        try:
            assert caller.stdout is not None
            assert caller.stdout.readline() == "run\n"  # and never again
            worker = int(caller.stdout.readline())
            assert caller.stdout.readline() == "equal\n"
            environment = Path(f"/proc/{worker}/environ")
            if ended_by is not None:
                assert not environment.exists() or b"secret" not in environment.read_bytes()
                caller.send_signal(ended_by)
            assert caller.communicate(timeout=60)[0] == ""
        finally:
            caller.kill()
    assert_ends(worker)


def assert_ends(process: int) -> None:
    until = time.monotonic() + 60
    with suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.kill(process, 0)
            time.sleep(0.05)
        os.kill(process, signal.SIGKILL)
        pytest.fail("the process lives on")
