"""What a judge replied → a value, or an error that says why it can't be read.

Strict on purpose: a reply that says two things, or nothing that was asked for, is unparsed. It is
counted as such, never guessed at and never a wrong answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

MOST_POINTS = 7
CAUSES = ("A", "B", "C")
_BOXED = re.compile(r"\\boxed\s*\{\s*(?:\\text\s*\{\s*)?(Correct|Incorrect)\s*\}")
_POINTS = re.compile(r"<points>\s*(\d+)\s+out\s+of\s+7\s*</points>", re.IGNORECASE)
_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*?)\n?```\Z", re.DOTALL)


class UnparsedError(ValueError):
    """A reply is not what the judge was asked for."""


class Judgement(NamedTuple):
    """What a judge said."""

    value: float | None
    """From 0 to 1; None where it is a label without an order."""
    label: str
    """As the judge's scale has it: `Correct`, `6`, `82.5`, `A`."""
    reason: str
    """What the judge gave as its reason, where it was asked for one."""


def _boxed(reply: str) -> Judgement:
    label = _the_one([match[1] for match in _BOXED.finditer(reply)], "\\boxed{Correct} or …")
    return Judgement(float(label == "Correct"), label, "")


def _points(reply: str) -> Judgement:
    label = _the_one([match[1] for match in _POINTS.finditer(reply)], "<points>N out of 7</points>")
    if int(label) > MOST_POINTS:
        raise UnparsedError(f"{label} points; 0 to {MOST_POINTS} were expected")
    return Judgement(int(label) / MOST_POINTS, label, "")


def _the_one(found: list[str], expected: str) -> str:
    if not found:
        raise UnparsedError(f"no {expected} in the reply")
    if len(set(found)) > 1:
        raise UnparsedError(f"it says both {found[0]} and {found[-1]}")
    return found[0]


def _score(reply: str) -> Judgement:
    said = _object(reply)
    score = said.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 100:
        raise UnparsedError(f"score {json.dumps(score)}; a number from 0 to 100 was expected")
    return Judgement(score / 100, f"{score:g}", _words(said.get("feedback")))


def _cause(reply: str) -> Judgement:
    said = _object(reply)
    cause = said.get("cause")
    if not isinstance(cause, str) or cause not in CAUSES:
        raise UnparsedError(f"cause {json.dumps(cause)}; one of {', '.join(CAUSES)} was expected")
    return Judgement(None, cause, _words(said.get("why")))


def _object(reply: str) -> dict[str, Any]:
    text = reply.strip()
    if fenced := _FENCED.match(text):
        text = fenced[1]
    try:
        said = json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise UnparsedError(f"no JSON: {error}") from error
    if not isinstance(said, dict):
        raise UnparsedError("no JSON object")
    return said


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that says something twice: parsers differ in which they keep."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a key stands in it twice")
    return dict(pairs)


def _words(value: object) -> str:
    return " ".join(str(value or "").split())


FORMS: dict[str, Callable[[str], Judgement]] = {
    "boxed": _boxed,
    "points of 7": _points,
    "json score": _score,
    "json cause": _cause,
}
"""How replies are read; each may raise an UnparsedError."""
