"""Documents as an index holds them: names of records in messages."""

import pytest

from ngramscan.corpora import CorpusFile, Piece
from ngramscan.corpora.base import Format
from ngramscan.index_files.documents import place_of


@pytest.mark.parametrize(
    ("form", "expected"), [("jsonl", "c/f:7"), ("text", "c/f: record 7"), ("csv", "c/f: record 7")]
)
def test_messages_name_a_line_or_a_record(form: Format, expected: str) -> None:
    file = CorpusFile("c/f", form, 100)
    assert place_of(Piece(file), 7) == expected
