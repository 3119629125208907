"""Occurrences by their definition, for every rule: slow, and without any of the code that counts.

Literals are compared with all parts of a text; regular expressions are those that Python's `re` and
RE2 read alike.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from ngramscan.matching.rules import MatchRule

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Source: White_Space in PropList.txt of the Unicode Character Database."""

Match = tuple[int, int]
"""Start and end of an occurrence, in characters."""


def is_word_character(character: str) -> bool:
    """Tell whether a character is a letter, a mark, a number or a connector; `` is none."""
    if not character:
        return False
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Pc"


def lower_ascii(text: str) -> str:
    """Return a text with small ASCII letters."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def single_spaced(text: str) -> str:
    """Return a text with one space for each run of white space."""
    spaced = ""
    for character in text:
        if character not in WHITE_SPACE:
            spaced += character
        elif not spaced.endswith(" "):
            spaced += " "
    return spaced


def is_continued(ends: str, text: str, start: int, stop: int) -> bool:
    """Tell whether a word goes beyond an end of an occurrence that has itself a word there.

    `ends` begins and ends as the query does.
    """
    before, after = text[start - 1] if start else "", text[stop : stop + 1]
    return (is_word_character(ends[0]) and is_word_character(before)) or (
        is_word_character(ends[-1]) and is_word_character(after)
    )


def regex_matches(regex: str, text: str, rule: MatchRule) -> Iterator[Match]:
    """Yield the matches of a regular expression; by `re`, whose `$` must not be in it."""
    flags = re.IGNORECASE if rule.ignore_case else 0
    for match in re.finditer(regex, text, flags):
        if not (rule.whole_words and is_continued(match[0], text, *match.span())):
            yield match.span()


def spaced_matches(query: str, text: str) -> Iterator[Match]:
    """Yield the parts of a text that are those of a query but for the length of white space.

    White space at the ends of a query is next to them, and no part of an occurrence.
    """
    wanted = single_spaced(query)
    begins, ends = wanted.startswith(" "), wanted.endswith(" ")
    for start, stop in combinations(range(len(text) + 1), 2):
        if text[start] in WHITE_SPACE or text[stop - 1] in WHITE_SPACE:
            continue
        if single_spaced(text[start:stop]) != wanted.strip(" "):
            continue
        is_after_space = start > 0 and text[start - 1] in WHITE_SPACE
        is_before_space = stop < len(text) and text[stop] in WHITE_SPACE
        if (is_after_space or not begins) and (is_before_space or not ends):
            yield start, stop


def matches(query: str, text: str, rule: MatchRule) -> list[Match]:
    """Return the occurrences of a query in a text, by rising start."""
    if rule.is_regex:
        return [*regex_matches(query, text, rule)]
    if rule.ignore_case:
        query, text = lower_ascii(query), lower_ascii(text)
    located: Iterable[Match] = spaced_matches(query, text)
    if not rule.any_space:
        places = range(len(text))
        located = ((at, at + len(query)) for at in places if text.startswith(query, at))
    return [
        place for place in located if not (rule.whole_words and is_continued(query, text, *place))
    ]


def byte_matches(query: str, text: str, rule: MatchRule) -> list[Match]:
    """Return start and length of each occurrence in UTF-8 bytes."""
    return [
        (len(text[:start].encode()), len(text[start:stop].encode()))
        for start, stop in matches(query, text, rule)
    ]


def tally(queries: Sequence[str], texts: Sequence[str], rule: MatchRule) -> list[tuple[int, int]]:
    """Return occurrences and documents of each query."""
    counted = [[len(matches(query, text, rule)) for text in texts] for query in queries]
    return [(sum(counts), sum(map(bool, counts))) for counts in counted]
