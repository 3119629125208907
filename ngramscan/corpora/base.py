"""Files of a corpus, pieces of them to read, batches of documents, and what a format is."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ngramscan.deciding_options import LIMITS, READING
from ngramscan.reading.formats import InputFormat
from ngramscan.reading.streams import MAX_BYTES, Chunks
from ngramscan.reading.versions import settled_status
from ngramscan.remote.stores import is_http, shown

Format = InputFormat | Literal["python"]
"""The names of formats."""
EMPTY_FILES = "files without documents"
"""The kind under which files without any document are counted."""
BAD_FILES = "files that can't be read"
"""The kind under which files are counted that were left out as a whole."""
SOURCE_FIELDS = ("url", "source_url", "id", "source")
"""Fields or columns that may name the source of a document, by precedence."""


CHANGED = "changed since it was found; run the same command again"
"""The problem of a file that another program has replaced."""


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of a corpus, as it was when the corpus was opened."""

    path: str
    """A local path or a URL, without login and signature."""
    format: Format
    size: int | None = None
    """Bytes on disk; None if unknown before it is read."""
    stamp: str = ""
    """Changes when the content does: time of modification, or a server's tag. Empty: a remote file
    was not asked for yet, or its server gives nothing of the kind.
    """
    status: str = field(default="", compare=False)
    """Time of the last change of a local file, and its inode: no program can set them back."""
    stream: Chunks | None = field(default=None, compare=False, repr=False)
    """The content of a pipe, which can be read once."""
    stream_skipped: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Bytes of a pipe that were left out, by kind; complete when its content ends."""
    address: str = field(default="", repr=False)
    """The requested URL, if it differs from `path`; may contain a login."""
    reader_pays: bool = field(default=False, compare=False)
    """The user pays for reading it from S3 where the bucket's owner wants that."""

    @property
    def location(self) -> str:
        """Return the local path or URL that opens the file."""
        return self.address or self.path


FileOrPath = CorpusFile | str
"""A file, or only the path of one whose name says no format."""


def local_file(path: str | Path, name: Format) -> CorpusFile | None:
    """Return a file on disk with its size and times; None if it is not a regular file."""
    try:
        status = settled_status(path, path)
    except (OSError, ValueError):
        return None
    is_file = stat.S_ISREG(status.st_mode)
    return CorpusFile(str(path), name, status.st_size, *marks_of(status)) if is_file else None


def marks_of(status: os.stat_result) -> tuple[str, str]:
    """Return the `stamp` and the `status` of a local file, which change with its content."""
    return str(status.st_mtime_ns), f"{status.st_ctime_ns}-{status.st_ino}"


def web_path(location: str) -> str:
    """Return the name of a file or list; a web address has no login, query or fragment in it."""
    return shown(location) if is_http(location.removeprefix("@")) else location


def listed_file(url: str, form: Format, reader_pays: bool = False) -> CorpusFile:
    """Return a remote file without any request."""
    path = web_path(url)
    return CorpusFile(path, form, address="" if path == url else url, reader_pays=reader_pays)


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or a part of a large one, which one task reads."""

    file: CorpusFile
    start: int = 0
    """First byte of a plain JSON lines file, or first row group of a Parquet file."""
    stop: int | None = None
    """End of the part, in the same unit; None for the end of the file."""
    size: int | None = None
    """Bytes of the file that belong to the piece; None if unknown."""

    @property
    def is_whole(self) -> bool:
        """Tell whether the piece is the whole file."""
        return self.start == 0 and self.stop is None

    @property
    def identity(self) -> str:
        """Return a key that identifies this piece with this content in this format.

        Empty if nothing does.
        """
        file = self.file
        if not file.stamp:
            return ""
        # Addresses may differ only in their query, which may be secret.
        address = hashlib.sha256(file.address.encode()).hexdigest() if file.address else ""
        parts = (file.format, file.stamp.replace("|", "/"), file.status, address)
        stamp = "-".join(filter(None, parts))
        return "|".join(map(str, (file.path, file.size, stamp, self.start, self.stop)))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How documents are read; the options of the commands."""

    text_field: str = "text"
    """The field or column that holds the text, or a path to it (see `corpora.text_fields`)."""
    skip_bad_lines: bool = False
    """Skip JSON lines that have no text, and count them by kind, instead of stopping."""
    skip_null: bool = False
    """Skip records whose text is null, and count them, instead of stopping."""
    exclude_sources: tuple[str, ...] = ()
    """Globs of sources (paths, URLs, ids) whose documents do not belong to the corpus."""
    most_line_bytes: int = 256_000_000
    """A longer line of JSON, decompressed, is an error."""
    most_text_bytes: int = field(default_factory=MAX_BYTES.get, compare=False, repr=False)
    """A longer document of text or WARC, decompressed, is an error."""
    with_sources: bool = False
    """Read the source of each document, also where none is excluded; set by us, not by users."""
    with_fields: bool = False
    """Read the other fields of JSON lines too; set by us, not by users."""
    field_names: tuple[str, ...] = ()
    """Fields or columns of documents to read besides their text; set by us, not by users."""

    @property
    def needs_sources(self) -> bool:
        """Tell whether sources are to be read."""
        return self.with_sources or bool(self.exclude_sources)

    @property
    def content(self) -> dict[str, Any]:
        """Return the options that decide what the documents of a file are, by name."""
        return {option: getattr(self, name) for option, name in READING.items()}

    @property
    def limits(self) -> dict[str, int]:
        """Return the options that decide whether a file can be read, by name."""
        return {option: getattr(self, name) for option, name in LIMITS.items()}


@dataclass(frozen=True, slots=True)
class Batch:
    """Some consecutive documents of one file."""

    texts: Sequence[bytes | memoryview]
    """UTF-8, one per document."""
    records: Sequence[int]
    """The number of each text, from 1: of its row or record, or of its line in the piece."""
    consumed: int
    """Bytes on disk that were read for this batch."""
    sources: Sequence[str] = ()
    """The URL or id of each text if the format has one and it was requested; else empty."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Lines, records, files or bytes that were skipped, by what is wrong with them."""
    fields: Sequence[dict[str, Any]] = ()
    """The other fields of each JSON line if requested, of other formats the `field_names` that they
    have; else empty."""
    field_names: Sequence[str] = ()
    """The names of all columns besides the text, or of the headers that are read, where fields are
    requested; of JSON lines, each document has its own."""
    lines_read: int = 0
    """Lines of the piece up to the end of this batch; 0 if its records are not lines."""


def as_one_piece(file: CorpusFile) -> list[Piece]:
    """Return a file as the one piece of itself."""
    return [Piece(file, size=file.size)]


@dataclass(frozen=True)
class CorpusFormat:
    """One format of corpora: how its files are recognized, and how they are read.

    Each is defined in the module that reads it, and listed in `corpora.formats`.
    """

    name: Format
    """The value of `--input-format`."""
    title: str
    """The name in messages."""
    suffixes: tuple[str, ...]
    """In small letters; the suffix of a compression may follow."""
    read: Callable[[Piece, ReadOptions], Iterator[Batch]]
    split: Callable[[CorpusFile], list[Piece]] = as_one_piece
    start: re.Pattern[bytes] | None = None
    """The beginning of every file, after white space; None: a file may begin in any way."""
    is_seekable: bool = False
    """Files are read from their end, so not from a pipe, and not compressed as a whole."""
    may_list_phrases: bool = False
    """A file may be meant as a list of phrases to count, one per line."""


def describe_skipped(skipped: Mapping[str, int]) -> str:
    """Return how many lines, records or files were skipped, by kind; empty if none were."""
    kinds = sorted(skipped.items(), key=lambda kind: (-kind[1], kind[0]))
    counts = (f"{number} {_in_number(kind, number)}" for kind, number in kinds)
    return f"skipped: {', '.join(counts)}" if kinds else ""


def _in_number(kind: str, number: int) -> str:
    """Return the name of a kind, with its first noun in the singular for one item."""
    if number != 1:
        return kind
    noun, space, remainder = kind.partition(" ")
    return _SINGULAR.get(noun, noun) + space + remainder


_SINGULAR = {"bytes": "byte", "files": "file", "records": "record"}
