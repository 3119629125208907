"""Words of documents as bytes: the same that normalization makes."""

import random
import unicodedata

import pytest

from ngramscan.matching.normalization import normalized
from ngramscan.matching.word_bytes import WordBytes, word_bytes
from tests.support.sizes import sets

BROKEN = {"wellknown", "breaking", "été", "ab", "knownwell", "a_b"}

ASCII = [
    *"abABzZ09_--  \t\n\r\v\f\x00\x1c'\".,<>&;()[]",
    *(
        "-\n",
        "- \r\n",
        "well-\nknown",
        "a-\t\n b",
        "snake_case",
        "__x__",
        "_a _b_",
        "&amp;",
        "&nGt;",
    ),
    *("<b>", "</p>", "<!-- x -->", "](/x)", "](http://a.b/c)", "&lt;b&gt;", "a <b and c> d"),
]
OTHERS = [
    *"‘’“”–—…\u00a0éÉßσςΣñÑ²½™ʼ‿٤ѐЀＡ１－＿Ⅷ\u0301\u3000\U00010400😀",
    *("\u200b", "\ufeff", "\u2010", "\u2011", "\u2028", "\x85", "\u00ad", "\u00ad\n", "\u0640"),
    *(
        "well\u2011\nknown",
        "a-\u00a0\nb",
        "ét-\né",
        "a\u2010\u2028b",
        "ab-\u200b\n",
        "-…\n",
        "a-\n\x85b",
    ),
    *("数", "え\u3099", "ภา", "한", "ᄒ\u1161", "é_", "_é", "数_x", "_\u200bx", "e\u0301", "ﬁ"),
]


def is_broken(head: str, tail: str) -> bool:
    return (head + tail).casefold() in BROKEN


def words_of(made: WordBytes, number: int) -> bytes:
    begin = int(made.documents.begins[number])
    return bytes(made.documents.text[begin : begin + made.documents.size_of(number)])


def check(documents: list[bytes]) -> None:
    made = word_bytes(documents, is_broken, width=4)
    for number, document in enumerate(documents):
        readable = str(document, "utf-8", "replace")
        words = words_of(made, number)
        expected = normalized(readable, "words", is_broken).split()
        assert words.decode().split() == expected, document
        assert set(words) & {*b"\t\n\v\f\r"} == set()
        if made.is_in_place[number]:
            check_places(document, words)


def check_places(document: bytes, words: bytes) -> None:
    """Check that each word is where it was."""
    assert len(words) == len(document)
    for place in (place for place, byte in enumerate(words) if byte != ord(" ")):
        if words[place] & 0xC0 != 0x80:
            small, given = (
                text[place : place + 4].decode("utf-8", "ignore")[:1] for text in (words, document)
            )
            assert unicodedata.normalize("NFKC", given).casefold() == small


@pytest.mark.parametrize("seed", range(sets(20)))
def test_words_are_those_of_normalization(seed: int) -> None:
    draw = random.Random(seed)
    letters = [chr(code) for code in range(0x80, 0x20000) if not 0xD800 <= code < 0xE000]
    documents = []
    for _ in range(300):
        parts = [ASCII, ASCII + OTHERS, ASCII * 3 + draw.sample(letters, 20)][draw.randrange(3)]
        text = "".join(draw.choices(parts, k=draw.randrange(25)))
        # Rare characters go another way where they are few.
        documents.append((text + draw.choice(["", " plain words" * 200])).encode())
    check([*documents, b"", b"ab \xff\xfe c\xc3", b"\xc3\xa9_\xff_x"])


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param(
            "It's SNAKE_case, _not_ __that__ a_", "it s snake_case not that a", id="ASCII"
        ),
        pytest.param("“Don’t” — Élan… Ñ", "don t élan ñ", id="signs and capital letters"),
        pytest.param("ΣΊΣΥΦΟΣ ЯБЛОКО", "σίσυφοσ яблоко", id="other alphabets"),
    ],
)
def test_words_of_plain_documents_stay_in_their_places(document: str, words: str) -> None:
    made = word_bytes([document.encode()], is_broken, width=4)
    assert words_of(made, 0).decode().split() == words.split()
    assert made.is_in_place == [True]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param("a<b>b</b>c &amp; d", "abc d", id="markup"),
        pytest.param("a &nGt; b", "a b", id="a longer entity"),
        pytest.param("well-\n  known well-\nmade", "wellknown well made", id="a broken word"),
        pytest.param("a b-\r\nx a-\r\nb", "a b x ab", id="a line that ends with two characters"),
        pytest.param("a-\vb", "ab", id="the end of a line of tables"),
        pytest.param("a-\fb", "ab", id="the end of a page"),
        pytest.param("é-\nté", "été", id="a broken word with accents around the hyphen"),
        pytest.param("a_-\nb", "a_b", id="a broken word with an underscore"),
        pytest.param("e\u200bx \ufeffy", "ex y", id="invisible characters"),
        pytest.param("10² ½ ﬁne cafe\u0301", "10 2 1 2 fine café", id="rare characters"),
        pytest.param("数学 ภา", "数 学 ภ า", id="scripts without spaces"),
        pytest.param(b"a \xff b", "a b", id="not UTF-8"),
        pytest.param(b"<p>a \xff b", "a b", id="shorter and longer"),
        pytest.param("well\u00ad\nknown", "wellknown", id="a soft hyphen"),
    ],
)
def test_words_of_documents_that_change_are_not_in_place(document: str | bytes, words: str) -> None:
    content = document if isinstance(document, bytes) else document.encode()
    made = word_bytes([b"first", content, b"last"], is_broken, width=4)
    assert [words_of(made, number).decode().split() for number in range(3)] == [
        ["first"],
        words.split(),
        ["last"],
    ]
    assert made.is_in_place == [True, False, True]
