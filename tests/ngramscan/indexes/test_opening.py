"""Scans for thousands of queries, and of normalized texts."""

import json
from pathlib import Path

import pytest

from ngramscan.errors import InputError
from ngramscan.indexes.base import Place
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.progress import SILENT


def write_corpus(folder: Path, texts: list[str], n_files: int = 4) -> str:
    for number in range(n_files):
        lines = [json.dumps({"text": text}) + "\n" for text in texts[number::n_files]]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    return f"scan:{folder}/*.jsonl"


def test_normalized_texts_have_no_places(tmp_path: Path) -> None:
    options = IndexOptions(journal=tmp_path / "j.sqlite", normalization="words")
    with open_indexes([write_corpus(tmp_path, ["a b"], 1)], options, SILENT) as (index,):
        with pytest.raises(InputError, match="normalized: no places to show"):
            list(index.find([" a "]))
        with pytest.raises(InputError, match="normalized: no places to show"):
            list(index.windows([Place(" a ", 0, 0)], 10))


def test_only_corpora_that_are_read_can_be_normalized() -> None:
    message = (
        r"--rule: only corpora that are read \(scan:…, python\) can be searched in words, not v4"
    )
    with pytest.raises(InputError, match=message):
        open_indexes(["v4_rpj_llama_s4"], IndexOptions(normalization="words"), SILENT).__enter__()


def test_a_password_in_the_address_of_a_corpus_is_refused_and_not_shown() -> None:
    with pytest.raises(InputError) as caught:
        open_indexes(["scan:s3://me:secret@bucket/c.jsonl"], IndexOptions(), SILENT).__enter__()
    assert str(caught.value).startswith("--index scan:s3://bucket/…: a password in it would show")
    assert "secret" not in str(caught.value)
