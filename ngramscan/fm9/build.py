"""A corpus → an index: shards in a new folder, each identical to those of the original tools.

As many shards as there are workers are gathered in files and sorted at the same time, then the next
ones. So the memory does not depend on the corpus, and no more text than that is on the disk twice.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from ngramscan.corpora import (
    Batch,
    Corpus,
    CorpusFile,
    Piece,
    ReadOptions,
    read_piece,
    without_excluded,
)
from ngramscan.errors import CorpusError, InputError
from ngramscan.fm9.layout import END, FILES, SEPARATOR
from ngramscan.fm9.new_folder import new_folder
from ngramscan.fm9.places import as_input_error, sync
from ngramscan.fm9.writer import LONGEST_TEXT, MEMORY_PER_BYTE, write_fm9
from ngramscan.processes.pool import Report, Watch, run_on_processes
from ngramscan.progress import Progress, format_bytes

SHARD_BYTES = 1_000_000_000

_PROCESS_BYTES = 200_000_000
"""Memory of a process with its libraries, before it has any text."""
_BUFFER_BYTES = 1 << 20
_UNIT = "bytes indexed"


@dataclass(frozen=True, slots=True)
class BuildRow:
    """One shard of a new index."""

    shard: int
    documents: int
    bytes: int
    """Bytes of the documents, without separators."""
    index_bytes: int
    ratio: float | None
    """Bytes of the index per byte of documents; None: these are empty."""
    seconds: float
    """Seconds of sorting, encoding and writing."""


def build_index(
    corpus: Corpus,
    out_dir: Path,
    progress: Progress,
    read: ReadOptions,
    shard_bytes: int = SHARD_BYTES,
    workers: int = 1,
) -> list[BuildRow]:
    """Build the index of a corpus, with at least one document, in a new or empty folder.

    One shard is written to the folder itself, several to its folders 0, 1, …. Each document is in
    one shard, in the order of the corpus. `shard_bytes` limits the text of a shard, with
    separators, and its metadata; `workers` processes sort at the same time.

    A CorpusError names a document that can't be read, is not UTF-8 or is larger than a shard. An
    InputError says that there is no document, that the folder can't be written, or that memory is
    short.
    """
    _check(shard_bytes, workers)
    with new_folder(out_dir) as work:
        progress.notice(_needs(corpus, shard_bytes, workers))
        documents = _read_documents(corpus, read, progress)
        shards = _gather(documents, shard_bytes, work / "shards")
        rows: list[BuildRow] = []
        while some := list(islice(shards, workers)):
            rows += _index(some, workers, progress)
        if not rows:
            raise InputError(corpus.name, "no document in it")
        _arrange(work / "shards", len(rows), work / "content")
    return rows


def _check(shard_bytes: int, workers: int) -> None:
    if workers < 1:
        raise InputError(f"--workers {workers}", "at least 1 was expected")
    if not 0 < shard_bytes <= LONGEST_TEXT:
        problem = f"1 to {LONGEST_TEXT} bytes were expected"
        raise InputError(f"--shard-size {shard_bytes}", problem)


def _needs(corpus: Corpus, shard_bytes: int, workers: int) -> str:
    sizes = [file.size for file in corpus.files]
    # A JSON escape is longer than its character, so no text is longer than its file.
    is_plain = all(file.path.endswith((".jsonl", ".ndjson", ".txt")) for file in corpus.files)
    if is_plain and None not in sizes:
        shard_bytes = min(shard_bytes, sum(size or 0 for size in sizes))
    memory = (round(shard_bytes * MEMORY_PER_BYTE) + _PROCESS_BYTES) * workers
    shard = format_bytes(shard_bytes)
    text = f"needs up to {format_bytes(memory)} of memory, for a shard of {shard}"
    return f"{text} in each of {workers} processes" if workers > 1 else text


def _index(shards: list[_Shard], workers: int, progress: Progress) -> Iterator[BuildRow]:
    parts = [(shard, name) for name in ("data", "meta") for shard in shards]
    texts = [shard.folder / f"{name}.text" for shard, name in parts]
    progress.expect(sum(shard.sizes[name] for shard, name in parts), _UNIT)
    watch = Watch(lambda amount: progress.advance(amount, _UNIT), progress.notice)
    for done in run_on_processes(index_text, texts, workers, watch):
        if done.result is None:
            assert done.error is not None
            raise done.error
        shard, name = parts[done.task]
        shard.seconds += sum(done.result.values())
        steps = ", ".join(f"{step} in {seconds:.1f} s" for step, seconds in done.result.items())
        size = format_bytes(shard.sizes[name])
        progress.detail(f"shard {shard.number}, {name}: {size} {steps}")
        texts[done.task].unlink()
    for shard in shards:
        index_bytes = sum((shard.folder / f"{name}.part").stat().st_size for name in FILES)
        ratio = round(index_bytes / shard.bytes, 3) if shard.bytes else None
        sizes = shard.bytes, index_bytes, ratio
        yield BuildRow(shard.number, shard.documents, *sizes, round(shard.seconds, 3))


def index_text(text: Path, report: Report) -> dict[str, float]:
    """Write the index of one text, in a worker process; return the seconds of each step."""
    index, size = text.with_suffix(".fm9.part"), text.stat().st_size
    try:
        with as_input_error(index):
            return write_fm9(np.fromfile(text, np.uint8), index, report)
    except MemoryError as error:
        needed = f"{format_bytes(size * MEMORY_PER_BYTE)} for {format_bytes(size)} of text"
        problem = f"memory is short: {needed}; a smaller --shard-size or fewer --workers need less"
        raise InputError(str(index), problem) from error


def _arrange(shards: Path, n_shards: int, content: Path) -> None:
    """Rename the files; until now no folder can be opened as an index."""
    folders = [shards / str(number) for number in range(n_shards)]
    parts = [folder / f"{name}.part" for folder in folders for name in FILES]
    for part in parts:
        sync(part)
    for part in parts:
        part.rename(part.with_suffix(""))
    (folders[0] if n_shards == 1 else shards).rename(content)


# From documents to files with the texts of shards, and with the offsets of documents


class _Document(NamedTuple):
    place: str
    text: bytes | memoryview
    metadata: bytes
    """A line."""


class _Shard:
    """A shard with its texts in files; complete, or being filled."""

    def __init__(self, number: int, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.number = number
        self.folder = folder
        self.documents = self.bytes = 0
        self.sizes = {"data": 1, "meta": 1}
        """Bytes of the files `data.text` and `meta.text`, with their last byte."""
        self.seconds = 0.0
        self._stack = ExitStack()
        self._texts = {name: self._open(f"{name}.text") for name in self.sizes}
        self._offsets = {name: self._open(f"{name}_offset.part") for name in self.sizes}

    def _open(self, name: str) -> BinaryIO:
        return self._stack.enter_context((self.folder / name).open("wb", _BUFFER_BYTES))

    def has_room(self, document: _Document, shard_bytes: int) -> bool:
        data = self.sizes["data"] + 1 + len(document.text)
        return max(data, self.sizes["meta"] + len(document.metadata)) <= shard_bytes

    def add(self, document: _Document) -> None:
        self._append("data", bytes([SEPARATOR]), document.text)
        self._append("meta", document.metadata)
        self.documents += 1
        self.bytes += len(document.text)

    def _append(self, name: str, *parts: bytes | memoryview) -> None:
        self._offsets[name].write(struct.pack("<Q", self.sizes[name] - 1))
        for part in parts:
            self._texts[name].write(part)
            self.sizes[name] += len(part)

    def close(self) -> None:
        with self._stack:
            for text in self._texts.values():
                text.write(bytes([END]))


def _gather(documents: Iterator[_Document], shard_bytes: int, folder: Path) -> Iterator[_Shard]:
    """Yield shards as they fill up, in the order of documents; one is open at a time."""
    number = 0
    document = next(documents, None)
    while document:
        shard = _Shard(number, folder / str(number))
        with closing(shard):
            if not shard.has_room(document, shard_bytes):
                raise _too_large(document, shard_bytes)
            while document and shard.has_room(document, shard_bytes):
                shard.add(document)
                document = next(documents, None)
        yield shard
        number += 1


def _too_large(document: _Document, shard_bytes: int) -> CorpusError:
    sizes = f"{len(document.text)} bytes of text and {len(document.metadata)} of metadata"
    problem = f"the document does not fit into a shard of {format_bytes(shard_bytes)}"
    return CorpusError(document.place, f"{problem}: {sizes} (see --shard-size)")


def _read_documents(corpus: Corpus, read: ReadOptions, progress: Progress) -> Iterator[_Document]:
    for notice in corpus.notices:
        progress.notice(notice)
    options = replace(read, with_sources=True, with_fields=True)
    sizes = [file.size for file in corpus.files if file.size is not None]
    is_sized = len(sizes) == len(corpus.files)
    unit = "bytes read" if is_sized else "files read"
    progress.expect(sum(sizes) if is_sized else len(corpus.files), unit)
    skipped = 0
    for file, name in zip(corpus.files, _relative_names(corpus), strict=True):
        for batch in read_piece(Piece(file, size=file.size), options):
            skipped += batch.skipped
            yield from _of_batch(without_excluded(batch, options.exclude_sources), file, name)
            if is_sized:
                progress.advance(batch.consumed, unit)
        if not is_sized:
            progress.advance(1, unit)
    if skipped:
        progress.notice(f"{corpus.name}: {corpus.skipped_label}: {skipped}")


def _of_batch(batch: Batch, file: CorpusFile, name: str) -> Iterator[_Document]:
    for number, (text, record) in enumerate(zip(batch.texts, batch.records, strict=True)):
        if file.format == "jsonl":
            place, fields = f"{file.path}:{record}", batch.fields[number]
        else:
            place = f"{file.path}: record {record}"
            source = batch.sources[number] if batch.sources else ""
            fields = {"source": source} if source else {}
        try:
            str(text, "utf-8")
        except UnicodeDecodeError as error:
            raise CorpusError(place, f"not UTF-8 at byte {error.start} of the text") from error
        row = {"path": name, "linenum": record - 1, "metadata": fields}
        yield _Document(place, text, json.dumps(row).encode("ascii") + b"\n")


def _relative_names(corpus: Corpus) -> list[str]:
    """Return the paths of the files of a corpus, relative to its folder.

    For a file, a glob or a list, that is the deepest folder that contains all of them.
    """
    paths = [file.path for file in corpus.files]
    location = Path(corpus.name.removeprefix("scan:")).expanduser()
    if corpus.name.startswith("scan:") and location.is_dir():
        return [Path(path).relative_to(location).as_posix() for path in paths]
    levels = zip(*(path.split("/")[:-1] for path in paths), strict=False)
    shared = len(list(takewhile(lambda level: len(set(level)) == 1, levels)))
    return ["/".join(path.split("/")[shared:]) for path in paths]
