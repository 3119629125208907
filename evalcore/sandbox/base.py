"""What goes into the sandbox, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "error", "timeout", "memory", "killed", "no result", "lost"]
"""`lost`: the sandbox failed while the program ran, which says nothing of the program."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use."""

    seconds: float = 30.0
    memory_bytes: int = 1 << 30
    result_bytes: int = 1 << 16
    """Of the JSON that comes back."""
    files_bytes: int = 64 << 20
    """Of the temporary folder."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program, and where its answer is."""

    source: str
    answer_from: Literal["solution()", "answer"] = "solution()"
    """The value of `solution()` called without arguments; or of the variable `answer` when the
    program has ended, else its last printed line that is not empty."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a program."""

    status: Status
    value: float | int | bool | str | None = None
    """A number (finite ones as such, others as text), a truth value, or text: SymPy's values as
    LaTeX, everything else by `str`. Of `solution()`, SymPy's real numbers are numbers too."""
    kind: str = ""
    """The name of the value's type in the program: `float`, `ndarray`."""
    message: str = ""
    """Of the exception, or what ended it; one line."""
    seconds: float = 0.0
    layers: Mapping[str, str] | None = None
    """Of each layer of the sandbox `ok`, or `missing: reason`."""
