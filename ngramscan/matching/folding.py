"""Fold different spellings of the same text into one, step by step.

A step replaces the matches of an expression. The same steps fold documents, and benchmark entries,
for which the source position of each character is tracked.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ngramscan.matching.words import marks

Replacement = Callable[[re.Match[str]], str]


class FoldingStep(NamedTuple):
    """An expression, and what replaces its matches."""

    signs: Sequence[str]
    """A text without any of these is not changed; if empty, every text may change."""
    pattern: re.Pattern[str]
    replacement: Replacement

    def applies_to(self, text: str) -> bool:
        """Tell whether a text may change."""
        return not self.signs or any(sign in text for sign in self.signs)


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A text made from another, with the source position of each character."""

    text: str
    starts: list[int]
    """The first character of the other text that each one was made from."""
    stops: list[int]
    """The end (exclusive) of the characters that each one was made from."""

    @classmethod
    def unchanged(cls, text: str) -> PlacedText:
        """Return a text as it is."""
        return cls(text, [*range(len(text))], [*range(1, len(text) + 1)])

    def replaced(self, step: FoldingStep) -> PlacedText:
        """Return the text after a step."""
        if not step.applies_to(self.text):
            return self
        parts, starts, stops, place = list[str](), list[int](), list[int](), 0
        for match in step.pattern.finditer(self.text):
            first, stop = match.span()
            replacement = step.replacement(match)
            parts += [self.text[place:first], replacement]
            starts += self.starts[place:first] + [self.starts[first]] * len(replacement)
            stops += self.stops[place:first] + [self.stops[stop - 1]] * len(replacement)
            place = stop
        if not parts:
            return self
        parts.append(self.text[place:])
        return PlacedText("".join(parts), starts + self.starts[place:], stops + self.stops[place:])


def replaced(text: str, steps: Iterable[FoldingStep]) -> str:
    """Return a text after some steps."""
    for step in steps:
        if step.applies_to(text):
            text = step.pattern.sub(step.replacement, text)
    return text


# Markup

_INLINE_TAGS = (
    *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
    *("font", "i", "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span"),
    *("strike", "strong", "sub", "time", "tt", "u", "var", "wbr"),
)
_OTHER_TAGS = (
    *("address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center"),
    *("col", "colgroup", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure"),
    *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html"),
    *("iframe", "input", "li", "link", "main", "meta", "nav", "ol", "option", "p", "pre", "script"),
    *("section", "select", "style", "summary", "sup", "table", "tbody", "td", "textarea", "tfoot"),
    *("th", "thead", "title", "tr", "ul", "video"),
)
"""Tags around which a browser separates text: by lines, table cells, or as superscripts."""
_FLAGS = "async|checked|controls|defer|disabled|hidden|nowrap|open|readonly|required|selected"
_VALUE = r"""\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`]++)"""
# Attributes need values, so `a <b and c> d` is not a tag.
_TAG = re.compile(
    rf"</?(?P<name>{'|'.join(_INLINE_TAGS + _OTHER_TAGS)})"
    rf"(?:\s++(?:[\w:@.-]++{_VALUE}|(?:{_FLAGS})(?![\w-])))*+\s*+/?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_COMMENT = re.compile(r"<!--(?:(?!<!--).){0,2000}?-->", re.DOTALL)
_LINK_TARGET = re.compile(
    r"\]\((?:https?:|mailto:|www\.|/|#|\.{1,2}/)(?:[^()\s]|\([^()\s]*+\))*+"
    r"(?:[ \t]++\"[^\"\n]*+\")?\)"
)

# Expressions of bytes that match wherever a text may have markup.
_NAMES = "|".join(_INLINE_TAGS + _OTHER_TAGS).encode()
_TAG_IN_BYTES = re.compile(rb"<(?:!--|/?(?:" + _NAMES + rb")(?:[\s/>]|[\x80-\xff]))", re.IGNORECASE)
_ENTITY_IN_BYTES = re.compile(rb"&(?:#|[A-Za-z][A-Za-z0-9]{1,31};)")
_LINK_IN_BYTES = re.compile(rb"\]\((?:https?:|mailto:|www\.|/|#|\.)")


def _without_tag(match: re.Match[str]) -> str:
    return "" if match["name"].lower() in _INLINE_TAGS else "\n"


_UNESCAPE = FoldingStep(("&",), _ENTITY, lambda match: html.unescape(match[0]))
_MARKUP = (
    _UNESCAPE,
    _UNESCAPE,  # `&amp;nbsp;` was escaped twice
    FoldingStep(("<!--",), _COMMENT, lambda _: ""),
    FoldingStep(("<",), _TAG, _without_tag),
    FoldingStep(("](",), _LINK_TARGET, lambda _: "]"),
)

# Characters

_INVISIBLE = (
    "\u00ad\u034f\u061c\u0640\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
"""Soft hyphens, joiners, marks of direction and of the order of bytes, selectors of variants and
fillers, and the line that makes Arabic words longer.

Source: Default_Ignorable_Code_Point of the Unicode Character Database, without jamo; and U+0640.
"""
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE}]+")
_HYPHEN_OF_LINE = re.compile(r"\u00ad(?=[ \t]*+[\r\n])")
# `10²` must not become 102, nor `1½` 11⁄2; a space separates them.
_RAISED = re.compile(r"[\u00b2\u00b3\u00b9\u2070\u2071\u2074-\u2079\u207f]+")
_FRACTION = re.compile(r"[\u00bc-\u00be\u2150-\u215f\u2189]")
_TRADE_MARK = re.compile(r"[\u2120\u2122]")
_LETTER_APOSTROPHE = re.compile(r"[\u02bb\u02bc]")
_CHARACTERS = (
    FoldingStep(("\u00ad",), _HYPHEN_OF_LINE, lambda _: "-"),
    FoldingStep((), _INVISIBLE_RUN, lambda _: ""),
    FoldingStep((), _RAISED, lambda match: f" {match[0]}"),
    FoldingStep((), _FRACTION, lambda match: f" {match[0]}"),
    FoldingStep(("\u2120", "\u2122"), _TRADE_MARK, lambda _: " "),
    FoldingStep(("\u02bb", "\u02bc"), _LETTER_APOSTROPHE, lambda _: "'"),
)

_JAMO = "\u1160-\u11ff\ud7b0-\ud7ff\u314f-\u3163\uffc2-\uffdc"
"""Vowels and last consonants of Korean syllables, which make a character with those before."""


@cache
def _compatible() -> FoldingStep:
    """Return the step to Unicode's form NFKC, a character with its marks at a time.

    Without marks, characters of ASCII stay as they are.
    """
    joining = f"[{marks()}{_JAMO}]"
    cluster = re.compile(rf"[\x00-\x7f]?{joining}+|[^\x00-\x7f]{joining}*")
    return FoldingStep((), cluster, lambda match: unicodedata.normalize("NFKC", match[0]))


def may_have_markup(text: bytes) -> bool:
    """Tell whether a text in UTF-8 may have markup; True may be wrong, False isn't."""
    # To look for one byte is fastest.
    return bool(
        (b"<" in text and _TAG_IN_BYTES.search(text))
        or (b"&" in text and _ENTITY_IN_BYTES.search(text))
        or (b"]" in text and b"](" in text and _LINK_IN_BYTES.search(text))
    )


def without_markup(text: str) -> str:
    """Return a text without markup."""
    return replaced(text, _MARKUP)


def folded_characters(text: str) -> str:
    """Return a text without invisible characters, in Unicode's form NFKC."""
    return unicodedata.normalize("NFKC", replaced(text, _CHARACTERS))


def is_invisible(character: str) -> bool:
    """Tell whether a character is taken away."""
    return bool(_INVISIBLE_RUN.match(character))


def is_changed_apart(character: str) -> bool:
    """Tell whether a character is replaced by another rule than Unicode's form NFKC."""
    return any(step.pattern.match(character) for step in _CHARACTERS)


def is_joining(character: str) -> bool:
    """Tell whether a character may make one with those before it in Unicode's form NFKC."""
    return bool(_joining().match(character))


@cache
def _joining() -> re.Pattern[str]:
    return re.compile(f"[{marks()}{_JAMO}]")


def folded(text: str) -> str:
    """Return a text without markup and invisible characters, in Unicode's form NFKC.

    >>> folded("<b>ｅﬃcient</b>&nbsp;ca\u00adfe\u0301 10² [so](http://a.b/c)")
    'efficient café 10 2 [so]'
    """
    text = without_markup(text)
    return text if text.isascii() else folded_characters(text)


def folded_places(text: str) -> PlacedText:
    """Return the same, and where each character comes from."""
    folded_text = PlacedText.unchanged(text)
    for step in _MARKUP:
        folded_text = folded_text.replaced(step)
    if folded_text.text.isascii():
        return folded_text
    for step in (*_CHARACTERS, _compatible()):
        folded_text = folded_text.replaced(step)
    return folded_text
