"""Corpora of any kind: the sources of Python, files without documents, names of files."""

import gzip
from pathlib import Path

import pytest

import ngramscan
from ngramscan.corpora import PythonCorpus, ReadOptions, open_corpus, read_piece, relative_names
from ngramscan.errors import CorpusError
from tests.support import corpus_files


def test_the_python_corpus_recodes_and_leaves_out_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes("# coding: latin-1\n# é\n".encode("latin-1"))
    (tmp_path / "marked.py").write_bytes("# é\n".encode("utf-8-sig"))
    (tmp_path / "broken.py").write_bytes(b"# \xe9\n")
    (tmp_path / "unknown.py").write_bytes(b"# coding: klingon\n")
    for name in ("ngramscan", "evalcore", "site-packages", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text("x = 1\n")
    corpus = PythonCorpus([tmp_path])
    batches = [b for piece in corpus.pieces() for b in read_piece(piece, ReadOptions())]
    assert sorted(bytes(text) for batch in batches for text in batch.texts) == sorted(
        ["# coding: latin-1\n# é\n".encode(), "# é\n".encode(), b"x = 1\n"]
    )
    assert sum(sum(batch.skipped.values()) for batch in batches) == 2
    (tmp_path / "latin.py").unlink()
    with pytest.raises(CorpusError, match=r"latin\.py: No such file"):
        [list(read_piece(piece, ReadOptions())) for piece in corpus.pieces()]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("b.jsonl", b"", id="no byte"),
        pytest.param("b.jsonl", b"\n\r\n \n", id="empty lines"),
        pytest.param("b.jsonl.gz", gzip.compress(b""), id="compressed nothing"),
        pytest.param("b.json", b"[]", id="an empty list"),
        pytest.param("b.csv", b"text\n", id="a header"),
        pytest.param("b.csv", b"", id="no header"),
        pytest.param("b.parquet", corpus_files.parquet([]), id="no row"),
        pytest.param("b.warc", corpus_files.WARC_INFO, id="no record"),
    ],
)
def test_files_without_documents_are_counted(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    (tmp_path / name).write_bytes(content)
    (row,) = ngramscan.count(literal="a", index=f"scan:{tmp_path}").itertuples()
    assert (row.occurrences, row.note) == (1, "skipped: 1 file without documents")


def test_the_running_python_is_a_corpus_with_its_packages() -> None:
    paths = {file.path for file in PythonCorpus().files}
    assert any(path.endswith("/argparse.py") for path in paths)
    assert any("/click/" in path for path in paths)
    assert not any("/ngramscan/" in path for path in paths if "site-packages" in path)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param("", ["a/1.jsonl", "a/b/2.jsonl", "a/b/c/3.jsonl"], id="a folder"),
        pytest.param("/a/b", ["2.jsonl", "c/3.jsonl"], id="a folder below"),
        pytest.param("/a/1.jsonl", ["1.jsonl"], id="a file"),
        pytest.param("/**/*.jsonl", ["1.jsonl", "b/2.jsonl", "b/c/3.jsonl"], id="a glob"),
        pytest.param("/a/b/**/*.jsonl", ["2.jsonl", "c/3.jsonl"], id="a glob below"),
        pytest.param("/a/b/c/*.jsonl", ["3.jsonl"], id="a glob of one folder"),
    ],
)
def test_names_of_files_are_below_the_folder_that_has_them_all(
    tmp_path: Path, spec: str, expected: list[str]
) -> None:
    for name in ("a/1.jsonl", "a/b/2.jsonl", "a/b/c/3.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"text": "a"}\n')
    assert sorted(relative_names(open_corpus(f"{tmp_path}{spec}"))) == expected
