"""Binary searches in the table of a shard in place: many at once, some levels ahead.

A step of a search needs a pointer of the table, and then the text at this pointer: two replies, one
after the other. So the pivots of several levels are read together, whichever of them turn out to be
needed: fewer rounds, for more requests. How many levels depends on how many searches share a round.
Searches that are in the same interval share its pivots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from ngramscan.remote.ranges import BytesOrFuture, finished

TEXT_BYTES = 64
"""Bytes of text that are read at a pivot; most n-grams differ from it earlier."""
NEAR_RANKS = 512
"""In an interval of so few ranks, all pointers are read at once: then a step is one reply."""


class SearchedFiles(Protocol):
    """The table and text of a shard, whose parts can be read."""

    @property
    def ranks(self) -> int:
        """Entries of the table."""

    @property
    def pointer_bytes(self) -> int:
        """Bytes of each."""

    @property
    def text_bytes(self) -> int:
        """Bytes of the text."""

    def start_table(self, start: int, stop: int) -> BytesOrFuture:
        """Start to read bytes of the table."""

    def start_text(self, start: int, stop: int) -> BytesOrFuture:
        """Start to read bytes of the text."""

    def kept_table(self, start: int, stop: int) -> bytes | None:
        """Return bytes of the table that take no request; None: they have to be read."""

    def kept_text(self, start: int, stop: int) -> bytes | None:
        """Return bytes of the text that take no request; None: they have to be read."""

    def check_pointer(self, rank: int, pointer: int) -> None:
        """Raise an IndexFormatError if a pointer leads to no token."""

    def refuse_order(self, rank: int) -> None:
        """Raise an IndexFormatError: the suffix with a rank does not follow the previous one."""


@dataclass(slots=True)
class Suffix:
    """The text from a pointer on, as far as it has been read."""

    pointer: int
    text: bytes
    is_whole: bool
    """It ends with the text of the shard."""

    def order(self, pattern: bytes) -> int | None:
        """Return -1, 0 or 1: it comes before a pattern, begins with it, comes after it.

        None: too little of it has been read.
        """
        beginning = self.text[: len(pattern)]
        if beginning == pattern:
            return 0
        if not pattern.startswith(beginning):
            return -1 if beginning < pattern else 1
        return -1 if self.is_whole else None

    def shared_with(self, pattern: bytes) -> int:
        """Return the length of the common beginning, in bytes."""
        pairs = zip(self.text, pattern, strict=False)
        different = (place for place, (first, second) in enumerate(pairs) if first != second)
        return next(different, min(len(self.text), len(pattern)))


@dataclass(slots=True)
class Bound:
    """The search for the first rank whose suffix comes after a pattern, or also begins with it."""

    pattern: bytes
    takes_beginnings: bool
    """Whether a suffix that begins with the pattern is searched, too."""
    low: int
    """The result, once the interval is empty."""
    high: int

    @property
    def is_open(self) -> bool:
        """Whether the interval has a rank."""
        return self.low < self.high

    @property
    def middle(self) -> int:
        """The next pivot."""
        return (self.low + self.high) // 2

    def advance(self, order: int) -> None:
        """Shorten the interval by the order of the pivot's suffix."""
        if order > 0 or (order == 0 and self.takes_beginnings):
            self.high = self.middle
        else:
            self.low = self.middle + 1


class ShardSearch:
    """Searches bounds in one shard, which share the suffixes that have been read.

    `requests_per_round` is how many requests are answered in the time of a single one.
    """

    def __init__(self, files: SearchedFiles, requests_per_round: int) -> None:
        self._files, self._requests_per_round = files, requests_per_round
        self._suffixes: dict[int, Suffix] = {}
        self._blocks: dict[int, bytes] = {}
        self.rounds = 0
        """Replies that had to be waited for, one after the other."""

    def bound(self, pattern: bytes, takes_beginnings: bool) -> Bound:
        """Return a bound to be searched in all ranks."""
        return Bound(pattern, takes_beginnings, 0, self._files.ranks)

    async def run(self, bounds: Sequence[Bound]) -> None:
        """Search all bounds; raise an IndexFormatError where suffixes are out of order."""
        open_bounds, too_short = list(bounds), set[int]()
        while True:
            for bound in open_bounds:
                self._advance(bound, too_short)
            open_bounds = [bound for bound in open_bounds if bound.is_open]
            if not open_bounds:
                break
            await self._read(self._pivots(open_bounds), too_short)
            too_short = set()
        await self._check_neighbours(bounds)

    def suffix(self, rank: int) -> Suffix:
        """Return the suffix next to a bound that has been searched."""
        return self._suffixes[rank]

    def _advance(self, bound: Bound, too_short: set[int]) -> None:
        """Move a bound by the pivots that have been read; note one of which more is needed."""
        while bound.is_open:
            suffix = self._suffixes.get(bound.middle) or self._recall(bound)
            if suffix is None:
                return
            order = suffix.order(bound.pattern)
            if order is not None:
                bound.advance(order)
            elif not self._recall_more(bound.middle, suffix):
                too_short.add(bound.middle)
                return

    def _recall(self, bound: Bound) -> Suffix | None:
        """Return the next suffix of a bound if an earlier search, or run, has read it.

        Without this, a search that looks further ahead than the earlier one would send requests
        for pivots that it does not need.
        """
        rank, width = bound.middle, self._files.pointer_bytes
        first, number = rank, 1
        if bound.high - bound.low <= NEAR_RANKS:
            first, number = rank // NEAR_RANKS * NEAR_RANKS, NEAR_RANKS
        last = min(first + number, self._files.ranks)
        pointers = self._files.kept_table(first * width, last * width)
        if pointers is None:
            return None
        start = (rank - first) * width
        pointer = int.from_bytes(pointers[start : start + width], "little")
        self._files.check_pointer(rank, pointer)
        stop = min(pointer + TEXT_BYTES, self._files.text_bytes)
        text = self._files.kept_text(pointer, stop)
        if text is None:
            return None
        self._suffixes[rank] = self._suffix_at(pointer, text)
        return self._suffixes[rank]

    def _recall_more(self, rank: int, suffix: Suffix) -> bool:
        """Add text to a suffix if that has been read earlier; tell whether it was."""
        start = suffix.pointer + len(suffix.text)
        stop = min(start + len(suffix.text), self._files.text_bytes)
        text = self._files.kept_text(start, stop)
        if text is not None:
            self._suffixes[rank] = self._suffix_at(suffix.pointer, suffix.text + text)
        return text is not None

    def _pivots(self, bounds: Iterable[Bound]) -> dict[int, bool]:
        """Return the pivots of the next levels, and whether all of their interval is near."""
        intervals = {(bound.low, bound.high) for bound in bounds}
        levels = levels_ahead(self._requests_per_round, len(intervals))
        return {
            rank: high - low <= NEAR_RANKS
            for low, high in intervals
            for rank in _middles(low, high, levels)
            if rank not in self._suffixes
        }

    async def _read(self, pivots: Mapping[int, bool], too_short: Iterable[int]) -> None:
        """Read the suffixes of pivots, and more of those that are too short."""
        longer = {rank: self._start_more(self._suffixes[rank]) for rank in too_short}
        pointers = await self._pointers(pivots)
        texts = [self._start_text(pointer, TEXT_BYTES) for pointer in pointers.values()]
        for rank, text in zip(longer, await self._collect([*longer.values()]), strict=True):
            known = self._suffixes[rank]
            self._suffixes[rank] = self._suffix_at(known.pointer, known.text + text)
        contents = await self._collect(texts)
        for (rank, pointer), text in zip(pointers.items(), contents, strict=True):
            self._suffixes[rank] = self._suffix_at(pointer, text)

    def _start_text(self, pointer: int, size: int) -> BytesOrFuture:
        return self._files.start_text(pointer, min(pointer + size, self._files.text_bytes))

    def _start_more(self, suffix: Suffix) -> BytesOrFuture:
        """Start to read as much of a suffix again as has been read."""
        size = len(suffix.text)
        return self._start_text(suffix.pointer + size, size)

    def _suffix_at(self, pointer: int, text: bytes) -> Suffix:
        return Suffix(pointer, text, pointer + len(text) == self._files.text_bytes)

    async def _pointers(self, pivots: Mapping[int, bool]) -> dict[int, int]:
        """Return the pointers of pivots; those of near ones are read with their block."""
        blocks = {rank // NEAR_RANKS for rank, is_near in pivots.items() if is_near}
        missing = [block for block in sorted(blocks) if block not in self._blocks]
        alone = [rank for rank in pivots if rank // NEAR_RANKS not in {*self._blocks, *blocks}]
        started = [self._start_ranks(block * NEAR_RANKS, NEAR_RANKS) for block in missing]
        started += [self._start_ranks(rank, 1) for rank in alone]
        contents = await self._collect(started)
        self._blocks |= zip(missing, contents[: len(missing)], strict=True)
        read_alone = dict(zip(alone, contents[len(missing) :], strict=True))
        pointers: dict[int, int] = {}
        for rank in pivots:
            raw = read_alone.get(rank) or self._in_block(rank)
            pointers[rank] = int.from_bytes(raw, "little")
            self._files.check_pointer(rank, pointers[rank])
        return pointers

    def _start_ranks(self, first: int, number: int) -> BytesOrFuture:
        width, last = self._files.pointer_bytes, min(first + number, self._files.ranks)
        return self._files.start_table(first * width, last * width)

    def _in_block(self, rank: int) -> bytes:
        """Return the bytes of a pointer from the block that has it."""
        start = rank % NEAR_RANKS * self._files.pointer_bytes
        block = self._blocks[rank // NEAR_RANKS]
        return block[start : start + self._files.pointer_bytes]

    async def _collect(self, started: Sequence[BytesOrFuture]) -> list[bytes]:
        """Return what was started to be read."""
        if any(not isinstance(reading, bytes) and not reading.done() for reading in started):
            self.rounds += 1
        return [await finished(reading) for reading in started]

    async def _check_neighbours(self, bounds: Sequence[Bound]) -> None:
        """Raise an IndexFormatError if the suffixes around the places of bounds are out of order.

        A pivot that is out of order leads a search to a place next to it, where all else looks
        right. So the order of the two suffixes on each side is checked, as far as they have been
        read: until they differ from the pattern, and not less than at a pivot.
        """
        last = self._files.ranks
        around = {
            bound.low: range(max(bound.low - 2, 0), min(bound.low + 2, last)) for bound in bounds
        }
        neighbours = {rank for ranks in around.values() for rank in ranks}
        await self._read({rank: True for rank in neighbours if rank not in self._suffixes}, ())
        while too_short := {
            rank
            for bound in bounds
            for rank in around[bound.low]
            if self._suffixes[rank].order(bound.pattern) is None
        }:
            await self._read({}, too_short)
        for ranks in around.values():
            for rank, following in pairwise(ranks):
                if _are_unordered(self._suffixes[rank], self._suffixes[following]):
                    self._files.refuse_order(following)


def levels_ahead(requests_per_round: int, intervals: int) -> int:
    """Return how many levels to read at once, so that a round is not longer for it."""
    return max(1, (requests_per_round // intervals + 1).bit_length() - 1)


def _middles(low: int, high: int, levels: int) -> Iterator[int]:
    """Yield the pivots of the next levels of a search in an interval."""
    if levels and low < high:
        middle = (low + high) // 2
        yield middle
        yield from _middles(low, middle, levels - 1)
        yield from _middles(middle + 1, high, levels - 1)


def _are_unordered(suffix: Suffix, following: Suffix) -> bool:
    """Tell whether a suffix does not come before the following one, as far as both were read."""
    comparable = min(len(suffix.text), len(following.text))
    beginning, following_beginning = suffix.text[:comparable], following.text[:comparable]
    if beginning != following_beginning:
        return beginning > following_beginning
    # Either it is the same suffix twice, or the following one is a beginning of the other.
    return suffix.pointer == following.pointer or (
        following.is_whole and comparable == len(following.text)
    )
