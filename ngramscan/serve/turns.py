"""Threads on which requests take turns, so that long work doesn't hold up short work.

The number of jobs that run at a time is limited. If others wait, a job that has run for `TURN_S` is
asked to pause: its thread waits, and another one begins a new job or continues the job that has run
least. To avoid starvation of long jobs, the one that has waited longest regularly gets a turn.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from ngramscan.errors import NgramscanError
from ngramscan.stopping import GO, PAUSE, STOP, Work, working_on

TURN_S = 0.005
"""How long a job runs before it is asked to pause, if others wait."""
_SHARE_OF_NEW = 3
"""The ratio of running time of new jobs to paused jobs, if both wait."""

_USUAL_SWITCH_S = sys.getswitchinterval()
_SHORT_SWITCH_S = 0.0005
"""The interpreter's switch interval while there is long work. Short work releases the interpreter
at each call of compiled code, and waits this long to get it back from long work in Python. If all
work is short, switching more often only costs time."""

_T = TypeVar("_T")


class RequestWork(Work):
    """The work of one request: one task after the other."""

    def __init__(self, turns: Turns) -> None:
        super().__init__()
        self._turns = turns
        self.stopped_by: type[Exception] | None = None
        self.may_go_on = threading.Event()
        """Set when its turn has come again, or when it is stopped."""
        self.began_at = 0.0
        """The start of its current or last turn; 0 before the first one."""
        self.seconds = 0.0
        """The total time of its turns."""

    def stop(self, error: type[Exception]) -> None:
        """Make the threads of this job raise an error, at the latest at their next check."""
        self._turns.stop(self, error)

    def look(self) -> None:
        """Wait for a turn if others wait; raise the error that stops this job."""
        self._turns.pause(self)
        if error := self._turns.take_error(self):
            raise error


@dataclass(eq=False, slots=True)
class _QueuedTask:
    """A part of a job for a thread; the result is passed to the loop."""

    job: RequestWork
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Any]

    def run(self) -> Callable[[], None]:
        """Do the work; return a function that passes its result or error on, in the loop."""
        try:
            with working_on(self.job):
                self.job.check()
                return partial(self.result.set_result, self.work())
        except Exception as error:  # noqa: BLE001 - raised in the loop that waits
            return partial(self.result.set_exception, error)

    def deliver(self, hand_over: Callable[[], None]) -> None:
        """Let the loop hand over what `run` returned."""
        with suppress(RuntimeError):  # the loop is closed: the server ends
            self.loop.call_soon_threadsafe(self._hand_over, hand_over)

    def _hand_over(self, hand_over: Callable[[], None]) -> None:
        if not self.result.done():  # else its client left
            hand_over()


class Turns:
    """Runs tasks on daemon threads, with a limit on how many run at a time."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._lock = threading.Lock()
        """The lock of all attributes below."""
        self._new = deque[_QueuedTask]()
        self._paused: list[RequestWork] = []
        """Paused jobs; those that have waited longest come first."""
        self._running = set[RequestWork]()
        self._admitted = SimpleQueue[_QueuedTask]()
        """Tasks with a place, each for a free thread or one that was started for it."""
        self._free_threads = 0
        self._paused_waits_until = 0.0
        """Until then, new jobs take precedence over paused ones."""
        self._is_watched = False
        """Jobs that run too long are soon asked to pause."""
        self._has_long_work = False

    def submit(self, job: RequestWork, work: Callable[[], _T]) -> asyncio.Future[_T]:
        """Run a task of a job; the loop that calls this gets the result."""
        loop = asyncio.get_running_loop()
        task = _QueuedTask(job, work, loop, loop.create_future())
        with self._lock:
            self._switch_by_length_of_work()
            self._new.append(task)
            self._admit()
            is_unwatched = self._has_waiting() and not self._is_watched
            self._is_watched |= is_unwatched
            if self._new:
                self._interrupt()
        if is_unwatched:
            loop.call_later(TURN_S, self._ask_to_pause, loop)
        return task.result

    def pause(self, job: RequestWork) -> None:
        """If the job was asked to pause, wait for its next turn."""
        with self._lock:
            if job.flag[0] != PAUSE:
                return
            if job in self._running:  # else another thread of the job has given up its place
                self._end_turn(job)
                self._paused.append(job)
                self._admit()
        job.may_go_on.wait()

    def stop(self, job: RequestWork, error: type[Exception]) -> None:
        """Make the threads of a job raise an error at their next check."""
        with self._lock:
            job.stopped_by = job.stopped_by or error
            job.flag[0] = STOP
            job.may_go_on.set()

    def take_error(self, job: RequestWork) -> type[Exception] | None:
        """Return the error that stops a job; an error for the client is returned once.

        Its response is still to be made; if that takes long, the job is stopped again.
        """
        with self._lock:
            error = job.stopped_by
            if error is not None and issubclass(error, NgramscanError):
                job.stopped_by = None
                job.flag[0] = GO
            return error

    def _has_waiting(self) -> bool:
        return bool(self._new or self._paused)

    def _admit(self, by_free_thread: bool = False) -> _QueuedTask | None:
        """Give the free places to waiting jobs.

        If the calling thread is free, return a task for it: waking another thread takes longer than
        most searches.
        """
        own_task: _QueuedTask | None = None
        while self._has_waiting() and len(self._running) < self._places:
            now = time.monotonic()
            job = self._next_paused(now)
            if job is not None:
                self._paused.remove(job)
                self._let_go_on(job)
            elif self._new[0].result.done():  # its client left, or was refused
                self._new.popleft()
                continue
            else:
                task = self._new.popleft()
                if by_free_thread and own_task is None:
                    own_task = task
                else:
                    self._employ(task)
                job = task.job
            job.began_at = now
            self._running.add(job)
        return own_task

    def _next_paused(self, now: float) -> RequestWork | None:
        """Return the paused job to continue; None if a new one is to begin."""
        if self._paused and self._new and now >= self._paused_waits_until:
            return self._paused[0]
        if self._new:
            return None
        return min(self._paused, key=lambda job: job.seconds)

    def _let_go_on(self, job: RequestWork) -> None:
        """Withdraw the request to pause a job."""
        if job.flag[0] == PAUSE:
            job.flag[0] = GO
        job.may_go_on.set()

    def _end_turn(self, job: RequestWork) -> None:
        """Take the place of a job."""
        self._running.discard(job)
        now = time.monotonic()
        turn_s = now - job.began_at
        if job.seconds:
            rest_s = _SHARE_OF_NEW * turn_s / self._places
            self._paused_waits_until = max(self._paused_waits_until, now) + rest_s
        job.seconds += turn_s

    def _employ(self, task: _QueuedTask) -> None:
        """Give a task to a free thread, or to a new one."""
        if self._free_threads:
            self._free_threads -= 1
        else:
            threading.Thread(target=self._work, name="search", daemon=True).start()
        self._admitted.put(task)

    def _work(self) -> None:
        """Run tasks one after the other; the main function of a thread."""
        task = self._admitted.get()
        while True:
            hand_over = task.run()
            with self._lock:
                self._finish(task.job)
                following = self._admit(by_free_thread=True)
                if following is None:
                    self._free_threads += 1
            task.deliver(hand_over)  # now that the next task of the job may begin
            task = following or self._admitted.get()

    def _finish(self, job: RequestWork) -> None:
        """Take the place of a job whose task is done, and let its other threads continue."""
        if job in self._running:
            self._end_turn(job)
        else:  # it was stopped while it waited
            self._paused.remove(job)
        self._let_go_on(job)

    def _ask_to_pause(self, loop: asyncio.AbstractEventLoop) -> None:
        """As long as others wait, ask jobs to pause after their turn."""
        with self._lock:
            self._is_watched = self._has_waiting()
            if not self._is_watched:
                return
            self._interrupt()
        loop.call_later(TURN_S, self._ask_to_pause, loop)

    def _switch_by_length_of_work(self) -> None:
        """Switch threads more often while there is long work."""
        has_long_work = bool(self._paused) or any(self._is_long(job) for job in self._running)
        if has_long_work != self._has_long_work:
            self._has_long_work = has_long_work
            sys.setswitchinterval(_SHORT_SWITCH_S if has_long_work else _USUAL_SWITCH_S)

    @staticmethod
    def _is_long(job: RequestWork) -> bool:
        return bool(job.seconds) or time.monotonic() - job.began_at >= TURN_S

    def _interrupt(self) -> None:
        """Ask the jobs whose turn is over to pause."""
        now = time.monotonic()
        for job in self._running:
            if now - job.began_at >= TURN_S and job.flag[0] == GO:
                job.may_go_on.clear()
                job.flag[0] = PAUSE
