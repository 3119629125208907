"""Building an index: the files of the original tools, every format, and nothing by halves."""

import errno
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import ngramscan.index_files.fm9.shard as shard_module
from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.errors import CorpusError, InputError
from ngramscan.index_files.fm9.build import BuildOptions, BuildRow, build_index
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.progress import SILENT
from tests.support import corpus_files
from tests.support.fm9_reference import Shard
from tests.support.fm9_shards import DOCUMENTS
from tests.support.places import FM9, REPLAY

D5 = FM9 / "d5" / "docs.jsonl"


def build(
    corpus: Path | str, out: Path, shard_bytes: int = 10**6, workers: int = 1, **read: Any
) -> list[BuildRow]:
    opened = open_corpus(str(corpus))
    options = BuildOptions(shard_bytes, workers=workers)
    return build_index(opened, out, SILENT, ReadOptions(**read), options)


def documents(index: Path) -> list[tuple[str, dict[str, object]]]:
    """Read all documents of a shard back, with the slow reader."""
    shard = Shard(str(index))
    found = []
    for number in range(shard.ndocs):
        start, stop = shard.bounds(shard.data_off, number, shard.data.n)
        first, last = shard.bounds(shard.meta_off, number, shard.meta.n)
        text = shard.data.extract(start + 1, stop).decode()
        found.append((text, json.loads(shard.meta.extract(first, last - 1))))
    shard.close()
    return found


def same_files(ours: Path, theirs: Path) -> None:
    assert sorted(file.name for file in ours.iterdir()) == sorted([*FILES, "manifest.json"])
    (entry,) = json.loads((ours / "manifest.json").read_text())["shards"]
    for name in FILES:
        content = (theirs / name).read_bytes()
        assert (ours / name).read_bytes() == content, name
        sha256 = hashlib.sha256(content).hexdigest()
        assert entry["files"][name] == {"bytes": len(content), "sha256": sha256}


def original(name: str, folder: Path) -> Path:
    """Return the documents of an index of the original tools under the name that it has there."""
    return Path(shutil.copy(FM9 / name / "docs.jsonl", folder / "a.jsonl"))


@pytest.mark.parametrize("name", ["d1", "d5", "dempty", "dlit"])
def test_an_index_of_the_original_tools_is_reproduced(name: str, tmp_path: Path) -> None:
    build(original(name, tmp_path), tmp_path / "index")
    same_files(tmp_path / "index", FM9 / name / "index")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "index"]


def test_the_recorded_indexes_are_reproduced_and_described(tmp_path: Path) -> None:
    docs, theirs = REPLAY / "docs", REPLAY / "index"
    (alone,) = build(docs, tmp_path / "one")
    same_files(tmp_path / "one", theirs / "replay")
    # The text of a.jsonl, with separators and the end, fills the first shard to the last byte.
    two = build(docs, tmp_path / "two", shard_bytes=196_518, workers=2)
    same_files(tmp_path / "two" / "0", theirs / "replay2" / "0")
    same_files(tmp_path / "two" / "1", theirs / "replay2" / "1")
    names = sorted(path.name for path in (tmp_path / "two").iterdir())
    assert names == ["0", "1", "manifest.json"]
    index_bytes = sum((theirs / "replay" / name).stat().st_size for name in FILES)
    text_bytes = sum(len(text.encode()) for text in DOCUMENTS)
    assert [(row.shard, row.documents) for row in two] == [(0, 141), (1, 116)]
    assert sum(row.bytes for row in two) == text_bytes
    assert (alone.shard, alone.documents, alone.bytes) == (0, 257, text_bytes)
    assert alone.index_bytes == index_bytes
    assert alone.ratio == pytest.approx(index_bytes / text_bytes, abs=5e-4)
    assert alone.seconds is not None
    assert alone.seconds > 0


TEXTS = ["", "one text", "größer 笔记 😀", "a\nb\n", "x" * 300, "\0\t", "last"]


@pytest.mark.parametrize("name", sorted(corpus_files.WRITERS))
def test_every_format_is_indexed(name: str, tmp_path: Path) -> None:
    corpus_files.write(tmp_path, name, TEXTS)
    build(tmp_path / name, tmp_path / "index")
    read = documents(tmp_path / "index")
    assert [text for text, _ in read] == TEXTS
    urls = [corpus_files.url(number) for number in range(len(TEXTS))]
    fields: list[dict[str, object]] = [{"source": url} for url in urls]
    if "jsonl" in name:
        fields = [{"id": number, "url": url} for number, url in enumerate(urls)]
    assert [row for _, row in read] == [
        {"path": name, "linenum": number, "metadata": metadata}
        for number, metadata in enumerate(fields)
    ]
    assert list(read[0][1]) == ["path", "linenum", "metadata"]


@pytest.mark.parametrize("pattern", ["c", "c/**/*.txt"], ids=["a folder", "a glob"])
def test_paths_are_relative_to_the_folder_and_sorted(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "c" / "deep").mkdir(parents=True)
    (tmp_path / "c" / "deep" / "z.txt").write_text("first")
    (tmp_path / "c" / "other.txt").write_text("second")
    build(tmp_path / pattern, tmp_path / "index")
    read = documents(tmp_path / "index")
    expected = [("first", "deep/z.txt"), ("second", "other.txt")]
    assert [(text, row["path"]) for text, row in read] == expected
    assert read[0][1]["metadata"] == {}


def test_no_document_spans_shards_and_none_is_lost(tmp_path: Path) -> None:
    texts = [f"{n} " * (n % 50 + 1) for n in range(300)]
    (tmp_path / "c.jsonl").write_bytes(corpus_files.jsonl(texts))
    built = build(tmp_path / "c.jsonl", tmp_path / "index", 7_000)
    assert len(built) > 3
    read = [documents(tmp_path / "index" / str(shard.shard)) for shard in built]
    assert [text for shard in read for text, _ in shard] == texts
    assert [row["linenum"] for shard in read for _, row in shard] == list(range(300))
    sizes = {path: np.fromfile(path, "<u8", 1)[0] for path in tmp_path.glob("index/*/*.fm9")}
    assert len(sizes) == 2 * len(built)
    assert {path: size for path, size in sizes.items() if size > 7_000} == {}


def test_empty_lines_count_and_excluded_documents_are_left_out(tmp_path: Path) -> None:
    rows = [{"text": "a", "id": "x1"}, None, {"id": "y", "text": "b"}, {"text": "c", "id": "x2"}]
    lines = "".join(json.dumps(row) + "\n" if row else "\n" for row in rows)
    (tmp_path / "c.jsonl").write_text(lines + "not JSON\n")
    options: dict[str, Any] = {"skip_bad_lines": True, "exclude_sources": ("y",)}
    built = build(tmp_path / "c.jsonl", tmp_path / "index", **options)
    read = documents(tmp_path / "index")
    assert [(text, row["linenum"]) for text, row in read] == [("a", 0), ("c", 3)]
    assert (built[0].documents, built[0].bytes) == (2, 2)


# Refusals


def test_a_document_that_can_not_be_indexed_is_named(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(corpus_files.jsonl(["small", "x" * 500]))
    with pytest.raises(CorpusError, match=r"c\.jsonl:2: the document does not fit .*500 bytes"):
        build(tmp_path / "c.jsonl", tmp_path / "index", 400)
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]
    good = corpus_files.warc_record(1, "good")
    bad = corpus_files.warc_record(2, "baad").replace(b"baad", b"b\xff\xfad")
    (tmp_path / "c.warc.wet").write_bytes(corpus_files.WARC_INFO + good + bad)
    with pytest.raises(CorpusError, match=r"c\.warc\.wet: record 2: not UTF-8 at byte 1"):
        build(tmp_path / "c.warc.wet", tmp_path / "index")


@pytest.mark.parametrize(
    ("out", "options", "words"),
    [
        pytest.param("full", {"shard_bytes": 100_000}, "not empty", id="a full folder"),
        pytest.param("file", {}, "it is a file", id="a file"),
        pytest.param("no/index", {}, "no such folder", id="a folder in none"),
        pytest.param("index", {"workers": 0}, "--workers 0", id="no workers"),
        pytest.param("index", {"shard_bytes": 0}, "--shard-size 0", id="empty shards"),
        pytest.param("index", {"shard_bytes": 1 << 40}, f"--shard-size {1 << 40}", id="1 TiB"),
        pytest.param("index", {"shard_bytes": 10**15}, f"--shard-size {10**15}", id="1 PB"),
    ],
)
def test_what_can_not_be_built_is_refused(
    out: str, options: dict[str, int], words: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").touch()
    with pytest.raises(InputError, match=words):
        build(D5, tmp_path / out, **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]


def test_a_corpus_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("\n")
    with pytest.raises(InputError, match="no document"):
        build(tmp_path / "c.jsonl", tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["c.jsonl"]


def test_an_empty_folder_is_taken_for_an_index(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert [row.documents for row in build(D5, tmp_path / "empty")] == [5]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        pytest.param(
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
            "no space left on device",
            id="a full disk",
        ),
        pytest.param(
            MemoryError(),
            "not enough memory: 192 B for 37 B of text; a smaller --shard-size",
            id="short memory",
        ),
    ],
)
def test_a_full_disk_and_short_memory_are_reported_with_the_file(
    error: Exception, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = original("d5", tmp_path)
    with monkeypatch.context() as context:
        context.setattr(shard_module, "write_fm9", Mock(side_effect=error))
        with pytest.raises(InputError, match=rf"data\.fm9.*{words}") as caught:
            build(corpus, tmp_path / "index")
    notes = "".join(getattr(caught.value, "__notes__", ""))
    assert notes.endswith("run the same command again") == isinstance(error, OSError)
    assert [path.name for path in (tmp_path / "index").iterdir()] == ["plan.json"]
    build(corpus, tmp_path / "index")
    same_files(tmp_path / "index", FM9 / "d5" / "index")
