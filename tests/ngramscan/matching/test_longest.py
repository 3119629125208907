"""Longest parts of texts in documents: those of a brute force, and the work that they take."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ngramscan.matching import halving, longest
from ngramscan.matching.longest import longest_matches


def by_brute_force(text: bytes, documents: Sequence[bytes]) -> list[int]:
    return [
        max(
            size
            for size in range(len(text) - start + 1)
            if any(text[start : start + size] in document for document in documents)
        )
        for start in range(len(text))
    ]


def matches(texts: Sequence[bytes], documents: Sequence[bytes]) -> list[list[int]]:
    windows = [np.arange(len(text))[:, None] + np.array([0, 1]) for text in texts]
    return [lengths.tolist() for lengths in longest_matches(texts, windows, documents)]


small_texts = st.lists(st.text(st.sampled_from("ab é\0"), max_size=60).map(str.encode), max_size=4)


@given(small_texts, small_texts.filter(len), st.integers(1, 3))
def test_matches_are_those_of_a_brute_force(
    texts: list[bytes], documents: list[bytes], times: int
) -> None:
    documents = [*documents, documents[0] * times, b"".join(texts)[1:]]
    assert matches(texts, documents) == [by_brute_force(text, documents) for text in texts]


def choose(patch: pytest.MonkeyPatch, *, searches: int, pairs_per_byte: int) -> None:
    """Choose whether texts are searched by halves, and where not, whether pairs are compared."""
    patch.setattr(halving, "_SEARCHES", searches)
    patch.setattr(longest, "_PAIRS_PER_BYTE", pairs_per_byte)


MANY = 1 << 40
WAYS = {
    "halved": {"searches": MANY, "pairs_per_byte": 0},
    "compared": {"searches": 0, "pairs_per_byte": MANY},
    "ordered": {"searches": 0, "pairs_per_byte": 0},
}


@given(small_texts, small_texts.filter(len), st.integers(1, 3), st.sampled_from([*WAYS]))
def test_matches_are_the_same_whichever_way_they_are_searched(
    texts: list[bytes], documents: list[bytes], times: int, way: str
) -> None:
    documents = [*documents, documents[0] * times, b"".join(texts)[1:]]
    with pytest.MonkeyPatch.context() as patched:
        choose(patched, **WAYS[way])
        assert matches(texts, documents) == [by_brute_force(text, documents) for text in texts]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_matches_of_long_windows_are_those_of_a_brute_force(
    seed: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, **WAYS[way])
    rng = random.Random(seed)
    pieces = [bytes(rng.choices(b"abc ", k=rng.randrange(1, 1500))) for _ in range(12)]
    texts, documents = (
        [b"".join(rng.choices(pieces, k=rng.randint(1, 4))) for _ in range(5)] for _ in range(2)
    )
    windows = list[NDArray[np.int64]]()
    for text in texts:
        starts = sorted(rng.sample(range(len(text)), min(len(text), 60)))
        ends = [min(len(text), start + rng.choice([1, 5, 9, 17, 40, 70, 300])) for start in starts]
        windows.append(np.stack([starts, ends], axis=1))
    for text, of_text, lengths in zip(
        texts, windows, longest_matches(texts, windows, documents), strict=True
    ):
        expected = [longest_from(text, start, documents) for start in of_text[:, 0].tolist()]
        has_window = np.array(expected) >= of_text[:, 1] - of_text[:, 0]
        assert (
            np.where(has_window, lengths, 0).tolist() == np.where(has_window, expected, 0).tolist()
        )
        assert (lengths <= expected).all()


def longest_from(text: bytes, start: int, documents: Sequence[bytes]) -> int:
    """Return the bytes that some document has from a place of a text on, by halving."""
    low, high = 0, len(text) - start
    while low < high:
        middle = (low + high + 1) // 2
        is_there = any(text[start : start + middle] in document for document in documents)
        low, high = (middle, high) if is_there else (low, middle - 1)
    return low


@pytest.mark.parametrize("at_once", [1, 10, 100])
def test_texts_and_documents_in_groups_have_the_same_matches(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longest, "_AT_ONCE", at_once)
    monkeypatch.setattr(halving, "_SEARCHES", 0)
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
    ranks, ordered = longest.rank_keys, 0

    def counted(keys: Any) -> longest.Ranks:
        nonlocal ordered
        ordered += len(keys)
        return ranks(keys)

    monkeypatch.setattr(longest, "rank_keys", counted)
    monkeypatch.setattr(halving, "_SEARCHES", 0)
    work = []
    for n in (2000, 4000):
        ordered = 0
        matches([make(more * n)], [make(n)])
        work.append(ordered)
    assert work[1] <= 2.3 * work[0]


def test_a_long_word_of_one_letter_is_not_ordered(monkeypatch: pytest.MonkeyPatch) -> None:
    def ordered(keys: Any) -> longest.Ranks:
        raise AssertionError(f"{len(keys)} places were ordered")

    monkeypatch.setattr(longest, "rank_keys", ordered)
    word = b"x" * 2_000_000
    text, document = word + b" a b c d e", word + b" a b c z"
    windows = np.array([[0, len(word) + 2], [len(word) + 1, len(word) + 4]])
    (lengths,) = longest_matches([text], [windows], [b"short", document])
    assert lengths.tolist() == [len(word) + 7, 6]
