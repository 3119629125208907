"""Numbers of an entry that are others in a copy."""

import random

import pytest

from ngramscan.prevalence.contamination.numbers import changed_numbers, is_number, masked


@pytest.mark.parametrize(
    ("word", "expected"),
    [("24", True), ("2x", True), ("१२", True), ("twelve", True), ("七", True), ("x", False)],
)
def test_numbers_are_recognised(word: str, expected: bool) -> None:
    assert is_number(word) == expected


def test_numbers_are_masked() -> None:
    assert masked(["he", "has", "3", "or", "four", "eggs"]) == ["he", "has", "0", "or", "0", "eggs"]


@pytest.mark.parametrize(
    ("entry", "passage", "expected"),
    [
        ("he has 3 eggs", "he has 4 eggs", [("3", "4")]),
        ("he has three eggs", "well he has five eggs", [("three", "five")]),
        ("he has 3 eggs and 4 pans", "he has 5 eggs and 6 pans", [("3", "5"), ("4", "6")]),
        ("a 12 b 15 c 18", "a 18 b 12 c 15", []),
        ("he has 3 eggs", "he has some eggs", []),
        ("he has some eggs", "he has 4 eggs", []),
        ("he has 3 eggs", "on page 7 he has 3 eggs", []),
        (["他有", "三", "個", "蛋"], ["他有", "四", "個", "蛋"], [("三", "四")]),
    ],
)
def test_changed_numbers_are_pairs_of_aligned_ones(
    entry: str | list[str], passage: str | list[str], expected: list[tuple[str, str]]
) -> None:
    words, others = (text.split() if isinstance(text, str) else text for text in (entry, passage))
    pairs = [(words[at], others[to]) for at, to in changed_numbers(words, others)]
    assert pairs == expected


@pytest.mark.parametrize("n_words", [100, 900])
def test_changed_numbers_of_long_texts_are_found_as_well(n_words: int) -> None:
    draw = random.Random(n_words)
    others = [first + second for first in "bcdfghkl" for second in "aeiou"]
    words = [str(at) if at % 20 == 0 else draw.choice(others) for at in range(n_words)]
    changed = {20, 60, n_words - 20}
    passage = ["intro", *(f"{word}1" if at in changed else word for at, word in enumerate(words))]
    pairs = changed_numbers(words, passage)
    assert pairs == [(at, at + 1) for at in sorted(changed)]
