"""An index of infini-gram-mini that was built or brought here: asked without any service."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate, islice
from pathlib import Path

import numpy as np

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.fm9.reader import Shard, ShardWindow, open_shards
from ngramscan.indexes.base import (
    Found,
    IndexSize,
    Place,
    QueryCount,
    Segment,
    Window,
    WindowFailure,
)
from ngramscan.indexes.scan.window_tasks import cut_ends
from ngramscan.journal import now
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import Progress

_WINDOWS_AT_ONCE = 64
"""Of one task: enough that calls cost nothing, few enough that progress is seen."""
_QUERIES_AT_ONCE = 256


class Fm9Index:
    """Counts occurrences exactly and shows any of them, from files in the format `.fm9`.

    It doesn't know how many documents have a query.

    Parameters
    ----------
    directory : Path
        A shard, or a directory of shards.
    progress : Progress
        Told of queries and windows, and of a first call that takes longer.

    Raises
    ------
    IndexFormatError
        There is no index there, or a corrupt one.
    """

    longest_context = 1 << 40
    """Documents are shown whole."""

    def __init__(self, directory: Path, progress: Progress) -> None:
        self.name = f"fm9:{directory}"
        self._progress = progress
        self._shards = open_shards(directory, progress)
        self._first_documents = [0, *accumulate(shard.documents for shard in self._shards)]

    def size(self) -> IndexSize:
        """Return the documents, the bytes of their texts, and those of the index."""
        return IndexSize(
            documents=self._first_documents[-1],
            bytes=sum(shard.text_bytes for shard in self._shards),
            shards=len(self._shards),
            index_bytes=sum(shard.index_bytes for shard in self._shards),
        )

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Yield how often each query occurs.

        Raises
        ------
        IndexFormatError
            The index is corrupt.
        """
        for found in self.find(queries):
            yield QueryCount(found.query, found.occurrences, None, "fm9", now())

    def find(self, queries: Sequence[str]) -> Iterator[Found]:
        """Yield the ranks of each query's occurrences.

        Raises
        ------
        IndexFormatError
            The index is corrupt.
        """
        self._progress.expect(len(queries), "queries")
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            some = queries[start : start + _QUERIES_AT_ONCE]
            patterns = [query.encode() for query in some]
            by_shard = [shard.find(patterns).tolist() for shard in self._shards]
            for number, query in enumerate(some):
                pairs = [ranks[number] for ranks in by_shard]
                segments = [Segment(shard, *pair) for shard, pair in enumerate(pairs)]
                yield Found(query, tuple(each for each in segments if each.occurrences))
            self._progress.advance(len(some), "queries")

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Yield the text around some occurrences.

        A window fails where the query has no occurrence of its rank, or where the index is corrupt.

        Parameters
        ----------
        places : sequence of Place
            One may stand there twice.
        context : int
            Bytes on each side, up to three fewer where a character would be cut.
        """
        self._progress.expect(len(places), "windows")
        readers = usable_cores()
        tasks = iter(_tasks(places))
        running: deque[Future[list[Window | WindowFailure]]] = deque()
        with ThreadPoolExecutor(readers) as pool:
            # Few at once: a window can be as large as its document.
            for task in islice(tasks, 2 * readers):
                running.append(pool.submit(self._read, task, context))
            while running:
                windows = running.popleft().result()
                for task in islice(tasks, 1):
                    running.append(pool.submit(self._read, task, context))
                self._progress.advance(len(windows), "windows")
                yield from windows

    def _read(self, places: Sequence[Place], context: int) -> list[Window | WindowFailure]:
        """Return windows on places of one shard."""
        number = places[0].shard
        if not 0 <= number < len(self._shards):
            problem = f"the index has no such shard, only 0 to {len(self._shards) - 1}"
            return [_failure(place, InputError(f"shard {number}", problem)) for place in places]
        shard = self._shards[number]
        outside = [place for place in places if not 0 <= place.rank < shard.ranks]
        problem = f"ranks are 0 to {shard.ranks - 1}"
        failures = [
            _failure(p, InputError(f"rank {p.rank} of shard {number}", problem)) for p in outside
        ]
        inside = [place for place in places if 0 <= place.rank < shard.ranks]
        try:
            return [*failures, *self._read_shard(shard, inside, context)]
        except IndexFormatError as error:
            return [*failures, *(_failure(place, error) for place in inside)]

    def _read_shard(
        self, shard: Shard, places: Sequence[Place], context: int
    ) -> Iterator[Window | WindowFailure]:
        lengths = np.array([len(place.query.encode()) for place in places], np.int64)
        # One byte more than is shown tells whether a character ends where the text does.
        found = shard.windows([place.rank for place in places], lengths, context + 1)
        lines = shard.metadata([window.document for window in found])
        for place, window, line in zip(places, found, lines, strict=True):
            yield self._window(place, window, line, context)

    def _window(
        self, place: Place, found: ShardWindow, line: bytes, context: int
    ) -> Window | WindowFailure:
        query = place.query.encode()
        end = found.offset + len(query)
        if found.offset < 0 or found.text[found.offset : end] != query:
            where = f"rank {place.rank} of shard {place.shard}"
            return _failure(place, InputError(where, f"no occurrence of {place.query!r}"))
        low, high = cut_ends(found.text, found.offset, end, context)
        try:
            metadata = _metadata(line)
        except ValueError as error:
            where = f"{self.name}, document {self._first_documents[place.shard] + found.document}"
            problem = f"its metadata is no JSON object ({error})"
            return _failure(place, IndexFormatError(where, problem))
        return Window(
            place,
            str(self._first_documents[place.shard] + found.document),
            found.document_bytes,
            found.text[low:high],
            found.offset - low,
            found.start + low == 0,
            metadata,
        )


def _tasks(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Yield places in groups of one shard each."""
    by_shard: dict[int, list[Place]] = {}
    for place in places:
        by_shard.setdefault(place.shard, []).append(place)
    for group in by_shard.values():
        for start in range(0, len(group), _WINDOWS_AT_ONCE):
            yield group[start : start + _WINDOWS_AT_ONCE]


def _metadata(line: bytes) -> str:
    """Return a line of metadata; raise a ValueError where it is no object of JSON."""
    text = line.decode()
    try:
        is_object = isinstance(json.loads(text), dict)
    except RecursionError:
        is_object = False
    if not is_object:
        raise ValueError(text[:50])
    return text


def _failure(place: Place, error: InputError) -> WindowFailure:
    return WindowFailure(place, error)
