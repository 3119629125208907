"""The text in a JSON object: cut where it is, so that all other bytes stay as they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ngramscan.corpora.rewriting.placed_texts import LocatedText, places_of
from ngramscan.corpora.rewriting.removals import remaining
from ngramscan.corpora.text_fields import TextField

_DECODER = json.JSONDecoder()
_WHITE_SPACE = re.compile(r"[ \t\n\r]*")
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # two halves of one character
    r"|\\u[0-9a-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)
"""One character of a string, as JSON writes it."""


class _TextValue(NamedTuple):
    """A value, and where it is written."""

    value: Any
    start: int
    stop: int


def cut_object(
    content: bytes, field: TextField, ranges: Sequence[tuple[int, int]], where: str
) -> bytes:
    """Return a JSON object without passages of its text.

    Characters of the text that stay are written as they were, whether escaped or not. Where the
    text consists of several strings, the line ends between them stay, as they aren't written.

    Parameters
    ----------
    content : bytes
        The object, with any white space or byte order mark around it. It was read before, so it is
        known to be valid; what is not UTF-8 in other fields stays as it is.
    field : TextField
        Where the text is.
    ranges : sequence of (int, int)
        The passages, as characters of the text; the stop is exclusive.
    where : str
        The document in messages.

    Raises
    ------
    CorpusError
        A passage ends after the text.
    NoTextError
        The object has no text.
    """
    written = content.decode("utf-8", "surrogateescape")
    start = _after_white_space(written, len(written) - len(written.removeprefix("\ufeff")))
    members = dict(_members(written, start))
    name = field.name_in(members)
    record = {key: member.value for key, member in members.items()}
    if name in members:
        record[name] = _with_places(written, members[name])
    places = places_of(field.texts_of(record))
    characters = [_CHARACTER.findall(written, first + 1, last - 1) for first, last in places]
    remaining_slices = remaining([len(units) for units in characters], ranges, where)
    pieces, position = [], 0
    for (first, last), units, slices in sorted(
        zip(places, characters, remaining_slices, strict=True), key=lambda part: part[0]
    ):
        pieces.append(written[position : first + 1])
        pieces += ["".join(units[each]) for each in slices]
        position = last - 1
    return ("".join(pieces) + written[position:]).encode("utf-8", "surrogateescape")


def _after_white_space(written: str, position: int) -> int:
    match = _WHITE_SPACE.match(written, position)
    assert match
    return match.end()


def _value_at(written: str, position: int) -> _TextValue:
    value, stop = _DECODER.raw_decode(written, position)
    return _TextValue(value, position, stop)


def _members(written: str, start: int) -> Iterator[tuple[str, _TextValue]]:
    """Yield the keys and values of the object that begins at `start`, in order."""
    position = _after_white_space(written, start + 1)
    while written[position] != "}":
        key = _value_at(written, position)
        colon = _after_white_space(written, key.stop)
        member = _value_at(written, _after_white_space(written, colon + 1))
        yield key.value, member
        position = _after_comma(written, member.stop)


def _items(written: str, start: int) -> Iterator[_TextValue]:
    """Yield the items of the list that begins at `start`, in order."""
    position = _after_white_space(written, start + 1)
    while written[position] != "]":
        item = _value_at(written, position)
        yield item
        position = _after_comma(written, item.stop)


def _after_comma(written: str, position: int) -> int:
    position = _after_white_space(written, position)
    if written[position] == ",":
        return _after_white_space(written, position + 1)
    return position


def _with_places(written: str, located: _TextValue) -> Any:
    """Return a value in which each string has the place of its quotation marks."""
    if isinstance(located.value, str):
        return LocatedText.at(located.value, located.start, located.stop)
    if isinstance(located.value, dict):
        members = _members(written, located.start)
        return {key: _with_places(written, member) for key, member in members}
    if isinstance(located.value, list):
        return [_with_places(written, item) for item in _items(written, located.start)]
    return located.value
