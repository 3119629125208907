"""Rows of Arrow tables, without some rows or passages of their texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ngramscan.corpora.columns import text_column
from ngramscan.corpora.rewriting.placed_texts import numbered, places_of, replaced
from ngramscan.corpora.rewriting.removals import Removal, Removals, remaining
from ngramscan.corpora.text_fields import NoTextError, parse_text_field
from ngramscan.errors import CorpusError, reason_of

if TYPE_CHECKING:
    import pyarrow as pa


class RowRemovals:
    """The rows of one file that are removed or cut."""

    def __init__(self, schema: pa.Schema, path: str, removals: Removals, text_field: str) -> None:
        self._path = path
        self._removals = removals
        self._field = parse_text_field(text_field)
        self._name = text_column(schema, path, self._field)

    def rewritten(self, table: pa.Table, before: int) -> pa.Table:
        """Return the rows that stay of a part of the file, with `before` rows before it.

        Rows that are neither removed nor cut are not touched, whatever their types are.
        """
        import pyarrow as pa

        numbers = [n for n in sorted(self._removals) if before < n <= before + table.num_rows]
        parts: list[pa.Table] = []
        position = 0
        for number in numbers:
            row = number - before - 1
            parts.append(table.slice(position, row - position))
            rewritten = self._rewritten_row(table.slice(row, 1), number)
            if rewritten is not None:
                parts.append(rewritten)
            position = row + 1
        if not numbers:
            return table
        parts.append(table.slice(position))
        return pa.concat_tables(parts)

    def _rewritten_row(self, table: pa.Table, number: int) -> pa.Table | None:
        removal = self._removals[number]
        where = f"{self._path}: row {number}"
        column = table.column(self._name)
        (value,) = column.to_pylist()
        try:
            new_value = self._new_value(value, removal, where)
        except NoTextError as error:
            cure = "; so there is no document to remove, search the corpus again"
            raise CorpusError(where, error.problem + cure) from error
        if removal.ranges is None:
            return None
        place = table.schema.get_field_index(self._name)
        array = _array_of(new_value, column, where)
        return table.set_column(place, table.schema.field(place), array)

    def _new_value(self, value: Any, removal: Removal, where: str) -> Any:
        is_bytes = isinstance(value, bytes)
        placed = numbered(value.decode() if is_bytes else value)
        texts = self._field.texts_of({self._name: placed})
        if removal.ranges is None:
            return value
        new_value = replaced(placed, _cut_texts(texts, removal.ranges, where))
        return new_value.encode() if is_bytes else new_value


def _cut_texts(texts: list[str], ranges: Sequence[tuple[int, int]], where: str) -> dict[int, str]:
    """Return the texts without some passages, by their numbers."""
    stays = remaining([len(text) for text in texts], ranges, where)
    return {
        number: "".join(text[each] for each in slices)
        for (number, _), text, slices in zip(places_of(texts), texts, stays, strict=True)
    }


def _array_of(value: Any, column: pa.ChunkedArray, where: str) -> pa.Array:
    """Return an array of one value as a column has it; a CorpusError says that it would change."""
    import pyarrow as pa

    try:
        # What is next to the text in one value must come back from Python as it was.
        is_exact = pa.array(column.to_pylist(), column.type).equals(column.combine_chunks())
        array = pa.array([value], column.type)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise CorpusError(where, f"its text can't be cut ({reason_of(error)[:200]})") from error
    if not is_exact and not pa.types.is_dictionary(column.type):
        problem = f"its text can't be cut: other values in the column ({column.type}) would change"
        raise CorpusError(where, f"{problem}; remove whole documents")
    return array
