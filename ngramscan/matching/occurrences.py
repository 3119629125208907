"""The occurrences of one query in one text by the rules, each found by itself.

It is slower than the engines, which find many queries at once, and independent of them: it finds
places to show, and checks what engines count.
"""

from __future__ import annotations

from typing import NamedTuple

from ngramscan.matching.engines import find_starts
from ngramscan.matching.expressions import find_expression
from ngramscan.matching.rules import MatchRule
from ngramscan.matching.white_space import spaced_expression
from ngramscan.matching.word_ends import is_word_after, is_word_before


class Occurrence(NamedTuple):
    """A part of the bytes of a text."""

    start: int
    stop: int


def find_occurrences(query: str, text: bytes, rule: MatchRule) -> list[Occurrence]:
    """Return the occurrences of a query in a text, by rising start.

    Where any white space matches, an occurrence excludes white space at the ends of the query.
    """
    if rule.is_regex:
        places = find_expression(query, text, rule.ignore_case, rule.whole_words)
        return [Occurrence(*place) for place in places]
    occurrences = _find_literal(query, text, rule)
    if not rule.whole_words:
        return occurrences
    content = query.encode()
    begins, ends = is_word_after(content, 0), is_word_before(content, len(content))
    return [
        occurrence
        for occurrence in occurrences
        if not (begins and is_word_before(text, occurrence.start))
        and not (ends and is_word_after(text, occurrence.stop))
    ]


def _find_literal(query: str, text: bytes, rule: MatchRule) -> list[Occurrence]:
    literal = query.encode()
    if rule.ignore_case:  # ASCII only
        literal, text = literal.lower(), text.lower()
    if rule.any_space:
        expression = spaced_expression(literal)
        return [Occurrence(*match.span(1)) for match in expression.finditer(text)]
    return [Occurrence(start, start + len(literal)) for start in find_starts(literal, text)]
