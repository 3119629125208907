"""CSV and TSV without some rows or passages."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any, cast

from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.rewriting.removals import Removals, cut, refuse_left_over
from ngramscan.corpora.streams import ChunkStream
from ngramscan.corpora.tables import LONGEST_CELL, text_place
from ngramscan.errors import CorpusError
from ngramscan.reading.streams import Chunks

_YIELD_CHARACTERS = 1_000_000
_MARK = "\ufeff"


def rewrite_table(
    file: CorpusFile, chunks: Chunks, removals: Removals, read_options: ReadOptions, delimiter: str
) -> Chunks:
    """Yield the content of a table without some of its rows or passages.

    All other rows are yielded as they are, and so are empty lines and the header. In a row that is
    cut, cells have quotation marks only where they need them.
    """
    stream = ChunkStream(chunks)
    pieces: list[str] = []
    size = 0
    table = _RewrittenTable(file.path, removals, read_options, delimiter)
    for written in table.rows(stream):
        pieces.append(written)
        size += len(written)
        if size > _YIELD_CHARACTERS:
            yield "".join(pieces).encode(), stream.taken()
            pieces, size = [], 0
    yield "".join(pieces).encode(), stream.taken()


class _RecordedLines:
    """The lines of a table, which are collected until a row is complete."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._read: list[str] = []
        self._is_first = True

    def __iter__(self) -> Iterator[str]:
        """Yield the lines without the byte order mark."""
        for line in self._lines:
            self._read.append(line)
            yield line.removeprefix(_MARK) if self._is_first else line
            self._is_first = False

    def taken(self) -> str:
        """Return the lines since the last call, as they are."""
        lines, self._read = self._read, []
        return "".join(lines)


class _RewrittenTable:
    """A table without some rows or passages."""

    def __init__(
        self, path: str, removals: Removals, read_options: ReadOptions, delimiter: str
    ) -> None:
        self._path = path
        self._removals = removals
        self._read_options = read_options
        self._delimiter = delimiter

    def rows(self, stream: ChunkStream) -> Iterator[str]:
        """Yield each row, and what is between rows, as it is to be written."""
        buffered = io.BufferedReader(cast("Any", stream))
        lines = _RecordedLines(io.TextIOWrapper(buffered, "utf-8", newline=""))
        csv.field_size_limit(LONGEST_CELL)
        reader = csv.reader(iter(lines), delimiter=self._delimiter, strict=True)
        place, number = None, 0
        try:
            for cells in reader:
                written = lines.taken()
                if cells and place is None:
                    place = text_place(cells, self._path, self._read_options)
                elif cells and place is not None:
                    number += 1
                    if number in self._removals:
                        written = self._rewritten(cells, place, number, written)
                yield written
        except (csv.Error, UnicodeDecodeError) as error:
            problem = f"not a valid table, or truncated: {error}"
            raise CorpusError(f"{self._path}:{reader.line_num}", problem) from error
        refuse_left_over(self._removals, number, self._path, "row")

    def _rewritten(self, cells: Sequence[str], place: int, number: int, written: str) -> str:
        """Return what stays of a row; empty: nothing."""
        ranges = self._removals[number].ranges
        if ranges is None:
            return ""
        where = f"{self._path}: row {number}"
        new_cells = list(cells)
        new_cells[place] = cut(cells[place], ranges, where)
        row = io.StringIO(newline="")
        # Cells with the characters of the line end get quotation marks.
        csv.writer(row, delimiter=self._delimiter, lineterminator="\r\n").writerow(new_cells)
        return row.getvalue().removesuffix("\r\n") + written[len(written.rstrip("\r\n")) :]
