"""JSON lines: one document per line, its text in one field.

What is decided here: an empty line is no document; a byte order mark at the start of a file is
skipped; NaN, Infinity and bytes that are not UTF-8 are taken in other fields than the text; of a
key that stands twice the last counts; an empty text is a document. A text that is no string, or
that has a lone surrogate (which UTF-8 can't hold), is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from ngramscan.corpora.base import Batch, CorpusFile, Piece, ReadOptions
from ngramscan.corpora.streams import is_remote, open_file, read_chunks
from ngramscan.errors import CorpusError

PART_BYTES = 16_000_000
"""Plain files are split into parts of this size, for several tasks."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LINES_CHUNK_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 18  # what is made of a block stays in the cache of a core
_SOURCE_FIELDS = ("url", "source_url", "id", "source")


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
    """Yield the documents of a JSON lines file, or of a part of one.

    Raises
    ------
    CorpusError
        The file is cut, or a line is no JSON object with a string in the text field.
    """
    reader = _Reader(piece, options)
    most = options.most_line_bytes
    blocks = _whole_lines(piece.file, most) if piece.is_whole else _part_lines(piece, most)
    try:
        for block, consumed in blocks:
            yield reader.parse(block, consumed)
    except CorpusError as error:
        if error.where != piece.file.path:
            raise
        raise CorpusError(reader.place(), error.problem) from error


def _whole_lines(file: CorpusFile, most: int) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines; only the last may have no newline at its end."""
    begun: list[bytes] = []
    begun_bytes = 0
    is_first = True
    for chunk, consumed in read_chunks(file):
        end = chunk.rfind(b"\n") + 1
        begun_bytes += chunk.find(b"\n") if end else len(chunk)
        if begun_bytes > most:
            raise _too_long(file.path, most)
        if not end:
            begun.append(chunk)
            yield b"", consumed
            continue
        block = b"".join([*begun, chunk[:end]])
        yield block.removeprefix(_BYTE_ORDER_MARK) if is_first else block, consumed
        begun, is_first = [chunk[end:]], False
        begun_bytes = len(begun[0])
    if rest := b"".join(begun):
        yield rest.removeprefix(_BYTE_ORDER_MARK) if is_first else rest, 0


def _too_long(path: str, most: int) -> CorpusError:
    problem = f"a line of more than {most / 1e6:g} MB; --max-line MB takes longer ones"
    return CorpusError(path, problem)


def _part_lines(piece: Piece, most: int) -> Iterator[tuple[bytes, int]]:
    """Yield the lines that begin in a part of a plain local file, in blocks."""
    assert piece.stop is not None
    with open_file(piece.file.path) as file:
        if piece.start:
            file.seek(piece.start - 1)
            # The end of a line that began before, or just its newline.
            file.readline(piece.stop - piece.start + 1)
        position = file.tell()
        while position < piece.stop:
            block = file.read(min(_CHUNK_BYTES, piece.stop - position))
            if not block:
                raise CorpusError(piece.file.path, f"the file is cut at byte {position}")
            if not block.endswith(b"\n"):
                whole = block.rfind(b"\n") + 1
                begun_bytes = len(block) - whole
                rest = file.readline(max(0, most - begun_bytes) + 1)
                if begun_bytes + len(rest.removesuffix(b"\n")) > most:
                    yield block[:whole], whole
                    raise _too_long(piece.file.path, most)
                block += rest
            consumed = len(block)
            if position == 0:
                block = block.removeprefix(_BYTE_ORDER_MARK)
            position = file.tell()
            yield block, consumed


def lines_before(pieces: Sequence[Piece], report: Callable[[int], None]) -> Iterator[int]:
    """Yield how many lines of a file come before each of some of its pieces, which are in order.

    Reads all that is there and reports the bytes.

    Raises
    ------
    CorpusError
        The file can't be read, or is shorter than it was.
    """
    path = pieces[0].file.path
    if not pieces[-1].start:
        yield from [0] * len(pieces)
        return
    lines, position, last = 0, 0, b"\n"
    with open_file(path) as file:
        for piece in pieces:
            while position < piece.start:
                chunk = file.read(min(_LINES_CHUNK_BYTES, piece.start - position))
                if not chunk:
                    raise CorpusError(path, f"the file is cut at byte {position}")
                lines += _count_newlines(chunk)
                position += len(chunk)
                last = chunk[-1:]
                report(len(chunk))
            # A line in which a piece begins is read by the piece before.
            yield lines + (last != b"\n")


class _Reader:
    """Parses lines and knows where it is."""

    def __init__(self, piece: Piece, options: ReadOptions) -> None:
        self._piece = piece
        self._options = options
        self._field = options.text_field
        self._lines_read = 0
        row = msgspec.defstruct("Row", [("text", str)], rename={"text": self._field}, gc=False)
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(row)

    def place(self, number: int | None = None) -> str:
        """Return file and line of a line of this piece, or of the next one to come."""
        number = self._lines_read + 1 if number is None else number
        before = next(lines_before([self._piece], lambda _: None))
        return f"{self._piece.file.path}:{number + before}"

    def parse(self, block: bytes, consumed: int) -> Batch:
        """Return the documents of some lines."""
        if not (self._options.needs_sources or self._options.with_fields):
            n_lines = _count_lines(block)
            try:
                # An empty line or one that it does not take: line by line below.
                rows = self._decoder.decode_lines(block)
                texts = [row.text.encode() for row in rows]
            except (ValueError, RecursionError):
                texts = []
            if texts and len(texts) == n_lines:
                first = self._lines_read + 1
                self._lines_read += n_lines
                return Batch(texts, range(first, first + n_lines), consumed)
        return self._parse_lines(block, consumed)

    def _parse_lines(self, block: bytes, consumed: int) -> Batch:
        lines = block.removesuffix(b"\n").split(b"\n") if block else []
        texts, records, sources, fields, skipped = [], [], [], [], 0
        for number, line in enumerate(lines, self._lines_read + 1):
            if not line.strip():
                continue
            row = self._parse_with_care(line, number)
            if row is None:
                skipped += 1
                continue
            texts.append(self._text_of(row, number))
            records.append(number)
            sources.append(source_of(row))
            if self._options.with_fields:
                del row[self._field]
                fields.append(row)
        self._lines_read += len(lines)
        return Batch(texts, records, consumed, sources, skipped, fields)

    def _parse_with_care(self, line: bytes, number: int) -> dict[str, Any] | None:
        """Return a line's object; None: malformed and to be skipped."""
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            if self._options.skip_bad_lines:
                return None
            if isinstance(error, UnicodeDecodeError):
                problem = f"not UTF-8 at byte {error.start} of the line"
            else:
                problem = f"no JSON: {error}"
            raise CorpusError(self.place(number), problem) from error
        if not isinstance(row, dict):
            problem = "no JSON object; one with the text in a field was expected"
            raise CorpusError(self.place(number), problem)
        return row

    def _text_of(self, row: dict[str, Any], number: int) -> bytes:
        field = self._field
        if field not in row:
            fields = ", ".join(map(str, row)) or "none"
            problem = f"no field {field!r}; it has: {fields} (see --text-field)"
            raise CorpusError(self.place(number), problem)
        text = row[field]
        if not isinstance(text, str):
            kind = type(text).__name__ if text is not None else "null"
            problem = f"field {field!r} is {kind}; a string was expected"
            raise CorpusError(self.place(number), problem)
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            problem = f"field {field!r} has a lone surrogate at character {error.start}"
            raise CorpusError(self.place(number), problem) from error


def _count_lines(block: bytes) -> int:
    """Count lines, the last with or without a newline."""
    return _count_newlines(block) + (not block.endswith(b"\n"))


def _count_newlines(block: bytes) -> int:
    """Count newlines, five times as fast as `bytes.count`."""
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def source_of(row: dict[str, Any]) -> str:
    """Return the URL or id of a document by the names that such fields have; empty: none."""
    for name in _SOURCE_FIELDS:
        if row.get(name) is not None:
            return str(row[name])
    return ""
