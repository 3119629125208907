"""Requests whose work runs on threads, and stops if the client leaves or time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from ngramscan.errors import NgramscanError
from ngramscan.progress import Progress
from ngramscan.serve.turns import RequestWork, Turns
from ngramscan.stopping import current_work

MOST_WORK_S = 60.0
"""How long the work of a request may take."""
_MORE_S = 5.0
"""After a timeout, how long its error response may take before the work is stopped again."""
MOST_WAITING_S = 10.0
"""How long a request waits for a thread."""
_WATCHED_AFTER_S = 0.05
"""Most responses are ready by then; watching for disconnects earlier would cost more."""

_T = TypeVar("_T")


class ClientLeftError(Exception):
    """The client has disconnected before its answer was ready."""


class BusyError(NgramscanError):
    """No thread became free for a request in time."""

    def __init__(self) -> None:
        super().__init__("All threads are busy; come back later")


class TookTooLongError(NgramscanError):
    """The work of a request took too long."""

    def __init__(self) -> None:
        super().__init__(f"Stopped after {MOST_WORK_S:.0f} s; ask for less")


class StoppableProgress(Progress):
    """Stops work when it reports progress; the loops of compiled code stop by themselves."""

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

    def new_job(self) -> RequestWork:
        """Return the work of one request, without a task yet."""
        return RequestWork(self._turns)

    async def serve(self, request: Request, job: RequestWork, work: Callable[[], _T]) -> _T:
        """Return the result of a task of a request, or raise a ClientDisconnect.

        The request has to be read to its end. A BusyError says that no thread became free; a
        TookTooLongError comes from the task.
        """
        result = self._turns.submit(job, work)
        watch = _ClientWatch(request, job, result)
        timer = asyncio.get_running_loop().call_later(_WATCHED_AFTER_S, watch.begin)
        try:
            return await result
        finally:
            timer.cancel()
            watch.end()


class _ClientWatch:
    """Ends the wait for a result when the client leaves, and stops what takes too long."""

    def __init__(self, request: Request, job: RequestWork, result: asyncio.Future[Any]) -> None:
        self._request, self._job, self._result = request, job, result
        self._task: asyncio.Task[None] | None = None
        self._has_failed = False
        """The result is an error of this watch, not of the work."""

    def begin(self) -> None:
        """Start to watch the client."""
        self._task = asyncio.create_task(self._look())

    def end(self) -> None:
        """Stop the work if it is unfinished: the client has left, or the server ends."""
        if self._task:
            self._task.cancel()
        if self._has_failed or self._result.cancelled():
            self._job.stop(ClientLeftError)

    async def _look(self) -> None:
        leaving = asyncio.create_task(_leave(self._request))
        try:
            if not self._job.began_at:
                await self._wait(leaving, MOST_WAITING_S)
                if not self._job.began_at:
                    self._fail(BusyError())
            await self._wait(leaving, max(0.0, MOST_WORK_S - self._job.seconds))
            while not self._result.done():
                self._job.stop(TookTooLongError)
                await self._wait(leaving, _MORE_S)
        finally:
            leaving.cancel()

    async def _wait(self, leaving: asyncio.Task[None], seconds: float) -> None:
        """Wait for the result, with a timeout; raise an error if the client leaves."""
        first = asyncio.FIRST_COMPLETED
        await asyncio.wait([self._result, leaving], timeout=seconds, return_when=first)
        if leaving.done():
            self._fail(ClientDisconnect())

    def _fail(self, error: Exception) -> None:
        if not self._result.done():
            self._has_failed = True
            self._result.set_exception(error)


async def _leave(request: Request) -> None:
    """Wait until a client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
