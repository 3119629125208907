"""The document that a line of JSON holds: its text and its other fields.

An empty line is not a document; an empty text is one. NaN, Infinity and bytes that are not UTF-8
are accepted in other fields than the text; of a key that appears twice the last counts. A text
that is not a string, or that has a lone surrogate (which UTF-8 can't hold), is an error.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from operator import attrgetter
from typing import Any

import msgspec

from ngramscan.corpora.base import SOURCE_FIELDS, Batch, ReadOptions
from ngramscan.corpora.lines import count_newlines
from ngramscan.corpora.text_fields import NoTextError, parse_text_field

_SOURCES_OF = attrgetter(*SOURCE_FIELDS)


class LineParser:
    """Parses blocks of lines and knows how many lines it has read."""

    def __init__(self, options: ReadOptions) -> None:
        self.lines_read = 0
        self._options = options
        self._records = JsonRecords(options)
        self._reads_line_by_line = self._records.reads_fields or (
            options.needs_sources and options.text_field in SOURCE_FIELDS
        )
        # A text that is its own source would be a field of that name twice.
        with_sources = options.needs_sources and not self._reads_line_by_line
        sources = [(name, Any, None) for name in SOURCE_FIELDS] if with_sources else []
        row = msgspec.defstruct(
            "Row", [("text", str), *sources], rename={"text": options.text_field}, gc=False
        )
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(row)

    def parse(self, block: bytearray, consumed: int) -> Batch:
        """Return the documents of some lines; `lines_read` stops before a line that is wrong."""
        if not self._reads_line_by_line:
            n_lines = count_newlines(block) + (not block.endswith(b"\n"))
            texts, sources = list[bytes](), list[str]()
            with suppress(ValueError, RecursionError):
                # An empty line or one that it does not take: line by line below.
                rows = self._decoder.decode_lines(block)
                texts = [row.text.encode() for row in rows]
                if self._options.needs_sources:
                    sources = [_source(_SOURCES_OF(row)) for row in rows]
            if texts and len(texts) == n_lines:
                self.lines_read += n_lines
                records = range(self.lines_read - n_lines + 1, self.lines_read + 1)
                return Batch(texts, records, consumed, sources, lines_read=self.lines_read)
        return self._parse_lines(block, consumed)

    def _parse_lines(self, block: bytearray, consumed: int) -> Batch:
        documents = JsonDocuments(self._records)
        lines = block.split(b"\n")
        after = self.lines_read + len(lines) - (not lines[-1])
        for number, line in enumerate(lines, self.lines_read + 1):
            self.lines_read = number - 1
            if line.strip():
                documents.add(number, line)
        self.lines_read = after
        return documents.batch(consumed, lines_read=after)


class JsonDocuments:
    """The documents of some records, as far as they were added."""

    def __init__(self, records: JsonRecords) -> None:
        self._records = records
        self._texts: list[bytes] = []
        self._numbers: list[int] = []
        self._sources: list[str] = []
        self._fields: list[dict[str, Any]] = []
        self._skipped = Counter[str]()

    def add(self, number: int, line: bytearray) -> None:
        """Add the document of a record, or count that it is skipped; a NoTextError says neither."""
        try:
            text, row = self._records.parse(line)
        except NoTextError as error:
            if not self._records.may_skip(error):
                raise
            self._skipped[error.kind] += 1
            return
        self._texts.append(text)
        self._numbers.append(number)
        self._sources.append(_source(map(row.get, SOURCE_FIELDS)))
        self._fields.append(row)

    def batch(self, consumed: int, lines_read: int = 0) -> Batch:
        """Return the documents."""
        return Batch(
            texts=self._texts,
            records=self._numbers,
            consumed=consumed,
            sources=self._sources,
            skipped=self._skipped,
            fields=self._fields if self._records.reads_fields else [],
            lines_read=lines_read,
        )


class JsonRecords:
    """Takes the text out of JSON objects."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self._field = parse_text_field(options.text_field)
        self.reads_fields = options.with_fields or bool(options.field_names)

    def may_skip(self, error: NoTextError) -> bool:
        """Tell whether a record that has no text may be left out."""
        return self.options.skip_bad_lines or (self.options.skip_null and error.is_null)

    def parse(self, line: bytearray) -> tuple[bytes, dict[str, Any]]:
        """Return the text of an object, in UTF-8, and its other fields."""
        try:
            row = _loads(line)
        except UnicodeDecodeError as error:
            problem = f"not UTF-8 at byte {error.start} of the line"
            raise NoTextError("not UTF-8", problem) from error
        except (ValueError, RecursionError) as error:
            raise NoTextError("not valid JSON", f"not valid JSON: {error}") from error
        if not isinstance(row, dict):
            problem = "not a JSON object; expected one with the text in a field"
            raise NoTextError("not a JSON object", problem)
        text = self._field.text_of(row)
        del row[self._field.name_in(row)]
        try:
            return text.encode(), row
        except UnicodeEncodeError as error:
            problem = f"field {self._field.spec!r} has a lone surrogate at character {error.start}"
            raise NoTextError("with a lone surrogate", problem) from error


def _source(values: Iterable[object]) -> str:
    """Return the URL or id of a document, from the values of the fields that may name it."""
    for value in values:
        if value is not None:
            return str(value)
    return ""


def _loads(line: bytearray) -> Any:
    """Decode JSON; msgspec needs half the memory, but refuses some texts that `json` accepts."""
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return json.loads(line)
