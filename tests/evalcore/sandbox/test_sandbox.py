"""What programs answer, and what the sandbox says of itself and of the machine."""

import errno
import functools
import importlib.util
import itertools
import json
import math
import re
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalcore.sandbox import kernel, layers, seccomp
from evalcore.sandbox import sandbox as sandbox_module
from evalcore.sandbox.layers import Limits
from evalcore.sandbox.sandbox import Outcome, Program, Sandbox
from ngramscan.errors import SandboxError
from tests.support.cases import objects
from tests.support.command import invoke

needs_all_layers = pytest.mark.usefixtures("all_layers")
SMALL = Limits(seconds=60, memory_bytes=64 << 20, result_bytes=8192)
ENDLESS = "while True: pass"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SMALL, allow_weak=True) as made:
        yield made


@pytest.fixture
def all_layers(sandbox: Sandbox) -> None:
    missing = [f"{name} {state}" for name, state in sandbox.layers.items() if state != "ok"]
    if missing:
        pytest.skip(f"this machine lacks layers of the sandbox: {missing}")


def solution(body: str) -> Program:
    return Program(f"def solution():\n    {body}")


def answer(source: str) -> Program:
    return Program(source, "answer")


def forging(told: bytes, then: str = "os._exit(0)") -> Program:
    return answer(f"import os\nos.write(3, {told!r})\n{then}")


def outcome_of(sandbox: Sandbox, program: Program) -> Outcome:
    (outcome,) = sandbox.run([program])
    return outcome


def error_of(**options: Any) -> str:
    with pytest.raises(SandboxError) as caught, Sandbox(SMALL, **options) as made:
        outcome_of(made, answer("answer = 1"))
    return str(caught.value)


HAS_SYMPY = importlib.util.find_spec("sympy") is not None
WITH_SYMPY = pytest.mark.skipif(not HAS_SYMPY, reason="SymPy is not installed")
OWN_CLASS = """
from dataclasses import dataclass
@dataclass
class Point:
    x: "int"
"""


@pytest.mark.parametrize(
    ("program", "value", "kind"),
    [
        pytest.param(solution("return 0.1 + 0.2"), 0.30000000000000004, "float", id="a float"),
        pytest.param(solution("return -float('inf')"), "-inf", "float", id="an infinite float"),
        pytest.param(solution("return 'a\\ud800b'"), "a?b", "str", id="half a character"),
        pytest.param(solution("return 10**4299"), 10**4299, "int", id="a long integer"),
        pytest.param(
            Program(f"{OWN_CLASS}\ndef solution():\n    return Point(1).x"),
            1,
            "int",
            id="an own class",
        ),
        pytest.param(
            Program("if __name__ == '__main__': input()\ndef solution(): print('x'); return 1"),
            1,
            "int",
            id="a function whose module is not the main one",
        ),
        pytest.param(
            Program("import numpy as np\ndef solution():\n    return np.bool_(True)"),
            True,
            "bool",
            id="a truth value of NumPy",
        ),
        pytest.param(
            answer("import numpy as np\nanswer = np.linalg.inv(np.eye(2) * 4)[0, 0]"),
            0.25,
            "float64",
            id="a number of NumPy",
        ),
        pytest.param(
            answer("import numpy as np\nanswer = np.array([1, 2])"),
            "[1 2]",
            "ndarray",
            id="an array",
        ),
        pytest.param(
            answer("import numpy as np\nanswer = np.array([1/3, 1])"),
            "[0.3333333333333333 1.                ]",
            "ndarray",
            id="an array with all digits",
        ),
        pytest.param(
            answer("import numpy as np\nanswer = [np.array([1/3])]"),
            "[array([0.3333333333333333])]",
            "list",
            id="a list of arrays",
        ),
        pytest.param(
            answer("import numpy as np\nprint('x')\nprint(np.array([[1, 2], [3, 4]]))"),
            "[[1 2]\n [3 4]]",
            "str",
            id="a printed array of two lines",
        ),
        pytest.param(
            answer("answer = None\nprint(3)\nprint(' 4 ')\nprint()"),
            "4",
            "str",
            id="the last printed line that is not empty",
        ),
        pytest.param(
            answer("if __name__ == '__main__': answer = 7\nprint(3)\nimport sys\nsys.exit()"),
            7,
            "int",
            id="a variable goes before what is printed",
        ),
        pytest.param(
            answer("print('x' * 100_000)\nprint(9)\nexit(0)"),
            "9",
            "str",
            id="the end of much that is printed",
        ),
        pytest.param(
            answer("print('[0, 1)')\nprint('(0, 1]')"), "(0, 1]", "str", id="printed intervals"
        ),
        pytest.param(
            answer("print('[0, 1) [')\nprint('  2]')"), "2]", "str", id="brackets that do not match"
        ),
    ],
)
def test_the_value_of_a_program_comes_back(
    sandbox: Sandbox, program: Program, value: float | str, kind: str
) -> None:
    found = replace(outcome_of(sandbox, program), seconds=0.0)
    # As texts, since `1 == True == 1.0`.
    assert repr(found) == repr(Outcome("ok", value, kind, layers=sandbox.layers))


@WITH_SYMPY
@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        pytest.param("sqrt(8)/3", r"\frac{2 \sqrt{2}}{3}", "Mul", id="a number"),
        pytest.param(
            "Matrix([1])",
            r"\left[\begin{matrix}1\end{matrix}\right]",
            "MutableDenseMatrix",
            id="a matrix",
        ),
        pytest.param("log(2)", r"\ln{\left(2 \right)}", "log", id="a natural logarithm"),
        pytest.param(
            "And(Symbol('x') >= -1, Symbol('x') < 3)", "(x >= -1) & (x < 3)", "And", id="bounds"
        ),
        pytest.param("Integer(2) > 1", True, "BooleanTrue", id="a truth value"),
        pytest.param("Point(1, 2)", "Point2D(1, 2)", "Point2D", id="a point"),
        pytest.param("Poly(Symbol('x')**2 + 1)", "x^{2} + 1", "Poly", id="a polynomial"),
    ],
)
def test_a_variable_of_sympy_comes_back_as_people_write_it(
    sandbox: Sandbox, expression: str, value: str | bool, kind: str
) -> None:
    found = outcome_of(sandbox, answer(f"from sympy import *\nanswer = {expression}"))
    assert (found.status, repr(found.value), found.kind) == ("ok", repr(value), kind)


@WITH_SYMPY
@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        pytest.param("sqrt(8) * Symbol('x')", r"2 \sqrt{2} x", "Mul", id="a formula"),
        pytest.param("sqrt(2) / 2", 0.7071067811865476, "float", id="a number"),
        pytest.param("Integer(2)**61 - 1", 2**61 - 1, "int", id="an integer that no float is"),
        pytest.param("Integer(12)", 12.0, "float", id="a small integer"),
        pytest.param("2 * I", "2 i", "Mul", id="an imaginary number"),
    ],
)
def test_what_a_function_returns_is_a_number_where_sympy_knows_one(
    sandbox: Sandbox, expression: str, value: float | str, kind: str
) -> None:
    found = outcome_of(
        sandbox, Program(f"from sympy import *\ndef solution():\n    return {expression}")
    )
    assert (found.status, repr(found.value), found.kind) == ("ok", repr(value), kind)


@WITH_SYMPY
def test_memory_of_libraries_is_not_counted(sandbox: Sandbox) -> None:
    source = "import scipy.stats\nfrom sympy import *\nanswer = len(bytearray(1 << 25))"
    assert outcome_of(sandbox, answer(source)).value == 1 << 25


def test_what_a_program_names_is_loaded_before_it_runs(sandbox: Sandbox) -> None:
    is_loaded = "import sys\nanswer = 'num' + 'py' in sys.modules"
    assert outcome_of(sandbox, answer(f"{is_loaded} # numpydoc, my_numpy")).value is False
    assert outcome_of(sandbox, answer(f"{is_loaded} # import numpy as np")).value is True


def test_a_program_leaves_nothing_for_the_next(sandbox: Sandbox) -> None:
    leaves = "import os\nopen('left', 'w').close()\nos.left = 1\nanswer = os.listdir()"
    looks = "import os\nanswer = [os.listdir(), hasattr(os, 'left')]"
    found = list(sandbox.run([answer(leaves), answer(looks)]))
    assert [outcome.value for outcome in found] == ["['left']", "[[], False]"]


OWN_ERROR = """
class Own(Exception):
    def __str__(self):
        return 1 / 0
def solution():
    raise Own
"""


@pytest.mark.parametrize(
    ("program", "status", "message"),
    [
        pytest.param(
            solution("raise KeyError('solution')"),
            "error",
            "KeyError: 'solution'",
            id="an exception",
        ),
        pytest.param(
            Program("x = 1"),
            "error",
            "the program defines no function named solution",
            id="no function",
        ),
        pytest.param(
            Program("x = '\ud800'"), "error", "UnicodeEncodeError: ", id="half a character"
        ),
        pytest.param(
            solution("raise KeyboardInterrupt"), "error", "KeyboardInterrupt", id="an interruption"
        ),
        pytest.param(Program(OWN_ERROR), "error", "Own", id="an exception without a text"),
        pytest.param(answer("exit(1)"), "error", "SystemExit: 1", id="an exit"),
        pytest.param(answer("answer = input()"), "error", "EOFError: ", id="input"),
        pytest.param(
            answer("x = 1\nprint()"),
            "error",
            "no answer: no variable of that name, and nothing printed",
            id="nothing printed",
        ),
        pytest.param(
            solution("return 10**4300"),
            "no result",
            "the value is a whole number of too many digits",
            id="too many digits",
        ),
        pytest.param(
            solution("return 'x' * 10_000"),
            "no result",
            "the result is larger than 8192 bytes",
            id="too long a text",
        ),
        pytest.param(
            answer("print('x' * 10_000)"),
            "no result",
            "the last printed line is too long",
            id="too long a line",
        ),
        pytest.param(
            answer("print(1)\nprint('\\n' * 10_000)"),
            "no result",
            "the last printed line was followed by too many empty ones",
            id="too many empty lines",
        ),
        pytest.param(
            solution("import os; os._exit(0)"),
            "no result",
            "the program ended without giving a result",
            id="an end without a word",
        ),
        pytest.param(
            solution("import ctypes; ctypes.string_at(0)"),
            "killed",
            "ended by the signal SIGSEGV",
            id="a crash",
        ),
    ],
)
def test_a_program_without_a_value_says_why(
    sandbox: Sandbox, program: Program, status: str, message: str
) -> None:
    outcome = outcome_of(sandbox, program)
    assert (outcome.status, outcome.value, outcome.kind) == (status, None, "")
    assert outcome.message.startswith(message)
    assert "\n" not in outcome.message


def test_a_program_that_takes_too_much_memory_says_so(sandbox: Sandbox) -> None:
    if sandbox.layers["limits"] != "ok":
        pytest.skip(f"memory can't be limited here: {sandbox.layers['limits']}")
    takes = solution("return [b'x' * 10_000 + bytes(n) for n in range(10**9)]")
    outcome = outcome_of(sandbox, takes)
    assert (outcome.status, outcome.value, outcome.kind) == ("memory", None, "")
    assert outcome.message == "MemoryError: the memory limit was reached"


def test_a_forged_message_is_one_short_line(sandbox: Sandbox) -> None:
    told = json.dumps({"status": "error", "message": "a\n\ud800 " + "b" * 1000}).encode()
    outcome = outcome_of(sandbox, forging(told))
    assert (outcome.status, outcome.message) == ("error", "a ? " + "b" * 496)


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(b"{}x", id="more than JSON"),
        pytest.param(b"\xff", id="not UTF-8"),
        pytest.param(b"[" * 4000, id="nested too deeply"),
        pytest.param(b"1" * 4000, id="a number"),
        pytest.param(b'{"status": ["ok"]}', id="a list"),
        pytest.param(b'{"status": "timeout"}', id="what only others can say"),
        pytest.param(b'{"status": "error"}', id="no message"),
        pytest.param(b'{"status": "ok", "kind": "x"}', id="no value"),
        pytest.param(b'{"status": "ok", "value": 1}', id="no kind"),
        pytest.param(b'{"status": "ok", "kind": "x", "value": NaN}', id="not a number"),
        pytest.param(b'{"status": "ok", "kind": "x", "value": 1e999}', id="an infinite number"),
        pytest.param(b'{"status": "ok", "kind": "x", "value": {}}', id="an object"),
    ],
)
def test_a_program_that_forges_its_result_gains_nothing(sandbox: Sandbox, told: bytes) -> None:
    outcome = outcome_of(sandbox, forging(told))
    assert (outcome.status, outcome.value, outcome.kind) == ("no result", None, "")
    assert outcome.message == "the result is not JSON of the expected form"


def test_programs_run_at_once_in_order_and_are_read_only_as_they_are_needed() -> None:
    numbers = itertools.count()
    # Those behind end before those in front; one after the other, the last would begin 15 s late.
    source = "import time\nanswer = {0} * 1e9 + time.monotonic()\ntime.sleep(5 - {0} % 2 / 10)"
    with Sandbox(SMALL, allow_weak=True, workers=4) as made:
        assert list(made.run([])) == []
        outcomes = made.run(answer(source.format(number)) for number in numbers)
        values = [float(next(outcomes).value or 0) for _ in range(4)]
        found, started = np.divmod(values, 1e9)
        assert found.tolist() == [0, 1, 2, 3]
        assert max(started) - min(started) < 4.9
        outcomes.close()
    assert next(numbers) < 4 * (1 + sandbox_module.AHEAD_AT_MOST)


@needs_all_layers
@pytest.mark.parametrize("missing", [None, *layers.NAMES])
def test_all_layers_but_one_are_told_and_leave_packages_but_no_other_folder_of_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str | None
) -> None:
    packages = tmp_path / "site-packages"
    inside = packages / "inside" / "site-packages"
    inside.mkdir(parents=True)
    for folder, name in ((tmp_path, "own"), (packages, "installed"), (inside, "deep")):
        (folder / f"{name}.py").write_text("x = 1\n")
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), str(packages), str(inside), "/no"])
    states = {n: "missing: left out on request" if n == missing else "ok" for n in layers.NAMES}
    with Sandbox(SMALL, leave_out=[missing] if missing else []) as made:
        outcome = outcome_of(made, answer("import installed, deep\nanswer = installed.x + deep.x"))
        assert (outcome.value, outcome.layers, made.layers) == (2, states, states)
        assert outcome_of(made, answer("import own")).message.startswith("ModuleNotFoundError")
        assert outcome_of(made, answer(f"open({str(tmp_path / 'own.py')!r})")).status == "error"


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


def run_first(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Have the first process of each sandbox run a piece of code before it does anything."""
    before = "from evalcore.sandbox import kernel, layers, zygote\nimport ctypes, os, platform"
    start = sandbox_module.START.replace("\nmain(", f"\n{before}\n{code}\nmain(")
    monkeypatch.setattr(sandbox_module, "START", start)


REFUSING_KERNEL = """
def refuse(function, what, *arguments):
    if function == "unshare": os._exit(3)
    if function == "capset": raise OSError(1, "nope")
    if function == "prctl": ctypes.CDLL(None).no_such_function
    os.kill(os.getpid(), 9)
def setrlimit(*_): raise ValueError("a\\nb")
kernel.call, layers.resource.setrlimit = refuse, setrlimit
"""
OTHER_MACHINE = "kernel.NEW_USERS, platform.machine = -1, lambda: 'riscv64'"
IDLE_KERNEL = """
real = kernel.call
def idle(function, what, *arguments):
    if arguments[:1] == (444,): return os.open("/dev/null", os.O_RDONLY)
    return 0 if what.split()[0] in {"seccomp", "landlock"} else real(function, what, *arguments)
kernel.call, kernel.enter_namespaces, kernel.enter_for_program = idle, print, print
"""


@needs_all_layers
@pytest.mark.parametrize(
    ("code", "states"),
    [
        pytest.param(
            REFUSING_KERNEL,
            {
                "limits": "missing: a b",
                "privileges": "missing: nope",
                "namespaces": "missing: the trial ended with status 3",
                "landlock": "missing: the trial ended with status -9",
                "seccomp": "missing: .*no_such_function",
            },
            id="refusing",
        ),
        pytest.param(
            IDLE_KERNEL,
            {
                "limits": "ok",
                "privileges": "ok",
                "namespaces": "missing: accepted, but the new world shows the old one",
                "landlock": "missing: accepted, but the root folder can be listed",
                "seccomp": "missing: accepted, but a socket could be made",
            },
            id="idle",
        ),
        pytest.param(
            OTHER_MACHINE,
            {
                "limits": "ok",
                "privileges": "ok",
                "namespaces": "missing: unshare: Invalid argument",
                "landlock": "ok",
                "seccomp": "missing: the system calls of riscv64 are not known",
            },
            id="other machine",
        ),
    ],
)
def test_a_layer_that_the_kernel_refuses_or_does_not_keep_is_missing(
    monkeypatch: pytest.MonkeyPatch, code: str, states: dict[str, str]
) -> None:
    run_first(monkeypatch, code)
    with Sandbox(SMALL, allow_weak=True) as made:
        assert list(made.layers) == list(states)
        wrong = {
            name: state
            for name, state in made.layers.items()
            if not re.fullmatch(states[name], state)
        }
    assert wrong == {}


@needs_all_layers
def test_rows_and_a_warning_name_a_layer_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run_first(monkeypatch, "platform.machine = lambda: 'riscv64'")
    data, outputs = tmp_path / "q.jsonl", tmp_path / "q/m/pot.jsonl"
    outputs.parent.mkdir(parents=True)
    data.write_text('{"id": "1", "question": "?", "answer": "12"}\n')
    program = "```python\ndef solution():\n    return 12\n```"
    outputs.write_text(json.dumps({"id": "1", "output": program}) + "\n")
    options = ("--data", data, "--rule", "numbers", "-o", "-", "--format", "csv")
    ran = invoke("score", tmp_path / "q", *options)
    assert ran.code == 0
    (row,) = ran.rows
    missing = "missing: the system calls of riscv64 are not known"
    assert row["value"] == "1.0"
    assert row["sandbox"].endswith(f"landlock ok; seccomp {missing}")
    assert f"Warning: sandbox without seccomp ({missing})\n" in ran.stderr


@needs_all_layers
@pytest.mark.parametrize("version", [1, 3, 4])
def test_landlock_of_older_kernels_protects_files(
    monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    asks = f"{version} if each[2:] == (444, None, 0, 1) else real(*each)"
    run_first(monkeypatch, f"real = kernel.call\nkernel.call = lambda *each: {asks}")
    with Sandbox(SMALL, leave_out=["namespaces", "seccomp"]) as made:
        assert made.layers["landlock"] == "ok"
        assert outcome_of(made, answer("open('own', 'w').close()\nanswer = 1")).value == 1
        tried = [outcome_of(made, answer(f"open({path!r})")) for path in ("/etc/passwd", __file__)]
        assert [one.message.partition(":")[0] for one in tried] == ["PermissionError"] * 2


def test_another_system_lacks_the_layers_but_the_time_is_limited_whatever_the_program_tells(
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
    with Sandbox(Limits(seconds=0.5), allow_weak=True) as made:
        late = outcome_of(made, forging(told, ENDLESS))
    assert (late.status, late.value, late.message) == ("timeout", None, "not done within 0.5 s")
    assert 0.5 <= late.seconds < 60


@needs_all_layers
def test_a_zygote_that_does_not_move_is_replaced_or_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "GRACE_S", 0.2)
    monkeypatch.setattr(sandbox_module, "END_WITHIN_S", 0.2)
    with Sandbox(Limits(seconds=5), workers=4) as made:
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
    with Sandbox(Limits(seconds=600), allow_weak=True) as made:
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
    with Sandbox(Limits(seconds=float(seconds)), allow_weak=True) as made:
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


def filtered(steps: list[Any], machine: str, call: int, *arguments: int) -> int:
    """What a filter makes of a call: the kernel's virtual machine, as far as it is used."""
    record = {0: call, 4: seccomp.AUDIT_ARCHITECTURES[machine], 16: 0, 24: 0, 32: 0}
    record |= {16 + 8 * number: value for number, value in enumerate(arguments)}
    place = word = 0
    while True:
        code, if_true, if_false, operand = steps[place]
        if code == 0x06:
            return int(operand)
        word = record[operand] if code == 0x20 else word
        holds = {0x15: word == operand, 0x35: word >= operand, 0x20: False}[code]
        place += 1 + (if_true if holds else if_false)


@pytest.mark.parametrize(("machine", "column"), [("x86_64", 0), ("aarch64", 1)])
def test_every_denied_call_is_refused_and_no_other(machine: str, column: int) -> None:
    steps = list(struct.iter_unpack("=HBBI", seccomp.steps(machine)))
    made_of = functools.partial(filtered, steps, machine)
    allowed, refused, unknown = 0x7FFF0000, 0x00050000 + errno.EPERM, 0x00050000 + errno.ENOSYS
    denied = {int(row[column]) for row in seccomp.DENIED.values() if row[column] != "-"}
    # 0 is not among the values that these are allowed with.
    denied |= {seccomp.ALLOWED_VALUES[name].numbers[column] for name in ("prctl", "ioctl", "futex")}
    ends = {call: made_of(call) for call in range(seccomp.LAST_KNOWN + 1)}
    assert ends == dict.fromkeys(ends, allowed) | dict.fromkeys(denied, refused)
    assert made_of(seccomp.LAST_KNOWN + 1) == unknown
    for name, (numbers, argument, values) in seccomp.ALLOWED_VALUES.items():
        before = [7] * argument
        tried = {*range(2048), *FOR_OTHERS, *values}
        ends = {value: made_of(numbers[column], *before, value) for value in tried}
        assert ends == dict.fromkeys(ends, refused) | dict.fromkeys(values, allowed), name


# PR_SET_PTRACER, FIOSETOWN, SIOCSPGRP, FIOASYNC, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, a clock of
# the process 1
FOR_OTHERS = (
    0x59616D61,
    0x8901,
    0x8902,
    0x5452,
    0x40086602,
    0x401C5820,
    (~1 << 3 | 2) & 0xFFFFFFFF,
)
DENIED_ARGUMENTS = [
    *(("fcntl", 1, command) for command in (5, 6, 7, 8, 10, 15, 36, 37, 38)),
    *(("fcntl", 1, command) for command in (1024, 1025, 1026, 1029, 1033, 1035, 1036, 1038)),
    *(("ioctl", 1, command) for command in FOR_OTHERS),
    *(("madvise", 2, advice) for advice in (9, 12, 20, 21)),
    *(("futex", 1, operation) for operation in (0, 1, 3, 4, 9, 10)),
    *((name, 0, 1234) for name in ("prlimit64", "getpgid", "getsid", "sched_getaffinity")),
    *(
        ("clock_gettime", 0, FOR_OTHERS[-1]),
        ("timer_create", 0, FOR_OTHERS[-1]),
    ),
]


@pytest.mark.parametrize(("name", "argument", "value"), DENIED_ARGUMENTS)
def test_what_would_reach_others_by_a_value_is_denied(name: str, argument: int, value: int) -> None:
    """Locks, leases and watches of files, waiting on memory of a file, and other processes."""
    steps = list(struct.iter_unpack("=HBBI", seccomp.steps("x86_64")))
    call = seccomp.ALLOWED_VALUES[name].numbers[0]
    assert filtered(steps, "x86_64", call, *[0] * argument, value) == 0x00050000 + errno.EPERM


USUAL = """
import contextlib, io, os, random, sqlite3, statistics, sys, tempfile, threading, time
import numpy as np
from multiprocessing.dummy import Pool
with tempfile.TemporaryFile("w+") as file:
    file.write("5")
    file.seek(0)
    read = int(file.read())
with sqlite3.connect(":memory:") as base:
    (counted,) = base.execute("SELECT 1 + 1").fetchone()
with threading.Lock(), threading.Condition(), open("own.txt", "w") as own:
    own.write("x")
started, taken = time.time(), time.process_time()
time.sleep(0.001)
solved = np.linalg.solve(np.eye(200) * 2, np.ones(200)).sum()
mapped = np.memmap("array", dtype=float, mode="w+", shape=(100,))
terms = [sys.stdout.isatty(), os.cpu_count() > 0, len(os.sched_getaffinity(0)) > 0]
copied = os.dup(1)
os.set_inheritable(copied, True)
os.set_blocking(copied, True)
answer = [read, counted, round(solved), bool(time.perf_counter()), *terms, os.getpgid(0) >= 0]
"""


@pytest.mark.parametrize("leave_out", [[], ["namespaces"]], ids=["full", "no namespaces"])
def test_programs_do_what_programs_of_models_do(leave_out: list[str]) -> None:
    with Sandbox(leave_out=leave_out, allow_weak=True) as sandbox:
        (found,) = sandbox.run([answer(USUAL)])
    assert json.loads(str(found.value).lower()) == [5, 2, 100, True, False, True, True, True], found


LIMITS = """
import os, resource
limits = (resource.RLIMIT_AS, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_CORE)
made = 0
try:
    while made < 10_000:
        os.mkdir(str(made))
        made += 1
except OSError:
    pass
answer = [*(resource.getrlimit(limit)[1] for limit in limits), made + 1]  # and the folder itself
"""


def test_a_program_has_the_resources_that_security_md_names() -> None:
    with Sandbox(allow_weak=True) as sandbox:
        (found,) = sandbox.run([answer(LIMITS)])
    memory, *others = json.loads(str(found.value))
    assert 1 << 30 <= memory < 1.2 * (1 << 30), "more is what Python itself takes"
    assert others == [64, math.ceil(Limits().seconds) + 1, 0, 4096]
