"""Traces of texts that repeat themselves: the spans, and the work that they take."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log2
from pathlib import Path
from typing import Any

import pytest

from ngramscan.index_files.fm9 import kernels
from ngramscan.index_files.fm9.in_place_spans import SpanSearch
from ngramscan.indexes.base import Index
from ngramscan.prevalence.spans import Span, WordText, find_spans
from tests.support.word_spans import spans_of
from tests.test_spans import Counting, of_files, of_files_in_place

LEAST = 5


def shuffled_words(n: int) -> str:
    return " ".join(random.Random(2).sample([f"w{number:05}" for number in range(n)], n))


SHAPES = [
    pytest.param(lambda n: "a " * n, id="one word"),
    pytest.param(lambda n: "a b " * (n // 2), id="two alternating words"),
    pytest.param(lambda n: "a bc def " * (n // 3), id="period of three"),
    pytest.param(lambda n: "x" * 9 * n + " a b c d e", id="a word without an end"),
    pytest.param(lambda n: "$x$ " * n, id="formulas"),
    pytest.param(shuffled_words, id="all different"),
]
TIMES = pytest.mark.parametrize("times", [1, 2], ids=["as long", "longer than the document's"])


def spans_in(index: Index, text: str) -> list[Span]:
    (spans,) = find_spans([WordText(text)], index, LEAST).spans
    assert isinstance(spans, list)
    return spans


@TIMES
@pytest.mark.parametrize("make", SHAPES)
def test_a_hosted_index_is_asked_little_more_about_twice_the_text(
    make: Callable[[int], str], times: int
) -> None:
    asked = []
    for n in (300, 600):
        index = Counting([make(n)])
        spans_in(index, make(n) * times)
        asked.append(len(index.asked))
    assert asked[1] <= 2.3 * asked[0] + 8


@TIMES
@pytest.mark.parametrize("make", SHAPES[:3])
def test_a_hosted_index_is_asked_few_questions_about_repeated_text(
    make: Callable[[int], str], times: int
) -> None:
    index = Counting([make(900)])
    spans_in(index, make(900) * times)
    assert len(index.asked) <= 60
    assert sum(map(len, index.asked)) <= 100 * len(make(900))


@TIMES
@pytest.mark.parametrize("make", SHAPES)
def test_files_in_place_are_searched_in_n_log_n(
    make: Callable[[int], str], times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, searched = SpanSearch._search, 0

    async def counted(self: SpanSearch, number: int, last: int, first: int) -> None:
        nonlocal searched
        searched += self._ends[last] - self._starts[first]
        await search(self, number, last, first)

    monkeypatch.setattr(SpanSearch, "_search", counted)
    text = make(600) * times
    with of_files_in_place(tmp_path, [make(600), "q", "r"]) as index:
        spans_in(index, text)
    assert searched <= 2 * len(text) * log2(len(text))


@TIMES
@pytest.mark.parametrize("make", SHAPES)
def test_local_files_are_searched_little_more_for_twice_the_text(
    make: Callable[[int], str], times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, searched = kernels._match_start, 0

    def counted(tables: Any, text: Any, least: int, end: int, at: Any, flag: Any) -> int:
        nonlocal searched
        start = int(search(tables, text, least, end, at, flag))
        searched += end - start
        return start

    work = []
    for n in (300, 600):
        searched = 0
        with of_files(tmp_path / str(n), [make(n), "q", "r"]) as index, uncompiled(monkeypatch):
            monkeypatch.setattr(kernels, "_match_start", counted)
            spans_in(index, make(n) * times)
            monkeypatch.undo()
        work.append(searched)
    assert work[1] <= 2.3 * work[0] + 1000


@contextmanager
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the search run as Python, so that its steps can be counted."""
    for name in (
        "match_starts",
        "_begin_group",
        "_find_first_alike",
        "_note_period",
        "_copy_starts",
    ):
        monkeypatch.setattr(kernels, name, getattr(kernels, name).function)
    yield


PARTS = ("a", "b", "ab", "é", "©", " ", " ", ". ")


@pytest.mark.parametrize("opened", [of_files, of_files_in_place], ids=["local", "in place"])
@pytest.mark.parametrize("least", [1, 3])
def test_spans_of_repeated_text_are_those_of_a_brute_force(
    opened: Callable[..., Any], least: int, tmp_path: Path
) -> None:
    documents, texts = repeated_texts(least)
    with opened(tmp_path, documents) as index:
        found = find_spans([WordText(text) for text in texts], index, least).spans
    for text, spans in zip(texts, found, strict=True):
        assert isinstance(spans, list)
        assert [(span.first, span.stop) for span in spans] == spans_of(text, documents, least)


@pytest.mark.parametrize("seed", range(60))
def test_spans_of_repeated_text_by_counts_are_those_of_a_brute_force(seed: int) -> None:
    documents, texts = repeated_texts(seed)
    for least in (1, 2, 4):
        for text in texts[:4]:
            (spans,) = find_spans([WordText(text)], Counting(documents), least).spans
            assert isinstance(spans, list)
            assert [(span.first, span.stop) for span in spans] == spans_of(text, documents, least)


def repeated_texts(seed: int) -> tuple[list[str], list[str]]:
    """Return documents and texts of pieces that are repeated, with others between them."""
    rng = random.Random(seed)
    pieces = ["".join(rng.choices(PARTS, k=rng.randint(1, 6))) for _ in range(3)]

    def repeated() -> str:
        runs = (rng.choice(pieces) * rng.randint(1, 40) for _ in range(rng.randint(1, 3)))
        return rng.choice(PARTS).join(runs)

    return [repeated() for _ in range(3)], [repeated() for _ in range(12)]
