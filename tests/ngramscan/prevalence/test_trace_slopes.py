"""Traces of texts that repeat themselves: the spans, and the work that they take."""

import random
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import pytest

from ngramscan.index_files.fm9 import kernels as fm9_kernels
from ngramscan.index_files.fm9.in_place_spans import SpanSearch
from ngramscan.index_files.tokens import kernels as token_kernels
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.indexes.base import Index
from ngramscan.prevalence.span_documents import look_up_spans
from ngramscan.prevalence.spans import Span, WordText, find_spans
from ngramscan.prevalence.trace import GivenText, TraceOptions, run_trace
from ngramscan.prevalence.trace_spans import ListingOptions, make_spans
from tests.support.opened_indexes import of_files, of_files_in_place
from tests.support.text_index import Counting
from tests.support.text_shapes import SHAPES, TextShape
from tests.support.token_folders import write_folder
from tests.support.word_spans import spans_of

LEAST = 5
ENDING = " and so it ends here"


ALL_SHAPES = pytest.mark.parametrize(
    "shape", [pytest.param(shape, id=shape.title) for shape in SHAPES]
)
REPEATED = pytest.mark.parametrize(
    "shape", [pytest.param(shape, id=shape.title) for shape in SHAPES[:3]]
)
TIMES = pytest.mark.parametrize("times", [1, 2], ids=["as long", "longer than the document's"])


def text_of(shape: TextShape, size: int) -> str:
    """Return a text with words at its end, so that one without a space has spans, too."""
    return shape.text(size) + ENDING


def document_of(shape: TextShape, size: int) -> str:
    return shape.document(size) + ENDING


def spans_in(index: Index, text: str) -> list[Span]:
    (spans,) = find_spans([WordText(text)], index, LEAST).spans
    assert isinstance(spans, list)
    return spans


@TIMES
@ALL_SHAPES
def test_a_hosted_index_is_asked_little_more_about_twice_the_text(
    shape: TextShape, times: int
) -> None:
    asked = []
    for size in (1000, 2000):
        index = Counting([document_of(shape, size)])
        spans_in(index, text_of(shape, size * times))
        asked.append(len(index.asked))
    assert asked[1] <= 2.3 * asked[0] + 8


@TIMES
@REPEATED
def test_a_hosted_index_is_asked_few_questions_about_repeated_text(
    shape: TextShape, times: int
) -> None:
    document, text = document_of(shape, 3000), text_of(shape, 3000 * times)
    index = Counting([document])
    spans_in(index, text)
    assert len(index.asked) <= 80
    assert sum(map(len, index.asked)) <= 100 * len(document)


@TIMES
@ALL_SHAPES
def test_files_in_place_are_searched_in_n_log_n(
    shape: TextShape, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, searched = SpanSearch._search, 0

    async def counted(self: SpanSearch, number: int, last: int, first: int) -> None:
        nonlocal searched
        searched += self._ends[last] - self._starts[first]
        await search(self, number, last, first)

    monkeypatch.setattr(SpanSearch, "_search", counted)
    text = text_of(shape, 2000 * times)
    with of_files_in_place(tmp_path, [document_of(shape, 2000), "q", "r"]) as index:
        spans_in(index, text)
    assert searched <= 2 * len(text) * log2(len(text))


@TIMES
@ALL_SHAPES
def test_local_files_are_searched_little_more_for_twice_the_text(
    shape: TextShape, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, searched = fm9_kernels._match_start, 0

    def counted(tables: Any, text: Any, least: int, end: int, at: Any, flag: Any) -> int:
        nonlocal searched
        start = int(search(tables, text, least, end, at, flag))
        searched += end - start
        return start

    work = []
    for size in (1000, 2000):
        searched = 0
        documents = [document_of(shape, size), "q", "r"]
        with of_files(tmp_path / str(size), documents) as index, monkeypatch.context() as patch:
            run_as_python(patch, fm9_kernels, "match_starts", "_begin_group", "_find_first_alike")
            run_as_python(patch, fm9_kernels, "_note_period", "_copy_starts")
            patch.setattr(fm9_kernels, "_match_start", counted)
            spans_in(index, text_of(shape, size * times))
        work.append(searched)
    assert work[1] <= 2.3 * work[0] + 1000


@TIMES
@ALL_SHAPES
def test_tokens_are_searched_little_more_for_twice_the_text(
    shape: TextShape, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, searched = token_kernels._match_length, 0

    def counted(*arguments: Any) -> tuple[int, int]:
        nonlocal searched
        length, wrong = search(*arguments)
        searched += int(length) + 1
        return length, wrong

    work = []
    for size in (1000, 2000):
        searched = 0
        # Each byte is a token.
        documents = [[*document_of(shape, size).encode()], [1, 2]]
        folder = open_token_folder(write_folder(tmp_path / str(size), [documents], 1))
        with monkeypatch.context() as patch:
            run_as_python(patch, token_kernels, "match_lengths", "_measure_from")
            run_as_python(patch, token_kernels, "_last_known", "_last_with_end")
            patch.setattr(token_kernels, "_match_length", counted)
            folder.match_ends([*text_of(shape, size * times).encode()])
        work.append(searched)
    assert work[1] <= 2.3 * work[0] + 1000


def run_as_python(patch: pytest.MonkeyPatch, kernels: Any, *names: str) -> None:
    """Let some kernels of a module run as Python, so that their steps can be counted."""
    for name in names:
        patch.setattr(kernels, name, getattr(kernels, name).function)


@TIMES
@ALL_SHAPES
def test_the_texts_of_listed_spans_are_little_more_for_twice_the_text(
    shape: TextShape, times: int
) -> None:
    sizes, asked = [], []
    for size in (1000, 2000):
        index = Counting([document_of(shape, size)])
        given = GivenText("", "", "", "", "", text_of(shape, size * times))
        found = run_trace([given], [index], TraceOptions())
        index.asked.clear()
        listed = look_up_spans(
            found, [index], ListingOptions(), documents=None, needs_examples=True, seed=1
        )
        rows = [*make_spans(found, listed.listing, listed.examples)]
        sizes.append(sum(len(row.text) for row in rows))
        asked.append(sum(map(len, index.asked)))
    assert 0 < sizes[1] <= 2.3 * sizes[0]
    assert asked[1] <= 2.3 * asked[0] + 1000


PARTS = ("a", "b", "ab", "é", "©", " ", " ", ". ")


@pytest.mark.parametrize("opened", [of_files, of_files_in_place], ids=["local", "in place"])
@pytest.mark.parametrize("least", [1, 3])
def test_spans_of_repeated_text_are_those_of_a_brute_force(
    opened: Callable[..., Any], least: int, tmp_path: Path
) -> None:
    documents, texts = repeated_texts(least)
    with opened(tmp_path, documents) as index:
        found = find_spans([WordText(text) for text in texts], index, least).spans
    lists = [spans for spans in found if isinstance(spans, list)]
    assert lists == found
    assert [[(span.first, span.stop) for span in spans] for spans in lists] == [
        spans_of(text, documents, least) for text in texts
    ]


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
