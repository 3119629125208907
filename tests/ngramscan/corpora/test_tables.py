"""CSV and TSV as corpora."""

import json
from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import CorpusError
from tests.support.corpus_documents import texts_of


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
        pytest.param("c.csv", "text,id\né中😀,1\n", ["é中😀"], id="more than ASCII"),
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
