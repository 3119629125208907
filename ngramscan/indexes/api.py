"""An index behind the infini-gram-mini HTTP protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from functools import partial
from typing import Any

from ngramscan.errors import NgramscanError, RemoteRefused
from ngramscan.indexes.base import IndexSize, QueryCount, QueryFailure
from ngramscan.indexes.client import ApiClient, Reply
from ngramscan.journal import Journal
from ngramscan.progress import Progress

_UNKNOWN_INDEX = "Invalid index"
_SPELLING = "spelling"  # where the journal keeps the name that the service knows


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """What the indexes of one host share."""

    client: ApiClient
    journal: Journal
    progress: Progress
    refresh: bool = False
    """Ask also what the journal has."""


class ApiIndex:
    """Counts occurrences; a count takes no pass over text, but the service knows no documents.

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
        kept = {} if self._access.refresh else self._journalled(queries)
        missing = [query for query in queries if query not in kept]
        self._access.progress.expect(len(missing), "requests")
        self._access.progress.detail(
            f"{self.name}: {len(kept)} counts from the journal, {len(missing)} to ask"
        )
        futures = {self._access.client.submit(partial(self._count, q)): q for q in missing}
        return self._collect(list(kept.values()), futures)

    def _journalled(self, queries: Sequence[str]) -> dict[str, QueryCount]:
        url = self._access.client.url
        requests = {_request(query): query for query in queries}
        return {
            requests[request]: QueryCount(
                query=requests[request],
                occurrences=read_count(json.loads(reply.text), url),
                documents=None,
                source="journal",
                asked_at=reply.asked_at,
            )
            for request, reply in self._access.journal.get(url, self.name, requests).items()
        }

    def _count(self, query: str) -> QueryCount:
        url = self._access.client.url
        reply = self._ask({"query_type": "count", "query": query})
        occurrences = read_count(reply, url)
        asked_at = self._access.journal.put(url, self.name, _request(query), json.dumps(reply))
        self._access.progress.advance(1, "requests")
        return QueryCount(query, occurrences, None, "api", asked_at)

    def _ask(self, question: dict[str, Any]) -> Reply:
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

    def _collect(
        self, kept: list[QueryCount], futures: dict[Future[QueryCount], str]
    ) -> Iterator[QueryCount | QueryFailure]:
        yield from kept
        for future in as_completed(futures):
            try:
                yield future.result()
            except NgramscanError as error:
                yield QueryFailure(futures[future], error)


def _request(query: str) -> str:
    return json.dumps({"query_type": "count", "query": query}, sort_keys=True)


def read_count(reply: Reply, url: str) -> int:
    """Return the count of a reply.

    Raises
    ------
    RemoteRefused
        There is no count in it, or none that is a number of occurrences.
    """
    count = reply.get("count")
    # True is an int to Python, but no count.
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        said = json.dumps(reply)[:200]
        raise RemoteRefused(f"{url}: no count in the reply {said}")
    return count
