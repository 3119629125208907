"""An index of a few texts in memory, which answers without HTTP and may be told to fail."""

import json
from collections.abc import Iterator, Sequence
from functools import cache

from ngramscan.errors import RemoteUnavailable
from ngramscan.indexes.base import (
    Cost,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Segment,
    Unit,
    Window,
    WindowFailure,
)


class TextIndex:
    """Numbers occurrences as they stand in the texts of each shard."""

    name = spec = "x"
    unit: Unit = "bytes"
    longest_context = 10_000

    def __init__(
        self, *shards: Sequence[str], lost: Sequence[str] = (), unseen: Sequence[str] = ()
    ) -> None:
        """Take the texts, queries that can't be looked up, and those without windows."""
        self._shards = [[text.encode() for text in shard] for shard in shards]
        self._lost, self._unseen = lost, unseen
        self._places = cache(self._find)
        self.looked_at = 0

    def size(self) -> IndexSize:
        return IndexSize(documents=sum(map(len, self._shards)))

    def cost(self, *_: object) -> Cost:
        return Cost()

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        raise NotImplementedError

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        for query in queries:
            if query in self._lost:
                yield QueryFailure(self.name, query, RemoteUnavailable("engine crashed"))
            else:
                counts = enumerate(map(len, self._places(query)))
                yield Occurrences(query, tuple(Segment(shard, 0, n) for shard, n in counts if n))

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        for place in reversed(places):  # any order is allowed
            self.looked_at += 1
            if place.query in self._unseen:
                yield WindowFailure(place, RemoteUnavailable("no window"))
            else:
                yield self._window(place, context)

    def _find(self, query: str) -> list[list[tuple[int, int]]]:
        return [
            [
                (number, start)
                for number, text in enumerate(texts)
                for start in _starts(query.encode(), text)
            ]
            for texts in self._shards
        ]

    def _window(self, place: Place, context: int) -> Window:
        number, start = self._places(place.query)[place.shard][place.rank]
        text = self._shards[place.shard][number]
        low = max(0, start - context)
        high = min(len(text), start + len(place.query.encode()) + context)
        while text[low : low + 1] > b"\x7f" and text[low : low + 1] < b"\xc0":
            low += 1
        while high < len(text) and b"\x7f" < text[high : high + 1] < b"\xc0":
            high -= 1
        return Window(
            place=place,
            document=f"{place.shard}/{number}",
            document_bytes=len(text),
            text=text[low:high],
            offset=start - low,
            starts_document=low == 0,
            metadata=json.dumps({"shard": place.shard}),
        )


def _starts(needle: bytes, text: bytes) -> Iterator[int]:
    start = text.find(needle)
    while start >= 0:
        yield start
        start = text.find(needle, start + 1)


class Counting(TextIndex):
    """An index of a few texts that also counts, and keeps what it was asked."""

    def __init__(
        self, *shards: Sequence[str], lost: Sequence[str] = (), unseen: Sequence[str] = ()
    ) -> None:
        super().__init__(*shards, lost=lost, unseen=unseen)
        self.asked: list[str] = []

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        self.asked += queries
        for found in self.find(queries):
            if isinstance(found, QueryFailure):
                yield found
            else:
                yield QueryCount(found.query, found.occurrences, None, "scan", "2026-11-24")
