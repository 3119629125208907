"""Word sorting of BIG-Bench Hard: the task without equations."""

from __future__ import annotations

from pathlib import Path

from evalcore.datasets.base import Problem
from evalcore.datasets.reading import decode, parse_json, rows_of
from ngramscan.errors import InputError


def parse_word_sorting(content: bytes, path: Path) -> tuple[list[Problem], list[str]]:
    """Return the problems of `word_sorting.json` and what is wrong with it, or raise InputError."""
    document = parse_json(decode(content, str(path)), str(path))
    if not isinstance(document, dict) or "examples" not in document:
        raise InputError(str(path), "no list of examples; expected BIG-Bench Hard's JSON")
    problems = [
        Problem(
            id=f"word_sorting-{number}",
            text=row.text("input"),
            gold=row.text("target"),
            subtask="word_sorting",
        )
        for number, row in enumerate(rows_of(document["examples"], str(path)))
    ]
    marked = isinstance(document.get("canary"), str)
    return problems, [] if marked else ["the canary that keeps it out of training data is gone"]
