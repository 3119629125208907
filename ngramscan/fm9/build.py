"""A corpus → an index: the shards in a new folder, each as the original tools write it.

As many shards as there are workers are gathered in files, sorted at once, and so on. So the memory
does not depend on the corpus, and of its text no more than that lies on the disk a second time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from ngramscan.corpora import Corpus, ReadOptions
from ngramscan.errors import InputError
from ngramscan.fm9.gather import Shard, gather_shards
from ngramscan.fm9.new_folder import as_input_error, new_folder
from ngramscan.fm9.writer import LONGEST_TEXT, MEMORY_PER_BYTE, Written, write_fm9
from ngramscan.processes.pool import Report, Watch, run_on_processes
from ngramscan.progress import Progress, format_bytes

SHARD_BYTES = 1_000_000_000
LARGEST_SHARD_BYTES = LONGEST_TEXT

_PROCESS_BYTES = 200_000_000
"""Of a process with its libraries, before it has any text."""
_UNIT = "bytes indexed"
_NAMES = ("data.fm9", "data_offset", "meta.fm9", "meta_offset")
# JSON escapes are longer than what they stand for, so no text is longer than its file.
_LONGER_THAN_TEXT = (".jsonl", ".ndjson", ".txt")


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How an index is built; the options of the command."""

    read: ReadOptions = field(default_factory=ReadOptions)
    shard_bytes: int = SHARD_BYTES
    """What neither the text of a shard, with separators, nor its metadata exceed."""
    workers: int = 1
    """Processes that sort at once: of each shard, its text and its metadata."""


@dataclass(frozen=True, slots=True)
class BuiltShard:
    """A shard of a new index."""

    shard: int
    documents: int
    bytes: int
    """Of documents, without what separates them."""
    index_bytes: int
    """Of all files of the shard."""
    seconds: float
    """Of sorting, encoding and writing; reading comes on top, and what other workers did meanwhile
    does not count."""


@dataclass(frozen=True, slots=True)
class _Task:
    """A text to index."""

    text: Path
    index: Path


def build_index(
    corpus: Corpus, out_dir: Path, options: BuildOptions, progress: Progress
) -> list[BuiltShard]:
    """Build the index of a corpus in a new folder.

    One shard is written to the folder itself, several to its folders 0, 1, …. A document is in one
    shard, in the order of the corpus.

    Parameters
    ----------
    corpus : Corpus
        With at least one document.
    out_dir : Path
        New or empty. It is there only when all is done.
    options : BuildOptions
        How.
    progress : Progress
        Told of bytes of files read, and of bytes of texts and metadata indexed.

    Raises
    ------
    CorpusError
        A document can't be read, is not UTF-8 or is larger than a shard.
    InputError
        There is no document, the folder can't be written, or memory is short.
    WorkerLostError
        A process was killed, again and again.
    """
    _check(options)
    with new_folder(out_dir) as work:
        progress.notice(_needs(corpus, options))
        shards = gather_shards(corpus, options.read, options.shard_bytes, work / "shards", progress)
        built: list[BuiltShard] = []
        while some := list(islice(shards, options.workers)):
            built += _index_shards(some, options.workers, progress)
        if not built:
            raise InputError(corpus.name, "there is no document to index")
        _arrange(work / "shards", len(built), work / "content")
    return built


def _check(options: BuildOptions) -> None:
    if options.workers < 1:
        raise InputError(f"--workers {options.workers}", "at least 1 was expected")
    if not 0 < options.shard_bytes <= LARGEST_SHARD_BYTES:
        problem = f"1 to {LARGEST_SHARD_BYTES} bytes were expected"
        raise InputError(f"--shard-size {options.shard_bytes}", problem)


def memory_needed(corpus: Corpus, options: BuildOptions) -> tuple[int, int]:
    """Return the bytes of memory that a build needs at most, and the bytes of its largest shard."""
    shard = options.shard_bytes
    sizes = [f.size for f in corpus.files if f.path.endswith(_LONGER_THAN_TEXT)]
    if len(sizes) == len(corpus.files) and None not in sizes:
        shard = min(shard, sum(size or 0 for size in sizes))
    each = round(shard * MEMORY_PER_BYTE) + _PROCESS_BYTES
    return each * options.workers, shard


def _needs(corpus: Corpus, options: BuildOptions) -> str:
    memory, shard = memory_needed(corpus, options)
    text = f"needs up to {format_bytes(memory)} of memory, for a shard of {format_bytes(shard)}"
    return f"{text} in each of {options.workers} processes" if options.workers > 1 else text


def _index_shards(shards: list[Shard], workers: int, progress: Progress) -> list[BuiltShard]:
    """Index the texts of some shards and remove them."""
    parts = [(shard, name) for name in ("data", "meta") for shard in shards]
    tasks = [
        _Task(shard.folder / f"{name}.text", shard.folder / f"{name}.fm9.part")
        for shard, name in parts
    ]
    progress.expect(sum(shard.text_sizes[name] for shard, name in parts), _UNIT)
    watch = Watch(lambda amount: progress.advance(amount, _UNIT), progress.notice)
    written: dict[tuple[int, str], Written] = {}
    for done in run_on_processes(index_text, tasks, workers, watch):
        if done.result is None:
            assert done.error is not None
            raise done.error
        shard, name = parts[done.task]
        written[shard.number, name] = done.result
        progress.detail(_told(shard, name, done.result))
        tasks[done.task].text.unlink()
    return [_built(shard, written) for shard in shards]


def _told(shard: Shard, name: str, written: Written) -> str:
    size = format_bytes(shard.text_sizes[name])
    return (
        f"shard {shard.number}, {name}: {size} sorted in {written.sorting_s:.1f} s, "
        f"encoded in {written.encoding_s:.1f} s, written in {written.writing_s:.1f} s"
    )


def _built(shard: Shard, written: dict[tuple[int, str], Written]) -> BuiltShard:
    files = [shard.folder / f"{name}.part" for name in _NAMES]
    seconds = sum(written[shard.number, name].seconds for name in shard.text_sizes)
    index_bytes = sum(file.stat().st_size for file in files)
    return BuiltShard(shard.number, shard.documents, shard.bytes, index_bytes, round(seconds, 3))


def index_text(task: _Task, report: Report) -> Written:
    """Write the index of one text; what a worker process does."""
    size = task.text.stat().st_size
    try:
        with as_input_error(task.index):
            return write_fm9(np.fromfile(task.text, np.uint8), task.index, report)
    except MemoryError as error:
        needed = f"{format_bytes(size * MEMORY_PER_BYTE)} for {format_bytes(size)} of text"
        problem = f"memory is short: {needed}; a smaller --shard-size or fewer --workers need less"
        raise InputError(str(task.index), problem) from error


def _arrange(shards: Path, n_shards: int, content: Path) -> None:
    """Give the files their names: only now can any folder be opened as an index."""
    folders = [shards / str(number) for number in range(n_shards)]
    for part in _parts(folders):
        with part.open("rb") as file:
            os.fsync(file.fileno())
    for part in _parts(folders):
        part.rename(part.with_suffix(""))
    (folders[0] if n_shards == 1 else shards).rename(content)


def _parts(folders: list[Path]) -> Iterator[Path]:
    return (folder / f"{name}.part" for folder in folders for name in _NAMES)
