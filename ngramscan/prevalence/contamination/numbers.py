"""Numbers of an entry that are others in a copy: another number is another problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from ngramscan.matching.word_windows import windows_of_words

MASK = "0"
"""Stands for any number."""
_LONG = 500
"""Words of a passage from which on words are aligned in groups."""
_GROUP = 3
"""Words of a group."""
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
    return [
        (at, to)
        for at, to in dict.fromkeys(_aligned(masked(words), masked(passage)))
        if words[at] in gone and passage[to] in new
    ]


def _aligned(words: Sequence[str], passage: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of the same words in two texts, in their order.

    Long texts are aligned by groups of words, and without groups that are everywhere: single
    words would take minutes.
    """
    is_long = len(passage) > _LONG
    size = _GROUP if is_long else 1
    first_groups, second_groups = (windows_of_words(text, size) for text in (words, passage))
    matcher = SequenceMatcher(None, first_groups, second_groups, autojunk=is_long)
    for first, second, n_groups in matcher.get_matching_blocks():
        if n_groups:
            for step in range(n_groups + size - 1):
                yield first + step, second + step
