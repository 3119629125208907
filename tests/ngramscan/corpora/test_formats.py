"""Every format of a corpus: the same documents give the same counts, truncated files none."""

import gzip
from pathlib import Path
from typing import Any

import fsspec
import fsspec.implementations.memory
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ngramscan
from ngramscan.corpora import ReadOptions, open_corpus, read_piece
from ngramscan.corpora import parquet as parquet_module
from ngramscan.corpora.base import CorpusFile
from ngramscan.corpora.streams import open_file
from ngramscan.errors import CorpusError, InputError
from tests.support import corpus_files, oracle
from tests.support.hard_texts import F1, make_texts

MORE = ["aa", "a", "ภาษา", "step\nby"]
FORMATS = list(corpus_files.WRITERS)


def texts_of(path: Path, **options: Any) -> list[str]:
    read = ReadOptions(**options)
    return [
        bytes(text).decode()
        for piece in open_corpus(str(path)).pieces()
        for batch in read_piece(piece, read)
        for text in batch.texts
    ]


def count(path: Path, *patterns: str | Path, **options: Any) -> pd.DataFrame:
    return ngramscan.count(*patterns or ["f1"], index=f"scan:{path}", workers=1, **options)


def row_of(rows: pd.DataFrame, query: str = "solve for") -> Any:
    (row,) = rows[rows["query"] == query].itertuples()
    return row


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], object]:
    """Return a folder with documents in a file of each format, the documents and their counts."""
    folder, texts = tmp_path_factory.mktemp("formats"), make_texts(8000)
    for name in FORMATS:
        corpus_files.write(folder, name, texts)
    entries = (f'  - {{text: "{text}", method: M, tier: T1, kind: code}}\n' for text in MORE)
    patterns = "name: more\npatterns:\n" + "".join(entries).replace("\nby", "\\nby")
    (folder / "more.yaml").write_text(patterns)
    return folder, texts, oracle.tally([*F1, *MORE], texts)


@pytest.mark.parametrize("name", FORMATS)
def test_documents_come_back_and_counts_are_those_of_brute_force(
    written: tuple[Path, list[str], object], name: str
) -> None:
    folder, texts, tally = written
    assert texts_of(folder / name) == texts
    rows = count(folder / name, "f1", folder / "more.yaml")
    assert (rows["occurrences"].tolist(), rows["documents"].tolist()) == tally


@pytest.mark.parametrize("name", FORMATS[1:])
def test_a_truncated_file_is_an_error_wherever_it_ends(tmp_path: Path, name: str) -> None:
    texts = [*make_texts(60), "\r\n\r\nmore", "the end of a record is cut off too"]
    path = corpus_files.write(tmp_path, name, texts)
    content, ends = path.read_bytes(), set()
    if "wet" in name:
        # Records are whole files: an end just between two of them can't be seen.
        ends = {len(corpus_files.WRITERS[name](texts[:n])) for n in range(len(texts))}
    said = {"c.jsonl": r":\d+: the file is trunc", "c.warc.": r": record \d+ or after: .*trunc"}
    for cut in {
        *range(1, len(content), len(content) // 20),
        *range(len(content) - 9, len(content)),
    }:
        path.write_bytes(content[:cut])
        if cut not in ends:
            with pytest.raises(CorpusError, match=name + said.get(name[:7], "")):
                texts_of(path)


@pytest.mark.parametrize("name", ["c.warc.wet.gz", "c.warc.wet", "c.parquet"])
def test_what_is_not_of_the_format_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content in (b"", b"hello world, this is no such file\n" * 50):
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(CorpusError, match=f"{name}.*not a (WARC|Parquet) file|truncated"):
            texts_of(path)


# Parquet


def test_parquet_columns_that_hold_no_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"text": [1, 2], "body": ["a", "b"]}), path)
    with pytest.raises(CorpusError, match=r"column 'text' is int64, not strings"):
        texts_of(path)
    assert texts_of(path, text_field="body") == ["a", "b"]
    with pytest.raises(CorpusError, match=r"no column 'content'; it has: text, body"):
        texts_of(path, text_field="content")
    texts = [str(n) if n != 4321 else None for n in range(5000)]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=1000)
    with pytest.raises(CorpusError, match=r"c\.parquet: row 4322: the text is null"):
        texts_of(path)
    path.write_bytes(bytes(90) + path.read_bytes()[90:])
    with pytest.raises(CorpusError, match="row group 0, row 1 or after: can't be read"):
        texts_of(path)


# Parts


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_parts_of_parquet_are_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pa.DataType
) -> None:
    texts = make_texts(4000)
    path = tmp_path / "c.parquet"
    path.write_bytes(corpus_files.parquet(texts, kind, rows=500))
    monkeypatch.setattr(parquet_module, "PART_BYTES", path.stat().st_size // 4)
    assert 3 <= len(open_corpus(str(path)).pieces()) <= 5
    assert texts_of(path) == texts


# What does not belong


def test_ignoring_case_is_told_in_every_row(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["Solve For x, solve for y, SOLVE FOR Z"])
    rows = count(path, ignore_case=True)
    assert set(rows["note"]) == {"ASCII case ignored"}
    assert row_of(rows).occurrences == 3
    with pytest.raises(InputError, match="ignore_case: only scan: and python take it, not dclm"):
        ngramscan.count("f1", index="dclm", ignore_case=True)


# Remote files


def test_what_fsspec_raises_is_an_error_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError("the library below\nis in trouble")

    fsspec.filesystem("memory").pipe("/lost.txt", b"content")
    monkeypatch.setattr(fsspec.implementations.memory.MemoryFile, "read", fail)
    with (
        pytest.raises(CorpusError, match=r"can't be read \(the library below is in trouble\)"),
        open_file(CorpusFile("memory://lost.txt", "text")) as file,
    ):
        file.read(10)
