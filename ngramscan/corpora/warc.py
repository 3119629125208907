"""WET and WARC files: the `conversion` records, whose payload is text.

FastWARC shortens a record that is cut and says nothing. So each record is compared with its length,
and the file must end with the two line ends that end a record.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from ngramscan.corpora.base import Batch, Piece, ReadOptions
from ngramscan.corpora.streams import ChunkStream, read_chunks
from ngramscan.errors import CorpusError

_RECORDS_PER_BATCH = 256
_BUFFER_BYTES = 1 << 16
_END_OF_RECORD = b"\r\n\r\n"


def read_warc(piece: Piece, _options: ReadOptions) -> Iterator[Batch]:
    """Yield the text documents of a WARC file; a source is its WARC-Target-URI.

    Raises
    ------
    CorpusError
        The file is cut, or no WARC; names the record.
    """
    stream = ChunkStream(read_chunks(piece.file))
    texts: list[bytes] = []
    sources: list[str] = []
    read = 0
    try:
        for text, source in _documents(stream, piece.file.path):
            texts.append(text)
            sources.append(source)
            read += 1
            if len(texts) == _RECORDS_PER_BATCH:
                yield _batch(texts, sources, read, stream)
                texts, sources = [], []
    except CorpusError as error:
        raise CorpusError(
            f"{piece.file.path}: record {read + 1} or after", error.problem
        ) from error
    yield _batch(texts, sources, read, stream)


def _batch(texts: list[bytes], sources: list[str], read: int, stream: ChunkStream) -> Batch:
    records = range(read - len(texts) + 1, read + 1)
    return Batch(texts, records, stream.take_consumed(), sources)


def _documents(stream: ChunkStream, path: str) -> Iterator[tuple[bytes, str]]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    buffered = io.BufferedReader(stream, _BUFFER_BYTES)
    try:
        for record in ArchiveIterator(buffered, parse_http=False):
            if record.record_type == WarcRecordType.conversion:
                length, text = record.content_length, record.reader.read()
                source = record.headers.get("WARC-Target-URI") or ""
                if len(text) != length:
                    problem = f"{len(text)} of {length} bytes of {source or 'a record'} came"
                    raise CorpusError(path, f"the file is cut: {problem}")
                yield text, source
    except OSError as error:
        raise CorpusError(path, f"no WARC, or cut: {error}") from error
    if not stream.tell():
        raise CorpusError(path, "no WARC: the file is empty")
    if stream.tail != _END_OF_RECORD:
        raise CorpusError(path, "the file is cut: it does not end as a record does")
