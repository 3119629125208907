"""The division of a corpus into shards, decided before any shard is built.

For this, several processes read all documents once and keep only their sizes. So an unreadable
record is found before hours of sorting; and each shard can be built independently, also after an
interruption, from the place in the corpus where its documents begin.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from os.path import abspath
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ngramscan.corpora import CorpusFile, Piece, ReadOptions, split
from ngramscan.errors import CorpusError, InputError
from ngramscan.index_files.documents import SourceFile, place_of, read_documents
from ngramscan.messages import OptionUse
from ngramscan.processes.dask import run_on_cluster
from ngramscan.processes.pool import Done, Report, Watch, run_on_processes
from ngramscan.progress import Progress, format_bytes
from ngramscan.remote.stores import is_remote

T = TypeVar("T")
R = TypeVar("R")

CONTENT_STAMP = "sha256:"
"""Prefix of the stamp of a file that is identified by its content."""
_TASK_BYTES = 32_000_000
_TASK_PIECES = 500


@dataclass(slots=True)
class ShardPlan:
    """One shard, and where in the corpus its documents begin."""

    folder: str
    """Its folder, relative to the index's; empty if it is the same."""
    documents: int
    bytes: int
    """Bytes of the documents, without separators."""
    metadata_bytes: int
    file: int
    """Number of the file with its first document; -1 if the shard already existed."""
    start: int = 0
    """Start of the piece of the file that contains the document, as in `corpora.Piece`."""
    lines: int = 0
    """Lines of the file before that."""
    record: int = 1
    """Number of the document in the piece."""

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of the texts to index, with separators and their last byte."""
        return {"data": self.bytes + self.documents + 1, "meta": self.metadata_bytes + 1}


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """The content of `plan.json`."""

    options: dict[str, Any]
    """Options that decide what is in the index, by their flag."""
    files: list[SourceFile]
    shards: list[ShardPlan]

    def to_json(self) -> bytes:
        """Return the content of the file."""
        # Names of files need not be UTF-8: in ASCII, an escape stands for any of their bytes.
        return json.dumps(msgspec.to_builtins(self)).encode("ascii")

    def files_of(self, number: int) -> list[SourceFile]:
        """Return the files of a shard, including the one where the next shard begins."""
        last = self.shards[number + 1].file if number + 1 < len(self.shards) else len(self.files)
        return self.files[self.shards[number].file : last + 1]

    def digest(self) -> str:
        """Return a digest that identifies the index of these files and options."""
        files = [
            (source.name, _location(file), file.format, file.size, file.stamp)
            for source in self.files
            for file in [source.file]
        ]
        return hashlib.sha256(json.dumps([self.options, files]).encode("ascii")).hexdigest()

    def difference(self, requested: BuildPlan) -> str:
        """Return the first difference from the requested build; empty if there is none."""
        for flag, value in requested.options.items():
            if self.options.get(flag) != value:
                return f"{flag} was {self.options.get(flag)} and is {value} now"
        before, now = (
            {source.file.path: source for source in plan.files} for plan in (self, requested)
        )
        for path, source in before.items():
            if now.get(path) != source:
                is_there = path in now
                return f"{path} {'has changed' if is_there else 'is no longer in the corpus'}"
        new = next((path for path in now if path not in before), "")
        return f"{new} is new in the corpus" if new else ""


def _location(file: CorpusFile) -> str:
    """Return the path of a file; empty if its content identifies it, wherever it is."""
    if file.stamp.startswith(CONTENT_STAMP):
        return ""
    return file.location if is_remote(file.path) else abspath(file.path)


def parse_plan(content: bytes, where: str) -> BuildPlan:
    """Return the plan in a file; an InputError says that it is not one."""
    try:
        return msgspec.convert(json.loads(content), BuildPlan)
    except (ValueError, RecursionError) as error:
        problem = "not a plan of an index; build into a new folder, or delete this one"
        raise InputError(where, problem) from error


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes of this machine, or a cluster, that do the tasks of a build."""

    count: int
    scheduler: str | None
    progress: Progress
    task_bytes: int = 0
    """Memory that a task needs."""

    def run(
        self, work: Callable[[T, Report], R], tasks: Sequence[T], sizes: Sequence[int], unit: str
    ) -> Generator[Done[R]]:
        """Do tasks, each of some size in a unit of the progress, and yield each that is done."""
        advance = partial(self.progress.advance, unit=unit)
        watch = Watch(advance, self.progress.notice)
        if self.scheduler is None:
            yield from run_on_processes(work, tasks, self.count, watch)
            return
        for done in run_on_cluster(work, tasks, self.scheduler, watch, self.task_bytes):
            advance(sizes[done.task])  # its processes do not report what they are at
            yield done


# Sizes of documents


@dataclass(slots=True)
class _Sizes:
    """The sizes of the documents of a piece."""

    documents: array[int] = field(default_factory=partial(array, "q"))
    """Three numbers each: its record, and the bytes of its text and of its metadata."""
    lines: int = 0
    """Lines of the piece; 0 in formats whose records are numbered from the start of the file."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Lines or files that were skipped, by what is wrong with them."""


_NamedPiece = tuple[Piece, str]
"""A piece, and the path of its file in the metadata."""


def measure(task: tuple[Sequence[_NamedPiece], ReadOptions], report: Report) -> list[_Sizes]:
    """Return the sizes of the documents of some pieces, in a worker process."""
    pieces, read_options = task
    measured = [_Sizes() for _ in pieces]
    for (piece, name), sizes in zip(pieces, measured, strict=True):
        for documents, batch in read_documents(piece, name, 0, read_options):
            for record, text, line in documents:
                sizes.documents.extend((record, len(text), len(line) - len(str(record - 1))))
            sizes.skipped.update(batch.skipped)
            sizes.lines = batch.lines_read
            report(batch.consumed)
    return measured


def plan_shards(
    files: Sequence[SourceFile], read_options: ReadOptions, shard_bytes: int, workers: Workers
) -> tuple[list[ShardPlan], Counter[str]]:
    """Read a corpus; return its shards in order, without their folders, and what was skipped.

    `shard_bytes` limits the text of a shard, with separators, and its metadata. A CorpusError names
    the first document that can't be read, or that is larger.
    """
    pieces = [(piece, name) for file, name in files for piece in split(file)]
    numbers = {source.file.path: number for number, source in enumerate(files)}
    bundles = _bundles(pieces)
    sizes = [sum(piece.size or 0 for piece, _ in bundle) for bundle in bundles]
    workers.progress.expect(sum(sizes), "bytes read")
    tasks = [(bundle, read_options) for bundle in bundles]
    skipped = Counter[str]()

    def measured() -> Generator[tuple[int, Piece, _Sizes]]:
        results = workers.run(measure, tasks, sizes, "bytes read")
        for task, measurements in _in_order(results):
            for (piece, _), piece_sizes in zip(bundles[task], measurements, strict=True):
                yield numbers[piece.file.path], piece, piece_sizes
                skipped.update(piece_sizes.skipped)

    with closing(measured()) as all_sizes:
        return list(_cut(all_sizes, shard_bytes)), skipped


def _bundles(pieces: Sequence[_NamedPiece]) -> list[list[_NamedPiece]]:
    """Return the pieces of each task; small pieces are bundled."""
    bundles: list[list[_NamedPiece]] = []
    size = 0
    for piece in pieces:
        piece_bytes = piece[0].size or _TASK_BYTES
        if not bundles or size + piece_bytes > _TASK_BYTES or len(bundles[-1]) == _TASK_PIECES:
            bundles.append([])
            size = 0
        bundles[-1].append(piece)
        size += piece_bytes
    return bundles


def _in_order(results: Iterable[Done[R]]) -> Iterator[tuple[int, R]]:
    """Yield the results of tasks in the tasks' order; raise the first error in that order."""
    waiting: dict[int, Done[R]] = {}
    task = 0
    for result in results:
        waiting[result.task] = result
        while done := waiting.pop(task, None):
            yield task, done.value()
            task += 1


def _cut(measured: Iterable[tuple[int, Piece, _Sizes]], shard_bytes: int) -> Iterator[ShardPlan]:
    """Yield shards, each with as many documents as the limit allows."""
    lines, shard = 0, None
    for file, piece, sizes in measured:
        lines = lines if piece.start else 0
        rows = np.array(sizes.documents, np.int64).reshape(-1, 3)
        ends = _ends(rows, lines)
        before, first = np.zeros(2, np.int64), 0
        while first < len(rows):
            if shard is None:
                shard = ShardPlan("", 0, 0, 0, file, piece.start, lines, int(rows[first, 0]))
            room = before + shard_bytes - list(shard.sizes.values())
            stops = (np.searchsorted(*columns, "right") for columns in zip(ends, room, strict=True))
            stop = int(min(stops))
            if stop > first:
                text_bytes, metadata_bytes = map(int, ends[:, stop - 1] - before)
                shard.documents += stop - first
                shard.bytes += text_bytes - (stop - first)
                shard.metadata_bytes += metadata_bytes
                before, first = ends[:, stop - 1], stop
            elif shard.documents:
                yield shard
                shard = None
            else:
                raise _too_large(piece, rows[first].tolist(), lines, shard_bytes)
        lines += sizes.lines
    if shard is not None:
        yield shard


def _ends(rows: NDArray[np.int64], lines: int) -> NDArray[np.int64]:
    """Return two rows: bytes of text (with separators) and of metadata up to each document."""
    records, texts, metadata = rows.T
    digits = np.searchsorted(10 ** np.arange(1, 19), records - 1 + lines, "right") + 1
    return np.cumsum([texts + 1, metadata + digits], axis=1)


def _too_large(piece: Piece, row: Sequence[int], lines: int, shard_bytes: int) -> CorpusError:
    record, text_bytes, metadata_bytes = row
    kinds = f"{text_bytes} bytes of text and {metadata_bytes} of metadata"
    problem = f"the document does not fit into a shard of {format_bytes(shard_bytes)}"
    return CorpusError(
        place_of(piece, lines + record), f"{problem}: {kinds} (see " + OptionUse("shard_size") + ")"
    )
