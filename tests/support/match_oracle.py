"""Occurrences by their definition, for every rule: slow, and without any of the code that counts.

Literals are compared character by character at each place of a text; regular expressions are those
that Python's `re` and RE2 read alike.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

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


def is_whole(text: str, start: int, stop: int) -> bool:
    """Tell whether no word goes beyond an end of a part of a text."""
    before, after = text[start - 1 : start] if start else "", text[stop : stop + 1]
    first, last = text[start], text[stop - 1]
    return not (is_word_character(first) and is_word_character(before)) and not (
        is_word_character(last) and is_word_character(after)
    )


def lower_ascii(text: str) -> str:
    """Return a text with small ASCII letters."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


def parts_of(query: str) -> list[str]:
    """Return the runs of white space of a query and what is between them, in their order."""
    parts: list[str] = []
    for character in query:
        if parts and (character in WHITE_SPACE) == (parts[-1][-1] in WHITE_SPACE):
            parts[-1] += character
        else:
            parts.append(character)
    return parts


def literal_stop(parts: Sequence[str], text: str, start: int, any_space: bool) -> int | None:
    """Return where an occurrence of a query ends that begins at a place; None: it doesn't.

    With any space, the place is where the first character that is not white space is.
    """
    if not any_space:
        query = "".join(parts)
        return start + len(query) if text[start : start + len(query)] == query else None
    if parts[0][0] in WHITE_SPACE:
        if not start or text[start - 1] not in WHITE_SPACE:
            return None
        parts = parts[1:]
    place = start
    for number, part in enumerate(parts):
        if part[0] not in WHITE_SPACE:
            if text[place : place + len(part)] != part:
                return None
            place += len(part)
        elif number == len(parts) - 1:
            return place if text[place : place + 1] and text[place] in WHITE_SPACE else None
        else:
            first = place
            while place < len(text) and text[place] in WHITE_SPACE:
                place += 1
            if place == first:
                return None
    return place


def matches(query: str, text: str, rule: MatchRule) -> Iterator[Match]:
    """Yield the occurrences of a query in a text, by rising start.

    White space at the ends of a query is no part of an occurrence where any white space matches.
    """
    if rule.is_regex:
        flags = re.IGNORECASE if rule.ignore_case else 0
        # Python's `$` also matches before a line break at the end of a text.
        for match in re.finditer(query, text, flags):
            if not rule.whole_words or is_whole(text, *match.span()):
                yield match.span()
        return
    if rule.ignore_case:
        query, text = lower_ascii(query), lower_ascii(text)
    parts = parts_of(query)
    for start in range(len(text)):
        if rule.any_space and text[start] in WHITE_SPACE:
            continue
        stop = literal_stop(parts, text, start, rule.any_space)
        if stop is None:
            continue
        first_is_word = is_word_character(query[0]) and start > 0
        last_is_word = is_word_character(query[-1])
        is_continued = (first_is_word and is_word_character(text[start - 1])) or (
            last_is_word and is_word_character(text[stop : stop + 1])
        )
        if not rule.whole_words or not is_continued:
            yield start, stop


def byte_matches(query: str, text: str, rule: MatchRule) -> list[Match]:
    """Return start and length of each occurrence in UTF-8 bytes."""
    return [
        (len(text[:start].encode()), len(text[start:stop].encode()))
        for start, stop in matches(query, text, rule)
    ]


def tally(queries: Sequence[str], texts: Sequence[str], rule: MatchRule) -> list[tuple[int, int]]:
    """Return occurrences and documents of each query."""
    counted = [[len(list(matches(query, text, rule))) for text in texts] for query in queries]
    return [(sum(counts), sum(map(bool, counts))) for counts in counted]
