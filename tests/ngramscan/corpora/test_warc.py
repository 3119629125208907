"""Records of WARC without text are counted, and said."""

from pathlib import Path

import pytest

import ngramscan
from ngramscan.errors import CorpusError
from tests.support import corpus_files
from tests.support.command import invoke
from tests.support.corpus_documents import read_documents


def record(kind: str, body: bytes = b"HTTP/1.1 200 OK\r\n\r\nstep by step") -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://example.org/\r\n"
        "WARC-Date: 2026-11-20T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n\r\n"


KINDS = ["response", "revisit", "resource", "request", "metadata", "continuation"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_records_without_text_are_counted(tmp_path: Path, kind: str, packing: str) -> None:
    path = tmp_path / f"c.warc{packing}"
    parts = [corpus_files.WARC_INFO, record("conversion", b"step by step"), record(kind)]
    pack = corpus_files.PACK[packing]
    path.write_bytes(b"".join(map(pack, [*parts, record(kind)])))
    assert read_documents(path).skipped == {"records without text": 2}
    (row,) = ngramscan.count(literal="step by step", index=f"scan:{path}").itertuples()
    assert (row.occurrences, row.note) == (1, "skipped: 2 records without text")


def test_a_single_record_without_text_is_one_record(tmp_path: Path) -> None:
    path = tmp_path / "c.warc"
    path.write_bytes(record("conversion", b"a") + record("response"))
    done = invoke("count", "-e", "a", "--index", f"scan:{path}")
    assert "skipped: 1 record without text" in done.stderr


def test_an_index_says_which_records_it_leaves_out(tmp_path: Path) -> None:
    path = tmp_path / "c.warc"
    path.write_bytes(record("conversion", b"a") + record("response") * 3)
    done = invoke("index", "build", str(path), "-o", str(tmp_path / "index"))
    assert (done.code, "skipped: 3 records without text" in done.stderr) == (0, True)


def test_a_warc_without_text_says_what_it_has_and_how_to_get_text(tmp_path: Path) -> None:
    path = tmp_path / "c.warc"
    path.write_bytes(corpus_files.WARC_INFO + record("response") * 2 + record("request"))
    with pytest.raises(CorpusError) as error:
        read_documents(path)
    assert str(error.value) == (
        f"{path}: no conversion record, which would have text; it has 2 response, 1 request"
        " records; extract the text first (resiliparse, trafilatura), or take the .wet.gz of"
        " the crawl"
    )


def test_the_record_that_is_truncated_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.warc.wet.gz"
    path.write_bytes(corpus_files.wet_gz(["a" * 99, "b" * 99, "c" * 99])[:-10])
    with pytest.raises(CorpusError, match="record 3 or after: the file is truncated"):
        read_documents(path)
