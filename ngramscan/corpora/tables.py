"""CSV and TSV: one document per row below the header, its text in one column."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ngramscan.corpora.base import SOURCE_FIELDS, Batch, CorpusFormat, Piece, ReadOptions
from ngramscan.corpora.encodings import in_utf8
from ngramscan.corpora.streams import ChunkStream, read_chunks
from ngramscan.errors import CorpusError, some_of
from ngramscan.messages import OptionUse

_ROWS_PER_BATCH = 1024
LONGEST_CELL = 2**31 - 1


def read_table(piece: Piece, options: ReadOptions, delimiter: str) -> Iterator[Batch]:
    """Yield the documents of a table; a cell may have line ends between quotes."""
    path, skipped = piece.file.path, Counter[str]()
    stream = ChunkStream(in_utf8(read_chunks(piece.file, skipped), path))
    lines = io.TextIOWrapper(io.BufferedReader(stream), "utf-8-sig", newline="")
    csv.field_size_limit(LONGEST_CELL)
    rows = _CsvRows(csv.reader(lines, delimiter=delimiter, strict=True), path)
    header = rows.next()
    if header is None:
        return
    table = _NeededColumns(header, path, options)
    number = 0
    while True:
        cells = rows.some(_ROWS_PER_BATCH)
        if not cells:
            break
        yield table.batch(cells, number, stream.taken())
        number += len(cells)
    yield Batch([], [], stream.taken(), skipped=skipped)


class _CsvRows:
    """The rows of a file, whose errors name a line."""

    def __init__(self, reader: Any, path: str) -> None:
        self._reader = reader
        self._path = path

    def next(self) -> list[str] | None:
        """Return the next row that is not an empty line; None: the file ends."""
        try:
            return next((row for row in self._reader if row), None)
        except csv.Error as error:
            problem = f"not a valid table, or truncated: {error}"
            raise CorpusError(f"{self._path}:{self._reader.line_num}", problem) from error
        except UnicodeDecodeError as error:
            place = f"{self._path}:{self._reader.line_num + 1} or after"
            raise CorpusError(place, "not UTF-8") from error

    def some(self, most: int) -> list[list[str]]:
        """Return the next rows, `most` of them at most."""
        rows: list[list[str]] = []
        while len(rows) < most and (row := self.next()) is not None:
            rows.append(row)
        return rows


def text_place(header: Sequence[str], path: str, options: ReadOptions) -> int:
    """Return which column has the text; a CorpusError says that there is none, or several."""
    name = options.text_field
    if name not in header:
        names = some_of(header)
        raise CorpusError(
            path, f"no column {name!r}; it has: {names} (see " + OptionUse("text_field") + ")"
        )
    if header.count(name) > 1:
        raise CorpusError(path, f"several columns are named {name!r}; rename all but one")
    return header.index(name)


class _NeededColumns:
    """The columns of a table that are needed."""

    def __init__(self, header: Sequence[str], path: str, options: ReadOptions) -> None:
        self._text = text_place(header, path, options)
        self._path, self._width = path, len(header)
        sources = (header.index(each) for each in SOURCE_FIELDS if each in header)
        self._source = next(sources, None) if options.needs_sources else None
        self._fields = {
            name: header.index(name)
            for name in options.field_names
            if name != options.text_field and header.count(name) == 1
        }
        self._field_names = [name for name in header if name != options.text_field]
        self._reads_fields = bool(options.field_names)

    def batch(self, rows: Sequence[Sequence[str]], before: int, consumed: int) -> Batch:
        """Return the documents of some rows; `before` is the number of rows before them."""
        for number, row in enumerate(rows, before + 1):
            if len(row) != self._width:
                problem = f"it has {len(row)} cells, and the header has {self._width}"
                raise CorpusError(f"{self._path}: row {number}", problem)
        return Batch(
            texts=[row[self._text].encode() for row in rows],
            records=range(before + 1, before + len(rows) + 1),
            consumed=consumed,
            sources=[] if self._source is None else [row[self._source] for row in rows],
            fields=[self._fields_of(row) for row in rows] if self._reads_fields else (),
            field_names=self._field_names if self._reads_fields else (),
        )

    def _fields_of(self, row: Sequence[str]) -> dict[str, str]:
        return {name: row[number] for name, number in self._fields.items()}


CSV = CorpusFormat(
    name="csv",
    title="CSV",
    suffixes=(".csv",),
    read=partial(read_table, delimiter=","),
    may_list_phrases=True,
)
TSV = CorpusFormat(
    name="tsv",
    title="TSV",
    suffixes=(".tsv",),
    read=partial(read_table, delimiter="\t"),
    may_list_phrases=True,
)
