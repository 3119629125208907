"""Queries and documents made alike, before the ones are searched in the others."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Literal

from ngramscan.matching.folding import PlacedText, Step, folded, folded_places, replaced
from ngramscan.matching.words import marks, words_in

Normalization = Literal["", "alphanumeric", "words"]
"""How a text is searched: as it is; letters and digits alone; words in lower case with one space
around each, no punctuation."""
FORM = 2
"""Changes whenever texts are normalized in another way: counts that are kept no longer hold."""
LONGEST_FORM = 11
"""Bytes, at most, that a byte becomes: U+FDFA is a greeting of 18 letters in one."""

_UNDERSCORE = re.compile(r"(?<!\w)_++|(?<=[^\W_])_++(?!\w)")
"""Around words, where they are emphasis or a blank; `snake_case` keeps its own."""
_WORD_BROKEN = re.compile(
    r"(?<!\w)(?P<head>\w++)[-\u2010][ \t]*+(?:\r\n|[\n\r\v\f\x85\u2028])[ \t]*+(?=(?P<tail>\w++))"
)
"""A word of whose parts a hyphen and the end of a line are between."""

IsBroken = Callable[[str, str], bool]
"""Whether two parts with a hyphen and the end of a line between them are one word."""


def looks_broken(head: str, tail: str) -> bool:
    """Tell whether a word goes on in small letters."""
    return head[-1].isalpha() and tail[0].islower()


def normalized(text: str, normalization: Normalization, is_broken: IsBroken = looks_broken) -> str:
    r"""Return a text as it is searched: queries and documents alike.

    >>> normalized("It's 3.5\tMetres_", "alphanumeric"), normalized("It's 3.5\tMetres_", "words")
    ('Its35Metres', ' it s 3 5 metres ')
    """
    if not normalization:
        return text
    text = folded(text)
    if normalization == "alphanumeric":
        return _other().sub("", text)
    words = " ".join(words_in(replaced(text, _word_steps(is_broken)).casefold()))
    return f" {words} " if words else ""


def normalized_places(text: str, normalization: Normalization) -> PlacedText:
    """Return a text as it is searched, and where each of its characters comes from.

    Words still have what is between them.
    """
    if not normalization:
        return PlacedText.unchanged(text)
    placed = folded_places(text)
    if normalization == "alphanumeric":
        return placed.replaced(Step((), _other(), lambda _: ""))
    for step in (*_word_steps(looks_broken), _SMALL):
        placed = placed.replaced(step)
    return placed


@cache
def _other() -> re.Pattern[str]:
    """Return what is no letter, digit or mark of one."""
    return re.compile(rf"[^\w{marks()}]+|_+")


def _word_steps(is_broken: IsBroken) -> tuple[Step, ...]:
    def mended(match: re.Match[str]) -> str:
        return match["head"] if is_broken(match["head"], match["tail"]) else match[0]

    return (
        Step(("-", "\u2010"), _WORD_BROKEN, mended),
        Step(("_",), _UNDERSCORE, lambda _: " "),
    )


_SMALL = Step((), re.compile(r"[^a-z\s]"), lambda match: match[0].casefold())
