"""Parquet without some rows or passages, written as the file was: columns, codecs, row groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ngramscan.corpora.base import CorpusFile, ReadOptions
from ngramscan.corpora.parquet import open_parquet
from ngramscan.corpora.rewriting.removals import Removals, refuse_left_over
from ngramscan.corpora.rewriting.rows import RowRemovals
from ngramscan.errors import CorpusError, reason_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_VERSIONS = ("2.6", "2.4", "1.0")


def rewrite_parquet(
    file: CorpusFile,
    output: BinaryIO,
    removals: Removals,
    read: ReadOptions,
    report: Callable[[int], None],
) -> None:
    """Write a file without some of its rows or passages, a row group for each one.

    A row group that loses all rows is left out. Metadata of the schema stay, with codecs,
    dictionaries and statistics of each column as in the first row group. A CorpusError says that
    a column can't be written as it was.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_parquet(file) as (parquet, sizes):
        rows = RowRemovals(parquet.schema_arrow, file.path, removals, read.text_field)
        refuse_left_over(removals, parquet.metadata.num_rows, file.path, "row")
        options = _options_of(parquet, file.path)
        if any(removal.ranges for removal in removals.values()):
            options["sorting_columns"] = None  # the texts may now have another order
        before = 0
        with pq.ParquetWriter(output, parquet.schema_arrow, **options) as writer:
            for number, size in enumerate(sizes):
                try:
                    table = parquet.read_row_group(number, use_threads=False)
                except (pa.ArrowException, OSError) as error:
                    problem = f"can't be read ({reason_of(error)[:200]})"
                    raise CorpusError(f"{file.path}: row group {number}", problem) from error
                rewritten = rows.rewritten(table, before)
                before += table.num_rows
                if rewritten.num_rows:
                    writer.write_table(rewritten, row_group_size=rewritten.num_rows)
                report(size)
        if file.size is not None:
            report(file.size - sum(sizes))  # what is not in a row group, as the footer


def check_parquet(file: CorpusFile, read: ReadOptions) -> None:
    """Raise a CorpusError if a file can't be written again with the same columns."""
    with open_parquet(file) as (parquet, _):
        RowRemovals(parquet.schema_arrow, file.path, {}, read.text_field)
        _options_of(parquet, file.path)


def _options_of(parquet: pq.ParquetFile, path: str) -> dict[str, Any]:
    """Return the options of a writer that makes the columns of a file as they are."""
    shared = _options_of_columns(parquet)
    wanted = _columns_of(parquet)
    for choice in _choices(parquet):
        options = {**shared, **choice}
        written = _columns_written(parquet.schema_arrow, options)
        if written == wanted:
            return options
    different = next(
        (column.path for column, new in zip(wanted, written, strict=False) if column != new), ""
    )
    problem = f"column {different!r} can't be written again as it is"
    raise CorpusError(path, f"{problem}; write the file with pyarrow first, or leave it out")


def _options_of_columns(parquet: pq.ParquetFile) -> dict[str, Any]:
    """Return the options that say how values are stored, as in the first row group."""
    metadata = parquet.metadata
    stores_schema = b"ARROW:schema" in (metadata.metadata or {})
    if not metadata.num_row_groups:
        return {"store_schema": stores_schema}
    group = metadata.row_group(0)
    columns = [group.column(number) for number in range(metadata.num_columns)]
    return {
        "store_schema": stores_schema,
        "compression": {column.path_in_schema: _codec_of(column) for column in columns},
        "use_dictionary": [
            column.path_in_schema for column in columns if column.has_dictionary_page
        ],
        "write_statistics": [column.path_in_schema for column in columns if column.is_stats_set],
        "write_page_index": any(column.has_column_index for column in columns),
        "write_page_checksum": True,
        "sorting_columns": list(group.sorting_columns) or None,
        "use_deprecated_int96_timestamps": any(
            column.physical_type == "INT96" for column in columns
        ),
    }


def _codec_of(column: Any) -> str:
    name = str(column.compression)
    return "NONE" if name == "UNCOMPRESSED" else name


def _choices(parquet: pq.ParquetFile) -> Iterator[dict[str, Any]]:
    """Yield options that decide the schema; a file does not record which of them made it."""
    versions = dict.fromkeys((parquet.metadata.format_version, *_VERSIONS))
    for version, is_compliant in product(filter(_VERSIONS.__contains__, versions), (True, False)):
        choice = {"version": version, "use_compliant_nested_type": is_compliant}
        yield choice
        yield {**choice, "store_decimal_as_integer": True}


class _Column(NamedTuple):
    """A column as the schema of a file has it."""

    path: str
    physical_type: str
    logical_type: str
    definition_level: int
    repetition_level: int
    length: int


def _columns_of(parquet: pq.ParquetFile) -> list[_Column]:
    columns = [parquet.schema.column(number) for number in range(len(parquet.schema.names))]
    return [
        _Column(
            path=column.path,
            physical_type=column.physical_type,
            logical_type=str(column.logical_type),
            definition_level=column.max_definition_level,
            repetition_level=column.max_repetition_level,
            length=column.length,
        )
        for column in columns
    ]


def _columns_written(schema: pa.Schema, options: dict[str, Any]) -> list[_Column]:
    """Return the columns of a file that a writer makes; those of another schema are others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    try:
        with pq.ParquetWriter(sink, schema, **options):
            pass
    except (pa.ArrowException, NotImplementedError, TypeError):  # old versions lack options
        return []
    written = pq.ParquetFile(pa.BufferReader(sink.getvalue()))
    is_same = written.schema_arrow.equals(schema, check_metadata=True)
    return _columns_of(written) if is_same else []
