"""Spans that are listed: all, but where a text repeats itself as many as cover the same words."""

import json
import random
from pathlib import Path

import pandas as pd
import pytest

from ngramscan.prevalence.listed_spans import MOST_OVERLAPPING, listed_spans
from ngramscan.prevalence.spans import Span
from tests.support.command import invoke
from tests.support.word_spans import spans_of


def some_spans(rng: random.Random) -> list[Span]:
    """Return spans in the order of their starts, of which none has another; many may overlap."""
    n = rng.randint(1, 300)
    number = rng.randint(0, n)
    firsts, lasts = (sorted(rng.sample(range(n), number)) for _ in range(2))
    return [
        Span(first, last + 1) for first, last in zip(firsts, lasts, strict=True) if first <= last
    ]


def repeated_spans(n: int) -> list[Span]:
    """Return those of a text of 2n words in a document of n, where all words are the same."""
    return [Span(first, first + n) for first in range(n + 1)]


def words_in(spans: list[Span]) -> set[int]:
    return {word for span in spans for word in range(span.first, span.stop)}


def spans_with(word: int, spans: list[Span]) -> int:
    return sum(span.first <= word < span.stop for span in spans)


@pytest.mark.parametrize("seed", range(60))
def test_listed_spans_cover_the_words_of_all_and_each_word_is_in_few(seed: int) -> None:
    spans = some_spans(random.Random(seed)) if seed else repeated_spans(200)
    listed = listed_spans(spans)
    words = words_in(spans)
    assert words_in(listed) == words
    assert all(spans_with(word, listed) <= 2 * MOST_OVERLAPPING + 3 for word in words)
    assert [span for span in spans if span in listed] == listed
    assert max((s.words for s in spans), default=0) == max((s.words for s in listed), default=0)
    for span in spans:
        if any(spans_with(word, spans) <= MOST_OVERLAPPING for word in words_in([span])):
            assert span in listed


def test_spans_of_ordinary_text_are_all_listed() -> None:
    spans = [Span(first, first + MOST_OVERLAPPING) for first in range(500)]
    assert listed_spans(spans) == spans
    assert listed_spans([]) == []


@pytest.mark.parametrize("times", [1, 2, 4])
def test_the_texts_of_listed_spans_grow_as_the_text(times: int) -> None:
    n = 20_000 * times
    assert sum(span.words for span in listed_spans(repeated_spans(n))) <= 40 * n


def test_a_file_of_spans_of_repeated_text_is_short_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document, output = "a b " * 150, "So: " + "a b " * 300 + "and so on"
    Path("d.jsonl").write_text(json.dumps({"text": document}))
    Path("o.jsonl").write_text(json.dumps({"id": "1", "output": output}))
    ran = invoke(
        "trace", "o.jsonl", "--index", "scan:d.jsonl", "--spans", "spans.csv", "--format", "csv"
    )
    assert ran.code == 0, ran.stderr
    (row,) = ran.rows
    every = spans_of(output, [document], 5)
    assert int(row["spans"]) == len(every) == 151
    spans = pd.read_csv("spans.csv", keep_default_na=False)
    left_out = len(every) - len(spans)
    said = f"--spans: {left_out} overlapping spans of repeated text left out; "
    assert said + "those listed cover the same words" in ran.stderr
    assert spans["words"].tolist() == [300] * len(spans)
    assert spans["occurrences"].tolist() == [
        sum(document.startswith(text, at) for at in range(len(document))) for text in spans["text"]
    ]
    assert len(spans) <= 35
    assert (spans["start"].min(), spans["end"].max()) == (4, 4 + 1199)
    assert spans["output"].tolist() == [output, *[""] * (len(spans) - 1)]
