"""Parquet: one document per row, its text in one column, read without copying it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ngramscan.corpora.base import Batch, CorpusFile, CorpusFormat, Piece, ReadOptions
from ngramscan.corpora.columns import TextColumns
from ngramscan.corpora.streams import open_file, read_ahead
from ngramscan.errors import CorpusError, reason_of

PART_BYTES = 16_000_000
"""Files are split into runs of row groups of about this size, for several tasks."""

_ROWS_PER_BATCH = 1024
_BUFFER_BYTES = 1 << 20


def split_parquet(file: CorpusFile) -> list[Piece]:
    """Return runs of row groups of a large file, or the file."""
    if file.size is None or file.size <= PART_BYTES:
        return [Piece(file, size=file.size)]
    pieces: list[Piece] = []
    start = size = 0
    with open_parquet(file) as (_, sizes):
        for stop, row_group in enumerate(sizes, 1):
            size += row_group
            if size >= PART_BYTES or stop == len(sizes):
                pieces.append(Piece(file, start, stop, size))
                start, size = stop, 0
    return pieces


@contextmanager
def open_parquet(file: CorpusFile) -> Iterator[tuple[Any, list[int]]]:
    """Yield a Parquet file, and the bytes on disk of each of its row groups."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_file(file, streaming=False) as opened:
        try:
            parquet = pq.ParquetFile(
                opened,
                buffer_size=_BUFFER_BYTES,  # a stream of pages, not a whole column in memory
                pre_buffer=False,
                page_checksum_verification=True,
            )
        except (pa.ArrowException, OSError) as error:
            problem = f"not a Parquet file, or truncated: {reason_of(error)[:200]}"
            raise CorpusError(file.path, problem) from error
        groups = map(parquet.metadata.row_group, range(parquet.num_row_groups))
        columns = ([g.column(n) for n in range(g.num_columns)] for g in groups)
        yield parquet, [sum(column.total_compressed_size for column in group) for group in columns]


def read_parquet(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of a Parquet file, or of a run of its row groups."""
    return read_ahead(_read_parquet(piece, options))


def _read_parquet(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    import pyarrow as pa

    path = piece.file.path
    with open_parquet(piece.file) as (parquet, sizes):
        columns = TextColumns(parquet.schema_arrow, path, options)
        row = sum(parquet.metadata.row_group(n).num_rows for n in range(piece.start))
        groups = range(len(sizes))[piece.start : piece.stop]
        # What is not in a row group (the footer) is counted with the last one.
        unassigned_bytes = piece.size - sum(sizes[n] for n in groups) if piece.size else 0
        for number in groups:
            consumed = sizes[number] + (unassigned_bytes if number == groups[-1] else 0)
            try:
                batches = parquet.iter_batches(
                    _ROWS_PER_BATCH, row_groups=[number], columns=columns.names, use_threads=False
                )
                for batch in batches:
                    yield columns.batch(batch, row, consumed)
                    row += batch.num_rows
                    consumed = 0
            except (pa.ArrowException, OSError) as error:
                place = f"{path}: row group {number}, row {row + 1} or after"
                raise CorpusError(place, f"can't be read ({reason_of(error)[:200]})") from error


PARQUET = CorpusFormat(
    name="parquet",
    title="Parquet",
    suffixes=(".parquet",),
    read=read_parquet,
    split=split_parquet,
    start=re.compile(rb"PAR1"),
    is_seekable=True,
)
