"""Arrow files and streams, as `datasets.save_to_disk` writes them: one document per row."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from ngramscan.corpora.base import Batch, CorpusFormat, Piece, ReadOptions
from ngramscan.corpora.columns import TextColumns
from ngramscan.corpora.streams import open_file, read_ahead
from ngramscan.errors import CorpusError, reason_of

_FILE_START = b"ARROW1"
"""The first bytes of an Arrow file; a stream, without a list of its batches, has others."""
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_ROWS_PER_BATCH = 1024


def read_arrow(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of an Arrow file or stream."""
    return read_ahead(_read_arrow(piece, options))


def _read_arrow(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    import pyarrow as pa

    path, row = piece.file.path, 0
    with open_file(piece.file, streaming=False) as file:
        try:
            schema, batches = _opened(file, path)
        except (pa.ArrowException, OSError) as error:
            problem = f"not an Arrow file, or truncated: {reason_of(error)[:200]}"
            raise CorpusError(path, problem) from error
        columns, position = TextColumns(schema, path, options), 0
        try:
            for large in batches:
                for start in range(0, large.num_rows, _ROWS_PER_BATCH):
                    rows = large.slice(start, _ROWS_PER_BATCH)
                    yield columns.batch(rows, row, max(0, file.tell() - position))
                    row, position = row + rows.num_rows, max(position, file.tell())
        except (pa.ArrowException, OSError) as error:
            place = f"{path}: row {row + 1} or after"
            raise CorpusError(place, f"can't be read ({reason_of(error)[:200]})") from error
        yield Batch([], [], max(0, (piece.size or position) - position))


def _opened(file: BinaryIO, path: str) -> tuple[Any, Iterator[Any]]:
    """Return the schema and the batches of an open file."""
    import pyarrow as pa

    start = file.read(len(_FILE_START))
    file.seek(0, os.SEEK_END)
    length = file.tell()
    file.seek(max(0, length - len(_END_OF_STREAM)))
    end = file.read()
    file.seek(0)
    if start == _FILE_START:
        reader = pa.ipc.open_file(file)
        return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
    if end != _END_OF_STREAM:
        raise CorpusError(path, "not an Arrow file, or truncated: it does not end as one does")
    stream = pa.ipc.open_stream(file)
    return stream.schema, iter(stream)


ARROW = CorpusFormat(
    name="arrow",
    title="Arrow",
    suffixes=(".arrow", ".feather"),
    read=read_arrow,
    start=re.compile(re.escape(_FILE_START) + rb"|\xff\xff\xff\xff"),
    is_seekable=True,
)
