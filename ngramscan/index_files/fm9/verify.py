"""Checks of an index: its files against their manifest, then the content of each shard.

A manifest reveals every bit that has changed since the build, but not errors of the build itself;
so the content is checked with or without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.findings import Finding
from ngramscan.index_files.fm9.checks import CHECKED, check_text, in_threads, memory_needed
from ngramscan.index_files.fm9.folders import shard_folders
from ngramscan.index_files.fm9.layout import FILES, NEWLINE, SEPARATOR
from ngramscan.index_files.fm9.manifest import (
    MANIFEST,
    FileEntry,
    ShardEntry,
    read_manifest,
    sha256_of,
)
from ngramscan.index_files.fm9.reader import Fm9File, Shard
from ngramscan.messages import OptionUse
from ngramscan.processes.pool import usable_memory
from ngramscan.progress import Progress, format_bytes

_LARGE = 1_000_000_000


def verify_index(directory: Path, deep: bool, progress: Progress) -> list[Finding]:
    """Return the problems of an index; empty if it is sound.

    The content of a shard whose files differ from its manifest is not checked. Only the first
    problem in the content of each text is returned, as others may follow from it. A deep check
    takes 0.1 to 0.3 microseconds of processor time per byte of text, and 5 bytes of memory (9 for a
    text of more than 4.29 GB); an InputError says that memory is short, or that there is no index.
    """
    folders, findings = _folders(directory)
    entries = _listed(directory, folders, findings)
    if deep:
        _announce(folders, progress)
    changed = _compare_files(entries, progress)
    findings += changed
    changed_shards = {finding.shard for finding in changed}
    for folder in folders:
        if str(folder) not in changed_shards:
            findings += verify_shard(folder, deep, progress, entries.get(folder))
    return findings


def _folders(directory: Path) -> tuple[list[Path], list[Finding]]:
    """Return the folders of the existing shards, and the problem if some are missing."""
    try:
        return shard_folders(directory), []
    except IndexFormatError as error:
        if Path(str(error.where)).name == MANIFEST:
            return [], []  # found again when it is compared
        finding = Finding(str(directory), MANIFEST, "shards", str(error))
    with suppress(IndexFormatError):
        return shard_folders(directory, allow_partial=True), [finding]
    return [], [finding]


def _listed(
    directory: Path, folders: Sequence[Path], findings: list[Finding]
) -> dict[Path, ShardEntry]:
    """Return the shards in the manifests of an index; add problems of manifests to `findings`."""
    entries: dict[Path, ShardEntry] = {}
    for place in dict.fromkeys([directory, *folders]):
        try:
            listed = read_manifest(place) or []
        except IndexFormatError as error:
            findings.append(Finding(str(place), MANIFEST, "file", str(error.problem)))
            continue
        for row in listed:
            entry = replace(row, folder="")
            if entries.setdefault(place / row.folder, entry) != entry:
                problem = f"contradicts {directory / MANIFEST}"
                findings.append(Finding(str(place), MANIFEST, "file", problem))
    return entries


def _announce(folders: Sequence[Path], progress: Progress) -> None:
    """Report how much a deep check reads, and the memory it needs if that is much."""
    most = 0
    for path in (folder / name for folder in folders for name in FILES[::2]):
        with suppress(IndexFormatError):
            file = Fm9File(path)
            progress.expect(2 * file.n, CHECKED)
            most = max(most, memory_needed(file))
    needs = f"needs up to {format_bytes(most)} of memory"
    free = usable_memory()
    if free is not None and most > free:
        problem = f"{needs}, but {format_bytes(free)} are free; without it the files are compared"
        raise InputError(
            OptionUse("deep"), f"{problem} with {MANIFEST}, which finds changed bits too"
        )
    if most >= _LARGE:
        progress.notice(needs)


def _compare_files(entries: Mapping[Path, ShardEntry], progress: Progress) -> list[Finding]:
    """Compare all files with their manifests."""
    files = [
        (place / name, file) for place in entries for name, file in entries[place].files.items()
    ]
    progress.expect(sum(expected.bytes for _, expected in files), CHECKED)
    is_over = Event()  # after Ctrl-C, reading of large files stops

    def report(amount: int) -> None:
        if is_over.is_set():
            raise CancelledError
        progress.advance(amount, CHECKED)

    problems = in_threads(partial(_compare_file, report), iter(files), is_over.set)
    return [
        Finding(str(path.parent), path.name, "file", problem)
        for (path, _), problem in zip(files, problems, strict=True)
        if problem
    ]


def _compare_file(report: Callable[[int], None], task: tuple[Path, FileEntry]) -> str:
    """Return how a file differs from its manifest, or an empty string."""
    path, expected = task
    try:
        size = path.stat().st_size
        if size != expected.bytes:
            return f"{size} bytes, but {expected.bytes} in {MANIFEST}"
        with path.open("rb") as file:
            digest = sha256_of(file, report)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"can't be read: {error.strerror}"
    problem = f"its SHA-256 is {digest[:12]}…, not {expected.sha256[:12]}… as in {MANIFEST}"
    return f"changed: {problem}" if digest != expected.sha256 else ""


def verify_shard(
    folder: Path, deep: bool, progress: Progress, entry: ShardEntry | None = None
) -> list[Finding]:
    """Return the problems in the content of a shard, and of its entry in a manifest."""
    missing = {name for name in FILES if not (folder / name).is_file()}
    problems = [(name, "file", "missing") for name in FILES if name in missing]
    for name, separator in (("data", SEPARATOR), ("meta", NEWLINE)):
        if not missing & {f"{name}.fm9", f"{name}_offset"}:
            problems += check_text(folder, name, separator, deep, progress)
    if not missing:
        entries, lines = ((folder / name).stat().st_size // 8 for name in FILES[1::2])
        if lines != entries:
            problem = f"{lines} entries, but data_offset has {entries}"
            problems.append(("meta_offset", "file", problem))
    if entry and not problems:
        shard = Shard(folder)
        recorded, actual = (entry.documents, entry.bytes), (shard.documents, shard.text_bytes)
        if recorded != actual:
            problem = f"{recorded} documents and bytes, but the index has {actual}"
            problems.append((MANIFEST, "documents", problem))
    return [Finding(str(folder), *problem) for problem in problems]
