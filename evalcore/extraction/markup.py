"""Replies as a reader of the rendered page sees them: without tags, deletions and a whole fence."""

import re

_WHOLE_FENCE = re.compile(
    r"\s*+(?P<fence>```+|~~~+)[ \t]*"
    r"(?:te?xt|plaintext|plain|markdown|md|latex|tex|math|json|none|output|answer)?[ \t]*\n"
    r"(?P<content>(?:(?![ \t]*(?:```|~~~)).*\n)+)[ \t]*(?P=fence)\s*",
    re.IGNORECASE,
)
_BREAK = re.compile(r"</?(?:br|p|div|li|ul|ol|h[1-6]|tr|table)(?:\s[^<>]{0,80})?/?>", re.IGNORECASE)
_FONT_TAG = re.compile(
    r"</?(?:b|strong|i|em|u|mark|span|font|code|td|th|big)(?:\s[^<>]{0,80})?>", re.IGNORECASE
)
_DELETED = re.compile(r"(?<!\S)~~(?=[^\s~])[^~\n]{1,200}~~(?=\s)")


def without_markup(text: str) -> str:
    """Return a reply without the fence around all of it, tags of HTML, and what is struck out.

    A fence of a programming language stays, as does a tag of any other name.
    """
    if whole := _WHOLE_FENCE.fullmatch(text):
        text = whole["content"].strip("\n")
    if "</" in text or "<br" in text.lower():
        text = _FONT_TAG.sub("", _BREAK.sub("\n", text))
    return _DELETED.sub("", text)
