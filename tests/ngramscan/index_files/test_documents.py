"""Documents as an index holds them: names of files, and of records in messages."""

from pathlib import Path

import pytest

from ngramscan.corpora import CorpusFile, Piece, open_corpus
from ngramscan.corpora.base import Format
from ngramscan.index_files.documents import place_of, relative_names


@pytest.mark.parametrize(
    ("form", "expected"), [("jsonl", "c/f:7"), ("text", "c/f: record 7"), ("csv", "c/f: record 7")]
)
def test_messages_name_a_line_or_a_record(form: Format, expected: str) -> None:
    file = CorpusFile("c/f", form, 100)
    assert place_of(Piece(file), 7) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param("", ["a/1.jsonl", "a/b/2.jsonl", "a/b/c/3.jsonl"], id="a folder"),
        pytest.param("/a/b", ["2.jsonl", "c/3.jsonl"], id="a folder below"),
        pytest.param("/a/1.jsonl", ["1.jsonl"], id="a file"),
        pytest.param("/**/*.jsonl", ["1.jsonl", "b/2.jsonl", "b/c/3.jsonl"], id="a glob"),
        pytest.param("/a/b/**/*.jsonl", ["2.jsonl", "c/3.jsonl"], id="a glob below"),
        pytest.param("/a/b/c/*.jsonl", ["3.jsonl"], id="a glob of one folder"),
    ],
)
def test_names_of_files_are_below_the_folder_that_has_them_all(
    tmp_path: Path, spec: str, expected: list[str]
) -> None:
    for name in ("a/1.jsonl", "a/b/2.jsonl", "a/b/c/3.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"text": "a"}\n')
    assert sorted(relative_names(open_corpus(f"{tmp_path}{spec}"))) == expected
