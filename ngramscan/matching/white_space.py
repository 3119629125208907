"""White space in the bytes of texts, where any white space matches any other.

A run of white space becomes one space, in queries and in texts. Then an occurrence of a query with
any white space is an occurrence of a literal, which all engines find.
"""

from __future__ import annotations

import re

_ASCII = b"\t\n\v\f\r "
_OTHER = (
    rb"\xc2[\x85\xa0]"  # next line, no-break space
    rb"|\xe1\x9a\x80"  # Ogham space mark
    rb"|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]"  # widths of spaces, line and paragraph separator
    rb"|\xe2\x81\x9f"  # mathematical space
    rb"|\xe3\x80\x80"  # ideographic space
)
"""White_Space of the Unicode Character Database beyond ASCII, in UTF-8."""
WHITE_SPACE = rb"(?:[\t-\r ]|" + _OTHER + rb")"
"""One character, as a regular expression of bytes has it."""
_SIGNS = (b"\xc2\x85", b"\xc2\xa0", b"\xe1\x9a\x80", b"\xe2\x80", b"\xe2\x81\x9f", b"\xe3\x80\x80")
"""Without any of these, a text has white space of ASCII only."""
_OTHER_SPACE = re.compile(_OTHER)
_SPACES = bytes.maketrans(_ASCII, b" " * len(_ASCII))
_RUN = re.compile(WHITE_SPACE + rb"++")
_SEVERAL_SPACES = re.compile(rb"  +")


def single_spaced(text: bytes | memoryview) -> bytes:
    r"""Return a text with one space for each run of white space.

    >>> single_spaced("let\r\n us\u00a0 go".encode())
    b'let us go'
    """
    spaced = bytes(text).translate(_SPACES)
    if not spaced.isascii() and any(sign in spaced for sign in _SIGNS):
        spaced = _OTHER_SPACE.sub(b" ", spaced)
    return _SEVERAL_SPACES.sub(b" ", spaced) if b"  " in spaced else spaced


def spaced_expression(literal: bytes) -> re.Pattern[bytes]:
    """Return an expression for the occurrences of a literal with any white space.

    It matches the empty text, so that occurrences may overlap; its first group is the occurrence,
    without white space at its ends.
    """
    parts = _RUN.split(literal)
    inner = (WHITE_SPACE + rb"++").join(re.escape(part) for part in parts if part)
    # A part is empty where white space begins or ends the query.
    begin = b"" if parts[0] else WHITE_SPACE
    end = b"" if parts[-1] else WHITE_SPACE
    return re.compile(rb"(?=" + begin + rb"(" + inner + rb")" + end + rb")")


def is_white(query: str) -> bool:
    """Tell whether a query has white space only."""
    return single_spaced(query.encode()) == b" "
