r"""Whether an occurrence in the bytes of a text is a whole word.

A word character is a letter, a mark, a number or a connector such as `_`. An occurrence is whole
unless a word character continues it where it has one itself: `\frac{` may follow anything.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

from ngramscan.matching.engines import Engine, Hit, ScanAll, TextBytes

_LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""


def is_word_character(character: str) -> bool:
    """Tell whether a character is a letter, a mark, a number or a connector."""
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Pc"


_SPACE = ord(" ")
_IS_ASCII_WORD = [is_word_character(chr(code)) for code in range(128)]


# Bytes that are not UTF-8 become U+FFFD, which is not a word character.


@lru_cache(maxsize=4096)
def _begins_with_word(content: bytes) -> bool:
    return is_word_character(content.decode(errors="replace")[0])


@lru_cache(maxsize=4096)
def _ends_with_word(content: bytes) -> bool:
    return is_word_character(content.decode(errors="replace")[-1])


def is_word_before(text: TextBytes, place: int) -> bool:
    """Tell whether the character before a place of a text is a word character."""
    if not place:
        return False
    byte = text[place - 1]
    if byte < 128:
        return _IS_ASCII_WORD[byte]
    start = place - 1
    while start > max(0, place - _LONGEST_CHARACTER) and text[start] & 0xC0 == 0x80:
        start -= 1
    return _ends_with_word(bytes(text[start:place]))


def is_word_after(text: TextBytes, place: int) -> bool:
    """Tell whether the character after a place of a text is a word character."""
    if place == len(text):
        return False
    byte = text[place]
    if byte < 128:
        return _IS_ASCII_WORD[byte]
    return _begins_with_word(bytes(text[place : place + _LONGEST_CHARACTER]))


def is_whole(text: TextBytes, start: int, stop: int) -> bool:
    """Tell whether the part of a text between two places ends where its words do."""
    if is_word_after(text, start) and is_word_before(text, start):
        return False
    return not (is_word_before(text, stop) and is_word_after(text, stop))


StartOf = Callable[[int, TextBytes, int], int]
"""Returns where the occurrence of a literal, by its number, begins that ends at a place."""


class WholeWords:
    """Tells which occurrences of some literals are whole words, by the ends of each literal.

    Without `start_of`, each occurrence is as long as its literal.
    """

    def __init__(self, literals: Sequence[bytes], start_of: StartOf | None = None) -> None:
        self._sizes = [len(literal) for literal in literals]
        self._begin_words = [is_word_after(literal, 0) for literal in literals]
        self._end_words = [is_word_before(literal, len(literal)) for literal in literals]
        self._start_of = start_of

    def checked(self, text: TextBytes, hit: Hit) -> Hit:
        """Return a function that calls `hit` for those occurrences in a text that are whole words.

        It is called for each occurrence: the bytes next to it nearly always tell, and its values
        are local, which is faster.
        """
        sizes, start_of = self._sizes, self._start_of
        begin_words, end_words, is_ascii_word = self._begin_words, self._end_words, _IS_ASCII_WORD
        text_size = len(text)

        def check(
            number: int, _start: int, stop: int, _flags: int = 0, _context: object = None
        ) -> None:
            if end_words[number] and stop < text_size:
                byte = text[stop]
                if is_ascii_word[byte] if byte < 128 else is_word_after(text, stop):
                    return
            if begin_words[number]:
                start = start_of(number, text, stop) if start_of else stop - sizes[number]
                byte = text[start - 1] if start else _SPACE
                if is_ascii_word[byte] if byte < 128 else is_word_before(text, start):
                    return
            hit(number, 0, stop)

        return check


def whole_word_engine(engine: Engine, whole_words: WholeWords) -> Engine:
    """Return an engine that finds only whole words, among the literals that another one finds."""

    def scan(text: TextBytes, hit: Hit) -> None:
        content = text if isinstance(text, bytes) else text.cast("B")  # Arrow's are signed
        engine.scan(text, whole_words.checked(content, hit))

    scan_all = engine.scan_all and _scan_of_whole_words(engine.scan_all, whole_words)
    return Engine(engine.name, scan, scan_all)


def _scan_of_whole_words(scan_all: ScanAll, whole_words: WholeWords) -> ScanAll:
    def scan(texts: Sequence[bytes], hit: Hit, next_text: Callable[[], None]) -> None:
        remaining_texts, check = iter(texts), hit

        def advance() -> None:
            nonlocal check
            check = whole_words.checked(next(remaining_texts), hit)
            next_text()

        def check_in_text(number: int, start: int, stop: int) -> None:
            check(number, start, stop)

        scan_all(texts, check_in_text, advance)

    return scan
