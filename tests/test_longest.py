"""Longest parts of texts in documents: those of a brute force, and the work that they take."""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching import longest
from ngramscan.matching.longest import longest_matches


def by_brute_force(text: bytes, documents: Sequence[bytes]) -> list[int]:
    return [
        max(
            size
            for size in range(len(text) - start + 1)
            if any(text[start : start + size] in each for each in documents)
        )
        for start in range(len(text))
    ]


def matches(texts: Sequence[bytes], documents: Sequence[bytes]) -> list[list[int]]:
    starts = [np.arange(len(text)) for text in texts]
    return [each.tolist() for each in longest_matches(texts, starts, documents)]


small_texts = st.lists(st.text(st.sampled_from("ab é\0"), max_size=60).map(str.encode), max_size=4)


@given(small_texts, small_texts.filter(len), st.integers(1, 3))
def test_matches_are_those_of_a_brute_force(
    texts: list[bytes], documents: list[bytes], times: int
) -> None:
    documents = [*documents, documents[0] * times, b"".join(texts)[1:]]
    assert matches(texts, documents) == [by_brute_force(text, documents) for text in texts]


@pytest.mark.parametrize("at_once", [1, 10, 100])
def test_texts_and_documents_in_groups_have_the_same_matches(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longest, "_AT_ONCE", at_once)
    rng = random.Random(1)
    texts, documents = (
        ["".join(rng.choices("ab ", k=rng.randrange(60))).encode() for _ in range(12)]
        for _ in range(2)
    )
    assert matches(texts, documents) == [by_brute_force(text, documents) for text in texts]


def test_bytes_that_are_not_utf8_end_a_match() -> None:
    assert matches([b"abab", b"ab"], [b"\xffab\xffab\xff", b"\xfe"]) == [[2, 1, 2, 1], [2, 1]]


def test_without_documents_nothing_matches() -> None:
    assert matches([b"ab", b""], []) == [[0, 0], []]
    assert matches([b"ab"], [b""]) == [[0, 0]]


def shuffled_words(n: int) -> bytes:
    return " ".join(random.Random(2).sample([f"w{number:05}" for number in range(n)], n)).encode()


def mirrored(n: int) -> bytes:
    """Return the word of Thue and Morse, which collides in many a hash."""
    return bytes(b"ab"[number.bit_count() % 2] for number in range(4 * n))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda n: b"a " * n, id="one word"),
        pytest.param(lambda n: b"a b " * n, id="two alternating words"),
        pytest.param(lambda n: b"a bc def " * n, id="period of three"),
        pytest.param(lambda n: b"a" * 4 * n, id="no space"),
        pytest.param(lambda n: b"$x$ " * n, id="formulas"),
        pytest.param(mirrored, id="Thue-Morse"),
        pytest.param(shuffled_words, id="all different"),
    ],
)
@pytest.mark.parametrize("more", [1, 2], ids=["as long as the document", "longer than it"])
def test_twice_the_text_is_little_more_than_twice_the_work(
    make: Callable[[int], bytes], more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks, ordered = longest._ranks, 0

    def counted(keys: longest.Integers) -> longest.Ranks:
        nonlocal ordered
        ordered += len(keys)
        return ranks(keys)

    monkeypatch.setattr(longest, "_ranks", counted)
    work = []
    for n in (2000, 4000):
        ordered = 0
        matches([make(more * n)], [make(n)])
        work.append(ordered)
    assert work[1] <= 2.3 * work[0]
