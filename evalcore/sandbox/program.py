"""The report of a program: told in its own process, and read in the one that watches it.

The process is the program's own as soon as it runs: what is told there may be forged, as its answer
may be. So whoever reads it believes nothing unseen; only the program's own outcome depends on it.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from evalcore.sandbox.layers import RESULT

NAME_AT_MOST, MESSAGE_AT_MOST = 100, 500
SPARE_BYTES = 8 << 20
"""Set free when memory is used up, so that this can still be told."""
PRINTED = {"status": "printed"}
"""The program gave no variable `answer`: its last printed line counts."""

Report = dict[str, Any]


class MalformedError(ValueError):
    """There is no result, or none that can be passed on."""


def run(source: str, answer_from: str, result_bytes: int) -> None:
    """Run a program and write one JSON object about it, then end the process."""
    # Found beforehand, since the program may put its own in their places.
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
        return (
            report_of_solution(source) if answer_from == "solution()" else report_of_script(source)
        )
    except MemoryError:
        spare.close()
        return {"status": "memory", "message": "MemoryError: the memory limit was reached"}
    except MalformedError as error:
        return {"status": "no result", "message": str(error)}
    except BaseException as error:  # noqa: BLE001 - SystemExit and own exceptions are errors too
        return {"status": "error", "message": message_of(error)}


def report_of_solution(source: str) -> Report:
    """Run a program whose `print` does nothing, and report the value of its `solution()`."""
    module = ModuleType("program")
    module.__dict__["print"] = lambda *_, **__: None
    execute(source, module)
    if "solution" not in module.__dict__:
        return {"status": "error", "message": "the program defines no function named solution"}
    value = module.__dict__["solution"]()
    sympy = sys.modules.get("sympy")
    if sympy is not None and isinstance(value, sympy.Expr) and value.is_number and value.is_real:
        # As whoever called `solution()` would read it.
        value = float(value)
    return described(value)


def report_of_script(source: str) -> Report:
    """Run a program as a script, and report its variable `answer`, if it sets any."""
    module = ModuleType("__main__")
    try:
        execute(source, module)
    except SystemExit as end:
        if end.code is not None and end.code != 0:
            raise
    value = module.__dict__.get("answer")
    if value is not None:
        return described(value)
    # What was printed leaves this process also where the program put its own in between.
    for stream in (sys.stdout, sys.__stdout__):
        if stream is not None and not getattr(stream, "closed", True):
            stream.flush()
    return PRINTED


def execute(source: str, module: ModuleType) -> None:
    """Run a program in a module that it can find under its own name."""
    sys.modules[module.__name__] = module
    exec(compile(source, "<program>", "exec", dont_inherit=True), module.__dict__)


def message_of(error: BaseException) -> str:
    """Return the kind and the text of an exception, as one short line."""
    try:
        text = " ".join(str(error).split())
    except BaseException:  # noqa: BLE001 - the program may have written this exception's text
        text = ""
    return f"{type(error).__name__}: {text}"[:MESSAGE_AT_MOST].removesuffix(": ")


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
        try:
            str(int(value))
        except ValueError as error:
            problem = "the value is a whole number of too many digits"
            raise MalformedError(problem) from error
        return int(value)
    if isinstance(value, float):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if sympy is not None and isinstance(value, (sympy.Basic, sympy.MatrixBase)):
        return str(sympy.latex(value))
    return str(value)


def read_report(told: bytes, printed: str, is_cut: bool, result_bytes: int) -> Report:
    """Return what a program told and printed as the status, value, kind and message of an outcome.

    `printed` is the end of what was printed; `is_cut`: something was printed before it. Raises
    MalformedError where there is no result, or none that can be read.
    """
    if not told:
        raise MalformedError("the program ended without giving a result")
    if len(told) > result_bytes:
        raise MalformedError(f"the result is larger than {result_bytes} bytes")
    try:
        report = json.loads(told.decode(), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise MalformedError("the result is not JSON") from error
    if not isinstance(report, dict):
        raise MalformedError("the result is not a JSON object")
    if report == PRINTED:
        return last_line(printed, is_cut)
    status = text(report, "status")
    if status == "ok":
        return {"status": status, "value": value_of(report), "kind": text(report, "kind")}
    if status in {"error", "memory", "no result"}:
        return {"status": status, "message": text(report, "message", MESSAGE_AT_MOST)}
    raise MalformedError("the result has an unknown status")


def refuse(constant: str) -> NoReturn:
    """Refuse what Python reads as a number though JSON does not know it."""
    raise ValueError(constant)


def text(report: Mapping[str, Any], name: str, most: int = NAME_AT_MOST) -> str:
    """Return a short text of a report, as one line that can be written anywhere."""
    found = report.get(name)
    if not isinstance(found, str):
        raise MalformedError(f"the result has no text {name!r}")
    return " ".join(writable(found).split())[:most]


def writable(found: str) -> str:
    """Return a text without halves of characters, which no file takes."""
    return found.encode("utf-8", "replace").decode("utf-8")


def value_of(report: Mapping[str, Any]) -> float | int | bool | str:
    """Return the value of a report: a finite number, a truth value or text."""
    value = report.get("value")
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise MalformedError("the result has no value that is a number or text")


def last_line(printed: str, is_cut: bool) -> Report:
    """Return the last printed line that is not empty, as the answer of a program."""
    *before, last = printed.rstrip().splitlines() or [""]
    if last:
        if is_cut and not before:
            raise MalformedError("the last printed line is too long")
        return {"status": "ok", "value": last.strip(), "kind": "str"}
    if is_cut:
        raise MalformedError("the last printed line was followed by too many empty ones")
    message = "no answer: no variable of that name, and nothing printed"
    return {"status": "error", "message": message}
