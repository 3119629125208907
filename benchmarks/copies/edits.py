"""Edits of words and numbers."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence
from string import ascii_lowercase

from benchmarks.copies.problems import all_slots, language

NUMBER = re.compile(r"\d+")
NUMERALS = frozenset("〇一二三四五六七八九十百千万两半双")
NUMBER_WORDS = frozenset(
    {"one", "two", "three", "four", "five", "six", "ten", "half", "twice", "once", "none", "both"}
)
ONES = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def edit(text: str, share: float, draw: random.Random, name: str, words: Sequence[str]) -> str:
    """Insert, delete, replace or misspell a share of the words, or characters where none are apart.

    Numbers and the letters of options stay. `words` are those to insert.
    """
    pieces = re.findall(r"\s+|\S+", text) if language(name).is_spaced else units_of(text)
    places = [place for place, piece in enumerate(pieces) if may_be_edited(piece)]
    n_words = len([piece for piece in pieces if piece.strip() and is_word(piece)])
    n_edits = min(max(1, round(share * n_words)), len(places))
    for place in draw.sample(places, n_edits):
        pieces[place] = edited(pieces[place], draw, name, words)
    return "".join(pieces)


def units_of(text: str) -> list[str]:
    """Return the characters of a text, each with its marks."""
    units: list[str] = []
    for character in text:
        if units and unicodedata.category(character).startswith("M"):
            units[-1] += character
        else:
            units.append(character)
    return units


def is_word(piece: str) -> bool:
    """Tell whether a piece of text has a letter or a digit."""
    return any(character.isalnum() for character in piece)


def may_be_edited(piece: str) -> bool:
    """Tell whether a piece is a word without any number, and not the letter of an option."""
    letters = re.sub(r"\W", "", piece).lower()
    is_number = any(character.isdecimal() or character in NUMERALS for character in piece)
    is_letter = re.fullmatch(r"\([A-D]\)", piece) is not None
    return is_word(piece) and not is_number and not is_letter and letters not in NUMBER_WORDS


def edited(piece: str, draw: random.Random, name: str, words: Sequence[str]) -> str:
    """Return a word after one edit."""
    between = " " if language(name).is_spaced else ""
    match draw.choice(("insert", "delete", "replace", "misspell")):
        case "insert":
            return f"{draw.choice(words)}{between}{piece}"
        case "delete":
            return ""
        case "misspell" if len(piece) >= 4 and language(name).is_spaced:
            return misspelt(piece, draw)
        case _:
            return draw.choice([word for word in words if word != piece])


def misspelt(word: str, draw: random.Random) -> str:
    """Return a word with one letter lost, doubled, swapped or another."""
    place = draw.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    return draw.choice(
        (
            before + after,
            before + letter * 2 + after,
            before + after[:1] + letter + after[1:],
            before + draw.choice(ascii_lowercase) + after,
        )
    )


def words_to_insert(name: str, prose: Sequence[str]) -> list[str]:
    """Return words, or characters, of a language: of prose, and of what slots are filled with."""
    texts = [*prose, *(value for values in all_slots(name).values() for value in values)]
    if not language(name).is_spaced:
        units = (unit for text in texts for unit in units_of(text))
        return sorted({unit for unit in units if may_be_edited(unit)})
    return sorted({word for text in texts for word in text.split() if word.isalpha()})


def change_numbers(text: str, draw: random.Random) -> str:
    """Replace at least one number, and each at even odds, by another with as many digits."""
    numbers = list(NUMBER.finditer(text))
    must_change = draw.randrange(len(numbers))
    pieces, end = [], 0
    for place, number in enumerate(numbers):
        written = number[0]
        if place == must_change or draw.random() < 0.5:
            least, most = 10 ** (len(written) - 1), 10 ** len(written) - 1
            others = [str(draw.randint(least, most)) for _ in range(40)]
            written = next(other for other in others if other != number[0])
        pieces += [text[end : number.start()], written]
        end = number.end()
    return "".join([*pieces, text[end:]])


def numbers_in_words(text: str) -> str:
    """Write English numbers below a thousand in words."""
    return NUMBER.sub(lambda number: number_in_words(int(number[0])), text)


def number_in_words(number: int) -> str:
    """Return a number below a million in English words."""
    if number < 20:
        return ONES[number]
    if number < 100:
        ending = f"-{ONES[number % 10]}" if number % 10 else ""
        return TENS[number // 10] + ending
    size, unit = (1000, "thousand") if number >= 1000 else (100, "hundred")
    ending = f" and {number_in_words(number % size)}" if number % size else ""
    return f"{number_in_words(number // size)} {unit}{ending}"
