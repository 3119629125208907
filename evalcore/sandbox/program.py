"""Runs a program in this process, and tells its answer as JSON.

This is the last code of ours in a process that the program owns from then on: what is written here
may be forged by the program, as its answer may be, and is checked again where it arrives.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import sys
from types import ModuleType
from typing import Any

from evalcore.sandbox.confinement import RESULT

MESSAGE_AT_MOST = 500
SPARE_BYTES = 8 << 20
"""Set free when memory is used up, so that this can still be told."""
ANSWER_MISSING = {"status": "printed"}
"""The program gave no variable `answer`: its last printed line counts."""

Report = dict[str, Any]


class NoSolutionError(Exception):
    """The program lacks the function that was to be called."""


class TooLargeError(Exception):
    """A value that can't be passed on."""


def run(source: str, answer_from: str, result_bytes: int) -> None:
    """Run a program and write one JSON object about it, then end the process.

    Parameters
    ----------
    source : str
        The program.
    answer_from : str
        `solution()` or `answer`; see `Program`.
    result_bytes : int
        Of the JSON, at most.
    """
    write, leave = os.write, os._exit
    dumps = json.JSONEncoder(check_circular=False).encode
    report = report_of(source, answer_from)
    data = dumps(report).encode()
    if len(data) > result_bytes:
        text = f"the result is larger than {result_bytes} bytes"
        data = dumps({"status": "no result", "message": text}).encode()
    while data:
        data = data[write(RESULT, data) :]
    leave(0)


def report_of(source: str, answer_from: str) -> Report:
    """Return what to tell about a program: its value, or why it has none."""
    spare = mmap.mmap(-1, SPARE_BYTES)
    try:
        if answer_from == "solution()":
            return described(number_of(value_of_solution(source)))
        value = value_of_answer(source)
        if value is not None:
            return described(value)
        flush()
    except MemoryError:
        spare.close()
        return {"status": "memory", "message": "MemoryError: the memory limit was reached"}
    except TooLargeError as error:
        return {"status": "no result", "message": str(error)}
    except BaseException as error:  # noqa: BLE001 - SystemExit and own exceptions are errors too
        return {"status": "error", "message": message_of(error)}
    return ANSWER_MISSING


def value_of_solution(source: str) -> Any:
    """Run a program whose `print` does nothing, and return the value of its `solution()`."""
    module = ModuleType("program")
    module.__dict__["print"] = print_nothing
    execute(source, module)
    if "solution" not in module.__dict__:
        raise NoSolutionError("the program defines no function named solution")
    return module.__dict__["solution"]()


def number_of(value: Any) -> Any:
    """Return a real number of SymPy as a float, as whoever called `solution()` would read it."""
    sympy = sys.modules.get("sympy")
    if sympy is not None and isinstance(value, sympy.Expr) and value.is_number and value.is_real:
        return float(value)
    return value


def print_nothing(*_: object, **__: object) -> None:
    """Take the place of `print`."""


def value_of_answer(source: str) -> Any:
    """Run a program as a script; return its variable `answer`, or None where it sets none."""
    module = ModuleType("__main__")
    try:
        execute(source, module)
    except SystemExit as end:
        if end.code is not None and end.code != 0:
            raise
    return module.__dict__.get("answer")


def execute(source: str, module: ModuleType) -> None:
    """Run a program in a module that it can find under its own name."""
    sys.modules[module.__name__] = module
    exec(compile(source, "<program>", "exec", dont_inherit=True), module.__dict__)


def flush() -> None:
    """Let what was printed leave this process, also where the program put its own in between."""
    for stream in (sys.stdout, sys.__stdout__):
        if stream is not None and not getattr(stream, "closed", True):
            stream.flush()


def message_of(error: BaseException) -> str:
    """Return the kind and the text of an exception, as one short line."""
    kind = "" if isinstance(error, NoSolutionError) else f"{type(error).__name__}: "
    try:
        text = " ".join(str(error).split())
    except BaseException:  # noqa: BLE001 - the program may have written this exception's text
        text = ""
    return (kind + text)[:MESSAGE_AT_MOST].removesuffix(": ")


def described(value: Any) -> Report:
    """Return the report on a value: numbers as such, all else as text."""
    return {"status": "ok", "value": plain(value), "kind": type(value).__name__}


def plain(value: Any) -> bool | int | float | str:
    """Return a value as what JSON can hold without loss."""
    numpy, sympy = sys.modules.get("numpy"), sys.modules.get("sympy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, float):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if sympy is not None and isinstance(value, (sympy.Basic, sympy.MatrixBase)):
        return str(sympy.latex(value))
    return str(value)


def whole(value: int) -> int:
    """Return a whole number that others can read as digits, or refuse it."""
    try:
        str(int(value))
    except ValueError as error:
        raise TooLargeError("the value is a whole number of too many digits") from error
    return int(value)
