"""Strings that know where they are in something larger, so that they can be replaced there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class LocatedText(str):
    """A string and its place, which a `TextField` returns as it finds it."""

    place: tuple[int, int]

    @classmethod
    def at(cls, text: str, start: int, stop: int) -> LocatedText:
        """Return a string with the place of what it was read from; the stop is exclusive."""
        placed = cls(text)
        placed.place = (start, stop)
        return placed


def places_of(texts: list[str]) -> list[tuple[int, int]]:
    """Return the places of strings, all of which have one."""
    return [text.place for text in texts if isinstance(text, LocatedText)]


def numbered(value: Any) -> Any:
    """Return a nested value whose strings have numbers as places, in their order."""
    count = 0

    def place(text: str) -> LocatedText:
        nonlocal count
        count += 1
        return LocatedText.at(text, count - 1, count)

    return _with_texts(value, place)


def replaced(value: Any, new_texts: Mapping[int, str]) -> Any:
    """Return a numbered value as plain strings, some of them others, by number."""

    def replace(text: str) -> str:
        assert isinstance(text, LocatedText)
        return new_texts.get(text.place[0], str(text))

    return _with_texts(value, replace)


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _with_texts(member, change) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_texts(item, change) for item in value]
    return value
