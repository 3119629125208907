"""Queries to an index in place: on a web server, or in an object store.

A query is a chain of small reads, each of which determines where the next one is. So all queries to
all shards run at once, as tasks of one event loop. The compiled loops are those of the local
reader: they stop at a missing part of the file, and continue once it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import islice, pairwise
from typing import cast

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.compiled import NO_FLAG, Integers, expect_steps
from ngramscan.index_files.fm9 import kernels
from ngramscan.index_files.fm9.header import read_layout
from ngramscan.index_files.fm9.layout import BLOCK, ISA_STEP, SUPERBLOCK, FileLayout
from ngramscan.index_files.fm9.tables import (
    BT,
    BTNR,
    BTNR_BITS,
    BTNRP,
    BTNRP_WIDTH,
    INVERT,
    ISA,
    RANK,
    RANK_WIDTH,
    SA,
    TEXT_WIDTH,
    TableParts,
    Tables,
    make_tables,
)
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import PIECE_BYTES, BytesOrFuture, Ranges, finished
from ngramscan.remote.together import together

_BITS = BLOCK * SUPERBLOCK
_TYPES = 7 * SUPERBLOCK
_LONGEST_NUMBER = int(kernels.NUMBER_BITS.max())
_SLOTS = {RANK: 0, BTNRP: 24, INVERT: 48, BT: 56, BTNR: 96}
_SLOTS |= {SA: 0, ISA: 0}
"""The place of each field's bytes in a part."""
_PART_BYTES = 96 + _LONGEST_NUMBER * SUPERBLOCK // 8 + 48
_BEHIND = 272
"""Bytes that the compiled loops may read after the last field."""
_HEADER_PART = 4096
_CONTRADICTION = "field rrr: the bits contradict their number"
_WALKS_AT_ONCE = 1024

_Bits = Mapping[int, tuple[int, int]]
"""Bits to read, by column of the field: the first one, and their number."""
_Pieces = dict[int, tuple[int, bytes]]
"""The number of the first byte in its field, and the bytes read."""


class _PartsHere:
    """The parts of a file that one search needs at the moment."""

    def __init__(self, tables: Tables) -> None:
        self._tables, self.missing = tables, np.zeros(3, np.int64)
        self.clear()

    def clear(self) -> None:
        """Forget all parts: the search has advanced."""
        self._data = b""
        self._keys: list[int] = []
        self._at: list[Integers] = []

    def add(self, key: int, pieces: _Pieces) -> None:
        """Add a part with the fields that were read."""
        part, offsets = bytearray(_PART_BYTES), self._tables.at.copy()
        for column, (start, raw) in pieces.items():
            slot = _SLOTS[column]
            part[slot : slot + len(raw)] = raw
            offsets[column] = len(self._data) + slot - start
        self._data += part
        self._keys.append(key)
        self._at.append(offsets)

    def tables(self) -> Tables:
        """Return the file in the form that the compiled loops read."""
        at = np.array(self._at, np.int64).reshape(-1, self._tables.at.size)
        self.missing[:] = 0
        parts = TableParts(np.array(self._keys, np.int64), at, self.missing)
        return self._tables._replace(data=np.frombuffer(self._data, np.uint8), parts=parts)


class ReadLog:
    """Reads parts of files, and records which."""

    def __init__(self, ranges: Ranges) -> None:
        self._ranges, self.parts = ranges, set[tuple[RemoteFile, int, int]]()

    def start(self, file: RemoteFile, start: int, stop: int) -> BytesOrFuture:
        """Start to read a part, as `Ranges.start` does."""
        self.parts.add((file, start, stop))
        return self._ranges.start(file, start, stop)


class InPlaceFile:
    """A searchable text: an .fm9 file from which only the parts that queries need are read."""

    def __init__(self, ranges: Ranges, file: RemoteFile, layout: FileLayout, memory: int) -> None:
        self._ranges, self._file, self.start_read = ranges, file, ranges.start
        self.layout, self.n = layout, layout.n
        self._tables = make_tables(np.zeros(0, np.uint8), layout)
        self._at: list[int] = self._tables.at.tolist()
        self.steps: list[int] = self._tables.lengths.tolist()
        """Number of steps for one byte of a pattern, by the byte."""
        fields = {RANK: layout.rank, BTNRP: layout.btnrp}
        fields |= {INVERT: layout.invert}
        self.reads_per_step, self.rounds_per_step = 2, 1
        """Number of reads per step, and how many of them are sequential."""
        self._is_whole = file.size <= memory
        if self._is_whole:
            self.reads_per_step = self.rounds_per_step = 0
        elif sum(field.bytes for field in fields.values()) > memory:
            fields = {}
            self.reads_per_step, self.rounds_per_step = 5, 2
        self._fields, self._kept = fields, dict[int, bytes]()
        kept_bytes = sum(field.bytes for field in fields.values())
        self.kept_bytes = file.size if self._is_whole else kept_bytes
        """Bytes that are read before the first step."""
        parts = [file.size] if self._is_whole else [field.bytes for field in fields.values()]
        self.loads = sum(-(-size // PIECE_BYTES) for size in parts)
        """Requests for these bytes."""

    @classmethod
    async def open(cls, ranges: Ranges, file: RemoteFile, memory: int) -> InPlaceFile:
        """Read the header; up to `memory` bytes, the whole file or ranks and pointers are kept.

        With those, a step is one round of requests, not two.
        """
        return cls(ranges, file, await _read_header(ranges, file), memory)

    def read_by(self, reads: ReadLog) -> InPlaceFile:
        """Return a copy whose reads a log records; the file has to be loaded."""
        logged = copy(self)
        logged.start_read = reads.start
        return logged

    async def load(self) -> None:
        """Read the parts that are kept in memory; this is required before any query."""
        if self._is_whole:
            if not self._tables.data.size:
                raw = await self._ranges.read(self._file, 0, self._file.size)
                data = np.frombuffer(raw + bytes(_BEHIND), np.uint8)
                self._tables = self._tables._replace(data=data)
        elif not self._kept:
            parts = await together(
                self._ranges.read(self._file, field.offset, field.offset + field.bytes)
                for field in self._fields.values()
            )
            self._kept |= zip(self._fields, parts, strict=True)

    def corrupt(self, problem: str) -> IndexFormatError:
        """Return the error for a file that contradicts itself."""
        return IndexFormatError(self._file.url, problem)

    # Parts of the file

    async def _read(self, requests: Sequence[_Bits]) -> list[_Pieces]:
        """Return bits of several fields, several times."""
        # All reads are started before any is waited for.
        started = [
            [(column, *self._start(column, *bits)) for column, bits in fields.items()]
            for fields in requests
        ]
        return [
            {column: (start, await finished(reading)) for column, start, reading in fields}
            for fields in started
        ]

    def _start(self, column: int, first: int, bits: int) -> tuple[int, BytesOrFuture]:
        start, stop = first >> 3, (first + bits + 7) >> 3
        if column in self._kept:
            return start, self._kept[column][start:stop]
        at = self._at[column]
        return start, self.start_read(self._file, at + start, at + stop)

    def _first_bits(self, key: int) -> _Bits:
        """Return the first bits to read of a part: a whole sample, or the places of blocks."""
        number, column = key >> 3, key & 7
        if column != BT:
            width = self._at[TEXT_WIDTH]
            return {column: (number * width, width)}
        rank, pointer = self._at[RANK_WIDTH], self._at[BTNRP_WIDTH]
        return {
            RANK: (number * rank, 2 * rank),
            INVERT: (number, 1),
            BTNRP: (number * pointer, 2 * pointer),
        }

    def _blocks(self, key: int, pieces: _Pieces) -> _Bits:
        """Return the bits of a superblock's blocks; empty if all its bits are the same."""
        if RANK not in pieces:
            return {}
        number, width = key >> 3, self._at[RANK_WIDTH]
        ones, after = (_entry(pieces[RANK], at, width) for at in (number, number + 1))
        if after in {ones, ones + _BITS}:
            return {}
        pointer = self._at[BTNRP_WIDTH]
        first, stop = (_entry(pieces[BTNRP], at, pointer) for at in (number, number + 1))
        # The pointer of a superblock without a bit is 0; behind the last one is another field.
        end = self._at[BTNR_BITS]
        is_last = (number + 2) * pointer > self.layout.btnrp.bits
        stop = end if is_last or stop <= first else stop
        stop = min(stop, first + SUPERBLOCK * _LONGEST_NUMBER)
        if not first <= stop <= end:
            raise self.corrupt("field rrr.btnrp: a pointer leads out of the numbers")
        # The types say where a block's number is. All are read, so that none has to wait for them.
        return {BT: (number * _TYPES, _TYPES), BTNR: (first, stop - first)}

    async def _until_found(self, search: Callable[[Tables], int | None]) -> None:
        """Search, reading missing parts, until the search is finished.

        `search` returns how far it advanced, or None when finished. Once it has advanced, the
        earlier parts are no longer needed.
        """
        loaded = _PartsHere(self._tables)
        while (ahead := search(self._tables if self._is_whole else loaded.tables())) is not None:
            count, *keys = loaded.missing.tolist()
            if not count:
                raise self.corrupt(_CONTRADICTION)
            if ahead:
                loaded.clear()
            first_bits = await self._read([self._first_bits(key) for key in keys[:count]])
            ranges_of_blocks = [
                self._blocks(key, bits) for key, bits in zip(keys, first_bits, strict=False)
            ]
            blocks = await self._read(ranges_of_blocks)
            for key, pieces, more in zip(keys, first_bits, blocks, strict=False):
                loaded.add(key, pieces | more)

    # Searching

    async def find(self, patterns: Sequence[bytes]) -> Integers:
        """Return the half-open ranks of each pattern; both ends are equal if it doesn't occur."""
        expect_steps(sum(map(len, patterns)))
        segments = await together(map(self._find, patterns))
        return np.concatenate([np.zeros((0, 2), np.int64), *segments])

    async def _find(self, pattern: bytes) -> Integers:
        matched, ranks = await self.extend(pattern, (0, self.n))
        return np.array([ranks if matched == len(pattern) else (ranks[0], ranks[0])], np.int64)

    async def extend(self, pattern: bytes, ranks: tuple[int, int]) -> tuple[int, tuple[int, int]]:
        """Return how many last bytes of a pattern precede the suffixes with some ranks.

        Also return the ranks of these bytes followed by the suffixes.
        """
        path, segment = np.zeros((len(pattern) + 1, 2), np.int64), np.zeros((1, 2), np.int64)
        unmatched, path[0], matched = np.frombuffer(bytearray(pattern), np.uint8), ranks, 0

        def search(tables: Tables) -> int | None:
            nonlocal unmatched, matched
            starts, at = np.array([0, len(unmatched)]), np.zeros(3, np.int64)
            if kernels.find(tables, unmatched, starts, path, segment, at, NO_FLAG) == 0:
                return None
            ahead = int(segment[0, 1])
            path[0], unmatched = path[ahead], unmatched[: len(unmatched) - ahead]
            matched += ahead
            return ahead

        await self._until_found(search)
        # Both ends are equal where nothing is left.
        alive = path[: len(unmatched) + 1, 0] < path[: len(unmatched) + 1, 1]
        reached = len(unmatched) if alive.all() else max(0, int(alive.argmin()) - 1)
        return matched + reached, (int(path[reached, 0]), int(path[reached, 1]))

    # Walking through the text

    async def locate(self, rank: int) -> int:
        """Return the position in the text of the suffix with a rank."""
        ranks, positions, visited, steps = np.array([rank]), np.zeros(1, np.int64), set[int](), 0

        def search(tables: Tables) -> int | None:
            nonlocal steps
            kernels.locate(tables, ranks, positions, 0, NO_FLAG)
            ahead = kernels.CORRUPT - int(positions[0])
            if ahead < 0:
                return None
            steps += ahead
            if ahead and int(ranks[0]) in visited:
                raise self.corrupt("field rrr or sa_sample: a rank leads nowhere")
            visited.add(int(ranks[0]))
            return ahead

        await self._until_found(search)
        return (int(positions[0]) + steps) % self.n

    async def extract(self, start: int, stop: int) -> bytes:
        """Return a part of the text. Its pieces are read at once, each backwards from a sample."""
        cuts = [start, *range(start - start % ISA_STEP + ISA_STEP, stop, ISA_STEP), stop]
        walks, pieces = pairwise(cuts), []
        while batch := list(islice(walks, _WALKS_AT_ONCE)):
            pieces += await together(self._walk(*piece) for piece in batch)
        return b"".join(pieces)

    async def _walk(self, start: int, stop: int) -> bytes:
        sampled = min(-(-stop // ISA_STEP) * ISA_STEP, self.n)
        starts, stops = np.array([start]), np.array([sampled])
        ranks, places, text = np.array([-1]), np.array([0]), np.zeros(sampled - start, np.uint8)

        def search(tables: Tables) -> int | None:
            before = int(stops[0])
            if kernels.extract(tables, starts, stops, ranks, places, text, NO_FLAG) == 0:
                return None
            return before - int(stops[0])

        await self._until_found(search)
        return text.tobytes()[: stop - start]


def _entry(vector_part: tuple[int, bytes], number: int, width: int) -> int:
    """Return an entry of a vector, from bytes that contain it and the number of the first byte."""
    start, raw = vector_part
    return int.from_bytes(raw, "little") >> (number * width - 8 * start) & ((1 << width) - 1)


# The header


class _MissingPart(Exception):
    """A part of a header has not been read yet."""


class _PartialHeader:
    """Looks like a whole file to the header parser, though only some parts have been read."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.parts: dict[int, bytes] = {}

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part_wanted: slice) -> bytes:
        start, stop, _ = part_wanted.indices(self._size)
        for at, part in self.parts.items():
            if at <= start and stop <= at + len(part):
                return part[start - at : stop - at]
        raise _MissingPart(start, stop)


async def _read_header(ranges: Ranges, file: RemoteFile) -> FileLayout:
    """Read the parts of a file that its parser asks for, until it has all of them."""
    header = _PartialHeader(file.size)
    while True:
        try:
            return read_layout(cast(memoryview, header), file.url)
        except _MissingPart as missing:
            start, stop = missing.args
            stop = min(file.size, max(stop, start + _HEADER_PART))
            header.parts[start] = await ranges.read(file, start, stop)
