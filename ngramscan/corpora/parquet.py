"""Parquet: one document per row, its text in one column, read without copying it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ngramscan.corpora.ahead import read_ahead
from ngramscan.corpora.base import Batch, CorpusFile, Piece, ReadOptions
from ngramscan.corpora.streams import open_file
from ngramscan.errors import CorpusError

if TYPE_CHECKING:
    import pyarrow as pa

PART_BYTES = 16_000_000
"""Files are split into runs of row groups of about this size, for several tasks."""

_ROWS_PER_BATCH = 1024
_BUFFER_BYTES = 1 << 20
_SOURCE_COLUMNS = ("url", "source_url", "id", "source")


def split_parquet(file: CorpusFile) -> list[Piece]:
    """Return runs of row groups of a large file, or the file.

    Raises
    ------
    CorpusError
        The file can't be opened.
    """
    if file.size is None or file.size <= PART_BYTES:
        return [Piece(file, size=file.size)]
    pieces: list[Piece] = []
    with _opened(file.path) as parquet:
        sizes = _row_group_sizes(parquet)
    start, size = 0, 0
    for number, row_group in enumerate(sizes):
        size += row_group
        if size >= PART_BYTES or number == len(sizes) - 1:
            pieces.append(Piece(file, start, number + 1, size))
            start, size = number + 1, 0
    return pieces


def _row_group_sizes(parquet: Any) -> list[int]:
    """Return the bytes of each row group as it lies on disk."""
    groups = [parquet.metadata.row_group(n) for n in range(parquet.num_row_groups)]
    return [
        sum(group.column(n).total_compressed_size for n in range(group.num_columns))
        for group in groups
    ]


class _opened:  # noqa: N801 - used like a function
    """A Parquet file, open; errors of pyarrow become ours."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open_file(path, streaming=False)

    def __enter__(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.ParquetFile(
                self._file.__enter__(),
                buffer_size=_BUFFER_BYTES,  # a stream of pages, not a whole column in memory
                pre_buffer=False,
                page_checksum_verification=True,
            )
        except (pa.ArrowException, OSError) as error:
            self._file.__exit__(None, None, None)
            raise CorpusError(self._path, f"no Parquet, or cut: {_short(error)}") from error

    def __exit__(self, *exc: Any) -> None:
        self._file.__exit__(None, None, None)


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def read_parquet(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of a Parquet file, or of a run of its row groups.

    Raises
    ------
    CorpusError
        The file is cut or corrupt, has no such column of strings, or a text is null.
    """
    return read_ahead(_read_parquet(piece, options))


def _read_parquet(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    import pyarrow as pa

    path = piece.file.path
    with _opened(path) as parquet:
        columns = [_text_column(parquet, path, options.text_field)]
        if options.needs_sources:
            names = parquet.schema_arrow.names
            columns += [name for name in _SOURCE_COLUMNS if name in names][:1]
        sizes = _row_group_sizes(parquet)
        row = sum(parquet.metadata.row_group(n).num_rows for n in range(piece.start))
        stop = len(sizes) if piece.stop is None else piece.stop
        # What is not in a row group (the footer) is counted with the last one.
        rest = piece.size - sum(sizes[piece.start : stop]) if piece.size else 0
        for number in range(piece.start, stop):
            consumed = sizes[number] + (rest if number == stop - 1 else 0)
            try:
                batches = parquet.iter_batches(
                    _ROWS_PER_BATCH, row_groups=[number], columns=columns, use_threads=False
                )
                for batch in batches:
                    yield _batch(batch, path, row, consumed)
                    row += batch.num_rows
                    consumed = 0
            except (pa.ArrowException, OSError) as error:
                place = f"{path}: row group {number}, row {row + 1} or after"
                raise CorpusError(place, f"can't be read ({_short(error)})") from error


def _text_column(parquet: Any, path: str, name: str) -> str:
    import pyarrow as pa

    schema = parquet.schema_arrow
    if name not in schema.names:
        names = ", ".join(schema.names)
        raise CorpusError(path, f"no column {name!r}; it has: {names} (see --text-field)")
    kind = schema.field(name).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise CorpusError(path, f"column {name!r} is {kind}; strings were expected")
    return name


def _batch(batch: pa.RecordBatch, path: str, row: int, consumed: int) -> Batch:
    import pyarrow as pa

    column = batch.column(0)
    if column.null_count:
        first = column.is_null().to_pylist().index(True)
        raise CorpusError(
            f"{path}: row {row + first + 1}", "the text is null; a string was expected"
        )
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    sources = (
        ["" if value is None else str(value) for value in batch.column(1).to_pylist()]
        if batch.num_columns > 1
        else ()
    )
    records = range(row + 1, row + batch.num_rows + 1)
    return Batch(_views(column), records, consumed, sources)


def _views(column: pa.Array) -> list[memoryview]:
    """Return the strings of an Arrow array as views into its buffer."""
    import numpy as np
    import pyarrow as pa

    is_large = pa.types.is_large_string(column.type)
    _, offsets_buffer, data = column.buffers()
    width = 8 if is_large else 4
    first = column.offset * width
    offsets = np.frombuffer(
        offsets_buffer, np.int64 if is_large else np.int32, len(column) + 1, first
    ).tolist()
    view = memoryview(data) if data is not None else memoryview(b"")
    return [view[start:stop] for start, stop in pairwise(offsets)]
