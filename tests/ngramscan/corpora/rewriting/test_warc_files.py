"""WARC without some texts: other records are equal by bytes, in a member each."""

import gzip
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from ngramscan.corpora import ReadOptions, open_corpus
from ngramscan.corpora.base import CorpusFile
from ngramscan.corpora.rewriting import WHOLE_RECORD, Removal, write_without
from ngramscan.corpora.rewriting.warc_files import rewrite_warc
from ngramscan.errors import CorpusError
from tests.support import corpus_files
from tests.support.corpus_documents import read_documents

TEXTS = ["first", "", "a\r\n\r\nWARC/1.0\r\nContent-Length: 3\r\n\r\nb", "é 中文", "last"]
RECORDS = [corpus_files.warc_record(number, text) for number, text in enumerate(TEXTS)]
OTHER = RECORDS[0].replace(b"conversion", b"metadata")


def rewritten(content: bytes, removals: Mapping[int, Removal], chunk: int = 1 << 20) -> list[bytes]:
    starts = range(0, len(content), chunk)
    chunks = iter([(content[at : at + chunk], len(content[at : at + chunk])) for at in starts])
    file = CorpusFile("w.wet", "warc", len(content))
    pieces = list(rewrite_warc(file, chunks, removals, ReadOptions()))
    assert sum(consumed for _, consumed in pieces) == len(content)
    return [piece for piece, _ in pieces if piece]


@pytest.mark.parametrize("chunk", [1, 7, 100, 1 << 20])
def test_records_that_stay_are_equal_by_bytes(chunk: int) -> None:
    draw = random.Random(chunk)
    parts = [corpus_files.WARC_INFO, RECORDS[0], OTHER, *RECORDS[1:3], OTHER, *RECORDS[3:]]
    for _ in range(10):
        removed = set(draw.sample(range(len(TEXTS)), draw.randrange(len(TEXTS))))
        removals = {number + 1: WHOLE_RECORD for number in removed}
        gone = [RECORDS[number] for number in removed]
        expected = [part for part in parts if part not in gone]
        assert rewritten(b"".join(parts), removals, chunk) == expected


def test_each_record_of_a_copy_is_a_member(tmp_path: Path) -> None:
    path = corpus_files.write(tmp_path, "c.warc.wet.gz", TEXTS)
    before = read_documents(path)
    write_without(
        open_corpus(str(path)), tmp_path / "a", {str(path): {3: WHOLE_RECORD}}, ReadOptions()
    )
    new = tmp_path / "a" / path.name
    assert read_documents(new).texts == [*before.texts[:2], *before.texts[3:]]
    stays = [corpus_files.WARC_INFO, *RECORDS[:2], *RECORDS[3:]]
    assert gzip.decompress(new.read_bytes()) == b"".join(stays)
    assert new.read_bytes().count(b"\x1f\x8b\x08\0\0\0\0\0") == len(stays)


@pytest.mark.parametrize(
    ("content", "number", "message"),
    [
        pytest.param(RECORDS[0], 2, "w.wet: it has 1 record, and record 2 was to be", id="after"),
        pytest.param(RECORDS[0], 1, "w.wet: none of its texts would stay, and", id="all"),
        pytest.param(RECORDS[0] + OTHER, 2, "w.wet: it has 1 record, and record 2", id="no text"),
        pytest.param(RECORDS[0][:-1], 1, "record 1 of all kinds: the file is truncated", id="cut"),
        pytest.param(
            RECORDS[0] + RECORDS[4].replace(b"last", b"last, longer"),
            1,
            "w.wet: record 2 of all kinds: it does not end as a record does, so no copy",
            id="another length",
        ),
        pytest.param(
            RECORDS[0] + b"\r\n" + RECORDS[4], 1, "record 2 of all kinds: its header", id="line end"
        ),
        pytest.param(
            RECORDS[0].replace(b"Content-Length", b"Length"), 1, "record 1 of all", id="no length"
        ),
    ],
)
def test_records_that_are_not_there_or_unclear_stop_it(
    content: bytes, number: int, message: str
) -> None:
    with pytest.raises(CorpusError, match=message):
        rewritten(content, {number: WHOLE_RECORD})
