"""The documents of spans: those that have them by brute force, ranked by what they share."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st

from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import Index, Place, Window, WindowFailure
from ngramscan.indexes.fm9 import open_fm9
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.base import is_token_level
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.span_documents import (
    SHOWN_CHARACTERS,
    DocumentRow,
    join_overlapping,
    look_up_spans,
    make_documents,
)
from ngramscan.prevalence.trace import GivenText, TraceOptions, TraceResult, run_trace
from ngramscan.prevalence.trace_spans import ListingOptions, SpanRow, make_spans
from ngramscan.progress import Progress
from tests.support.opened_indexes import (
    of_a_scan,
    of_a_service,
    of_files,
    of_files_in_place,
)
from tests.support.text_index import Counting
from tests.support.token_folders import COPIES
from tests.support.token_oracle import TokenOracle
from tests.support.traced_texts import COPIED, OTHER, given

Opened = Callable[[Path, list[str]], AbstractContextManager[Index]]


@contextmanager
def in_memory(_: Path, documents: list[str]) -> Iterator[Index]:
    yield Counting(documents[:3], documents[3:])


KINDS = [
    pytest.param(of_files, id="fm9"),
    pytest.param(of_files_in_place, id="fm9 in place"),
    pytest.param(of_a_service, id="hosted"),
    pytest.param(of_a_scan, id="scan"),
    pytest.param(in_memory, id="in memory"),
]


def retrieve(
    texts: Sequence[GivenText], indexes: Sequence[Index], n: int, seed: int = 1
) -> tuple[list[DocumentRow], list[SpanRow], TraceResult]:
    result = run_trace(texts, indexes, TraceOptions(3, 3))
    listed = look_up_spans(
        result, indexes, ListingOptions(3), documents=n, needs_examples=True, seed=seed
    )
    documents = [*make_documents(result, listed.listing, listed.documents)]
    return documents, [*make_spans(result, listed.listing, listed.examples)], result


def short_documents(seed: int) -> list[str]:
    """Return different documents of few words, which a window shows whole."""
    rng = random.Random(seed)
    pieces = ["one two three", "four five six", "é seven eight", "nine", "ten"]
    documents = {" ".join(rng.choices(pieces, k=rng.randint(2, 6))) for _ in range(12)}
    return sorted(documents)


@pytest.mark.parametrize("opened", KINDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_all_documents_of_each_span_are_those_of_a_brute_force(
    tmp_path: Path, opened: Opened, seed: int
) -> None:
    documents = short_documents(seed)
    texts = [
        given("so one two three four five six, é seven eight nine ten!", id="1"),
        given(f"x one two three x {documents[0]} y", id="2"),
    ]
    with opened(tmp_path, documents) as index:
        rows, spans, result = retrieve(texts, [index], n=40)
    assert not result.missing
    by_span: dict[tuple[str, int, int], set[str]] = {}
    for row in rows:
        whole = row.left + row.text + row.right
        by_span.setdefault((row.id, row.start, row.end), set()).add(whole)
        (text,) = [each.text for each in texts if each.id == row.id]
        assert text[row.start : row.end] == row.text
        occurrences = sum(
            document.startswith(row.text, at)
            for document in documents
            for at in range(len(document))
        )
        assert (row.occurrences, row.index, row.unit) == (occurrences, index.name, "words")
    assert by_span == {
        (span.id, span.start, span.end): {
            document for document in documents if span.text in document
        }
        for span in spans
    }
    assert len(rows) == sum(map(len, by_span.values())) > len(spans) > 2
    # The same text of a document has one name.
    names = {(row.left + row.text + row.right, row.document) for row in rows}
    assert len(names) == len({name for _, name in names})


@pytest.mark.parametrize("opened", KINDS)
def test_n_different_documents_are_drawn_of_those_with_a_span(
    tmp_path: Path, opened: Opened
) -> None:
    documents = [f"{letter} one two three {letter * 3}" for letter in "abcdefghijkl"]
    with opened(tmp_path, documents) as index:
        drawn = {
            seed: {row.left + row.text + row.right for row in rows}
            for seed in range(3)
            for rows, _, _ in [retrieve([given("one two three")], [index], n=4, seed=seed)]
        }
        (again, spans, _) = retrieve([given("one two three")], [index], n=4, seed=0)
    assert {len(each) for each in drawn.values()} == {4}
    assert set().union(*drawn.values()) <= {*documents}
    assert len({frozenset(each) for each in drawn.values()}) > 1
    assert {row.left + row.text + row.right for row in again} == drawn[0]
    (span,) = spans
    assert span.document in {row.document for row in again}


def test_a_document_that_repeats_a_span_hides_no_other(tmp_path: Path) -> None:
    documents = ["one two three, " * 300, "x one two three", "one two three y"]
    with of_files(tmp_path, documents) as index:
        rows, _, _ = retrieve([given("so one two three")], [index], n=3)
    assert len({row.document for row in rows}) == len(rows) == 3


def test_occurrences_are_equally_likely(tmp_path: Path) -> None:
    documents = ["one two three, " * 50, *(f"x{n} one two three" for n in range(4))]
    with of_files(tmp_path, documents) as index:
        drawn = Counter(
            row.document
            for seed in range(200)
            for row in retrieve([given("one two three")], [index], n=1, seed=seed)[0]
        )
    # Of 54 occurrences, 50 are in the first document.
    ((_, most),) = drawn.most_common(1)
    assert drawn.total() == 200
    assert abs(most - 200 * 50 / 54) < 4 * math.sqrt(200 * 50 / 54 * 4 / 54)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_documents_in_place_are_those_of_the_local_index(tmp_path: Path, n: int) -> None:
    documents = [*(f"{k} one two three, one two three x" for k in range(15)), *short_documents(3)]
    texts = [given("so one two three x; four five six and nine ten é seven eight", id="1")]
    with of_files_in_place(tmp_path, documents) as index:
        far, spans_far, _ = retrieve(texts, [index], n=n)
    near, spans_near, _ = retrieve(texts, [open_fm9(tmp_path / "index", Progress())], n=n)
    assert len(near) > n
    assert [replace(row, index="") for row in far] == [replace(row, index="") for row in near]
    assert [span.document for span in spans_far] == [span.document for span in spans_near]


class Watched(Counting):
    """Keeps how many windows it was asked for at once."""

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        self.asked.append(f"windows {len(places)}")
        return super().windows(places, context)


def test_windows_of_all_spans_are_asked_for_in_two_rounds() -> None:
    documents = [
        "one two three " * 30,
        "and four five six",
        "also four five six",
        *("one two three" for _ in range(9)),
    ]
    index = Watched(documents)
    rows, _, _ = retrieve([given("one two three x four five six")], [index], n=3)
    rounds = [asked for asked in index.asked if asked.startswith("windows")]
    # Three for the first span, both for the second one; then as many as make twelve.
    assert rounds == ["windows 5", "windows 9"]
    assert all(row.text in {"one two three", "four five six"} for row in rows)


@pytest.mark.parametrize(
    "index",
    [
        pytest.param(Counting([COPIED, OTHER], unseen=[COPIED[4:39]]), id="no window"),
        pytest.param(Counting([COPIED, OTHER], lost=[]), id="no places"),
    ],
)
def test_spans_without_documents_are_missing(
    index: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not index._unseen:

        def fail(_: Sequence[Place], __: int) -> Iterator[Window | WindowFailure]:
            raise RemoteUnavailable("the host is away")

        monkeypatch.setattr(index, "windows", fail)
    rows, spans, result = retrieve([given(f"x {COPIED[4:39]} y {OTHER[:30]}")], [index], n=2)
    shown = {row.text for row in rows}
    assert COPIED[4:39] not in shown
    assert [span.document is None for span in spans] == [span.text not in shown for span in spans]
    missing = {failure.query for failure in result.missing}
    assert missing == {span.text for span in spans} - shown


def naive_scores(text: str, documents: dict[str, str]) -> dict[str, float]:
    """Return BM25 of documents as the docs have it, word by word."""
    words = {name: document.lower().split() for name, document in documents.items()}
    mean = sum(map(len, words.values())) / len(words)
    scores = dict.fromkeys(words, 0.0)
    for word in text.lower().split():
        n = sum(word in each for each in words.values())
        for name, each in words.items():
            f = each.count(word)
            idf = math.log(1 + (len(words) - n + 0.5) / (n + 0.5))
            scores[name] += idf * f * 2.5 / (f + 1.5 * (0.25 + 0.75 * len(each) / mean))
    return scores


@pytest.mark.parametrize("opened", KINDS)
def test_documents_are_ranked_by_the_words_that_they_share(tmp_path: Path, opened: Opened) -> None:
    documents = [
        "One two three of other words",
        "one two three and four five six then Both here",
        "x four five six",
        "nothing at all",
    ]
    text = "so one two three are here and also four five six or both"
    with opened(tmp_path, documents) as index:
        rows, _, _ = retrieve([given(text)], [index], n=9)
    assert [row.text for row in rows] == ["one two three", "four five six", "four five six"]
    scores = naive_scores(text, {row.document: row.left + row.text + row.right for row in rows})
    assert len(scores) == 2
    assert {row.document: row.score for row in rows} == pytest.approx(scores)
    ranks = {row.rank: row.score for row in rows}
    assert [*ranks] == [1, 2]
    assert ranks[1] > ranks[2]
    # The document with both spans has its words once.
    assert [row.words for row in rows if row.rank == 1] == [3, 3]


def test_the_text_around_a_span_is_cut() -> None:
    document = "".join(f"w{n} " for n in range(300)) + "one two three" + " and" * 300
    rows, _, _ = retrieve([given("one two three")], [Counting([document])], n=1)
    (row,) = rows
    at = document.index(row.text)
    assert row.left == document[at - SHOWN_CHARACTERS : at]
    assert row.right == document[at + 13 :][:SHOWN_CHARACTERS]


def test_the_source_is_named_by_the_metadata() -> None:
    rows, _, _ = retrieve([given("one two three")], [Counting(["one two three"])], n=1)
    assert [(row.metadata, row.source) for row in rows] == [('{"shard": 0}', "")]


def test_documents_of_tokens_are_those_of_an_enumeration() -> None:
    folder = COPIES / "v4_pysmall_llama_s3"
    oracle = TokenOracle(folder)
    options = IndexOptions(tokenizer=COPIES / "llamalike.model")
    text = "Return a string that is the name of the file and this function is used to return the"
    with open_indexes([f"tokens:{folder}"], options, Progress()) as (index,):
        rows, spans, result = retrieve([given(text)], [index], n=500)
        assert is_token_level(index)
        texts = [span.text for span in spans]
        located, errors = collect_replies(index.lookups(texts), texts)
    assert not result.missing
    assert not errors
    by_span: dict[str, set[str]] = {}
    for row in rows:
        by_span.setdefault(row.text, set()).add(row.document)
    assert by_span == {
        text: {str(document) for document in oracle.documents_with(*forms)}
        for text, occurrences in located.items()
        if (forms := [form.ids for form in occurrences.forms]) and occurrences.occurrences
    }
    assert len(by_span) > 5
    assert max(map(len, by_span.values())) > 1
    assert {row.unit for row in rows} == {"tokens"}


@given_by(
    st.lists(st.tuples(st.integers(0, 160), st.integers(25, 60)), max_size=6), st.integers(0, 99)
)
def test_parts_are_joined_to_their_union(places: list[tuple[int, int]], seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=220))
    parts = [text[start : start + length] for start, length in places]
    ranges: list[list[int]] = []
    for start, length in sorted(places):
        if ranges and start + 20 <= ranges[-1][1]:
            ranges[-1][1] = max(ranges[-1][1], start + length)
        else:
            ranges.append([start, start + length])
    assert sorted(join_overlapping(parts)) == sorted(text[start:end] for start, end in ranges)
