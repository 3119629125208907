"""Steps of a search by rules in index files in place: all ranges of a step are read at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from ngramscan.index_files.compiled import Integers, expect_steps
from ngramscan.index_files.fm9.in_place import InPlaceFile
from ngramscan.index_files.fm9.in_place_shards import InPlaceShard
from ngramscan.remote.ranges import Ranges
from ngramscan.remote.together import together


def extend_in_place(
    ranges: Ranges, shards: Sequence[InPlaceShard], texts: Sequence[bytes], segments: Integers
) -> Integers:
    """Return the ranks of the suffixes of some ranges, each with a text put before it.

    Parameters
    ----------
    ranges : Ranges
    shards : sequence of InPlaceShard
    texts : sequence of bytes
    segments : array of int, shape (texts, shards, 2)
        Half-open ranges of ranks, one for each text and shard.

    Returns
    -------
    array of int, shape (texts, shards, 2)
        Half-open ranges; the two numbers are equal where there is no such suffix.
    """
    files = [shard.data for shard in shards]
    expect_steps(len(files) * sum(map(len, texts)))
    extended = np.array(segments, np.int64)
    extended[..., 1] = extended[..., 0]
    steps = [
        (number, shard, text, segments[number, shard])
        for number, text in enumerate(texts)
        for shard, file in enumerate(files)
        if segments[number, shard, 0] < segments[number, shard, 1]
        and all(file.steps[byte] for byte in text)
    ]

    async def extend() -> list[tuple[int, tuple[int, int]]]:
        await together(file.load() for file in files)
        return await together(
            files[shard].extend(text, (int(low), int(high)))
            for _, shard, text, (low, high) in steps
        )

    if not steps:
        return extended
    for (number, shard, text, _), (matched, ranks) in zip(steps, ranges.run(extend()), strict=True):
        if matched == len(text):
            extended[number, shard] = ranks
    return extended


def find_neighbours(
    ranges: Ranges, shards: Sequence[InPlaceShard], groups: Sequence[Sequence[bytes]]
) -> Integers:
    """Return the ranks of all that begins with texts of a group, in each shard.

    Parameters
    ----------
    ranges : Ranges
    shards : sequence of InPlaceShard
    groups : sequence of sequences of bytes
        The texts of a group are all characters of a range, in byte order, or what these begin
        with. So the first and the last text of a group are enough.

    Returns
    -------
    array of int, shape (groups, shards, 2)
        Half-open ranges of ranks; the two numbers are equal where nothing begins so.
    """
    files = [shard.data for shard in shards]
    expect_steps(len(files) * len(groups))

    async def find() -> list[tuple[int, int]]:
        await together(file.load() for file in files)
        ranks_by_file = [_NeighbourRanks(file) for file in files]
        return await together(
            in_file.between(texts[0], texts[-1]) for texts in groups for in_file in ranks_by_file
        )

    return np.array(ranges.run(find()), np.int64).reshape(len(groups), len(files), 2)


class _NeighbourRanks:
    """The numbers of suffixes of a file that sort before a text, whether it occurs or not."""

    def __init__(self, file: InPlaceFile) -> None:
        self._file = file
        self._first_ranks = [0, *accumulate(map(file.layout.occurrences, range(256)))]
        """The suffixes that begin with a lower byte, by the byte; and the number of all."""

    async def between(self, first: bytes, last: bytes) -> tuple[int, int]:
        """Return the ranks from those that begin with one text to those that do with another.

        A beginning that both texts share is looked up first, as often it does not occur.
        """
        low, high = self._first_ranks[first[0]], self._first_ranks[last[0] + 1]
        for size in range(2, min(len(first), len(last))):
            if low == high or first[:size] != last[:size]:
                break
            low, high = await self._ranks_from(first[:size], last[:size])
        return await self._ranks_from(first, last) if low < high else (low, low)

    async def _ranks_from(self, first: bytes, last: bytes) -> tuple[int, int]:
        low, high = await together(
            [
                self._before(first[:-1], self._first_ranks[first[-1]]),
                self._before(last[:-1], self._first_ranks[last[-1] + 1]),
            ]
        )
        return low, high

    async def _before(self, text: bytes, rank: int) -> int:
        """Return the rank of a bound after a text is put before what sorts before the bound.

        Suffixes that sort before a byte and the bound are those that begin with a lower byte, and
        those that have the byte before a suffix that sorts before the bound.
        """
        for byte in reversed(text):
            first_rank = self._first_ranks[byte]
            if rank and first_rank < self._first_ranks[byte + 1]:
                matched, ranks = await self._file.extend(bytes([byte]), (0, rank))
                rank = ranks[1] if matched else first_rank
            else:
                rank = first_rank
        return rank
