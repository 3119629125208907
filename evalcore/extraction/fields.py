"""Answers in a field of a JSON object: `{"steps": "9*2", "answer": 18}`."""

import json
import re
from contextlib import suppress

_NAME = re.compile(r"(?:final|correct)?answer|final(?:result)?", re.IGNORECASE)
_WITHIN_FENCE = re.compile(
    r"^[ \t]*```(?:json[c5]?)?[ \t]*\n(?P<content>(?:(?![ \t]*```).*\n)*)[ \t]*```", re.MULTILINE
)
_FLAT_OBJECT = re.compile(r"\{[^{}]{0,2000}\}")
_ESCAPE = re.compile(r'\\(?:["\\/]|u[0-9A-Fa-f]{4})|\\')


def answer_field(text: str) -> str | None:
    """Take the field `answer` of the last JSON object that has one: all of a text, or in it."""
    blocks = [block["content"] for block in _WITHIN_FENCE.finditer(text)]
    flat_objects = [match[0] for match in _FLAT_OBJECT.finditer(text)]
    for candidate in (text, *reversed(blocks), *reversed(flat_objects)):
        if candidate.strip().startswith("{") and (answer := _answer_in(candidate)):
            return answer
    return None


def _answer_in(text: str) -> str | None:
    """Return the answer of the object that a text is; None if it is something else."""
    fields = None
    with suppress(ValueError, RecursionError):
        # models write `\frac` in JSON, where `\f` is another character
        written = _ESCAPE.sub(lambda escape: r"\\" if escape[0] == "\\" else escape[0], text)
        fields = json.loads(written, strict=False, parse_int=str, parse_float=str)
    if not isinstance(fields, dict):
        return None
    answers = [value for name, value in fields.items() if _is_answer(name)]
    return _as_text(answers[0]) if len(answers) == 1 else None


def _is_answer(name: str) -> bool:
    return bool(_NAME.fullmatch(re.sub(r"[\s_-]", "", name)))


def _as_text(value: object) -> str | None:
    """Return a value as a model would write it in a sentence; None for an object or nothing."""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        parts = [_as_text(part) for part in value]
        return ", ".join(part for part in parts if part) if all(parts) else None
    return None
