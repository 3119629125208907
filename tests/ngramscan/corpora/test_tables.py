"""CSV, TSV, JSON lists, Arrow files and saved datasets as corpora."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ngramscan
from ngramscan.corpora import ReadOptions, open_corpus, read_piece
from ngramscan.errors import CorpusError
from tests.support.command import invoke


def texts_of(path: Path, **options: Any) -> list[str]:
    return [
        bytes(text).decode()
        for piece in open_corpus(str(path)).pieces()
        for batch in read_piece(piece, ReadOptions(**options))
        for text in batch.texts
    ]


@pytest.mark.parametrize(
    ("name", "content", "texts"),
    [
        pytest.param("c.csv", "id,text\n1,one\n2,two\n", ["one", "two"], id="CSV"),
        pytest.param("C.CSV", "id,text\r\n1,one\r\n", ["one"], id="carriage returns"),
        pytest.param("c.tsv", "id\ttext\n1\tone, two\n", ["one, two"], id="TSV"),
        pytest.param("c.csv", 'text\n"a ""b"", c\nd"\n', ['a "b", c\nd'], id="quotes"),
        pytest.param("c.csv", "\ufefftext,id\none,1", ["one"], id="mark, no end of line"),
        pytest.param("c.csv", "text,id\n,1\nNA,2\nnull,3\n", ["", "NA", "null"], id="words"),
        pytest.param("c.csv", "text,id\n\none,1\n\n", ["one"], id="empty lines"),
        pytest.param("c.csv", "text\n" + "x" * 200_000 + "\n", ["x" * 200_000], id="a long cell"),
        pytest.param("c.csv", "text,id\né中😀,1\n" * 1, ["é中😀"], id="more than ASCII"),
    ],
)
def test_the_rows_of_a_table_are_documents(
    tmp_path: Path, name: str, content: str, texts: list[str]
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    assert texts_of(tmp_path / name) == texts


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(b"id,body\n1,a\n", "no column 'text'; it has: id, body", id="no column"),
        pytest.param(b"text;id\na;1\n", "no column 'text'; it has: text;id", id="semicolons"),
        pytest.param(b'text\n"cut', "not a valid table, or truncated", id="open quote"),
        pytest.param(b"text,id\na\n", "row 1: it has 1 cells, and the header", id="short row"),
        pytest.param(b"text\na,b\n", "row 1: it has 2 cells", id="comma in a text"),
        pytest.param(b"text\ncaf\xe9\n", "not UTF-8", id="Latin-1"),
        pytest.param("text\na\n".encode("utf-16"), "it is UTF-16", id="UTF-16"),
        pytest.param("text\na\n".encode("utf-16-be"), "iconv -f UTF-16BE", id="UTF-16BE"),
    ],
)
def test_a_table_that_can_not_be_read_is_refused(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    (tmp_path / "c.csv").write_bytes(content)
    with pytest.raises(CorpusError, match=problem):
        texts_of(tmp_path / "c.csv")


def test_sources_of_a_table_can_be_excluded(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("url,text\nhttp://a/1,one\nhttp://b/1,two\n")
    index = f"scan:{tmp_path / 'c.csv'}"
    rows = ngramscan.count(literal=["one", "two"], index=index, exclude_source="http://b/*")
    assert rows["occurrences"].tolist() == [1, 0]


def test_many_rows_of_a_table_keep_their_numbers(tmp_path: Path) -> None:
    cells = "".join(f'"{number}\nx"\n' for number in range(3000))
    (tmp_path / "c.csv").write_text("text\n" + cells)
    assert texts_of(tmp_path / "c.csv") == [f"{number}\nx" for number in range(3000)]
    rows = ngramscan.contexts(literal="2999", index=f"scan:{tmp_path / 'c.csv'}")
    assert [json.loads(line)["record"] for line in rows["metadata"]] == [3000]


# JSON lists


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('[{"text": "a"}, {"text": "b"}]', id="one line"),
        pytest.param('[{"text": "a"},\n{"text": "b"}\n]\n', id="an object in each line"),
        pytest.param('\n  [\n  {\n "text":\n "a"}, {"text": "b"}]', id="indented"),
        pytest.param('\ufeff[{"text": "a"}, {"text": "b"}]', id="a mark"),
    ],
)
@pytest.mark.parametrize("name", ["c.json", "c.jsonl"])
def test_the_objects_of_a_json_list_are_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str
) -> None:
    monkeypatch.setattr("ngramscan.corpora.jsonl.PART_BYTES", 8)
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert texts_of(tmp_path / name) == ["a", "b"]


def test_a_json_list_has_a_longest_size(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps([{"text": "x" * 1000}]))
    with pytest.raises(CorpusError, match="more than 500 bytes, decompressed; --max-bytes N"):
        texts_of(tmp_path / "c.json", most_text_bytes=500)


def test_bad_items_of_a_json_list_are_skipped_where_bad_lines_are(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('[{"text": "a"}, {"body": 1}, 3, {"text": "b"}]')
    assert texts_of(tmp_path / "c.json", skip_bad_lines=True) == ["a", "b"]
    with pytest.raises(CorpusError, match="item 2: no field 'text'; it has: body"):
        texts_of(tmp_path / "c.json")


# Arrow


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
