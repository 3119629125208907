"""Numbers of an entry that are others in a copy: another number is another problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

MASK = "0"
"""Stands for any number."""
_LONG = 500
"""Words of a passage from which on frequent words are aligned only next to others."""
_SPELT = frozenset(
    {
        *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
        *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
        *("eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy"),
        *("eighty", "ninety", "hundred", "thousand", "million", "billion"),
        *("half", "third", "quarter", "twice", "thrice", "double", "triple", "dozen"),
        *"〇零一二三四五六七八九十百千万亿億两兩",
    }
)
"""Numbers as English and Chinese spell them; others are recognised by their digits."""


@lru_cache(maxsize=1 << 16)
def is_number(word: str) -> bool:
    """Tell whether a normalized word is a number, or has digits as `2x` has."""
    return word in _SPELT or any(character.isdigit() for character in word)


def masked(words: Sequence[str]) -> list[str]:
    """Return words with the same sign for each number."""
    return [MASK if is_number(word) else word for word in words]


def changed_numbers(words: Sequence[str], passage: Sequence[str]) -> list[tuple[int, int]]:
    """Return which numbers of some words are others in a passage, as pairs of places.

    The words are aligned with the passage as if all numbers were the same. A number that is
    only in another place, as in reordered options, has not changed.
    """
    numbers = Counter(word for word in words if is_number(word))
    numbers_of_passage = Counter(word for word in passage if is_number(word))
    gone, new = numbers - numbers_of_passage, numbers_of_passage - numbers
    if not gone or not new:
        return []
    # Without words that are everywhere, alignment of long texts takes seconds, not minutes.
    is_long = len(passage) > _LONG
    matcher = SequenceMatcher(None, masked(words), masked(passage), autojunk=is_long)
    return [
        (first + step, second + step)
        for first, second, size in matcher.get_matching_blocks()
        for step in range(size)
        if words[first + step] in gone and passage[second + step] in new
    ]
