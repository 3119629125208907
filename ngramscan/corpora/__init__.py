"""A corpus → batches of documents.

`read_piece` is the only place that names the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat

from ngramscan.corpora.base import Batch, Corpus, CorpusFile, Format, Piece, ReadOptions
from ngramscan.corpora.files import find_files, has_changed, matches
from ngramscan.corpora.jsonl import lines_before, read_jsonl, split_jsonl
from ngramscan.corpora.parquet import read_parquet, split_parquet
from ngramscan.corpora.python import PythonCorpus, read_python
from ngramscan.corpora.text import read_text
from ngramscan.corpora.warc import read_warc

__all__ = [
    "Batch",
    "Corpus",
    "CorpusFile",
    "FileCorpus",
    "Piece",
    "PythonCorpus",
    "ReadOptions",
    "bytes_before",
    "has_changed",
    "open_corpus",
    "read_piece",
    "records_before",
    "split",
    "without_excluded",
]

_READERS: dict[Format, Callable[[Piece, ReadOptions], Iterator[Batch]]] = {
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "warc": read_warc,
    "text": read_text,
    "python": read_python,
}
_SPLITTERS: dict[Format, Callable[[CorpusFile], list[Piece]]] = {
    "jsonl": split_jsonl,
    "parquet": split_parquet,
}


class FileCorpus:
    """The files of one location."""

    skipped_label = "malformed lines skipped"

    def __init__(self, name: str, files: list[CorpusFile], notices: list[str]) -> None:
        self.name = name
        self.files = files
        self.notices: Sequence[str] = notices

    def pieces(self) -> list[Piece]:
        """Return what there is to read: parts of large files where the format allows."""
        return [piece for file in self.files for piece in split(file)]


def split(file: CorpusFile) -> list[Piece]:
    """Return the pieces of one file."""
    splitter = _SPLITTERS.get(file.format)
    return splitter(file) if splitter else [Piece(file, size=file.size)]


def open_corpus(location: str, exclude: tuple[str, ...] = ()) -> FileCorpus:
    """Return the corpus of a location; see `files.find_files` for what it may be.

    Raises
    ------
    InputError
        Nothing is there, or nothing of a known format.
    """
    found = find_files(location, exclude)
    notices = []
    if found.of_other_formats:
        notices.append(
            f"scan:{location}: files of other formats left out: {found.of_other_formats}"
        )
    return FileCorpus(f"scan:{location}", found.files, notices)


def read_piece(piece: Piece, options: ReadOptions) -> Iterator[Batch]:
    """Yield the documents of a piece.

    Raises
    ------
    CorpusError
        The file is cut, or a document can't be read; names the file and the record.
    """
    return _READERS[piece.file.format](piece, options)


def records_before(pieces: Sequence[Piece], report: Callable[[int], None]) -> Iterator[int]:
    """Yield what is to be added to the numbers of records of some pieces of a file, in order.

    Reports the bytes that are read for it: `bytes_before`.

    Raises
    ------
    CorpusError
        The file can't be read.
    """
    if pieces[0].file.format == "jsonl":
        return lines_before(pieces, report)
    return repeat(0, len(pieces))


def bytes_before(pieces: Sequence[Piece]) -> int:
    """Return how much of a file is read for `records_before`."""
    return pieces[-1].start if pieces[0].file.format == "jsonl" else 0


def without_excluded(batch: Batch, globs: tuple[str, ...]) -> Batch:
    """Return the documents of a batch whose sources match none of some globs."""
    if not globs or not batch.sources:
        return batch
    kept = [n for n, source in enumerate(batch.sources) if not matches(source, globs)]
    return Batch(
        [batch.texts[n] for n in kept],
        [batch.records[n] for n in kept],
        batch.consumed,
        [batch.sources[n] for n in kept],
        batch.skipped,
        [batch.fields[n] for n in kept] if batch.fields else (),
    )
