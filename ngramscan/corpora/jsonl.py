"""JSON lines: one document per line, its text in one field.

An empty line is no document; an empty text is one. A byte order mark at the start of a file is
skipped. NaN, Infinity and bytes that are not UTF-8 are accepted in other fields than the text; of
a key that stands twice the last counts. A text that is not a string, or that has a lone surrogate
(which UTF-8 can't hold), is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ngramscan.corpora.base import SOURCE_FIELDS, Batch, CorpusFile, Piece, ReadOptions
from ngramscan.corpora.streams import is_remote, open_file, read_chunks
from ngramscan.errors import CorpusError

PART_BYTES = 16_000_000
"""Plain files are split into parts of this size, for several tasks."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES_CHUNK_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 18  # what is made of a block stays in the cache of a core


def split_jsonl(file: CorpusFile) -> list[Piece]:
    """Return the parts of a large plain local file, or the file.

    A line belongs to the part in which it begins.
    """
    is_plain = file.path.endswith((".jsonl", ".ndjson")) and not is_remote(file.path)
    if not is_plain or file.size is None or file.size <= PART_BYTES:
        return [Piece(file, size=file.size)]
    return [
        Piece(file, start, stop, stop - start)
        for start in range(0, file.size, PART_BYTES)
        for stop in [min(start + PART_BYTES, file.size)]
    ]


def read_jsonl(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of a JSON lines file, or of a part of one."""
    chunks = read_chunks(piece.file) if piece.is_whole else _part_chunks(piece)
    parser = _Parser(piece.file.path, options)
    try:
        for block, consumed in _whole_lines(piece, chunks, options.most_line_bytes):
            yield parser.parse(block, consumed)
    except CorpusError as error:
        (before,) = records_before([piece], lambda _: None)
        line = before + parser.lines_read + 1
        raise CorpusError(f"{piece.file.path}:{line}", error.problem) from error


def _part_chunks(piece: Piece) -> Iterator[tuple[bytes, int]]:
    """Yield the lines that begin in a part of a plain local file, in chunks."""
    assert piece.stop is not None
    with open_file(piece.file.path) as file:
        if piece.start:
            file.seek(piece.start - 1)
            # The end of a line that began before, or just its newline.
            file.readline(piece.stop - piece.start + 1)
        position, chunk = file.tell(), b"\n"
        while position < piece.stop or not chunk.endswith(b"\n"):
            left = piece.stop - position
            chunk = file.read(min(_CHUNK_BYTES, left)) if left > 0 else file.readline(_CHUNK_BYTES)
            if left > 0 and not chunk:
                raise CorpusError(piece.file.path, f"the file is truncated at byte {position}")
            if not chunk:
                return
            position += len(chunk)
            yield chunk, len(chunk)


def _whole_lines(
    piece: Piece, chunks: Iterator[tuple[bytes, int]], most: int
) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines; only the last may have no newline at its end."""
    begun: list[bytes] = []
    begun_bytes = 0
    mark = b"" if piece.start else _BYTE_ORDER_MARK
    for chunk, consumed in chunks:
        end = chunk.rfind(b"\n") + 1
        begun_bytes += chunk.find(b"\n") if end else len(chunk)
        if begun_bytes > most:
            problem = f"a line of more than {most / 1e6:g} MB; --max-line MB takes longer ones"
            raise CorpusError(piece.file.path, problem)
        if not end:
            begun.append(chunk)
            yield b"", consumed
            continue
        yield b"".join([*begun, chunk[:end]]).removeprefix(mark), consumed
        begun, mark = [chunk[end:]], b""
        begun_bytes = len(begun[0])
    if rest := b"".join(begun):
        yield rest.removeprefix(mark), 0


class _Parser:
    """Parses blocks of lines and knows how many lines it has read."""

    def __init__(self, path: str, options: ReadOptions) -> None:
        self.lines_read = 0
        self._path = path
        self._options = options
        self._field = options.text_field
        row = msgspec.defstruct("Row", [("text", str)], rename={"text": self._field}, gc=False)
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(row)

    def parse(self, block: bytes, consumed: int) -> Batch:
        """Return the documents of some lines; `lines_read` stops before a line that is wrong."""
        if not (self._options.needs_sources or self._options.with_fields):
            n_lines = _count_newlines(block) + (not block.endswith(b"\n"))
            try:
                # An empty line or one that it does not take: line by line below.
                texts = [row.text.encode() for row in self._decoder.decode_lines(block)]
            except (ValueError, RecursionError):
                texts = []
            if texts and len(texts) == n_lines:
                first = self.lines_read + 1
                self.lines_read += n_lines
                return Batch(
                    texts, range(first, first + n_lines), consumed, lines_read=self.lines_read
                )
        return self._parse_lines(block, consumed)

    def _parse_lines(self, block: bytes, consumed: int) -> Batch:
        lines = block.removesuffix(b"\n").split(b"\n") if block else []
        after = self.lines_read + len(lines)
        texts, records, sources, fields, skipped = [], [], [], [], 0
        for number, line in enumerate(lines, self.lines_read + 1):
            self.lines_read = number - 1
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                if self._options.skip_bad_lines:
                    skipped += 1
                    continue
                problem = f"not valid JSON: {error}"
                if isinstance(error, UnicodeDecodeError):
                    problem = f"not UTF-8 at byte {error.start} of the line"
                raise CorpusError(self._path, problem) from error
            texts.append(self._text_of(row))
            records.append(number)
            sources.append(_source_of(row))
            if self._options.with_fields:
                del row[self._field]
                fields.append(row)
        self.lines_read = after
        return Batch(texts, records, consumed, sources, skipped, fields, after)

    def _text_of(self, row: Any) -> bytes:
        name = self._field
        if not isinstance(row, dict):
            problem = "not a JSON object; one with the text in a field was expected"
        elif name not in row:
            problem = f"no field {name!r}; it has: {', '.join(row) or 'none'} (see --text-field)"
        elif not isinstance(row[name], str):
            kind = "null" if row[name] is None else type(row[name]).__name__
            problem = f"field {name!r} is {kind}; a string was expected"
        else:
            try:
                return str.encode(row[name])
            except UnicodeEncodeError as error:
                problem = f"field {name!r} has a lone surrogate at character {error.start}"
        raise CorpusError(self._path, problem)


def _source_of(row: dict[str, Any]) -> str:
    named = (str(row[name]) for name in SOURCE_FIELDS if row.get(name) is not None)
    return next(named, "")


def _count_newlines(block: bytes) -> int:
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
    path = pieces[0].file.path
    lines, position, last = 0, 0, b"\n"
    with open_file(path) as file:
        for piece in pieces:
            while position < piece.start:
                chunk = file.read(min(_LINES_CHUNK_BYTES, piece.start - position))
                if not chunk:
                    raise CorpusError(path, f"the file is truncated at byte {position}")
                lines += _count_newlines(chunk)
                position += len(chunk)
                last = chunk[-1:]
                report(len(chunk))
            # A line in which a piece begins is read by the piece before.
            yield lines + (last != b"\n")
