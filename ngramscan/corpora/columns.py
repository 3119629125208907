"""Tables of Arrow → documents: one per row, its text in one column or inside one."""

from __future__ import annotations

from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any

from ngramscan.corpora.base import SOURCE_FIELDS, Batch, ReadOptions
from ngramscan.corpora.text_fields import NoTextError, TextField, parse_text_field
from ngramscan.errors import CorpusError, some_of
from ngramscan.messages import OptionUse

if TYPE_CHECKING:
    import pyarrow as pa


class TextColumns:
    """Extracts the documents from the rows of one table."""

    def __init__(self, schema: pa.Schema, path: str, options: ReadOptions) -> None:
        self._path = path
        self._field = parse_text_field(options.text_field)
        self._skips_null = options.skip_null
        self._text = text_column(schema, path, self._field)
        self._is_nested = _is_nested(schema.field(self._text).type)
        others = [name for name in schema.names if name != self._text]
        self._source = ""
        if options.needs_sources:
            self._source = next((name for name in SOURCE_FIELDS if name in others), "")
        self._fields = [name for name in options.field_names if others.count(name) == 1]
        self._field_names = others if options.field_names else []
        read_names = [self._text, *([self._source] if self._source else []), *self._fields]
        self.names = list(dict.fromkeys(read_names))
        """The columns to read: the text, and the source and fields if they are needed."""

    def batch(self, rows: pa.RecordBatch, row: int, consumed: int) -> Batch:
        """Return the documents of some rows, with `row` rows before them."""
        names = rows.schema.names
        column = rows.column(names.index(self._text))
        numbers = range(row + 1, row + rows.num_rows + 1)
        texts = self._nested_texts(column, row) if self._is_nested else self._texts(column, row)
        sources: list[str] = []
        if self._source:
            values = rows.column(names.index(self._source)).to_pylist()
            sources = ["" if value is None else str(value) for value in values]
        fields: list[dict[str, Any]] = []
        if self._field_names:
            fields = rows.select(self._fields).to_pylist() or [{} for _ in range(rows.num_rows)]
        present = [text for text in texts if text is not None]
        if len(present) == len(texts):
            return Batch(
                texts=present,
                records=numbers,
                consumed=consumed,
                sources=sources,
                fields=fields,
                field_names=self._field_names,
            )
        is_present = [text is not None for text in texts]
        return Batch(
            texts=present,
            records=list(compress(numbers, is_present)),
            consumed=consumed,
            sources=list(compress(sources, is_present)),
            fields=list(compress(fields, is_present)),
            field_names=self._field_names,
            skipped={"null": len(texts) - len(present)},
        )

    def _texts(self, column: pa.Array, row: int) -> list[memoryview | None]:
        if column.null_count and not self._skips_null:
            first = row + 1 + column.is_null().to_pylist().index(True)
            problem = "the text is null; expected a string (see " + OptionUse("skip_null") + ")"
            cause = NoTextError("null", problem, is_null=True)
            raise CorpusError(f"{self._path}: row {first}", problem) from cause
        views: list[memoryview | None] = list(_views(_strings(column, self._path)))
        if column.null_count:
            is_null = column.is_null().to_pylist()
            views = [None if null else view for view, null in zip(views, is_null, strict=True)]
        return views

    def _nested_texts(self, column: pa.Array, row: int) -> list[bytes | None]:
        texts: list[bytes | None] = []
        for number, value in enumerate(column.to_pylist(), row + 1):
            try:
                texts.append(self._field.text_of({self._text: value}).encode())
            except NoTextError as error:
                if not (error.is_null and self._skips_null):
                    problem = error.problem
                    if not error.is_null:
                        problem = problem + " (see " + OptionUse("text_field") + ")"
                    raise CorpusError(f"{self._path}: row {number}", problem) from error
                texts.append(None)
        return texts


def text_column(schema: pa.Schema, path: str, field: TextField) -> str:
    """Return the column that a text is in, or inside of; a CorpusError says that there is none."""
    name = field.name_in(schema.names)
    if name not in schema.names:
        names = some_of(schema.names)
        raise CorpusError(
            path, f"no column {name!r}; it has: {names} (see " + OptionUse("text_field") + ")"
        )
    if schema.names.count(name) > 1:
        raise CorpusError(path, f"several columns are named {name!r}; rename all but one")
    if not _may_hold_text(schema.field(name).type):
        cure = " (see " + OptionUse("text_field") + ")"
        problem = f"column {name!r} is {schema.field(name).type}, not strings" + cure
        raise CorpusError(path, problem)
    return name


def _is_nested(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))


def _may_hold_text(kind: pa.DataType) -> bool:
    """Tell whether a type is of strings, or has nested values, which are checked row by row."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _may_hold_text(kind.value_type)
    is_text = (types.is_string, types.is_large_string, types.is_string_view)
    is_bytes = (types.is_binary, types.is_large_binary)  # as programs write that know no UTF-8
    return any(test(kind) for test in (*is_text, *is_bytes)) or _is_nested(kind)


def _strings(column: pa.Array, path: str) -> pa.Array:
    """Return a column as strings in one buffer; a CorpusError says that bytes are not UTF-8."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_string(column.type) or types.is_large_string(column.type):
        return column
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise CorpusError(path, "the text is not UTF-8") from error


def _views(column: pa.Array) -> list[memoryview]:
    """Return the strings of an Arrow array as views into its buffer."""
    import numpy as np
    import pyarrow as pa

    width = np.dtype(np.int64 if pa.types.is_large_string(column.type) else np.int32)
    _, offsets_buffer, data = column.buffers()
    first = column.offset * width.itemsize
    offsets = np.frombuffer(offsets_buffer, width, len(column) + 1, first).tolist()
    view = memoryview(data if data is not None else b"")
    return [view[start:stop] for start, stop in pairwise(offsets)]
