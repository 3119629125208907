"""`tokens:DIR` as the commands see it: n-grams counted and shown as brute force over the texts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.tokens.tokenizers import open_tokenizer
from ngramscan.indexes.base import IndexSize, Place, QueryFailure, Window, WindowFailure
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.base import (
    LOWER_BOUND,
    Form,
    TokenOccurrences,
    TokenWindow,
    as_text,
    is_token_level,
)
from ngramscan.indexes.tokens.local import TokenFolderIndex, open_tokens
from ngramscan.progress import SILENT
from tests.support.recorder import Recorder
from tests.test_token_files import COPIES, answers, occurrences, write_folder

LLAMA, OLMO2 = COPIES / "llamalike.model", COPIES / "allenai_dolma2.json.gz"
TOKENIZERS = {
    "v4_pysmall_llama_s3": LLAMA,
    "v5_pysmall_llama": LLAMA,
    "v4_pysmall_olmo2": OLMO2,
}
EACH = pytest.mark.parametrize("name", TOKENIZERS)
QUERIES = [
    *("step by step", "Return", "file", "a", "See also", "café", "一步", "\n\n", "</s>", "é"),
    *("xylofrumptious", "no such words", "Let's think step by step", "the", "\\frac{", "🤖"),
]
TEXTS = {
    row["id"]: row["text"]
    for row in map(json.loads, (COPIES / "corpus_small.jsonl").read_bytes().splitlines())
}


@cache
def local(name: str) -> TokenFolderIndex:
    return open_tokens(COPIES / name, TOKENIZERS[name], SILENT)


@cache
def tokenized(tokenizer: Path, width: int) -> list[list[int]]:
    opened = open_tokenizer(tokenizer, width)
    return [opened.of_document(text) for text in TEXTS.values()]


def found(index: TokenFolderIndex, query: str) -> TokenOccurrences:
    (one,) = index.lookups([query])
    assert isinstance(one, TokenOccurrences)
    return one


def places(index: TokenFolderIndex, query: str, most: int = 30) -> list[Place]:
    return [
        Place(query, segment.shard, rank)
        for segment in found(index, query).found.segments
        for rank in range(segment.low, min(segment.high, segment.low + most))
    ]


def text_of(window: Window) -> bytes:
    text: str = TEXTS[json.loads(window.metadata)["metadata"]["id"]]
    return text.encode()


@EACH
def test_counts_are_those_of_the_tokenized_texts(name: str) -> None:
    index = local(name)
    documents = tokenized(TOKENIZERS[name], 4 if "olmo2" in name else 2)
    assert index.size() == IndexSize(
        documents=len(TEXTS),
        tokens=sum(map(len, documents)),
        shards=3 if name.endswith("s3") else 1,
        index_bytes=sum(path.stat().st_size for path in (COPIES / name).iterdir()),
    )
    for one in index.lookups(QUERIES):
        assert isinstance(one, TokenOccurrences)
        for form in filter(None, (one.after_space, one.at_line)):
            assert form.occurrences == len(occurrences(documents, form.ids))
            assert all(segment.occurrences for segment in form.segments)
        strings = sum(text.count(one.query) for text in TEXTS.values())  # none overlaps itself
        assert one.query == "\n\n" or one.occurrences <= strings
        assert one.source == "tokens"


def test_counts_are_those_of_the_original(shared: Path) -> None:
    for row in answers(shared / "tokens" / "truth.jsonl"):
        if row["index"] in TOKENIZERS:
            try:
                one = found(local(row["index"]), row["string"])
            except AssertionError:
                assert row["token_ids"] == []
                continue
            assert [*one.after_space.ids] == row["token_ids"]
            assert one.after_space.occurrences == row["engine_count"]


@EACH
def test_the_protocol_gives_the_same_numbers_three_times(name: str) -> None:
    index, recorder = local(name), Recorder()
    assert is_token_level(index)
    lookups = [one for one in index.lookups(QUERIES) if isinstance(one, TokenOccurrences)]
    assert [one.query for one in lookups] == QUERIES
    assert [*index.find(QUERIES)] == [one.found for one in lookups]
    recorded = open_tokens(COPIES / name, TOKENIZERS[name], recorder)
    for one, row in zip(lookups, recorded.counts(QUERIES), strict=True):
        assert not isinstance(row, QueryFailure)
        assert (row.query, row.occurrences, row.documents) == (one.query, one.occurrences, None)
        assert (row.source, row.note.partition("; ")[0]) == ("tokens", LOWER_BOUND)
    assert recorder.announced == recorder.done == {"queries": len(QUERIES)}


@EACH
@pytest.mark.parametrize("context", [0, 1, 7, 100, 1 << 40])
def test_windows_are_parts_of_the_documents(name: str, context: int) -> None:
    index, seen = local(name), 0
    for query in QUERIES:
        for window in index.windows(places(index, query), context):
            assert isinstance(window, Window)
            document, end = text_of(window), window.offset + len(query.encode())
            assert window.text[window.offset : end] == query.encode()
            assert window.text in document
            assert window.text.decode()  # no character is cut
            if window.starts_document:
                assert document.startswith(window.text)
                assert window.offset <= context
            else:
                assert context - 3 <= window.offset <= context
            behind = len(window.text) - end
            assert context - 3 <= behind <= context or document.endswith(window.text)
            if window.text == document:
                assert context or window.document_bytes == len(document)
            assert window.is_truncated == (window.text != document)
            seen += 1
    assert seen > 200


@EACH
def test_examine_shows_whole_documents(name: str) -> None:
    index = local(name)
    documents = tokenized(TOKENIZERS[name], 4 if "olmo2" in name else 2)
    texts = {as_text(document) for document in documents}
    for query in ("step by step", "Return", "the", "一步"):
        one = found(index, query)
        spots = places(index, query)
        for window in index.examine(spots, {query: one.forms}):
            assert isinstance(window, TokenWindow)
            assert window.text in texts
            assert (window.length, window.starts_document) == (len(window.text), True)
            assert any(window.text.startswith(form.text, window.offset) for form in one.forms)
        shorter = [*index.examine(spots, {})]
        whole = [*index.examine(spots, {query: one.forms})]
        for short, long in zip(shorter, whole, strict=True):
            assert isinstance(short, TokenWindow)
            assert isinstance(long, TokenWindow)
            assert (short.place, short.document, short.length) == (
                *(long.place, long.document, long.length),
            )
            assert (short.text, short.offset) == (long.text[long.offset], 0)
            assert short.starts_document == (long.offset == 0)


def test_a_document_longer_than_what_is_seen(tmp_path: Path) -> None:
    # Sorted as it is: a suffix of more letters comes before one of fewer.
    length = 250_000
    text = np.array([255, *[ord("a")] * (length - 1), ord("~")], "u1")
    order = [*range(1, length + 1), 0]
    (tmp_path / "tokenized.0").write_bytes(text.tobytes())
    (tmp_path / "table.0").write_bytes(b"".join(at.to_bytes(3, "little") for at in order))
    (tmp_path / "offset.0").write_bytes(bytes(8))
    index = open_tokens(tmp_path, None, SILENT)
    ids = tuple(b"aaa")
    (one,) = index.examine([Place("aaa", 0, 120_000)], {"aaa": [Form(ids, ())]})
    assert isinstance(one, TokenWindow)
    assert (one.length, len(one.text), one.offset) == (length, 200_000, 100_000)
    assert not one.starts_document
    (window,) = index.windows([Place("aaa", 0, 120_000)], 1 << 40)
    assert isinstance(window, Window)
    assert (window.document_bytes, len(window.text), window.offset) == (length, length, 120_000)
    (window,) = index.windows([Place("aaa", 0, 120_000)], 5)
    assert isinstance(window, Window)
    assert (window.text, window.offset) == (b"a" * 13, 5)
    assert window.document_bytes > 13


def test_bytes_need_no_tokenizer(tmp_path: Path) -> None:
    texts = ["step by step", "", "Schritt für Schritt", "a step"]
    folder = write_folder(tmp_path, [[[*text.encode()] for text in texts]], 1)
    with open_indexes([f"tokens:{folder}"], IndexOptions(), SILENT) as (index,):
        assert index.name == f"tokens:{folder}"
        assert is_token_level(index)
        for query in ("step", "Schritt", "ü", "r ", "xyz"):
            (one,) = index.lookups([query])
            assert isinstance(one, TokenOccurrences)
            assert one.at_line is None
            assert one.occurrences == sum(text.count(query) for text in texts)
    with pytest.raises(InputError, match="leave it out: an index of bytes has none"):
        open_tokens(folder, LLAMA, SILENT)


def failures(index: TokenFolderIndex, spots: Sequence[Place]) -> list[str]:
    shown = [*index.windows(spots, 10), *index.examine(spots, {})]
    assert all(isinstance(one, WindowFailure) for one in shown)
    return [str(one.error) for one in shown if isinstance(one, WindowFailure)]


def test_places_without_the_query_fail() -> None:
    index = local("v5_pysmall_llama")
    low = min(place.rank for place in places(index, "step by step"))
    spots = [
        Place("step by step", 0, low - 1),
        Place("step by step", 1, low),
        Place("step by step", 0, 113_764),
        Place("file", 0, low),
    ]
    expected = [
        f"rank {low - 1} of shard 0: no occurrence of 'step by step'",
        f"rank {low} of shard 1: shards are 0 to 0",
        "rank 113764 of shard 0: ranks are 0 to 113763",
        f"rank {low} of shard 0: no occurrence of 'file'",
    ]
    assert failures(index, spots) == expected * 2


def test_a_query_without_tokens_is_not_the_whole_corpus() -> None:
    index = local("v4_pysmall_llama_s3")
    some = [*index.lookups(["", "step"])]
    assert [type(one) for one in some] == [QueryFailure, TokenOccurrences]
    assert isinstance(some[0], QueryFailure)
    assert str(some[0].error) == "'': it has no tokens, so it can't be counted"
    assert failures(index, [Place("", 0, 0)])[0] == str(some[0].error)


def test_a_query_with_a_space_in_front_counts_beginnings_of_documents() -> None:
    one = found(local("v4_pysmall_llama_s3"), " think")
    assert one.note.startswith("the beginning of a document counts as a space; the tokenizer ")
    strings = sum(text.count(" think") for text in TEXTS.values())
    assert one.occurrences > strings - 5
    assert found(local("v4_pysmall_olmo2"), " think").note == ""


def test_damaged_folders(tmp_path: Path) -> None:
    documents = [[*text.encode()] for text in ("one two", "two")]
    write_folder(tmp_path, [documents], 1)
    metadata = tmp_path / "metadata.0"
    index = open_tokens(tmp_path, None, SILENT)
    spot = places(index, "two")[:1]
    metadata.write_bytes(b"a,0,{}".ljust(metadata.stat().st_size))
    (window,) = open_tokens(tmp_path, None, SILENT).windows(spot, 9)
    assert isinstance(window, Window)
    assert json.loads(window.metadata)["metadata"].strip() in {"a,0,{}", ""}
    (tmp_path / "metaoff.0").write_bytes(b"")
    (failure,) = open_tokens(tmp_path, None, SILENT).windows(spot, 9)
    assert isinstance(failure, WindowFailure)
    assert isinstance(failure.error, IndexFormatError)
    for name in ("offset.0", "metaoff.0"):
        (tmp_path / name).write_bytes(bytes(8))
    with pytest.raises(IndexFormatError, match="the tables have 2 documents, but the offsets 1"):
        open_tokens(tmp_path, None, SILENT)


def test_a_tokenizer_that_is_too_small_for_the_index(tmp_path: Path) -> None:
    tokenizer = open_tokenizer(LLAMA, 2)
    step = tokenizer.after_space("step")
    documents = [tokenizer.of_document("one more step")] * 399 + [[*step, 32_500]]
    index = open_tokens(write_folder(tmp_path, [documents], 2), LLAMA, SILENT)
    spots = places(index, "step", 400)
    assert len(spots) == 400
    texts = [one for one in index.windows(spots, 9) if isinstance(one, Window)]
    assert [one.text for one in texts] == [b"one more step"] * 399
    forms = found(index, "step").forms
    errors = [
        one for one in index.examine(spots, {"step": forms}) if isinstance(one, WindowFailure)
    ]
    assert len(errors) == 1
    assert "token 32500, but llamalike.model has 32,000 tokens" in str(errors[0].error)


def test_the_wrong_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--tokenizer"):
        open_tokens(COPIES / "v4_pysmall_llama_s3", None, SILENT)
    with pytest.raises(InputError, match="--tokenizer"):
        open_tokens(COPIES / "v4_pysmall_olmo2", LLAMA, SILENT)
    with pytest.raises(InputError, match="no such folder"):
        open_tokens(tmp_path / "none", LLAMA, SILENT)
