"""Copies of whole corpora: every format and compression, every refusal, and no file halfway."""

import gzip
import json
import os
import resource
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscan.corpora import Corpus, PythonCorpus, ReadOptions, identified, open_corpus
from ngramscan.corpora.base import CorpusFile
from ngramscan.corpora.folders import MANIFEST
from ngramscan.corpora.rewriting import (
    WHOLE_RECORD,
    Removal,
    WrittenFile,
    refuse_unwritable,
    write_without,
)
from ngramscan.errors import CorpusError, InputError, NgramscanError
from ngramscan.reading.streams import read_bytes
from tests.support import corpus_files
from tests.support.corpus_documents import read_documents, texts_of
from tests.support.packers import PACKERS
from tests.support.range_server import RangeServer
from tests.support.resource_limits import limited

TEXTS = [f"document {number} with some words é" for number in range(9)]
LINES = corpus_files.jsonl(TEXTS).splitlines(keepends=True)

RemovalsByPath = Mapping[Path, Mapping[int, Removal]]


def write(corpus: Corpus | Path, folder: Path, removals: RemovalsByPath) -> list[WrittenFile]:
    opened = corpus if isinstance(corpus, Corpus) else open_corpus(str(corpus))
    by_path = {str(path): records for path, records in removals.items()}
    return write_without(opened, folder, by_path, ReadOptions())


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in a folder but the manifest, by name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    contents = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    contents.pop(MANIFEST, None)
    return contents


@pytest.mark.parametrize("suffix", ["", *PACKERS])
def test_lines_stay_equal_in_every_compression(tmp_path: Path, suffix: str) -> None:
    pack = PACKERS.get(suffix, bytes)
    path = tmp_path / "corpus" / f"c.jsonl{suffix}"
    path.parent.mkdir()
    # Of two members, as several programs write them.
    path.write_bytes(pack(b"".join(LINES[:4])) + pack(b"".join(LINES[4:])))
    removals = {path: {1: WHOLE_RECORD, 5: Removal(((0, 9),)), 9: WHOLE_RECORD}}
    (done,) = write(path.parent, tmp_path / "a", removals)
    (copy,) = ((tmp_path / "a" / path.name),)
    assert (done.name, done.change, done.size) == (path.name, "rewritten", copy.stat().st_size)
    lines = read_bytes(copy).splitlines(keepends=True)
    assert lines == [*LINES[1:4], LINES[4].replace(b"document ", b""), *LINES[5:8]]
    assert texts_of(tmp_path / "a") == [*TEXTS[1:4], "4 with some words é", *TEXTS[5:8]]
    assert copy.read_bytes()[:2] == path.read_bytes()[:2]
    write(path.parent, tmp_path / "b", removals)
    assert files_below(tmp_path / "a") == files_below(tmp_path / "b")


def test_the_content_and_not_the_name_says_the_compression(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(gzip.compress(b"".join(LINES)))
    write(path, tmp_path / "a", {path: {2: WHOLE_RECORD}})
    content = (tmp_path / "a" / "c.jsonl").read_bytes()
    assert gzip.decompress(content) == b"".join([LINES[0], *LINES[2:]])
    assert content[4:8] == bytes(4)  # the time in the header


def test_records_are_those_that_readers_number(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.jsonl").write_bytes(b"\xef\xbb\xbf\r\n" + b"\r\r\n".join(LINES))
    (corpus / "b.csv").write_text("text\n\n" + "".join(f'"{text}\n"\n\n' for text in TEXTS))
    pq.write_table(pa.table({"text": TEXTS}), corpus / "c.parquet", row_group_size=4)
    (corpus / "d.json").write_text(json.dumps([{"text": text} for text in TEXTS]))
    for path in sorted(corpus.iterdir()):
        before = read_documents(path)
        for number, record in enumerate(before.records):
            folder = tmp_path / f"{path.name}-{number}"
            write(path, folder, {path: {record: WHOLE_RECORD}})
            after = texts_of(folder / path.name)
            assert after == [*before.texts[:number], *before.texts[number + 1 :]]


def test_files_without_removals_are_the_same_and_texts_leave(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    (corpus / "sub" / "deep").mkdir(parents=True)
    same = {"a.jsonl": b"".join(LINES), "sub/w.wet": corpus_files.wet(TEXTS), "sub/e.jsonl": b""}
    texts = {
        "sub/x.txt": "ééab".encode(),
        "sub/deep/y.txt": b"gone",
        "z.txt.gz": gzip.compress(b"zz"),
    }
    for name, content in {**same, **texts}.items():
        (corpus / name).write_bytes(content)
        os.utime(corpus / name, ns=(10**18 + 7, 10**18 + 7))
        (corpus / name).chmod(0o640)
    removals = {
        corpus / "sub" / "x.txt": {1: Removal(((1, 3),))},
        corpus / "sub" / "deep" / "y.txt": {1: WHOLE_RECORD},
        corpus / "a.jsonl": {},
    }
    done = write(corpus, tmp_path / "clean", removals)
    expected = {**same, "sub/x.txt": "éb".encode(), "z.txt.gz": texts["z.txt.gz"]}
    assert files_below(tmp_path / "clean") == expected
    status = (tmp_path / "clean" / "a.jsonl").stat()
    assert (status.st_mtime_ns, status.st_nlink) == (10**18 + 7, 1)
    assert (tmp_path / "clean" / "sub" / "x.txt").stat().st_mode & 0o777 == 0o640
    assert {file.name: file.change for file in done} == {
        **dict.fromkeys([*same, "z.txt.gz"], "copied"),
        "sub/x.txt": "rewritten",
        "sub/deep/y.txt": "left out",
    }
    assert {file.name: file.size for file in done if file.size is None} == {"sub/deep/y.txt": None}
    assert [file.file.path for file in done] == [str(corpus / file.name) for file in done]
    # The manifest is no part of the corpus, and no notice is about it.
    assert not open_corpus(str(tmp_path / "clean")).notices


# Refusals


def refusal(
    corpus: Corpus | Path,
    folder: Path,
    removals: RemovalsByPath | None = None,
    kind: type[NgramscanError] = InputError,
) -> str:
    """Return why a copy is refused, in one line; its folder has no file of a corpus then."""
    before = files_below(folder) if folder.is_dir() else {}
    with pytest.raises(kind) as caught:
        write(corpus, folder, removals or {})
    assert "\n" not in str(caught.value)
    assert (files_below(folder) if folder.is_dir() else {}) == before
    return str(caught.value)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder with a corpus of one file."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "c.jsonl").write_bytes(b"".join(LINES))
    return folder


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param(
            "w.arrow", b"ARROW1", "Arrow can't be written without some documents; write", id="Arrow"
        ),
        pytest.param("p.parquet", b"PAR1", "not a Parquet file, or truncated", id="another format"),
    ],
)  # fmt: skip
def test_formats_that_can_not_be_written_are_refused_at_first(
    tmp_path: Path, corpus: Path, name: str, content: bytes, message: str
) -> None:
    path = corpus / name
    path.write_bytes(content)
    removals = {corpus / "c.jsonl": {1: WHOLE_RECORD}, path: {1: WHOLE_RECORD}}
    assert f"{path}: {message}" in refusal(corpus, tmp_path / "clean", removals)
    assert not (tmp_path / "clean").exists()
    with pytest.raises(InputError, match=message):
        refuse_unwritable(open_corpus(str(corpus)).files, ReadOptions())


def test_passages_of_warc_are_refused_at_first(tmp_path: Path, corpus: Path) -> None:
    path = corpus / "w.wet"
    path.write_bytes(corpus_files.wet(TEXTS))
    removals = {corpus / "c.jsonl": {1: WHOLE_RECORD}, path: {1: Removal(((0, 1),))}}
    message = "w.wet: passages of WARC can't be cut, as a record says its length and digest; remove"
    assert message in refusal(corpus, tmp_path / "clean", removals)
    files = open_corpus(str(corpus)).files
    with pytest.raises(InputError, match="passages of WARC can't be cut"):
        refuse_unwritable(files, ReadOptions(), cuts=True)
    refuse_unwritable(files, ReadOptions())


def test_pipes_and_the_running_python_are_refused(tmp_path: Path) -> None:
    pipe = CorpusFile("standard input", "jsonl", stream=iter([]))
    with pytest.raises(InputError, match="standard input: a pipe can't be read again to copy it"):
        refuse_unwritable([pipe], ReadOptions())
    assert "a pipe can't" in refusal(Corpus("scan:-", [pipe]), tmp_path / "clean")
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "m.py").write_text("x = 1\n")
    with pytest.raises(InputError, match=r"m\.py: Python can't be written without some documents"):
        refuse_unwritable(PythonCorpus([tmp_path / "python"]).files, ReadOptions())


def test_folders_that_have_something_else_are_refused(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "clean"
    folder.mkdir()
    (folder / "sub").mkdir()
    (folder / "sub" / "notes.txt").write_text("mine")
    assert "it has other files, such as sub/notes.txt" in refusal(corpus, folder)
    (folder / "sub" / "notes.txt").unlink()
    write(corpus, folder, {})
    removals = {corpus / "c.jsonl": {1: WHOLE_RECORD}}
    assert "it has files of another job: the corpus, its" in refusal(corpus, folder, removals)
    (folder / "notes.txt").write_text("mine")
    assert "it has other files, such as notes.txt" in refusal(corpus, folder)
    (folder / "notes.txt").unlink()
    (corpus / "c.jsonl").write_bytes(LINES[0])
    assert "it has files of another job" in refusal(corpus, folder)
    (folder / MANIFEST).write_text("{\n")
    assert f"{MANIFEST}: damaged; name a new or empty folder" in refusal(corpus, folder)
    (tmp_path / "file").write_text("mine")
    assert "file: it is a file; name a new or empty folder" in refusal(corpus, tmp_path / "file")
    missing = tmp_path / "no" / "clean"
    assert refusal(corpus, missing) == f"{missing}: no such folder: {missing.parent}"


def test_a_corpus_and_its_copy_are_not_within_each_other(tmp_path: Path, corpus: Path) -> None:
    assert f"it is in the corpus ({corpus})" in refusal(corpus, corpus / "clean")
    (tmp_path / "link").symlink_to(corpus)
    assert "it is in the corpus" in refusal(corpus, tmp_path / "link" / "clean")
    assert f"the corpus is in it ({corpus})" in refusal(corpus, corpus)
    assert f"the corpus is in it ({corpus})" in refusal(corpus, tmp_path)
    assert "the corpus is in it" in refusal(corpus / "c.jsonl", tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "l.jsonl").write_bytes(LINES[0])
    (corpus / "l.jsonl").symlink_to(tmp_path / "elsewhere" / "l.jsonl")
    assert "the corpus is in it" in refusal(corpus, tmp_path / "elsewhere")
    (corpus / "l.jsonl").unlink()
    deep = corpus / "sub" / "d.jsonl"
    deep.parent.mkdir()
    deep.write_bytes(LINES[0])
    globs = {
        "**/*.jsonl": "would also have the files in it",
        "*/*.jsonl": "would also have the files in it",
    }
    for pattern, message in globs.items():
        assert message in refusal(corpus / pattern, corpus / "clean")
    # A file next to which the copy is: another run reads the same file, and nothing else.
    assert write(corpus / "c.jsonl", corpus / "clean", {})[0].change == "copied"
    assert write(corpus / "*.jsonl", corpus / "other", {})[0].change == "copied"


def test_files_whose_copies_have_no_clear_place_are_refused(tmp_path: Path, corpus: Path) -> None:
    path = corpus / "c.jsonl"
    problem = "not a file of the corpus, so nothing can be removed of it"
    assert refusal(corpus, tmp_path / "a", {Path("x"): {1: WHOLE_RECORD}}) == f"x: {problem}"
    up = CorpusFile(f"{corpus}/../corpus/c.jsonl", "jsonl")
    twice = Corpus("scan:x", [CorpusFile(str(path), "jsonl"), up])
    assert "its path leads up" in refusal(twice, tmp_path / "a")
    same = Corpus("scan:x", [CorpusFile(str(path), "jsonl"), CorpusFile(str(path), "jsonl")])
    assert f"its copy would be that of {path}: c.jsonl" in refusal(same, tmp_path / "a")


def test_files_that_changed_or_lack_a_record_stop_it(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "clean"
    (corpus / "a.jsonl").write_bytes(LINES[0])
    opened = open_corpus(str(corpus))
    path = corpus / "c.jsonl"
    path.write_bytes(path.read_bytes().replace(b"words", b"WORDS"))
    removals = {path: {1: WHOLE_RECORD}}
    with pytest.raises(CorpusError, match=r"c\.jsonl: changed since it was found; run the same"):
        write(opened, folder, removals)
    assert files_below(folder) == {"a.jsonl": LINES[0]}  # which was finished before
    with pytest.raises(CorpusError, match="it has 9 lines, and line 10 was to be removed"):
        write(corpus, tmp_path / "b", {path: {10: WHOLE_RECORD}})
    assert files_below(tmp_path / "b") == {"a.jsonl": LINES[0]}


def test_a_file_that_changes_while_it_is_copied_has_no_copy(tmp_path: Path, corpus: Path) -> None:
    path = corpus / "c.jsonl"

    def change(_amount: int) -> None:
        path.touch()

    changes: list[dict[str, dict[int, Removal]]] = [{}, {str(path): {1: WHOLE_RECORD}}]
    for removals in changes:
        folder = tmp_path / f"clean{len(removals)}"
        with pytest.raises(CorpusError, match="changed since it was found"):
            write_without(open_corpus(str(corpus)), folder, removals, ReadOptions(), change)
        assert files_below(folder) == {}


def test_a_changed_file_stops_it_also_where_it_has_or_gets_no_copy(
    tmp_path: Path, corpus: Path
) -> None:
    path = corpus / "x.txt"
    path.write_text("gone")
    opened = open_corpus(str(corpus))
    write(opened, tmp_path / "a", {})
    for folder, removals in (("a", {}), ("b", {path: {1: WHOLE_RECORD}})):
        path.write_text("kept")
        with pytest.raises(CorpusError, match=r"x\.txt: changed since it was found"):
            write(opened, tmp_path / folder, removals)
    with pytest.raises(CorpusError, match=r"x\.txt: it has 1 document, and document 2 was to be"):
        write(corpus, tmp_path / "c", {path: {1: Removal(((0, 1),)), 2: WHOLE_RECORD}})


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.zst", "c.parquet"])
@pytest.mark.parametrize("is_changed", [True, False], ids=["rewritten", "copied"])
def test_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path, name: str, is_changed: bool) -> None:
    path = tmp_path / "corpus" / name
    path.parent.mkdir()
    corpus_files.write(path.parent, name, [os.urandom(2000).hex() for _ in range(20)])
    removals = {path: {3: WHOLE_RECORD}} if is_changed else {}
    opened = open_corpus(str(path.parent))
    folder = tmp_path / "clean"
    with limited(resource.RLIMIT_FSIZE, 9_000):
        problem = refusal(opened, folder, removals)
    assert problem == f"{folder / name}: can't be written (file too large)"
    assert [each.name for each in folder.iterdir()] == [MANIFEST]
    write(opened, folder, removals)
    assert len(texts_of(folder)) == 20 - is_changed


def test_progress_counts_each_byte_of_the_corpus(tmp_path: Path, corpus: Path) -> None:
    (corpus / "x.txt").write_text("gone")
    (corpus / "b.jsonl.gz").write_bytes(gzip.compress(b"".join(LINES)))
    pq.write_table(pa.table({"text": TEXTS}), corpus / "p.parquet")
    opened = open_corpus(str(corpus))
    removals = {str(path): {1: WHOLE_RECORD} for path in corpus.iterdir()}
    for _ in range(2):  # the second run has nothing to do
        amounts: list[int] = []
        write_without(opened, tmp_path / "clean", removals, ReadOptions(), amounts.append)
        assert sum(amounts) == sum(path.stat().st_size for path in corpus.iterdir())


# Remote corpora


def remote_files(folder: Path) -> dict[str, Path]:
    names = ("c.jsonl.gz", "c.parquet", "same.jsonl")
    for name in names[:2]:
        corpus_files.write(folder, name, TEXTS)
    (folder / names[2]).write_bytes(b"".join(LINES))
    return {name: folder / name for name in names}


def check_remote(location: str, folder: Path, clean: Path) -> Corpus:
    """Copy a remote corpus, and compare with a copy of the same files on disk."""
    remote, local = open_corpus(location), open_corpus(str(folder))
    results = []
    for number, opened in enumerate((remote, local)):
        changed = [file.path for file in opened.files if not file.path.endswith("same.jsonl")]
        removals = {path: {2: WHOLE_RECORD, 4: Removal(((0, 3),))} for path in changed}
        done = write_without(opened, clean / str(number), removals, ReadOptions())
        results.append(
            ({file.name: file.change for file in done}, files_below(clean / str(number)))
        )
    assert results[0] == results[1]
    return remote


def test_files_of_a_web_server_are_copied_like_those_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    remote_files(folder)
    (tmp_path / "clean").mkdir()
    with RangeServer(folder, 0) as server:
        urls = [f"{server.url}{name}" for name in sorted(remote_files(folder))]
        (tmp_path / "list.paths").write_text("\n".join(urls))
        corpus = check_remote(str(tmp_path / "list.paths"), folder, tmp_path / "clean")
        stamped = identified(corpus.files)
        (folder / "c.jsonl.gz").write_bytes(gzip.compress(b"".join(LINES[1:])))
        removals = {stamped[0].path: {2: WHOLE_RECORD}}
        with pytest.raises(CorpusError, match=r"c\.jsonl\.gz: changed since it was found"):
            write_without(replace(corpus, files=stamped), tmp_path / "b", removals, ReadOptions())
    assert files_below(tmp_path / "b") == {}


def test_files_of_a_store_are_copied_like_those_on_disk(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    remote_files(folder)
    (tmp_path / "clean").mkdir()
    store = f"memory://{tmp_path.name}"
    fsspec.filesystem("memory").put(str(folder), store, recursive=True)
    check_remote(store, folder, tmp_path / "clean")


def test_names_that_are_not_utf8_are_copied(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    name = os.fsdecode(b"\xff.jsonl")
    (corpus / name).write_bytes(b"".join(LINES))
    removals = {corpus / name: {1: WHOLE_RECORD}}
    for _ in range(2):
        (done,) = write(corpus, tmp_path / "clean", removals)
        assert (done.name, done.change) == (name, "rewritten")
    assert (tmp_path / "clean" / name).read_bytes() == b"".join(LINES[1:])
