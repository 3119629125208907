"""Checks an index: all its tables, or every bit.

Problems that opening it finds come first. Then every entry of every table is compared with other
fields, and some random occurrences and documents are followed through all fields. A deep check also
walks through the whole text: after it, each answer of the index is right for the text it contains.
Only a deep check finds a bit that changed inside a compressed block, or a sampled position that is
possible but wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.fm9 import kernels as k
from ngramscan.fm9.compiled import Bytes, Int, Integers, fresh_kernel
from ngramscan.fm9.kernels import Tables
from ngramscan.fm9.layout import (
    BLOCK,
    FILES,
    ISA_STEP,
    NEWLINE,
    SA_STEP,
    SEPARATOR,
    SUPERBLOCK,
)
from ngramscan.fm9.reader import Fm9File, Offsets, is_object
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import Progress

_SAMPLED = 200
"""Number of occurrences and documents that a plain check looks at."""
_NEEDLE = 24
"""Length of a sampled occurrence in bytes."""
_UNIT = "bytes checked"
_SAMPLES_AT_ONCE = 1 << 14
_SUPERBLOCKS_AT_ONCE = 1 << 12
_LINES_AT_ONCE = 1000

_SOUND = 0
_WRONG_BITS = {
    1: ("btnrp", "does not point to the end of the blocks before"),
    2: ("rank", "is not the number of ones before"),
    3: ("invert", "contradicts the types of the blocks"),
    4: ("btnr", "a number is larger than blocks of its type have"),
}
_WRONG_STEPS = {
    1: ("node", "the text before it can't be found"),
    2: ("sa_sample", "another position stands at its rank"),
    3: ("isa_sample", "the rank here is not that of the text before it"),
}

_Problem = tuple[str, str, str]
"""The file, the place in it, and the problem there."""
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: something wrong in an index."""

    shard: str
    file: str
    place: str
    """The field, entry, rank or document."""
    problem: str


def verify_shard(folder: Path, deep: bool, progress: Progress) -> list[Finding]:
    """Return the problems of a shard; none if it is sound.

    If problems follow from each other, only the first is returned. A deep check takes one to three
    microseconds per byte of text and core.
    """
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
        problems = [*_bit_vector(file), *_nodes(file), *_samples(file)]
        yield from problems
        if problems:
            return
        yield from _sampled(file)
        yield from _separators(file, offsets, separator)
        if separator == NEWLINE:
            yield from _lines(file, offsets, deep)
        if deep:
            yield from _order(file, offsets, progress)
    except IndexFormatError as error:
        place, _, problem = error.problem.partition(": ")
        has_field = problem and place.startswith("field ")
        found = (place, problem) if has_field else ("file", error.problem)
        yield Path(error.where).name, *found


def _bit_vector(file: Fm9File) -> Iterator[_Problem]:
    superblocks = file.layout.btnrp.entries
    end = 0

    def check(first: int) -> tuple[int, int, int]:
        last = min(superblocks, first + _SUPERBLOCKS_AT_ONCE)
        return _check_superblocks(file.tables, first, last)

    starts = iter(range(0, superblocks, _SUPERBLOCKS_AT_ONCE))
    for wrong, superblock, stop in _in_threads(check, starts):
        end = stop
        if wrong != _SOUND:
            name, problem = _WRONG_BITS[wrong]
            yield file.path.name, f"field rrr.{name}", f"superblock {superblock}: {problem}"
            return
    bits = file.layout.btnr.bits
    if file.layout.size % (BLOCK * SUPERBLOCK) and max(end, 64) != bits:
        yield file.path.name, "field rrr.btnr", f"{bits} bits, but the blocks have {end}"


def _nodes(file: Fm9File) -> Iterator[_Problem]:
    """Check that each inner node states the right number of ones before it."""
    for number, node in enumerate(file.layout.nodes):
        ones = node.value if node.is_leaf else k.bit_and_ones(file.tables, node.start) >> 1
        if ones != node.value:
            problem = f"{number} has {ones} ones before it, not {node.value}"
            yield file.path.name, "field node", problem
            return


def _samples(file: Fm9File) -> Iterator[_Problem]:
    for name, field, step, other, other_step in (
        ("sa_sample", k.SA, SA_STEP, k.ISA, ISA_STEP),
        ("isa_sample", k.ISA, ISA_STEP, k.SA, SA_STEP),
    ):
        entry = _find_contradiction(file.tables, field, step, other, other_step)
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


def _lines(file: Fm9File, offsets: Offsets, deep: bool) -> Iterator[_Problem]:
    some: Sequence[int] = np.unique(_draw(file, offsets.entries)).tolist()
    numbers = range(offsets.entries) if deep else some
    for first in range(0, len(numbers), _LINES_AT_ONCE):
        part = numbers[first : first + _LINES_AT_ONCE]
        starts, stops = offsets.bounds(np.array(part, np.int64))
        for number, line in zip(part, file.extract(starts, stops - 1), strict=True):
            if not is_object(line):
                yield file.path.name, f"line {number}", f"not a JSON object: {line[:60]!r}"
                return


def _order(file: Fm9File, offsets: Offsets, progress: Progress) -> Iterator[_Problem]:
    """Walk through the whole text, and compare all samples and offsets with it."""
    samples = file.layout.isa.entries
    progress.expect(file.n, _UNIT)
    met = 0

    def check(first: int) -> tuple[int, int, int, int, Bytes]:
        start, last = first * ISA_STEP, min(samples, first + _SAMPLES_AT_ONCE)
        text = np.zeros(min(file.n, last * ISA_STEP) - start, np.uint8)
        return *_walk(file.tables, first, last, text), start, text

    starts = iter(range(0, samples, _SAMPLES_AT_ONCE))
    for wrong, position, found, start, text in _in_threads(check, starts):
        if wrong != _SOUND:
            name, problem = _WRONG_STEPS[wrong]
            yield file.path.name, f"field {name}", f"position {position}: {problem}"
            return
        if not offsets.agree(text, start):
            problem = f"contradicts the text between positions {start} and {start + len(text)}"
            yield offsets.path.name, "entries", problem
            return
        met += found
        progress.advance(len(text), _UNIT)
    if met != -(-file.n // SA_STEP):
        yield file.path.name, "field sa_sample", "some entries are never reached"


def _in_threads(work: Callable[[int], _T], tasks: Iterator[int]) -> Iterator[_T]:
    """Yield results in the order of the tasks; only a few tasks run at a time."""
    workers = usable_cores()
    running: deque[Future[_T]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        running.extend(pool.submit(work, task) for task in islice(tasks, 2 * workers))
        while running:
            yield running.popleft().result()
            running.extend(pool.submit(work, task) for task in islice(tasks, 1))


# The inner loops, compiled. They are not cached on disk: the cache would not notice changes of the
# functions of `kernels` that they call. A full check takes longer than compiling.


@fresh_kernel
def _entry(t: Tables, field: Int, width: Int, number: Int) -> Int:
    return k.read_entry(t.data, t.at[field], t.at[width], number)


@fresh_kernel
def _pass_blocks(t: Tables, superblock: Int, pointer: Int, inverted: bool) -> tuple[Int, Int, Int]:
    """Return the end of a superblock in `btnr`, or CORRUPT; its ones; and its dense blocks."""
    bits = t.at[k.BITS]
    ones: Int = 0
    dense: Int = 0
    for block in range(superblock * SUPERBLOCK, superblock * SUPERBLOCK + SUPERBLOCK):
        used = bits - block * BLOCK
        if used < 0:
            break
        kind = np.int64(k.read_bits(t.data, t.at[k.BT], block * 7) & np.uint64(127))
        here = 127 - kind if inverted else kind
        got = k.ones_in_block(t, 0, pointer, kind, inverted, min(used, 126))
        # The last block has no ones after the last bit.
        if got < 0 or (used < BLOCK and got >> 1 != here):
            return k.CORRUPT, ones, dense
        pointer += k.NUMBER_BITS[kind]
        ones += here
        dense += here > BLOCK // 2
    return pointer, ones, dense


@fresh_kernel
def _check_superblock(t: Tables, superblock: Int) -> tuple[Int, Int]:
    """Return the problem of a superblock, and its end in `btnr`."""
    pointer = _entry(t, k.BTNRP, k.BTNRP_WIDTH, superblock)
    before = _entry(t, k.RANK, k.RANK_WIDTH, superblock)
    flags = t.data[np.uint64(t.at[k.INVERT] + (superblock >> 3))]
    inverted = (flags >> (superblock & 7)) & 1 == 1
    stop, ones, dense = _pass_blocks(t, superblock, pointer, inverted)
    bits = t.at[k.BITS] - superblock * SUPERBLOCK * BLOCK  # from its start on
    is_whole = bits >= (SUPERBLOCK - 1) * BLOCK
    wrong = _SOUND
    after = superblock + 1
    if bits > SUPERBLOCK * BLOCK and _entry(t, k.BTNRP, k.BTNRP_WIDTH, after) != stop:
        wrong = 1
    if bits > 0 and _entry(t, k.RANK, k.RANK_WIDTH, after) != before + ones:
        wrong = 2
    if inverted != (is_whole and dense > SUPERBLOCK // 2):
        wrong = 3
    if stop < 0:
        wrong = 4
    if superblock == 0 and before != 0:
        wrong = 2
    if superblock == 0 and pointer != 0:
        wrong = 1
    return wrong, stop


@fresh_kernel
def _check_superblocks(t: Tables, first: Int, last: Int) -> tuple[Int, Int, Int]:
    """Return the first problem, its superblock, and the end of the last one in `btnr`."""
    stop = np.int64(0)
    for superblock in range(first, last):
        wrong, stop = _check_superblock(t, superblock)
        if wrong != _SOUND:
            return wrong, superblock, stop
    return _SOUND, last, stop


@fresh_kernel
def _walk(t: Tables, first: Int, last: Int, text: Bytes) -> tuple[Int, Int, Int]:
    """Fill in the text between samples of ranks, from `first` to `last` (exclusive).

    Returns the problem, its position, and the number of samples of positions on the way.
    """
    n = t.at[k.TEXT]
    met = 0
    for sample in range(first, last):
        start = sample * ISA_STEP
        position = min(n, start + ISA_STEP)
        after = 0 if position == n else sample + 1
        rank = _entry(t, k.ISA, k.TEXT_WIDTH, after)
        if rank >= n:
            return 3, position, met
        while position > start:
            got = k.previous(t, rank)
            if got < 0:
                return 1, position, met
            rank = got >> 8
            position -= 1
            text[position - first * ISA_STEP] = np.uint8(got & 255)
            if rank % SA_STEP == 0:
                met += 1
                if _entry(t, k.SA, k.TEXT_WIDTH, rank // SA_STEP) != position:
                    return 2, position, met
        if rank != _entry(t, k.ISA, k.TEXT_WIDTH, sample):
            return 3, start, met
    return _SOUND, 0, met


@fresh_kernel
def _find_contradiction(t: Tables, field: Int, step: Int, other: Int, other_step: Int) -> Int:
    """Return the first sample outside the text, or in conflict with the other samples; or -1.

    Some samples of ranks and of positions state the same fact.
    """
    n = t.at[k.TEXT]
    for number in range((n - 1) // step + 1):
        value = _entry(t, field, k.TEXT_WIDTH, number)
        if value >= n:
            return number
        if value % other_step:
            continue
        if _entry(t, other, k.TEXT_WIDTH, value // other_step) != number * step:
            return number
    return -1
