"""JSON lines and JSON lists as corpora, good and bad."""

import gzip
import json
from pathlib import Path

import pytest

from ngramscan.errors import CorpusError
from tests.support.corpus_documents import read_documents, texts_of


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_what_json_lines_may_be(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf"
        + lines({"text": "after a mark"})
        + b"\n  \r\n"
        + b'{"text": "first", "text": "last of two keys"}\r\n'
        + b'{"score": NaN, "text": "beside NaN"}\n'
        + b'{"text": ""}\n'
        + b'{"text": "a\\u0000b\\u2028"}\n'
        + b'{"text": "no newline at the end"}'
    )
    texts = ["after a mark", "last of two keys", "beside NaN", "", "a\0b\u2028"]
    assert read_documents(path)[:2] == ([*texts, "no newline at the end"], [1, 4, 5, 6, 7, 8])
    path.write_bytes(b'\xef\xbb\xbf{"body": "a single line", "text": 3}')
    assert read_documents(path, text_field="body")[:2] == (["a single line"], [1])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param('{"text": "a', "not valid JSON: Unterminated string", id="cut"),
        pytest.param("text", "not valid JSON: Expecting value", id="not valid JSON"),
        pytest.param('["a"]', "not a JSON object; expected one with the text", id="a list"),
        pytest.param('"text"', "not a JSON object", id="a string"),
        pytest.param('{"body": "a", "id": 1}', "no field 'text'; it has: body, id", id="no field"),
        pytest.param("{}", "no field 'text'; it has: none", id="no field at all"),
        pytest.param('{"text": null}', "field 'text' is null; expected a string", id="null"),
        pytest.param('{"text": 12}', "field 'text' is int; expected a string", id="a number"),
        pytest.param(
            '{"text": ["a", 2]}',
            "field 'text' is int; expected a string",
            id="a list of more than strings",
        ),
        pytest.param('{"text": "a\\ud800"}', "a lone surrogate at character 1", id="surrogate"),
        pytest.param('{"text": "\udce9"}', "not UTF-8 at byte 10 of the line", id="Latin-1"),
        pytest.param('{"a": ' * 100_000, "not valid JSON: ", id="long 0"),
    ],
)
def test_a_line_that_can_not_be_read_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "c.jsonl"
    raw = line.encode(errors="surrogateescape")
    path.write_bytes(lines({"text": "a"}, {"text": "b"}) + raw + b"\n" + lines({"text": "c"}))
    with pytest.raises(CorpusError) as error:
        read_documents(path)
    assert str(error.value).startswith(f"{path}:3: ")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(
            b'[{"text": "a"}, {"text": 3}]', ": item 2: field 'text' is int", id="a wrong item"
        ),
        pytest.param(
            b' [\n{"text": "a"},\n{"text": "b"}\n',
            ": not a valid JSON list, or truncated: ",
            id="a truncated list",
        ),
        pytest.param(
            b'{\n  "name": "C4"\n}\n',
            ".*not valid JSON: .*; --exclude-source leaves out a file",
            id="an object over several lines",
        ),
    ],
)
def test_json_that_is_not_json_lines_is_told(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "c.json.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(CorpusError, match=rf"c\.json\.gz{problem}"):
        read_documents(path)


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
