"""Words of a text, for windows, spans, n-grams and the search for answers.

A word is a run of letters, digits and `_`, with their combining marks. In scripts that are written
without spaces between words, each character with its marks is a word: without a dictionary of the
language, a whole sentence would be one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

UNSPACED_SCRIPTS = {
    "Han": [
        (0x2E80, 0x3005),
        (0x3007, 0x3029),
        (0x3038, 0x303B),
        (0x3400, 0x9FFF),
        (0xF900, 0xFAD9),
        (0x16FE2, 0x16FE3),
        (0x16FF0, 0x16FF6),
        (0x20000, 0x3347F),
    ],
    "Hiragana": [(0x3041, 0x309F), (0x1B001, 0x1B11F), (0x1B132, 0x1B152), (0x1F200, 0x1F200)],
    "Katakana": [
        (0x30A1, 0x30FA),
        (0x30FD, 0x30FF),
        (0x31F0, 0x31FF),
        (0x32D0, 0x3357),
        (0xFF66, 0xFF6F),
        (0xFF71, 0xFF9D),
        (0x1AFF0, 0x1B000),
        (0x1B120, 0x1B122),
        (0x1B155, 0x1B168),
    ],
    "Bopomofo": [(0x2EA, 0x2EB), (0x3105, 0x312F), (0x31A0, 0x31BF)],
    "Yi": [(0xA000, 0xA4C6)],
    "Tangut": [(0x16FE0, 0x16FE0), (0x17000, 0x18AFF), (0x18D00, 0x18DF2)],
    "Nushu": [(0x16FE1, 0x16FE1), (0x1B170, 0x1B2FB)],
    "Khitan Small Script": [(0x16FE4, 0x16FE4), (0x18B00, 0x18CFF)],
    "Thai": [(0x0E01, 0x0E5B)],
    "Lao": [(0x0E81, 0x0EDF)],
    "Khmer": [(0x1780, 0x17F9), (0x19E0, 0x19FF)],
    "Myanmar": [(0x1000, 0x109F), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F), (0x116D0, 0x116E3)],
    "Tibetan": [(0x0F00, 0x0FDA)],
    "Tai Le": [(0x1950, 0x1974)],
    "New Tai Lue": [(0x1980, 0x19DF)],
    "Tai Tham": [(0x1A20, 0x1AAD)],
    "Tai Viet": [(0xAA80, 0xAADF)],
    "Ahom": [(0x11700, 0x11746)],
    "Javanese": [(0xA980, 0xA9CD), (0xA9D0, 0xA9DF)],
    "Balinese": [(0x1B00, 0x1B7F)],
    # The prolonged sound of Hiragana and Katakana, and a sign for `shime`.
    "Common": [(0x3006, 0x3006), (0x30FC, 0x30FC), (0xFF70, 0xFF70)],
}
"""First and last characters of each script that is written without spaces between words.

Source: Unicode Character Database 17.0, Scripts.txt; characters that are not assigned to any script
lie within the ranges.
"""

_JAPANESE_MARKS = "\uff9e\uff9f"
"""The half-width signs of voiced syllables: letters of Unicode, but marks of those before them."""
_SUPPLEMENTARY_MARKS = 0xE0100
"""Marks are below 0x20000, apart from the variation selectors that begin here."""


def _range(first: int, last: int) -> str:
    return f"{re.escape(chr(first))}-{re.escape(chr(last))}"


UNSPACED = "".join(
    _range(first, last) for ranges in UNSPACED_SCRIPTS.values() for first, last in ranges
)
"""The characters of these scripts, as a class of a regular expression has them."""


@cache
def marks() -> str:
    """Return all combining marks, as a class of a regular expression has them."""
    codes = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"]
    codes += [ord(mark) for mark in _JAPANESE_MARKS]
    codes += range(_SUPPLEMENTARY_MARKS, _SUPPLEMENTARY_MARKS + 240)
    codes.sort()
    firsts = [codes[0], *(code for before, code in pairwise(codes) if code > before + 1)]
    lasts = [*(before for before, code in pairwise(codes) if code > before + 1), codes[-1]]
    return "".join(map(_range, firsts, lasts))


@cache
def word_expression() -> str:
    """Return the regular expression of a word."""
    # ASCII apart, which is quicker; `++` never tries a shorter part again.
    spaced = rf"(?:[0-9A-Za-z_]++|[^\W\x00-\x7f{UNSPACED}{_JAPANESE_MARKS}]++)"
    after_marks = rf"(?:(?![\x00-\x7f])[{marks()}]++{spaced}*+)*+"
    return rf"{spaced}++{after_marks}|(?!\W)[{UNSPACED}][{marks()}]*+"


@cache
def _word() -> re.Pattern[str]:
    return re.compile(word_expression())


_ASCII_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(rf"(?!\W)[{UNSPACED}]")


def is_spaced_letter(character: str) -> bool:
    """Tell whether a character is part of a word together with others like it.

    >>> is_spaced_letter("é"), is_spaced_letter("数"), is_spaced_letter("—")
    (True, False, False)
    """
    is_other = _UNSPACED.match(character) or character in _JAPANESE_MARKS
    return bool(_word().fullmatch(character)) and not is_other


def word_places(text: str) -> list[tuple[int, int]]:
    """Return start and end of each word of a text.

    >>> word_places("let's 数える")
    [(0, 3), (4, 5), (6, 7), (7, 8), (8, 9)]
    """
    return [word.span() for word in (_ASCII_WORD if text.isascii() else _word()).finditer(text)]


def words_in(text: str) -> list[str]:
    """Return the words of a text.

    >>> words_in("let's 数える")
    ['let', 's', '数', 'え', 'る']
    """
    return (_ASCII_WORD if text.isascii() else _word()).findall(text)


@cache
def _lettered_word() -> re.Pattern[str]:
    letter = rf"[^\W\d_{UNSPACED}]"
    return re.compile(rf"(?!\W)[{UNSPACED}](?<!\d)|{letter}[{marks()}]*(?:{letter}[{marks()}]*)+")


def count_lettered_words(text: str) -> int:
    """Count runs of two letters or more, and letters of scripts without spaces.

    >>> count_lettered_words("x = 3 eggs, 3個の卵")
    4
    """
    return len(_lettered_word().findall(text))


def chunk_starts(text: str) -> list[int]:
    """Return where a text can be cut into windows: after white space, and around words without it.

    Those are characters of scripts without spaces, and the first word after one.

    >>> chunk_starts("it's 数Python, let's go")
    [0, 5, 6, 14, 20]
    """
    starts = [run.start() for run in re.finditer(r"\S+", text)]
    if not _UNSPACED.search(text):
        return starts
    return sorted({*starts, *_starts_without_space(text)})


def _starts_without_space(text: str) -> Iterator[int]:
    """Yield the starts of characters of scripts without spaces, and of the words after them."""
    unspaced_stop = None
    for start, stop in word_places(text):
        is_unspaced = _UNSPACED.match(text, start)
        follows_unspaced = unspaced_stop is not None and not any(
            character.isspace() for character in text[unspaced_stop:start]
        )
        if is_unspaced or follows_unspaced:
            yield start
        unspaced_stop = stop if is_unspaced else None


def count_unspaced(words: Sequence[str]) -> int:
    """Count the words that are characters of scripts without spaces.

    >>> count_unspaced(["数", "data", "え"])
    2
    """
    return sum(_UNSPACED.match(word) is not None for word in words)


# Not 5 in 15, 5.2 or 1,500.
_BEFORE = re.compile(rf"(?<![^\W{UNSPACED}])(?<!\d[.,])")
_BEHIND = re.compile(rf"(?![^\W{UNSPACED}])(?![.,]\d)")


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(f"[{marks()}]")


def is_whole(text: str, start: int, stop: int) -> bool:
    """Tell whether words and numbers begin and end where a part of a text does.

    A character of a script without spaces is always a word.

    >>> is_whole("共有7個", 2, 3), is_whole("7.5", 0, 1)
    (True, False)
    """
    begins = _UNSPACED.match(text, start) or _BEFORE.match(text, start)
    ends = _UNSPACED.match(text, stop - 1) or _BEHIND.match(text, stop)
    return bool(begins and ends and not _mark().match(text, stop))
