"""Hosts of the infini-gram-mini protocol that answer as a test says, and their clients."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import (
    IndexSize,
    QueryCount,
    QueryFailure,
)
from ngramscan.indexes.http.client import ApiClient
from ngramscan.indexes.http.index import ApiIndex
from ngramscan.indexes.options import IndexOptions
from ngramscan.journal import Journal
from ngramscan.progress import Progress
from tests.support.fake_clock import FakeClock

URL = "http://127.0.0.1:1/"
Answer = httpx.Response | Exception
Handler = Callable[[httpx.Request], httpx.Response]


def html(status: int, **headers: str) -> httpx.Response:
    """Return an answer with a page."""
    return httpx.Response(status, html="<html><h1>No</h1></html>", headers=headers)


def ok(**fields: Any) -> httpx.Response:
    """Return an answer with some fields, by default a count of 7."""
    return httpx.Response(200, json=fields or {"count": 7, "latency": 1.0})


def in_turn(*answers: Answer) -> Handler:
    """Give these answers in turn, the last one for ever."""
    left, lock = list(answers), threading.Lock()

    def handle(_: httpx.Request) -> httpx.Response:
        with lock:
            answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    return handle


@contextmanager
def client_for(
    handle: Handler,
    clock: FakeClock | None = None,
    journal: Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Iterator[ApiClient]:
    """Open a client of a made host, whose questions are handled so."""
    given = IndexOptions(**{"concurrency": 2, **options})
    transport, heard = httpx.MockTransport(handle), progress or Progress()
    with (
        Journal(journal) as kept,
        ApiClient(URL, given, kept, heard, clock or FakeClock(), transport) as client,
    ):
        yield client


def index_of(client: ApiClient, *spellings: str) -> ApiIndex:
    """Return an index of 10,000 bytes at a host."""
    return ApiIndex("pile", spellings or ["pile"], IndexSize(bytes=10_000), client)


def count(client: ApiClient, *queries: str) -> list[QueryCount | QueryFailure]:
    """Count queries in an index of a host."""
    return list(index_of(client).counts(queries or ["the"]))


def failure_of(client: ApiClient, *queries: str) -> NgramscanError:
    """Return why the first of some queries was not counted."""
    failure = count(client, *queries)[0]
    assert isinstance(failure, QueryFailure)
    return failure.error
