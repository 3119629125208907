"""Texts in other encodings than UTF-8 are refused with a cure."""

import gzip
from pathlib import Path

import pytest

from ngramscan.corpora import ReadOptions, open_corpus, read_piece
from ngramscan.corpora.encodings import encoding_in
from ngramscan.errors import CorpusError
from tests.support.corpus_documents import read_documents

SENTENCES = {
    "English": "Take it step by step, and step by step again.\n",
    "Russian": "Это предложение написано по-русски, и в нём есть пробелы.\n",
    "Greek": "Αυτή είναι μια πρόταση στα ελληνικά.\n",
    "Arabic": "هذه جملة مكتوبة باللغة العربية.\n",
    "Hindi": "यह वाक्य हिन्दी में लिखा गया है।\n",
    "Thai": "ประโยคนี้ เขียนเป็นภาษาไทย\n",
    "Chinese": "这个句子是用中文写的, 2026.\n",
}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("times", [1, 300])
def test_a_text_in_another_encoding_without_a_mark_is_refused(
    tmp_path: Path, language: str, encoding: str, times: int
) -> None:
    path = tmp_path / "c.txt"
    path.write_bytes((SENTENCES[language] * times).encode(encoding))
    with pytest.raises(CorpusError, match=f"it is {encoding[:6].upper()}|not UTF-8 at byte"):
        read_documents(path)


@pytest.mark.parametrize("name", ["c.txt", "c.jsonl", "c.json", "c.csv", "c.txt.gz", "c.jsonl.gz"])
@pytest.mark.parametrize(
    ("encoding", "cure"),
    [
        pytest.param(
            "utf-16",
            "it is UTF-16, and UTF-8 is expected; iconv -f UTF-16 -t UTF-8 FILE converts it",
            id="UTF-16",
        ),
        pytest.param(
            "utf-32",
            "it is UTF-32, and UTF-8 is expected; iconv -f UTF-32 -t UTF-8",
            id="UTF-32",
        ),
        pytest.param("utf-16-le", "iconv -f UTF-16LE -t UTF-8 FILE", id="UTF-16LE"),
        pytest.param("utf-16-be", "iconv -f UTF-16BE -t UTF-8 FILE", id="UTF-16BE"),
        pytest.param("utf-32-le", "iconv -f UTF-32LE -t UTF-8 FILE", id="UTF-32LE"),
        pytest.param("utf-32-be", "iconv -f UTF-32BE -t UTF-8 FILE", id="UTF-32BE"),
    ],
)
def test_an_encoding_is_named_with_its_cure_in_every_format(
    tmp_path: Path, name: str, encoding: str, cure: str
) -> None:
    content = '{"text": "step by step"}\n{"text": "b"}\n'.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(CorpusError, match=cure):
        read_documents(tmp_path / name)


def test_an_encoding_is_refused_where_bad_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes('{"text": "a"}\n'.encode("utf-16-le"))
    options = ReadOptions(skip_bad_lines=True)
    with pytest.raises(CorpusError, match="it is UTF-16"):
        list(read_piece(open_corpus(str(path)).pieces()[0], options))


@pytest.mark.parametrize(
    "prefix", [b"text in UTF-8\n", b"of odd length\n\n"], ids=["even length", "odd length"]
)
def test_utf16_behind_text_in_utf8_is_refused(tmp_path: Path, prefix: bytes) -> None:
    (tmp_path / "c.txt").write_bytes(prefix * 700 + ("step by step " * 99).encode("utf-16-le"))
    with pytest.raises(CorpusError, match="it is UTF-16"):
        read_documents(tmp_path / "c.txt")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"step by step", id="a text"),
        pytest.param(b"a\0b", id="a zero byte"),
        pytest.param(b"\0", id="only a zero byte"),
        pytest.param(b"one\0two\0three\0four\0", id="names with zero bytes between"),
        pytest.param(b"1\n2\n3\n4\n", id="lines of one digit"),
        pytest.param(b"\t\t\t\t\n\n\n\n", id="control characters"),
        pytest.param("é中😀\0".encode() * 9, id="more than ASCII"),
        pytest.param(b"text" * 2000 + b"\0" + b"text" * 2000, id="a zero byte far inside"),
    ],
)
def test_texts_in_utf8_are_no_other_encoding(text: bytes) -> None:
    assert encoding_in(text) == ""
