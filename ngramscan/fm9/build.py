"""A corpus → an index: shards, each identical to those of the original tools.

The shards are planned first. Each is then built by one process, in a hidden folder, and appears
complete with its manifest; so what is finished stays so, and the same call builds what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ngramscan.corpora import Corpus, ReadOptions, describe_skipped
from ngramscan.corpora.base import local_file
from ngramscan.errors import CorpusError, InputError
from ngramscan.fm9 import places
from ngramscan.fm9.documents import Source, relative_names
from ngramscan.fm9.folders import shard_folders
from ngramscan.fm9.manifest import (
    MANIFEST,
    PLAN,
    ShardEntry,
    describe_shard,
    in_folder,
    parse_manifest,
    read_manifest,
    to_manifest,
)
from ngramscan.fm9.plan import Plan, ShardPlan, Workers, parse_plan, plan_shards
from ngramscan.fm9.shard import BuiltShard, ShardTask, build_shard
from ngramscan.fm9.sole_builder import files_in, sole_builder, working_folder
from ngramscan.fm9.writer import LONGEST_TEXT, MEMORY_PER_BYTE
from ngramscan.processes.pool import usable_memory
from ngramscan.progress import Progress, format_bytes

SHARD_BYTES = 1_000_000_000

_PROCESS_BYTES = 200_000_000
"""Memory of a process with its libraries, before it has any text."""
_THREADS = 16
"""For small files on a store, where each takes the time of a request."""
_CURE = "give a new folder, or delete this one"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How an index is built."""

    shard_bytes: int = SHARD_BYTES
    """Maximum of the text of a shard, with separators, and of its metadata."""
    memory: int | None = None
    """Bytes for all workers, from which the size of shards follows instead."""
    workers: int = 1
    """Processes that build a shard each."""
    scheduler: str | None = None
    """The Dask scheduler of a cluster that builds the shards instead."""
    is_adding: bool = False
    """Add the shards to an index that is there."""

    @property
    def shard_limit(self) -> int:
        """The maximum text of a shard; an InputError says that it is too small or too large."""
        if self.memory is None:
            limit, given = self.shard_bytes, f"--shard-size {self.shard_bytes}"
            problem = f"1 to {LONGEST_TEXT} bytes were expected"
        else:
            limit = int((self.memory / self.workers - _PROCESS_BYTES) / MEMORY_PER_BYTE)
            limit, given = min(limit, LONGEST_TEXT), f"--memory {self.memory}"
            problem = f"more than {format_bytes(_PROCESS_BYTES)} for each worker was expected"
        if not 0 < limit <= LONGEST_TEXT:
            raise InputError(given, problem)
        return limit


@dataclass(frozen=True, slots=True)
class BuildRow:
    """One shard of an index."""

    shard: int
    documents: int
    bytes: int
    """Bytes of the documents, without separators."""
    index_bytes: int
    ratio: float | None
    """Bytes of the index per byte of documents; None: these are empty."""
    seconds: float | None
    """Seconds of reading, sorting, encoding and writing; None: it was there before."""


def build_index(
    corpus: Corpus,
    place: str | Path,
    progress: Progress,
    read: ReadOptions,
    options: BuildOptions = BuildOptions(),
) -> list[BuildRow]:
    """Build the index of a corpus in a new or empty folder or URL, or add the corpus to one.

    One shard is written to the folder itself, several to its folders 0, 1, …. Each document is in
    one shard, in the order of the corpus. After an interruption, the same call builds the shards
    that are missing.

    A CorpusError names a document that can't be read, is not UTF-8 or is larger than a shard, or a
    file that has changed. An InputError says that there is no document, that the place can't be
    written or has something else in it, or that memory is short.
    """
    if options.workers < 1:
        raise InputError(f"--workers {options.workers}", "at least 1 was expected")
    limit = options.shard_limit
    place = str(place) if places.is_remote(str(place)) else str(Path(place).resolve())
    workers = Workers(options.workers, options.scheduler, progress)
    with sole_builder(place), _sources(corpus, place, options.scheduler) as sources:
        for notice in corpus.notices:
            progress.notice(notice)
        asked = Plan(_decisive(read, options), sources, [])
        plan = _known_plan(place, asked)
        if plan is None:
            kept = _kept_shards(place, progress) if options.is_adding else _check_free(place)
            shards, skipped = plan_shards(sources, read, limit, workers)
            if skipped:
                progress.notice(f"{corpus.name}: {describe_skipped(skipped)}")
            if not shards:
                raise InputError(corpus.name, "no document in it")
            plan = replace(asked, shards=_numbered(kept, shards))
            places.write(place, PLAN, plan.to_json())
        if plan.shards[0].file < 0 and _entry(place, plan.shards[0]) is None:
            places.move(place, "", plan.shards[0].folder)
        return _finish(plan, place, read, workers)


def _decisive(read: ReadOptions, options: BuildOptions) -> dict[str, Any]:
    """Return the options that decide what is in an index."""
    return {
        "the command": f"index {'add' if options.is_adding else 'build'}",
        "--memory": options.memory,
        "--shard-size": None if options.memory else options.shard_bytes,
        "--text-field": read.text_field,
        "--exclude-source": ", ".join(read.exclude_sources) or None,
        "--skip-bad-lines": read.skip_bad_lines,
    }


@contextmanager
def _sources(corpus: Corpus, place: str, scheduler: str | None) -> Iterator[list[Source]]:
    """Yield the files of a corpus; a pipe, which can be read once, is copied to a file."""
    files, names = corpus.files, relative_names(corpus)
    if scheduler is not None:
        # The processes of a cluster run in other folders.
        paths = [each.path for each in files]
        full = [path if places.is_remote(path) else str(Path(path).absolute()) for path in paths]
        files = [replace(file, path=path) for file, path in zip(files, full, strict=True)]
    if not corpus.is_stream:
        yield list(map(Source, files, names))
        return
    [pipe] = corpus.files
    if scheduler is not None:
        raise InputError(pipe.path, "a cluster can't read a pipe; give the files")
    if places.read(place, PLAN) is not None:
        raise InputError(place, f"the build of a pipe was interrupted, it can't go on; {_CURE}")
    with working_folder(place, "pipe") as folder:
        copy = folder / f"pipe.{pipe.format}"
        with places.as_input_error(copy), copy.open("wb") as out:
            out.writelines(chunk for chunk, _ in pipe.stream or ())
        try:
            yield [Source(local_file(copy, pipe.format), names[0])]
        except CorpusError as error:
            raise CorpusError(error.where.replace(str(copy), names[0]), error.problem) from error


# The plan


def _known_plan(place: str, asked: Plan) -> Plan | None:
    """Return the plan of an unfinished build; an InputError says how this one differs from it."""
    content = places.read(place, PLAN)
    if content is None:
        return None
    plan = parse_plan(content, places.join(place, PLAN))
    if difference := plan.difference(asked):
        raise InputError(place, f"another build is unfinished there: {difference}; {_CURE}")
    return plan


def _check_free(place: str) -> list[ShardPlan]:
    is_taken = places.read(place, MANIFEST) is not None
    if is_taken or (not places.is_remote(place) and files_in(Path(place))):
        problem = "the folder is not empty; a new or an empty one was expected"
        cure = "; to add documents to the index in it: ngramscan index add"
        raise InputError(place, problem + cure * is_taken)
    return []


def _kept_shards(place: str, progress: Progress) -> list[ShardPlan]:
    """Return the shards of an index that is to grow; each gets a manifest of its own."""
    manifest = places.read(place, MANIFEST)
    if manifest is not None:
        entries = parse_manifest(manifest, places.join(place, MANIFEST))
    elif places.is_remote(place):
        raise InputError(place, f"no index there: no {MANIFEST}; ngramscan index build makes one")
    else:
        root = Path(place)
        entries = [_described(root, folder, progress) for folder in shard_folders(root)]
    for entry in entries:
        folder = places.join(place, entry.folder)
        if places.read(folder, MANIFEST) is None:
            places.write(folder, MANIFEST, to_manifest([in_folder(entry, "")]))
    return [ShardPlan(one.folder or "0", one.documents, one.bytes, 0, -1) for one in entries]


def _described(root: Path, folder: Path, progress: Progress) -> ShardEntry:
    """Return the entry of a shard of an index without manifest."""
    if entries := read_manifest(folder):
        entry = entries[0]
    else:
        progress.notice(f"{folder}: has no {MANIFEST}; one is made")
        documents = (folder / "data_offset").stat().st_size // 8
        size = int(np.fromfile(folder / "data.fm9", "<u8", 1)[0])
        entry = describe_shard(folder, documents, size - documents - 1)
    return in_folder(entry, "" if folder == root else folder.name)


def _numbered(kept: Sequence[ShardPlan], shards: Sequence[ShardPlan]) -> list[ShardPlan]:
    """Return all shards, the new ones with their folders."""
    if not kept and len(shards) == 1:
        return [replace(shards[0], folder="")]
    first = max((int(one.folder) + 1 for one in kept if one.folder.isdecimal()), default=0)
    return [*kept, *(replace(one, folder=str(n)) for n, one in enumerate(shards, first))]


# Building what is missing


def _finish(plan: Plan, place: str, read: ReadOptions, workers: Workers) -> list[BuildRow]:
    """Build the shards that have no manifest; when all have one, write that of the index."""
    with ThreadPoolExecutor(_THREADS) as threads:
        entries = dict(enumerate(threads.map(lambda one: _entry(place, one), plan.shards)))
    missing = [number for number, entry in entries.items() if entry is None]
    seconds = {}
    for number, built in _build(plan, missing, place, read, workers):
        entries[number], seconds[number] = built.entry, round(sum(built.seconds.values()), 3)
    found = {number: entry for number, entry in entries.items() if entry is not None}
    if plan.shards[0].folder:
        named = [in_folder(found[n], shard.folder) for n, shard in enumerate(plan.shards)]
        places.write(place, MANIFEST, to_manifest(named))
    places.remove(place, PLAN)
    return [_row(number, entry, seconds.get(number)) for number, entry in found.items()]


def _entry(place: str, shard: ShardPlan) -> ShardEntry | None:
    """Return what the manifest of a finished shard says; None: it is not finished."""
    folder = places.join(place, shard.folder)
    content = places.read(folder, MANIFEST)
    if content is None:
        return None
    where = places.join(folder, MANIFEST)
    [*_, entry] = parse_manifest(content, where)
    if (entry.documents, entry.bytes) != (shard.documents, shard.bytes):
        raise InputError(where, f"not a shard of this build; {_CURE}")
    return entry


def _row(number: int, entry: ShardEntry, seconds: float | None) -> BuildRow:
    ratio = round(entry.index_bytes / entry.bytes, 3) if entry.bytes else None
    return BuildRow(number, entry.documents, entry.bytes, entry.index_bytes, ratio, seconds)


def _build(
    plan: Plan, missing: Sequence[int], place: str, read: ReadOptions, workers: Workers
) -> Iterator[tuple[int, BuiltShard]]:
    if not missing:
        return
    unit, amounts = "bytes indexed", [sum(shard.sizes.values()) for shard in plan.shards]
    workers.progress.expect(sum(amounts), unit)
    workers.progress.advance(sum(amounts) - sum(amounts[n] for n in missing), unit)
    workers = fitting(workers, [plan.shards[number] for number in missing])
    tasks = [ShardTask(place, plan.shards[n], plan.files_of(n), read) for n in missing]
    with closing(workers.run(build_shard, tasks, [amounts[n] for n in missing], unit)) as results:
        for done in results:
            number, built = missing[done.task], done.value()
            steps = ", ".join(f"{step} in {s:.1f} s" for step, s in built.seconds.items())
            workers.progress.detail(f"shard {number}: {steps}")
            yield number, built


def fitting(workers: Workers, shards: Sequence[ShardPlan]) -> Workers:
    """Return as many workers as memory allows, and say what they need."""
    largest = max(max(shard.sizes.values()) for shard in shards)
    needed = round(largest * MEMORY_PER_BYTE) + _PROCESS_BYTES
    available = None if workers.scheduler else usable_memory()
    wanted = min(workers.count, len(shards))
    count = wanted if available is None else max(1, min(wanted, available // needed))
    size = format_bytes(largest)
    text = f"needs up to {format_bytes(needed * count)} of memory, for a shard of {size}"
    if workers.scheduler:
        text += " in each process of the cluster"
    elif count > 1:
        text += f" in each of {count} processes"
    if available is not None and (count < wanted or needed > available):
        is_fewer = f"; {count} of {wanted} workers run at once"
        text += f"{is_fewer * (count < wanted)}: {format_bytes(available)} are available"
    workers.progress.notice(text)
    return replace(workers, count=count)
