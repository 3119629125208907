"""Literals in the bytes of texts, where any white space matches any other.

Hyperscan finds expressions for them. Other engines find literals only: for them a run of white
space becomes one space, in queries and in texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ngramscan.matching.engines import (
    MANY,
    Engine,
    Hit,
    TextBytes,
    compile_engine,
    escaped,
    hyperscan_expression_engine,
)
from ngramscan.matching.word_ends import StartOf, WholeWords, whole_word_engine

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
WHITE_SPACES = tuple(
    character.encode()
    for character in (
        "\t\n\v\f\r \x85\xa0\u1680"
        "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
        "\u2028\u2029\u202f\u205f\u3000"
    )
)
"""All characters of white space, in UTF-8."""
_LONGEST = 3
"""Bytes of a character of white space."""
_SIGNS = (b"\xc2\x85", b"\xc2\xa0", b"\xe1\x9a\x80", b"\xe2\x80", b"\xe2\x81\x9f", b"\xe3\x80\x80")
"""Without any of these, a text has white space of ASCII only."""
_OTHER_SPACE = re.compile(_OTHER)
_SPACES = bytes.maketrans(_ASCII, b" " * len(_ASCII))
_CHARACTER = re.compile(WHITE_SPACE)
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


def split_at_white_space(literal: bytes) -> list[bytes]:
    r"""Return the parts of a literal between its white space; empty ones where that is at an end.

    >>> split_at_white_space(b" let\r\n us")
    [b'', b'let', b'us']
    """
    return _RUN.split(literal)


def spaced_expression(literal: bytes) -> re.Pattern[bytes]:
    """Return an expression for the occurrences of a literal with any white space.

    It matches the empty text, so that occurrences may overlap; its first group is the occurrence,
    without white space at its ends.
    """
    parts = _RUN.split(literal)
    inner = (WHITE_SPACE + rb"++").join(re.escape(part) for part in parts if part)
    # A part is empty where white space begins or ends the literal.
    begin = b"" if parts[0] else WHITE_SPACE
    end = b"" if parts[-1] else WHITE_SPACE
    return re.compile(rb"(?=" + begin + rb"(" + inner + rb")" + end + rb")")


def spaced_engine(
    literals: Sequence[bytes],
    ignore_case: bool = False,
    whole_words: bool = False,
    engine: Engine | None = None,
) -> Engine:
    """Return an engine that finds literals with any white space.

    `engine` finds the literals with single spaces; without it, the fastest one is used.
    """
    if engine is None and len(literals) < MANY:
        expressions = [_hyperscan_expression(literal) for literal in literals]
        hyperscan = hyperscan_expression_engine(expressions, ignore_case)
        if hyperscan is not None and whole_words:
            whole_spaced_words = WholeWords(literals, _start_of_spaced(literals))
            return whole_word_engine(hyperscan, whole_spaced_words)
        if hyperscan is not None:
            return hyperscan
    spaced = [single_spaced(literal) for literal in literals]
    engine = engine or compile_engine(spaced, ignore_case)
    return _in_spaced_texts(
        whole_word_engine(engine, WholeWords(spaced)) if whole_words else engine
    )


def _hyperscan_expression(literal: bytes) -> bytes:
    parts = _RUN.split(literal)
    inner = (WHITE_SPACE + rb"+").join(escaped(part) for part in parts if part)
    return (b"" if parts[0] else WHITE_SPACE) + inner + (b"" if parts[-1] else WHITE_SPACE)


def _start_of_spaced(literals: Sequence[bytes]) -> StartOf:
    """Return a function for where an occurrence of a literal with any white space begins."""
    parts_of_literals = [_RUN.split(literal) for literal in literals]

    def start_of(number: int, text: TextBytes, stop: int) -> int:
        *parts_before, last_part = parts_of_literals[number]
        place = stop - len(last_part)
        for part in reversed(parts_before):
            place = _start_of_space(text, place) - len(part)
        return place

    return start_of


def _start_of_space(text: TextBytes, stop: int) -> int:
    """Return where the run of white space begins that ends at a place."""
    place = stop
    while place:
        sizes = range(1, min(_LONGEST, place) + 1)
        size = next((n for n in sizes if _CHARACTER.fullmatch(text, place - n, place)), None)
        if size is None:
            break
        place -= size
    return place


def _in_spaced_texts(engine: Engine) -> Engine:
    """Return an engine that searches texts with single spaces only."""

    def scan(text: TextBytes, hit: Hit) -> None:
        engine.scan(single_spaced(text), hit)

    scan_several = engine.scan_all
    if scan_several is None:
        return Engine(engine.name, scan)

    def scan_all(texts: Sequence[bytes], hit: Hit, next_text: Callable[[], None]) -> None:
        scan_several([single_spaced(text) for text in texts], hit, next_text)

    return Engine(engine.name, scan, scan_all)


def is_white(query: str) -> bool:
    """Tell whether a query has white space only."""
    return single_spaced(query.encode()) == b" "
