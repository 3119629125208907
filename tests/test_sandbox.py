"""What programs answer, and what becomes of the sandbox's own processes."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalcore.sandbox import Limits, Outcome, Program, Sandbox, folders, libraries, replies, seccomp
from evalcore.sandbox import layers as sandbox_layers
from evalcore.sandbox import sandbox as sandbox_module
from evalcore.sandbox.system_calls import DENIED, LAST_KNOWN
from evalcore.sandbox.zygote_process import Zygote
from ngramscan.errors import SandboxError
from tests.sandboxed import Person, person_of, person_params

needs_all_layers = pytest.mark.usefixtures("all_layers")
SMALL = Limits(seconds=5, memory_bytes=512 << 20, result_bytes=8192)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SMALL, allow_weak=True) as made:
        yield made


@pytest.fixture
def all_layers(sandbox: Sandbox) -> None:
    missing = [f"{name} {state}" for name, state in sandbox.layers.items() if state != "ok"]
    if missing:
        pytest.skip(f"this machine lacks layers of the sandbox: {missing}")


@pytest.fixture(params=person_params())
def person(request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_of(request.param) as made:
        yield made


def solution(body: str, before: str = "") -> Program:
    return Program(f"{before}\ndef solution():\n    {body}")


def answer(source: str) -> Program:
    return Program(source, "answer")


def outcome_of(sandbox: Sandbox, program: Program) -> Outcome:
    (outcome,) = sandbox.run([program])
    return outcome


@pytest.mark.parametrize(
    ("program", "value", "kind"),
    [
        pytest.param(solution("return 3"), 3, "int", id="whole number"),
        pytest.param(solution("return 0.1 + 0.2"), 0.30000000000000004, "float", id="all digits"),
        pytest.param(solution("return True"), True, "bool", id="truth value"),
        pytest.param(solution("return None"), "None", "NoneType", id="nothing"),
        pytest.param(solution("return float('nan')"), "nan", "float", id="not a number"),
        pytest.param(solution("return -float('inf')"), "-inf", "float", id="infinite"),
        pytest.param(solution("return 10**4299"), 10**4299, "int", id="4,300 digits"),
        pytest.param(solution("return 'a\\ud800b'"), "a?b", "str", id="half a character"),
        pytest.param(solution("return (1, 'x')"), "(1, 'x')", "tuple", id="a tuple as text"),
        pytest.param(
            solution("return math.comb(5, 2)", "import math"), 10, "int", id="the library math"
        ),
        pytest.param(
            solution("return numpy.float64(0.5)", "import numpy"), 0.5, "float64", id="NumPy number"
        ),
        pytest.param(
            solution("return np.int32(7)", "import numpy as np"), 7, "int32", id="NumPy integer"
        ),
        pytest.param(
            solution("return np.bool_(True)", "import numpy as np"), True, "bool", id="NumPy truth"
        ),
        pytest.param(
            solution("return np.linalg.inv(np.eye(2) * 4)[0, 0]", "import numpy as np"),
            0.25,
            "float64",
            id="NumPy's linear algebra",
        ),
        pytest.param(
            solution("return np.array([1, 2])", "import numpy as np"),
            "[1 2]",
            "ndarray",
            id="NumPy array",
        ),
        pytest.param(
            solution("return sqrt(8)/3", "from sympy import *"),
            0.9428090415820634,
            "float",
            id="SymPy number of a function",
        ),
        pytest.param(
            solution("return sqrt(8) * Symbol('x')", "from sympy import *"),
            r"2 \sqrt{2} x",
            "Mul",
            id="SymPy expression as LaTeX",
        ),
        pytest.param(
            answer("from sympy import *\nanswer = sqrt(8)/3"),
            r"\frac{2 \sqrt{2}}{3}",
            "Mul",
            id="SymPy number of a script as LaTeX",
        ),
        pytest.param(
            solution("return Matrix([[1, 2]])", "from sympy import *"),
            r"\left[\begin{matrix}1 & 2\end{matrix}\right]",
            "MutableDenseMatrix",
            id="SymPy matrix as LaTeX",
        ),
        pytest.param(
            solution("return norm.ppf(0.5)", "from scipy.stats import norm"),
            0.0,
            "float64",
            id="SciPy",
        ),
        pytest.param(
            solution("return date(2024, 3, 1) - date(2024, 2, 1)", "from datetime import date"),
            "29 days, 0:00:00",
            "timedelta",
            id="the library datetime",
        ),
        pytest.param(
            solution("return statistics.median([3, 1, 2])", "import statistics"),
            2,
            "int",
            id="the library statistics",
        ),
        pytest.param(
            solution(
                "return Point(1).x",
                "from __future__ import annotations\nfrom dataclasses import dataclass\n"
                "@dataclass\nclass Point:\n    x: int",
            ),
            1,
            "int",
            id="a data class of its own",
        ),
        pytest.param(
            Program("if __name__ == '__main__': input()\ndef solution(): print('x'); return 1"),
            1,
            "int",
            id="no script, and printing does nothing",
        ),
        pytest.param(answer("answer = 2\nprint(3)"), 2, "int", id="the variable comes first"),
        pytest.param(answer("print(3)\nprint(' 4 ')\nprint()"), "4", "str", id="the last line"),
        pytest.param(answer("answer = None\nprint(5)"), "5", "str", id="None is no answer"),
        pytest.param(
            answer("if __name__ == '__main__': answer = 6"), 6, "int", id="run as a script"
        ),
        pytest.param(answer("answer = 7\nimport sys\nsys.exit()"), 7, "int", id="a clean exit"),
        pytest.param(answer("print(8)\nexit(0)"), "8", "str", id="a clean exit as in a console"),
        pytest.param(answer("print('x' * 100_000)\nprint(9)"), "9", "str", id="after much else"),
    ],
)
def test_a_value_comes_back(sandbox: Sandbox, program: Program, value: object, kind: str) -> None:
    if "sympy" in program.source:
        pytest.importorskip("sympy")
    outcome = outcome_of(sandbox, program)
    assert (outcome.status, outcome.value, outcome.kind) == ("ok", value, kind), outcome
    assert type(outcome.value) is type(value)
    assert outcome.message == ""
    assert outcome.layers == sandbox.layers


@pytest.mark.parametrize(
    ("program", "status", "message"),
    [
        pytest.param(
            solution("return 1 / 0"), "error", "ZeroDivisionError: division by zero", id="exception"
        ),
        pytest.param(
            solution("raise KeyError('solution')"), "error", "KeyError: 'solution'", id="-"
        ),
        pytest.param(
            Program("x = 1"),
            "error",
            "the program defines no function named solution",
            id="no solution",
        ),
        pytest.param(
            Program("solution = 1"),
            "error",
            "TypeError: 'int' object is not callable",
            id="no call",
        ),
        pytest.param(Program("def"), "error", "SyntaxError: ", id="no Python"),
        pytest.param(Program("x = '\0'"), "error", "", id="a zero byte"),
        pytest.param(
            Program("x = '\ud800'"), "error", "UnicodeEncodeError: ", id="half a character"
        ),
        pytest.param(solution("exit(3)"), "error", "SystemExit: 3", id="exit in a function"),
        pytest.param(solution("raise KeyboardInterrupt"), "error", "KeyboardInterrupt", id="break"),
        pytest.param(
            solution("raise Own", "class Own(BaseException): pass"), "error", "Own", id="own kind"
        ),
        pytest.param(
            solution("raise Own", "class Own(Exception):\n    def __str__(self): return 1 / 0"),
            "error",
            "Own",
            id="an exception without text",
        ),
        pytest.param(solution("raise OSError('a\\n\\nb')"), "error", "OSError: a b", id="one line"),
        pytest.param(answer("exit(1)"), "error", "SystemExit: 1", id="exit with an error"),
        pytest.param(answer("answer = input()"), "error", "EOFError: ", id="no input"),
        pytest.param(answer("x = 1\nprint()"), "error", "no answer: ", id="no answer"),
        pytest.param(
            solution("import no_such_library"), "error", "ModuleNotFoundError: ", id="no library"
        ),
        pytest.param(solution("return bytearray(4 << 30)"), "memory", "MemoryError", id="memory"),
        pytest.param(
            solution("return [0] * 10**8 and [str(n) for n in range(10**9)]"),
            "memory",
            "MemoryError",
            id="memory in pieces",
        ),
        pytest.param(solution("return 10**4300"), "no result", "the value is a whole", id="digits"),
        pytest.param(
            solution("return 'x' * 10_000"), "no result", "the result is larger", id="large"
        ),
        pytest.param(
            answer("print('x' * 10_000)"),
            "no result",
            "the last printed line is too",
            id="long line",
        ),
        pytest.param(
            answer("print(1)\nprint('\\n' * 10_000)"),
            "no result",
            "the last printed",
            id="all empty",
        ),
        pytest.param(
            solution("os._exit(0)", "import os"), "no result", "the program ended", id="end"
        ),
        pytest.param(
            solution("ctypes.string_at(0)", "import ctypes"),
            "killed",
            "ended by the sig",
            id="crash",
        ),
    ],
)
def test_a_program_without_a_value_says_why(
    sandbox: Sandbox, program: Program, status: str, message: str
) -> None:
    if status == "memory" and sandbox.layers["limits"] != "ok":
        pytest.skip("memory can't be limited here")
    outcome = outcome_of(sandbox, program)
    assert (outcome.status, outcome.value, outcome.kind) == (status, None, "")
    assert outcome.message.startswith(message)
    assert "\n" not in outcome.message


def test_the_time_is_limited_and_told() -> None:
    with Sandbox(Limits(seconds=0.3), allow_weak=True) as made:
        outcome = outcome_of(made, solution("while True: pass"))
    assert (outcome.status, outcome.message) == ("timeout", "not done within 0.3 s")
    assert 0.3 <= outcome.seconds < 1


def test_outcomes_come_in_the_order_of_the_programs(sandbox: Sandbox) -> None:
    waits = [0.3, 0.0, 0.1, 0.0, 0.2, 0.0]
    programs = [
        solution(f"time.sleep({wait}); return {number}", "import time")
        for number, wait in enumerate(waits)
    ]
    assert [outcome.value for outcome in sandbox.run(programs)] == [0, 1, 2, 3, 4, 5]


def test_programs_are_read_only_as_they_are_needed() -> None:
    read: list[None] = []

    def endless() -> Iterator[Program]:
        while True:
            read.append(None)
            yield solution("return 1")

    with Sandbox(SMALL, allow_weak=True, workers=2) as made:
        outcomes = made.run(endless())
        for _ in range(3):
            assert next(outcomes).value == 1
        outcomes.close()
    assert len(read) < 3 + 2 * sandbox_module.AHEAD_AT_MOST


def test_as_many_programs_run_at_once_as_there_are_workers() -> None:
    with Sandbox(SMALL, allow_weak=True, workers=4) as made:
        started = time.monotonic()
        list(made.run([solution("time.sleep(0.5)", "import time")] * 4))
        assert time.monotonic() - started < 1.9


def test_no_programs_have_no_outcomes(sandbox: Sandbox) -> None:
    assert list(sandbox.run([])) == []


def test_one_program_leaves_nothing_for_the_next(sandbox: Sandbox) -> None:
    first = answer("import json\nopen('left', 'w').close()\njson.left = 1\nanswer = 1")
    second = answer("import json, os\nanswer = str(os.listdir()) + str(hasattr(json, 'left'))")
    assert [each.value for each in sandbox.run([first, second])] == [1, "[]False"]


@needs_all_layers
def test_more_memory_than_the_limit_is_in_use_before_but_not_counted() -> None:
    limits = Limits(memory_bytes=64 << 20)
    program = solution(
        "return sympy.Integer(len(bytearray(32 << 20)) // scipy.__name__.count('s'))",
        "import numpy, scipy.stats, sympy",
    )
    pytest.importorskip("sympy")
    with Sandbox(limits, allow_weak=True) as made:
        assert outcome_of(made, program).status == "ok"


@needs_all_layers
@pytest.mark.parametrize("name", sandbox_layers.NAMES)
def test_a_missing_layer_is_told_and_the_others_suffice(name: str) -> None:
    with Sandbox(SMALL, leave_out=[name]) as made:
        assert tuple(made.layers) == sandbox_layers.NAMES
        assert made.layers[name] == "missing: left out on request"
        outcome = outcome_of(made, solution("return 1"))
    assert outcome.value == 1
    assert outcome.layers == made.layers


def test_without_namespaces_and_landlock_programs_are_refused() -> None:
    with pytest.raises(SandboxError) as caught:
        Sandbox(leave_out=["namespaces", "landlock"])
    message = str(caught.value)
    assert message.startswith("sandbox: programs can't be run safely on this machine: ")
    assert "namespaces missing: left out on request; landlock missing: left out" in message
    assert message.endswith("; --allow-weak-sandbox runs them with what there is")


def test_a_weak_sandbox_runs_programs_on_request() -> None:
    with Sandbox(SMALL, allow_weak=True, leave_out=sandbox_layers.NAMES) as made:
        assert outcome_of(made, solution("return 1")).value == 1


def test_an_unknown_layer_can_not_be_left_out() -> None:
    with pytest.raises(ValueError, match="no layer of the sandbox is named 'walls'"):
        Sandbox(leave_out=["walls"])


@pytest.mark.parametrize(
    ("attempt", "told"),
    [
        pytest.param("pass", "ok", id="it works"),
        pytest.param("raise OSError(1, 'nope')", "missing: nope", id="the kernel refuses"),
        pytest.param("raise ValueError('a\\nb')", "missing: a b", id="a value is refused"),
        pytest.param("library().nope", "missing: ", id="the C library lacks it"),
        pytest.param(
            "os._exit(3)", "missing: the trial ended with status 3", id="the trial breaks off"
        ),
        pytest.param(
            "os.kill(os.getpid(), 9)", "missing: the trial ended with status -9", id="it is killed"
        ),
    ],
)
@needs_all_layers
def test_a_trial_tells_why_a_layer_is_missing(attempt: str, told: str) -> None:
    # In a process of its own, since a trial copies the process that makes it.
    program = (
        "import os, sys\nfrom evalcore.sandbox import layers\n"
        "from evalcore.sandbox.kernel import library\n"
        f"def attempt():\n    {attempt}\nprint(layers.probed(attempt), end='')"
    )
    root = str(Path(__file__).resolve().parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.startswith(told)
    assert "\n" not in done.stdout


def test_another_system_says_that_it_lacks_the_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalcore.sandbox.kernel.LINUX", False)
    monkeypatch.setattr("evalcore.sandbox.layers.sys.platform", "darwin")
    state = sandbox_layers.reason_of_failure(lambda: None)
    assert state == "missing: darwin does not have it; it needs Linux"
    with pytest.raises(SandboxError, match="namespaces missing: darwin does not have it"):
        sandbox_module.refuse_weak(dict.fromkeys(sandbox_layers.NAMES, state))


@needs_all_layers
@pytest.mark.parametrize("leave_out", [[], ["namespaces"]], ids=["full", "no namespaces"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_nothing_is_left_when_the_one_who_asks_is_ended(
    person: Person, number: int, leave_out: list[str]
) -> None:
    endless = ("open('left', 'w').close()\nwhile True: pass", "answer")
    person.send([endless] * 3, workers=2, leave_out=leave_out)
    person.wait_for_processes(5)
    person.process.send_signal(number)
    person.process.wait(10)
    person.assert_nothing_left()


@needs_all_layers
@pytest.mark.parametrize("leave_out", [[], ["namespaces"]], ids=["full", "no namespaces"])
def test_a_killed_zygote_loses_only_what_runs(person: Person, leave_out: list[str]) -> None:
    slow = ("import time\ntime.sleep(1.0)\nanswer = 1", "answer")
    quick = ("answer = 2", "answer")
    person.send([slow, quick, quick, slow, quick], workers=1, leave_out=leave_out)
    person.wait_for_processes(3)
    os.kill(min(person.processes()), signal.SIGKILL)
    outcomes = person.receive()["outcomes"]
    assert [(each["status"], each["value"]) for each in outcomes] == [
        ("lost", None),
        ("ok", 2),
        ("ok", 2),
        ("ok", 1),
        ("ok", 2),
    ]
    assert outcomes[0]["message"] == "the process that watched the program ended"
    person.assert_nothing_left()


@needs_all_layers
def test_a_program_killed_from_outside_is_told(person: Person) -> None:
    person.send([("import time\ntime.sleep(20)", "answer"), ("answer = 1", "answer")], workers=1)
    person.wait_for_processes(3)
    time.sleep(0.2)
    os.kill(max(person.processes()), signal.SIGKILL)
    first, second = person.receive()["outcomes"]
    assert (first["status"], first["message"]) == ("killed", "ended by the signal SIGKILL")
    assert second["value"] == 1


def children() -> set[int]:
    own = os.getpid()
    return set(map(int, Path(f"/proc/{own}/task/{own}/children").read_text().split()))


@needs_all_layers
def test_a_zygote_that_does_not_move_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "GRACE_S", 0.2)
    before = children()
    with Sandbox(Limits(seconds=0.5), workers=1) as made:
        (stopped,) = children() - before
        os.kill(stopped, signal.SIGSTOP)
        # The program had not been started, so it is run by the next one.
        assert outcome_of(made, solution("return 1")).value == 1
        assert stopped not in children()
    assert children() == before


@needs_all_layers
def test_zygotes_that_end_again_and_again_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Zygote.start

    def start_and_kill(leave_out: tuple[str, ...]) -> Zygote:
        made = start(leave_out)
        made.kill()
        return made

    before = children()
    with Sandbox(SMALL, workers=1) as made:
        monkeypatch.setattr(Zygote, "start", start_and_kill)
        for each in children() - before:
            os.kill(each, signal.SIGKILL)
        with pytest.raises(SandboxError, match="ended 3 times before a program started"):
            outcome_of(made, solution("return 1"))


def test_there_is_at_least_one_worker() -> None:
    with pytest.raises(ValueError, match="workers must be at least 1, not 0"):
        Sandbox(workers=0)


def consume_badly() -> None:
    with Sandbox(SMALL, allow_weak=True, workers=2) as made:
        for _ in made.run([solution("return 1"), solution("while True: pass")]):
            raise LookupError


def test_an_error_of_the_consumer_ends_the_programs() -> None:
    before = time.monotonic()
    with pytest.raises(LookupError):
        consume_badly()
    assert time.monotonic() - before < 4


def test_a_source_of_programs_that_fails_fails_the_run(sandbox: Sandbox) -> None:
    def broken() -> Iterator[Program]:
        yield solution("return 1")
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(sandbox.run(broken()))
    assert outcome_of(sandbox, solution("return 2")).value == 2


def test_a_closed_sandbox_can_be_closed_again() -> None:
    made = Sandbox(SMALL, allow_weak=True)
    made.close()
    made.close()


def test_a_python_that_can_not_be_started_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxError, match="/no/such/python: can't be started: No such file"):
        Sandbox()


def test_a_python_that_ends_at_once_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    false = tmp_path / "false"
    false.write_text("#!/bin/sh\nexit 1\n")
    false.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(false))
    with pytest.raises(SandboxError, match="its first process can't be started: it ended at once"):
        Sandbox()


REPLY: dict[str, Any] = {
    "ended": "by itself",
    "code": 0,
    "seconds": 0.5,
    "told": '{"status": "ok", "value": 1, "kind": "int"}',
    "printed": "",
    "printed_cut": False,
}


def read(**changed: object) -> Outcome:
    return replies.outcome(json.dumps(REPLY | changed).encode(), SMALL, {})


@pytest.mark.parametrize(
    ("told", "message"),
    [
        pytest.param("", "the program ended without giving a result", id="nothing"),
        pytest.param("x", "the result is not JSON", id="no JSON"),
        pytest.param("\xff", "the result is not JSON", id="no UTF-8"),
        pytest.param("[" * 4000, "the result is not JSON", id="deeply nested"),
        pytest.param("1" * 4000, "the result is not a JSON object", id="a number"),
        pytest.param('{"status": "ok"}{}', "the result is not JSON", id="two objects"),
        pytest.param("x" * 8193, "the result is larger than 8192 bytes", id="too large"),
        pytest.param("{}", "the result has no text 'status'", id="no status"),
        pytest.param('{"status": ["ok"]}', "the result has no text 'status'", id="a list"),
        pytest.param('{"status": "timeout"}', "the result has an unknown status", id="forged end"),
        pytest.param(
            '{"status": "ok", "kind": "x"}', "the result has no value that", id="no value"
        ),
        pytest.param(
            '{"status": "ok", "kind": "x", "value": NaN}', "the result is not JSON", id="NaN"
        ),
        pytest.param(
            '{"status": "ok", "kind": "x", "value": 1e999}',
            "the result has no value",
            id="infinite",
        ),
        pytest.param(
            '{"status": "ok", "kind": "x", "value": {}}', "the result has no value", id="an object"
        ),
        pytest.param('{"status": "ok", "value": 1}', "the result has no text 'kind'", id="no kind"),
        pytest.param('{"status": "error"}', "the result has no text 'message'", id="no message"),
    ],
)
def test_what_a_program_told_may_be_anything(told: str, message: str) -> None:
    outcome = read(told=told)
    assert (outcome.status, outcome.value) == ("no result", None)
    assert outcome.message.startswith(message)


def test_what_a_program_told_becomes_one_short_line() -> None:
    report = {"status": "error", "message": "a\n\ud800 " + "b" * 1000}
    outcome = read(told=json.dumps(report))
    assert outcome.message == "a ? " + "b" * 496


def test_the_time_limit_can_not_be_talked_away() -> None:
    assert read(ended="time").status == "timeout"


def test_a_failure_of_the_sandbox_is_no_outcome() -> None:
    with pytest.raises(SandboxError, match="a program could not be run: disk full"):
        replies.outcome(b'{"failed": "disk full"}', SMALL, {})


@pytest.mark.parametrize("column", [0, 1], ids=["x86_64", "aarch64"])
def test_every_denied_call_is_in_a_range_and_no_other(column: int) -> None:
    numbers = {row[column] for row in DENIED.values()} - {None}
    ranges = seccomp.ranges(column)
    covered = [n for first, last in ranges for n in range(first, last + 1)]
    assert sorted(covered) == sorted(n for n in numbers if n is not None)
    assert max(covered) <= LAST_KNOWN


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another architecture's header")
def test_the_numbers_of_calls_are_those_of_the_system() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if not header.is_file():
        pytest.skip("the system's headers are not installed")
    words = [line.split() for line in header.read_text(encoding="utf-8").splitlines()]
    known = {
        word[1].removeprefix("__NR_"): int(word[2])
        for word in words
        if len(word) == 3 and word[1].startswith("__NR_")
    }
    # An older header lacks newer calls.
    wrong = {name: row[0] for name, row in DENIED.items() if known.get(name, row[0]) != row[0]}
    assert wrong == {}


def test_every_architecture_has_a_filter_with_short_jumps() -> None:
    for machine in ("x86_64", "aarch64"):
        assert len(seccomp.steps(machine)) < 4096


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("x = 1", set(), id="none"),
        pytest.param("import numpy as np", {"numpy"}, id="NumPy"),
        pytest.param("from scipy import stats", {"scipy.stats"}, id="a part of SciPy"),
        pytest.param("import scipy", set(), id="SciPy alone loads its parts when they are used"),
        pytest.param("from sympy import *", {"sympy"}, id="SymPy"),
        pytest.param("numpydoc = mysympy", set(), id="longer names"),
    ],
)
def test_the_libraries_that_a_program_names_are_loaded(source: str, names: set[str]) -> None:
    bits = libraries.wanted(source)
    assert {name for n, name in enumerate(libraries.ON_REQUEST) if bits >> n & 1} == names
    assert len(libraries.ON_REQUEST) <= 8


def test_a_program_sees_installed_packages_but_no_other_folder_of_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(packages), "/no/site-packages"])
    assert folders.package_folders() == [str(packages)]
    readable = folders.readable_folders([str(packages), str(packages / "inside")])
    assert str(packages) in readable
    assert not any(
        path != other and path.startswith(other + "/") for path in readable for other in readable
    )


@pytest.mark.shared
def test_real_programs_run_fast(shared: Path) -> None:
    folder = shared / "data" / "financemath" / "validation" / "raw_pot_outputs"
    programs = []
    for path in sorted(folder.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))[:20]:
            fenced = str(row["output"]).partition("```python\n")[2].partition("```")[0]
            programs.append(Program(fenced))
    started = time.monotonic()
    with Sandbox(Limits(seconds=3), allow_weak=True) as made:
        outcomes = list(made.run(programs))
    assert {outcome.status for outcome in outcomes} <= {"ok", "error"}
    # Generous: 1,200 take about 15 s on two processors that do nothing else.
    assert time.monotonic() - started < 0.2 * len(programs)
