"""Clients that disconnect before they are answered: their work is cancelled or stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from ngramscan.progress import Progress

_T = TypeVar("_T")


class ClientLeftError(Exception):
    """The client has disconnected before its answer was ready."""


class Clients(Progress):
    """Clients whose requests run on threads; a thread stops at a report if its client left."""

    def __init__(self) -> None:
        self._of_thread = threading.local()

    @contextmanager
    def working_for(self, has_left: threading.Event) -> Iterator[None]:
        """Work for a client on this thread."""
        self._of_thread.has_left = has_left
        try:
            yield
        finally:
            del self._of_thread.has_left

    def expect(self, amount: int, unit: str) -> None:  # noqa: ARG002  the interface of Progress
        """Raise a ClientLeftError if the client of this thread has disconnected."""
        has_left: threading.Event | None = getattr(self._of_thread, "has_left", None)
        if has_left and has_left.is_set():
            raise ClientLeftError

    def advance(self, amount: int, unit: str) -> None:
        """Raise a ClientLeftError if the client of this thread has disconnected."""
        self.expect(amount, unit)

    async def serve(
        self, request: Request, threads: ThreadPoolExecutor, work: Callable[[], _T]
    ) -> _T:
        """Return the result of some work on a thread, or raise a ClientDisconnect.

        The request has to be read to its end.
        """
        has_left = threading.Event()

        def watched() -> _T:
            with self.working_for(has_left):
                return work()

        future = threads.submit(watched)
        result, leaving = asyncio.wrap_future(future), asyncio.create_task(_leave(request))
        result.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            futures: list[asyncio.Future[Any]] = [result, leaving]
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
            if not result.done():
                raise ClientDisconnect
            return result.result()
        finally:
            has_left.set()
            leaving.cancel()
            future.cancel()  # where no thread has begun


async def _leave(request: Request) -> None:
    """Wait until a client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
