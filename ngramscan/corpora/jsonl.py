"""JSON lines: one document per line, its text in one field.

`lines` says where a line ends, `json_documents` which document it holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import msgspec

from ngramscan.corpora.base import (
    Batch,
    CorpusFile,
    CorpusFormat,
    Piece,
    ReadOptions,
)
from ngramscan.corpora.encodings import in_utf8
from ngramscan.corpora.json_documents import JsonDocuments, JsonRecords, LineParser
from ngramscan.corpora.lines import (
    BYTE_ORDER_MARK,
    chunks_between,
    count_newlines,
    part_chunks,
    whole_lines,
    with_newlines,
)
from ngramscan.corpora.streams import first_bytes, open_file, read_chunks
from ngramscan.corpora.text_fields import NoTextError
from ngramscan.errors import CorpusError, InputError
from ngramscan.messages import OptionUse
from ngramscan.reading.compressions import compression_of, packed_suffix
from ngramscan.reading.streams import Chunks, unpacked_path, whole
from ngramscan.remote.stores import is_remote

PART_BYTES = 16_000_000
"""Plain files are split into parts of this size, for several tasks."""
_LIST_START = re.compile(rb"\s*\[\s*[{\]]")
"""The beginning of a list of objects, or of an empty one."""

HEAD_BYTES = 64
"""Enough of a file to tell a list from lines."""


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
        head = opened.read(HEAD_BYTES).removeprefix(BYTE_ORDER_MARK)
    return compression_of(file.path, head) is None and not begins_list(head)


def begins_list(head: bytes) -> bool:
    """Tell whether a file begins as a list of objects, given its first bytes without a mark."""
    return _LIST_START.match(head) is not None


def read_jsonl(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of a JSON lines file, of a part of one, or of a file with one list."""
    skipped = Counter[str]()
    if not piece.is_whole:
        yield from _read_lines(piece, part_chunks(piece), options)
        return
    chunks = in_utf8(read_chunks(piece.file, skipped), piece.file.path)
    head, chunks = first_bytes(chunks, HEAD_BYTES)
    if begins_list(head.removeprefix(BYTE_ORDER_MARK)):
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
        text = whole(contents(), path, options.most_text_bytes).removeprefix(BYTE_ORDER_MARK)
        items = msgspec.json.decode(text, type=list[msgspec.Raw])
    except InputError as error:
        raise CorpusError(error.where, error.problem) from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(path, f"not a valid JSON list, or truncated: {error}") from error
    documents = JsonDocuments(JsonRecords(options))
    for number, item in enumerate(items, 1):
        try:
            documents.add(number, bytearray(item))
        except NoTextError as error:
            problem = error.problem
            if not error.is_null:
                problem = problem + "; " + OptionUse("skip_bad_lines") + " leaves out such items"
            raise CorpusError(f"{path}: item {number}", problem) from error
    return documents.batch(sum(sizes))


def _read_lines(piece: Piece, chunks: Chunks, options: ReadOptions) -> Iterator[Batch]:
    path, parser = piece.file.path, LineParser(options)
    try:
        for block, consumed in whole_lines(piece, with_newlines(chunks), options.most_line_bytes):
            batch = parser.parse(block, consumed)
            block.clear()
            yield batch
    except (CorpusError, NoTextError) as error:
        (before,) = records_before([piece], lambda _: None)
        line = before + parser.lines_read + 1
        is_other = line == 1 and unpacked_path(path).suffix.lower() == ".json"
        problem = error.problem
        if isinstance(error, NoTextError) and is_other:
            cure = OptionUse("exclude_source") + " leaves out a file that is not part of a corpus"
            problem = problem + "; " + cure
        elif isinstance(error, NoTextError) and not error.is_null:
            problem = problem + "; " + OptionUse("skip_bad_lines") + " leaves out such lines"
        raise CorpusError(f"{path}:{line}", problem) from error


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
            chunks = chunks_between(file, path, position, piece.start)
            for chunk, size in with_newlines(chunks):
                lines += count_newlines(chunk)
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
