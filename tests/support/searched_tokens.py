"""The table and text of a shard of tokens in memory, searched as if each reply took a while."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ngramscan.index_files.tokens.in_place_search import Bound, SearchedFiles, ShardSearch
from ngramscan.remote.ranges import BytesOrFuture


class WrongOrderError(Exception):
    """Two suffixes of the table are out of order."""


class WrongPointerError(Exception):
    """A pointer leads to no token."""


@dataclass
class SearchedTokens:
    """What a search needs of the files of a shard. `pointers` is its table."""

    text: bytes
    width: int
    pointers: list[int]
    pointer_bytes: int = 5
    is_late: bool = True
    """Whether replies have to be waited for, which takes rounds."""
    reads: list[tuple[str, int, int]] = field(default_factory=list)
    """What has been read: file, start, stop."""
    keeps: bool = False
    """Whether what has been read once takes no request."""

    @property
    def ranks(self) -> int:
        return len(self.pointers)

    @property
    def text_bytes(self) -> int:
        return len(self.text)

    @property
    def bytes_read(self) -> int:
        return sum(stop - start for _, start, stop in self.reads)

    def kept_table(self, start: int, stop: int) -> bytes | None:
        return self._pointers(start, stop) if self._is_kept("table", start, stop) else None

    def kept_text(self, start: int, stop: int) -> bytes | None:
        return self.text[start:stop] if self._is_kept("text", start, stop) else None

    def _is_kept(self, file: str, start: int, stop: int) -> bool:
        return self.keeps and (file, start, stop) in self.reads

    def start_table(self, start: int, stop: int) -> BytesOrFuture:
        self.reads.append(("table", start, stop))
        return self._reply(self._pointers(start, stop))

    def _pointers(self, start: int, stop: int) -> bytes:
        ranks = range(start // self.pointer_bytes, stop // self.pointer_bytes)
        raw = [self.pointers[rank].to_bytes(self.pointer_bytes, "little") for rank in ranks]
        return b"".join(raw)

    def start_text(self, start: int, stop: int) -> BytesOrFuture:
        assert start < stop <= len(self.text)
        self.reads.append(("text", start, stop))
        return self._reply(self.text[start:stop])

    def _reply(self, content: bytes) -> BytesOrFuture:
        if not self.is_late:
            return content
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop.call_soon(future.set_result, content)
        return future

    def check_pointer(self, rank: int, pointer: int) -> None:
        if pointer >= len(self.text) or pointer % self.width:
            raise WrongPointerError(rank)

    def refuse_order(self, rank: int) -> None:
        raise WrongOrderError(rank)

    def suffix(self, rank: int) -> bytes:
        """Return the whole suffix with a rank."""
        return self.text[self.pointers[rank] :]


@dataclass(frozen=True)
class Searched:
    """What a search took and found."""

    ranks: list[tuple[int, int]]
    rounds: int


def encoded(tokens: Sequence[int], width: int) -> bytes:
    """Return tokens as they are in files."""
    return np.array(tokens, f"<u{width}").tobytes()


def sorted_tokens(
    tokens: Sequence[int], width: int, compared_bytes: int | None = None
) -> SearchedTokens:
    """Return a text with its table, made by sorting slices, or as much of them as differs."""
    text = encoded(tokens, width)
    end = len(text) if compared_bytes is None else compared_bytes
    places = sorted(range(0, len(text), width), key=lambda place: text[place : place + end])
    return SearchedTokens(text, width, places)


async def search(
    files: SearchedFiles, patterns: Sequence[bytes], requests_per_round: int = 1
) -> Searched:
    """Search both ends of some patterns."""
    shard_search = ShardSearch(files, requests_per_round)
    bounds = [_ends(shard_search, pattern) for pattern in patterns]
    await shard_search.run([bound for pair in bounds for bound in pair])
    ranks = [(first.low, last.low) for first, last in bounds]
    return Searched(ranks, shard_search.rounds)


async def search_alone(
    files: SearchedTokens, patterns: Sequence[bytes]
) -> dict[bytes, tuple[int, int] | None]:
    """Return the ranks of each pattern, searched alone; None: suffixes are out of order."""
    ranks_by_pattern: dict[bytes, tuple[int, int] | None] = {}
    for pattern in patterns:
        try:
            (ranks_by_pattern[pattern],) = (await search(files, [pattern])).ranks
        except WrongOrderError:
            ranks_by_pattern[pattern] = None
    return ranks_by_pattern


def true_ranks(files: SearchedTokens, patterns: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return the ranks of some patterns in a sound table, from whole suffixes."""
    suffixes = [files.suffix(rank) for rank in range(files.ranks)]
    ranks = []
    for pattern in patterns:
        beginnings = [suffix[: len(pattern)] for suffix in suffixes]
        ranks.append((bisect_left(suffixes, pattern), bisect_right(beginnings, pattern)))
    return ranks


def alike_bytes(first: bytes, second: bytes) -> int:
    """Return the length of the beginning that two texts share."""
    length = min(len(first), len(second))
    return next((at for at in range(length) if first[at] != second[at]), length)


def _ends(shard_search: ShardSearch, pattern: bytes) -> tuple[Bound, Bound]:
    return (
        shard_search.bound(pattern, takes_beginnings=True),
        shard_search.bound(pattern, takes_beginnings=False),
    )
