"""Which documents of a corpus are in which shard of an index, decided before any shard is built.

All documents are read once for it, by several processes, and only their sizes are kept. So a
record that can't be read is found before hours of sorting; and each shard can be built by itself,
again after an interruption, from the place in the corpus where its documents begin.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ngramscan.corpora import CorpusFile, Piece, ReadOptions, split
from ngramscan.errors import CorpusError, InputError, NgramscanError
from ngramscan.fm9.documents import place_of, read_documents
from ngramscan.processes.dask import run_on_cluster
from ngramscan.processes.pool import Done, Report, Watch, run_on_processes
from ngramscan.progress import Progress, format_bytes

T = TypeVar("T")
R = TypeVar("R")

_TASK_BYTES = 32_000_000
_TASK_PIECES = 500


@dataclass(frozen=True, slots=True)
class ShardPlan:
    """One shard, and where in the corpus its documents begin."""

    folder: str
    """Its folder in that of the index; empty: the same folder."""
    documents: int
    bytes: int
    """Bytes of the documents, without separators."""
    metadata_bytes: int
    file: int
    """Number of the file with its first document; -1: the shard was there before."""
    start: int = 0
    """Where a piece of the file begins that has the document, as in `corpora.Piece`."""
    lines: int = 0
    """Lines of the file before that."""
    record: int = 1
    """Number of the document in the piece."""

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of the texts to index, with separators and their last byte."""
        return {"data": self.bytes + self.documents + 1, "meta": self.metadata_bytes + 1}


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file of the corpus, as it was when the index was planned."""

    path: str
    format: Any
    size: int | None
    stamp: str
    name: str
    """Its path in the metadata of documents."""

    def to_file(self) -> CorpusFile:
        """Return the file to read."""
        return CorpusFile(self.path, self.format, self.size, self.stamp)


@dataclass(frozen=True, slots=True)
class Plan:
    """The content of `plan.json`."""

    options: Mapping[str, Any]
    """Options that decide what is in the index, by their flag."""
    files: Sequence[FilePlan]
    shards: Sequence[ShardPlan]

    def to_json(self) -> bytes:
        """Return the content of the file."""
        lists = {
            name: ",\n  ".join(json.dumps(asdict(one)) for one in getattr(self, name))
            for name in ("files", "shards")
        }
        parts = [f'"{name}": [\n  {lines}\n]' for name, lines in lists.items()]
        parts.insert(0, f'"options": {json.dumps(self.options)}')
        return "{{{}}}\n".format(",\n".join(parts)).encode()

    def files_of(self, number: int) -> Sequence[FilePlan]:
        """Return the file in which a shard begins, and those up to where the next one does."""
        last = self.shards[number + 1].file if number + 1 < len(self.shards) else len(self.files)
        return self.files[self.shards[number].file : last + 1]

    def difference(self, options: Mapping[str, Any], files: Sequence[FilePlan]) -> str:
        """Return the first thing in which a corpus and its options differ; empty: nothing."""
        for flag, value in options.items():
            if (planned := self.options.get(flag)) != value:
                return f"{flag} was {_shown(planned)} and is {_shown(value)} now"
        before, now = ({file.path: file for file in each} for each in (self.files, files))
        for path in (file.path for file in self.files):
            if path not in now:
                return f"{path} was in the corpus and is not there now"
            if now[path] != before[path]:
                return f"{path} has changed"
        new = next((path for path in now if path not in before), "")
        return f"{new} is new in the corpus" if new else ""


def _shown(value: Any) -> str:
    return ", ".join(value) or "none" if isinstance(value, list) else str(value)


def parse_plan(content: bytes, where: str) -> Plan:
    """Return the plan in a file; an InputError says that it is not one."""
    try:
        found = json.loads(content)
        files = [FilePlan(*(row[one.name] for one in fields(FilePlan))) for row in found["files"]]
        shards = [
            ShardPlan(*(row[one.name] for one in fields(ShardPlan))) for row in found["shards"]
        ]
        return Plan(dict(found["options"]), files, shards)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = "not a plan of an index; build into a new folder, or delete this one"
        raise InputError(where, problem) from error


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes of this machine, or a cluster, that do the tasks of a build."""

    count: int
    scheduler: str | None
    progress: Progress

    def run(
        self,
        work: Callable[[T, Report], R],
        tasks: Sequence[T],
        amounts: Sequence[int],
        unit: str,
        is_reported: bool = True,
    ) -> Generator[Done[R]]:
        """Do tasks, and yield each as it is done, in any order.

        `amounts` are those of the tasks, in the unit of the progress. Where `work` reports them
        while it is at a task, it `is_reported`; a cluster passes no reports on.
        """
        is_reported = is_reported and self.scheduler is None

        def report(amount: int) -> None:
            if is_reported:
                self.progress.advance(amount, unit)

        watch = Watch(report, self.progress.notice)
        results = (
            run_on_cluster(work, tasks, self.scheduler, watch)
            if self.scheduler
            else run_on_processes(work, tasks, self.count, watch)
        )
        for done in results:
            if not is_reported:
                self.progress.advance(amounts[done.task], unit)
            yield done


# Sizes of documents


class _Sizes(NamedTuple):
    """The sizes of the documents of a piece."""

    records: array[int]
    texts: array[int]
    metadata: array[int]
    """Without the digits of the line's number."""
    lines: int
    """Lines of the piece; 0: in this format, records are numbered from the start of the file."""
    skipped: Mapping[str, int]
    """By what is wrong with them."""
    error: NgramscanError | None
    """Why the rest of the piece can't be read."""


_Named = tuple[Piece, str]
"""A piece, and the path of its file in the metadata."""


def measure(task: tuple[Sequence[_Named], ReadOptions], report: Report) -> list[_Sizes]:
    """Return the sizes of the documents of some pieces, in a worker process."""
    pieces, read = task
    return [_measure(piece, name, read, report) for piece, name in pieces]


def _measure(piece: Piece, name: str, read: ReadOptions, report: Report) -> _Sizes:
    records, texts, metadata = array("q"), array("q"), array("q")
    lines, skipped, error = 0, Counter[str](), None
    try:
        for documents, batch in read_documents(piece, name, 0, read):
            for record, text, line in documents:
                records.append(record)
                texts.append(len(text))
                metadata.append(len(line) - len(str(record - 1)))
            lines = batch.lines_read
            skipped.update(batch.skipped)
            report(batch.consumed)
    except NgramscanError as problem:
        error = problem
    return _Sizes(records, texts, metadata, lines, skipped, error)


def plan_shards(
    files: Sequence[FilePlan], read: ReadOptions, shard_bytes: int, workers: Workers
) -> tuple[list[ShardPlan], Mapping[str, int]]:
    """Read a corpus; return its shards, in the order of its documents, and what was skipped.

    `shard_bytes` limits the text of a shard, with separators, and its metadata. A CorpusError names
    the first document that can't be read, or that is larger.
    """
    pieces = [(piece, file.name) for file in files for piece in split(file.to_file())]
    numbers = {file.path: number for number, file in enumerate(files)}
    is_sized = all(piece.size is not None for piece, _ in pieces)
    unit = "bytes read" if is_sized else "files read"
    bundles = list(_bundles(pieces))
    amounts = [sum(piece.size or 0 if is_sized else 1 for piece, _ in some) for some in bundles]
    workers.progress.expect(sum(amounts), unit)
    tasks = [(bundle, read) for bundle in bundles]
    skipped = Counter[str]()

    def measured() -> Generator[tuple[int, Piece, _Sizes]]:
        results = workers.run(measure, tasks, amounts, unit, is_sized)
        for task, sizes in _in_order(results):
            for (piece, _), one in zip(bundles[task], sizes, strict=True):
                yield numbers[piece.file.path], piece, one
                skipped.update(one.skipped)

    with closing(measured()) as all_sizes:
        return list(_cut(all_sizes, shard_bytes)), skipped


def _bundles(pieces: Sequence[_Named]) -> Iterator[list[_Named]]:
    """Yield the pieces of each task: many small ones, so that it is worth handing out."""
    bundle: list[_Named] = []
    size = 0
    for one in pieces:
        piece_bytes = one[0].size or _TASK_BYTES
        if bundle and (size + piece_bytes > _TASK_BYTES or len(bundle) == _TASK_PIECES):
            yield bundle
            bundle, size = [], 0
        bundle.append(one)
        size += piece_bytes
    yield bundle


def _in_order(results: Iterable[Done[R]]) -> Iterator[tuple[int, R]]:
    """Yield the results of tasks in the order of these, as early as that is possible."""
    waiting: dict[int, R] = {}
    task = 0
    for done in results:
        if done.result is None:
            assert done.error is not None
            raise done.error
        waiting[done.task] = done.result
        while task in waiting:
            yield task, waiting.pop(task)
            task += 1


def _cut(measured: Iterable[tuple[int, Piece, _Sizes]], shard_bytes: int) -> Iterator[ShardPlan]:
    """Yield shards, each with as many documents as the limit allows."""
    count = lines = 0
    shard = None
    for file, piece, sizes in measured:
        lines = lines if piece.start else 0
        ends = _ends(sizes, lines)
        before, first = np.zeros(2, np.int64), 0
        while first < len(sizes.records):
            if shard is None:
                place = file, piece.start, lines, sizes.records[first]
                shard = ShardPlan(str(count), 0, 0, 0, *place)
            room = before + shard_bytes - list(shard.sizes.values())
            stop = int(min(map(_number_up_to, ends, room)))
            if stop > first:
                shard = _with(shard, stop - first, *(ends[:, stop - 1] - before))
                before, first = ends[:, stop - 1], stop
            elif shard.documents:
                yield shard
                shard, count = None, count + 1
            else:
                raise _too_large(piece, sizes, first, lines, shard_bytes)
        if sizes.error is not None:
            raise sizes.error
        lines += sizes.lines
    if shard is not None:
        yield shard


def _ends(sizes: _Sizes, lines: int) -> NDArray[np.int64]:
    """Return two rows: bytes of text (with separators) and of metadata up to each document."""
    numbers = np.array(sizes.records, np.int64) - 1 + lines
    digits = np.searchsorted(10 ** np.arange(1, 19), numbers, "right") + 1
    texts, metadata = np.array(sizes.texts, np.int64) + 1, np.array(sizes.metadata, np.int64)
    return np.cumsum([texts, metadata + digits], axis=1)


def _number_up_to(ends: NDArray[np.int64], limit: int) -> np.intp:
    return np.searchsorted(ends, limit, "right")


def _with(shard: ShardPlan, documents: int, text_bytes: int, metadata_bytes: int) -> ShardPlan:
    return replace(
        shard,
        documents=shard.documents + documents,
        bytes=shard.bytes + int(text_bytes) - documents,
        metadata_bytes=shard.metadata_bytes + int(metadata_bytes),
    )


def _too_large(
    piece: Piece, sizes: _Sizes, number: int, lines: int, shard_bytes: int
) -> CorpusError:
    text_bytes, metadata_bytes = sizes.texts[number], sizes.metadata[number]
    kinds = f"{text_bytes} bytes of text and {metadata_bytes} of metadata"
    problem = f"the document does not fit into a shard of {format_bytes(shard_bytes)}"
    place = place_of(piece, lines + sizes.records[number])
    return CorpusError(place, f"{problem}: {kinds} (see --shard-size)")
