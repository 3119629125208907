r"""Regular expressions from users, in RE2, whose time is linear in the text.

Python's own engine can take minutes on a line that an expression such as `(a+)+$` nearly matches in
many ways. RE2 never does; but it has no back references and no look-around, and its classes (`\w`,
`\b`) are ASCII.
"""

from __future__ import annotations

import re
from typing import Any


def compile_regex(regex: str, flags: str = "") -> Any:
    """Compile an expression; the flag `i` ignores case, with `m` `^` and `$` match at lines.

    A ValueError says why RE2 can't read it, or that it matches the empty text.
    """
    from ngramscan.matching.expressions import read_expression  # most pattern sets have no regex

    compiled = read_expression(f"(?{flags}){regex}" if flags else regex)
    if compiled.search(""):
        raise ValueError("it matches the empty text")
    return compiled


def whole(text: str) -> str:
    """Return a text with lone surrogates replaced: JSON may escape them, RE2 can't read them."""
    return text if text.isascii() else text.encode(errors="replace").decode()


_SIGNS_OF_REGEX = re.compile(
    r"""
    \(\?[a-zA-Z:P=!<]             # a group with flags or a name: (?i)
    | \\[dwsbDWSB](?![A-Za-z])    # a class or boundary: \d; but not \sqrt
    | \.[*+]                      # anything: .*
    | \w\?\w                      # an optional letter within a word: colou?r
    | \w[*+](?:\w|\Z)             # a repeated letter: go+d
    | \S\|\S                      # alternatives: a|b
    | \[\^?\S+-\S+\]              # a class of characters: [a-z]
    """,
    re.VERBOSE,
)


def looks_like_regex(text: str) -> bool:
    r"""Tell whether a text has signs of a regular expression.

    >>> [looks_like_regex(text) for text in (r"colou?r", r"\d+", r"\sqrt{", "why? so")]
    [True, True, False, False]
    """
    return _SIGNS_OF_REGEX.search(text) is not None
