"""Whether an index is what it should be: all its tables, or every bit.

What opening it finds comes first. Then every entry of every table is held against what other fields
say of it, and some occurrences and documents, drawn at random, are followed through all fields. A
deep check also walks through the whole text: afterwards each answer of the index is that of the
text it holds. Only this finds a bit that changed inside a compressed block, or a sampled position
that is another possible one.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ngramscan.errors import IndexFormatError
from ngramscan.fm9 import check_kernels, kernels
from ngramscan.fm9.files import NEWLINE, SEPARATOR, Fm9File, Offsets
from ngramscan.fm9.layout import BLOCK, ISA_STEP, SA_STEP, SUPERBLOCK
from ngramscan.fm9.reader import FILES
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import Progress

_SAMPLED = 200
"""Occurrences and documents that are looked at where the check is not deep."""
_NEEDLE = 24
"""Bytes of a sampled occurrence."""
_UNIT = "bytes checked"
_SAMPLES_AT_ONCE = 1 << 14
_SUPERBLOCKS_AT_ONCE = 1 << 12
_LINES_AT_ONCE = 1000

Bytes = npt.NDArray[np.uint8]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a shard."""

    file: str
    place: str
    """The field, entry, rank, position or document."""
    problem: str


def verify_shard(path: Path, deep: bool, progress: Progress) -> Iterator[Problem]:
    """Yield what is wrong in a shard; nothing where it is sound.

    Of problems that follow from each other only the first is told.

    Parameters
    ----------
    path : Path
        The directory.
    deep : bool
        Check all of it, not only some: this takes one to three microseconds per byte and core.
    progress : Progress
        Told of bytes of text that were checked.
    """
    missing = [name for name in FILES if not (path / name).is_file()]
    yield from (Problem(str(path / name), "file", "missing") for name in missing)
    for name, separator in (("data", SEPARATOR), ("meta", NEWLINE)):
        if not {f"{name}.fm9", f"{name}_offset"} & set(missing):
            yield from _verify_text(path, name, separator, deep, progress)
    yield from _documents(path) if not missing else ()


def _verify_text(
    path: Path, name: str, separator: int, deep: bool, progress: Progress
) -> Iterator[Problem]:
    try:
        file = Fm9File(path / f"{name}.fm9")
        offsets = Offsets(path / f"{name}_offset", file, separator)
        offsets.check_order()
        problems = [*_bit_vector(file), *_nodes(file), *_samples(file)]
        yield from problems
        if problems:
            return
        yield from _sampled(file)
        yield from _separators(file, offsets, separator)
        if separator == NEWLINE:
            yield from _lines(file, offsets, deep)
        if deep:
            yield from _order(file, offsets, separator, progress)
    except IndexFormatError as error:
        yield _problem(error)


def _documents(path: Path) -> Iterator[Problem]:
    sizes = [(path / name).stat().st_size for name in ("data_offset", "meta_offset")]
    if sizes[0] != sizes[1]:
        problem = f"{sizes[1] // 8} entries, but data_offset has {sizes[0] // 8}"
        yield Problem(str(path / "meta_offset"), "file", problem)


def _sampled(file: Fm9File) -> Iterator[Problem]:
    """Follow ranks to their text, and the text back to the ranks."""
    rng = random.Random(file.n)
    ranks = np.array([rng.randrange(file.n) for _ in range(_SAMPLED)], np.int64)
    positions = file.locate(ranks)
    texts = file.extract(positions, np.minimum(file.n, positions + _NEEDLE))
    for rank, position, text, (low, high) in zip(
        ranks.tolist(), positions.tolist(), texts, file.find(texts).tolist(), strict=True
    ):
        if not low <= rank < high:
            problem = f"leads to position {position}, whose text is at ranks {low} to {high}"
            yield Problem(str(file.path), f"rank {rank}", f"{problem}: {text!r}")
            return


def _separators(file: Fm9File, offsets: Offsets, separator: int) -> Iterator[Problem]:
    """Look at the bytes between documents, which is in front of each, or of lines."""
    rng = random.Random(file.n)
    numbers = np.array([rng.randrange(offsets.entries) for _ in range(_SAMPLED)], np.int64)
    starts, stops = offsets.bounds(numbers)
    places = starts if separator == SEPARATOR else stops - 1
    for number, place, found in zip(
        numbers.tolist(), places.tolist(), file.extract(places, places + 1), strict=True
    ):
        if found[0] != separator:
            problem = f"byte {found[0]:02X} at position {place}, expected {separator:02X}"
            yield Problem(str(offsets.path), f"entry {number}", problem)
            return


def _lines(file: Fm9File, offsets: Offsets, deep: bool) -> Iterator[Problem]:
    """Parse metadata."""
    rng = random.Random(file.n)
    some = sorted({rng.randrange(offsets.entries) for _ in range(_SAMPLED)})
    numbers = range(offsets.entries) if deep else some
    for first in range(0, len(numbers), _LINES_AT_ONCE):
        part = numbers[first : first + _LINES_AT_ONCE]
        starts, stops = offsets.bounds(np.array(part, np.int64))
        for number, line in zip(part, file.extract(starts, stops - 1), strict=True):
            if not _is_object(line):
                problem = f"no JSON object: {line[:60]!r}"
                yield Problem(str(file.path), f"line {number}", problem)
                return


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _bit_vector(file: Fm9File) -> Iterator[Problem]:
    layout = file.layout
    names = {
        check_kernels.WRONG_POINTER: ("btnrp", "does not point behind the blocks before"),
        check_kernels.WRONG_RANK: ("rank", "is not the number of ones before"),
        check_kernels.WRONG_INVERT: ("invert", "contradicts the types of the blocks"),
        check_kernels.WRONG_NUMBER: ("btnr", "a number is larger than blocks of its type have"),
    }
    superblocks = layout.btnrp.entries
    parts = range(0, superblocks, _SUPERBLOCKS_AT_ONCE)
    end = 0

    def check(first: int) -> tuple[int, int, int]:
        last = min(superblocks, first + _SUPERBLOCKS_AT_ONCE)
        wrong, superblock, stop = map(int, check_kernels.superblocks(file.tables, first, last))
        return wrong, superblock, stop

    for wrong, superblock, stop in _in_threads(check, iter(parts)):
        end = stop
        if wrong != check_kernels.SOUND:
            name, problem = names[wrong]
            yield Problem(
                str(file.path), f"field rrr.{name}", f"superblock {superblock}: {problem}"
            )
            return
    if layout.size % (BLOCK * SUPERBLOCK) and max(end, 64) != layout.btnr.bits:
        problem = f"{layout.btnr.bits} bits, but the blocks have {end}"
        yield Problem(str(file.path), "field rrr.btnr", problem)


def _nodes(file: Fm9File) -> Iterator[Problem]:
    """Check that each inner node has as many ones before it as it says."""
    for number, node in enumerate(file.layout.nodes):
        if node.is_leaf:
            continue
        ones = kernels.bit_and_ones(file.tables, node.start) >> 1
        if ones != node.value:
            problem = f"{number} has {ones} ones before it, not {node.value}"
            yield Problem(str(file.path), "field node", problem)
            return


def _samples(file: Fm9File) -> Iterator[Problem]:
    wrong, number = map(int, check_kernels.samples(file.tables))
    if wrong != check_kernels.SOUND:
        name = "sa_sample" if wrong == check_kernels.WRONG_SA else "isa_sample"
        problem = f"entry {number} is outside of the text, or contradicts the other samples"
        yield Problem(str(file.path), f"field {name}", problem)


def _order(
    file: Fm9File, offsets: Offsets, separator: int, progress: Progress
) -> Iterator[Problem]:
    names = {
        check_kernels.WRONG_STEP: ("node", "the text before it is nowhere"),
        check_kernels.WRONG_SA: ("sa_sample", "another position stands at its rank"),
        check_kernels.WRONG_ISA: ("isa_sample", "the rank here is not that of the text before it"),
    }
    samples = file.layout.isa.entries
    progress.expect(file.n, _UNIT)
    met = 0

    def check(first: int) -> tuple[int, int, int, int, Bytes]:
        last = min(samples, first + _SAMPLES_AT_ONCE)
        text = np.zeros(min(file.n, last * ISA_STEP) - first * ISA_STEP, np.uint8)
        wrong, position, met = map(int, check_kernels.walk(file.tables, first, last, text))
        return wrong, position, met, first * ISA_STEP, text

    for wrong, position, found, start, text in _in_threads(
        check, iter(range(0, samples, _SAMPLES_AT_ONCE))
    ):
        if wrong != check_kernels.SOUND:
            name, problem = names[wrong]
            yield Problem(str(file.path), f"field {name}", f"position {position}: {problem}")
            return
        places = np.flatnonzero(text == separator) + start
        if not offsets.agree(places if separator == SEPARATOR else places + 1, start, len(text)):
            problem = f"contradicts the text between positions {start} and {start + len(text)}"
            yield Problem(str(offsets.path), "entries", problem)
            return
        met += found
        progress.advance(len(text), _UNIT)
    if met != -(-file.n // SA_STEP):
        yield Problem(str(file.path), "field sa_sample", "some entries are never reached")


def _in_threads(work: Callable[[int], _T], tasks: Iterator[int]) -> Iterator[_T]:
    """Yield results in the order of the tasks, of which only some are under way at once."""
    workers = usable_cores()
    running: deque[Future[_T]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        running.extend(pool.submit(work, task) for task in islice(tasks, 2 * workers))
        while running:
            yield running.popleft().result()
            running.extend(pool.submit(work, task) for task in islice(tasks, 1))


def _problem(error: IndexFormatError) -> Problem:
    place, colon, problem = error.problem.partition(": ")
    if colon and place.startswith("field "):
        return Problem(error.where, place, problem)
    return Problem(error.where, "file", error.problem)
