"""WET and WARC files: the `conversion` records, whose payload is text.

FastWARC shortens a truncated record and says nothing. So each record is compared with its length,
and the file must end with the two line ends that end a record.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, NamedTuple, cast

from ngramscan.corpora.base import Batch, CorpusFormat, Piece, ReadOptions
from ngramscan.corpora.streams import ChunkStream, read_chunks
from ngramscan.errors import CorpusError
from ngramscan.messages import plural
from ngramscan.reading.streams import too_long

_RECORDS_PER_BATCH = 256
_END_OF_RECORD = b"\r\n\r\n"


def read_warc(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the text documents of a WARC file; a source is its WARC-Target-URI.

    Records of other kinds are counted. A file with only such records is an error, since it holds
    pages whose text was not extracted.
    """
    skipped, others = Counter[str](), Counter[str]()
    stream = ChunkStream(read_chunks(piece.file, skipped))
    pending: list[_WarcDocument] = []
    n_records = 0
    documents = _documents(stream, piece.file.path, options.most_text_bytes, others)
    try:
        for n_records, document in enumerate(documents, 1):
            pending.append(document)
            if len(pending) == _RECORDS_PER_BATCH:
                yield _batch(pending, n_records, stream, options)
                pending = []
    except CorpusError as error:
        place = f"{piece.file.path}: record {n_records + 1} or after"
        raise CorpusError(place, error.problem) from error
    others.pop("warcinfo", None)  # which describes the file
    if others and not n_records:
        raise CorpusError(piece.file.path, _no_text(others))
    if others:
        skipped["records without text"] = others.total()
    yield replace(_batch(pending, n_records, stream, options), skipped=skipped)


def _no_text(others: Counter[str]) -> str:
    """Return a message on the records of a file without text, and how to extract text."""
    kinds = ", ".join(f"{number} {kind}" for kind, number in others.most_common())
    noun = plural(others.total(), "record")
    problem = f"no conversion record, which would have text; it has {kinds} {noun}"
    cure = "extract the text first (resiliparse, trafilatura), or take the .wet.gz of the crawl"
    return f"{problem}; {cure}"


class _WarcDocument(NamedTuple):
    """A text, and what the header of its record says."""

    text: bytes
    source: str
    """Its WARC-Target-URI, or empty."""
    date: str
    """Its WARC-Date, or empty."""


def _batch(
    documents: list[_WarcDocument], n_records: int, stream: ChunkStream, options: ReadOptions
) -> Batch:
    batch = Batch(
        texts=[document.text for document in documents],
        records=range(n_records - len(documents) + 1, n_records + 1),
        consumed=stream.taken(),
        sources=[document.source for document in documents],
    )
    if not options.field_names:
        return batch
    fields = [
        {"WARC-Target-URI": document.source, "WARC-Date": document.date} for document in documents
    ]
    return replace(batch, fields=fields, field_names=["WARC-Target-URI", "WARC-Date"])


def _documents(
    stream: ChunkStream, path: str, most: int, others: Counter[str]
) -> Iterator[_WarcDocument]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    try:
        # Without a buffer between, all that came before an error is read before it.
        for record in ArchiveIterator(cast("BinaryIO", stream), parse_http=False):
            is_text = record.record_type == WarcRecordType.conversion
            if is_text and record.content_length > most:
                raise CorpusError(path, too_long(most))
            text = record.reader.read() if is_text else b""
            came = len(text) if is_text else record.reader.consume()
            source = record.headers.get("WARC-Target-URI") or ""
            if came != record.content_length:
                problem = f"{came} of {record.content_length} bytes of {source or 'a record'} came"
                raise CorpusError(path, f"the file is truncated: {problem}")
            if is_text:
                yield _WarcDocument(text, source, record.headers.get("WARC-Date") or "")
            else:
                others[record.headers.get("WARC-Type") or "unnamed"] += 1
    except OSError as error:
        raise CorpusError(path, f"not a WARC file, or truncated: {error}") from error
    if not stream.tell():
        raise CorpusError(path, "not a WARC file: it is empty")
    if stream.tail != _END_OF_RECORD:
        raise CorpusError(path, "the file is truncated: it does not end as a record does")


WARC = CorpusFormat(
    name="warc",
    title="WARC",
    suffixes=(".wet", ".warc"),
    read=read_warc,
    start=re.compile(rb"WARC/"),
)
