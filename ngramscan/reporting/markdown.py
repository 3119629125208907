"""Rows → a table in Markdown, for an issue, a README or a notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from ngramscan.progress import visible
from ngramscan.reporting.layout import cell

_MARKS = re.compile(r"([\\`*_\[\]<>|~$&])")
"""Signs that begin something in Markdown, or end a cell; a backslash before one makes it a text."""
_NUMBER = re.compile(r"[-+−<>]?\s*\.?\d[^A-Za-z]*(?:e[-+]?\d+)?|–")
"""A number as a text, perhaps with its interval."""


def to_markdown(rows: Sequence[Any], row_type: type) -> str:
    """Return rows as a table with pipes; columns without any value are left out.

    Numbers have three digits, as in the terminal, and are set to the right.
    """
    names = [
        field.name
        for field in fields(row_type)
        if not rows or any(getattr(row, field.name) not in {None, ""} for row in rows)
    ]
    texts = {name for name in names if any(_is_text(getattr(row, name)) for row in rows)}
    rules = [":---" if name in texts else "---:" for name in names]
    lines = [[_marked_off(cell(getattr(row, name))) for name in names] for row in rows]
    heads = [_marked_off(name.replace("_", " ")) for name in names]
    return "".join(_line(cells) for cells in (heads, rules, *lines))


def _is_text(value: object) -> bool:
    """Tell whether a value is words, not a formatted number."""
    return isinstance(value, str) and not _NUMBER.fullmatch(value)


def _marked_off(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _MARKS.sub(r"\\\1", visible(" ".join(text.split())))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
