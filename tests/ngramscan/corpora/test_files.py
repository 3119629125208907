"""Files of a corpus by path, folder, glob and list; those of no known format are said."""

import gzip
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

from ngramscan.corpora import ReadOptions, open_corpus, read_piece
from ngramscan.corpora.base import Piece
from ngramscan.errors import CorpusError, InputError
from tests.support.corpus_documents import read_documents
from tests.support.corpus_files import PACK, jsonl


def test_a_damaged_list_of_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    path = tmp_path / "c.paths.gz"
    path.write_bytes(gzip.compress(b"a.jsonl\n") + b"b.jsonl\n")
    with pytest.raises(CorpusError, match="damaged; skipped: 8 bytes behind the end of gzip data"):
        open_corpus(str(path))


def write_unknown(folder: Path) -> None:
    """Write JSON lines, two files of unknown formats, and a hidden one."""
    for name in ("a.jsonl", "sub/readme.md", "sub/x.rst", ".gitignore"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(jsonl([name]))


@pytest.mark.parametrize("kind", ["a folder", "a glob", "a store"])
def test_a_file_of_an_unknown_format_is_an_error_unless_skipped(tmp_path: Path, kind: str) -> None:
    write_unknown(tmp_path)
    store = f"memory://{tmp_path.name}"
    fsspec.filesystem("memory").put(str(tmp_path), store, recursive=True)
    place = {"a folder": str(tmp_path), "a glob": f"{tmp_path}/**", "a store": store}[kind]
    told = r"formats: 2, the first is .*sub/readme\.md; --skip-unknown or --exc"
    with pytest.raises(InputError, match=told):
        open_corpus(place)
    corpus = open_corpus(place, skip_unknown=True)
    assert corpus.notices == [f"scan:{place}: files of unknown formats left out: 2"]
    assert [file.path.rpartition("/")[2] for file in corpus.files] == ["a.jsonl"]
    assert len(open_corpus(place, form="jsonl").files) == 3
    assert open_corpus(place, ("*.md", "*/x.*")).notices == []


def test_the_first_unknown_file_that_is_not_excluded_is_named(tmp_path: Path) -> None:
    write_unknown(tmp_path)
    with pytest.raises(InputError, match=r"formats: 1, the first is .*/x\.rst; --skip-unknown"):
        open_corpus(str(tmp_path), ("*.md",))


def test_files_are_known_by_the_names_that_c4_and_dolma_give_them(tmp_path: Path) -> None:
    content = jsonl(["a", "b"])
    for name in ("c4-train.00000-of-01024.json.gz", "c.json", "d.jsonl.zstd"):
        pack = PACK.get(Path(name).suffix.replace("zstd", "zst"), bytes)
        (tmp_path / name).write_bytes(pack(content))
    assert read_documents(tmp_path)[:2] == (["a", "b"] * 3, [1, 2] * 3)


FORMS = r"expected JSON lines \(\.jsonl\), Parquet \(\.parquet\) or text \(\.txt\)"


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        pytest.param("nothing", f"scan:.*nothing: no such file or folder; {FORMS}$", id="nothing"),
        pytest.param("empty", f"no file there; {FORMS}$", id="an empty folder"),
        pytest.param("empty/*.jsonl", f"no file there; {FORMS}$", id="a glob of nothing"),
        pytest.param(
            "documents",
            f"contains no file of a known format; {FORMS}, or --input-",
            id="a folder of unknown formats",
        ),
        pytest.param(
            "documents/a.docx", r"a\.docx: unknown format: \.docx; --input-form", id="one of them"
        ),
        pytest.param(
            "t.xlsx", r"t\.xlsx: an Excel sheet is not read; save it as CSV", id="an Excel sheet"
        ),
        pytest.param("documents/a.docs", r"did you mean .*/[ab]\.docx\?$", id="a wrong letter"),
    ],
)
def test_a_place_without_a_corpus_is_refused(tmp_path: Path, place: str, problem: str) -> None:
    for folder in ("empty", "documents"):
        (tmp_path / folder).mkdir()
    for name in ("documents/a.docx", "documents/b.docx", "t.xlsx"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InputError, match=problem):
        open_corpus(str(tmp_path / place))


def test_excluded_files_are_left_out_unless_they_are_all(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.docx"):
        (tmp_path / name).write_bytes(jsonl([name]))
    (file,) = open_corpus(str(tmp_path), ("*/b.jsonl", "*.docx")).files
    assert file.path == f"{tmp_path}/a.jsonl"
    with pytest.raises(InputError, match="every file is excluded"):
        open_corpus(str(tmp_path), ("*.jsonl", "*.docx"))


def test_a_file_that_is_gone_when_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl(["a"]))
    (piece,) = open_corpus(str(path)).pieces()
    path.unlink()
    with pytest.raises(CorpusError, match=r"a\.jsonl: No such file"):
        list(read_piece(piece, ReadOptions()))


ORDERED = ["a-b/2.jsonl", "a.jsonl", "a/1.jsonl", "c.txt"]
"""As strings are sorted, which is what the original tools do: `-` before `.` before `/`."""


def write_ordered(folder: Path) -> None:
    for name in (*ORDERED, ".hidden/3.jsonl", "a/.4.jsonl"):
        (folder / name).parent.mkdir(exist_ok=True)
        content = jsonl([name]) if name.endswith("jsonl") else name.encode()
        (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        pytest.param("", ORDERED, id="a folder"),
        pytest.param("*/*.jsonl", ["a-b/2.jsonl", "a/1.jsonl"], id="a glob"),
        pytest.param("**/*.jsonl", ORDERED[:3], id="a glob of all below"),
    ],
)
def test_files_are_read_in_the_order_of_whole_paths(
    tmp_path: Path, pattern: str, expected: list[str]
) -> None:
    write_ordered(tmp_path)
    assert read_documents(tmp_path / pattern).texts == expected


@pytest.mark.parametrize("end", ["", "/"])
def test_files_on_a_store_have_the_same_order(tmp_path: Path, end: str) -> None:
    write_ordered(tmp_path)
    store = f"memory://{tmp_path.name}"
    fsspec.filesystem("memory").put(str(tmp_path), store, recursive=True)
    paths = [file.path.partition(f"{tmp_path.name}/")[2] for file in open_corpus(store + end).files]
    assert paths == ORDERED


def test_a_file_that_shrinks_after_it_was_found_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(jsonl(["a", "b", "c"]))
    corpus = open_corpus(str(path))
    path.write_bytes(jsonl(["a", "b"]))
    with pytest.raises(CorpusError, match=r"c\.jsonl: changed since it was found"):
        list(read_piece(corpus.pieces()[0], ReadOptions()))
    without_status = Piece(replace(corpus.files[0], path=f"file://{path}", status=""))
    with pytest.raises(CorpusError, match=r"c\.jsonl:3: the file is truncated or changed: \d+ of"):
        list(read_piece(without_status, ReadOptions()))
