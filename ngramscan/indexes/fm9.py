"""An index in the format of infini-gram-mini: its files, local or in place."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ngramscan.clock import now
from ngramscan.errors import IndexFormatError, InputError, RemoteError
from ngramscan.index_files.compiled import FEW_STEPS, Integers, compile_for
from ngramscan.index_files.findings import is_object
from ngramscan.index_files.fm9.reader import (
    Shard,
    ShardWindow,
    compile_reader,
    extend_in_all,
    find_in_all,
    match_starts_in_all,
    open_shards,
)
from ngramscan.index_files.fm9.rules import RuleSearch
from ngramscan.indexes.base import (
    Cost,
    IndexSize,
    Locates,
    MatchesSuffixes,
    Occurrences,
    Place,
    QueryCount,
    ReadsMetadata,
    Segment,
    Unit,
    Window,
    WindowFailure,
)
from ngramscan.indexes.cutting import cut_ends
from ngramscan.indexes.kinds import FM9
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.matching.white_space import single_spaced
from ngramscan.processes.pool import usable_cores
from ngramscan.progress import Progress
from ngramscan.rows import Note
from ngramscan.stopping import on_any_thread

if TYPE_CHECKING:
    from ngramscan.index_files.fm9.in_place_shards import InPlaceShard

_WINDOWS_AT_ONCE = 64
"""In one task: enough to make calls cheap, few enough to show progress."""
_QUERIES_AT_ONCE = 256
_TEXTS_AT_ONCE = 256
_SEARCHES_AT_ONCE = 64
"""Threads that search queries by a rule in place; nearly always they wait."""
_LOCATED_AT_ONCE = 4096
"""Occurrences: between calls of a tenth of a second, the command can be interrupted."""


class Fm9Index:
    """Counts occurrences exactly and shows any of them, from files in the format `.fm9`.

    All methods but `windows`, which fails for single places, raise an IndexFormatError if the index
    is corrupt, and a RemoteError if it is in place and can't be read. `readers` is how many threads
    ask for windows.
    """

    unit: Unit = "bytes"
    longest_context = 1 << 40
    """Documents are shown whole."""

    def __init__(
        self,
        name: str,
        shards: Sequence[Shard | InPlaceShard],
        find_in_all: Callable[[Sequence[bytes]], Sequence[Integers]],
        progress: Progress,
        readers: int,
    ) -> None:
        self.name = self.spec = name
        self._shards, self._find_in_all = shards, find_in_all
        self._progress, self._readers = progress, readers
        self._first_documents = [0, *accumulate(shard.documents for shard in self._shards)]

    def size(self) -> IndexSize:
        """Return the number of documents, the bytes of their texts, and the bytes of the index."""
        return IndexSize(
            documents=self._first_documents[-1],
            bytes=sum(shard.text_bytes for shard in self._shards),
            shards=len(self._shards),
            index_bytes=sum(shard.index_bytes for shard in self._shards),
            largest_shard_bytes=max(shard.text_bytes for shard in self._shards),
        )

    def cost(self, *_: object) -> Cost:
        """Return nothing: it takes no requests."""
        return Cost()

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Yield the count of each query."""
        for located in self.find(queries):
            yield QueryCount(located.query, located.occurrences, None, "fm9", now())

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences]:
        """Yield the ranks of each query's occurrences."""
        self._progress.expect(len(queries), "queries")
        if sum(map(len, queries)) * len(self._shards) > FEW_STEPS:
            self._compile()
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            some = queries[start : start + _QUERIES_AT_ONCE]
            patterns = [query.encode() for query in some]
            by_query = np.stack(self._find_in_all(patterns), axis=1)
            for query, ranks in zip(some, by_query, strict=True):
                shards = np.flatnonzero(ranks[:, 0] < ranks[:, 1])
                segments = zip(shards.tolist(), *ranks[shards].T.tolist(), strict=True)
                yield Occurrences(query, tuple(Segment(*each) for each in segments))
            self._progress.advance(len(some), "queries")

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Yield the text around some places, which may repeat.

        A window fails if the query does not occur at this rank, or if the index is corrupt.
        """
        self._progress.expect(len(places), "windows")
        self._compile()
        tasks, readers, read_task = _tasks(places), self._readers, on_any_thread(self._read)
        with ThreadPoolExecutor(readers) as pool:
            submitted = (pool.submit(read_task, task, context) for task in tasks)
            # Only a few at once: a window can be as large as its document.
            running = deque(islice(submitted, 2 * readers))
            while running:
                windows = running.popleft().result()
                running.extend(islice(submitted, 1))
                self._progress.advance(len(windows), "windows")
                yield from windows

    def _compile(self) -> None:
        """Compile the reader, for much work."""
        compile_for(lambda: None)

    def _read(self, places: Sequence[Place], context: int) -> list[Window | WindowFailure]:
        number = places[0].shard
        if not 0 <= number < len(self._shards):
            problem = f"the index has no such shard, only 0 to {len(self._shards) - 1}"
            error = InputError(f"shard {number}", problem)
            return [WindowFailure(place, error) for place in places]
        shard = self._shards[number]
        inside = [place for place in places if 0 <= place.rank < shard.ranks]
        windows: list[Window | WindowFailure] = [
            _failure(place, f"ranks are 0 to {shard.ranks - 1}")
            for place in places
            if not 0 <= place.rank < shard.ranks
        ]
        lengths = np.array([sum(self._extent(place)) for place in inside], np.int64)
        try:
            # One more byte than is shown, to see whether a character ends where the text does.
            shard_windows = shard.windows([place.rank for place in inside], lengths, context + 1)
            lines = shard.metadata([window.document for window in shard_windows])
        except (IndexFormatError, RemoteError) as error:
            return [*windows, *(WindowFailure(place, error) for place in inside)]
        each = zip(inside, shard_windows, lines, strict=True)
        return [*windows, *(self._window(*of_place, context) for of_place in each)]

    def _window(
        self, place: Place, shard_window: ShardWindow, line: bytes, context: int
    ) -> Window | WindowFailure:
        before, length = self._extent(place)
        start = shard_window.offset + before
        end = start + length
        if start < 0 or not self._is_occurrence(place, shard_window.text[start:end]):
            return _failure(place, f"no occurrence of {place.query!r}")
        document = str(self._first_documents[place.shard] + shard_window.document)
        if not is_object(line):
            problem = f"its metadata is not a JSON object: {line[:50]!r}"
            error = IndexFormatError(f"{self.name}, document {document}", problem)
            return WindowFailure(place, error)
        low, high = cut_ends(shard_window.text, start, end, context)
        return Window(
            place,
            document,
            shard_window.document_bytes,
            shard_window.text[low:high],
            start - low,
            shard_window.start + low == 0,
            line.decode(),
            match_bytes=None if length == len(place.query.encode()) else length,
        )

    def _extent(self, place: Place) -> tuple[int, int]:
        """Return the bytes from the place of a rank to the occurrence, and those of the latter."""
        return 0, len(place.query.encode())

    def _is_occurrence(self, place: Place, text: bytes) -> bool:
        """Tell whether the text at a place is the occurrence of its query."""
        return text == place.query.encode()


class LocalFm9Index(Fm9Index, Locates, MatchesSuffixes, ReadsMetadata):
    """An index whose files are on this machine: an occurrence is placed in 30 µs or so."""

    def __init__(
        self, name: str, shards: Sequence[Shard], progress: Progress, readers: int
    ) -> None:
        super().__init__(name, shards, partial(find_in_all, shards), progress, readers)
        self._local = shards

    def _compile(self) -> None:
        compile_reader(self._local[0], self._progress)

    def match_starts(self, texts: Sequence[bytes], ends: Sequence[Integers]) -> list[Integers]:
        """Return where the longest match with each end begins in each text."""
        self._compile()
        self._progress.expect(len(texts), "texts")
        starts_of_texts: list[Integers] = []
        for number in range(0, len(texts), _TEXTS_AT_ONCE):
            some, of_each = texts[number:][:_TEXTS_AT_ONCE], ends[number:][:_TEXTS_AT_ONCE]
            begins = np.array([0, *accumulate(map(len, some))], np.int64)
            sizes = [len(each) for each in of_each]
            begin_of_each = np.repeat(begins[:-1], sizes)
            joined = np.concatenate([np.zeros(0, np.int64), *of_each]) + begin_of_each
            starts = match_starts_in_all(self._local, b"".join(some), begin_of_each, joined)
            starts_of_texts += np.split(starts - begin_of_each, np.cumsum(sizes)[:-1])
            self._progress.advance(len(some), "texts")
        return starts_of_texts

    def documents_of(self, located: Occurrences) -> Integers:
        """Return the document of each occurrence of a query."""
        self._compile()
        self._progress.expect(located.occurrences, "occurrences")
        documents = [self._holding(segment) for segment in located.segments]
        # Nothing can be joined if there are no segments.
        return np.concatenate(documents) if documents else np.zeros(0, np.int64)

    def metadata_of(self, documents: Integers) -> list[str]:
        """Return the metadata of documents, numbered over all shards, in their order."""
        lines: list[str] = [""] * len(documents)
        shards = np.searchsorted(self._first_documents, documents, side="right") - 1
        for number in np.unique(shards).tolist():
            places = np.flatnonzero(shards == number)
            inside = (documents[places] - self._first_documents[number]).tolist()
            metadata = self._local[number].metadata(inside)
            for place, document, line in zip(places.tolist(), inside, metadata, strict=True):
                if not is_object(line):
                    where = f"{self.name}, document {self._first_documents[number] + document}"
                    problem = f"its metadata is not a JSON object: {line[:50]!r}"
                    raise IndexFormatError(where, problem)
                lines[place] = line.decode()
        return lines

    def _holding(self, segment: Segment) -> Integers:
        shard, documents = self._local[segment.shard], np.zeros(segment.occurrences, np.int64)
        for start in range(0, segment.occurrences, _LOCATED_AT_ONCE):
            part = documents[start : start + _LOCATED_AT_ONCE]
            part[:] = shard.holding(segment.low + start + np.arange(part.size))
            self._progress.advance(part.size, "occurrences")
        return documents + self._first_documents[segment.shard]


class FollowsRule(Fm9Index):
    """An index that counts by a rule of matching, which has no regular expressions.

    A rank of an occurrence may be that of the character before it.
    """

    _rule: MatchRule
    _search: RuleSearch
    _forms: dict[str, list[_RankedForm]]
    """By query."""

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Yield the count of each query."""
        notes = tuple(Note(text, "index") for text in self._rule.notes)
        for count in super().counts(queries):
            yield replace(count, notes=notes)

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences]:
        """Yield the ranks of each query's occurrences."""
        self._progress.expect(len(queries), "queries")
        self._compile()
        for query, forms in zip(queries, self._forms_of(queries), strict=True):
            yield Occurrences(query, tuple(form.segment for form in forms), is_by_rule=True)
            self._progress.advance(1, "queries")

    def _forms_of(self, queries: Sequence[str]) -> Iterator[list[_RankedForm]]:
        """Yield the forms in which each query occurs."""
        return map(self._find_forms, queries)

    def _find_forms(self, query: str) -> list[_RankedForm]:
        """Return the forms in which a query occurs, by shard and rank."""
        if query not in self._forms:
            forms = [
                _RankedForm(Segment(shard, low, high), len(branch.before), branch.length)
                for branch in self._search.find(query)
                for shard, (low, high) in enumerate(branch.ranks.tolist())
                if low < high
            ]
            self._forms[query] = sorted(forms, key=_first_rank)
        return self._forms[query]

    def _extent(self, place: Place) -> tuple[int, int]:
        form = self._form_at(place)
        return (form.before, form.length) if form else super()._extent(place)

    def _form_at(self, place: Place) -> _RankedForm | None:
        """Return the form that an occurrence has; None: no occurrence has this rank."""
        forms = self._find_forms(place.query)
        number = bisect_right(forms, (place.shard, place.rank), key=_first_rank) - 1
        if number >= 0 and forms[number].holds(place):
            return forms[number]
        return None

    def _is_occurrence(self, place: Place, text: bytes) -> bool:
        if self._form_at(place) is None:
            return False
        literal = place.query.encode()
        if self._rule.ignore_case:
            literal, text = literal.lower(), text.lower()
        if self._rule.any_space:
            literal, text = single_spaced(literal).strip(b" "), single_spaced(text)
        return text == literal


class RuledFm9Index(FollowsRule, LocalFm9Index):
    """A local index that counts by a rule of matching."""

    def __init__(
        self,
        name: str,
        shards: Sequence[Shard],
        progress: Progress,
        readers: int,
        rule: MatchRule,
    ) -> None:
        super().__init__(name, shards, progress, readers)
        extend = partial(extend_in_all, shards)
        self._rule, self._search = rule, RuleSearch(rule, extend, all_ranks_of(shards))
        self._forms = {}


class RuledInPlaceFm9Index(FollowsRule):
    """An index in place that counts by a rule of matching: many queries are searched at once."""

    def __init__(
        self,
        name: str,
        shards: Sequence[InPlaceShard],
        find_in_all: Callable[[Sequence[bytes]], Sequence[Integers]],
        progress: Progress,
        readers: int,
        rule: MatchRule,
        search: RuleSearch,
    ) -> None:
        super().__init__(name, shards, find_in_all, progress, readers)
        self._rule, self._search, self._forms = rule, search, {}

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Yield the text around some places, which may repeat."""
        # The threads that read windows need the forms of all queries.
        deque(self._forms_of([*dict.fromkeys(place.query for place in places)]), maxlen=0)
        yield from super().windows(places, context)

    def _forms_of(self, queries: Sequence[str]) -> Iterator[list[_RankedForm]]:
        """Yield the forms in which each query occurs; threads wait for the requests of each."""
        for query in queries:
            if query not in self._forms:
                self._search.prepare(query)
        with ThreadPoolExecutor(_SEARCHES_AT_ONCE) as pool:
            yield from pool.map(on_any_thread(self._find_forms), queries)


def all_ranks_of(shards: Sequence[Shard | InPlaceShard]) -> Integers:
    """Return the half-open range of all ranks of each shard: [shards, 2]."""
    return np.array([[0, shard.ranks] for shard in shards], np.int64)


class _RankedForm(NamedTuple):
    """Occurrences of the same length."""

    segment: Segment
    before: int
    """Bytes from the place of a rank to the occurrence."""
    length: int
    """Bytes of the occurrence."""

    def holds(self, place: Place) -> bool:
        """Tell whether an occurrence is one of them."""
        segment = self.segment
        return place.shard == segment.shard and segment.low <= place.rank < segment.high


def _first_rank(form: _RankedForm) -> tuple[int, int]:
    return form.segment.shard, form.segment.low


def open_fm9(
    directory: Path,
    progress: Progress,
    allow_partial: bool = False,
    rule: MatchRule = EXACT,
) -> LocalFm9Index:
    """Open the index in a folder, which is a shard or contains shards."""
    shards, name = open_shards(directory, allow_partial), FM9.spec_of(directory)
    if rule.is_exact:
        return LocalFm9Index(name, shards, progress, usable_cores())
    return RuledFm9Index(name, shards, progress, usable_cores(), rule)


def _tasks(places: Sequence[Place]) -> Iterator[list[Place]]:
    by_shard: dict[int, list[Place]] = {}
    for place in places:
        by_shard.setdefault(place.shard, []).append(place)
    for group in by_shard.values():
        for start in range(0, len(group), _WINDOWS_AT_ONCE):
            yield group[start : start + _WINDOWS_AT_ONCE]


def _failure(place: Place, problem: str) -> WindowFailure:
    return WindowFailure(place, InputError(f"rank {place.rank} of shard {place.shard}", problem))
