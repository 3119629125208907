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

TEXT_AT_MOST = 500
Report = dict[str, Any]


def one_line(text: str) -> str:
    """Return a text as one short line."""
    return " ".join(text.split())[:TEXT_AT_MOST]


def failure(status: str, message: str) -> Report:
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


def report_of(source: str, answer_from: str) -> Report:
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


def report_of_solution(code: CodeType, names: dict[str, Any]) -> Report:
    """Run a program whose `print` does nothing, and report the value of its `solution()`."""
    names["print"] = lambda *_, **__: None
    exec(code, names)
    if "solution" not in names:
        return failure("error", "the program defines no function named solution")
    value = names["solution"]()
    sympy = sys.modules.get("sympy")
    if sympy is not None and isinstance(value, sympy.Expr) and value.is_number and value.is_real:
        # As whoever called `solution()` would read it.
        value = float(value)
    return describe(value)


def report_of_script(code: CodeType, names: dict[str, Any]) -> Report:
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


def describe(value: Any) -> Report:
    """Return the report of a value: numbers that JSON can hold as such, all else as text."""
    numpy, sympy, kind = sys.modules.get("numpy"), sys.modules.get("sympy"), type(value).__name__
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, bool):
        value = bool(value)
    elif isinstance(value, int):
        value = int(value)
        if abs(value) >= 10**4300:  # more than Python reads
            return failure("no result", "the value is a whole number of too many digits")
    elif isinstance(value, float):
        value = float(value) if math.isfinite(value) else str(float(value))
    elif sympy is not None and isinstance(value, (sympy.Basic, sympy.MatrixBase)):
        value = str(sympy.latex(value))
    else:
        value = str(value)
    return {"status": "ok", "value": value, "kind": kind}


def read_report(reported: bytes, printed: bytes, result_bytes: int) -> Report:
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


def last_line(printed: bytes, result_bytes: int) -> Report:
    """Return the last printed line that is not empty, as the answer of a program."""
    is_cut = len(printed) > result_bytes
    *before, last = printed[-result_bytes:].decode(errors="replace").rstrip().splitlines() or [""]
    if last and is_cut and not before:
        return failure("no result", "the last printed line is too long")
    if last:
        return {"status": "ok", "value": last.strip(), "kind": "str"}
    if is_cut:
        return failure("no result", "the last printed line was followed by too many empty ones")
    return failure("error", "no answer: no variable of that name, and nothing printed")
