"""Turns what came out of the sandbox into an outcome, believing none of it unseen.

What a program told may be anything; only its own outcome depends on it. What the supervisor adds
(how the program ended, when) can't be forged by the program.
"""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Mapping
from typing import Any, NoReturn

from evalcore.sandbox.base import Limits, Outcome, Status
from ngramscan.errors import SandboxError

NO_RESULT: Status = "no result"
STATUSES: Mapping[str, Status] = {
    "ok": "ok",
    "error": "error",
    "memory": "memory",
    "no result": NO_RESULT,
}
"""What a program may say of itself."""
NAME_AT_MOST, MESSAGE_AT_MOST = 100, 500


class MalformedError(ValueError):
    """A program told something that is no result."""


def outcome(reply: bytes, limits: Limits, layers: Mapping[str, str]) -> Outcome:
    """Read the reply of a supervisor.

    Parameters
    ----------
    reply : bytes
        One JSON object, as `supervisor.attend` makes it.
    limits : Limits
        Those of the program.
    layers : mapping
        Put into the outcome.

    Returns
    -------
    Outcome
        What became of the program.

    Raises
    ------
    SandboxError
        The sandbox itself failed; the program was not run.
    """
    parts: dict[str, Any] = json.loads(reply)
    if "failed" in parts:
        raise SandboxError(f"sandbox: a program could not be run: {parts['failed']}")
    seconds = parts["seconds"]
    if parts["ended"] == "time":
        message = f"not done within {limits.seconds:g} s"
        return Outcome("timeout", message=message, seconds=seconds, layers=layers)
    told = parts["told"].encode("latin-1")
    try:
        status, value, kind, message = result(told, parts, limits)
    except MalformedError as error:
        status, value, kind, message = NO_RESULT, None, "", str(error)
        if not told and parts["code"] < 0:
            status, message = "killed", ended_by(-parts["code"])
    return Outcome(status, value, kind, message, seconds, layers)


def result(
    told: bytes, parts: Mapping[str, Any], limits: Limits
) -> tuple[Status, float | int | bool | str | None, str, str]:
    """Check what a program told, and return the status, value, kind and message of its outcome.

    Parameters
    ----------
    told : bytes
        By the program, or by another that it put in its place.
    parts : mapping
        What the supervisor saw: how it ended, and what it printed.
    limits : Limits
        Those of the program.

    Raises
    ------
    MalformedError
        There is no result, or none that can be read.
    """
    if not told:
        raise MalformedError("the program ended without giving a result")
    if len(told) > limits.result_bytes:
        raise MalformedError(f"the result is larger than {limits.result_bytes} bytes")
    report = parsed(told)
    if report == {"status": "printed"}:
        line = last_line(parts["printed"], parts["printed_cut"])
        if line is None:
            return "error", None, "", "no answer: no variable of that name, and nothing printed"
        return "ok", line, "str", ""
    status = STATUSES.get(text(report, "status", NAME_AT_MOST))
    if status is None:
        raise MalformedError("the result has an unknown status")
    if status == "ok":
        return status, value_of(report), text(report, "kind", NAME_AT_MOST), ""
    return status, None, "", text(report, "message", MESSAGE_AT_MOST)


def parsed(told: bytes) -> dict[str, Any]:
    """Return the JSON object that a program told."""
    try:
        report = json.loads(told.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise MalformedError("the result is not JSON") from error
    if not isinstance(report, dict):
        raise MalformedError("the result is not a JSON object")
    return report


def refuse(constant: str) -> NoReturn:
    """Refuse what Python reads as a number though JSON does not know it."""
    raise ValueError(constant)


def text(report: Mapping[str, Any], name: str, most: int) -> str:
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
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise MalformedError("the result has no value that is a number or text")


def last_line(printed: str, cut: bool) -> str | None:
    """Return the last printed line that is not empty.

    Parameters
    ----------
    printed : str
        The end of what was printed.
    cut : bool
        Whether something was printed before it.

    Returns
    -------
    str or None
        The line without white space around it; None where all lines are empty.

    Raises
    ------
    MalformedError
        The beginning of the line is lost.
    """
    lines = printed.splitlines()
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number].strip()
        if line:
            if cut and number == 0:
                raise MalformedError("the last printed line is too long")
            return line
    if cut:
        raise MalformedError("the last printed line was followed by too many empty ones")
    return None


def ended_by(number: int) -> str:
    """Return how to tell of a signal that ended a program."""
    known = {each.value: each.name for each in signal.Signals}
    return f"ended by the signal {known.get(number, number)}"
