"""Arrow files and saved datasets as corpora."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import ngramscan
from ngramscan.corpora import open_corpus
from ngramscan.errors import CorpusError
from tests.support.command import invoke
from tests.support.corpus_documents import texts_of


def write_stream(path: Path, texts: list[str], rows: int = 2) -> None:
    table = pa.table({"text": texts, "id": range(len(texts))})
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table, max_chunksize=rows)


def test_a_truncated_arrow_stream_is_an_error_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "c.arrow"
    write_stream(path, ["one", "two", "three", "four"])
    content = path.read_bytes()
    assert texts_of(path) == ["one", "two", "three", "four"]
    for length in range(0, len(content), 8):
        path.write_bytes(content[:length])
        with pytest.raises(CorpusError, match="truncated"):
            texts_of(path)


def test_a_truncated_arrow_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "c.arrow"
    table = pa.table({"text": ["one", "two"]})
    with pa.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)
    content = path.read_bytes()
    assert texts_of(path) == ["one", "two"]
    for length in (len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(CorpusError, match="truncated"):
            texts_of(path)


def save_dataset(folder: Path, texts: list[str]) -> None:
    """Write what `datasets.save_to_disk` leaves: rows in two files, and what describes them."""
    half = len(texts) // 2
    names = ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    for name, part in zip(names, (texts[:half], texts[half:]), strict=True):
        write_stream(folder / name, part)
    state = {"_data_files": [{"filename": name} for name in names], "_split": "train"}
    (folder / "state.json").write_text(json.dumps(state, indent=2))
    (folder / "dataset_info.json").write_text('{\n  "features": {}\n}')


def test_a_saved_dataset_is_a_corpus(tmp_path: Path) -> None:
    save_dataset(tmp_path / "one", ["step by step", "b", "c", "step by step"])
    assert open_corpus(str(tmp_path / "one")).notices == []
    rows = ngramscan.count(literal="step by step", index=f"scan:{tmp_path / 'one'}")
    assert (rows["occurrences"].tolist(), rows["documents"].tolist()) == ([2], [2])


def test_saved_splits_are_a_corpus_without_what_computations_left(tmp_path: Path) -> None:
    for split in ("train", "test"):
        save_dataset(tmp_path / split, ["a", "b"])
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    write_stream(tmp_path / "train" / "cache-0123456789abcdef.arrow", ["mapped"])
    assert texts_of(tmp_path) == ["a", "b"] * 2
    (notice,) = open_corpus(str(tmp_path)).notices
    assert "cache files of datasets left out: 1, the first is" in notice


def test_files_named_like_those_of_a_dataset_are_read_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"text": "a"}')
    assert texts_of(tmp_path) == ["a"]


def test_arrow_can_not_come_through_a_pipe(tmp_path: Path) -> None:
    write_stream(tmp_path / "c.arrow", ["one"])
    with (tmp_path / "c.arrow").open("rb") as file:
        content = file.read()
    done = invoke("count", "-e", "a", "--index", "scan:-", content=content)
    assert (done.code, "Arrow can't be read from a pipe" in done.stderr) == (2, True)


def test_a_file_of_another_format_than_its_name_says_is_named(tmp_path: Path) -> None:
    write_stream(tmp_path / "c.jsonl", ["one"])
    with pytest.raises(CorpusError, match="it is Arrow, not JSON; give it with --input-format arr"):
        texts_of(tmp_path / "c.jsonl")
    (tmp_path / "c.parquet").write_text('{"text": "a"}\n')
    with pytest.raises(CorpusError, match="it is JSON, not Parquet; give it with --input-format"):
        texts_of(tmp_path / "c.parquet")
    (tmp_path / "c.warc").write_bytes(b"filedesc://x.arc 0.0.0.0 20080101 text/plain 9\n")
    with pytest.raises(CorpusError, match="ARC is not read; warcio converts it to WARC"):
        texts_of(tmp_path / "c.warc")
