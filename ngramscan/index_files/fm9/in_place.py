"""Asks an index where it lies: on a web server, or in an object store.

A question is a chain of small reads, each of which says where the next one is. So all questions to
all shards go on at once, as tasks of one event loop. The arithmetic is that of the local reader:
the bytes of one step are put into a small buffer, and the offsets in `Tables.at` are moved so that
the same compiled function finds them there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice, pairwise
from typing import Any, TypeVar, cast

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.fm9 import kernels
from ngramscan.index_files.fm9.header import read_layout
from ngramscan.index_files.fm9.layout import BLOCK, ISA_STEP, SA_STEP, SUPERBLOCK, Field, Layout
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import Ranges, Reading, finished

_BITS = BLOCK * SUPERBLOCK
_TYPES = 7 * SUPERBLOCK
_LONGEST_NUMBER = int(kernels.NUMBER_BITS.max())
_SLOTS = {kernels.RANK: 0, kernels.BTNRP: 24, kernels.INVERT: 48, kernels.BT: 56, kernels.BTNR: 96}
"""Where the buffer of one step has the bytes of each field."""
_BUFFER = 96 + _LONGEST_NUMBER * SUPERBLOCK // 8 + 48
_HEADER_PART = 4096
_CONTRADICTION = "field rrr: the bits contradict their number"
_WALKS_AT_ONCE = 1024

T = TypeVar("T")
_Bits = Mapping[int, tuple[int, int]]
"""Bits to read, by column of the field: the first one, and how many."""
_Pieces = dict[int, tuple[int, bytes]]
"""The bytes that were read, after the number of the first one in its field."""
Trie = dict[int, Any]
"""Patterns by their bytes, from the last one on; ENDS has the numbers of those that end there."""
ENDS = -1


@asynccontextmanager
async def tasks() -> AsyncIterator[asyncio.TaskGroup]:
    """Wait for all tasks of a group; the first error ends the others."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def together(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the results of all; the first error ends the others."""
    async with tasks() as group:
        running = [group.create_task(one) for one in coroutines]
    return [task.result() for task in running]


def make_trie(patterns: Sequence[bytes]) -> Trie:
    """Return the patterns as a tree, in which common suffixes are one branch."""
    root: Trie = {}
    for number, pattern in enumerate(patterns):
        node = root
        for byte in reversed(pattern):
            node = node.setdefault(byte, {})
        node.setdefault(ENDS, []).append(number)
    return root


class InPlaceFile:
    """A searchable text: an .fm9 file of which only what a question needs is read."""

    def __init__(self, ranges: Ranges, file: RemoteFile, layout: Layout, memory: int) -> None:
        self._ranges, self._file = ranges, file
        self.layout, self.n = layout, layout.n
        self._tables = kernels.make_tables(np.zeros(0, np.uint8), layout)
        self._at: list[int] = self._tables.at.tolist()
        self._nodes: list[list[int]] = self._tables.nodes.tolist()
        self._under = _bytes_under(self._nodes)
        self._leaves: list[int] = self._tables.leaves.tolist()
        self.steps: list[int] = self._tables.lengths.tolist()
        """How many steps one byte of a pattern takes, by the byte."""
        ranks = {kernels.RANK: layout.rank, kernels.BTNRP: layout.btnrp}
        fields = {**ranks, kernels.INVERT: layout.invert}
        self.reads_per_step, self.rounds_per_step = 2, 1
        """How many reads one step takes, and how many of them have to wait for each other."""
        if file.size <= memory:
            fields |= {kernels.BT: layout.bt, kernels.BTNR: layout.btnr}
            fields |= {kernels.SA: layout.sa, kernels.ISA: layout.isa}
            self.reads_per_step = self.rounds_per_step = 0
        elif sum(map(_length, fields.values())) > memory:
            fields = {}
            self.reads_per_step, self.rounds_per_step = 5, 2
        self._fields, self._kept = fields, dict[int, bytes]()
        self.kept_bytes = sum(map(_length, fields.values()))
        """Bytes that are read before the first step."""

    @classmethod
    async def open(cls, ranges: Ranges, file: RemoteFile, memory: int) -> InPlaceFile:
        """Read the header; up to `memory` bytes, the whole file or ranks and pointers are kept.

        With those, a step is one round of requests, not two.
        """
        return cls(ranges, file, await _read_header(ranges, file), memory)

    async def load(self) -> None:
        """Read what is kept; this has to be done before anything is asked."""
        fields = {} if self._kept else self._fields
        parts = await together(
            self._ranges.read(self._file, field.offset, field.offset + _length(field))
            for field in fields.values()
        )
        self._kept |= zip(fields, parts, strict=True)

    def corrupt(self, problem: str) -> IndexFormatError:
        """Return the error for a file that contradicts itself."""
        return IndexFormatError(self._file.url, problem)

    # One step: bits of the wavelet tree, and the ones before them

    async def _read(self, wanted: Sequence[_Bits]) -> list[_Pieces]:
        """Return bits of several fields, several times."""
        # All reads are started before any is waited for.
        started = [
            [(column, *self._start(column, *bits)) for column, bits in one.items()]
            for one in wanted
        ]
        return [
            {column: (start, await finished(got)) for column, start, got in one} for one in started
        ]

    def _start(self, column: int, first: int, bits: int) -> tuple[int, Reading]:
        start, stop = first >> 3, (first + bits + 7) >> 3
        if column in self._kept:
            return start, self._kept[column][start:stop]
        at = self._at[column]
        return start, self._ranges.start(self._file, at + start, at + stop)

    async def _ones(self, *positions: int) -> list[int]:
        """Return what `kernels.bit_and_ones` returns for bits of the whole file."""
        rank, pointer = self._at[kernels.RANK_WIDTH], self._at[kernels.BTNRP_WIDTH]
        numbers = list(dict.fromkeys(at // _BITS for at in positions))
        known = await self._read(
            [
                {
                    kernels.RANK: (number * rank, 2 * rank),
                    kernels.INVERT: (number, 1),
                    kernels.BTNRP: (number * pointer, 2 * pointer),
                }
                for number in numbers
            ]
        )
        wanted = [self._blocks(*one) for one in zip(numbers, known, strict=True)]
        pieces = [one | more for one, more in zip(known, await self._read(wanted), strict=True)]
        of_superblock = dict(zip(numbers, pieces, strict=True))
        return [self._ones_before(at, of_superblock[at // _BITS]) for at in positions]

    def _known_ones(self, number: int, pieces: _Pieces) -> tuple[int, int]:
        """Return the ones before a superblock, and before the next one."""
        width, ranks = self._at[kernels.RANK_WIDTH], pieces[kernels.RANK]
        return _entry(ranks, number, width), _entry(ranks, number + 1, width)

    def _blocks(self, number: int, pieces: _Pieces) -> _Bits:
        """Return where the blocks of a superblock are; nothing if its bits are all the same."""
        ones, after = self._known_ones(number, pieces)
        if after in {ones, ones + _BITS}:
            return {}
        pointer = self._at[kernels.BTNRP_WIDTH]
        first, stop = (_entry(pieces[kernels.BTNRP], at, pointer) for at in (number, number + 1))
        # The pointer of a superblock without a bit is 0, and the last one has none behind it.
        end = self._at[kernels.BTNR_BITS]
        stop = min(stop if stop > first else end, first + SUPERBLOCK * _LONGEST_NUMBER)
        if not first <= stop <= end:
            raise self.corrupt("field rrr.btnrp: a pointer leads out of the numbers")
        # The types say where a block's number is. All are read, so that none has to wait for them.
        return {kernels.BT: (number * _TYPES, _TYPES), kernels.BTNR: (first, stop - first)}

    def _ones_before(self, at: int, pieces: _Pieces) -> int:
        """Return what `kernels.bit_and_ones` returns for a bit of a superblock."""
        if kernels.BT not in pieces:
            ones, after = self._known_ones(at // _BITS, pieces)
            return 2 * ones if after == ones else 2 * (ones + at % _BITS) + 1
        data, offsets = bytearray(_BUFFER), self._tables.at.copy()
        for column, (start, raw) in pieces.items():
            slot = _SLOTS[column]
            data[slot : slot + len(raw)] = raw
            offsets[column] = slot - start
        tables = self._tables._replace(data=np.frombuffer(bytes(data), np.uint8), at=offsets)
        found = int(kernels.bit_and_ones(tables, at))
        if found < 0:
            raise self.corrupt(_CONTRADICTION)
        return found

    # Searching

    def find(self, trie: Trie, segments: Integers, group: asyncio.TaskGroup) -> None:
        """Start to fill in the ranks of each pattern, half-open, as tasks of a group.

        Both stay 0 for a pattern that does not occur.
        """

        async def follow(trie: Trie, wanted: list[int], number: int, low: int, high: int) -> None:
            """Go on from bits of a node to the leaves of all wanted bytes, and so on.

            The bits are the suffixes that begin with what led to `trie`. Where wanted bytes part,
            another task takes one side.
            """
            while wanted:
                node = self._nodes[number]
                if node[kernels.LEFT] < 0:
                    low, high = node[kernels.FIRST] + low, node[kernels.FIRST] + high
                    trie = trie[wanted[0]]
                    segments[trie.get(ENDS, [])] = low, high
                    number, wanted = 0, self._present(trie)
                    continue
                ones = await self._ones_in(node, low, high)
                zeros = node[kernels.LEFT], low - ones[0], high - ones[1]
                sides = []
                for below, start, stop in (zeros, (node[kernels.RIGHT], *ones)):
                    if not 0 <= start <= stop <= self._nodes[below][kernels.SIZE]:
                        raise self.corrupt(_CONTRADICTION)
                    some = [byte for byte in wanted if byte in self._under[below]]
                    if some and start < stop:
                        sides.append((some, below, start, stop))
                for side in sides[1:]:
                    group.create_task(follow(trie, *side))
                wanted, number, low, high = sides[0] if sides else ([], 0, 0, 0)

        segments[trie.get(ENDS, [])] = 0, self.n
        group.create_task(follow(trie, self._present(trie), 0, 0, self.n))

    def _present(self, trie: Trie) -> list[int]:
        return [byte for byte in trie if byte != ENDS and self._leaves[byte] >= 0]

    async def _ones_in(self, node: list[int], low: int, high: int) -> tuple[int, int]:
        """Return the numbers of ones before two bits of a node; of none and of all it is known."""
        start, before, size = node[kernels.START], node[kernels.BEFORE], node[kernels.SIZE]
        known = {0: 0, size: self._nodes[node[kernels.RIGHT]][kernels.SIZE]}
        unknown = [at for at in (low, high) if at not in known]
        if unknown:
            found = await self._ones(*(start + at for at in unknown))
            known |= {at: (got >> 1) - before for at, got in zip(unknown, found, strict=True)}
        return known[low], known[high]

    # Walking through the text

    async def _previous(self, rank: int) -> tuple[int, int]:
        """Return the rank of the suffix that is one byte longer, and that byte."""
        node, at = self._nodes[0], rank
        while node[kernels.LEFT] >= 0:
            (got,) = await self._ones(node[kernels.START] + at)
            ones = (got >> 1) - node[kernels.BEFORE]
            at = ones if got & 1 else at - ones
            node = self._nodes[node[kernels.RIGHT if got & 1 else kernels.LEFT]]
            if not 0 <= at < node[kernels.SIZE]:
                raise self.corrupt(_CONTRADICTION)
        return node[kernels.FIRST] + at, node[kernels.BYTE]

    async def locate(self, rank: int) -> int:
        """Return the position in the text of the suffix with a rank."""
        met = set()
        while rank % SA_STEP:
            if rank in met:
                raise self.corrupt("field rrr or sa_sample: a rank leads nowhere")
            met.add(rank)
            rank, _ = await self._previous(rank)
        position = await self._sample(kernels.SA, rank // SA_STEP)
        return (position + len(met)) % self.n

    async def _sample(self, column: int, number: int) -> int:
        width = self._at[kernels.TEXT_WIDTH]
        [found] = await self._read([{column: (number * width, width)}])
        value = _entry(found[column], number, width)
        if value >= self.n:
            raise self.corrupt("field sa_sample or isa_sample: beyond the text")
        return value

    async def extract(self, start: int, stop: int) -> bytes:
        """Return a part of the text. Its pieces are read at once, each backwards from a sample."""
        cuts = [start, *range(start - start % ISA_STEP + ISA_STEP, stop, ISA_STEP), stop]
        walks, pieces = pairwise(cuts), []
        while some := list(islice(walks, _WALKS_AT_ONCE)):
            pieces += await together(self._walk(*piece) for piece in some)
        return b"".join(pieces)

    async def _walk(self, start: int, stop: int) -> bytes:
        sample = -(-stop // ISA_STEP)
        position = sample * ISA_STEP
        if position >= self.n:
            sample, position = 0, self.n
        rank = await self._sample(kernels.ISA, sample)
        text = bytearray()
        while position > start:
            rank, byte = await self._previous(rank)
            position -= 1
            text.append(byte)
        return bytes(text[::-1][: stop - start])


def _bytes_under(nodes: list[list[int]]) -> list[set[int]]:
    """Return the bytes whose leaves are under each node; a node's children come behind it."""
    found: list[set[int]] = [set() for _ in nodes]
    for number, node in reversed([*enumerate(nodes)]):
        left, right = node[kernels.LEFT], node[kernels.RIGHT]
        found[number] = {node[kernels.BYTE]} if left < 0 else found[left] | found[right]
    return found


def _length(field: Field) -> int:
    return -(-field.bits // 64) * 8


def _entry(found: tuple[int, bytes], number: int, width: int) -> int:
    """Return an entry of a vector, from bytes that have it and the number of their first one."""
    start, raw = found
    return int.from_bytes(raw, "little") >> (number * width - 8 * start) & ((1 << width) - 1)


# The header


class _MissingPart(Exception):
    """A part of a header was not read yet."""


class _Header:
    """To the parser of headers a whole file, of which some parts are known."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.parts: dict[int, bytes] = {}

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, wanted: slice) -> bytes:
        start, stop, _ = wanted.indices(self._size)
        for at, part in self.parts.items():
            if at <= start and stop <= at + len(part):
                return part[start - at : stop - at]
        raise _MissingPart(start, stop)


async def _read_header(ranges: Ranges, file: RemoteFile) -> Layout:
    """Read the parts of a file that its parser asks for, until it has all of them."""
    header = _Header(file.size)
    while True:
        try:
            return read_layout(cast(memoryview, header), file.url)
        except _MissingPart as missing:
            start, stop = missing.args
            stop = min(file.size, max(stop, start + _HEADER_PART))
            header.parts[start] = await ranges.read(file, start, stop)
