"""A client of the infini-gram-mini protocol: one host, and one index of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeVar

import httpx

from ngramscan.errors import RemoteRefused
from ngramscan.indexes.base import (
    COMMON_CONTEXT,
    Cost,
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
from ngramscan.indexes.catalog import INFINI_GRAM_MINI
from ngramscan.indexes.cutting import cut_ends
from ngramscan.indexes.http.client import LONGEST_REPLY_BYTES, ApiClient
from ngramscan.indexes.http.identity import PROBES, ask_ranks, identify
from ngramscan.indexes.http.questions import Answer, HostQuestion, Questions, answer_to
from ngramscan.indexes.http.replies import (
    MOST,
    CutCharacterError,
    Reply,
    UnknownIndexError,
    read_count,
    read_found,
    read_reply,
    read_window,
)
from ngramscan.journal import DAMAGED

_REPLY_BYTES_PER_CONTEXT = 40
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


class ApiIndex:
    """Counts occurrences and shows some of them; the service doesn't count documents.

    Requests are in flight as soon as a method returns, so several indexes of one host are asked at
    once. Nothing is asked that the journal has.

    `name` is its name in the journal, and in results unless a user gives it another; `spellings`
    are the names to try at the service, in this order; `size` is unknown for indexes outside the
    catalog. If it `may_be_replaced` under the same name, each run asks first whether it was.
    """

    unit: Unit = "bytes"

    def __init__(
        self,
        name: str,
        spellings: Sequence[str],
        size: IndexSize,
        client: ApiClient,
        may_be_replaced: bool = False,
    ) -> None:
        self.name = self.spec = name
        self._may_be_replaced = may_be_replaced
        self._spellings = list(spellings)
        self._size = size
        self._client = client
        self._has_answered = False
        stored_replies = client.journal.get(client.url, name, [_SPELLING])
        if _SPELLING in stored_replies and stored_replies[_SPELLING].text in spellings:
            self._prefer(stored_replies[_SPELLING].text)

    def _prefer(self, spelling: str) -> None:
        if spelling != self._spellings[0]:
            self._spellings = [spelling, *(name for name in self._spellings if name != spelling)]
            self._client.journal.put(self._client.url, self.spec, _SPELLING, spelling)

    @property
    def longest_context(self) -> int:
        """Largest context the host reports, or reported last; the public service isn't asked."""
        client, name = self._client, self._spellings[0]
        if service := client.public(INFINI_GRAM_MINI.protocol):
            return service.longest_context
        max_context = client.served.get(name, {}).get("max_context")
        if isinstance(max_context, int) and COMMON_CONTEXT < max_context <= MOST:
            client.journal.put(client.url, self.spec, _CONTEXT, str(max_context))
        stored_reply = client.journal.get(client.url, self.spec, [_CONTEXT]).get(_CONTEXT)
        longest = (
            int(stored_reply.text)
            if stored_reply and stored_reply.text.isdecimal()
            else COMMON_CONTEXT
        )
        client.service.most_bytes = max(LONGEST_REPLY_BYTES, longest * _REPLY_BYTES_PER_CONTEXT)
        return longest

    def size(self) -> IndexSize:
        """Return the documented size, or the one that the host lists.

        A host is asked for its list if it has answered anything else in this run, and once. One
        that lists none may have listed some before: what it says last is kept.
        """
        client = self._client
        if self._size != IndexSize() or client.public(INFINI_GRAM_MINI.protocol):
            return self._size
        if self._has_answered:
            description = client.served.get(self._spellings[0], {})
            listed = json.dumps({name: description.get(name) for name in _LISTED})
            client.journal.put(client.url, self.spec, _SIZE, listed)
        for stored_reply in client.journal.get(client.url, self.spec, [_SIZE]).values():
            with suppress(*DAMAGED):
                self._size = _read_size(json.loads(stored_reply.text))
        if self._has_answered and self._size == IndexSize():
            problem = f"{client.url}: the server doesn't tell the size of its indexes"
            self._size = IndexSize(unknown_because=problem)
        return self._size

    def cost(self, lookups: Sequence[str], windows: int, _: int) -> Cost:
        """Return one request for each text and window, by default at the public service's pace."""
        return requests_at(self._client.planned_rate(INFINI_GRAM_MINI), len(lookups) + windows)

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Start to count all queries; yield the counts."""

        def count(query: str) -> Questions[QueryCount]:
            read_content = partial(read_count, most=self._size.bytes)
            forms = [{"query_type": "count", "query": query}]
            occurrences, source, asked_at = yield from self._answer(forms, read_content)
            return QueryCount(query, occurrences, None, source, asked_at)

        return self._client.answers(self.spec, queries, count, partial(QueryFailure, self.name))

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        """Start to look up all queries; yield where each occurs."""

        def find(query: str) -> Questions[Occurrences]:
            read_content = partial(read_found, query=query, most=self._size.bytes)
            occurrences, _, _ = yield from self._answer(
                [{"query_type": "find", "query": query}], read_content
            )
            return occurrences

        return self._client.answers(self.spec, queries, find, partial(QueryFailure, self.name))

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Start to fetch the text around all places; `context` is at most `longest_context`."""

        def show(place: Place) -> Questions[Window]:
            def read(reply: Reply) -> Window:
                return _without_rest(read_window(reply, place, reply["context"]), context)

            window, _, _ = yield from self._answer(_window_forms(place, context), read)
            return window

        return self._client.answers(self.spec, places, show, WindowFailure)

    @cached_property
    def _identity(self) -> str:
        """A text that tells this index from others that its host may give the same name."""
        if not self._may_be_replaced:
            return ""
        return identify(self._client, self.spec, [partial(self._probe, text) for text in PROBES])

    def _probe(self, text: str) -> str:
        """Return the ranks of a text, by the first spelling that the host knows."""
        for spelling in self._spellings:
            form = {"index": spelling, "query_type": "find", "query": text}
            with suppress(UnknownIndexError):
                ranks = ask_ranks(self._client, form, read_reply)
                self._has_answered = True
                return ranks
        raise RemoteRefused(f"{self._client.url} has no index {self.name}")

    def _answer(
        self, forms: Iterable[Reply], read_content: Callable[[Reply], T]
    ) -> Questions[Answer[T]]:
        """Return the answer to a question; the first of its forms is its key in the journal."""
        other_forms = iter(forms)
        form = next(other_forms)
        request = self._identity + json.dumps(form, sort_keys=True)
        ask = partial(self._ask_host, request, form, other_forms, read_content)
        return answer_to(HostQuestion(request, read_content, ask))

    def _ask_host(
        self,
        request: str,
        form: Reply,
        other_forms: Iterator[Reply],
        read_content: Callable[[Reply], T],
    ) -> Answer[T]:
        """Ask by the first spelling and form that the host answers; keep the reply."""
        spellings = iter(self._spellings)
        spelling = next(spellings)
        while True:
            parse = partial(_parse, form)
            try:
                body = {"index": spelling, **form}
                _, answer = self._client.ask(self.spec, request, body, parse, read_content)
                break
            except UnknownIndexError:
                if not (spelling := next(spellings, "")):
                    raise
            except CutCharacterError:
                if not (form := next(other_forms, {})):
                    raise
        self._has_answered = True
        self._prefer(spelling)
        return answer


def _parse(form: Reply, response: httpx.Response) -> Reply:
    """Return a reply, and with a window the context that was asked for."""
    reply = read_reply(response)
    if "max_ctx_len" in form:
        reply["context"] = form["max_ctx_len"]
    return reply


def _read_size(listed: Mapping[str, Any]) -> IndexSize:
    sizes = {name: listed[name] for name in _LISTED}
    if not all(isinstance(size, int) and 0 <= size <= MOST for size in sizes.values()):
        return IndexSize()
    return IndexSize(**sizes)


def _without_rest(window: Window, context: int) -> Window:
    """Return a window without the extra bytes that were fetched to end between characters."""
    end = window.offset + len(window.place.query.encode())
    _, high = cut_ends(window.text, window.offset, end, context)
    return replace(window, text=window.text[:high])


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
