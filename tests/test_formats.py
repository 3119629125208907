"""Every format of a corpus: the same documents give the same counts, cut files none."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Sequence
from pathlib import Path

import fsspec
import fsspec.implementations.memory
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscan.corpora import ReadOptions, open_corpus, read_piece, split
from ngramscan.corpora import jsonl as jsonl_module
from ngramscan.corpora import parquet as parquet_module
from ngramscan.corpora.base import CorpusFile
from ngramscan.corpora.streams import open_file
from ngramscan.errors import CorpusError, InputError
from ngramscan.patterns.files import load_patterns
from tests import corpus_files, oracle
from tests.command import run

F1 = [pattern.text for pattern in load_patterns("f1").patterns]
QUERIES = [*F1, "aa", "a", "ภาษา", "step\nby"]
FORMATS = list(corpus_files.WRITERS)


def make_texts(n: int, seed: int = 1) -> list[str]:
    """Return documents with all that is hard: empty, non-ASCII, overlaps, patterns alone."""
    draw = random.Random(seed)
    words = [
        *F1,
        "aaa",
        "ภาษาไทย",
        "é",
        "\n",
        "step\nby",
        "\x00",
        "the",
        "of",
        "\\",
        "{",
        "中文",
        "😀",
    ]
    fixed = ["", "a" * 50, "ภาษา" * 3, *F1, "step by step by step", "\r\nx\r\n", '"quoted"\\n']
    return fixed + [
        " ".join(draw.choices(words, k=draw.randrange(12))) for _ in range(n - len(fixed))
    ]


def texts_of(path: Path, **options: object) -> list[str]:
    read = ReadOptions(**options)  # type: ignore[arg-type]
    return [
        bytes(text).decode()
        for piece in open_corpus(str(path)).pieces()
        for batch in read_piece(piece, read)
        for text in batch.texts
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_documents_come_back_as_they_were_written(tmp_path: Path, name: str) -> None:
    texts = make_texts(3000)
    path = corpus_files.write(tmp_path, name, texts)
    assert texts_of(path) == texts


@pytest.fixture(scope="module")
def large() -> tuple[list[str], tuple[list[int], list[int]]]:
    texts = make_texts(100_000)
    return texts, oracle.tally(QUERIES, texts)


@pytest.mark.parametrize("name", FORMATS)
def test_counts_of_100000_documents_are_those_of_brute_force(
    tmp_path: Path, name: str, large: tuple[list[str], tuple[list[int], list[int]]]
) -> None:
    texts, (occurrences, documents) = large
    path = corpus_files.write(tmp_path, name, texts)
    (tmp_path / "more.yaml").write_text(
        "name: more\npatterns:\n"
        "  - {text: aa, method: M, tier: T1, kind: code}\n"
        "  - {text: a, method: M, tier: T1, kind: code}\n"
        "  - {text: ภาษา, method: M, tier: T1, kind: code}\n"
        '  - {text: "step\\nby", method: M, tier: T1, kind: code}\n',
        encoding="utf-8",
    )
    ran = run(
        "count", "f1", tmp_path / "more.yaml", "--index", f"scan:{path}", "--format", "csv", "-q"
    )
    assert (ran.code, ran.stderr) == (0, "")
    assert [int(row["occurrences"]) for row in ran.rows] == occurrences
    assert [int(row["documents"]) for row in ran.rows] == documents


def cuts(content: bytes, n: int = 25) -> Sequence[int]:
    return range(1, len(content), max(1, len(content) // n))


@pytest.mark.parametrize("name", FORMATS[1:-1])
def test_a_cut_file_is_an_error_wherever_it_is_cut(tmp_path: Path, name: str) -> None:
    texts = make_texts(400)
    path = corpus_files.write(tmp_path, name, texts)
    content = path.read_bytes()
    # Members of a WET file are whole files: a cut just between two of them can't be seen.
    boundaries = set()
    if name.endswith(".wet.gz"):
        end = len(gzip.compress(corpus_files.WARC_INFO))
        for number, text in enumerate(texts):
            boundaries.add(end)
            end += len(gzip.compress(corpus_files.warc_record(number, text), 1))
    for cut in [*cuts(content), len(content) - 1]:
        path.write_bytes(content[:cut])
        if cut not in boundaries:
            with pytest.raises(CorpusError, match=f"{name}"):
                texts_of(path)


def test_a_cut_plain_warc_is_an_error(tmp_path: Path) -> None:
    texts = ["one", "two two\r\n\r\nmore", "three"]
    content = corpus_files.wet(texts)
    path = tmp_path / "c.warc.wet"
    boundaries = {len(corpus_files.wet(texts[:n])) for n in range(4)}
    for cut in range(1, len(content)):
        path.write_bytes(content[:cut])
        if cut in boundaries:
            continue
        with pytest.raises(CorpusError, match=r"c\.warc\.wet: record \d or after"):
            texts_of(path)


def test_the_record_that_is_cut_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.warc.wet.gz"
    path.write_bytes(corpus_files.wet_gz(["a" * 99, "b" * 99, "c" * 99])[:-10])
    with pytest.raises(CorpusError, match="record 3 or after: the file is truncated"):
        texts_of(path)


@pytest.mark.parametrize("name", ["c.warc.wet.gz", "c.warc.wet", "c.parquet"])
def test_what_is_not_of_the_format_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content in (b"", b"hello world, this is no such file\n" * 50):
        path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        with pytest.raises(CorpusError, match=f"{name}.*(not a WARC|not a Parquet|truncated)"):
            texts_of(path)


def test_a_file_that_shrinks_after_it_was_listed_is_an_error(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["a", "b", "c"])
    corpus = open_corpus(str(path))
    path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:2]) + b"\n")
    with pytest.raises(CorpusError, match=r"c\.jsonl:3: the file is truncated or changed: \d+ of \d+"):
        list(read_piece(corpus.pieces()[0], ReadOptions()))


# Parquet


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())],
    ids=["string", "large_string", "dictionary"],
)
def test_parquet_strings_of_every_kind(tmp_path: Path, kind: pa.DataType) -> None:
    texts = make_texts(2500)
    path = tmp_path / "c.parquet"
    path.write_bytes(corpus_files.parquet(texts, kind))
    assert texts_of(path) == texts


def test_parquet_columns_that_hold_no_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"text": [1, 2], "body": ["a", "b"]}), path)
    with pytest.raises(CorpusError, match=r"column 'text' is int64; strings were expected"):
        texts_of(path)
    assert texts_of(path, text_field="body") == ["a", "b"]
    with pytest.raises(CorpusError, match=r"no column 'content'; it has: text, body"):
        texts_of(path, text_field="content")


def test_a_null_text_is_named_by_its_row(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    texts = [str(n) for n in range(5000)]
    texts[4321] = None  # type: ignore[call-overload]
    pq.write_table(pa.table({"text": texts}), path, row_group_size=1000)
    with pytest.raises(CorpusError, match=r"c\.parquet: row 4322: the text is null"):
        texts_of(path)


def test_a_corrupt_page_is_named_by_row_group_and_row(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    content = bytearray(
        corpus_files.parquet([f"{n * 7919 % 10007}" for n in range(9000)], rows=3000)
    )
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
        pieces = open_corpus(str(path)).pieces()
        assert len(pieces) == -(-path.stat().st_size // size)
        assert texts_of(path) == texts
        assert sum(piece.size or 0 for piece in pieces) == path.stat().st_size


def test_an_error_in_a_part_names_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_module, "PART_BYTES", 100)
    lines = corpus_files.jsonl([str(n) for n in range(50)]).split(b"\n")
    for bad in (0, 1, 17, 49):
        path = tmp_path / "c.jsonl"
        path.write_bytes(b"\n".join([*lines[:bad], b"{broken", *lines[bad + 1 :]]))
        with pytest.raises(CorpusError, match=rf"c\.jsonl:{bad + 1}: not valid JSON"):
            texts_of(path)


def test_compressed_and_small_files_are_not_split(tmp_path: Path) -> None:
    assert split(CorpusFile("a.jsonl", "jsonl", 10)) == [
        split(CorpusFile("a.jsonl", "jsonl", 10))[0]
    ]
    for path in ("a.jsonl.gz", "https://h/a.jsonl"):
        assert len(split(CorpusFile(path, "jsonl", 10**12))) == 1
    assert len(split(CorpusFile("a.jsonl", "jsonl", 10**9))) == 63


def test_parts_of_parquet_are_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{n * 7919 % 10007}" for n in range(9000)]
    path = tmp_path / "c.parquet"
    path.write_bytes(corpus_files.parquet(texts, rows=1000))
    monkeypatch.setattr(parquet_module, "PART_BYTES", path.stat().st_size // 4)
    pieces = open_corpus(str(path)).pieces()
    assert 3 <= len(pieces) <= 5
    assert texts_of(path) == texts


# What does not belong


def test_malformed_lines_are_skipped_on_request_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    good = corpus_files.jsonl(["solve for x", "solve for y"])
    path.write_bytes(b"{broken\n" + good + b'{"text": "\xff"}\n\n')
    ran = run("count", "f1", "--index", f"scan:{path}", "--format", "csv", "--skip-bad-lines")
    assert ran.code == 0
    assert ran.stderr == f"scan:{path}: malformed lines skipped: 2\n"
    (row,) = [row for row in ran.rows if row["query"] == "solve for"]
    assert (row["occurrences"], row["note"]) == ("2", "malformed lines skipped: 2")
    path.write_bytes(good + b'{"body": "no text"}\n')
    ran = run("count", "f1", "--index", f"scan:{path}", "--format", "csv", "--skip-bad-lines")
    assert (ran.code, "c.jsonl:3: no field 'text'" in ran.stderr) == (1, True)


@pytest.mark.parametrize("name", FORMATS)
def test_documents_are_excluded_by_url_in_every_format(tmp_path: Path, name: str) -> None:
    path = corpus_files.write(tmp_path, name, ["solve for x"] * 300)
    options = ["--exclude-source", "*/wiki/*", "--format", "csv", "-q"]
    ran = run("count", "f1", "--index", f"scan:{path}", *options)
    (row,) = [row for row in ran.rows if row["query"] == "solve for"]
    assert row["documents"] == "200"


def test_files_are_excluded_by_path(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(corpus_files.jsonl([name]))
    assert len(open_corpus(str(tmp_path), ("*/b.jsonl",)).files) == 1
    with pytest.raises(InputError, match="every file is excluded"):
        open_corpus(str(tmp_path), ("*.jsonl",))


@pytest.mark.parametrize("name", FORMATS)
def test_only_the_first_documents_are_read_on_request(tmp_path: Path, name: str) -> None:
    path = corpus_files.write(tmp_path, name, ["solve for x"] * 1500)
    options = ["--limit-documents", "700", "--format", "csv", "-q"]
    ran = run("count", "f1", "--index", f"scan:{path}", *options)
    (row,) = [row for row in ran.rows if row["query"] == "solve for"]
    assert (row["documents"], row["note"]) == ("700", "only the first 700 documents")


def test_ignoring_case_is_told_in_every_row(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.jsonl", ["Solve For x, solve for y, SOLVE FOR Z"])
    options = ["--ignore-case", "--format", "csv"]
    ran = run("count", "f1", "--index", f"scan:{path}", *options)
    assert {row["note"] for row in ran.rows} == {"ASCII case ignored"}
    assert [row["occurrences"] for row in ran.rows if row["query"] == "solve for"] == ["3"]
    refused = run("count", "f1", "--index", "dclm", "--ignore-case")
    assert refused.code == 2
    assert refused.stderr == "Error: --ignore-case: only scan: and python can, not dclm\n"


class FailingFileSystem(fsspec.implementations.memory.MemoryFileSystem):  # type: ignore[misc]  # untyped
    """Files that open and then can't be read, as one whose connection was lost."""

    protocol = "failing"

    def _open(self, path: str, mode: str = "rb", **_: object) -> io.BytesIO:
        class Failing(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                raise ValueError("the library below\nis in trouble")

        return Failing(b"content")


def test_what_fsspec_raises_is_an_error_of_the_file() -> None:
    fsspec.register_implementation("failing", FailingFileSystem, clobber=True)
    with (
        pytest.raises(CorpusError, match=r"can't be read \(the library below is in trouble\)"),
        open_file("failing://a.jsonl") as file,
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
