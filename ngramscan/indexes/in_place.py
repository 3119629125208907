"""An index that is asked where it lies: `fm9:https://…`, `fm9:s3://…`.

Its replies are kept in the journal, with the sizes and validators of its files: other files have
other replies. What the journal has is answered without asking whether the files are still the same,
as for a service; --refresh asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

from ngramscan.errors import IndexChangedError
from ngramscan.fm9.in_place_shards import find_in_all, open_in_place
from ngramscan.fm9.ranges import Ranges, shown
from ngramscan.indexes.base import (
    Found,
    IndexOptions,
    IndexSize,
    Place,
    QueryCount,
    Segment,
    Source,
    Window,
    WindowFailure,
)
from ngramscan.indexes.fm9 import Fm9Index
from ngramscan.journal import Journal, Reply, now
from ngramscan.progress import Progress

_READERS = 8
"""Threads that ask for windows, each for many: not so many that documents fill the memory."""
_FILES = "files"  # under which the journal has what identifies the files, and their sizes
_DAMAGED = (AttributeError, LookupError, TypeError, ValueError)
"""Errors of reading a stored reply that is damaged."""


class InPlaceIndex:
    """Counts occurrences exactly and shows any of them, in index files that are not copied.

    The files are opened for the first question that the journal can't answer.
    """

    longest_context = Fm9Index.longest_context

    def __init__(
        self,
        url: str,
        ranges: Callable[[], Ranges],
        journal: Journal,
        options: IndexOptions,
        progress: Progress,
    ) -> None:
        self.name = f"fm9:{shown(url).rstrip('/')}"
        self._url, self._ranges, self._journal = url, ranges, journal
        self._refresh, self._progress = options.refresh, progress
        self._memory = options.cache_bytes // 2
        self._index: Fm9Index | None = None
        self._fingerprint, self._size = "", IndexSize()
        self._has_answered = False
        kept = {} if self._refresh else journal.get(self.name, self.name, [_FILES])
        with suppress(*_DAMAGED):
            known = json.loads(kept[_FILES].text)
            self._fingerprint, self._size = str(known["fingerprint"]), IndexSize(**known["size"])
        if not self._fingerprint:
            self._opened()

    def _opened(self) -> Fm9Index:
        """Return the index with its files open; the journal's replies are of the same ones."""
        if self._index is None:
            ranges = self._ranges()
            shards = open_in_place(ranges, self._url, self._memory)
            found = partial(find_in_all, ranges, shards)
            index = Fm9Index(self.name, shards, found, self._progress, _READERS)
            files = "\n".join(shard.fingerprint for shard in shards)
            fingerprint = hashlib.sha256(files.encode()).hexdigest()[:16]
            if fingerprint != self._fingerprint:
                if self._has_answered:
                    problem = "it changed since the journal got its replies; add --refresh"
                    raise IndexChangedError(self.name, problem)
                self._fingerprint, self._size = fingerprint, index.size()
                known = json.dumps({"fingerprint": fingerprint, "size": asdict(self._size)})
                self._journal.put(self.name, self.name, _FILES, known)
            self._index = index
        return self._index

    def size(self) -> IndexSize:
        """Return the number of documents, the bytes of their texts, and those of the index."""
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Yield the count of each query."""
        for found, source, asked_at in self._found(queries):
            yield QueryCount(found.query, found.occurrences, None, source, asked_at)

    def find(self, queries: Sequence[str]) -> Iterator[Found]:
        """Yield the ranks of each query's occurrences."""
        for found, _, _ in self._found(queries):
            yield found

    def _found(self, queries: Sequence[str]) -> Iterator[tuple[Found, Source, str]]:
        def read(query: str, segments: Any) -> Found:
            return Found(query, tuple(Segment(*map(int, each)) for each in segments))

        kept = self._kept(queries, lambda query: ["find", query], read)
        for found, asked_at in kept.values():
            yield found, "journal", asked_at
        if missing := [query for query in queries if query not in kept]:
            for found in self._opened().find(missing):
                self._keep(["find", found.query], [astuple(each) for each in found.segments])
                yield found, "fm9", now()

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Yield the text around some places, which may repeat."""

        def form(place: Place) -> list[Any]:
            return ["window", *astuple(place), context]

        kept = self._kept(places, form, _read_window)
        yield from (kept[place][0] for place in places if place in kept)
        missing = [place for place in places if place not in kept]
        if not missing:
            return
        index = self._opened()
        longest = max(len(place.query.encode()) for place in missing)
        cost = self._cost_of_windows(len(missing), 2 * context + longest)
        self._progress.notice(f"{self.name}: {counted(len(missing), 'window')}: {_told(cost)}")
        for window in index.windows(missing, context):
            if isinstance(window, Window):
                self._keep(form(window.place), _written(window))
            yield window

    # What it takes

    def cost(self, queries: Sequence[str], windows: int, context: int) -> Cost:
        """Return what questions take that nothing is known of; only headers are read."""
        self._opened()
        patterns = [query.encode() for query in queries]
        suffixes = {one[at:] for one in patterns for at in range(len(one) - 1)}
        at_most, rounds = 0, 0
        for shard in self._shards:
            steps = shard.data.steps
            reads = 2 * shard.data.reads_per_step  # for both ends
            at_most += reads * sum(steps[suffix[0]] for suffix in suffixes)
            longest = max((sum(steps[byte] for byte in one[:-1]) for one in patterns), default=0)
            rounds = max(rounds, longest * shard.data.rounds_per_step)
        requests = round(at_most * _LIKELY)
        found = self._cost(at_most, requests, rounds)
        each = min(2 * context + len(max(patterns, key=len, default=b"")), 1<<20)
        shown = self._cost_of_windows(windows, each)
        return Cost(*(one + other for one, other in zip(astuple(found), astuple(shown), strict=True)))

    def _cost_of_windows(self, windows: int, text_bytes: int) -> Cost:
        """Return what some windows take, if each document is as long as they are."""
        if not windows or not self._shards:
            return Cost()
        shard = max(self._shards, key=lambda shard: shard.ranks)
        # From a rank to a sampled one it is as far as from a position to one, on average.
        walked = SA_STEP + ISA_STEP // 2 + min(text_bytes, ...) + _METADATA_BYTES
        bits = shard.data.layout.size / shard.ranks
        requests = round(windows * walked * bits * shard.data.reads_per_step)
        rounds = (2*SA_STEP + 2 * ISA_STEP) * bits * rounds_per_step
        return self._cost(requests, requests, rounds)

    def _cost(self, at_most: int, requests: int, rounds: float) -> Cost:
        seconds = max(rounds * LATENCY_S, requests / min(self._concurrency / LATENCY_S, _MOST_PER_S))
        return Cost(at_most, requests, requests * _BYTES_PER_REQUEST, seconds)

    # The journal

    def _kept(
        self,
        items: Sequence[Item],
        form: Callable[[Item], list[Any]],
        read: Callable[[Item, Any], T],
    ) -> dict[Item, tuple[T, str]]:
        """Return what the journal has, and when it was asked; open the files if it lacks any."""
        kept = self._read_journal(items, form, read)
        if self._index is None and len(kept) < len({*items}):
            self._opened()  # and they may be others by now
            kept = self._read_journal(items, form, read)
        self._has_answered |= bool(items)
        return kept

    def _read_journal(
        self,
        items: Sequence[Item],
        form: Callable[[Item], list[Any]],
        read: Callable[[Item, Any], T],
    ) -> dict[Item, tuple[T, str]]:
        if self._refresh:
            return {}
        requests = {self._request(form(item)): item for item in items}
        found = {}
        for request, reply in self._journal.get(self.name, self.name, requests).items():
            with suppress(*_DAMAGED):
                item = requests[request]
                found[item] = read(item, json.loads(reply.text)), reply.asked_at
        return found

    def _request(self, form: list[Any]) -> str:
        return json.dumps([self._fingerprint, *form])

    def _keep(self, form: list[Any], reply: Any) -> None:
        self._journal.put(self.name, self.name, self._request(form), json.dumps(reply))


def _written(window: Window) -> list[Any]:
    text = window.text.decode(errors=_ANY)
    place = window.document, window.document_bytes, text, window.offset
    return [*place, window.starts_document, window.metadata]


def _read_window(place: Place, written: Any) -> Window:
    document, size, text, *others = written
    return Window(place, document, size, text.encode(errors=_ANY), *others)


def _told(cost: Cost) -> str:
    requests = f"{cost.requests:,} requests"
    return f"about {requests}, {format_bytes(cost.bytes or 0)} and {cost.seconds:,.0f} s"
