"""Brackets of a formula: how deep each character is, what encloses a text, where it is cut."""

import re
from itertools import accumulate

_CLOSING_BRACKETS = {
    "(": ")",
    "[": "]",
    "{": "}",
    "⦃": "⦄",  # of a set
    "⟦": "⟧",  # of a column
    "⟪": "⟫",  # of a row
}
_STEPS = dict.fromkeys(_CLOSING_BRACKETS, 1) | dict.fromkeys(_CLOSING_BRACKETS.values(), -1)


def levels(text: str) -> list[int]:
    """Return how many brackets are open behind each character."""
    return list(accumulate(_STEPS.get(char, 0) for char in text))


def enclosed(text: str) -> tuple[str, str]:
    """Return the pair of brackets that encloses a text, and its content; empty and all if none."""
    level = levels(text)
    is_enclosed = bool(level) and level[-1] == 0 and 0 not in level[:-1]
    if not is_enclosed or not re.fullmatch(r"[(\[{⦃⟦⟪].*[)\]}⦄⟧⟫]", text):
        return "", text
    return text[0] + text[-1], text[1:-1].strip()


def split(text: str, separators: str) -> list[str]:
    """Cut a text where a separator stands outside all brackets; what its groups match is kept."""
    level, parts, start = levels(text), list[str](), 0
    for match in re.finditer(separators, text):
        if level[match.start()] == 0:
            parts += [text[start : match.start()].strip(), *match.groups()]
            start = match.end()
    return [*parts, text[start:].strip()]
