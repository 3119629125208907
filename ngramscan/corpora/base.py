"""What a corpus is to the rest: files, each read as batches of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file of a corpus, and its size in bytes as it lies on disk."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents that follow each other in one file."""

    texts: Sequence[bytes]
    """UTF-8, one per document."""
    records: Sequence[int]
    """The line or record number of each text in the file, from 1."""
    consumed: int
    """Bytes of the file, as it lies on disk, that were read for this batch."""


class Corpus(Protocol):
    """A collection of documents in files."""

    name: str
    files: list[CorpusFile]

    @property
    def left_out(self) -> str:
        """What the corpus does not count, to be told once it was read; empty: nothing."""

    def read(self, file: CorpusFile) -> Iterator[Batch]:
        """Yield the documents of one file.

        Raises
        ------
        CorpusError
            The file is cut, or a document can't be read; names the file and the record.
        """
