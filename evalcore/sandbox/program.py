"""The report of a program: told in its own process, and read in the one that watches it.

The process belongs to the program as soon as it runs, so a report may be forged, like an answer.
Its reader checks everything.
"""

import contextlib
import json
import math
import mmap
import os
import sys
from types import CodeType, ModuleType
from typing import Any

from evalcore.sandbox.layers import RESULT

TEXT_AT_MOST, LINES_AT_MOST = 500, 100
ProgramReport = dict[str, Any]


def one_line(text: str) -> str:
    """Return a text as one short line."""
    return " ".join(text.split())[:TEXT_AT_MOST]


def failure(status: str, message: str) -> ProgramReport:
    """Return the report of a program without a value."""
    return {"status": status, "message": one_line(message)}


def run(source: str, answer_from: str) -> None:
    """Run a program and write one JSON object about it, then end the process."""
    # Found beforehand, since the program may put its own in their places.
    write, leave = os.write, os._exit
    dumps = json.JSONEncoder(check_circular=False).encode
    data = dumps(report_of(source, answer_from)).encode()
    while data:
        data = data[write(RESULT, data) :]
    leave(0)


def report_of(source: str, answer_from: str) -> ProgramReport:
    """Return what to tell about a program: its value, or why it has none."""
    # Set free when memory is used up, so that this can still be told.
    spare = mmap.mmap(-1, 8 << 20)
    is_function = answer_from == "solution()"
    module = ModuleType("program" if is_function else "__main__")
    sys.modules[module.__name__] = module
    try:
        code = compile(source, "<program>", "exec", dont_inherit=True)
        return (report_of_solution if is_function else report_of_script)(code, module.__dict__)
    except MemoryError:
        spare.close()
        return failure("memory", "MemoryError: the memory limit was reached")
    except BaseException as error:  # noqa: BLE001 - SystemExit and own exceptions are errors too
        return failure("error", message_of(error))


def report_of_solution(code: CodeType, names: dict[str, Any]) -> ProgramReport:
    """Run a program whose `print` does nothing, and report the value of its `solution()`."""
    names["print"] = lambda *_, **__: None
    exec(code, names)
    if "solution" not in names:
        return failure("error", "the program defines no function named solution")
    value = names["solution"]()
    sympy = sys.modules.get("sympy")
    if sympy is not None and isinstance(value, sympy.Expr) and value.is_number and value.is_real:
        # As whoever called `solution()` would read it; a float would lose digits of an integer.
        value = int(value) if value.is_Integer and abs(value) > 2**53 else float(value)
    return describe(value)


def report_of_script(code: CodeType, names: dict[str, Any]) -> ProgramReport:
    """Run a program as a script, and report its variable `answer`, if it sets any."""
    try:
        exec(code, names)
    except SystemExit as end:
        if end.code is not None and end.code != 0:
            raise
    if names.get("answer") is not None:
        return describe(names["answer"])
    # What was printed leaves this process also where the program put its own in between.
    for stream in (sys.stdout, sys.__stdout__):
        if stream is not None and not getattr(stream, "closed", True):
            stream.flush()
    return {"status": "printed"}


def message_of(error: BaseException) -> str:
    """Return the kind and the text of an exception."""
    try:
        return f"{type(error).__name__}: {error}".removesuffix(": ")
    except BaseException:  # noqa: BLE001 - the program may have written this exception's text
        return type(error).__name__


def describe(value: Any) -> ProgramReport:
    """Return the report of a value: numbers that JSON can hold as such, all else as text."""
    kind, value = type(value).__name__, without_library(value)
    if isinstance(value, bool):
        value = bool(value)
    elif isinstance(value, int):
        value = int(value)
        if abs(value) >= 10**4300:  # more than Python reads
            return failure("no result", "the value is a whole number of too many digits")
    elif isinstance(value, float):
        value = float(value) if math.isfinite(value) else str(float(value))
    else:
        value = text_of(value)
    return {"status": "ok", "value": value, "kind": kind}


def without_library(value: Any) -> Any:
    """Return Python's own value for one of NumPy's scalars or SymPy's truth values."""
    numpy, sympy = sys.modules.get("numpy"), sys.modules.get("sympy")
    if sympy is not None and isinstance(value, sympy.logic.boolalg.BooleanAtom):
        return bool(value)
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    return value


def text_of(value: Any) -> str:
    """Return the text of a value: LaTeX for SymPy's, all digits for arrays, else `str`."""
    numpy, sympy = sys.modules.get("numpy"), sys.modules.get("sympy")
    if sympy is not None and isinstance(value, (sympy.Basic, sympy.MatrixBase)):
        return text_of_symbols(sympy, value)
    if numpy is None:
        return str(value)
    with numpy.printoptions(precision=17, threshold=sys.maxsize):
        return str(value)


def text_of_symbols(sympy: Any, value: Any) -> str:
    """Return a value of SymPy as LaTeX, or as Python where its LaTeX is not what people write."""
    if isinstance(value, (sympy.And, sympy.Or, sympy.Point)):
        return str(value)
    if isinstance(value, sympy.Poly):
        value = value.as_expr()
    return str(sympy.latex(value, ln_notation=True))  # to other readers, `log` has the base 10


def read_report(reported: bytes, printed: bytes, result_bytes: int) -> ProgramReport:
    """Return what a program reported and printed: status, value, kind and message of an outcome.

    `reported` is the beginning, and `printed` the end, of what was written; each is one byte
    longer than `result_bytes` where there was more.
    """
    if not reported:
        return failure("no result", "the program ended without giving a result")
    if len(reported) > result_bytes:
        return failure("no result", f"the result is larger than {result_bytes} bytes")
    with contextlib.suppress(ValueError, RecursionError):
        match json.loads(reported.decode()):
            case {"status": "printed"}:
                return last_line(printed, result_bytes)
            case {"status": "ok", "value": str() | int() | float() as value, "kind": str(kind)}:
                if not isinstance(value, float) or math.isfinite(value):
                    return {"status": "ok", "value": value, "kind": one_line(kind)}
            case {"status": "error" | "memory" | "no result" as status, "message": str(message)}:
                return failure(status, message)
    return failure("no result", "the result is not JSON of the expected form")


def last_line(printed: bytes, result_bytes: int) -> ProgramReport:
    """Return the last printed line that is not empty, as the answer of a program."""
    is_cut = len(printed) > result_bytes
    *before, last = printed[-result_bytes:].decode(errors="replace").rstrip().splitlines() or [""]
    if last and is_cut and not before:
        return failure("no result", "the last printed line is too long")
    if last:
        return {"status": "ok", "value": with_opening_lines(before, last).strip(), "kind": "str"}
    if is_cut:
        return failure("no result", "the last printed line was followed by too many empty ones")
    return failure("error", "no answer: no variable of that name, and nothing printed")


def with_opening_lines(before: list[str], last: str) -> str:
    """Return the last line, with those before it if it is the indented end of an array."""
    lines = [last]
    for line in before[: -LINES_AT_MOST - 1 : -1]:
        if not lines[-1].startswith(" "):
            break
        lines.append(line)
    text = "\n".join(reversed(lines))
    is_array = last.count("]") > last.count("[") and text.count("]") == text.count("[")
    return text if is_array else last
