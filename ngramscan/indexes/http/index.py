"""A client of the infini-gram-mini protocol: one host, and one index of it."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError, as_completed
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

import httpx

from ngramscan import __version__
from ngramscan.clock import now
from ngramscan.errors import InputError, NgramscanError, RemoteError, RemoteUnavailable
from ngramscan.indexes.base import (
    COMMON_CONTEXT,
    PUBLIC_RATE,
    TOKEN_RATE,
    Cost,
    CountSource,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    Unit,
    Window,
    WindowFailure,
    requests_at,
)
from ngramscan.indexes.catalog import DEFAULT_URL, TOKEN_URL
from ngramscan.indexes.cutting import cut_ends
from ngramscan.indexes.http.replies import (
    DAMAGED,
    MOST,
    CutCharacterError,
    Reply,
    UnknownIndexError,
    read_count,
    read_found,
    read_reply,
    read_window,
)
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.progress import Progress
from ngramscan.remote.exchange import Service, Terms, TransientError
from ngramscan.remote.pace import Clock, HostPace

LONGEST_REPLY_BYTES = 1_000_000
"""A count takes a hundred bytes; a window of 10,000 bytes on each side, which is escaped and sent
twice, takes less than 400,000 and its metadata."""
_REPLY_BYTES_PER_CONTEXT = 40
UNREACHABLE_AFTER_S = 8.0
SLOW_DOWNS = 4
"""How many requests to slow down one question may get while others are answered."""
_CONCURRENCY = 4
_RATES = {TOKEN_URL: TOKEN_RATE}
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_SPELLING = "spelling"  # under which the journal has the name that the service knows
_CONTEXT = "longest context"
_SIZE = "size"
_LISTED = ("documents", "bytes", "shards")
"""The size of an index, as `ngramscan serve` lists it."""

# Shifts of the left and the right end of a window until neither is inside a character, which has
# four bytes at most. The ends are rarely off by more than one.
_SHIFTS = sorted(((left, right) for left in range(4) for right in range(4)), key=sum)

T = TypeVar("T")
A = TypeVar("A")
F = TypeVar("F")


class ApiClient:
    """One host: its address, its pace, the journal of its replies, and the threads that ask it.

    All questions to the host fail if there is no connection within a few seconds of the first one,
    or if a question uses up all its attempts while no other is answered.
    """

    def __init__(
        self,
        url: str,
        options: IndexOptions,
        journal: Journal,
        progress: Progress,
        clock: Clock | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url, login = split_login("--api-url", url)
        self.journal, self.progress = journal, progress
        self.refresh, self._concurrency = options.refresh, options.concurrency or _CONCURRENCY
        is_loopback = urlsplit(self.url).hostname in _LOOPBACK
        self._may_be_ours = is_loopback and url != options.api_url
        self.is_public = self.url == DEFAULT_URL
        default_rate = 0.0 if is_loopback else _RATES.get(self.url, PUBLIC_RATE)
        terms = Terms(
            most_bytes=LONGEST_REPLY_BYTES,
            within_s=options.timeout_s,
            rate=default_rate if options.rate is None else options.rate,
            pace=HostPace,
            slow_downs=SLOW_DOWNS,
            jitter_s=0.5,
        )
        agent = {"User-Agent": f"ngramscan/{__version__}"}
        more: dict[str, Any] = {"auth": login, "transport": transport, "headers": agent}
        self.service = Service(self.url, terms, progress, clock, on_give_up=self._fail_all, **more)
        self._tasks: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
        self._tasks = queue.SimpleQueue()
        self._futures: set[Future[Any]] = set()
        self._threads: list[threading.Thread] = []

    @cached_property
    def served(self) -> dict[str, dict[str, Any]]:
        """The indexes that the host lists, by name; only `ngramscan serve` lists any."""
        try:
            listed = read_reply(self.service.get("indexes"))["indexes"]
            return {str(entry["name"]): dict(entry) for entry in listed}
        except (RemoteError, TransientError, *DAMAGED):
            return {}

    def submit(self, task: Callable[[], T]) -> Future[T]:
        """Run a task as soon as a thread is free."""
        future: Future[T] = Future()
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if not self._threads:
            # An executor joins its threads at exit: Ctrl-C would wait for a stalled request.
            targets = [self._work] * self._concurrency + [self._watch]
            self._threads = [threading.Thread(target=target, daemon=True) for target in targets]
            for thread in self._threads:
                thread.start()
        self._tasks.put((future, task))
        return future

    def _work(self) -> None:
        while given := self._tasks.get():
            future, task = given
            with suppress(InvalidStateError):  # the host has failed in the meantime
                try:
                    result = task()
                except Exception as error:  # noqa: BLE001 - raised in the thread that waits
                    future.set_exception(error)
                else:
                    future.set_result(result)

    def _watch(self) -> None:
        """Give up a host without a connection; even a name look-up can hang for a long time."""
        if not self.service.closed.wait(UNREACHABLE_AFTER_S) and self.service.unreachable:
            hint = "; is ngramscan serve running there?" if self._may_be_ours else ""
            problem = f"can't be reached ({self.service.unreachable}{hint})"
            self.service.give_up(RemoteUnavailable, problem)

    def _fail_all(self, error: RemoteError) -> None:
        for future in self._futures.copy():
            with suppress(InvalidStateError):
                future.set_exception(error)

    def close(self) -> None:
        """End the threads; requests in flight are abandoned."""
        self.service.close()
        for _ in self._threads:
            self._tasks.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ApiIndex:
    """Counts occurrences and shows some of them; the service doesn't count documents.

    Requests are in flight as soon as a method returns, so several indexes of one host are asked at
    once. Nothing is asked that the journal has.

    `name` is its name in results and in the journal; `spellings` are the names to try at the
    service, in this order; `size` is unknown for indexes outside the catalog.
    """

    unit: Unit = "bytes"
    documents_of = None  # an occurrence takes a request
    document_counts = None

    def __init__(
        self, name: str, spellings: Sequence[str], size: IndexSize, client: ApiClient
    ) -> None:
        self.name = name
        self._spellings = list(spellings)
        self._size = size
        self._client = client
        self._has_answered = False
        self._failure = partial(QueryFailure, name)
        kept = client.journal.get(client.url, name, [_SPELLING])
        if _SPELLING in kept and kept[_SPELLING].text in spellings:
            self._prefer(kept[_SPELLING].text)

    def _prefer(self, spelling: str) -> None:
        if spelling != self._spellings[0]:
            self._spellings = [spelling, *(name for name in self._spellings if name != spelling)]
            self._client.journal.put(self._client.url, self.name, _SPELLING, spelling)

    @property
    def longest_context(self) -> int:
        """The most that the host says it shows, or said last; the public service isn't asked."""
        client, name = self._client, self._spellings[0]
        if client.is_public:
            return COMMON_CONTEXT
        max_context = client.served.get(name, {}).get("max_context")
        if isinstance(max_context, int) and COMMON_CONTEXT < max_context <= MOST:
            client.journal.put(client.url, self.name, _CONTEXT, str(max_context))
        kept = client.journal.get(client.url, self.name, [_CONTEXT]).get(_CONTEXT)
        longest = int(kept.text) if kept and kept.text.isdecimal() else COMMON_CONTEXT
        client.service.most_bytes = max(LONGEST_REPLY_BYTES, longest * _REPLY_BYTES_PER_CONTEXT)
        return longest

    def size(self) -> IndexSize:
        """Return the documented size, or the one that the host lists.

        A host is asked for its list if it has answered anything else in this run, and once.
        """
        client = self._client
        if self._size != IndexSize() or client.is_public:
            return self._size
        if self._has_answered and (description := client.served.get(self._spellings[0])):
            listed = json.dumps({name: description.get(name) for name in _LISTED})
            client.journal.put(client.url, self.name, _SIZE, listed)
        for kept in client.journal.get(client.url, self.name, [_SIZE]).values():
            with suppress(*DAMAGED):
                self._size = _read_size(json.loads(kept.text))
        return self._size

    def cost(self, lookups: Sequence[str], windows: int, _: int) -> Cost:
        """Return one request for each text and window, at the pace of the public service."""
        return requests_at(PUBLIC_RATE, len(lookups) + windows)

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Start to count all queries; yield the counts."""

        def read(query: str, reply: Reply, source: CountSource, asked_at: str) -> QueryCount:
            occurrences = read_count(reply, self._size.bytes)
            return QueryCount(query, occurrences, documents=None, source=source, asked_at=asked_at)

        return self._each(queries, partial(_only_form, "count"), read, self._failure)

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        """Start to look up all queries; yield where each occurs."""

        def read(query: str, reply: Reply, *_: str) -> Occurrences:
            return read_found(reply, query, self._size.bytes)

        return self._each(queries, partial(_only_form, "find"), read, self._failure)

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Start to fetch the text around all places; `context` is at most `longest_context`."""

        def read(place: Place, reply: Reply, *_: str) -> Window:
            return _without_rest(read_window(reply, place, reply["context"]), context)

        forms = partial(_window_forms, context=context)
        return self._each(places, forms, read, WindowFailure)

    def _each(
        self,
        items: Sequence[A],
        forms: Callable[[A], Iterator[Reply]],
        read: Callable[[A, Reply, CountSource, str], T],
        failure: Callable[[A, NgramscanError], F],
    ) -> Iterator[T | F]:
        """Start to ask for what the journal doesn't have; yield the content of all replies.

        `forms` are the forms that the question about an item can take; the first one is its key in
        the journal.
        """
        requests = {json.dumps(next(forms(item)), sort_keys=True): item for item in items}
        known = self._read_journal(requests, read)
        missing = [request for request in requests if request not in known]
        self._client.progress.expect(len(missing), "requests")
        detail = f"{self.name}: replies from the journal: {len(known)}, to ask: {len(missing)}"
        self._client.progress.detail(detail)
        futures = {
            self._client.submit(partial(self._ask, request, forms(item), partial(read, item))): item
            for request in missing
            for item in [requests[request]]
        }
        return collect(known.values(), futures, failure)

    def _read_journal(
        self, requests: dict[str, A], read: Callable[[A, Reply, CountSource, str], T]
    ) -> dict[str, T]:
        """Return the content of stored replies; those that can't be true are left out."""
        if self._client.refresh:
            return {}
        known = {}
        kept = self._client.journal.get(self._client.url, self.name, requests)
        for request, entry in kept.items():
            with suppress(RemoteError, *DAMAGED):
                reply = json.loads(entry.text)
                known[request] = read(requests[request], reply, "journal", entry.asked_at)
        return known

    def _ask(
        self, request: str, forms: Iterator[Reply], read: Callable[[Reply, CountSource, str], T]
    ) -> T:
        """Try each form and each spelling of the index until one is answered; keep the reply."""

        def parse(response: httpx.Response) -> tuple[Reply, T]:
            reply = read_reply(response)
            if "max_ctx_len" in form:
                reply["context"] = form["max_ctx_len"]
            return reply, read(reply, "api", now())

        spellings = iter(self._spellings)
        form, spelling = next(forms), next(spellings)
        while True:
            body = json.dumps({"index": spelling, **form})
            try:
                (reply, result), _, _ = self._client.service.ask(body, parse)
                break
            except UnknownIndexError:
                if not (spelling := next(spellings, "")):
                    raise
            except CutCharacterError:
                if not (form := next(forms, {})):
                    raise
        self._has_answered = True
        self._prefer(spelling)
        self._client.journal.put(self._client.url, self.name, request, json.dumps(reply))
        self._client.progress.advance(1, "requests")
        return result


def collect(
    known: Iterable[T], futures: dict[Future[T], A], failure: Callable[[A, NgramscanError], F]
) -> Iterator[T | F]:
    """Yield what is known, then what was asked for as it comes, or why it failed."""
    yield from known
    for future in as_completed(list(futures)):
        item = futures.pop(future)  # frees its result
        try:
            yield future.result()
        except NgramscanError as error:
            yield failure(item, error)


def _read_size(listed: Mapping[str, Any]) -> IndexSize:
    sizes = {name: listed[name] for name in _LISTED}
    if not all(isinstance(size, int) and 0 <= size <= MOST for size in sizes.values()):
        return IndexSize()
    return IndexSize(**sizes)


def _without_rest(window: Window, context: int) -> Window:
    """Return a window without what was asked for only to end between characters."""
    end = window.offset + len(window.place.query.encode())
    _, high = cut_ends(window.text, window.offset, end, context)
    return replace(window, text=window.text[:high])


def _only_form(query_type: str, query: str) -> Iterator[Reply]:
    yield {"query_type": query_type, "query": query}


def _window_forms(place: Place, context: int) -> Iterator[Reply]:
    """Yield windows around a place, until one ends between characters.

    The service moves the right end by the characters of the query instead of its bytes, so a longer
    query is sent; the service uses it for nothing else.
    """
    missing = len(place.query.encode()) - len(place.query)
    for left, right in _SHIFTS:
        yield {
            "query_type": "get_doc_by_rank",
            "query": place.query + "x" * (missing + left + right),
            "s": place.shard,
            "rank": place.rank,
            "max_ctx_len": context - left,
        }


def split_login(where: str, url: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address with a slash at its end, and the name and password that it contained."""
    # A malformed address may have a password anywhere.
    place = where if "@" in url else f"{where} {url}"
    problem = "not a URL; http://… or https://… was expected"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(place, problem) from error
    if parts.scheme not in {"http", "https"} or not host:
        raise InputError(place, problem)
    host = f"[{host}]" if ":" in host else host
    place = host if port is None else f"{host}:{port}"
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    folder = re.sub("/+", "/", f"{parts.path}/")
    return f"{parts.scheme}://{place}{folder}", login if any(login) else None
