"""Text files as corpora: each is one document."""

import gzip
from pathlib import Path

import pytest

from ngramscan.errors import CorpusError
from tests.support.corpus_documents import read_documents


def test_a_text_file_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8", newline="")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("zwei é".encode()))
    assert read_documents(tmp_path) == (["one\ntwo\n", "zwei é"], [1, 1], {})


def test_a_text_in_latin_1_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("é".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"a\.txt: not UTF-8 at byte 0"):
        read_documents(tmp_path / "a.txt")
