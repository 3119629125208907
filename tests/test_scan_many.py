"""Scans for thousands of queries, and of normalized texts."""

import json
import random
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import Index, Place, QueryCount
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.progress import SILENT, Progress

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


def test_normalized_texts_have_no_places(tmp_path: Path) -> None:
    options = IndexOptions(journal=tmp_path / "j.sqlite", normalization="words")
    with open_indexes([write_corpus(tmp_path, ["a b"], 1)], options, SILENT) as (index,):
        with pytest.raises(InputError, match="normalized: no places to show"):
            list(index.find([" a "]))
        with pytest.raises(InputError, match="normalized: no places to show"):
            list(index.windows([Place(" a ", 0, 0)], 10))


def test_only_corpora_that_are_read_can_be_normalized() -> None:
    message = r"--rule: only corpora that are read \(scan:…, python\) can be asked in words, not v4"
    with pytest.raises(InputError, match=message):
        open_indexes(["v4_rpj_llama_s4"], IndexOptions(normalization="words"), SILENT).__enter__()
