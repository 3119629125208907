"""Scans for thousands of queries, and of normalized texts."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import Index, Place, QueryCount
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.matching import Normalization, engines
from ngramscan.progress import SILENT, Progress
from tests.support import oracle

DRAW = random.Random(5)
WORDS = ["".join(DRAW.choices("abcdé", k=DRAW.randint(1, 9))) for _ in range(500)]
TEXTS = [" ".join(DRAW.choices(WORDS, k=60)) for _ in range(200)]
QUERIES = list(
    dict.fromkeys(text[start : start + 50] for text in TEXTS for start in range(0, 200, 20))
)


def write_corpus(folder: Path, texts: list[str], n_files: int = 4) -> str:
    for number in range(n_files):
        lines = [json.dumps({"text": text}) + "\n" for text in texts[number::n_files]]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    return f"scan:{folder}/*.jsonl"


def ask(index: Index, queries: list[str]) -> dict[str, tuple[int, int | None]]:
    counts = [count for count in index.counts(queries) if isinstance(count, QueryCount)]
    return {count.query: (count.occurrences, count.documents) for count in counts}


def scan(
    spec: str, queries: list[str], options: IndexOptions, progress: Progress = SILENT
) -> dict[str, tuple[int, int | None]]:
    with open_indexes([spec], options, progress) as (index,):
        return ask(index, queries)


class Notices(Progress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def notice(self, text: str) -> None:
        self.said.append(text)


def test_thousands_are_counted_by_workers_and_only_what_is_missing_is_counted_again(
    tmp_path: Path,
) -> None:
    spec = write_corpus(tmp_path, TEXTS)
    absent = [f"{query[:20]}QZ{query[22:]}" for query in QUERIES]
    queries = [*QUERIES, *absent]
    assert len(queries) >= engines.MANY
    options = IndexOptions(journal=tmp_path / "j.sqlite", workers=2)
    expected = {
        query: (oracle.occurrences_fast(query, "\n".join(TEXTS)), sum(query in t for t in TEXTS))
        for query in queries
    }
    assert scan(spec, queries, options) == expected
    (tmp_path / "0.jsonl").write_text(json.dumps({"text": QUERIES[0] * 2}) + "\n")
    texts = [QUERIES[0] * 2, *(text for number, text in enumerate(TEXTS) if number % 4)]
    notices = Notices()
    again = scan(spec, queries, options, notices)
    assert again == {
        query: (oracle.occurrences_fast(query, "\n".join(texts)), sum(query in t for t in texts))
        for query in queries
    }
    (said,) = notices.said
    assert "3 of 4 files or parts are from the journal" in said


@pytest.mark.parametrize(
    ("how", "query", "expected"),
    [
        pytest.param("words", " a b ", (3, 2), id="words"),
        pytest.param("alphanumeric", "aB", (1, 1), id="letters and digits"),
        pytest.param("alphanumeric", "AB", (1, 1), id="in their case"),
        pytest.param("", "a-B", (1, 1), id="as they are"),
    ],
)
def test_texts_are_normalized_one_by_one(
    tmp_path: Path, how: Normalization, query: str, expected: tuple[int, int]
) -> None:
    spec = write_corpus(tmp_path, ["a-B a.", "A\nB; ab, a (b)", "a", "b"], 2)
    options = IndexOptions(journal=tmp_path / "j.sqlite", normalization=how)
    assert scan(spec, [query], options) == {query: expected}
    # From the journal too, where a word has more bytes than its text.
    assert scan(spec, [query, " a "], options) == scan(spec, [query, " a "], options)
    with open_indexes([spec], options, SILENT) as (index,):
        ask(index, ["x"])
        assert index.size().bytes == sum(map(len, ["a-B a.", "A\nB; ab, a (b)", "a", "b"]))


def test_normalized_texts_have_no_places(tmp_path: Path) -> None:
    options = IndexOptions(journal=tmp_path / "j.sqlite", normalization="words")
    with open_indexes([write_corpus(tmp_path, ["a b"], 1)], options, SILENT) as (index,):
        with pytest.raises(InputError, match="normalized: there are no places to show"):
            list(index.find([" a "]))
        with pytest.raises(InputError, match="normalized: there are no places to show"):
            list(index.windows([Place(" a ", 0, 0)], 10))


def test_only_corpora_that_are_read_can_be_normalized() -> None:
    message = r"--rule: only corpora that are read \(scan:…, python\) can be asked in words, not v4"
    with pytest.raises(InputError, match=message):
        open_indexes(["v4_rpj_llama_s4"], IndexOptions(normalization="words"), SILENT).__enter__()
