"""An index that is queried in place: `fm9:https://…`, `fm9:s3://…`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from functools import partial
from typing import Any

from ngramscan.clock import now
from ngramscan.index_files.fm9.in_place_rules import extend_in_place, find_neighbours
from ngramscan.index_files.fm9.in_place_shards import InPlaceShard, find_in_all, open_in_place
from ngramscan.index_files.fm9.in_place_spans import SearchedText, estimate_requests, find_spans
from ngramscan.index_files.fm9.layout import ISA_STEP, SA_STEP
from ngramscan.index_files.fm9.rules import RuleSearch
from ngramscan.indexes.base import (
    IN_PLACE_CONCURRENCY,
    Cost,
    CountSource,
    FindsSpans,
    FoundMatches,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    Segment,
    SpanQuery,
    Unit,
    Window,
    WindowFailure,
)
from ngramscan.indexes.file_replies import FileReplies, OpenedFiles, whole
from ngramscan.indexes.fm9 import Fm9Index, RuledInPlaceFm9Index, all_ranks_of
from ngramscan.indexes.kinds import FM9
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.messages import counted
from ngramscan.progress import Progress, format_bytes
from ngramscan.remote.ranges import LATENCY_S, Ranges
from ngramscan.remote.requester_pays import dollars_for, is_on_s3
from ngramscan.remote.stores import shown
from ngramscan.rows import Note

_TEXTS_AT_ONCE = 64
"""Texts whose spans are searched at the same time; their spans are then in the journal."""
_READERS = 8
"""Threads that ask for windows, each for many; with more, documents could fill the memory."""
_ANY = "surrogateescape"  # bytes that are not UTF-8 are kept, too

# For estimates; docs/in-place.md has the measurements.
_REQUESTS_PER_S = 2500
_BYTES_PER_REQUEST, _METADATA_BYTES = 100, 150
_BYTES_PER_S = 50e6
_OFFSET_READS, _METADATA_READS = 4, 2
"""Reads of the tables of offsets for a window, and of the headers of a shard's metadata."""
_PASSES = 4
"""Times that the bytes of a text are searched or read, at most, to find its spans."""
_LIKELY = 0.5
"""Share of the requests that a search takes if both its ends stay apart."""


class InPlaceIndex(FindsSpans):
    """Counts occurrences exactly and shows any of them, in index files that are not copied.

    They are opened for the first question that the journal can't answer.
    """

    unit: Unit = "bytes"
    longest_context = Fm9Index.longest_context

    def __init__(
        self,
        url: str,
        ranges: Callable[[], Ranges],
        journal: Journal,
        options: IndexOptions,
        progress: Progress,
    ) -> None:
        self.name = self.spec = FM9.spec_of(shown(url).rstrip("/"))
        self._url, self._ranges = url, ranges
        self._options, self._progress = options, progress
        self._rule = options.match_rule
        # Replies by a rule have its name in the journal, and those of exact texts none.
        self._rule_key = [] if self._rule.is_exact else [asdict(self._rule)]
        self._shards: list[InPlaceShard] = []
        self._replies = FileReplies(self.spec, self._open_files, ranges, journal, options, progress)
        self._replies.look_again(_read_size)

    @property
    def _notes(self) -> tuple[Note, ...]:
        rule_notes = tuple(Note(text, "index") for text in self._rule.notes)
        return (*rule_notes, *self._replies.notes)

    def _open_files(self, ranges: Ranges) -> OpenedFiles[Fm9Index]:
        # Half of the memory, so that there is room for other parts.
        self._shards = open_in_place(ranges, self._url, self._options.memory_bytes // 2)
        find = partial(find_in_all, ranges, self._shards)
        arguments = self.name, self._shards, find, self._progress, _READERS
        if self._rule.is_exact:
            index = Fm9Index(*arguments)
        else:
            index = RuledInPlaceFm9Index(*arguments, self._rule, self._rule_search(ranges))
        return OpenedFiles(index, self._shards, {"size": asdict(index.size())})

    def _rule_search(self, ranges: Ranges) -> RuleSearch:
        return RuleSearch(
            self._rule,
            partial(extend_in_place, ranges, self._shards),
            all_ranks_of(self._shards),
            find_neighbours=partial(find_neighbours, ranges, self._shards),
        )

    def size(self) -> IndexSize:
        """Return the number of documents, the bytes of their texts, and the bytes of the index."""
        return _read_size(self._replies.facts)

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Yield the count of each query."""
        for located, source, asked_at in self._found(queries):
            count = located.query, located.occurrences, None, source, asked_at
            yield QueryCount(*count, notes=self._notes)

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences]:
        """Yield the ranks of each query's occurrences."""
        for located, _, _ in self._found(queries):
            yield located

    def _found(self, queries: Sequence[str]) -> Iterator[tuple[Occurrences, CountSource, str]]:
        def read(query: str, segments: Any) -> Occurrences:
            whole_numbers = [[whole(number) for number in each] for each in segments]
            segments_of_query = tuple(Segment(*each) for each in whole_numbers)
            return Occurrences(query, segments_of_query, is_by_rule=not self._rule.is_exact)

        def form(query: str) -> list[Any]:
            return ["find", query, *self._rule_key]

        stored_results = self._replies.stored(queries, form, read)
        for located, asked_at in stored_results.values():
            yield located, "journal", asked_at
        if missing := [query for query in queries if query not in stored_results]:
            occurrences = list(self._replies.opened().find(missing))
            self._replies.check()
            for located in occurrences:
                self._replies.keep(
                    form(located.query), [astuple(each) for each in located.segments]
                )
                yield located, "fm9", now()

    def spans(self, queries: Sequence[SpanQuery]) -> Iterator[FoundMatches]:
        """Yield the spans of each different text."""
        by_text = {query.text: query for query in queries}

        def form(text: str) -> list[Any]:
            return ["spans", by_text[text].least, text]

        def read(text: str, matches: Any) -> FoundMatches:
            return FoundMatches(text, [(whole(first), whole(stop)) for first, stop in matches])

        stored_results = self._replies.stored([*by_text], form, read)
        yield from (stored_matches for stored_matches, _ in stored_results.values())
        missing = [by_text[text] for text in by_text if text not in stored_results]
        if not missing:
            return
        self._replies.opened()
        self._progress.expect(len(missing), "texts")
        for start in range(0, len(missing), _TEXTS_AT_ONCE):
            some = missing[start : start + _TEXTS_AT_ONCE]
            searched_texts = [_searched(query) for query in some]
            matches_of_queries = find_spans(self._ranges(), self._shards, searched_texts)
            self._replies.check()
            for query, matches in zip(some, matches_of_queries, strict=True):
                self._replies.keep(form(query.text), matches)
                yield FoundMatches(query.text, matches)
            self._progress.advance(len(some), "texts")

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Yield the text around some places, which may repeat."""

        def form(place: Place) -> list[Any]:
            return ["window", *astuple(place), context, *self._rule_key]

        stored_results = self._replies.stored(places, form, _read_window)
        yield from (stored_results[place][0] for place in places if place in stored_results)
        missing = [place for place in places if place not in stored_results]
        if not missing:
            return
        index = self._replies.opened()
        longest = max(len(place.query.encode()) for place in missing)
        cost = self._cost_of_windows(len(missing), 2 * context + longest)
        work = f"{cost.requests:,} requests, {format_bytes(cost.bytes)} and {cost.seconds:,.0f} s"
        windows = counted(len(missing), "window")
        if cost.requests:
            self._progress.notice(f"{self.name}: {windows} will take about {work}")
        for window in index.windows(missing, context):
            if isinstance(window, Window):
                self._replies.keep(form(window.place), _written(window))
            yield window
        self._replies.check()

    # Costs

    def cost(self, queries: Sequence[str], windows: int, context: int) -> Cost:
        """Return the cost without stored replies; only headers are read for this."""
        self._replies.opened()
        patterns = [query.encode() for query in queries]
        suffixes = {pattern[at:] for pattern in patterns for at in range(len(pattern) - 1)}
        at_most = rounds = kept_bytes = loads = 0
        for shard in self._shards:
            steps = shard.data.steps
            # Both ends of a range are asked for.
            at_most += 2 * shard.data.reads_per_step * sum(steps[suffix[0]] for suffix in suffixes)
            longest = max(
                (sum(steps[byte] for byte in pattern[:-1]) for pattern in patterns), default=0
            )
            rounds = max(rounds, longest * shard.data.rounds_per_step)
            kept_bytes += shard.data.kept_bytes
            loads += shard.data.loads
        opened = self._replies.opening_requests + loads
        loaded = Cost(
            opened,
            opened,
            kept_bytes,
            kept_bytes / _BYTES_PER_S + self._replies.opening_requests * LATENCY_S,
            self._dollars_for(opened, kept_bytes),
        )
        search_cost = self._cost(at_most, round(at_most * _LIKELY), rounds)
        longest = max(map(len, patterns), default=0)
        windows_cost = self._cost_of_windows(windows, 2 * context + longest)
        return loaded + search_cost + windows_cost

    def cost_of_spans(self, sampled_queries: Sequence[SpanQuery], times: float) -> Cost:
        """Return the cost without stored replies, by searching the sampled queries."""
        loaded = self.cost([], 0, 0)
        ranges = self._ranges()
        requests = estimate_requests(
            ranges, self._shards, [*map(_searched, sampled_queries)], times
        )
        texts = [query.text.encode() for query in sampled_queries]
        # Requests one after another: of a search, of the way to a sampled place, and of the text.
        most = sum(len(text) * len(self._shards) for text in texts) * times * _PASSES
        data = max((shard.data for shard in self._shards), key=lambda data: data.n)
        steps = data.layout.size / data.n
        at_most = round(most * steps * 2 * data.reads_per_step)
        rounds = _PASSES * (SA_STEP + ISA_STEP) * steps * data.rounds_per_step
        search_cost = self._cost(max(at_most, requests), requests, rounds)
        return loaded + search_cost

    def _cost_of_windows(self, windows: int, text_bytes: int) -> Cost:
        """Return the cost of windows of `text_bytes` bytes, or of their whole documents."""
        if not windows:
            return Cost()
        largest = max(self._shards, key=lambda shard: shard.ranks).data
        of_document = (self.size().bytes or 0) // (self.size().documents or 1)
        # In one direction the next sampled place is so far away; texts are read from its end on.
        walked = SA_STEP + min(text_bytes, of_document) + _METADATA_BYTES + ISA_STEP
        steps = largest.layout.size / largest.n
        requests = round(windows * (walked * steps * largest.reads_per_step + _OFFSET_READS))
        requests += len(self._shards) * (_METADATA_READS + largest.loads)
        longest = (4 * SA_STEP + 2 * ISA_STEP) * steps * largest.rounds_per_step
        return self._cost(requests, requests, longest)

    def _cost(self, at_most: int, requests: int, rounds: float) -> Cost:
        concurrency = self._options.concurrency or IN_PLACE_CONCURRENCY
        per_second = min(concurrency / LATENCY_S, self._options.rate or _REQUESTS_PER_S)
        seconds = max(rounds * LATENCY_S, requests / per_second)
        size_bytes = requests * _BYTES_PER_REQUEST
        return Cost(at_most, requests, size_bytes, seconds, self._dollars_for(requests, size_bytes))

    def _dollars_for(self, requests: int, size_bytes: int) -> float:
        """Return what S3 charges; 0 for files elsewhere."""
        return dollars_for(requests, size_bytes) if is_on_s3(self.spec) else 0.0


def _searched(query: SpanQuery) -> SearchedText:
    return SearchedText(query.text.encode(), query.places, query.windows, query.least)


def _written(window: Window) -> list[Any]:
    text = window.text.decode(errors=_ANY)
    fields = window.document, window.document_bytes, text, window.offset, window.starts_document
    # Without a rule, an occurrence has the length of its query, and replies are as they were.
    lengths = [] if window.match_bytes is None else [window.match_bytes]
    return [*fields, window.metadata, *lengths]


def _read_window(place: Place, written: Any) -> Window:
    document, size, text, offset, starts_document, metadata, *lengths = written
    content = text.encode(errors=_ANY)
    start = whole(offset)
    match_bytes = whole(lengths[0]) if lengths else None
    return Window(
        place, document, whole(size), content, start, starts_document, metadata, match_bytes
    )


def _read_size(facts: Mapping[str, Any]) -> IndexSize:
    """Return the size in the facts about the files."""
    return IndexSize(**facts["size"])
