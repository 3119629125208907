"""Checks an index: its files against their manifest, its tables against each other, or every bit.

A manifest finds each changed bit, but not an index that was built wrongly. Problems that opening a
file finds come next. Then every entry of every table is compared with other fields, and some random
occurrences and documents are followed through all fields. A deep check also decodes the whole text:
after it, each answer of the index is right for the text it contains. Without a manifest only a deep
check finds a bit that changed inside a compressed block, or a sampled position that is possible but
wrong.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.fm9 import decode
from ngramscan.fm9 import kernels as k
from ngramscan.fm9.decode import SOUND, WRONG_BITS, WRONG_STEPS, vector
from ngramscan.fm9.folders import shard_folders
from ngramscan.fm9.kernels import Bytes, Integers, Words
from ngramscan.fm9.layout import (
    BLOCK,
    FILES,
    ISA_STEP,
    NEWLINE,
    SA_STEP,
    SEPARATOR,
)
from ngramscan.fm9.manifest import (
    MANIFEST,
    PLAN,
    FileEntry,
    ShardEntry,
    in_folder,
    read_manifest,
    sha256_of,
)
from ngramscan.fm9.reader import Fm9File, Offsets, is_object
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import Progress, format_bytes

_SAMPLED = 200
"""Number of occurrences and documents that a plain check looks at."""
_NEEDLE = 24
"""Length of a sampled occurrence in bytes."""
_UNIT = "bytes checked"
_SUPERBLOCKS_AT_ONCE = 1 << 12
_RANKS_AT_ONCE = 1 << 20
_TEXT_AT_ONCE = 1 << 20
_LARGE = 1_000_000_000
"""Bytes of memory that are said beforehand."""

_Problem = tuple[str, str, str]
"""The file, the place in it, and the problem there."""
_S = TypeVar("_S")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: something wrong in an index."""

    shard: str
    file: str
    place: str
    """The field, entry, rank or document."""
    problem: str


def verify_index(directory: Path, deep: bool, progress: Progress) -> list[Finding]:
    """Return the problems of an index; none if it is sound.

    A shard whose files are not those of its manifest is not looked into. If problems follow from
    each other, only the first is returned. A deep check takes 0.1 to 0.3 microseconds of processor
    time per byte of text, and 5 bytes of memory (9 above 4 GB of text in a shard); an InputError
    says that there is less. Without `deep` checking goes at the speed of reading.
    """
    try:
        folders = shard_folders(directory, allow_partial=True)
    except IndexFormatError as error:
        return [Finding(str(directory), Path(error.where).name, "file", error.problem)]
    entries, findings = _listed(directory, folders)
    if (directory / PLAN).exists():
        folders = [folder for folder in folders if folder in entries]
        findings.append(_incomplete(directory, len(folders)))
    if deep:
        _announce(folders, progress)
    findings += (changed := _compare_files(entries, progress))
    wrong = {finding.shard for finding in changed}
    for folder in folders:
        if str(folder) not in wrong:
            findings += verify_shard(folder, deep, progress)
    return findings


def _listed(
    directory: Path, folders: Sequence[Path]
) -> tuple[dict[Path, ShardEntry], list[Finding]]:
    """Return the shards in the manifests of an index, and the problems of these."""
    entries: dict[Path, ShardEntry] = {}
    findings = []
    for place in dict.fromkeys([directory, *folders]):
        try:
            listed = read_manifest(place) or []
        except IndexFormatError as error:
            findings.append(Finding(str(place), MANIFEST, "file", error.problem))
            continue
        for row in listed:
            entry = in_folder(row, "")
            if entries.setdefault(place / row.folder, entry) != entry:
                problem = f"contradicts {directory / MANIFEST}"
                findings.append(Finding(str(place), MANIFEST, "file", problem))
    return entries, findings


def _incomplete(directory: Path, built: int) -> Finding:
    planned = "an unknown number"
    with suppress(OSError, ValueError, LookupError, TypeError):
        planned = str(len(json.loads((directory / PLAN).read_bytes())["shards"]))
    problem = f"incomplete: {built} of {planned} shards are built"
    again = "run the same ngramscan index build again"
    return Finding(str(directory), PLAN, "file", f"{problem}; {again}")


def _announce(folders: Sequence[Path], progress: Progress) -> None:
    """Say how much a deep check will read, and the memory it needs if that is much."""
    most = 0
    for path in (folder / name for folder in folders for name in FILES[::2]):
        with suppress(IndexFormatError):
            file = Fm9File(path)
            progress.expect(2 * file.n, _UNIT)
            most = max(most, _memory(file))
    if most >= _LARGE:
        progress.notice(f"needs up to {format_bytes(most)} of memory")


def _memory(file: Fm9File) -> int:
    return file.layout.size // 8 + file.n * (4 if file.n < 1 << 32 else 8)


def _compare_files(entries: Mapping[Path, ShardEntry], progress: Progress) -> list[Finding]:
    """Compare all files with their manifests."""
    files = [
        (folder / name, expected)
        for folder, entry in entries.items()
        for name, expected in entry.files.items()
    ]
    progress.expect(sum(expected.bytes for _, expected in files), _UNIT)

    def compare(task: tuple[Path, FileEntry]) -> str:
        return _compare_file(*task, lambda amount: progress.advance(amount, _UNIT))

    findings = [
        Finding(str(path.parent), path.name, "file", problem)
        for (path, _), problem in zip(files, _in_threads(compare, iter(files)), strict=True)
        if problem
    ]
    wrong = {finding.shard for finding in findings}
    for folder, entry in entries.items():
        if str(folder) not in wrong:
            found = _sizes(folder)
            if found != (entry.documents, entry.bytes):
                problem = (
                    f"{entry.documents} documents of {entry.bytes} bytes, but the index has "
                    f"{found[0]} of {found[1]}"
                )
                findings.append(Finding(str(folder), MANIFEST, "documents", problem))
    return findings


def _sizes(folder: Path) -> tuple[int, int]:
    """Return the documents of a shard and their bytes, as its files have them."""
    documents = (folder / "data_offset").stat().st_size // 8
    with (folder / "data.fm9").open("rb") as file:
        return documents, int.from_bytes(file.read(8), "little") - documents - 1


def _compare_file(path: Path, expected: FileEntry, report: Callable[[int], None]) -> str:
    """Return how a file differs from its manifest, or an empty string."""
    try:
        if (size := path.stat().st_size) != expected.bytes:
            return f"{size} bytes, but {expected.bytes} in {MANIFEST}; copy it again"
        with path.open("rb") as file:
            digest = sha256_of(file, report)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"can't be read: {error.strerror}"
    if digest == expected.sha256:
        return ""
    return f"changed: its SHA-256 is {digest}, but {expected.sha256} in {MANIFEST}; copy it again"


def verify_shard(folder: Path, deep: bool, progress: Progress) -> list[Finding]:
    """Return the problems in the content of a shard."""
    missing = {name for name in FILES if not (folder / name).is_file()}
    problems = [(name, "file", "missing") for name in FILES if name in missing]
    for name, separator in (("data", SEPARATOR), ("meta", NEWLINE)):
        if not missing & {f"{name}.fm9", f"{name}_offset"}:
            problems += _verify_text(folder, name, separator, deep, progress)
    if not missing:
        entries, lines = ((folder / name).stat().st_size // 8 for name in FILES[1::2])
        if lines != entries:
            problem = f"{lines} entries, but data_offset has {entries}"
            problems.append(("meta_offset", "file", problem))
    return [Finding(str(folder), *problem) for problem in problems]


def _verify_text(
    folder: Path, name: str, separator: int, deep: bool, progress: Progress
) -> Iterator[_Problem]:
    try:
        file = Fm9File(folder / f"{name}.fm9")
        offsets = Offsets(folder / f"{name}_offset", file, separator)
        offsets.check_order()
        bits, steps = _rooms(file) if deep else (np.zeros(0, np.uint64),) * 2
        problems = [*_bit_vector(file, bits), *_nodes(file), *_samples(file)]
        yield from problems
        if problems:
            return
        yield from _sampled(file)
        yield from _separators(file, offsets, separator)
        if deep:
            _fill_steps(file, bits, steps, progress)
            yield from _order(file, offsets, steps, progress)
        elif separator == NEWLINE:
            yield from _lines(file, offsets)
    except IndexFormatError as error:
        place, _, problem = error.problem.partition(": ")
        has_field = problem and place.startswith("field ")
        found = (place, problem) if has_field else ("file", error.problem)
        yield Path(error.where).name, *found


def _rooms(file: Fm9File) -> tuple[Words, NDArray[np.integer[Any]]]:
    """Return memory for the bits of a text and for the steps between its ranks."""
    try:
        bits = np.zeros((file.layout.bt.entries * BLOCK >> 6) + 3, np.uint64)
        return bits, np.empty(file.n, np.uint32 if file.n < 1 << 32 else np.int64)
    except MemoryError as error:
        needed = f"--deep needs {format_bytes(_memory(file))} for it"
        problem = f"memory is short: {needed}; without --deep the rest is checked"
        raise InputError(str(file.path), problem) from error


def _bit_vector(file: Fm9File, bits: Words) -> Iterator[_Problem]:
    """Check the bits of a text; fill them in if there is room."""
    superblocks = file.layout.btnrp.entries
    compressed = decode.bit_vector(file.tables.data, file.layout)
    end = 0

    def check(first: int) -> tuple[int, int, int]:
        last = min(superblocks, first + _SUPERBLOCKS_AT_ONCE)
        return decode.check_superblocks(compressed, first, last, bits)

    starts = iter(range(0, superblocks, _SUPERBLOCKS_AT_ONCE))
    for wrong, superblock, stop in _in_threads(check, starts):
        end = max(end, stop)
        if wrong != SOUND:
            name, problem = WRONG_BITS[wrong]
            yield file.path.name, f"field rrr.{name}", f"superblock {superblock}: {problem}"
            return
    if max(end, 64) != file.layout.btnr.bits:
        problem = f"{file.layout.btnr.bits} bits, but the blocks have {end}"
        yield file.path.name, "field rrr.btnr", problem


def _nodes(file: Fm9File) -> Iterator[_Problem]:
    """Check that each inner node states the right number of ones before it."""
    for number, node in enumerate(file.layout.nodes):
        ones = node.value if node.is_leaf else k.bit_and_ones(file.tables, node.start) >> 1
        if ones != node.value:
            problem = f"{number} has {ones} ones before it, not {node.value}"
            yield file.path.name, "field node", problem
            return


def _samples(file: Fm9File) -> Iterator[_Problem]:
    sa, isa = (vector(file.tables.data, field) for field in (file.layout.sa, file.layout.isa))
    for name, values, step, others, other_step in (
        ("sa_sample", sa, SA_STEP, isa, ISA_STEP),
        ("isa_sample", isa, ISA_STEP, sa, SA_STEP),
    ):
        entry = decode.find_contradiction(file.n, values, step, others, other_step)
        if entry >= 0:
            problem = f"entry {entry} is outside of the text, or contradicts the other samples"
            yield file.path.name, f"field {name}", problem
            return


def _draw(file: Fm9File, below: int) -> Integers:
    return np.random.default_rng(file.n).integers(0, below, _SAMPLED)


def _sampled(file: Fm9File) -> Iterator[_Problem]:
    """Follow ranks to their texts, and the texts back to the ranks."""
    ranks = _draw(file, file.n)
    positions = file.locate(ranks)
    texts = file.extract(positions, np.minimum(file.n, positions + _NEEDLE))
    for rank, position, text, (low, high) in zip(
        ranks, positions, texts, file.find(texts), strict=True
    ):
        if not low <= rank < high:
            problem = f"leads to position {position}, whose text is at ranks {low} to {high}"
            yield file.path.name, f"rank {rank}", f"{problem}: {text!r}"
            return


def _separators(file: Fm9File, offsets: Offsets, separator: int) -> Iterator[_Problem]:
    """Check the separators of documents, which begin each, or of lines, which end each."""
    numbers = _draw(file, offsets.entries)
    starts, stops = offsets.bounds(numbers)
    places = starts if separator == SEPARATOR else stops - 1
    for number, place, found in zip(numbers, places, file.extract(places, places + 1), strict=True):
        if found[0] != separator:
            problem = f"byte {found[0]:02X} at position {place}, expected {separator:02X}"
            yield offsets.path.name, f"entry {number}", problem
            return


def _lines(file: Fm9File, offsets: Offsets) -> Iterator[_Problem]:
    numbers = np.unique(_draw(file, offsets.entries))
    starts, stops = offsets.bounds(numbers)
    yield from _wrong_line(file, numbers.tolist(), file.extract(starts, stops - 1))


def _wrong_line(
    file: Fm9File, numbers: Iterable[int], lines: Sequence[bytes]
) -> Iterator[_Problem]:
    for number, line in zip(numbers, lines, strict=False):
        if not is_object(line):
            yield file.path.name, f"line {number}", f"not a JSON object: {line[:60]!r}"
            return


def _fill_steps(
    file: Fm9File, bits: Words, steps: NDArray[np.integer[Any]], progress: Progress
) -> None:
    """Find the step from each rank to that of the suffix that is one byte longer."""
    nodes = file.tables.nodes
    cursors = np.where(nodes[:, k.LEFT] < 0, nodes[:, k.FIRST], nodes[:, k.START])
    ends = cursors + nodes[:, k.SIZE]

    def parts() -> Iterator[tuple[Integers, NDArray[np.integer[Any]]]]:
        for start in range(0, file.n, _RANKS_AT_ONCE):
            part, here = steps[start : start + _RANKS_AT_ONCE], cursors.copy()
            if not decode.move_cursors(bits, nodes, ends, cursors, len(part)):
                raise IndexFormatError(str(file.path), "field node: a node has too many bits")
            yield here, part

    def fill(task: tuple[Integers, NDArray[np.integer[Any]]]) -> int:
        decode.fill_steps(bits, nodes, *task)
        return len(task[1])

    for size in _in_threads(fill, parts()):
        progress.advance(size, _UNIT)


def _order(
    file: Fm9File, offsets: Offsets, steps: NDArray[np.integer[Any]], progress: Progress
) -> Iterator[_Problem]:
    """Decode the whole text, and compare all samples, offsets and lines with it."""
    data, layout = file.tables.data, file.layout
    symbols, sa, isa = decode.symbols(layout), vector(data, layout.sa), vector(data, layout.isa)
    met = line = 0
    rest = b""

    def check(start: int) -> tuple[int, int, int, int, Bytes]:
        text = np.zeros(min(file.n - start, _TEXT_AT_ONCE), np.uint8)
        return *decode.walk(steps, symbols, sa, isa, start // ISA_STEP, text), start, text

    starts = iter(range(0, file.n, _TEXT_AT_ONCE))
    for wrong, position, found, start, text in _in_threads(check, starts):
        if wrong != SOUND:
            name, problem = WRONG_STEPS[wrong]
            yield file.path.name, f"field {name}", f"position {position}: {problem}"
            return
        if not offsets.agree(text, start):
            problem = f"contradicts the text between positions {start} and {start + len(text)}"
            yield offsets.path.name, "entries", problem
            return
        if file.path.name == "meta.fm9":
            *lines, rest = (rest + text.tobytes()).split(b"\n")
            if problems := [*_wrong_line(file, count(line), lines)]:
                yield from problems
                return
            line += len(lines)
        met += found
        progress.advance(len(text), _UNIT)
    if met != -(-file.n // SA_STEP):
        yield file.path.name, "field sa_sample", "some entries are never reached"


def _in_threads(work: Callable[[_S], _T], tasks: Iterator[_S]) -> Iterator[_T]:
    """Yield results in the order of the tasks; only a few tasks run at a time."""
    workers = usable_cores()
    running: deque[Future[_T]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        running.extend(pool.submit(work, task) for task in islice(tasks, 2 * workers))
        while running:
            yield running.popleft().result()
            running.extend(pool.submit(work, task) for task in islice(tasks, 1))
