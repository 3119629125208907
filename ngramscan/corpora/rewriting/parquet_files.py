"""Parquet without some rows or passages, written as the file was: columns, codecs, row groups."""

from __future__ import annotations

import re
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
_OTHER_CHOICES = (
    (),
    ("store_decimal_as_integer",),
    ("write_time_adjusted_to_utc",),
    ("store_decimal_as_integer", "write_time_adjusted_to_utc"),
)
_PLAIN_INTEGERS = {
    ("INT32", "Int(bitWidth=32, isSigned=true)"),
    ("INT64", "Int(bitWidth=64, isSigned=true)"),
}
"""Physical and logical types that mean the same as the physical type alone."""
_ORIGIN = re.compile(r", is_from_converted_type=\w+, force_set_converted_type=\w+")
"""The end of a logical type's text that says which program wrote it, not which type it is."""


def rewrite_parquet(
    file: CorpusFile,
    output: BinaryIO,
    removals: Removals,
    read_options: ReadOptions,
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
        rows = RowRemovals(parquet.schema_arrow, file.path, removals, read_options.text_field)
        refuse_left_over(removals, parquet.metadata.num_rows, file.path, "row")
        options = _options_of(parquet, file.path)
        if any(removal.ranges for removal in removals.values()):
            options["sorting_columns"] = None  # the texts may now have another order
        before = 0
        with pq.ParquetWriter(output, parquet.schema_arrow, **options) as writer:
            if not options["store_schema"] and parquet.schema_arrow.metadata:
                # Without a schema, the writer leaves out what else the file says.
                writer.add_key_value_metadata(parquet.schema_arrow.metadata)
            for number, size in enumerate(sizes):
                where = f"{file.path}: row group {number}"
                try:
                    table = parquet.read_row_group(number, use_threads=False)
                except (pa.ArrowException, OSError) as error:
                    problem = f"can't be read ({reason_of(error)[:200]})"
                    raise CorpusError(where, problem) from error
                rewritten = rows.rewritten(table, before)
                before += table.num_rows
                if rewritten.num_rows:
                    _write_group(writer, rewritten, where)
                report(size)
        if file.size is not None:
            report(file.size - sum(sizes))  # what is not in a row group, as the footer


def _write_group(writer: pq.ParquetWriter, table: pa.Table, where: str) -> None:
    """Write rows as one row group."""
    import pyarrow as pa

    try:
        writer.write_table(table, row_group_size=table.num_rows)
    except pa.ArrowException as error:
        problem = f"can't be written again ({reason_of(error)[:200]})"
        raise CorpusError(where, problem) from error


def check_parquet(file: CorpusFile, read_options: ReadOptions) -> None:
    """Raise a CorpusError if a file can't be written again with the same columns."""
    with open_parquet(file) as (parquet, _):
        RowRemovals(parquet.schema_arrow, file.path, {}, read_options.text_field)
        _options_of(parquet, file.path)


def _options_of(parquet: pq.ParquetFile, path: str) -> dict[str, Any]:
    """Return the options of a writer that makes the columns of a file as they are."""
    shared = _options_of_columns(parquet)
    wanted, always_other = _columns_of(parquet), set(_columns_of(parquet))
    for choice in _choices(parquet):
        options = {**shared, **choice}
        written = _columns_written(parquet.schema_arrow, options)
        if written == wanted:
            return options
        always_other.difference_update(written)
    names = ", ".join(sorted(column.path for column in always_other)) or "together"
    problem = f"columns that can't be written again as they are: {names}"
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
        for others in _OTHER_CHOICES:
            yield {**choice, **dict.fromkeys(others, True)}


class _ParquetColumn(NamedTuple):
    """A column as the schema of a file has it."""

    path: str
    physical_type: str
    logical_type: str
    definition_level: int
    repetition_level: int
    length: int


def _columns_of(parquet: pq.ParquetFile) -> list[_ParquetColumn]:
    columns = [parquet.schema.column(number) for number in range(len(parquet.schema.names))]
    return [
        _ParquetColumn(
            path=column.path,
            physical_type=column.physical_type,
            logical_type=_logical_type_of(column),
            definition_level=column.max_definition_level,
            repetition_level=column.max_repetition_level,
            length=column.length,
        )
        for column in columns
    ]


def _logical_type_of(column: Any) -> str:
    name = _ORIGIN.sub("", str(column.logical_type))
    return "None" if (column.physical_type, name) in _PLAIN_INTEGERS else name


def _columns_written(schema: pa.Schema, options: dict[str, Any]) -> list[_ParquetColumn]:
    """Return the columns of a file that a writer makes; those of another schema are others.

    A writer that refuses the schema, or does not know an option that later versions have, makes
    none; where no choice of options makes the wanted columns, the file is refused.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    try:
        with pq.ParquetWriter(sink, schema, **options):
            pass
    except (pa.ArrowException, NotImplementedError, TypeError):
        return []
    written = pq.ParquetFile(pa.BufferReader(sink.getvalue()))
    is_same = written.schema_arrow.equals(schema) and all(
        field.equals(other, check_metadata=True)
        for field, other in zip(written.schema_arrow, schema, strict=True)
    )
    return _columns_of(written) if is_same else []
