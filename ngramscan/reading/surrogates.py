r"""Halves of characters in JSON: `"\ud83d"` without the other half is not text that UTF-8 can hold.

Tools that cut texts by their own units write them. They are replaced where a file is read, so that
nothing later ends in the middle of its work over one of them.
"""

from __future__ import annotations

import re

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
    """Replace the halves of characters in JSON by U+FFFD; return it, and how many they were.

    It is as long as before, so that places in it are still the same. It need not be valid JSON.
    """
    if not _SUSPECT.search(content):
        return content, 0
    replaced = 0

    def replace(found: re.Match[bytes]) -> bytes:
        nonlocal replaced
        if found[1] is None and found[2] is None:
            return found[0]
        replaced += 1
        return rb"\ufffd" if found[1] else "\N{REPLACEMENT CHARACTER}".encode()

    return _OTHERS_OR_HALF.sub(replace, content), replaced


def describe_halves(where: str, number: int) -> str:
    """Say how many halves a file had."""
    return f"{where}: halves of characters (lone surrogates) replaced by U+FFFD: {number}"
