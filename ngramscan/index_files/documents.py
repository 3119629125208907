"""Documents of a corpus as stored in an index: a text and a line of metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from ngramscan.corpora import (
    Batch,
    CorpusFile,
    Piece,
    ReadOptions,
    read_piece,
    without_excluded,
)
from ngramscan.errors import CorpusError


class SourceFile(NamedTuple):
    """A file of a corpus."""

    file: CorpusFile
    name: str
    """Its path in the metadata of documents."""


class IndexedDocument(NamedTuple):
    """One document."""

    record: int
    """The number of its record, or of its line in the piece, from 1."""
    text: bytes | memoryview
    metadata: bytes
    """A line."""


def read_documents(
    piece: Piece, name: str, lines_before: int, read_options: ReadOptions
) -> Iterator[tuple[list[IndexedDocument], Batch]]:
    """Yield the documents of a piece, batch by batch, each with the batch that they come from.

    `lines_before` are lines of the file before the piece. A CorpusError names a document that can't
    be read or is not UTF-8.
    """
    for batch in read_piece(piece, replace(read_options, with_sources=True, with_fields=True)):
        included = without_excluded(batch, read_options.exclude_sources)
        yield list(_of_batch(included, piece, name, lines_before)), batch


def place_of(piece: Piece, record: int) -> str:
    """Return the name of a record of a file in messages."""
    is_line = piece.file.format == "jsonl"
    return f"{piece.file.path}:{record}" if is_line else f"{piece.file.path}: record {record}"


def _of_batch(
    batch: Batch, piece: Piece, name: str, lines_before: int
) -> Iterator[IndexedDocument]:
    is_json = piece.file.format == "jsonl"
    for number, (text, record) in enumerate(zip(batch.texts, batch.records, strict=True)):
        if is_json:
            fields = batch.fields[number]
        else:
            try:
                str(text, "utf-8")
            except UnicodeDecodeError as error:
                problem = f"not UTF-8 at byte {error.start} of the text"
                raise CorpusError(place_of(piece, record), problem) from error
            source = batch.sources[number] if batch.sources else ""
            fields = {"source": source} if source else {}
        row = {"path": name, "linenum": lines_before + record - 1, "metadata": fields}
        yield IndexedDocument(record, text, json.dumps(row).encode("ascii") + b"\n")
