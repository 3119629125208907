"""Checks of one text of an index: all tables, or every bit.

The checks of opening it come first. Then every entry of every table is compared with other fields,
and some random occurrences and documents are followed through all fields. A deep check also decodes
the whole text, and so proves that all answers of the index are right for the text it contains. Only
a deep check finds a flipped bit inside a compressed block, or a wrong but plausible sampled
position.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from typing import TypeVar

import numpy as np

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.compiled import Bytes, Integers
from ngramscan.index_files.findings import FileProblem, is_object
from ngramscan.index_files.fm9 import decode
from ngramscan.index_files.fm9 import kernels as k
from ngramscan.index_files.fm9.decode import Steps
from ngramscan.index_files.fm9.layout import (
    BLOCK,
    ISA_STEP,
    NEWLINE,
    SA_STEP,
    SEPARATOR,
    SUPERBLOCK,
)
from ngramscan.index_files.fm9.reader import Fm9File, Offsets
from ngramscan.index_files.fm9.tables import (
    BITS,
    BTNR_BITS,
    BTNRP,
    BTNRP_WIDTH,
    FIRST,
    INVERT,
    ISA,
    ISA_ENTRIES,
    LEFT,
    RANK,
    RANK_WIDTH,
    SA,
    SIZE,
    START,
    TEXT_WIDTH,
    Tables,
)
from ngramscan.index_files.mapped import unchanged
from ngramscan.messages import OptionUse
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import Progress, format_bytes

CHECKED = "bytes checked"

_SAMPLED = 200
"""Number of occurrences and documents that a plain check looks at."""
_NEEDLE = 24
"""Length of a sampled occurrence in bytes."""
_SUPERBLOCKS_AT_ONCE = 1 << 12
_AT_ONCE = 1 << 20
"""Positions, ranks or samples."""
_LONG = 1 << 32
"""Ranks of texts of this length or longer have 64 bits in memory."""

_S = TypeVar("_S")
_T = TypeVar("_T")


def check_text(
    folder: Path, name: str, separator: int, deep: bool, progress: Progress
) -> list[FileProblem]:
    """Return the first problem of a text, its documents or their metadata, if there is any.

    A deep check needs memory.
    """
    try:
        file = Fm9File(folder / f"{name}.fm9")
        offsets = Offsets(folder / f"{name}_offset", file, separator)
        with unchanged([file, offsets]):
            offsets.check_order()
            for check in (_bit_vector, _nodes, _samples, _sampled):
                check(file)
            _separators(file, offsets, separator)
            if deep:
                _order(file, offsets, separator, progress)
            elif separator == NEWLINE:
                numbers = np.unique(_draw(file, offsets.entries))
                starts, stops = offsets.bounds(numbers)
                _check_lines(file, numbers.tolist(), file.extract(starts, stops - 1))
    except IndexFormatError as error:
        place, _, problem = str(error.problem).partition(": ")
        has_place = problem and place.split()[0] in ("field", "rank", "entry", "entries", "line")
        place_and_problem = (place, problem) if has_place else ("file", str(error.problem))
        return [(Path(str(error.where)).name, *place_and_problem)]
    return []


def _bit_vector(file: Fm9File) -> None:
    ends = in_threads(lambda part: _superblocks(file, *part), _parts(file.tables))
    end, expected = max(ends), int(file.tables.at[BTNR_BITS])
    if max(end, 64) != expected:
        raise file.corrupt(f"field rrr.btnr: {expected} bits, but the blocks have {end}")


def _parts(t: Tables) -> Iterator[tuple[int, int]]:
    superblocks = int(t.at[BITS]) // BLOCK // SUPERBLOCK + 1
    for first in range(0, superblocks, _SUPERBLOCKS_AT_ONCE):
        yield first, min(superblocks, first + _SUPERBLOCKS_AT_ONCE)


def _superblocks(file: Fm9File, first: int, last: int) -> int:
    """Check some superblocks; return their end in `btnr`."""
    t, block_counts = file.tables, np.empty((3, last - first), np.int64)
    decode.pass_superblocks(t, first, block_counts)
    stops, ones, dense = block_counts
    size = t.at[BITS]
    sizes = size - np.arange(first, last) * SUPERBLOCK * BLOCK  # from the start of each on
    is_mostly_ones = (sizes >= (SUPERBLOCK - 1) * BLOCK) & (dense > SUPERBLOCK // 2)
    inverted = decode.entries(t, INVERT, 1, np.arange(first, last)) == 1
    # There is a rank after each superblock with bits, but a pointer only to such a superblock.
    with_bits = -(-size // (SUPERBLOCK * BLOCK))
    numbers = np.arange(first, min(last, with_bits) + 1)
    ranks = decode.entries(t, RANK, t.at[RANK_WIDTH], numbers)
    numbers = np.arange(first, min(last + 1, with_bits))
    pointers = decode.entries(t, BTNRP, t.at[BTNRP_WIDTH], numbers)
    if first == 0:
        ranks, ones = np.append(0, ranks), np.append(0, ones)
        pointers, stops = np.append(0, pointers), np.append(0, stops)
    is_wrong = {
        "btnr: a number is larger than blocks of its type have": stops < 0,
        "invert: contradicts the types of the blocks": inverted != is_mostly_ones,
        "rank: not the number of ones before": np.diff(ranks) != ones[: len(ranks) - 1],
        "btnrp: not the end of the blocks before": pointers[1:] != stops[: len(pointers) - 1],
    }
    for problem, where in is_wrong.items():
        if where.any():
            field, _, words = problem.partition(": ")
            raise file.corrupt(f"field rrr.{field}: superblocks {first} to {last}: {words}")
    return int(stops.max())


def _nodes(file: Fm9File) -> None:
    """Check that each inner node states the right number of ones before it."""
    for number, (start, before, left_child, *_) in enumerate(file.tables.nodes.tolist()):
        ones = before if left_child < 0 else k.bit_and_ones(file.tables, start) >> 1
        if ones != before:
            raise file.corrupt(f"field node: {number} has {ones} ones before it, not {before}")


def _samples(file: Fm9File) -> None:
    """Check that all samples are within the text, and that both kinds agree where they overlap."""
    t, width = file.tables, file.tables.at[TEXT_WIDTH]
    for name, values, step, others, other_step in (
        ("sa_sample", SA, SA_STEP, ISA, ISA_STEP),
        ("isa_sample", ISA, ISA_STEP, SA, SA_STEP),
    ):
        entries = -(-file.n // step)
        for first in range(0, entries, _AT_ONCE):
            numbers = np.arange(first, min(entries, first + _AT_ONCE))
            stated = decode.entries(t, values, width, numbers)
            is_shared = (stated < file.n) & (stated % other_step == 0)
            inverse = decode.entries(t, others, width, stated[is_shared] // other_step)
            if (stated >= file.n).any() or (inverse != numbers[is_shared] * step).any():
                problem = "one is outside of the text, or contradicts the other samples"
                place = f"entries {first} to {first + len(numbers)}"
                raise file.corrupt(f"field {name}: {place}: {problem}")


def _draw(file: Fm9File, below: int) -> Integers:
    return np.random.default_rng(file.n).integers(0, below, _SAMPLED)


def _sampled(file: Fm9File) -> None:
    """Follow ranks to their texts, and the texts back to the ranks."""
    ranks = _draw(file, file.n)
    positions = file.locate(ranks)
    texts = file.extract(positions, np.minimum(file.n, positions + _NEEDLE))
    for rank, position, text, (low, high) in zip(
        ranks, positions, texts, file.find(texts), strict=True
    ):
        if not low <= rank < high:
            problem = f"leads to position {position}, whose text is at ranks {low} to {high}"
            raise file.corrupt(f"rank {rank}: {problem}: {text!r}")


def _separators(file: Fm9File, offsets: Offsets, separator: int) -> None:
    """Check the separators: at the start of each document, or at the end of each line."""
    numbers = _draw(file, offsets.entries)
    starts, stops = offsets.bounds(numbers)
    places = starts if separator == SEPARATOR else stops - 1
    for number, place, content in zip(
        numbers, places, file.extract(places, places + 1), strict=True
    ):
        if content[0] != separator:
            problem = f"byte {content[0]:02X} at position {place}, expected {separator:02X}"
            raise offsets.corrupt(f"entry {number}: {problem}")


def _check_lines(file: Fm9File, numbers: Iterable[int], lines: Sequence[bytes]) -> None:
    for number, line in zip(numbers, lines, strict=False):
        if not is_object(line):
            raise file.corrupt(f"line {number}: not a JSON object: {line[:60]!r}")


def _order(file: Fm9File, offsets: Offsets, separator: int, progress: Progress) -> None:
    """Decode the whole text, and compare all samples, offsets and lines with it."""
    steps = find_steps(file, progress)
    n_met = line = 0
    unfinished_line = b""
    starts = iter(range(0, file.n, _AT_ONCE))
    decoded = in_threads(lambda at: (at, *decode_part(file, steps, at)), starts)
    for start, samples_met, text in decoded:
        if not offsets.agree(text, start):
            place = f"between positions {start} and {start + len(text)}"
            raise offsets.corrupt(f"entries: they contradict the text {place}")
        if separator == NEWLINE:
            *lines, unfinished_line = (unfinished_line + text.tobytes()).split(b"\n")
            _check_lines(file, count(line), lines)
            line += len(lines)
        n_met += samples_met
        progress.advance(len(text), CHECKED)
    if n_met != -(-file.n // SA_STEP):
        raise file.corrupt("field sa_sample: some entries are never reached")


def memory_needed(file: Fm9File) -> int:
    """Return the bytes of memory that decoding a text takes."""
    return int(file.tables.at[BITS]) // 8 + file.n * (4 if file.n < _LONG else 8)


def find_steps(file: Fm9File, progress: Progress) -> Steps:
    """Return, for each rank, the rank of the suffix that is one byte longer."""
    try:
        steps: Steps = np.empty(file.n, np.uint32 if file.n < _LONG else np.int64)
        bits = np.zeros((int(file.tables.at[BITS]) >> 6) + 5, np.uint64)
    except MemoryError as error:
        needed = f"{format_bytes(memory_needed(file))} for {format_bytes(file.n)} of text"
        problem = (
            "not enough memory: " + OptionUse("deep") + f" needs {needed}; all other checks passed"
        )
        raise InputError(str(file.path), problem) from error
    t, nodes = file.tables, file.tables.nodes
    deque(in_threads(lambda part: decode.decode_superblocks(t, *part, bits), _parts(t)), 0)
    cursors = np.where(nodes[:, LEFT] < 0, nodes[:, FIRST], nodes[:, START])
    ends = cursors + nodes[:, SIZE]

    def parts() -> Iterator[tuple[Integers, Steps]]:
        for start in range(0, file.n, _AT_ONCE):
            part, before = steps[start : start + _AT_ONCE], cursors.copy()
            moves = np.full(len(nodes), len(part))
            if not decode.move_cursors(bits, nodes, ends, cursors, moves):
                raise file.corrupt("field rrr: the bits contradict the nodes")
            yield before, part

    def fill(task: tuple[Integers, Steps]) -> int:
        decode.fill_steps(bits, nodes, *task)
        return len(task[1])

    for size in in_threads(fill, parts()):
        progress.advance(size, CHECKED)
    return steps


def decode_part(file: Fm9File, steps: Steps, start: int) -> tuple[int, Bytes]:
    """Compare the samples with a part of the text; return how many are positions, and the text."""
    t, width = file.tables, file.tables.at[TEXT_WIDTH]
    stop = min(file.n, start + _AT_ONCE)
    numbers = np.arange(start // ISA_STEP, -(-stop // ISA_STEP))
    following = (numbers + 1) % t.at[ISA_ENTRIES]  # the text is a cycle
    ranks = np.empty(stop - start, steps.dtype)
    ranks[np.minimum(numbers * ISA_STEP + ISA_STEP, stop) - start - 1] = steps[
        decode.entries(t, ISA, width, following)
    ]
    decode.walk_back(steps, ranks)
    places = np.flatnonzero(ranks % SA_STEP == 0)
    positions = decode.entries(t, SA, width, ranks[places].astype(np.int64) // SA_STEP)
    for field, is_wrong in (
        ("isa_sample", ranks[::ISA_STEP] != decode.entries(t, ISA, width, numbers)),
        ("sa_sample", positions != places + start),
    ):
        if is_wrong.any():
            place = f"between positions {start} and {stop}"
            raise file.corrupt(f"field {field}: contradicts the text {place}")
    alphabet = np.flatnonzero(t.leaves >= 0)
    first_ranks = t.nodes[t.leaves[alphabet], FIRST]
    symbols = np.searchsorted(first_ranks[1:], ranks, side="right")
    return len(places), alphabet.astype(np.uint8).take(symbols)


def in_threads(
    work: Callable[[_S], _T], tasks: Iterator[_S], stop: Callable[[], object] = int
) -> Iterator[_T]:
    """Yield results in the order of the tasks; only a few tasks run at a time.

    `stop` is called at the end or at an early exit; running tasks should then give up.
    """
    workers = usable_cores()
    running: deque[Future[_T]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            running.extend(pool.submit(work, task) for task in islice(tasks, 2 * workers))
            while running:
                yield running.popleft().result()
                running.extend(pool.submit(work, task) for task in islice(tasks, 1))
        finally:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
