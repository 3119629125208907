"""Every format of a corpus: the same documents give the same counts, truncated files none."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import fsspec.implementations.memory
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ngramscan
from ngramscan.corpora import Piece, ReadOptions, open_corpus, read_piece, split
from ngramscan.corpora import jsonl as jsonl_module
from ngramscan.corpora import parquet as parquet_module
from ngramscan.corpora.base import CorpusFile
from ngramscan.corpora.streams import open_file
from ngramscan.errors import CorpusError, InputError
from ngramscan.patterns.files import load_patterns
from tests.support import corpus_files, oracle

F1 = [pattern.text for pattern in load_patterns("f1").patterns]
MORE = ["aa", "a", "ภาษา", "step\nby"]
FORMATS = list(corpus_files.WRITERS)


def make_texts(n: int, seed: int = 1) -> list[str]:
    """Return documents with all that is hard: empty, non-ASCII, overlaps, patterns alone."""
    draw = random.Random(seed)
    words = [*F1, "aaa", "ภาษาไทย", "é", "\n", "step\nby", "\x00", "the", "of", "\\", "{"]
    words += ["中文", "😀"]
    fixed = ["", "a" * 50, "ภาษา" * 3, *F1, "step by step by step", "\r\nx\r\n", '"quoted"\\n']
    drawn = n - len(fixed)
    return fixed + [" ".join(draw.choices(words, k=draw.randrange(12))) for _ in range(drawn)]


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
    (folder / "more.yaml").write_text(patterns, encoding="utf-8")
    return folder, texts, oracle.tally([*F1, *MORE], texts)


@pytest.mark.parametrize("name", FORMATS)
def test_documents_come_back_and_counts_are_those_of_brute_force(
    written: tuple[Path, list[str], object], name: str
) -> None:
    folder, texts, tally = written
    assert texts_of(folder / name) == texts
    rows = count(folder / name, "f1", folder / "more.yaml")
    assert (rows["occurrences"].tolist(), rows["documents"].tolist()) == tally


@pytest.mark.parametrize("name", FORMATS)
def test_documents_are_excluded_and_limited_in_every_format(tmp_path: Path, name: str) -> None:
    path = corpus_files.write(tmp_path, name, ["solve for x"] * 1500)
    assert row_of(count(path, exclude_source="*/wiki/*")).documents == 1000
    row = row_of(count(path, limit_documents=700))
    assert (row.documents, row.note) == (700, "only the first 700 documents")


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


def test_the_record_that_is_truncated_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.warc.wet.gz"
    path.write_bytes(corpus_files.wet_gz(["a" * 99, "b" * 99, "c" * 99])[:-10])
    with pytest.raises(CorpusError, match="record 3 or after: the file is truncated"):
        texts_of(path)


@pytest.mark.parametrize("name", ["c.warc.wet.gz", "c.warc.wet", "c.parquet"])
def test_what_is_not_of_the_format_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content in (b"", b"hello world, this is no such file\n" * 50):
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(CorpusError, match=f"{name}.*not a (WARC|Parquet) file|truncated"):
            texts_of(path)


def test_a_file_that_shrinks_after_it_was_listed_is_an_error(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["a", "b", "c"])
    corpus = open_corpus(str(path))
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:2]) + b"\n")
    with pytest.raises(CorpusError, match=r"c\.jsonl: changed since it was found"):
        list(read_piece(corpus.pieces()[0], ReadOptions()))
    far = Piece(replace(corpus.files[0], path=f"file://{path}", status=""))
    with pytest.raises(CorpusError, match=r"c\.jsonl:3: the file is truncated or changed: \d+ of"):
        list(read_piece(far, ReadOptions()))


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


def test_a_corrupt_page_is_named_by_row_group_and_row(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    texts = [f"{n * 7919 % 10007}" for n in range(9000)]
    content = bytearray(corpus_files.parquet(texts, rows=3000))
    metadata = pq.ParquetFile(pa.BufferReader(bytes(content))).metadata
    start = metadata.row_group(1).column(2).data_page_offset
    content[start + 40 : start + 60] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"c\.parquet: row group 1, row \d+ or after: can't be"):
        texts_of(path)


# Parts


def test_parts_of_plain_json_lines_are_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{n} " + "x" * (n * 37 % 400) for n in range(300)]
    path = corpus_files.write(tmp_path, "c.jsonl", texts)
    for size in (37, 100, 1000, 10**4):
        monkeypatch.setattr(jsonl_module, "PART_BYTES", size)
        monkeypatch.setattr(jsonl_module, "_CHUNK_BYTES", 90)
        pieces = open_corpus(str(path)).pieces()
        assert len(pieces) == -(-path.stat().st_size // size)
        assert texts_of(path) == texts
        assert sum(piece.size or 0 for piece in pieces) == path.stat().st_size


def test_an_error_in_a_part_names_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_module, "PART_BYTES", 100)
    lines = corpus_files.jsonl([str(n) for n in range(50)]).split(b"\n")
    path = tmp_path / "c.jsonl"
    # A byte order mark is skipped at the start of a file, not at the start of a part.
    for bad, mark in ((0, b""), (1, b"\xef\xbb\xbf"), (17, b"\xef\xbb\xbf"), (49, b"")):
        path.write_bytes(b"\n".join([*lines[:bad], mark + b"{broken", *lines[bad + 1 :]]))
        with pytest.raises(CorpusError, match=rf"c\.jsonl:{bad + 1}: not valid JSON"):
            texts_of(path)
    corpus = open_corpus(str(path))
    path.write_bytes(path.read_bytes()[:1010])
    with pytest.raises(CorpusError, match=r"c\.jsonl: changed since it was found"):
        list(read_piece(corpus.pieces()[10], ReadOptions()))


def test_compressed_and_small_files_are_not_split() -> None:
    assert len(split(CorpusFile("a.jsonl", "jsonl", 10))) == 1
    for path in ("a.jsonl.gz", "https://h/a.jsonl"):
        assert len(split(CorpusFile(path, "jsonl", 10**12))) == 1
    assert len(split(CorpusFile("a.jsonl", "jsonl", 10**9))) == 63


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


def test_malformed_lines_are_skipped_on_request_and_counted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c.jsonl"
    good = corpus_files.jsonl(["solve for x", "solve for y"])
    bad = [b"{broken", b"x", b'{"text": "\xff"}', b'{"body": "no text"}', b'["a"]', b'"a"', b"}"]
    bad += [b'{"text": %b}' % value for value in (b"null", b"1", b"[]", b'"\\ud800"')]
    note = (
        "skipped: 3 not valid JSON, 2 not a JSON object, 2 not a string, 1 not UTF-8, 1 null, "
        "1 with a lone surrogate, 1 without field 'text'"
    )
    path.write_bytes(bad[0] + b"\n" + good + b"\n".join(bad[1:]) + b"\n\n")
    row = row_of(count(path, skip_bad_lines=True))
    assert (row.occurrences, row.documents, row.note) == (2, 2, note)
    for line in bad:
        path.write_bytes(good + line)
        with pytest.raises(CorpusError, match=r"c\.jsonl:3: "):
            texts_of(path)


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
        open_file("memory://lost.txt") as file,
    ):
        file.read(10)


def read_and_fail(url: str) -> None:
    with open_file(url, streaming=False) as file:
        assert file.seekable()
        assert file.seek(3) == file.tell() == 3
        assert file.read() == b"tent"
        raise KeyError("ours")


def test_a_mistake_of_ours_is_not_taken_for_an_error_of_the_file() -> None:
    fsspec.filesystem("memory").pipe("/mistake.txt", b"content")
    with pytest.raises(KeyError):
        read_and_fail("memory://mistake.txt")
