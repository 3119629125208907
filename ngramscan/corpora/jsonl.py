"""JSON lines: one document per line, its text in one field.

A line ends with LF, CR LF or a lone CR, as in Python's text mode, in which the original tools read.
An empty line is not a document; an empty text is one. A byte order mark at the start of a file is
skipped. NaN, Infinity and bytes that are not UTF-8 are accepted in other fields than the text; of
a key that appears twice the last counts. A text that is not a string, or that has a lone surrogate
(which UTF-8 can't hold), is an error.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, BinaryIO

import msgspec

from ngramscan.corpora.base import (
    SOURCE_FIELDS,
    Batch,
    CorpusFile,
    CorpusFormat,
    Piece,
    ReadOptions,
)
from ngramscan.corpora.encodings import in_utf8
from ngramscan.corpora.streams import first_bytes, open_file, read_chunks
from ngramscan.corpora.text_fields import NoTextError, parse_text_field
from ngramscan.errors import CorpusError, InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.compressions import compression_of, packed_suffix
from ngramscan.reading.streams import Chunks, unpacked_path, whole
from ngramscan.remote.stores import is_remote

PART_BYTES = 16_000_000
"""Plain files are split into parts of this size, for several tasks."""
_LIST_START = re.compile(rb"\s*\[\s*[{\]]")
"""The beginning of a list of objects, or of an empty one."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 64
_CHUNK_BYTES = 1 << 18  # what is made of a block stays in the cache of a core


def split_jsonl(file: CorpusFile) -> list[Piece]:
    """Return the parts of a large plain local file, or the file.

    A line belongs to the part in which it begins.
    """
    is_plain = not packed_suffix(file.path) and not is_remote(file.path)
    if not is_plain or file.size is None or file.size <= PART_BYTES or not _is_lines(file):
        return [Piece(file, size=file.size)]
    bounds = pairwise([*range(0, file.size, PART_BYTES), file.size])
    return [Piece(file, start, stop, stop - start) for start, stop in bounds]


def _is_lines(file: CorpusFile) -> bool:
    """Tell whether a file begins with a line: it is neither compressed nor a list."""
    with open_file(file) as opened:
        head = opened.read(_HEAD_BYTES).removeprefix(_BYTE_ORDER_MARK)
    return compression_of(file.path, head) is None and not _LIST_START.match(head)


def read_jsonl(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of a JSON lines file, of a part of one, or of a file with one list."""
    skipped = Counter[str]()
    if not piece.is_whole:
        yield from _read_lines(piece, _part_chunks(piece), options)
        return
    chunks = in_utf8(read_chunks(piece.file, skipped), piece.file.path)
    head, chunks = first_bytes(chunks, _HEAD_BYTES)
    if _LIST_START.match(head.removeprefix(_BYTE_ORDER_MARK)):
        yield _read_list(piece, chunks, options)
    else:
        yield from _read_lines(piece, chunks, options)
    if skipped:
        yield Batch([], [], 0, skipped=skipped)


def _read_list(piece: Piece, chunks: Chunks, options: ReadOptions) -> Batch:
    """Return the documents of a JSON list of objects, which is read whole."""
    path = piece.file.path
    sizes: list[int] = []

    def contents() -> Iterator[bytes]:
        for chunk, consumed in chunks:
            sizes.append(consumed)
            yield chunk

    try:
        text = whole(contents(), path, options.most_text_bytes).removeprefix(_BYTE_ORDER_MARK)
        items = msgspec.json.decode(text, type=list[msgspec.Raw])
    except InputError as error:
        raise CorpusError(error.where, error.problem) from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(path, f"not a valid JSON list, or truncated: {error}") from error
    documents = _Documents(_Records(options))
    for number, item in enumerate(items, 1):
        try:
            documents.add(number, bytearray(item))
        except NoTextError as error:
            raise CorpusError(f"{path}: item {number}", error.problem) from error
    return documents.batch(sum(sizes))


def _read_lines(piece: Piece, chunks: Chunks, options: ReadOptions) -> Iterator[Batch]:
    path, parser = piece.file.path, _Parser(options)
    try:
        for block, consumed in _whole_lines(piece, _with_newlines(chunks), options.most_line_bytes):
            batch = parser.parse(block, consumed)
            block.clear()
            yield batch
    except (CorpusError, NoTextError) as error:
        (before,) = records_before([piece], lambda _: None)
        line = before + parser.lines_read + 1
        is_other = line == 1 and unpacked_path(path).suffix.lower() == ".json"
        problem = error.problem
        if is_other and isinstance(error, NoTextError):
            cure = OptionUse("exclude_source") + " leaves out a file that is not part of a corpus"
            problem = problem + "; " + cure
        raise CorpusError(f"{path}:{line}", problem) from error


def _part_chunks(piece: Piece) -> Chunks:
    """Yield the lines that begin in a part of a plain local file, in chunks."""
    assert piece.stop is not None
    with open_file(piece.file) as file:
        if piece.start:
            file.seek(piece.start - 1)
            # The end of a line that began before, or just its newline.
            file.readline(piece.stop - piece.start + 1)
        yield from _chunks_between(file, piece.file.path, file.tell(), piece.stop)


def _chunks_between(file: BinaryIO, path: str, position: int, stop: int) -> Chunks:
    """Yield the rest of a file up to `stop`, and to the end of the line there."""
    chunk = b"\n"
    while position < stop or not chunk.endswith(b"\n"):
        remaining = stop - position
        chunk = (
            file.read(min(_CHUNK_BYTES, remaining))
            if remaining > 0
            else file.readline(_CHUNK_BYTES)
        )
        if remaining > 0 and not chunk:
            raise CorpusError(path, f"the file is truncated at byte {position}")
        if not chunk:
            return
        position += len(chunk)
        yield chunk, len(chunk)


def _with_newlines(chunks: Chunks) -> Chunks:
    """Put a newline in place of each CR LF and each lone CR, which no JSON string can contain."""
    after_return = False
    for chunk, consumed in chunks:
        started = chunk.removeprefix(b"\n") if after_return else chunk
        after_return = chunk.endswith(b"\r") if chunk else after_return
        if b"\r" in started:
            started = started.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield started, consumed


def _whole_lines(piece: Piece, chunks: Chunks, most: int) -> Iterator[tuple[bytearray, int]]:
    """Yield blocks of whole lines; only the last may have no newline at its end.

    They grow in place: a line of hundreds of megabytes is not to be there twice.
    """
    block = bytearray()
    mark = b"" if piece.start else _BYTE_ORDER_MARK
    for chunk, consumed in chunks:
        end = chunk.rfind(b"\n") + 1
        if len(block) + (chunk.find(b"\n") if end else len(chunk)) > most:
            cure = OptionUse("max_line", placeholder="MB") + " takes longer ones"
            raise CorpusError(piece.file.path, f"a line of more than {most / 1e6:g} MB; " + cure)
        block += chunk[: end or len(chunk)]
        if not end:
            yield bytearray(), consumed
            continue
        if block.startswith(mark):
            del block[: len(mark)]
        yield block, consumed
        block, mark = bytearray(chunk[end:]), b""
    if block:
        yield block.removeprefix(mark), 0


class _Parser:
    """Parses blocks of lines and knows how many lines it has read."""

    def __init__(self, options: ReadOptions) -> None:
        self.lines_read = 0
        self._options = options
        self._records = _Records(options)
        names = {"text": options.text_field}
        row = msgspec.defstruct("Row", [("text", str)], rename=names, gc=False)
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(row)

    def parse(self, block: bytearray, consumed: int) -> Batch:
        """Return the documents of some lines; `lines_read` stops before a line that is wrong."""
        if not (self._options.needs_sources or self._records.reads_fields):
            n_lines = _count_newlines(block) + (not block.endswith(b"\n"))
            texts = []
            with suppress(ValueError, RecursionError):
                # An empty line or one that it does not take: line by line below.
                texts = [row.text.encode() for row in self._decoder.decode_lines(block)]
            if texts and len(texts) == n_lines:
                self.lines_read += n_lines
                records = range(self.lines_read - n_lines + 1, self.lines_read + 1)
                return Batch(texts, records, consumed, lines_read=self.lines_read)
        return self._parse_lines(block, consumed)

    def _parse_lines(self, block: bytearray, consumed: int) -> Batch:
        documents = _Documents(self._records)
        lines = block.split(b"\n")
        after = self.lines_read + len(lines) - (not lines[-1])
        for number, line in enumerate(lines, self.lines_read + 1):
            self.lines_read = number - 1
            if line.strip():
                documents.add(number, line)
        self.lines_read = after
        return documents.batch(consumed, lines_read=after)


class _Documents:
    """The documents of some records, as far as they were added."""

    def __init__(self, records: _Records) -> None:
        self._records = records
        self._texts: list[bytes] = []
        self._numbers: list[int] = []
        self._sources: list[str] = []
        self._fields: list[dict[str, Any]] = []
        self._skipped = Counter[str]()

    def add(self, number: int, line: bytearray) -> None:
        """Add the document of a record, or count that it is skipped; a NoTextError says neither."""
        try:
            text, row = self._records.parse(line)
        except NoTextError as error:
            if not self._records.may_skip(error):
                raise
            self._skipped[error.kind] += 1
            return
        self._texts.append(text)
        self._numbers.append(number)
        values = map(row.get, SOURCE_FIELDS)
        self._sources.append(next((str(value) for value in values if value is not None), ""))
        self._fields.append(row)

    def batch(self, consumed: int, lines_read: int = 0) -> Batch:
        """Return the documents."""
        return Batch(
            texts=self._texts,
            records=self._numbers,
            consumed=consumed,
            sources=self._sources,
            skipped=self._skipped,
            fields=self._fields if self._records.reads_fields else [],
            lines_read=lines_read,
        )


class _Records:
    """Takes the text out of JSON objects."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._field = parse_text_field(options.text_field)
        self.reads_fields = options.with_fields or bool(options.field_names)

    def may_skip(self, error: NoTextError) -> bool:
        """Tell whether a record that has no text may be left out."""
        return self.options.skip_bad_lines or (self.options.skip_null and error.is_null)

    def parse(self, line: bytearray) -> tuple[bytes, dict[str, Any]]:
        """Return the text of an object, in UTF-8, and its other fields."""
        try:
            row = _loads(line)
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 at byte {error.start} of the line"
            raise NoTextError("not UTF-8", problem) from error
        except (ValueError, RecursionError) as error:
            raise NoTextError("not valid JSON", f"not valid JSON: {error}") from error
        if not isinstance(row, dict):
            problem = "not a JSON object; expected one with the text in a field"
            raise NoTextError("not a JSON object", problem)
        text = self._field.text_of(row)
        del row[self._field.name_in(row)]
        try:
            return text.encode(), row
        except UnicodeEncodeError as error:
            problem = f"field {self._field.spec!r} has a lone surrogate at character {error.start}"
            raise NoTextError("with a lone surrogate", problem) from error


def _loads(line: bytearray) -> Any:
    """Decode JSON; msgspec needs half the memory, but refuses some texts that `json` accepts."""
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return json.loads(line)


def _count_newlines(block: bytes | bytearray) -> int:
    """Count newlines, five times as fast as `bytes.count`."""
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def bytes_before(pieces: Sequence[Piece]) -> int:
    """Return how much of a file is read for `records_before`."""
    return pieces[-1].start if pieces[0].file.format == "jsonl" else 0


def records_before(pieces: Sequence[Piece], report: Callable[[int], None]) -> Iterator[int]:
    """Yield what to add to the numbers of records of some pieces of one file, in order.

    In parts of JSON lines the numbers count lines of the part. All bytes before the last piece are
    read, and reported. A CorpusError says where the file is shorter than it was.
    """
    if not bytes_before(pieces):
        yield from [0] * len(pieces)
        return
    path, lines, position, end = pieces[0].file.path, 0, 0, bytes_before(pieces)
    with open_file(pieces[0].file) as file:
        for piece in pieces:
            # A line in which a piece begins is read by the piece before.
            chunks = _chunks_between(file, path, position, piece.start)
            for chunk, size in _with_newlines(chunks):
                lines += _count_newlines(chunk)
                report(max(min(size, end - position), 0))
                position += size
            yield lines


JSONL = CorpusFormat(
    name="jsonl",
    title="JSON",
    suffixes=(".jsonl", ".ndjson", ".json"),
    read=read_jsonl,
    split=split_jsonl,
    start=re.compile(rb"\{|" + _LIST_START.pattern),
)
