"""Windows of words: none is missed, and none is taken for another."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from ngramscan.indexes.base import SoughtTexts
from ngramscan.matching import word_windows
from ngramscan.matching.word_windows import (
    FoundSpan,
    WindowFinder,
    join_documents,
    least_windows,
    longest_passage,
)
from tests.support import passage_oracle

# Words of all lengths, many of which differ in one byte: at the ends, or in the middle.
LONG = "abcdefghijklmnopqrstuvwxyz" * 2
WORDS = ["a", "b", "ab", "é", "12345678", "12345679", "123456789", "023456789", "1234567890abcdef"]
WORDS += [LONG[:size] for size in (16, 17, 22, 24, 25, 40, 52)]
WORDS += [f"{LONG[:size]}-{LONG[size + 1 : 52]}".replace("-", "0") for size in (7, 8, 15, 20, 44)]


def find_spans(
    finder: WindowFinder, documents: Sequence[str], width: int
) -> tuple[list[int], list[FoundSpan]]:
    """Return how often each window occurs, and all spans."""
    joined = join_documents([f" {document} ".encode() for document in documents], width)
    located = finder.find(joined)
    counts = np.bincount(located.windows, minlength=finder.n_windows)
    return counts.tolist(), finder.spans(located, finder.least)


@pytest.mark.parametrize(
    ("part_bytes", "block_bytes"), [(1, 1), (30, 1), (30, 20), (1 << 20, 30), (1 << 20, 1 << 16)]
)
@pytest.mark.parametrize("seed", range(6))
def test_windows_and_spans_are_those_of_the_definition(
    seed: int, part_bytes: int, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_windows, "_PART_BYTES", part_bytes)
    monkeypatch.setattr(word_windows, "_BLOCK_BYTES", block_bytes)
    draw = random.Random(seed)
    words = draw.sample(WORDS, 8)
    texts = {tuple(draw.choices(words, k=draw.choice([1, 2, 3, 5, 9]))) for _ in range(10)}
    documents = [" ".join(draw.choices(words, k=draw.randrange(40))) for _ in range(30)]
    for width in (1, 2, 3, 4):
        sought = SoughtTexts([*texts], [], width, least_share=0.4, context=0, most=1000)
        finder = WindowFinder(sought.texts, width, sought.least_share)
        counts, spans = find_spans(finder, documents, width)
        numbers = word_windows.number_windows(sought.texts, width).by_text
        expected_counts = passage_oracle.occurrences(sought, documents)
        assert [[counts[number] for number in of_text] for of_text in numbers] == expected_counts
        shown = [
            (
                span.text_number,
                span.document,
                span.windows,
                f" {documents[span.document]} ".encode()[span.start : span.stop].decode().split(),
            )
            for span in spans
        ]
        assert sorted(shown) == sorted(map(tuple, passage_oracle.passages(sought, documents)))


@pytest.mark.parametrize(("between", "windows"), [(10, 2), (11, 1)])
def test_a_span_has_at_most_the_longest_passage(between: int, windows: int) -> None:
    text = ["a", "b", "c", "d"]
    assert longest_passage(4) == 16
    finder = WindowFinder([text], 3, 0.5)
    document = " ".join(["a b c", *["x"] * between, "b c d"])
    _, (span,) = find_spans(finder, [document], 3)
    assert span.windows == windows


def test_of_equal_spans_the_first_counts_and_windows_count_once() -> None:
    finder = WindowFinder([["a", "b", "c", "d"]], 2, 0.1)
    far = " x" * 20
    _, spans = find_spans(finder, [f"a b a b a b{far} b c d{far} c d a b", "x", "a b x c d"], 2)
    assert [(span.document, span.windows) for span in spans] == [(0, 2), (2, 2)]
    start = len(f" a b a b a b{far} ")
    assert (spans[0].start, spans[0].stop) == (start, start + len("b c d"))


def test_only_spans_with_enough_windows_are_returned() -> None:
    finder = WindowFinder([["a", "b", "c", "d"], ["c", "d", "e"]], 2, 0.1)
    located = finder.find(join_documents([b"a b c d e", b"a b c"], 2))
    spans = finder.spans(located, np.array([3, 3]))
    assert [(span.document, span.text_number) for span in spans] == [(0, 0)]


def test_windows_with_the_same_hash_are_all_found() -> None:
    hashes = np.array([5, 1 << 63, 5, (1 << 64) - 1, 5, 0], np.uint64)
    table = word_windows._HashedWindows(hashes)
    places, windows = table.find(np.array([7, 5, (1 << 64) - 1, 1 << 63, 4, 0], np.uint64))
    pairs = sorted(zip(places.tolist(), windows.tolist(), strict=True))
    assert pairs == [(1, 0), (1, 2), (1, 4), (2, 3), (3, 1), (5, 5)]


def test_a_common_window_takes_no_time_for_each_text() -> None:
    begin = ["which", "of", "these", "is", "true", "about"]
    texts = [[*begin, *(f"{letter}{n}" for letter in "abcd")] for n in range(1000)]
    finder = WindowFinder(texts, 4, 0.2)
    joined = join_documents([f" {' '.join(begin)} a1 b1 c1 ".encode()] * 100, 4)
    located = finder.find(joined)
    candidates = finder.spans(located, finder.least)
    assert {span.text_number for span in candidates} == {1}
    assert len(candidates) == 100


@pytest.mark.parametrize(("n_texts", "n_spans"), [(50, 50), (51, 1)])
def test_a_window_is_common_if_more_than_fifty_texts_have_it(n_texts: int, n_spans: int) -> None:
    texts = [["a", "b", "c", "d", f"{n}", f"{n}b", f"{n}c"] for n in range(n_texts)]
    _, spans = find_spans(WindowFinder(texts, 2, 0.1), ["a b c d x 7 7b 7c"], 2)
    assert len(spans) == n_spans


@pytest.mark.parametrize("changed", [0, 7, 8, 12, 19, 20, 25])
def test_words_are_compared_to_their_last_byte(changed: int) -> None:
    word = LONG[:26]
    other = f"{word[:changed]}0{word[changed + 1 :]}"
    text = f" {word} {other} {word} {word}a {' ' * 16}".encode()
    cut = word_windows._CutWords(text, 0, len(text) - 16, 30)
    first, words = cut.words(np.zeros(4, np.int64)), cut.words(np.arange(4))
    assert cut.are_same(first, cut, words).tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("windows", "share", "least"),
    [(0, 0.2, 1), (5, 0.2, 1), (6, 0.2, 2), (35, 0.2, 7), (100, 0.07, 7)],
)
def test_the_least_number_of_windows_is_rounded_up(windows: int, share: float, least: int) -> None:
    assert least_windows(windows, share) == least


def test_without_texts_or_words_nothing_is_found() -> None:
    no_texts: list[list[list[str]]] = [[], [[]], [[], []]]
    for texts in no_texts:
        assert find_spans(WindowFinder(texts, 4, 0.2), ["a b c d e", ""], 4) == ([], [])
    assert find_spans(WindowFinder([["a"]], 4, 0.2), [], 4) == ([0], [])
