"""The outcomes of programs: their values, or why they have none."""

import importlib.util
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from evalcore.sandbox.sandbox import Outcome, Program, Sandbox
from tests.support.sandbox_programs import (
    SMALL,
    answer,
    forging,
    outcome_of,
    solution,
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SMALL, allow_weak=True) as made:
        yield made


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
            id="an end without a message",
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
