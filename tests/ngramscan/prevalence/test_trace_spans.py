"""Which spans are listed and in which order, by brute force; nothing else depends on it."""

import json
import math
import random
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ngramscan.indexes.base import Index, IndexSize
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.prevalence.several_corpora import UNION
from ngramscan.prevalence.trace import GivenText, TraceOptions, run_trace
from ngramscan.prevalence.trace_spans import (
    ListingOptions,
    RareSpanRow,
    SpanRow,
    list_spans,
    make_spans,
)
from ngramscan.progress import Progress
from tests.support.opened_indexes import of_a_scan, of_a_service, of_files, of_files_in_place
from tests.support.text_index import Counting
from tests.support.token_folders import COPIES
from tests.support.token_oracle import TokenOracle
from tests.support.token_service import TokenServer
from tests.support.traced_texts import given
from tests.support.word_spans import spans_of, words_of


def list_rows(
    texts: Sequence[GivenText], index: Index, least: int = 3, **options: Any
) -> list[SpanRow]:
    result = run_trace(texts, [index], TraceOptions(least, least))
    listing = list_spans(result, [index], ListingOptions(least, **options))
    assert not result.missing
    return [*make_spans(result, listing, {index.name: {}})]


def count_in(documents: Sequence[str], text: str) -> int:
    return sum(len(re.findall(f"(?={re.escape(text)})", document)) for document in documents)


def made_texts(seed: int) -> tuple[list[str], list[GivenText]]:
    """Return documents with some phrases, and texts that have them, too."""
    rng = random.Random(seed)
    words = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st"]
    phrases = [" ".join(rng.choices(words, k=rng.randint(3, 9))) for _ in range(9)]
    documents = [
        " | ".join(rng.choices(phrases, weights=range(1, 10), k=rng.randint(1, 9)))
        for _ in range(12)
    ]
    texts = [
        given("; ".join([*rng.choices(phrases, k=8), "new words"]), id=str(number))
        for number in range(3)
    ]
    return documents, texts


def expected_rows(
    documents: Sequence[str],
    texts: Sequence[GivenText],
    rank: str | None = None,
    max_occurrences: int | None = None,
    density: float | None = None,
    total: int = 1,
) -> list[tuple[str, int, int, int]]:
    """Return the id, place and count of the spans that the options list, by their definition."""
    rows = []
    for text in texts:
        words = words_of(text.text)
        places = [
            (words[first][0], words[stop - 1][1], stop - first)
            for first, stop in spans_of(text.text, documents, 3)
        ]
        counts = {place: count_in(documents, text.text[place[0] : place[1]]) for place in places}
        if max_occurrences is not None:
            places = [place for place in places if counts[place] <= max_occurrences]

        def log_probability(place: tuple[int, int, int], text: GivenText = text) -> float:
            part = text.text[place[0] : place[1]]
            return sum(
                math.log(count_in(documents, word) / total) for word in re.findall(r"\w+", part)
            )

        by_rank = sorted(places, key=log_probability if rank == "rarity" else lambda p: -p[2])
        if density is not None:
            by_rank = by_rank[: math.ceil(density * len(words))]
        shown = by_rank if rank else [place for place in places if place in by_rank]
        rows += [(text.id, start, end, counts[start, end, n]) for start, end, n in shown]
    return rows


KINDS = [
    pytest.param(of_files, id="fm9"),
    pytest.param(of_files_in_place, id="fm9 in place"),
    pytest.param(of_a_service, id="hosted"),
    pytest.param(of_a_scan, id="scan"),
]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="all"),
        pytest.param({"rank": "length"}, id="the longest first"),
        pytest.param({"rank": "rarity"}, id="the rarest first"),
        pytest.param({"max_occurrences": 6}, id="few occurrences"),
        pytest.param({"density": 0.05}, id="the longest"),
        pytest.param({"density": 0.05, "rank": "rarity"}, id="the rarest"),
        pytest.param({"density": 0.04, "rank": "length", "max_occurrences": 12}, id="all options"),
    ],
)
def test_listed_spans_are_those_of_a_brute_force(
    tmp_path: Path, seed: int, options: dict[str, Any]
) -> None:
    documents, texts = made_texts(seed)
    total = sum(len(document.encode()) for document in documents)
    with of_files(tmp_path, documents) as index:
        rows = list_rows(texts, index, **options)
    expected = expected_rows(documents, texts, total=total, **options)
    assert [(row.id, row.start, row.end, row.occurrences) for row in rows] == expected
    assert len(expected) > 2
    # The first row of each output has its text.
    ids = [row.id for row in rows]
    assert [row.output is not None for row in rows] == [
        row_id not in ids[:number] for number, row_id in enumerate(ids)
    ]


@pytest.mark.parametrize("opened", KINDS)
def test_all_kinds_of_indexes_list_the_same(tmp_path: Path, opened: Any) -> None:
    documents, texts = made_texts(4)
    with opened(tmp_path, documents) as index:
        size = index.size().bytes
        rows = list_rows(texts, index, rank="rarity", max_occurrences=30, density=0.1)
    words = {word for row in rows for word in re.findall(r"\w+", row.text)}
    total = size or sum(count_in(documents, word) for word in words)
    options: dict[str, Any] = {"rank": "rarity", "max_occurrences": 30, "density": 0.1}
    expected = expected_rows(documents, texts, total=total, **options)
    assert [(row.id, row.start, row.end, row.occurrences) for row in rows] == expected


def test_the_log_probability_is_that_of_the_counts(tmp_path: Path) -> None:
    documents, texts = made_texts(5)
    total = sum(len(document.encode()) for document in documents)
    with of_files(tmp_path, documents) as index:
        rows = list_rows(texts, index, rank="rarity")
    assert rows
    for row in rows:
        assert isinstance(row, RareSpanRow)
        expected = sum(
            math.log(count_in(documents, word) / total) for word in re.findall(r"\w+", row.text)
        )
        assert row.log_probability == pytest.approx(expected)


def test_an_index_without_a_size_takes_the_sum_of_the_counts() -> None:
    documents, texts = made_texts(6)
    index = Counting(documents)
    assert index.size() == IndexSize(documents=len(documents))
    rows = list_rows(texts, index, rank="rarity")
    words = {word for row in rows for word in re.findall(r"\w+", row.text)}
    total = sum(count_in(documents, word) for word in words)
    expected = expected_rows(documents, texts, rank="rarity", total=total)
    assert [(row.id, row.start, row.end, row.occurrences) for row in rows] == expected
    # Each different word is counted once, all at once.
    assert sorted(index.asked[-len(words) :]) == sorted(words)


def test_a_word_without_a_count_is_missing_and_its_spans_are_last() -> None:
    index = Counting(["one two three four", "a b c"], lost=["three"])
    result = run_trace([given("a b c; one two three four")], [index], TraceOptions(3, 3))
    listing = list_spans(result, [index], ListingOptions(3, rank="rarity"))
    rows = [*make_spans(result, listing, {index.name: {}})]
    assert [row.text for row in rows] == ["a b c", "one two three four"]
    assert [asdict(row)["log_probability"] is None for row in rows] == [False, True]
    assert [failure.query for failure in result.missing] == ["three"]


def test_a_span_without_a_count_is_not_left_out() -> None:
    index = Counting(["a b c d " * 3, "one two three"])
    result = run_trace([given("a b c d; one two three")], [index], TraceOptions(3, 3))
    result.counts[index.name].clear()
    index._lost = ["a b c d"]
    listing = list_spans(result, [index], ListingOptions(3, max_occurrences=1))
    rows = [*make_spans(result, listing, {index.name: {}})]
    assert [(row.text, row.occurrences) for row in rows] == [
        ("a b c d", None),
        ("one two three", 1),
    ]
    assert [failure.query for failure in result.missing] == ["a b c d"]


def test_of_several_indexes_together_spans_are_listed_that_one_lists(tmp_path: Path) -> None:
    indexes = [Counting(["a b c " * 5, "one two three"]), Counting(["a b c", "x y z " * 4])]
    indexes[1].name = indexes[1].spec = "y"
    text = given("a b c; one two three; x y z")
    result = run_trace([text], indexes, TraceOptions(3, 3))
    listing = list_spans(result, indexes, ListingOptions(3, max_occurrences=2))
    texts = {
        name: [listed.text_of(span) for listed in of_index for span in listed.spans]
        for name, of_index in listing.items()
    }
    assert texts == {
        "x": ["one two three"],
        "y": ["a b c"],
        UNION: ["a b c", "one two three"],
    }


@pytest.mark.parametrize("is_hosted", [False, True], ids=["local", "hosted"])
def test_rarity_of_tokens_is_that_of_an_enumeration(tmp_path: Path, is_hosted: bool) -> None:
    name = "v4_pysmall_llama_s3"
    oracle = TokenOracle(COPIES / name)
    total = sum(int((tokens != oracle.separator).sum()) for tokens in oracle.shards)
    text = "Return a string that is the name of the file and this function is used to return the"
    options = IndexOptions(
        tokenizer=None if is_hosted else COPIES / "llamalike.model", journal=tmp_path / "j.sqlite"
    )
    with TokenServer({name: (COPIES / name, COPIES / "llamalike.model")}) as server:
        spec = f"infini-gram:{server.url}{name}" if is_hosted else f"tokens:{COPIES / name}"
        with open_indexes([spec], options, Progress()) as (index,):
            result = run_trace([given(text)], [index], TraceOptions(3, 3))
            listing = list_spans(result, [index], ListingOptions(3, rank="rarity"))
    ((listed,),) = listing.values()
    assert len(listed.spans) > 4
    sums = {
        span: sum(
            math.log(oracle.count([token]) / total)
            for token in listed.traced.text.token_ids[span.first : span.stop]
        )
        for span in listed.spans
    }
    assert listed.log_probabilities == pytest.approx(sums)
    assert listed.spans == sorted(sums, key=lambda span: (sums[span], span.first))


def test_counts_of_the_engine_choose_the_same_spans(shared: Path) -> None:
    name = "v4_pysmall_llama_s3"
    lines = (shared / "tracing" / "spans.jsonl").read_text().splitlines()
    recorded = [row for row in map(json.loads, lines) if row["index"] == name]
    texts = [given(row["text"], id=str(number)) for number, row in enumerate(recorded)]
    options = IndexOptions(tokenizer=COPIES / "llamalike.model")
    with open_indexes([f"tokens:{COPIES / name}"], options, Progress()) as (index,):
        result = run_trace(texts, [index], TraceOptions(2, 2))
        listing = list_spans(result, [index], ListingOptions(2, max_occurrences=10))
    listed = {text.traced.given.id: text for text in listing[index.name]}
    compared = 0
    for number, row in enumerate(recorded):
        text = listed.get(str(number))
        if text is None or [*text.traced.text.token_ids] != row["input_ids"]:
            continue
        # OLMoTrace's default: spans of at most ten occurrences.
        spans = [[span.first, span.stop] for span in text.traced.listed(2)]
        expected = [[left, right] for left, right, count in row["spans"] if count <= 10]
        kept_spans = [[span.first, span.stop] for span in text.spans]
        assert kept_spans == [each for each in expected if each in spans and each[1] - each[0] > 1]
        compared += len(kept_spans)
    assert compared > 100
