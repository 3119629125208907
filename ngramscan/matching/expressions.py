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

    try:
        return re2.compile(regex, _options(ignore_case, captures))
    except re2.error as error:
        reason = error.args[0] if error.args else error
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"not a regular expression of RE2: {reason}") from error
    except UnicodeEncodeError as error:
        raise ValueError("not a regular expression of RE2: half a character") from error


def _options(ignore_case: bool, captures: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = not captures
    options.case_sensitive = not ignore_case
    return options


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

    One pass over a text tells which have a match in it, and only those are searched for.
    """
    expressions = [compile_expression(regex, ignore_case) for regex in regexes]
    prefilter = _Prefilter(regexes, ignore_case)

    def scan(text: TextBytes, hit: Hit) -> None:
        content = bytes(text)
        for number in prefilter.present_in(content):
            for match in expressions[number].finditer(content):
                start, stop = match.span()
                if not whole_words or is_whole(content, start, stop):
                    hit(number, start, stop)

    return Engine("re2", scan)


_IN_EVERY_TEXT = r"\z"
"""Matches at the end of each text."""


class _Prefilter:
    """Tells which of some expressions may have a match in a text.

    A set of RE2 that runs out of memory finds nothing, without an error. So the set has one more
    expression, the last one, which every text matches: where it is missing, all may have a match.
    """

    def __init__(self, regexes: Sequence[str], ignore_case: bool) -> None:
        self._numbers = range(len(regexes))
        self._set = _set_of([*regexes, _IN_EVERY_TEXT], ignore_case) if len(regexes) > 1 else None

    def present_in(self, content: bytes) -> Sequence[int]:
        """Return the numbers of expressions, with all that have a match."""
        if self._set is None:
            return self._numbers
        present: list[int] = self._set.Match(content) or []
        last = len(self._numbers)
        if last not in present:
            return self._numbers
        present.remove(last)
        return present


def _set_of(regexes: Sequence[str], ignore_case: bool) -> Any | None:
    """Return a set of RE2; None if it is too large."""
    import re2

    expressions = re2.Set.SearchSet(_options(ignore_case, captures=False))
    for regex in regexes:
        expressions.Add(regex)
    try:
        expressions.Compile()
    except re2.error:
        return None
    return expressions
