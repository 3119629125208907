"""An index behind the infini-gram-mini HTTP protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ngramscan.errors import NgramscanError, RemoteRefused
from ngramscan.indexes.base import (
    Found,
    IndexSize,
    Place,
    QueryCount,
    QueryFailure,
    Source,
    Window,
    WindowFailure,
)
from ngramscan.indexes.http.client import ApiClient, CutCharacterError
from ngramscan.indexes.http.replies import Reply, read_count, read_found, read_window
from ngramscan.journal import Journal, now
from ngramscan.journal import Reply as JournalReply
from ngramscan.progress import Progress

_UNKNOWN_INDEX = "Invalid index"
_SPELLING = "spelling"  # where the journal keeps the name that the service knows

LONGEST_CONTEXT = 10_000
"""The most that the service documents; in bytes, though it says characters."""

# By how much a window is moved at its left and its right end until neither is inside a character:
# those have four bytes at most. A window is rarely cut by more than one.
_SHIFTS = sorted(((left, right) for left in range(4) for right in range(4)), key=sum)
_NOT_KEPT = {"spans", "latency"}  # the spans are the text again

T = TypeVar("T")
A = TypeVar("A")
F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """What the indexes of one host share."""

    client: ApiClient
    journal: Journal
    progress: Progress
    refresh: bool = False
    """Ask also what the journal has."""


class ApiIndex:
    """Counts occurrences and shows some of them; the service does not know in how many documents.

    Parameters
    ----------
    name : str
        The name in results and in the journal, however the service spells it.
    spellings : sequence of str
        Names to try at the service, in this order.
    size : IndexSize
        As documented; unknown for indexes that are not in the catalog.
    access : ApiAccess
        The host and what else its indexes share.
    """

    def __init__(
        self, name: str, spellings: Sequence[str], size: IndexSize, access: ApiAccess
    ) -> None:
        self.name = name
        self.longest_context = LONGEST_CONTEXT
        self._spellings = list(spellings)
        self._size = size
        self._access = access
        self._remember_spelling()

    def size(self) -> IndexSize:
        """Return the documented size."""
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Start to ask what the journal does not have, and yield all counts.

        The questions are under way when this returns, so that several indexes of one host are
        asked at once.
        """
        return self._each(
            queries, _count_question, self._read_count, partial(QueryFailure, self.name)
        )

    def find(self, queries: Sequence[str]) -> Iterator[Found | QueryFailure]:
        """Start to look up what the journal does not have, and yield where each query is found."""
        return self._each(
            queries, _find_question, self._read_found, partial(QueryFailure, self.name)
        )

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Start to fetch what the journal does not have, and yield all windows.

        `context` is at most `longest_context`.
        """
        return self._each(
            places,
            partial(_window_question, context=context),
            self._read_window,
            WindowFailure,
            partial(self._fetch_window, context=context),
        )

    def _each(
        self,
        items: Sequence[A],
        question: Callable[[A], Reply],
        read: Callable[[A, _Answer], T],
        failure: Callable[[A, NgramscanError], F],
        fetch: Callable[[A], Reply] | None = None,
    ) -> Iterator[T | F]:
        """Start to ask about all items that the journal does not have; yield what all replies say.

        `question` is what the journal knows an item by; `fetch` asks otherwise than by it.
        """
        requests = {json.dumps(question(item), sort_keys=True): item for item in items}
        kept = self._journalled(requests)
        known = {}
        for request, reply in kept.items():
            with suppress(RemoteRefused, ValueError, RecursionError, KeyError, TypeError):
                # What was kept is checked again: an answer that can't be true is asked for again.
                answer = _Answer(json.loads(reply.text), "journal", reply.asked_at)
                known[request] = read(requests[request], answer)
        missing = [request for request in requests if request not in known]
        self._access.progress.expect(len(missing), "requests")
        self._access.progress.detail(
            f"{self.name}: {len(known)} replies from the journal, {len(missing)} to ask"
        )

        def ask(request: str) -> T:
            item = requests[request]
            reply = fetch(item) if fetch else self._ask(question(item))
            result = read(item, _Answer(reply, "api", now()))
            self._access.journal.put(self._url, self.name, request, json.dumps(reply))
            self._access.progress.advance(1, "requests")
            return result

        futures = {
            self._access.client.submit(partial(ask, request)): requests[request]
            for request in missing
        }
        return self._collect(known.values(), futures, failure)

    @property
    def _url(self) -> str:
        return self._access.client.url

    def _journalled(self, requests: Iterable[str]) -> dict[str, JournalReply]:
        if self._access.refresh:
            return {}
        return self._access.journal.get(self._url, self.name, requests)

    def _collect(
        self,
        known: Iterable[T],
        futures: dict[Future[T], A],
        failure: Callable[[A, NgramscanError], F],
    ) -> Iterator[T | F]:
        yield from known
        for future in as_completed(list(futures)):
            item = futures.pop(future)  # and with it what it holds
            try:
                yield future.result()
            except NgramscanError as error:
                yield failure(item, error)

    # What is asked and read

    def _read_count(self, query: str, answer: _Answer) -> QueryCount:
        occurrences = read_count(answer.reply, self._url, self._size.bytes)
        return QueryCount(query, occurrences, None, answer.source, answer.asked_at)

    def _read_found(self, query: str, answer: _Answer) -> Found:
        return read_found(answer.reply, query, self._url, self._size.bytes)

    def _read_window(self, place: Place, answer: _Answer) -> Window:
        return read_window(answer.reply, place, int(answer.reply["context"]), self._url)

    def _fetch_window(self, place: Place, context: int) -> Reply:
        """Ask for a window that cuts no character; return what is worth keeping of the reply.

        The service takes the length of the query, in characters, for that of the occurrence, in
        bytes. So the right end is moved by characters behind the query, which need not be there.
        """
        query = place.query
        missing = len(query.encode()) - len(query)
        for left, right in _SHIFTS:
            question = {
                **_window_question(place, context - left),
                "query": query + "x" * (missing + left + right),
            }
            try:
                reply = self._ask(question)
            except CutCharacterError as error:
                cut = error
                continue
            kept = {name: value for name, value in reply.items() if name not in _NOT_KEPT}
            return {**kept, "context": context - left}
        raise cut

    def _ask(self, question: Reply) -> Reply:
        """Ask under the spelling of the index that the service knows."""
        for spelling in (spellings := self._spellings):
            try:
                reply = self._access.client.ask({"index": spelling, **question})
            except RemoteRefused as error:
                if _UNKNOWN_INDEX not in str(error) or spelling == spellings[-1]:
                    raise
            else:
                if spelling != spellings[0]:
                    self._prefer(spelling)
                return reply
        raise AssertionError("an index has a name")

    def _prefer(self, spelling: str) -> None:
        self._spellings = [spelling, *(name for name in self._spellings if name != spelling)]
        self._access.journal.put(self._access.client.url, self.name, _SPELLING, spelling)

    def _remember_spelling(self) -> None:
        kept = self._access.journal.get(self._access.client.url, self.name, [_SPELLING])
        if _SPELLING in kept and kept[_SPELLING].text in self._spellings:
            self._prefer(kept[_SPELLING].text)


@dataclass(frozen=True, slots=True)
class _Answer:
    """A reply, and where it comes from."""

    reply: Reply
    source: Source
    asked_at: str


def _count_question(query: str) -> Reply:
    return {"query_type": "count", "query": query}


def _find_question(query: str) -> Reply:
    return {"query_type": "find", "query": query}


def _window_question(place: Place, context: int) -> Reply:
    return {
        "query_type": "get_doc_by_rank",
        "query": place.query,
        "s": place.shard,
        "rank": place.rank,
        "max_ctx_len": context,
    }
