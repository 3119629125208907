"""`tokens:https://…`, `tokens:s3://…`: an index over tokens that is queried in place."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TypeVar

from ngramscan.errors import InputError, NgramscanError, RemoteError
from ngramscan.index_files.tokens.in_place import InPlaceTokenFolder
from ngramscan.index_files.tokens.in_place_cost import (
    TokenNgrams,
    expect_intervals,
    expect_search,
    intervals_at_most,
)
from ngramscan.index_files.tokens.in_place_places import open_tokens_in_place
from ngramscan.index_files.tokens.tokenizers import Tokenizer
from ngramscan.indexes.base import Cost, Place
from ngramscan.indexes.file_replies import FileReplies, OpenedFiles
from ngramscan.indexes.kinds import TOKENS
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.base import Form, TokenMatches, distinct_forms
from ngramscan.indexes.tokens.files import FoundForm, TokenFilesIndex, open_for
from ngramscan.indexes.tokens.kept_files import ExcerptKey, KeptTokenFiles, facts_about, read_facts
from ngramscan.journal import Journal
from ngramscan.messages import counted
from ngramscan.progress import Progress, format_bytes
from ngramscan.remote.ranges import Ranges
from ngramscan.remote.requester_pays import dollars_for, is_on_s3
from ngramscan.remote.stores import shown
from ngramscan.rows import Note
from ngramscan.stopping import on_any_thread

_READERS = 32
"""Threads that ask for windows; nearly always they wait."""

# For estimates; docs/tokens.md has the measurements.
_REQUESTS_PER_S = 4000
_BYTES_PER_S = 50e6
_WINDOW_REQUESTS = 10
"""For a pointer, the offsets and separators of a document, its tokens, and its metadata."""
_WINDOW_BYTES, _WINDOW_ROUNDS = 6000, 8
_BYTES_PER_TOKEN = 3
"""Bytes of text that a token has at least, on average."""
_OPENING_ROUNDS = 8
_DISTINGUISHED = 8
"""Tokens after which the rest of a text is found in the largest table, as expected."""
_SEARCHED_SHARE = 0.85
"""Share of the requests for all tokens of a text that outputs of models take: between two tokens
whose matches end at the same place, none is searched."""
_PASSES = 3
"""Searches of a text, one after another: from places in it, and twice between them."""

T = TypeVar("T")


class InPlaceTokenIndex(TokenFilesIndex):
    """Counts token n-grams exactly and shows any occurrence, in files that are not copied."""

    def __init__(
        self,
        replies: FileReplies[InPlaceTokenFolder],
        files: KeptTokenFiles,
        tokenizer: Tokenizer,
        rate: float | None,
        progress: Progress,
    ) -> None:
        super().__init__(TOKENS.spec_of(files.place), files, tokenizer, progress)
        self._replies, self._files, self._rate = replies, files, rate

    def _find_forms(self, patterns: Sequence[Sequence[int]]) -> Iterator[FoundForm]:
        yield from self._files.find_forms(patterns)

    def _file_notes(self) -> tuple[Note, ...]:
        return self._replies.notes

    def _in_order(self, show: Callable[[Place], T], places: Sequence[Place]) -> Iterator[T]:
        with ThreadPoolExecutor(_READERS) as pool:
            submitted = (pool.submit(on_any_thread(show), place) for place in places)
            # Only a few at once: a window can be as large as its document.
            running = deque(islice(submitted, 2 * _READERS))
            while running:
                shown_window = running.popleft().result()
                running.extend(islice(submitted, 1))
                yield shown_window

    def matches(self, texts: Sequence[str]) -> Iterator[TokenMatches | NgramscanError]:
        """Yield the tokens of each text, and the longest part that occurs from each of them on."""
        new_texts = self._files.unknown_texts([self._tokenizer.after_space(text) for text in texts])
        cost = self._cost_of_texts(new_texts) if new_texts else Cost()
        self._say_cost(counted(len(new_texts), "text"), cost)
        yield from super().matches(texts)

    def _announce(self, places: Sequence[Place], context: int) -> None:
        with suppress(RemoteError):  # each window that can't be shown says why
            beginnings = [
                beginning
                for place in dict.fromkeys(places)
                for beginning in self._first_excerpt_of(place)
            ]
            unread = self._files.unknown_excerpts(beginnings)
            cost = self._cost_of_windows(len(unread), context) if unread else Cost()
            self._say_cost(counted(len(unread), "window"), cost)

    def _first_excerpt_of(self, place: Place) -> list[ExcerptKey]:
        """Return the first excerpt that is read at a place; none if its query has no tokens."""
        forms = [Form(ids, ()) for ids in self._patterns_of(place.query)]
        needles = [len(form.ids) for form in distinct_forms(*forms)[:1]] if forms else []
        return [(place.shard, place.rank, needle, 0, needle) for needle in needles]

    def _say_cost(self, work: str, cost: Cost) -> None:
        """Say what some work will take, if it takes requests."""
        if cost.requests:
            requests = f"{cost.requests:,} requests, {format_bytes(cost.bytes)}"
            takes = f"{requests} and {cost.seconds:,.0f} s"
            self._progress.notice(f"{self.name}: {work} will take about {takes}")

    # Costs

    def cost(self, queries: Sequence[str], windows: int, context: int) -> Cost:
        """Return the cost without stored replies; only what opens the index is read for this."""
        folder = self._files.opened()
        patterns = {ids for query in queries for ids in self._patterns_of(query)}
        requests = self._replies.opening_requests
        requests += sum(shard.missing_loads for shard in folder.shards)
        size = self._replies.opening_bytes
        size += sum(shard.missing_bytes for shard in folder.shards)
        opened = self._timed(requests, requests, size, _OPENING_ROUNDS)
        return opened + self._cost_of_searches(patterns) + self._cost_of_windows(windows, context)

    def _patterns_of(self, query: str) -> list[tuple[int, ...]]:
        try:
            return self._forms(query)
        except InputError:  # it is not counted
            return []

    def _cost_of_searches(self, ngrams: TokenNgrams, passes: int = 1, share: float = 1.0) -> Cost:
        """Return the cost of n-grams: probably a `share` of them, in passes one after another."""
        folder = self._files.opened()
        most, expected, size, rounds = 0.0, 0.0, 0.0, 0
        for shard in folder.shards:
            if shard.kept_bytes or not shard.ranks:
                continue
            expect = partial(
                expect_search,
                shard.ranks,
                shard.pointer_bytes,
                ngrams,
                folder.requests_per_round,
            )
            cost = expect(expect_intervals)
            most, expected = most + expect(intervals_at_most).requests, expected + cost.requests
            size, rounds = size + cost.bytes, max(rounds, cost.rounds)
        return self._timed(
            round(most), round(share * expected), round(share * size), passes * rounds
        )

    def _cost_of_windows(self, windows: int, context: int) -> Cost:
        requests, size = _WINDOW_REQUESTS * windows, 0
        if windows:
            folder = self._files
            text_bytes = folder.tokens * folder.width // max(1, folder.documents)
            of_context = 2 * context * folder.width // _BYTES_PER_TOKEN
            size = windows * (_WINDOW_BYTES + min(text_bytes, of_context))
        rounds = _WINDOW_ROUNDS * -(-windows // _READERS)
        return self._timed(requests, requests, size, rounds)

    def cost_of_matches(self, texts: Sequence[str]) -> Cost:
        """Return the expected cost; texts that are copied as a whole take less."""
        ids_by_text = {text: self._tokenizer.after_space(text) for text in texts}
        return self.cost([], 0, 0) + self._cost_of_texts(ids_by_text.values())

    def describe_cost_of_matches(self) -> str:
        """Say which texts the requests are for."""
        return (
            "over tokens in place, requests are those of usual outputs; texts without copied parts"
            " take more, and those that are copied as a whole fewer"
        )

    def _cost_of_texts(self, texts: Iterable[Sequence[int]]) -> Cost:
        """Return the cost of searching the rest of some texts from each token on."""
        ngrams = {
            tuple(text[first : first + _DISTINGUISHED])
            for text in texts
            for first in range(len(text))
        }
        return self._cost_of_searches(ngrams, _PASSES, _SEARCHED_SHARE)

    def _timed(self, at_most: int, requests: int, size: int, rounds: int) -> Cost:
        folder = self._files.opened()
        per_second = min(folder.concurrency / folder.latency_s, _REQUESTS_PER_S)
        if self._rate:
            per_second = min(per_second, self._rate)
        seconds = max(rounds * folder.latency_s, requests / per_second, size / _BYTES_PER_S)
        return Cost(at_most, requests, size, seconds, self._dollars_for(requests, size))

    def _dollars_for(self, requests: int, size: int) -> float:
        """Return what S3 charges; 0 for files elsewhere."""
        return dollars_for(requests, size) if is_on_s3(self.spec) else 0.0


def open_in_place(
    urls: Sequence[str],
    ranges: Callable[[], Ranges],
    journal: Journal,
    options: IndexOptions,
    progress: Progress,
) -> InPlaceTokenIndex:
    """Open the index at an address, or at several together."""
    spec = TOKENS.spec_of(",".join(shown(url).rstrip("/") for url in urls))

    def open_files(opened_ranges: Ranges) -> OpenedFiles[InPlaceTokenFolder]:
        # Half of the memory, so that there is room for other parts.
        folder = open_tokens_in_place(opened_ranges, urls, options.memory_bytes // 2)
        return OpenedFiles(folder, folder.shards, facts_about(folder))

    replies = FileReplies(spec, open_files, ranges, journal, options, progress)
    replies.look_again(read_facts)
    files = KeptTokenFiles(replies)
    with replies.opening():
        tokenizer = open_for(files, options.tokenizer, progress)
    return InPlaceTokenIndex(replies, files, tokenizer, options.rate, progress)
