"""What a word is, in scripts with and without spaces."""

import re
import sys
import unicodedata

import pytest
from fontTools.unicodedata import script, script_name

from ngramscan.matching.words import (
    UNSPACED_SCRIPTS,
    chunk_starts,
    count_lettered_words,
    is_whole,
    word_places,
    words_in,
)
from ngramscan.outputs.tokens import split_words

WORDS = [
    pytest.param("It's 3.5\tMetres_", ["It", "s", "3", "5", "Metres_"], id="Latin"),
    pytest.param("今天天气。好", list("今天天气好"), id="Chinese"),
    pytest.param("用Python3编程", ["用", "Python3", "编", "程"], id="Latin within Chinese"),
    pytest.param("コーヒーを", list("コーヒーを"), id="Japanese with a prolonged sound"),
    pytest.param("か\u3099き", ["か\u3099", "き"], id="Japanese in NFD"),
    pytest.param("ｶﾞｷ", ["ｶﾞ", "ｷ"], id="half-width Katakana"),
    pytest.param("ที่นี่", ["ที่", "นี่"], id="Thai with vowels and tones above"),
    pytest.param("ភាសា", ["ភា", "សា"], id="Khmer"),
    pytest.param("မြန်မာ", ["မြ", "န်", "မာ"], id="Myanmar"),
    pytest.param("ລາວ", ["ລ", "າ", "ວ"], id="Lao"),
    pytest.param("བོད་ཡིག", ["བོ", "ད", "ཡི", "ག"], id="Tibetan"),
    pytest.param("정원사는 튤립을", ["정원사는", "튤립을"], id="Korean"),
    pytest.param(
        unicodedata.normalize("NFD", "정원사는 줄"),
        [unicodedata.normalize("NFD", word) for word in ("정원사는", "줄")],
        id="Korean in jamo",
    ),
    pytest.param("زرع البستاني", ["زرع", "البستاني"], id="Arabic"),
    pytest.param("كِتَابٌ جديد", ["كِتَابٌ", "جديد"], id="Arabic with vowel signs"),
    pytest.param("हिन्दी में", ["हिन्दी", "में"], id="Hindi"),
    pytest.param("cafe\u0301 e\u0301lan", ["cafe\u0301", "e\u0301lan"], id="Latin in NFD"),
    pytest.param("\u0301 a", ["a"], id="a mark alone"),
    pytest.param("𠀀𠀁a", ["𠀀", "𠀁", "a"], id="ideographs beyond the first plane"),
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_a_word_is_a_run_of_letters_or_a_character_without_spaces(
    text: str, expected: list[str]
) -> None:
    assert words_in(text) == expected
    assert [text[start:stop] for start, stop in word_places(text)] == expected


def test_keyness_has_the_same_words() -> None:
    tokens = split_words(["用Python, ที่ cafe\u0301!"])
    assert [tokens.names[number] for number in tokens.ids if number] == [
        *("用", "Python", ",", "ที่", "cafe\u0301", "!")
    ]


def test_scripts_without_spaces_are_those_of_the_unicode_database() -> None:
    listed = {
        code: name
        for name, ranges in UNSPACED_SCRIPTS.items()
        for first, last in ranges
        for code in range(first, last + 1)
        if script(chr(code)) != "Zzzz" and chr(code).isalnum()
    }
    small = {"Common", "Inherited"}
    wrong = {
        hex(code): name
        for code, name in listed.items()
        if script_name(script(chr(code))) not in {name, *small} | {"Katakana", "Hiragana"}
    }
    missing = {
        hex(code)
        for code in range(sys.maxunicode + 1)
        if script(chr(code)) not in ("Zzzz", "Zyyy", "Zinh")
        and script_name(script(chr(code))) in UNSPACED_SCRIPTS
        and chr(code).isalnum()
        and code not in listed
    }
    assert (wrong, missing) == ({}, set())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(" it's so_", [1, 6], id="spaces"),
        pytest.param("前文，后", [0, 1, 3], id="Chinese"),
        pytest.param("「前」 ab", [0, 1, 4], id="quoted, then Latin"),
        pytest.param("用Python编程 ok", [0, 1, 7, 8, 10], id="Latin within Chinese"),
        pytest.param("ที่นี่", [0, 3], id="no window begins with a mark"),
        pytest.param("C++ x_y (z)", [0, 4, 8], id="signs"),
    ],
)
def test_windows_of_characters_begin_at_words(text: str, expected: list[int]) -> None:
    assert chunk_starts(text) == expected


@pytest.mark.parametrize(
    ("answer", "text", "is_found"),
    [
        pytest.param("5", "15 5.2 1,500", False, id="part of a number"),
        pytest.param("5", "it is 5.", True, id="end of a sentence"),
        pytest.param("5", "一共有5个", True, id="number within Chinese"),
        pytest.param("苹果", "他买了苹果和梨", True, id="Chinese within Chinese"),
        pytest.param("kaf", "le kafé", False, id="letters that go on"),
        pytest.param("cafe", "cafe\u0301", False, id="a mark that goes on"),
        pytest.param("red fox", "a red fox.", True, id="two words"),
        pytest.param("(a)", "x(a)y", False, id="signs between letters"),
    ],
)
def test_an_answer_is_found_as_whole_words(answer: str, text: str, is_found: bool) -> None:
    starts = [found.start() for found in re.finditer(re.escape(answer), text)]
    assert any(is_whole(text, start, start + len(answer)) for start in starts) == is_found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x = 3 eggs, abc12de f_gh", 4, id="Latin"),
        pytest.param("3個の卵が", 4, id="Japanese"),
        pytest.param("हिन्दी भाषा", 2, id="Hindi"),
    ],
)
def test_lettered_words_are_counted(text: str, expected: int) -> None:
    assert count_lettered_words(text) == expected
