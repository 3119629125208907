"""A corpus → the texts of shards, in files, with what tells where each document is."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from ngramscan.corpora import (
    Batch,
    Corpus,
    CorpusFile,
    Piece,
    ReadOptions,
    read_piece,
    without_excluded,
)
from ngramscan.errors import CorpusError
from ngramscan.progress import Progress, format_bytes

SEPARATOR = b"\xff"
"""Before each document."""
END = b"\xfa"
"""Of a text. Like the separator it is in no UTF-8."""

_OFFSET = struct.Struct("<Q")
_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard whose texts lie in files."""

    number: int
    folder: Path
    documents: int
    bytes: int
    """Of documents, without what separates them."""
    text_sizes: dict[str, int]
    """Bytes of the files `data.text` and `meta.text`, by `data` and `meta`."""


@dataclass(frozen=True, slots=True)
class _Document:
    place: str
    text: bytes | memoryview
    metadata: bytes
    """A line."""


def gather_shards(
    corpus: Corpus, read: ReadOptions, shard_bytes: int, folder: Path, progress: Progress
) -> Iterator[Shard]:
    """Yield shards as they are full, the first documents first; one is open at a time.

    Parameters
    ----------
    shard_bytes : int
        What neither the documents of a shard, with separators, nor their metadata exceed.
    folder : Path
        Where each gets a folder, named by its number.

    Raises
    ------
    CorpusError
        A document can't be read, is not UTF-8 or is larger than a shard.
    OSError
        A file can't be written.
    """
    number = 0
    shard: _OpenShard | None = None
    try:
        for document in _documents(corpus, read, progress):
            if shard and not shard.has_room(document, shard_bytes):
                yield shard.close()
                shard, number = None, number + 1
            shard = shard or _OpenShard(number, folder / str(number))
            if not shard.has_room(document, shard_bytes):
                raise _too_large(document, shard_bytes)
            shard.add(document)
        if shard:
            full, shard = shard, None
            yield full.close()
    finally:
        if shard:
            shard.abandon()


def _too_large(document: _Document, shard_bytes: int) -> CorpusError:
    sizes = f"{len(document.text)} bytes of text and {len(document.metadata)} of metadata"
    problem = f"the document does not fit into a shard of {format_bytes(shard_bytes)}"
    return CorpusError(document.place, f"{problem}: {sizes} (see --shard-size)")


class _OpenShard:
    """The files of a shard that is being filled."""

    def __init__(self, number: int, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._number = number
        self._folder = folder
        self._documents = self._bytes = 0
        self._sizes = {"data": len(END), "meta": len(END)}
        self._stack = ExitStack()
        self._texts = {name: self._open(f"{name}.text") for name in self._sizes}
        self._offsets = {name: self._open(f"{name}_offset.part") for name in self._sizes}

    def _open(self, name: str) -> BinaryIO:
        return self._stack.enter_context((self._folder / name).open("wb", _BUFFER_BYTES))

    def has_room(self, document: _Document, shard_bytes: int) -> bool:
        data = self._sizes["data"] + len(SEPARATOR) + len(document.text)
        return max(data, self._sizes["meta"] + len(document.metadata)) <= shard_bytes

    def add(self, document: _Document) -> None:
        self._append("data", SEPARATOR, document.text)
        self._append("meta", document.metadata)
        self._documents += 1
        self._bytes += len(document.text)

    def _append(self, name: str, *parts: bytes | memoryview) -> None:
        self._offsets[name].write(_OFFSET.pack(self._sizes[name] - len(END)))
        for part in parts:
            self._texts[name].write(part)
            self._sizes[name] += len(part)

    def close(self) -> Shard:
        for text in self._texts.values():
            text.write(END)
        self._stack.close()
        return Shard(self._number, self._folder, self._documents, self._bytes, self._sizes)

    def abandon(self) -> None:
        self._stack.close()


def _documents(corpus: Corpus, read: ReadOptions, progress: Progress) -> Iterator[_Document]:
    for notice in corpus.notices:
        progress.notice(notice)
    options = replace(read, with_sources=True, with_fields=True)
    tell = _ReadingProgress(corpus.files, progress)
    skipped = 0
    for file, name in zip(corpus.files, relative_names(corpus), strict=True):
        for batch in read_piece(Piece(file, size=file.size), options):
            skipped += batch.skipped
            kept = without_excluded(batch, options.exclude_sources)
            yield from _of_batch(kept, file, name)
            tell.read(batch.consumed)
        tell.file_done()
    if skipped:
        progress.notice(f"{corpus.name}: {corpus.skipped_label}: {skipped}")


class _ReadingProgress:
    """Tells of bytes of files; of files where bytes are not known before."""

    def __init__(self, files: Sequence[CorpusFile], progress: Progress) -> None:
        self._progress = progress
        sizes = [file.size for file in files if file.size is not None]
        self._by_bytes = len(sizes) == len(files)
        if self._by_bytes:
            progress.expect(sum(sizes), "bytes read")
        else:
            progress.expect(len(files), "files read")

    def read(self, amount: int) -> None:
        if self._by_bytes:
            self._progress.advance(amount, "bytes read")

    def file_done(self) -> None:
        if not self._by_bytes:
            self._progress.advance(1, "files read")


def _of_batch(batch: Batch, file: CorpusFile, name: str) -> Iterator[_Document]:
    is_jsonl = file.format == "jsonl"
    for number, (text, record) in enumerate(zip(batch.texts, batch.records, strict=True)):
        place = f"{file.path}:{record}" if is_jsonl else f"{file.path}: record {record}"
        if is_jsonl:
            fields = batch.fields[number]
        else:
            source = batch.sources[number] if batch.sources else ""
            fields = {"source": source} if source else {}
        _check_utf8(text, place)
        yield _Document(place, text, _metadata_line(name, record - 1, fields))


def _metadata_line(path: str, line: int, fields: dict[str, Any]) -> bytes:
    row = {"path": path, "linenum": line, "metadata": fields}
    return json.dumps(row).encode("ascii") + b"\n"


def _check_utf8(text: bytes | memoryview, place: str) -> None:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise CorpusError(place, f"not UTF-8 at byte {error.start} of the text") from error


def relative_names(corpus: Corpus) -> list[str]:
    """Return the paths of the files of a corpus, relative to its folder.

    Where the corpus is no folder (a file, a glob, a list): to the folder that has all of them.
    """
    paths = [file.path for file in corpus.files]
    location = Path(corpus.name.removeprefix("scan:")).expanduser()
    if corpus.name.startswith("scan:") and location.is_dir():
        return [Path(path).relative_to(location).as_posix() for path in paths]
    parents = [path.split("/")[:-1] for path in paths]
    shared = 0
    for parts in zip(*parents, strict=False):
        if len(set(parts)) > 1:
            break
        shared += 1
    return ["/".join(path.split("/")[shared:]) for path in paths]
