"""AICrypto: proof problems of three exams, one LaTeX file each, with their points."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalcore.datasets.base import Problem
from evalcore.datasets.reading import decode
from ngramscan.errors import InputError

_HEADING = re.compile(
    r"(?:\\paragraph\{|\*\*)Problem (?P<number>\d+) \((?P<points>\d+) points?\)(?:\}|\*\*)"
)
"""One of the published files has its heading in Markdown."""
_ALL_POINTS = 330


def parse_aicrypto(files: Sequence[tuple[str, bytes]]) -> tuple[list[Problem], list[str]]:
    """Return the problems of files given as `examN/problemM.tex` and content, and their faults.

    Raises
    ------
    InputError
        A file has no heading with its number and points, or several.
    """
    problems = [_problem(name, content) for name, content in files]
    points = sum(each.details["points"] for each in problems)
    if points != _ALL_POINTS:
        return problems, [f"the points add up to {points}; the benchmark has {_ALL_POINTS}"]
    return problems, []


def _problem(name: str, content: bytes) -> Problem:
    text = decode(content, name).strip()
    identifier = name.removesuffix(".tex")
    exam, _, number = identifier.partition("/problem")
    found = list(_HEADING.finditer(text))
    if len(found) != 1:
        expected = f"\\paragraph{{Problem {number} (P points)}}"
        raise InputError(name, f"{len(found)} headings with points; expected one {expected}")
    if found[0]["number"] != number:
        raise InputError(name, f"its heading is of problem {found[0]['number']}")
    details = {"points": int(found[0]["points"])}
    return Problem(identifier, text, gold=None, subtask=exam, details=details)
