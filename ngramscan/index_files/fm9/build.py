"""A corpus → an index: shards, each identical to those of the original tools.

The shards are planned first. Each is then built by one process in a hidden folder, and is published
complete with its manifest; so finished shards stay, and a repeated call builds the missing ones.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ngramscan.corpora import (
    Corpus,
    CorpusFile,
    ReadOptions,
    describe_skipped,
    open_corpus,
    relative_names,
)
from ngramscan.errors import CorpusError, DiskFullError, InputError, as_input_error, reason_of
from ngramscan.index_files import places
from ngramscan.index_files.documents import SourceFile
from ngramscan.index_files.fm9.manifest import (
    MANIFEST,
    PLAN,
    SHARD_FILES,
    ShardEntry,
    describe_shard,
    in_folder,
    origin_in,
    parse_manifest,
    read_manifest,
    to_manifest,
)
from ngramscan.index_files.fm9.plan import (
    CONTENT_STAMP,
    BuildPlan,
    ShardPlan,
    Workers,
    parse_plan,
    plan_shards,
)
from ngramscan.index_files.fm9.reader import Shard, open_shards
from ngramscan.index_files.fm9.shard import ShardTask, build_shard
from ngramscan.index_files.sole_builder import files_in, leftover_path, sole_builder, working_folder
from ngramscan.index_files.sorting import LONGEST_TEXT, longest_text_in, memory_for
from ngramscan.messages import OptionUse
from ngramscan.processes.pool import usable_memory
from ngramscan.progress import Progress, format_bytes
from ngramscan.remote.stores import is_remote

SHARD_BYTES = 1_000_000_000

_PROCESS_BYTES = 200_000_000
"""Memory of a process with its libraries, before it has any text."""
_THREADS = 16
"""For small files in a store, since each takes the time of a request."""
_CURE = "give a new folder, or delete this one"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How an index is built."""

    shard_bytes: int = SHARD_BYTES
    """Maximum of the text of a shard, with separators, and of its metadata."""
    memory: int | None = None
    """Bytes for all workers, which then determine the size of shards."""
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
            limit, option = self.shard_bytes, OptionUse("shard_size", self.shard_bytes)
            problem = f"expected 1 to {LONGEST_TEXT} bytes"
        else:
            limit = longest_text_in(self.memory // self.workers - _PROCESS_BYTES)
            option = OptionUse("memory", self.memory)
            problem = f"expected more than {format_bytes(_PROCESS_BYTES)} for each worker"
        if not 0 < limit <= LONGEST_TEXT:
            raise InputError(option, problem)
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
    """Bytes of the index per byte of documents; None if these are empty."""
    seconds: float | None
    """Seconds of reading, sorting, encoding and writing; None if it already existed."""


def build_index(
    corpus: Corpus,
    place: str | Path,
    progress: Progress,
    read_options: ReadOptions,
    options: BuildOptions = BuildOptions(),
) -> list[BuildRow]:
    """Build the index of a corpus in a new or empty folder or URL, or add the corpus to one.

    One shard is written to the folder itself, several to its folders 0, 1, …. Each document is in
    one shard, in the order of the corpus. After an interruption, the same call builds the shards
    that are missing; after the end of a build, it only says so.

    A CorpusError names a document that can't be read, is not UTF-8 or is larger than a shard, or a
    file that has changed. An InputError says that there is no document, that the place can't be
    written or has something else in it, or that memory is short.
    """
    if options.workers < 1:
        raise InputError(OptionUse("workers", options.workers), "expected at least 1")
    limit = options.shard_limit
    place = str(place) if is_remote(str(place)) else os.path.realpath(place)
    workers = Workers(options.workers, options.scheduler, progress)
    with sole_builder(place), _sources(corpus, place, options.scheduler) as sources:
        for notice in corpus.notices:
            progress.notice(notice)
        requested = BuildPlan(_decisive(read_options, options), sources, [])
        plan = _known_plan(place, requested)
        if plan is None and (entries := _entries_of_same_build(place, requested)):
            progress.notice(f"{place}: already built from these files with these options")
            return _rows(entries, {})
        if plan is None:
            kept_shards = _kept_shards(place, progress) if options.is_adding else _check_free(place)
            plan = replace(
                requested,
                shards=_planned(corpus.name, kept_shards, requested, read_options, limit, workers),
            )
            places.write(place, PLAN, plan.to_json())
        if plan.shards[0].file < 0 and _entry(place, plan.shards[0]) is None:
            places.move(place, "", plan.shards[0].folder, SHARD_FILES)
        try:
            return _finish(plan, requested.digest(), place, read_options, workers)
        except DiskFullError as error:
            error.add_note("; what is done is kept: make room, and run the same command again")
            raise


def _decisive(read_options: ReadOptions, options: BuildOptions) -> dict[str, Any]:
    """Return the options that decide what is in an index."""
    return {
        "the command": f"index {'add' if options.is_adding else 'build'}",
        "--memory": options.memory,
        "--shard-size": None if options.memory else options.shard_bytes,
        **{
            f"--{name.replace('_', '-')}": _named(value)
            for name, value in read_options.content.items()
        },
    }


def _named(value: Any) -> Any:
    """Return the value of an option as a plan has it, and messages about plans."""
    return (", ".join(value) or None) if isinstance(value, tuple) else value


@contextmanager
def _sources(corpus: Corpus, place: str, scheduler: str | None) -> Iterator[list[SourceFile]]:
    """Yield the files of a corpus; a pipe, which can be read once, is copied to a file."""
    files, names = corpus.files, relative_names(corpus)
    if scheduler is not None:
        # The processes of a cluster run in other folders.
        paths = [file.path for file in files]
        full = [path if is_remote(path) else str(Path(path).absolute()) for path in paths]
        files = [replace(file, path=path) for file, path in zip(files, full, strict=True)]
    if not corpus.is_stream:
        yield list(map(SourceFile, files, names))
        return
    [pipe] = corpus.files
    if scheduler is not None:
        raise InputError(pipe.path, "a cluster can't read a pipe; give the files")
    if is_remote(place) and places.read(place, PLAN) is not None:
        problem = f"the build of a pipe was interrupted, on a store it can't resume; {_CURE}"
        raise InputError(place, problem)
    with working_folder(place, "pipe") as folder:
        copy, digest = _copied(pipe, place, folder)
        [file] = open_corpus(str(copy), form=pipe.format).files
        try:
            # Its content says which pipe it is, as times say of other files.
            yield [SourceFile(replace(file, stamp=f"{CONTENT_STAMP}{digest}", status=""), names[0])]
        except CorpusError as error:
            raise CorpusError(
                str(error.where).replace(str(copy), names[0]), error.problem
            ) from error


def _copied(pipe: CorpusFile, place: str, folder: Path) -> tuple[Path, str]:
    """Copy a pipe to a file; return its path and its SHA-256.

    In the folder of an index, the same content has the same path, so that a build can resume.
    """
    digest, copy = hashlib.sha256(), folder / f"pipe.{pipe.format}"
    with as_input_error(copy), copy.open("wb") as out:
        for chunk, _ in pipe.stream or ():
            digest.update(chunk)
            out.write(chunk)
        if not is_remote(place):
            copy = copy.rename(leftover_path(place, "pipe", digest.hexdigest()))
    return copy, digest.hexdigest()


# The plan


def _known_plan(place: str, requested: BuildPlan) -> BuildPlan | None:
    """Return the plan of an unfinished build; an InputError says how this one differs from it."""
    content = places.read(place, PLAN)
    if content is None:
        return None
    plan = parse_plan(content, places.join(place, PLAN))
    if difference := plan.difference(requested):
        raise InputError(place, f"another build is unfinished there: {difference}; {_CURE}")
    # A changed mode or link count of a file does not change its content.
    files = {source.file.path: source for source in requested.files}
    return replace(plan, files=[files[source.file.path] for source in plan.files])


def _entries_of_same_build(place: str, requested: BuildPlan) -> list[ShardEntry]:
    """Return the shards of an index that the same command has finished; empty if there is none.

    An InputError says that files of the index are missing.
    """
    content = places.read(place, MANIFEST)
    if content is None or origin_in(content) != requested.digest():
        return []
    entries = parse_manifest(content, places.join(place, MANIFEST))
    if not is_remote(place):
        for entry in entries:
            for name, file in entry.files.items():
                _refuse_other_size(Path(place, entry.folder, name), file.bytes)
    return entries


def _refuse_other_size(path: Path, expected: int) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        problem = f"can't be read ({reason_of(error).lower()})"
    else:
        if size == expected:
            return
        problem = f"{size:,} bytes, but it was built with {expected:,}"
    raise InputError(str(path), f"{problem}; delete the folder of the index and build it again")


def _check_free(place: str) -> list[ShardPlan]:
    is_taken = places.read(place, MANIFEST) is not None
    if is_taken or (not is_remote(place) and files_in(Path(place))):
        problem = "the folder is not empty; expected a new or an empty one"
        if is_taken:
            problem += "; to add documents to the index in it: ngramscan index add"
        raise InputError(place, problem)
    return []


def _kept_shards(place: str, progress: Progress) -> list[ShardPlan]:
    """Return the shards of an index to add to; each gets a manifest."""
    manifest = places.read(place, MANIFEST)
    if manifest is not None:
        entries = parse_manifest(manifest, places.join(place, MANIFEST))
    elif is_remote(place):
        raise InputError(place, f"no index there: no {MANIFEST}; ngramscan index build makes one")
    else:
        shards = open_shards(Path(place))
        entries = [_described(Path(place), shard, progress) for shard in shards]
    for entry in entries:
        folder = places.join(place, entry.folder)
        if places.read(folder, MANIFEST) is None:
            places.write(folder, MANIFEST, to_manifest([in_folder(entry, "")]))
    return [
        ShardPlan(entry.folder or "0", entry.documents, entry.bytes, 0, -1) for entry in entries
    ]


def _described(root: Path, shard: Shard, progress: Progress) -> ShardEntry:
    """Return the entry of a shard of an index without manifest."""
    folder = shard.directory
    if described := read_manifest(folder):
        [entry] = described
    else:
        progress.notice(f"{folder}: it has no {MANIFEST}; its files are read to make one")
        entry = describe_shard(folder, shard.documents, shard.text_bytes)
    return in_folder(entry, "" if folder == root else folder.name)


def _planned(
    name: str,
    kept_shards: Sequence[ShardPlan],
    requested: BuildPlan,
    read_options: ReadOptions,
    limit: int,
    workers: Workers,
) -> list[ShardPlan]:
    """Return the shards that an index will have, existing ones first."""
    shards, skipped = plan_shards(requested.files, read_options, limit, workers)
    if skipped:
        workers.progress.notice(f"{name}: {describe_skipped(skipped)}")
    if not shards:
        raise InputError(name, "contains no documents")
    return _numbered(kept_shards, shards)


def _numbered(kept_shards: Sequence[ShardPlan], shards: Sequence[ShardPlan]) -> list[ShardPlan]:
    """Return all shards, the new ones with their folders; a single shard has none."""
    first = max(
        (int(shard.folder) + 1 for shard in kept_shards if shard.folder.isdecimal()), default=0
    )
    if kept_shards or len(shards) > 1:
        for number, shard in enumerate(shards, first):
            shard.folder = str(number)
    return [*kept_shards, *shards]


# Building what is missing


def _finish(
    plan: BuildPlan, digest: str, place: str, read_options: ReadOptions, workers: Workers
) -> list[BuildRow]:
    """Build the shards that have no manifest; when all have one, write that of the index."""
    with ThreadPoolExecutor(_THREADS) as threads:
        numbered_entries = enumerate(threads.map(lambda shard: _entry(place, shard), plan.shards))
        entries = {number: entry for number, entry in numbered_entries if entry is not None}
    missing = [number for number in range(len(plan.shards)) if number not in entries]
    seconds = {}
    for number, (entry, steps) in _build(plan, digest, missing, place, read_options, workers):
        entries[number], seconds[number] = entry, round(sum(steps.values()), 3)
        spent = ", ".join(f"{step} in {s:.1f} s" for step, s in steps.items())
        workers.progress.detail(f"shard {number}: {spent}")
    if plan.shards[0].folder:
        named = [in_folder(entries[n], shard.folder) for n, shard in enumerate(plan.shards)]
        places.write(place, MANIFEST, to_manifest(named, digest))
    places.remove(place, PLAN)
    return _rows([entry for _, entry in sorted(entries.items())], seconds)


def _rows(entries: Sequence[ShardEntry], seconds: Mapping[int, float]) -> list[BuildRow]:
    """Return a row per shard; only those that were built now have their seconds."""
    rows = []
    for number, entry in enumerate(entries):
        ratio = round(entry.index_bytes / entry.bytes, 3) if entry.bytes else None
        sizes = entry.documents, entry.bytes, entry.index_bytes
        rows.append(BuildRow(number, *sizes, ratio, seconds.get(number)))
    return rows


def _entry(place: str, shard: ShardPlan) -> ShardEntry | None:
    """Return the manifest entry of a finished shard; None if it is not finished."""
    folder = places.join(place, shard.folder)
    content = places.read(folder, MANIFEST)
    if content is None:
        return None
    where = places.join(folder, MANIFEST)
    [*_, entry] = parse_manifest(content, where)
    if (entry.documents, entry.bytes) != (shard.documents, shard.bytes):
        raise InputError(where, f"not a shard of this build; {_CURE}")
    return entry


def _build(
    plan: BuildPlan,
    digest: str,
    missing: Sequence[int],
    place: str,
    read_options: ReadOptions,
    workers: Workers,
) -> Iterator[tuple[int, tuple[ShardEntry, Mapping[str, float]]]]:
    """Build the missing shards; yield the number, entry and seconds of each."""
    if not missing:
        return
    unit, amounts = "bytes indexed", [sum(shard.sizes.values()) for shard in plan.shards]
    workers.progress.expect(sum(amounts), unit)
    workers.progress.advance(sum(amounts) - sum(amounts[n] for n in missing), unit)
    workers = fitting(workers, [plan.shards[number] for number in missing])
    tasks = [
        ShardTask(
            place,
            plan.shards[n],
            plan.files_of(n),
            read_options,
            built_from="" if plan.shards[n].folder else digest,
        )
        for n in missing
    ]
    with closing(workers.run(build_shard, tasks, [amounts[n] for n in missing], unit)) as results:
        yield from ((missing[done.task], done.value()) for done in results)


def fitting(workers: Workers, shards: Sequence[ShardPlan]) -> Workers:
    """Return as many workers as memory allows, with a notice about the memory they need."""
    largest = max(max(shard.sizes.values()) for shard in shards)
    needed = memory_for(largest) + _PROCESS_BYTES
    available = None if workers.scheduler else usable_memory()
    most_workers = min(workers.count, len(shards))
    count = most_workers if available is None else max(1, min(most_workers, available // needed))
    size = format_bytes(largest)
    text = f"needs up to {format_bytes(needed * count)} of memory, for a shard of {size}"
    if workers.scheduler:
        text += " in each thread of the cluster"
    elif count > 1:
        text += f" in each of {count} processes"
    if available is not None and (count < most_workers or needed > available):
        if count < most_workers:
            text += f"; {count} of {most_workers} workers run at once"
        text += f": {format_bytes(available)} are available"
    workers.progress.notice(text)
    return replace(workers, count=count, task_bytes=needed)
