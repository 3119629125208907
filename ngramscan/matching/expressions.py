r"""Regular expressions in texts: matches of RE2, whose time is linear in the text.

RE2 has no back references and no look-around, and its classes (`\w`, `\s`, `\b`) are ASCII. It
reads bytes, and those that are not UTF-8 match nothing, not even a dot.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from ngramscan.matching.engines import Engine, Hit, TextBytes
from ngramscan.matching.word_ends import is_whole

_NEIGHBOURS = ("", "\n", "a", " ")
"""Whether an empty match is possible depends on its neighbours: the ends of a text, a line break,
a character of a word or another one."""


@lru_cache(maxsize=1024)
def compile_expression(regex: str, ignore_case: bool = False) -> Any:
    """Compile an expression; a ValueError says why RE2 can't, or that it matches the empty text."""
    compiled = read_expression(regex, ignore_case=ignore_case, captures=False)
    for before, after in product(_NEIGHBOURS, repeat=2):
        if compiled.fullmatch((before + after).encode(), len(before), len(before)):
            raise ValueError("it matches the empty text")
    return compiled


def read_expression(regex: str, *, ignore_case: bool = False, captures: bool = True) -> Any:
    """Compile an expression; a ValueError says why RE2 can't read it.

    Without `captures`, its groups only group: a match says where it is, which is faster.
    """
    import re2  # slow to import, and most queries are literals

    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(regex, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"not a regular expression of RE2: {reason}") from error
    except UnicodeEncodeError as error:
        raise ValueError("not a regular expression of RE2: half a character") from error


def find_expression(
    regex: str, text: bytes, ignore_case: bool = False, whole_words: bool = False
) -> list[tuple[int, int]]:
    """Return start and end of each match: leftmost ones, which don't overlap.

    With `whole_words`, those of them that are whole words.
    """
    places = (match.span() for match in compile_expression(regex, ignore_case).finditer(text))
    return [place for place in places if not whole_words or is_whole(text, *place)]


def expression_engine(
    regexes: Sequence[str], ignore_case: bool = False, whole_words: bool = False
) -> Engine:
    """Return an engine that finds regular expressions.

    Most texts have no match of any, which one expression for all tells in one pass.
    """
    together = _alternatives(regexes, ignore_case)

    def scan(text: TextBytes, hit: Hit) -> None:
        content = bytes(text)
        if together is not None and not together.search(content):
            return
        for number, regex in enumerate(regexes):
            for start, stop in find_expression(regex, content, ignore_case, whole_words):
                hit(number, start, stop)

    return Engine("re2", scan)


def _alternatives(regexes: Sequence[str], ignore_case: bool) -> Any | None:
    """Return an expression for the texts with a match of any; None if RE2 can't read it."""
    # A quotation that is left open would go on in the next expression.
    if len(regexes) < 2 or any(r"\Q" in regex for regex in regexes):
        return None
    try:
        together = "|".join(f"(?:{regex})" for regex in regexes)
        return read_expression(together, ignore_case=ignore_case, captures=False)
    except ValueError:  # too large, or two groups of one name
        return None
