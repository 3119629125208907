"""Normalization of queries and documents before they are compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Literal

from ngramscan.matching.folding import FoldingStep, PlacedText, folded, folded_places, replaced
from ngramscan.matching.words import marks, words_in

Normalization = Literal["", "alphanumeric", "words"]
"""How a text is searched: as it is; letters and digits alone; words in lower case with one space
around each, no punctuation."""
FORM = 2
"""Raised whenever normalization changes, which invalidates cached counts."""
LONGEST_FORM = 11
"""Bytes, at most, that a byte becomes: U+FDFA is a greeting of 18 letters in one."""

_UNDERSCORES = re.compile("_++")
_END_OF_LINE = re.compile(r"[-\u2010][ \t]*+(?:\r\n|[\n\r\v\f\x85\u2028])[ \t]*+(?=(?P<tail>\w++))")
"""Between the parts of a word that a hyphen breaks at the end of a line."""
_ASCII_OTHER = re.compile(r"[\W_]+")

IsBroken = Callable[[str, str], bool]
"""Whether two parts with a hyphen and the end of a line between them are one word."""


def looks_broken(head: str, tail: str) -> bool:
    """Tell whether the next line continues a word in small letters."""
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
        return (_ASCII_OTHER if text.isascii() else _other()).sub("", text)
    words = " ".join(words_in(replaced(text, _word_steps(is_broken)).casefold()))
    return f" {words} " if words else ""


def normalized_places(
    text: str, normalization: Normalization, is_broken: IsBroken = looks_broken
) -> PlacedText:
    """Return a text as it is searched, and where each of its characters comes from.

    The text between words is kept.
    """
    if not normalization:
        return PlacedText.unchanged(text)
    folded_text = folded_places(text)
    if normalization == "alphanumeric":
        return folded_text.replaced(FoldingStep((), _other(), lambda _: ""))
    for step in _word_steps(is_broken):
        folded_text = folded_text.replaced(step)
    if folded_text.text.isascii():
        return replace(folded_text, text=folded_text.text.casefold())
    return folded_text.replaced(_SMALL)


def without_emphasis(text: str) -> str:
    """Return a text without the underscores that are not within a word."""
    return replaced(text, (_EMPHASIS,))


def mended(text: str, is_broken: IsBroken) -> str:
    """Return a text without the hyphens and ends of lines that break words."""
    return replaced(text, (_mending(is_broken),))


@cache
def _other() -> re.Pattern[str]:
    """Return an expression for all but letters, digits and their marks."""
    return re.compile(rf"[^\w{marks()}]+|_+")


def _word_steps(is_broken: IsBroken) -> tuple[FoldingStep, ...]:
    return _mending(is_broken), _EMPHASIS


def _mending(is_broken: IsBroken) -> FoldingStep:
    def joined(match: re.Match[str]) -> str:
        head = _word_before(match.string, match.start())
        return "" if head and is_broken(head, match["tail"]) else match[0]

    return FoldingStep(("-", "\u2010"), _END_OF_LINE, joined)


def _word_before(text: str, stop: int) -> str:
    start = stop
    while start and _is_of_word(text[start - 1]):
        start -= 1
    return text[start:stop]


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _without_emphasis(match: re.Match[str]) -> str:
    """Keep the underscores of `snake_case`; around words they are emphasis, or a blank."""
    start, stop = match.span()
    before, after = match.string[start - 1 : start], match.string[stop : stop + 1]
    return match[0] if before.isalnum() and after.isalnum() else " "


_EMPHASIS = FoldingStep(("_",), _UNDERSCORES, _without_emphasis)
_SMALL = FoldingStep((), re.compile(r"[A-Z]|[^\x00-\x7f]"), lambda match: match[0].casefold())
