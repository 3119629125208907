"""Parquet as a corpus: its columns, its row groups."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscan.corpora import open_corpus
from ngramscan.corpora import parquet as parquet_module
from ngramscan.errors import CorpusError
from tests.support import corpus_files
from tests.support.corpus_documents import texts_of
from tests.support.hard_texts import make_texts


def test_columns_that_hold_no_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"text": [1, 2], "body": ["a", "b"]}), path)
    with pytest.raises(
        CorpusError, match=r"column 'text' is int64, not strings \(see --text-field\)"
    ):
        texts_of(path)
    assert texts_of(path, text_field="body") == ["a", "b"]
    with pytest.raises(CorpusError, match=r"no column 'content'; it has: text, body"):
        texts_of(path, text_field="content")


def test_a_row_without_a_text_and_damaged_row_groups_are_named(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    texts = [str(n) if n != 4321 else None for n in range(5000)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=1000)
    with pytest.raises(CorpusError, match=r"c\.parquet: row 4322: the text is null"):
        texts_of(path)
    path.write_bytes(bytes(90) + path.read_bytes()[90:])
    with pytest.raises(CorpusError, match="row group 0, row 1 or after: can't be read"):
        texts_of(path)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_parts_are_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    texts = make_texts(4000)
    path = tmp_path / "c.parquet"
    path.write_bytes(corpus_files.parquet(texts, kind, rows=500))
    monkeypatch.setattr(parquet_module, "PART_BYTES", path.stat().st_size // 4)
    assert 3 <= len(open_corpus(str(path)).pieces()) <= 5
    assert texts_of(path) == texts


def test_a_damaged_page_is_named_by_row_group_and_row(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    texts = [f"{number * 7919 % 10007}" for number in range(9000)]
    content = bytearray(corpus_files.parquet(texts, rows=3000))
    metadata = pq.ParquetFile(pa.BufferReader(bytes(content))).metadata
    start = metadata.row_group(1).column(2).data_page_offset
    content[start + 40 : start + 60] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"c\.parquet: row group 1, row \d+ or after: can't be"):
        texts_of(path)
