"""What a corpus is to the rest: pieces of files, each read as batches of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Format = Literal["jsonl", "parquet", "warc", "text", "python"]


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of a corpus, as it was when the corpus was opened."""

    path: str
    """A local path or a URL that fsspec opens."""
    format: Format
    size: int | None = None
    """Bytes as it lies on disk; None: not known before it is read."""
    stamp: str = ""
    """What changes when the content does: time of modification, or a server's tag."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one task reads: a file, or a part of a large one."""

    file: CorpusFile
    start: int = 0
    """First byte of a plain JSON lines file, or first row group of a Parquet file."""
    stop: int | None = None
    """End of the part, in the same unit; None: the end of the file."""
    size: int | None = None
    """Bytes of the file that belong to the piece; None: unknown."""

    @property
    def is_whole(self) -> bool:
        """Tell whether the piece is all of its file."""
        return self.start == 0 and self.stop is None

    @property
    def identity(self) -> str:
        """Return what tells this piece, with this content, from all others."""
        parts = (self.file.path, self.file.size, self.file.stamp, self.start, self.stop)
        return "|".join(map(str, parts))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How documents are read; the options of the commands."""

    text_field: str = "text"
    """The field of JSON lines, or the column of Parquet, that holds the text."""
    skip_bad_lines: bool = False
    """Skip malformed JSON lines, and count them, instead of stopping."""
    exclude_sources: tuple[str, ...] = ()
    """Globs of sources (paths, URLs, ids) whose documents do not belong to the corpus."""
    most_line_bytes: int = 256_000_000
    """A longer line of JSON, decompressed, is an error."""
    with_sources: bool = False
    """Tell the source of each document, also where none is excluded; no choice of the user's."""
    with_fields: bool = False
    """Give the other fields of JSON lines too; no choice of the user's."""

    @property
    def needs_sources(self) -> bool:
        """Tell whether sources are to be read."""
        return self.with_sources or bool(self.exclude_sources)


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents that follow each other in one file."""

    texts: Sequence[bytes | memoryview]
    """UTF-8, one per document."""
    records: Sequence[int]
    """The number of each text, from 1: of its row or record, or of its line in the piece."""
    consumed: int
    """Bytes of the file, as it lies on disk, that were read for this batch."""
    sources: Sequence[str] = field(default=())
    """The URL or id of each text where the format has one and it was asked for; else empty."""
    skipped: int = 0
    """Malformed lines that were skipped, or files that are no text."""
    fields: Sequence[dict[str, Any]] = field(default=())
    """All but the text of each JSON line, in its order, where asked for; else empty."""


class Corpus(Protocol):
    """A collection of documents in files."""

    name: str
    files: list[CorpusFile]

    @property
    def notices(self) -> Sequence[str]:
        """What is to be told before the corpus is read."""

    @property
    def skipped_label(self) -> str:
        """What `Batch.skipped` counts in this corpus, for people."""

    def pieces(self) -> list[Piece]:
        """Return what there is to read; the parts of a file depend on nothing but the file."""
