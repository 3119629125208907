"""Indexes of infini-gram-mini on the local disk: where patterns are, and the text around them.

A query reads only what it needs. All answers are exact; the original program denies the smallest
byte of a shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.fm9.files import NEWLINE, SEPARATOR, Fm9File, Integers, Offsets
from ngramscan.progress import Progress

FILES = ("data.fm9", "data_offset", "meta.fm9", "meta_offset")
"""Of a shard."""

_COMPILING = "compiling the index reader, once: about 5 s"


@dataclass(frozen=True, slots=True)
class ShardWindow:
    """A part of a document. All numbers are bytes."""

    document: int
    """In the shard."""
    document_bytes: int
    text: bytes
    offset: int
    """Of the occurrence in `text`; -1 at the separator in front of the document."""
    start: int
    """Of `text` in the document."""


class Shard:
    """A directory with the index of some documents and that of their metadata.

    >>> shard.windows([296330], needle_bytes=12, context=20)
    [ShardWindow(document=0, document_bytes=4310, text=b'Let us think step by step. …', …)]

    Parameters
    ----------
    directory : Path
        With `data.fm9`, `data_offset`, `meta.fm9` and `meta_offset`.

    Raises
    ------
    IndexFormatError
        A file is missing, or is not what it should be. A part of that only a query can find.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        _require_files(directory)
        self.data = Fm9File(directory / "data.fm9")
        self.meta = Fm9File(directory / "meta.fm9")
        self._documents = Offsets(directory / "data_offset", self.data, SEPARATOR)
        self._lines = Offsets(directory / "meta_offset", self.meta, NEWLINE)

    @property
    def documents(self) -> int:
        """How many there are."""
        return self._documents.entries

    @property
    def text_bytes(self) -> int:
        """Of all documents, without separators."""
        return self.data.n - self.documents - 1

    @property
    def index_bytes(self) -> int:
        """Of the files."""
        return sum((self.directory / name).stat().st_size for name in FILES)

    @property
    def ranks(self) -> int:
        """How many there are: 0 up to, not including, this number."""
        return self.data.n

    def find(self, patterns: Sequence[bytes]) -> Integers:
        """Return the ranks of each pattern's occurrences, as `Fm9File.find` does."""
        return self.data.find(patterns)

    def locate(self, ranks: Sequence[int] | Integers) -> Integers:
        """Return positions in the text, as `Fm9File.locate` does."""
        return self.data.locate(ranks)

    def bounds(self, documents: Sequence[int] | Integers) -> tuple[Integers, Integers]:
        """Return where the texts of some documents start and stop, as positions in the text."""
        starts, stops = self._documents.bounds(np.asarray(documents, np.int64))
        return starts + 1, stops

    def windows(
        self, ranks: Sequence[int] | Integers, needle_bytes: int | Integers, context: int
    ) -> list[ShardWindow]:
        """Return the text around some occurrences, cut from their documents.

        Parameters
        ----------
        ranks : sequence of int
            At least 0, less than `ranks`.
        needle_bytes : int, or array of int64
            The length of what occurs; or the length at each rank.
        context : int
            Bytes on each side, fewer at the ends of the document.

        Returns
        -------
        list of ShardWindow
            In the order of the ranks.

        Raises
        ------
        IndexError
            A rank is out of range.
        """
        positions = self.locate(ranks)
        documents = self._documents.holding(positions)
        firsts, lasts = self.bounds(documents)
        starts = np.maximum(firsts, positions - context)
        # The end of the whole text belongs to the last document; so it may stand behind it.
        stops = np.maximum(starts, np.minimum(lasts, positions + (needle_bytes + context)))
        texts = self.data.extract(starts, stops)
        return [
            ShardWindow(int(document), int(last - first), text, int(at - start), int(start - first))
            for document, first, last, at, start, text in zip(
                documents, firsts, lasts, positions, starts, texts, strict=True
            )
        ]

    def texts(self, documents: Sequence[int] | Integers) -> list[bytes]:
        """Return the whole texts of some documents, by their numbers in the shard."""
        return self.data.extract(*self.bounds(documents))

    def metadata(self, documents: Sequence[int] | Integers) -> list[bytes]:
        """Return the metadata of some documents: for each a line of JSON without its end."""
        starts, stops = self._lines.bounds(np.asarray(documents, np.int64))
        return self.meta.extract(starts, stops - 1)


def open_shards(directory: Path, progress: Progress | None = None) -> list[Shard]:
    """Open an index: a directory that is a shard, or one that has shards in it.

    Parameters
    ----------
    directory : Path
        Directories of shards that have numbers as names are taken in the order of these numbers,
        others before them by name.
    progress : Progress, optional
        Told that the first call on a machine takes longer.

    Returns
    -------
    list of Shard
        At least one.

    Raises
    ------
    IndexFormatError
        There is no index there, or one that is corrupt.
    """
    shards = shard_folders(directory)
    told = Timer(1.5, (progress or Progress()).notice, [_COMPILING])
    told.daemon = True
    told.start()
    try:
        opened = [Shard(shard) for shard in shards]
        opened[0].find([b"\xff"])
        opened[0].locate([0])
    finally:
        told.cancel()
    return opened


def shard_folders(directory: Path) -> list[Path]:
    """Return the directories of the shards of an index, in their order.

    Raises
    ------
    IndexFormatError
        There is none; the message tells what was expected.
    """
    expected = f"expected {', '.join(FILES)}, or directories that have them"
    if not directory.is_dir():
        problem = "not a directory" if directory.exists() else "no such directory"
        raise IndexFormatError(str(directory), f"{problem}; {expected}")
    if any((directory / name).exists() for name in FILES):
        return [directory]
    inner = [path for path in directory.iterdir() if (path / "data.fm9").exists()]
    if not inner:
        raise IndexFormatError(str(directory), f"no index; {expected}")
    return sorted(inner, key=_shard_order)


def _shard_order(path: Path) -> tuple[int, str]:
    number = int(path.name) if path.name.isascii() and path.name.isdigit() else -1
    return number, path.name


def _require_files(directory: Path) -> None:
    for name in FILES:
        if not (directory / name).is_file():
            problem = f"missing; a shard has {', '.join(FILES)}"
            raise IndexFormatError(str(directory / name), problem)
