"""JSON lines, and files with one list of JSON objects, without some records or passages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import msgspec

from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.json_documents import JsonRecords
from ngramscan.corpora.jsonl import HEAD_BYTES, begins_list
from ngramscan.corpora.lines import BYTE_ORDER_MARK
from ngramscan.corpora.rewriting.json_texts import cut_object
from ngramscan.corpora.rewriting.removals import Removals, refuse_left_over
from ngramscan.corpora.streams import first_bytes
from ngramscan.corpora.text_fields import NoTextError, parse_text_field
from ngramscan.errors import CorpusError
from ngramscan.reading.streams import Chunks

_LINE_ENDS = (b"\n", b"\r")


def rewrite_jsonl(
    file: CorpusFile, chunks: Chunks, removals: Removals, read_options: ReadOptions
) -> Chunks:
    """Yield the content of a file without some of its records or passages.

    Everything else is yielded as it is: other lines with their ends, empty lines, a byte order
    mark. In a list, the comma and the white space before an item leave with it.
    """
    head, chunks = first_bytes(chunks, HEAD_BYTES)
    records = _JsonRemovals(file.path, removals, read_options)
    if begins_list(head.removeprefix(BYTE_ORDER_MARK)):
        yield from _without_items(chunks, records)
        return
    if head.startswith(BYTE_ORDER_MARK):  # which is of the file, and not of its first line
        yield BYTE_ORDER_MARK, 0
        chunks = _without_first_bytes(chunks, len(BYTE_ORDER_MARK))
    yield from _without_lines(chunks, records)


class _JsonRemovals:
    """The records of a file that are removed or cut."""

    def __init__(self, path: str, removals: Removals, read_options: ReadOptions) -> None:
        self.path = path
        self.by_number = removals
        self._records = JsonRecords(read_options)
        self._field = parse_text_field(read_options.text_field)

    def rewritten(self, number: int, record: bytes, where: str) -> bytes:
        """Return what stays of a record; empty: nothing."""
        ranges = self.by_number[number].ranges
        try:
            self._records.parse(bytearray(record))
            return b"" if ranges is None else cut_object(record, self._field, ranges, where)
        except NoTextError as error:
            cure = "; so there is no document to remove, search the corpus again"
            raise CorpusError(where, error.problem + cure) from error


def _without_lines(chunks: Chunks, records: _JsonRemovals) -> Chunks:
    """Yield lines; chunks without a line that is removed or cut are yielded as they are."""
    numbers = sorted(records.by_number)
    line, begun, is_within = 1, bytearray(), False
    for chunk, consumed in _between_line_ends(chunks):
        n_ends = chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
        if bisect_left(numbers, line) == bisect_right(numbers, line + n_ends):
            yield chunk, consumed
            line += n_ends
        else:
            pieces: list[bytes] = []
            for part in chunk.splitlines(keepends=True):
                is_complete = part.endswith(_LINE_ENDS)
                if line not in records.by_number:
                    pieces.append(part)
                else:
                    begun += part
                    if is_complete:
                        pieces.append(_rewritten_line(records, line, begun))
                        begun.clear()
                line += is_complete
            yield b"".join(pieces), consumed
        is_within = not chunk.endswith(_LINE_ENDS) if chunk else is_within
    if begun:
        yield _rewritten_line(records, line, begun), 0
    refuse_left_over(records.by_number, line if is_within else line - 1, records.path, "line")


def _rewritten_line(records: _JsonRemovals, line: int, content: bytearray) -> bytes:
    return records.rewritten(line, bytes(content), f"{records.path}:{line}")


def _without_first_bytes(chunks: Chunks, length: int) -> Chunks:
    for chunk, consumed in chunks:
        yield chunk[length:], consumed
        length = max(length - len(chunk), 0)


def _between_line_ends(chunks: Chunks) -> Chunks:
    """Yield chunks that never end between the two bytes of CR LF."""
    pending = b""
    for chunk, consumed in chunks:
        joined = pending + chunk
        pending = b"\r" if joined.endswith(b"\r") else b""
        yield joined.removesuffix(b"\r"), consumed
    if pending:
        yield pending, 0


def _without_items(chunks: Chunks, records: _JsonRemovals) -> Chunks:
    """Yield a list; the comma and white space before an item leave with it."""
    content, total = bytearray(), 0
    for chunk, consumed in chunks:
        content += chunk
        total += consumed
    written = bytes(content)
    mark_length = len(BYTE_ORDER_MARK) if written.startswith(BYTE_ORDER_MARK) else 0
    try:
        items = msgspec.json.decode(written[mark_length:], type=list[msgspec.Raw])
    except (ValueError, RecursionError) as error:
        raise CorpusError(records.path, f"not a valid JSON list, or truncated: {error}") from error
    refuse_left_over(records.by_number, len(items), records.path, "item")
    position = written.index(b"[") + 1
    pieces, is_first = [written[:position]], True
    for number, item in enumerate(map(bytes, items), 1):
        # Between two items are only a comma and white space, so nothing there looks like an item.
        start = written.index(item, position)
        separator, position = written[position:start], start + len(item)
        remainder = item
        if number in records.by_number:
            remainder = records.rewritten(number, item, f"{records.path}: item {number}")
        if remainder:
            pieces += [separator.replace(b",", b"") if is_first else separator, remainder]
            is_first = False
    yield b"".join([*pieces, written[position:]]), total
