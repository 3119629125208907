"""JSON lines and JSON lists as corpora, good and bad."""

import gzip
import json
import math
from pathlib import Path
from random import Random

import pytest

import ngramscan
from ngramscan.corpora import ReadOptions, open_corpus, read_piece, records_before, split
from ngramscan.corpora import jsonl as jsonl_module
from ngramscan.corpora import lines as lines_module
from ngramscan.corpora.base import CorpusFile
from ngramscan.errors import CorpusError
from tests.support.corpus_documents import read_documents, texts_of
from tests.support.corpus_files import PACK


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
            b'[{"text": "a"}, {"text": 3}]',
            ": item 2: field 'text' is int; expected a string;"
            " --skip-bad-lines leaves out such items$",
            id="a wrong item",
        ),
        pytest.param(
            b'[{"text": "a"}, {"text": null}]',
            r": item 2: field 'text' is null; expected a string \(see --skip-null\)$",
            id="an item without a text",
        ),
        pytest.param(
            b' [\n{"text": "a"},\n{"text": "b"}\n',
            ": not a valid JSON list, or truncated: ",
            id="a truncated list",
        ),
        pytest.param(
            b'{\n  "name": "C4"\n}\n',
            ".*not valid JSON: [^;]*; --exclude-source leaves out a file that is not part of a"
            " corpus$",
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


@pytest.mark.parametrize("suffix", PACK)
def test_large_files_are_read_in_batches_without_loss(tmp_path: Path, suffix: str) -> None:
    random = Random(1)  # what compresses well would be a single batch
    texts = ["é" + random.randbytes(random.randrange(2000)).hex() for _ in range(2000)]
    path = tmp_path / f"c.jsonl{suffix}"
    path.write_bytes(PACK[suffix](lines(*({"text": text} for text in texts))))
    (piece,) = open_corpus(str(path)).pieces()
    batches = list(read_piece(piece, ReadOptions()))
    assert len(batches) > 3
    assert [bytes(text).decode() for batch in batches for text in batch.texts] == texts
    assert [number for batch in batches for number in batch.records] == list(range(1, 2001))
    assert sum(batch.consumed for batch in batches) == path.stat().st_size


@pytest.mark.parametrize("part_bytes", [40, 300, 10**6])
@pytest.mark.parametrize("chunk_bytes", [1, 2, 7, 1 << 18])
def test_lines_end_as_in_pythons_text_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int, part_bytes: int
) -> None:
    random = Random(chunk_bytes)
    texts = [f"{number}" + random.choice(["", "\r\n", "é"]) for number in range(60)]
    ends = random.choices(["\n", "\r", "\r\n", "\n\r", "\r\r\n"], k=60)
    path = tmp_path / "c.jsonl"
    content = "".join(json.dumps({"text": t}) + end for t, end in zip(texts, ends, strict=True))
    path.write_text(content, newline="")
    with path.open(encoding="utf-8") as file:  # as the original tools open it
        expected = [(json.loads(row)["text"], n) for n, row in enumerate(file, 1) if row.strip()]
    monkeypatch.setattr(lines_module, "_CHUNK_BYTES", chunk_bytes)
    monkeypatch.setattr(jsonl_module, "PART_BYTES", part_bytes)
    pieces = open_corpus(str(path)).pieces()
    reported: list[int] = []
    found = [
        (bytes(text).decode(), before + number)
        for piece, before in zip(pieces, records_before(pieces, reported.append), strict=True)
        for batch in read_piece(piece, ReadOptions())
        for text, number in zip(batch.texts, batch.records, strict=True)
    ]
    assert found == expected
    assert sum(reported) == pieces[-1].start


@pytest.mark.parametrize("part_bytes", [37, 100, 1000, 10**4])
def test_parts_of_plain_json_lines_are_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part_bytes: int
) -> None:
    texts = [f"{n} " + "x" * (n * 37 % 400) for n in range(300)]
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines(*({"text": text} for text in texts)))
    monkeypatch.setattr(jsonl_module, "PART_BYTES", part_bytes)
    monkeypatch.setattr(lines_module, "_CHUNK_BYTES", 90)
    pieces = open_corpus(str(path)).pieces()
    size = path.stat().st_size
    assert len(pieces) == math.ceil(size / part_bytes)
    assert sum(piece.size or 0 for piece in pieces) == size
    assert texts_of(path) == texts


@pytest.mark.parametrize(
    ("bad", "mark"),
    [
        pytest.param(0, b"", id="the first line"),
        # A byte order mark is skipped at the start of a file, not at the start of a part.
        pytest.param(1, b"\xef\xbb\xbf", id="a mark in the second line"),
        pytest.param(17, b"\xef\xbb\xbf", id="a mark in a later part"),
        pytest.param(49, b"", id="the last line"),
    ],
)
def test_an_error_in_a_part_names_the_line_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: int, mark: bytes
) -> None:
    monkeypatch.setattr(jsonl_module, "PART_BYTES", 100)
    rows = lines(*({"text": str(number)} for number in range(50))).split(b"\n")
    rows[bad] = mark + b"{broken"
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\n".join(rows))
    with pytest.raises(CorpusError, match=rf"c\.jsonl:{bad + 1}: not valid JSON"):
        texts_of(path)


@pytest.mark.parametrize(
    ("path", "size", "parts"),
    [
        pytest.param("a.jsonl", 10, 1, id="small"),
        pytest.param("a.jsonl.gz", 10**12, 1, id="compressed"),
        pytest.param("https://h/a.jsonl", 10**12, 1, id="on a server"),
    ],
)
def test_compressed_and_small_files_are_not_split(path: str, size: int, parts: int) -> None:
    assert len(split(CorpusFile(path, "jsonl", size))) == parts


BAD_LINES = [
    pytest.param(b"{broken", "not valid JSON", id="broken"),
    pytest.param(b"x", "not valid JSON", id="a word"),
    pytest.param(b"}", "not valid JSON", id="a brace"),
    pytest.param(b'["a"]', "not a JSON object", id="a list"),
    pytest.param(b'"a"', "not a JSON object", id="a string"),
    pytest.param(b'{"text": "\xff"}', "not UTF-8", id="Latin-1"),
    pytest.param(b'{"body": "no text"}', "without field 'text'", id="no field"),
    pytest.param(b'{"text": null}', "null", id="null"),
    pytest.param(b'{"text": 1}', "not a string", id="a number"),
    pytest.param(b'{"text": "\\ud800"}', "with a lone surrogate", id="a lone surrogate"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_LINES)
def test_malformed_lines_are_skipped_on_request_and_counted(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    path = tmp_path / "c.jsonl"
    good = lines({"text": "first"}, {"text": "second"})
    path.write_bytes(line + b"\n" + good + line + b"\n\n")
    found = read_documents(path, skip_bad_lines=True)
    assert found == (["first", "second"], [2, 3], {reason: 2})


@pytest.mark.parametrize(("line", "reason"), BAD_LINES)
def test_malformed_lines_are_errors_otherwise(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines({"text": "first"}, {"text": "second"}) + line)
    cure = "; --skip-bad-lines leaves out such lines"
    if reason == "null":
        cure = r" \(see --skip-null\)"
    with pytest.raises(CorpusError, match=rf"c\.jsonl:3: .*{cure}$"):
        read_documents(path)


def test_skipped_lines_are_said_in_rows(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines({"text": "step"}, 3, 4) + b"{broken\n")
    (row,) = ngramscan.count(literal="step", index=f"scan:{path}", skip_bad_lines=True).itertuples()
    assert (row.occurrences, row.note) == (1, "skipped: 2 not a JSON object, 1 not valid JSON")
