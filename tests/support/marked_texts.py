"""Texts with marked spans, read back from the HTML of a page."""

import html
import re
from dataclasses import dataclass

_TEXT = re.compile('<div class="traced"[^>]*>(.*?)</div>', re.DOTALL)
_MARK = re.compile(
    '<mark(?P<attributes>[^>]*)>(?P<text>.*?)<span role="tooltip"[^>]*>(?P<note>.*?)</span></mark>',
    re.DOTALL,
)


@dataclass
class ReadMark:
    """What a page shows of a span: its beginning, up to the next one."""

    start: int
    html: str
    note: str


@dataclass
class ReadText:
    """A text as it is shown."""

    text: str
    marks: list[ReadMark]
    marked: list[int]
    """The places of the characters that have a colour."""


def read_texts(page: str) -> list[ReadText]:
    """Return all texts with spans of a page."""
    return [_read(found[1]) for found in _TEXT.finditer(page)]


def _read(shown: str) -> ReadText:
    text, marks, marked, place = "", list[ReadMark](), list[int](), 0
    for found in _MARK.finditer(shown):
        text += html.unescape(shown[place : found.start()])
        marks.append(
            ReadMark(len(text), found["attributes"] + found["text"], _plain(found["note"]))
        )
        for piece in re.findall('<span class="level-[1-4]">(.*?)</span>', found["text"], re.DOTALL):
            marked += range(len(text), len(text) + len(html.unescape(piece)))
            text += html.unescape(piece)
        place = found.end()
    return ReadText(text + html.unescape(shown[place:]), marks, marked)


def _plain(text: str) -> str:
    return html.unescape(re.sub("<[^>]*>", "", text))
