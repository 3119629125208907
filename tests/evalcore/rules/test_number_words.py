"""Numbers that are written in words."""

import pytest

from evalcore.rules.number_words import with_digits

NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen", "twenty"),
)
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth"),
)


@pytest.mark.parametrize(("word", "number"), [(word, n) for n, word in enumerate(NUMBERS)])
def test_a_small_number_is_read_within_a_text(word: str, number: int) -> None:
    assert with_digits(f"{word} solutions") == f"{number} solutions"


@pytest.mark.parametrize(("word", "number"), [(word, n) for n, word in enumerate(ORDINALS, 1)])
def test_an_ordinal_is_read_alone(word: str, number: int) -> None:
    assert with_digits(word) == str(number)
    assert with_digits(f"the {word} of them") == f"the {word} of them"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("thirty", "30"),
        ("forty-two", "42"),
        ("fifty one", "51"),
        ("sixty", "60"),
        ("seventy", "70"),
        ("eighty", "80"),
        ("ninety-nine", "99"),
        ("a hundred", "100"),
        ("three hundred and seven", "307"),
        ("a thousand", "1000"),
        ("two thousand five hundred", "2500"),
        ("a million", "1000000"),
        ("one million, two hundred thousand", "1200000"),
        ("three billion", "3000000000"),
        ("two trillion", "2000000000000"),
        ("half", "1/2"),
        ("two halves", "2/2"),
        ("a quarter", "1/4"),
        ("two thirds", "2/3"),
        ("three fourths", "3/4"),
        ("four-fifths", "4/5"),
        ("five sixths", "5/6"),
        ("two sevenths", "2/7"),
        ("three eighths", "3/8"),
        ("two ninths", "2/9"),
        ("three tenths", "3/10"),
        ("seven hundredths", "7/100"),
        ("5 of twelve", "5 of twelve"),
        pytest.param("sıxth", "sıxth", id="a dotless i is no i"),
        pytest.param("ſix apples", "ſix apples", id="a long s is no s"),
        pytest.param("é six", "é 6", id="letters of other scripts beside it"),
    ],
)
def test_number_words_are_digits_unless_there_are_digits(text: str, expected: str) -> None:
    assert with_digits(text) == expected
