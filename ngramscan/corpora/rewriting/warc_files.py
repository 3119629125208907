"""WARC without some of its texts: all other records stay byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.rewriting.removals import Removals, refuse_left_over
from ngramscan.errors import CorpusError
from ngramscan.messages import OptionUse
from ngramscan.reading.streams import Chunks

_END = b"\r\n\r\n"
"""The end of a header, and of a record."""
_LENGTH = re.compile(rb"^content-length:[ \t]*(\d+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_TEXT = re.compile(rb"^warc-type:[ \t]*conversion[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def rewrite_warc(
    file: CorpusFile, chunks: Chunks, removals: Removals, _read: ReadOptions
) -> Chunks:
    """Yield the records of a file that stay, each as a chunk of its own.

    Only records of texts are numbered, as the reader does. A CorpusError names a record that does
    not begin and end exactly as the standard says, or says that no text would stay.
    """
    n_texts = pending_bytes = 0
    records = _Records(file.path)
    for chunk, consumed in chunks:
        pending_bytes += consumed
        for record in records.complete(chunk):
            n_texts += record.is_text
            if not record.is_text or n_texts not in removals:
                yield record.content, pending_bytes
                pending_bytes = 0
    records.refuse_remainder()
    yield b"", pending_bytes
    refuse_left_over(removals, n_texts, file.path, "record")
    if n_texts == len(removals):
        problem = "none of its texts would stay, and it would be no corpus without any; "
        cure = OptionUse("exclude_source") + " leaves the file out"
        raise CorpusError(file.path, problem + cure)


class _WarcRecord(NamedTuple):
    """A record with its header and its end."""

    content: bytes
    is_text: bool


class _Records:
    """Divides the content of a file into records."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._remainder = b""
        self._n_records = 0

    def complete(self, chunk: bytes) -> Iterator[_WarcRecord]:
        """Yield the records that are complete with some more content."""
        content, position = self._remainder + chunk, 0
        while (record := self._record_at(content, position)) is not None:
            self._n_records += 1
            yield record
            position += len(record.content)
        self._remainder = content[position:]

    def refuse_remainder(self) -> None:
        """Raise a CorpusError where a file ends within a record."""
        if self._remainder:
            raise self._error("the file is truncated")

    def _record_at(self, content: bytes, start: int) -> _WarcRecord | None:
        """Return the record that begins at a place; None: its end is not there yet."""
        header_stop = content.find(_END, start)
        if header_stop < 0:
            return None
        header = content[start:header_stop]
        length = _LENGTH.search(header)
        if not header.startswith(b"WARC/") or length is None:
            raise self._error("its header is not that of a record")
        end = header_stop + len(_END) + int(length[1])
        stop = end + len(_END)
        if len(content) < stop:
            return None
        if content[end:stop] != _END:
            raise self._error("it does not end as a record does")
        return _WarcRecord(content[start:stop], _TEXT.search(header) is not None)

    def _error(self, problem: str) -> CorpusError:
        where = f"{self._path}: record {self._n_records + 1} of all kinds"
        return CorpusError(where, f"{problem}, so no copy can be made")
