"""Requests whose work runs on threads, and stops when its client leaves or it takes too long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from ngramscan.errors import NgramscanError
from ngramscan.progress import Progress
from ngramscan.serve.turns import Job, Turns
from ngramscan.stopping import current_work

MOST_WORK_S = 60.0
"""How long the work of a request may take."""
MOST_WAITING_S = 10.0
"""How long a request waits for a thread to begin with it."""
_WATCHED_AFTER_S = 0.05
"""Most answers are ready by then: before it costs less not to look whether the client left."""

_T = TypeVar("_T")


class ClientLeftError(Exception):
    """The client has disconnected before its answer was ready."""


class BusyError(NgramscanError):
    """No thread has begun with a request in time."""

    def __init__(self) -> None:
        super().__init__("All threads are busy; come back later")


class TookTooLongError(NgramscanError):
    """The work of a request took too long."""

    def __init__(self) -> None:
        super().__init__(f"Stopped after {MOST_WORK_S:.0f} s; ask for less")


class Watch(Progress):
    """Stops work at its reports, as the loops of compiled code do it by themselves."""

    def expect(self, amount: int, unit: str) -> None:  # noqa: ARG002  the interface of Progress
        """Raise the error that stops the current work, or wait for its turn."""
        current_work().check()

    def advance(self, amount: int, unit: str) -> None:
        """Raise the error that stops the current work, or wait for its turn."""
        self.expect(amount, unit)


class Clients:
    """Gives the requests of clients to threads."""

    def __init__(self, concurrency: int) -> None:
        self._turns = Turns(concurrency)

    def new_job(self) -> Job:
        """Return the work of one request, without a task yet."""
        return Job(self._turns)

    async def serve(self, request: Request, job: Job, work: Callable[[], _T]) -> _T:
        """Return the result of a task of a request, or raise a ClientDisconnect.

        The request has to be read to its end. A BusyError says that no thread has begun with it,
        a TookTooLongError comes from the task.
        """
        result = self._turns.submit(job, work)
        try:
            await asyncio.wait([result], timeout=_WATCHED_AFTER_S)
            if not result.done():
                await _watch(request, job, result)
            return result.result()
        finally:
            if not result.done():
                result.cancel()
                job.stop(ClientLeftError)


async def _watch(request: Request, job: Job, result: asyncio.Future[Any]) -> None:
    """Wait for a result, or raise an error instead; stop what takes too long."""
    leaving = asyncio.create_task(_leave(request))

    async def wait(seconds: float | None) -> None:
        ended = asyncio.FIRST_COMPLETED
        await asyncio.wait([result, leaving], timeout=seconds, return_when=ended)
        if leaving.done() and not result.done():
            raise ClientDisconnect

    try:
        if not job.began_at:
            await wait(MOST_WAITING_S)
            if not job.began_at:
                raise BusyError
        await wait(max(0.0, MOST_WORK_S - job.seconds))
        if not result.done():
            job.stop(TookTooLongError)
            await wait(None)
    finally:
        leaving.cancel()


async def _leave(request: Request) -> None:
    """Wait until a client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
