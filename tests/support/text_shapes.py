"""Seven shapes of text that make careless searches slow, each of any size.

Times of commands may grow with a text, at most as n log n, whatever it says. What repeats itself is
where they fail: each part of it is in many places, and each place in many parts.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

Maker = Callable[[int], str]
"""Returns an ASCII text of about so many bytes."""


@dataclass(frozen=True, slots=True)
class TextShape:
    """How a text is made, and a document of a corpus that has much of it."""

    title: str
    text: Maker
    document: Maker


def one_word(size: int) -> str:
    return repeated("a ", size)


def two_alternating_words(size: int) -> str:
    return repeated("a b ", size)


def period_of_three(size: int) -> str:
    return repeated("a bc def ", size)


def half_a_run(size: int) -> str:
    """Return a document in which a run of one word is half as long as in its text."""
    return repeated("b c ", size // 2) + one_word(size // 2)


def without_a_space(size: int) -> str:
    return "a" * size


def formulas(size: int) -> str:
    return repeated("$x$ ", size)


def different_words(size: int) -> str:
    """Return words of seven letters in a random order, each of them once."""
    numbers = random.Random(7).sample(range(26**5), size // 8)
    return "".join(f"q{_letters(number)}z " for number in numbers)


def repeated(unit: str, size: int) -> str:
    return unit * (size // len(unit))


def _letters(number: int) -> str:
    letters = ""
    for _ in range(5):
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    return letters


SHAPES = (
    TextShape("one word", one_word, one_word),
    TextShape("two alternating words", two_alternating_words, two_alternating_words),
    TextShape("a period of three", period_of_three, period_of_three),
    TextShape("a run longer than the document's", one_word, half_a_run),
    TextShape("no space", without_a_space, without_a_space),
    TextShape("formulas", formulas, formulas),
    TextShape("all different", different_words, different_words),
)
