"""`tokens:DIR` as the commands see it: n-grams counted and shown as brute force over the texts."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.tokens.tokenizers import open_tokenizer
from ngramscan.indexes.base import Place, QueryCount, Window, WindowFailure
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.base import Form, TokenOccurrences, TokenWindow
from ngramscan.indexes.tokens.local import TokenFolderIndex, open_tokens
from ngramscan.progress import SILENT
from tests.support.token_folders import COPIES, write_folder

LLAMA, OLMO2 = COPIES / "llamalike.model", COPIES / "allenai_dolma2.json.gz"
TOKENIZERS = {"v4_pysmall_llama_s3": LLAMA, "v5_pysmall_llama": LLAMA, "v4_pysmall_olmo2": OLMO2}
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
    return open_tokens([COPIES / name], TOKENIZERS[name], SILENT)


def found(index: TokenFolderIndex, query: str) -> TokenOccurrences:
    (lookup,) = index.lookups([query])
    assert isinstance(lookup, TokenOccurrences)
    return lookup


def places(index: TokenFolderIndex, query: str, most: int = 30) -> list[Place]:
    return [
        Place(query, segment.shard, rank)
        for segment in found(index, query).found.segments
        for rank in range(segment.low, min(segment.high, segment.low + most))
    ]


def text_of(window: Window) -> bytes:
    text: str = TEXTS[json.loads(window.metadata)["metadata"]["id"]]
    return text.encode()


def occurrences(documents: Sequence[list[int]], ids: Sequence[int]) -> int:
    """Return how often an n-gram occurs in documents, by brute force."""
    first, wanted = ids[0], list(ids)
    return sum(
        token == first and document[start : start + len(wanted)] == wanted
        for document in documents
        for start, token in enumerate(document)
    )


@EACH
def test_counts_and_sizes_are_those_of_the_tokenized_texts(name: str) -> None:
    index = local(name)
    tokenizer = open_tokenizer(TOKENIZERS[name], 4 if "olmo2" in name else 2)
    documents = [tokenizer.of_document(text) for text in TEXTS.values()]
    size = index.size()
    assert (size.documents, size.tokens) == (len(TEXTS), sum(map(len, documents)))
    assert size.shards == (3 if name.endswith("s3") else 1)
    assert size.index_bytes == sum(path.stat().st_size for path in (COPIES / name).iterdir())
    lookups = [lookup for lookup in index.lookups(QUERIES) if isinstance(lookup, TokenOccurrences)]
    assert [(lookup.query, lookup.source) for lookup in lookups] == [
        (query, "tokens") for query in QUERIES
    ]
    forms = {
        lookup.query: [form for form in (lookup.after_space, lookup.at_line) if form]
        for lookup in lookups
    }
    assert {query: [form.occurrences for form in own] for query, own in forms.items()} == {
        query: [occurrences(documents, form.ids) for form in own] for query, own in forms.items()
    }
    strings = {  # none overlaps itself
        query: sum(text.count(query) for text in TEXTS.values()) for query in QUERIES
    }
    above = [lookup.query for lookup in lookups if lookup.occurrences > strings[lookup.query]]
    assert {*above} <= {"\n\n"}
    rows = [row for row in index.counts(QUERIES) if isinstance(row, QueryCount)]
    assert [(row.query, row.occurrences, row.documents) for row in rows] == [
        (lookup.query, lookup.occurrences, None) for lookup in lookups
    ]


def test_bytes_need_no_tokenizer(tmp_path: Path) -> None:
    texts = ["step by step", "", "Schritt für Schritt", "a step"]
    folder = write_folder(tmp_path, [[[*text.encode()] for text in texts]], 1)
    with open_indexes([f"tokens:{folder}"], IndexOptions(), SILENT) as (index,):
        assert index.name == f"tokens:{folder}"
        queries = ("step", "Schritt", "ü", "r ", "xyz")
        counts = [count for count in index.counts(queries) if isinstance(count, QueryCount)]
        assert [count.occurrences for count in counts] == [
            sum(text.count(query) for text in texts) for query in queries
        ]
    with pytest.raises(InputError, match="leave it out: an index of bytes has none"):
        open_tokens([folder], LLAMA, SILENT)


def test_a_document_longer_than_what_is_seen(tmp_path: Path) -> None:
    # Sorted as it is: a suffix of more letters comes before one of fewer.
    length = 250_000
    text = np.array([255, *[ord("a")] * (length - 1), ord("~")], "u1")
    order = [*range(1, length + 1), 0]
    (tmp_path / "tokenized.0").write_bytes(text.tobytes())
    (tmp_path / "table.0").write_bytes(b"".join(at.to_bytes(3, "little") for at in order))
    (tmp_path / "offset.0").write_bytes(bytes(8))
    index = open_tokens([tmp_path], None, SILENT)
    ids = tuple(b"aaa")
    (examined,) = index.examine([Place("aaa", 0, 120_000)], {"aaa": [Form(ids, ())]})
    assert isinstance(examined, TokenWindow)
    assert (examined.length, len(examined.text), examined.offset) == (length, 200_000, 100_000)
    assert not examined.starts_document
    (window,) = index.windows([Place("aaa", 0, 120_000)], 1 << 40)
    assert isinstance(window, Window)
    assert (window.document_bytes, len(window.text), window.offset) == (length, length, 120_000)
    (window,) = index.windows([Place("aaa", 0, 120_000)], 5)
    assert isinstance(window, Window)
    assert (window.text, window.offset) == (b"a" * 13, 5)
    assert window.document_bytes > 13


def test_a_query_with_a_space_in_front_counts_beginnings_of_documents() -> None:
    lookup = found(local("v4_pysmall_llama_s3"), " think")
    assert lookup.note.startswith("the beginning of a document counts as a space; the tokenizer ")
    strings = sum(text.count(" think") for text in TEXTS.values())
    assert lookup.occurrences > strings - 5
    assert found(local("v4_pysmall_olmo2"), " think").note == ""


@EACH
@pytest.mark.parametrize("context", [0, 1, 7, 1 << 40])
def test_windows_are_parts_of_the_documents(
    name: str, context: int, subtests: pytest.Subtests
) -> None:
    index, seen = local(name), 0
    for query in QUERIES:
        with subtests.test(query=query):
            for window in index.windows(places(index, query), context):
                assert isinstance(window, Window)
                check_window(window, query.encode(), context)
                seen += 1
    assert seen > 200


def check_window(window: Window, query: bytes, context: int) -> None:
    """A window shows its query, whole characters, and as much of the text as was asked for."""
    document, end = text_of(window), window.offset + len(query)
    assert window.text[window.offset : end] == query
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


def failures(index: TokenFolderIndex, spots: Sequence[Place]) -> list[str]:
    shown = [*index.windows(spots, 10), *index.examine(spots, {})]
    failed = [window for window in shown if isinstance(window, WindowFailure)]
    assert failed == shown
    return [str(window.error) for window in failed]


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
    unknown, known = index.lookups(["", "step"])
    assert isinstance(known, TokenOccurrences)
    rows = (unknown, *index.counts([""]))
    errors = [str(getattr(row, "error", "")) for row in rows]
    errors += failures(index, [Place("", 0, 0)])
    assert errors == ["'': it has no tokens, so it can't be counted"] * 4


def test_damaged_folders(tmp_path: Path) -> None:
    documents = [[*text.encode()] for text in ("one two", "two")]
    write_folder(tmp_path, [documents], 1)
    metadata = tmp_path / "metadata.0"
    index = open_tokens([tmp_path], None, SILENT)
    spot = places(index, "two")[:1]
    metadata.write_bytes(b"a,0,{}".ljust(metadata.stat().st_size))
    (window,) = open_tokens([tmp_path], None, SILENT).windows(spot, 9)
    assert isinstance(window, Window)
    assert json.loads(window.metadata)["metadata"].strip() in {"a,0,{}", ""}
    (tmp_path / "metaoff.0").write_bytes(b"")
    (failure,) = open_tokens([tmp_path], None, SILENT).windows(spot, 9)
    assert isinstance(failure, WindowFailure)
    assert isinstance(failure.error, IndexFormatError)
    for name in ("offset.0", "metaoff.0"):
        (tmp_path / name).write_bytes(bytes(8))
    with pytest.raises(IndexFormatError, match="the tables have 2 documents, but the offsets 1"):
        open_tokens([tmp_path], None, SILENT)


def test_a_tokenizer_that_is_too_small_for_the_index(tmp_path: Path) -> None:
    tokenizer = open_tokenizer(LLAMA, 2)
    step = tokenizer.after_space("step")
    documents = [tokenizer.of_document("one more step")] * 399 + [[*step, 32_500]]
    index = open_tokens([write_folder(tmp_path, [documents], 2)], LLAMA, SILENT)
    spots = places(index, "step", 400)
    assert len(spots) == 400
    shown = [window for window in index.windows(spots, 9) if isinstance(window, Window)]
    assert [window.text for window in shown] == [b"one more step"] * 399
    forms = found(index, "step").forms
    examined = index.examine(spots, {"step": forms})
    (failure,) = [window for window in examined if isinstance(window, WindowFailure)]
    assert "token 32500, but llamalike.model has 32,000 tokens" in str(failure.error)
