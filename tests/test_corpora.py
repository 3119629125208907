from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import fsspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.corpora import PythonCorpus, ReadOptions, open_corpus, read_piece, records_before
from ngramscan.corpora import jsonl as jsonl_module
from ngramscan.corpora.streams import read_ahead
from ngramscan.errors import CorpusError, InputError
from tests.support.corpus_files import PACK


def read_all(path: Path, text_field: str = "text") -> tuple[list[str], list[int]]:
    options = ReadOptions(text_field)
    batches = [b for piece in open_corpus(str(path)).pieces() for b in read_piece(piece, options)]
    texts = [bytes(text).decode() for batch in batches for text in batch.texts]
    return texts, [record for batch in batches for record in batch.records]


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@settings(max_examples=50)
@given(
    suffix=st.sampled_from(list(PACK)),
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=9),
)
def test_documents_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, texts: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"c.jsonl{suffix}"
    path.write_bytes(PACK[suffix](lines(*({"id": i, "text": t} for i, t in enumerate(texts)))))
    assert read_all(path) == (texts, list(range(1, len(texts) + 1)))


@pytest.mark.parametrize("suffix", PACK)
def test_large_files_are_read_in_batches_without_loss(tmp_path: Path, suffix: str) -> None:
    random = Random(1)  # what compresses well would be a single batch
    texts = ["é" + random.randbytes(random.randrange(2000)).hex() for _ in range(2000)]
    path = tmp_path / f"c.jsonl{suffix}"
    path.write_bytes(PACK[suffix](lines(*({"text": text} for text in texts))))
    batches = list(read_piece(open_corpus(str(path)).pieces()[0], ReadOptions()))
    assert len(batches) > 3
    assert [bytes(text).decode() for batch in batches for text in batch.texts] == texts
    assert [n for batch in batches for n in batch.records] == list(range(1, 2001))
    assert sum(batch.consumed for batch in batches) == path.stat().st_size


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
        pytest.param(b'{"text": "a', "not valid JSON: Unterminated string", id="cut"),
        pytest.param(b"text", "not valid JSON: Expecting value", id="not valid JSON"),
        pytest.param(b'["a"]', "not a JSON object; one with the text", id="a list"),
        pytest.param(b'"text"', "not a JSON object", id="a string"),
        pytest.param(b'{"body": "a", "id": 1}', "no field 'text'; it has: body, id", id="no field"),
        pytest.param(b"{}", "no field 'text'; it has: none", id="no field at all"),
        pytest.param(b'{"text": null}', "field 'text' is null; a string", id="null"),
        pytest.param(b'{"text": 12}', "field 'text' is int; a string", id="a number"),
        pytest.param(b'{"text": ["a"]}', "field 'text' is list; a string", id="a list of strings"),
        pytest.param(b'{"text": "a\\ud800"}', "a lone surrogate at character 1", id="surrogate"),
        pytest.param(b'{"text": "\xe9"}', "not UTF-8 at byte 10 of the line", id="Latin-1"),
        pytest.param(b'{"a": ' * 100_000, "not valid JSON: ", id="nested too deep"),
    ],
)
def test_a_line_that_can_not_be_read_is_named(tmp_path: Path, line: bytes, problem: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines({"text": "a"}, {"text": "b"}) + line + b"\n" + lines({"text": "c"}))
    with pytest.raises(CorpusError) as error:
        read_all(path)
    assert str(error.value).startswith(f"{path}:3: ")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_corrupt_and_truncated_data_is_an_error_with_its_place(tmp_path: Path) -> None:
    content = lines(*({"text": f"{i}"} for i in range(3000)))
    first, second = lines({"text": "a"}, {"text": "b"}), lines({"text": "c"})
    for suffix, place, problem in (
        (".gz", None, ":3: the file is truncated"),
        (".zst", None, ":3: the file is truncated"),
        (".gz", 0, ":1: can't be read"),
        (".zst", 0, ":1: can't be read"),
        (".gz", 5000, ":[0-9]+: (can't be read|not valid JSON)"),  # the checksum tells
        (".gz", -6, ":[0-9]+: can't be read"),
    ):
        pack, path = PACK[suffix], tmp_path / f"c.jsonl{suffix}"
        damaged = bytearray(pack(content))
        if place is None:
            damaged = bytearray(pack(first) + pack(second))[:-12]
        else:
            damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        with pytest.raises(CorpusError, match=rf"c\.jsonl{suffix}{problem}"):
            read_all(path)


def test_members_frames_and_padding_are_one_stream(tmp_path: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
    gz, zst = tmp_path / "c.txt.gz", tmp_path / "c.txt.zst"
    gz.write_bytes(gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two") + b"\0" * 99)
    one, two = PACK[".zst"](b"one "), PACK[".zst"](b"two")
    zst.write_bytes(skippable + one + skippable + two)
    for path in (gz, zst):
        assert read_all(path) == (["one two"], [1])


def test_reading_ahead_keeps_order_and_errors_and_ends_with_its_reader() -> None:
    def numbers() -> Iterator[int]:
        yield from range(9)
        raise CorpusError("c", "at the end")

    ahead = read_ahead(numbers())
    assert list(islice(ahead, 9)) == list(range(9))
    with pytest.raises(CorpusError, match="at the end"):
        next(ahead)
    ahead, threads = read_ahead(numbers()), threading.active_count()
    next(ahead)
    ahead.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads


def test_a_text_file_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\n", encoding="utf-8", newline="")
    assert read_all(path) == (["one\ntwo\n"], [1])
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress("zwei é".encode()))
    assert read_all(tmp_path) == (["one\ntwo\n", "zwei é"], [1, 1])
    path.write_bytes("é".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"a\.txt: not UTF-8 at byte 0"):
        read_all(path)


def test_folders_and_globs_are_read_in_the_order_of_whole_paths(tmp_path: Path) -> None:
    # As sorted() of strings, which the original tools use: - before . before /.
    names = ["a-b/2.jsonl", "a.jsonl", "a/1.jsonl", "c.txt"]
    for name in (*names, ".hidden/3.jsonl", "a/.4.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(lines({"text": name}) if name.endswith("jsonl") else name.encode())
    assert read_all(tmp_path)[0] == names
    assert read_all(tmp_path / "*" / "*.jsonl")[0] == ["a-b/2.jsonl", "a/1.jsonl"]
    assert read_all(tmp_path / "**" / "*.jsonl")[0] == names[:3]
    memory = fsspec.filesystem("memory")
    memory.put(str(tmp_path), "/ordered", recursive=True)
    for url in ("memory://ordered", "memory://ordered/"):
        paths = [file.path.partition("ordered/")[2] for file in open_corpus(url).files]
        assert paths == names


def test_a_file_of_an_unknown_format_is_an_error_unless_skipped(tmp_path: Path) -> None:
    for name in ("a.jsonl", "sub/readme.md", "sub/x.rst", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(lines({"text": name}))
    fsspec.filesystem("memory").put(str(tmp_path), "/unknown", recursive=True)
    for place in (str(tmp_path), f"{tmp_path}/**", "memory://unknown"):
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
    is_list = r":1: a JSON list, not JSON lines; jq -c '.\[\]' converts it"
    for content, problem in (
        (b'[{"text": "a"}]', is_list),  # the last line of a list is a document
        (b' [\n{"text": "a"},\n{"text": "b"}\n]\n', is_list),
        (b'{\n  "name": "C4"\n}\n', ".*not valid JSON: .*; --exclude-source leaves out a file"),
    ):
        path.write_bytes(gzip.compress(content))
        options = ReadOptions(skip_bad_lines=problem is is_list)
        with pytest.raises(CorpusError, match=rf"c\.json\.gz{problem}"):
            list(read_piece(open_corpus(str(path)).pieces()[0], options))


@pytest.mark.parametrize("chunk", [1, 2, 7, 1 << 18])
def test_lines_end_as_in_pythons_text_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    draw = Random(chunk)
    rows = [json.dumps({"text": f"{n}" + draw.choice(["", "\r\n", "é"])}) for n in range(60)]
    ends = draw.choices(["\n", "\r", "\r\n", "\n\r", "\r\r\n"], k=60)
    path = tmp_path / "c.jsonl"
    path.write_text("".join(map("".join, zip(rows, ends, strict=True))), newline="")
    with path.open(encoding="utf-8") as file:  # as the original tools open it
        expected = [(json.loads(x)["text"], n) for n, x in enumerate(file, 1) if x.strip()]
    monkeypatch.setattr(jsonl_module, "_CHUNK_BYTES", chunk)
    for part in (40, 300, 10**6):
        monkeypatch.setattr(jsonl_module, "PART_BYTES", part)
        pieces = open_corpus(str(path)).pieces()
        before = records_before(pieces, lambda _: None)
        found = [
            (bytes(text).decode(), first + number)
            for piece, first in zip(pieces, before, strict=True)
            for batch in read_piece(piece, ReadOptions())
            for text, number in zip(batch.texts, batch.records, strict=True)
        ]
        assert found == expected


def test_a_place_without_a_corpus_is_refused(tmp_path: Path) -> None:
    forms = r"JSON lines \(\.jsonl\), Parquet \(\.parquet\) or text \(\.txt\) was expected"
    with pytest.raises(InputError, match=f"scan:.*nothing: no such file or folder; {forms}$"):
        open_corpus(str(tmp_path / "nothing"))
    for nowhere in (tmp_path, tmp_path / "*.jsonl"):
        with pytest.raises(InputError, match=f"no file there; {forms}$"):
            open_corpus(str(nowhere))
    (tmp_path / "a.docx").write_bytes(b"x")
    (tmp_path / "b.docx").write_bytes(b"x")
    with pytest.raises(InputError, match=f"no file of a known format in it; {forms}, or --input-"):
        open_corpus(str(tmp_path))
    with pytest.raises(InputError, match=r"a\.docx: its name doesn't say the format; --input-form"):
        open_corpus(str(tmp_path / "a.docx"))
    with pytest.raises(InputError, match=r"did you mean .*/[ab]\.docx\?$"):
        open_corpus(str(tmp_path / "a.docs"))
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(lines({"text": name}))
    others = ("*.docx",)
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


def test_the_running_python_is_a_corpus_with_this_tests_imports() -> None:
    paths = {file.path for file in PythonCorpus().files}
    assert any(path.endswith("/argparse.py") for path in paths)
    assert any("/click/" in path for path in paths)
    assert not any("/ngramscan/" in path for path in paths if "site-packages" in path)
