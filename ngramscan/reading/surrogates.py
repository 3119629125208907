r"""Lone surrogates in JSON: `"\ud83d"` without its other half can't be encoded in UTF-8.

Tools that cut texts by UTF-16 units write them. They are replaced or refused where a file is read,
so that nothing fails on them later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ngramscan.errors import InputError

_SUSPECT = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
_HALF = rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
_OTHERS_OR_HALF = re.compile(
    rb"(?:[^\\\xed]++"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole character
    rb"|(?!%(half)b)\\.)++"
    rb"|(%(half)b)"
    rb"|(\xed[\xa0-\xbf][\x80-\xbf])"  # a half as some encoders write it, which is no UTF-8
    % {b"half": _HALF},
    re.DOTALL,
)


def replace_halves(content: bytes) -> tuple[bytes, int]:
    """Replace lone surrogates in JSON by U+FFFD; return the content and their number.

    The length does not change, so positions stay valid. The content need not be valid JSON.
    """
    if not _SUSPECT.search(content):
        return content, 0
    replaced = 0

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal replaced
        if match[1] is None and match[2] is None:
            return match[0]
        replaced += 1
        return rb"\ufffd" if match[1] else "\N{REPLACEMENT CHARACTER}".encode()

    return _OTHERS_OR_HALF.sub(replace, content), replaced


def may_have_halves(content: bytes) -> bool:
    """Tell whether JSON may have lone surrogates; UTF-16, which has NULs, always may."""
    return bool(_SUSPECT.search(content)) or b"\0" in content


def refuse_halves(place: object, row: object) -> None:
    """Raise an InputError for a JSON value, or a row, with a lone surrogate in a text.

    Unlike outputs, tables are refused and not repaired: two different ids could become equal.
    """
    parts = row.items() if isinstance(row, dict) else [("a text", row)]
    for name, value in parts:
        for label, part in (("the name of a column", name), (name, value)):
            at = next((at for text in _texts_in(part) if (at := find_half(text)) >= 0), -1)
            if at >= 0:
                problem = f"{label} has a lone surrogate at character {at}, half of a character"
                raise InputError(place, f"{problem}; correct the row or leave it out")


def _texts_in(value: object) -> Iterator[str]:
    """Yield all texts in a value of JSON, keys included, at any depth."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            waiting += [*part, *part.values()]
        elif isinstance(part, list):
            waiting += part


def find_half(text: str) -> int:
    """Return the position of the first lone surrogate in a text; -1 if there is none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return -1


def describe_halves(where: str, number: int) -> str:
    """Return a notice on the number of lone surrogates in a file."""
    return f"{where}: halves of characters (lone surrogates) replaced by U+FFFD: {number}"
