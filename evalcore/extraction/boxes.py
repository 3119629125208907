r"""Answers in `\boxed{…}`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)  # an escaped character is neither brace
_BOX_OR_BARE = re.compile(r"\\(?:boxed|fbox)(?:\s*\{|(?![A-Za-z])[ \t]*(?P<bare>[^\s{}$][^\s$]*))")


class _AnswerBox(NamedTuple):
    content: str
    start: int
    stop: int


def _brace_end(text: str, start: int) -> int | None:
    """Return the place of the brace that closes one opened before `start`; None if it is cut."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        if brace[0] == "{":
            depth += 1
        elif brace[0] == "}":
            depth -= 1
        if depth == 0:
            return brace.start()
    return None


def _boxes(text: str, opening: re.Pattern[str]) -> list[_AnswerBox]:
    """Return the boxes of a text; none if one is cut, since an earlier one need not be the answer.

    A box in a box is part of the outer one.
    """
    boxes: list[_AnswerBox] = []
    start = 0
    while match := opening.search(text, start):
        if bare := match.groupdict().get("bare"):
            content = re.sub(r"(?:\\[)\]]|[.,;:!?])+$", "", bare)
            box = _AnswerBox(content, match.start(), match.start("bare") + len(content))
        else:
            end = _brace_end(text, match.end())
            if end is None:
                return []
            box = _AnswerBox(text[match.end() : end].strip(), match.start(), end + 1)
        if box.content:
            boxes.append(box)
        start = max(box.stop, match.end())
    return boxes


def boxes_of_last_sentence(text: str) -> list[str]:
    """Return the contents of the boxes in the last sentence that has any; none if one is cut."""
    contents: list[str] = []
    stop = 0
    for box in _boxes(text, _BOX):
        is_new = re.search(r"\n\s*\n|\.\s", text[stop : box.start])
        contents, stop = [box.content] if is_new else [*contents, box.content], box.stop
    return contents


def last_box(text: str) -> str | None:
    """Return the content of the last box."""
    return next(reversed(boxes_of_last_sentence(text)), None)


_LINK = re.compile(
    r"(?:[\s$,;&]|\\[()\[\],;:! \\]|\\q?quad(?![A-Za-z])|\\text\s*\{[\s,]*(?:and|or)?[\s,]*\}"
    r"|(?:and|or)\b"
    r"|(?:for|if|when|where)\b[^.\n\\]{0,40}?(?:[,;]|\b(?:and|or)\b)"  # 2 if n is even, and 3
    r"|\\?[A-Za-z]\w{0,9}(?:_\{\w{1,9}\})?(?:\(\w{1,9}\))?\s*(?:=|:|\\in(?![A-Za-z]))"  # x =
    r")*+"
)
_SEPARATOR = re.compile(r"[,;&\n]|\\q?quad|\\\\|\b(?:and|or)\b")


def linked_boxes(text: str) -> list[str]:
    r"""Return the contents of the last box and of those linked with it; none if one is cut.

    `$x=\boxed{2}$ or $x=\boxed{3}$` has two answers, and `\boxed{2}, so \boxed{3}` has one.
    """
    return list(dict.fromkeys(reversed([*_linked_backwards(text)])))


_DENIAL = re.compile(
    r"(?i)(?:[,;(]\s*(?:and\s+|but\s+)?not|\brather than|\binstead of)[\s$*\\(]*\Z"
)


def _without_denied(boxes: list[_AnswerBox], text: str) -> list[_AnswerBox]:
    r"""Leave out those that are named as what another one is not: `\boxed{5}, not \boxed{6}`."""
    meant = [box for box in boxes if not _DENIAL.search(text[max(0, box.start - 30) : box.start])]
    return meant or boxes


def _linked_backwards(text: str) -> Iterator[str]:
    boxes = _without_denied(_boxes(text, _BOX_OR_BARE), text)
    start = None
    for box in reversed(boxes):
        between = "" if start is None else text[box.stop : min(start, box.stop + 200)]
        if start is not None and not _is_link(between):
            return
        yield box.content
        start = box.start


def _is_link(between: str) -> bool:
    is_one_paragraph = not re.search(r"\n[ \t]*\n", between)
    is_link = bool(_LINK.fullmatch(between) and _SEPARATOR.search(between))
    return is_one_paragraph and is_link
