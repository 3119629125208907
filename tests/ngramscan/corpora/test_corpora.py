import gzip
import json
from pathlib import Path

import fsspec
import pytest

from ngramscan.corpora import PythonCorpus, ReadOptions, open_corpus, read_piece
from ngramscan.errors import CorpusError, InputError
from tests.support.corpus_files import PACK


def read_all(path: Path, text_field: str = "text") -> tuple[list[str], list[int]]:
    options = ReadOptions(text_field)
    batches = [b for piece in open_corpus(str(path)).pieces() for b in read_piece(piece, options)]
    texts = [bytes(text).decode() for batch in batches for text in batch.texts]
    return texts, [record for batch in batches for record in batch.records]


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
    assert read_all(path) == ([*texts, "no newline at the end"], [1, 4, 5, 6, 7, 8])
    path.write_bytes(b'\xef\xbb\xbf{"body": "a single line", "text": 3}')
    assert read_all(path, "body") == (["a single line"], [1])


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
        read_all(path)
    assert str(error.value).startswith(f"{path}:3: ")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_of_an_unknown_format_is_an_error_unless_skipped(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name in ("a.jsonl", "sub/readme.md", "sub/x.rst", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(lines({"text": name}))
    fsspec.filesystem("memory").put(str(tmp_path), "/unknown", recursive=True)
    for place in (str(tmp_path), f"{tmp_path}/**", "memory://unknown"):
        with subtests.test(place=place):
            told = r"formats: 2, the first is .*sub/readme\.md; --skip-unknown or --exc"
            with pytest.raises(InputError, match=told):
                open_corpus(place)
            corpus = open_corpus(place, skip_unknown=True)
            assert corpus.notices == [f"scan:{place}: files of unknown formats left out: 2"]
            assert [file.path.rpartition("/")[2] for file in corpus.files] == ["a.jsonl"]
            assert len(open_corpus(place, form="jsonl").files) == 3
            assert open_corpus(place, ("*.md", "*/x.*")).notices == []
    with pytest.raises(InputError, match=r"formats: 1, the first is .*/x\.rst; --skip-unknown"):
        open_corpus(str(tmp_path), ("*.md",))


def test_files_are_known_by_the_names_that_c4_and_dolma_give_them(tmp_path: Path) -> None:
    content = lines({"text": "a"}, {"text": "b"})
    for name in ("c4-train.00000-of-01024.json.gz", "c.json", "d.jsonl.zstd"):
        pack = PACK.get(Path(name).suffix.replace("zstd", "zst"), bytes)
        (tmp_path / name).write_bytes(pack(content))
    assert read_all(tmp_path) == (["a", "b"] * 3, [1, 2] * 3)


def test_json_that_is_not_json_lines_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.json.gz"
    for content, problem in (
        (b'[{"text": "a"}, {"text": 3}]', ": item 2: field 'text' is int"),
        (b' [\n{"text": "a"},\n{"text": "b"}\n', ": not a valid JSON list, or truncated: "),
        (b'{\n  "name": "C4"\n}\n', ".*not valid JSON: .*; --exclude-source leaves out a file"),
    ):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(CorpusError, match=rf"c\.json\.gz{problem}"):
            list(read_piece(open_corpus(str(path)).pieces()[0], ReadOptions()))


def test_a_place_without_a_corpus_is_refused(tmp_path: Path) -> None:
    forms = r"expected JSON lines \(\.jsonl\), Parquet \(\.parquet\) or text \(\.txt\)"
    with pytest.raises(InputError, match=f"scan:.*nothing: no such file or folder; {forms}$"):
        open_corpus(str(tmp_path / "nothing"))
    for nowhere in (tmp_path, tmp_path / "*.jsonl"):
        with pytest.raises(InputError, match=f"no file there; {forms}$"):
            open_corpus(str(nowhere))
    (tmp_path / "a.docx").write_bytes(b"x")
    (tmp_path / "b.docx").write_bytes(b"x")
    with pytest.raises(
        InputError, match=f"contains no file of a known format; {forms}, or --input-"
    ):
        open_corpus(str(tmp_path))
    with pytest.raises(InputError, match=r"a\.docx: unknown format: \.docx; --input-form"):
        open_corpus(str(tmp_path / "a.docx"))
    (tmp_path / "t.xlsx").write_bytes(b"x")
    with pytest.raises(InputError, match=r"t\.xlsx: an Excel sheet is not read; save it as CSV"):
        open_corpus(str(tmp_path / "t.xlsx"))
    with pytest.raises(InputError, match=r"did you mean .*/[ab]\.docx\?$"):
        open_corpus(str(tmp_path / "a.docs"))
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(lines({"text": name}))
    others = "*.docx", "*.xlsx"
    assert len(open_corpus(str(tmp_path), ("*/b.jsonl", *others)).files) == 1
    with pytest.raises(InputError, match="every file is excluded"):
        open_corpus(str(tmp_path), ("*.jsonl", *others))
    pieces = open_corpus(str(tmp_path / "a.jsonl")).pieces()
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(CorpusError, match=r"a\.jsonl: No such file"):
        list(read_piece(pieces[0], ReadOptions()))


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
