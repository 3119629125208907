"""Tasks over processes of this machine; each is done exactly once, though processes are lost.

Not a ProcessPoolExecutor: it gives up all of its tasks when one process is killed, and does not say
which task that process had. Here each process has a pipe of its own, so the task of a lost one is
known, and given to another.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from ngramscan.errors import NgramscanError, WorkerLostError

T = TypeVar("T")
R = TypeVar("R")
Report = Callable[[int], None]
"""Told how much of a task is done, in a unit of the task's own."""

LOSSES_PER_TASK = 3
"""A task whose process was lost so often is given up: it may be what kills them."""

_REPORT_EVERY_S = 0.1
_ENDING_S = 0.1


@dataclass(frozen=True, slots=True)
class Done(Generic[R]):
    """A task that was done, or failed in an anticipated way."""

    task: int
    result: R | None
    error: NgramscanError | None = None


@dataclass(slots=True)
class Watch:
    """What whoever runs tasks is told of meanwhile."""

    report: Report
    """Amounts done, as the tasks report them."""
    notice: Callable[[str], None]
    """That something was lost, for people."""


class _Worker:
    """One process, its pipe, and the task that it has.

    The process is a new interpreter that imports nothing but what the work needs. One that
    multiprocessing starts would import the user's main module too, and so call whoever called us
    once more where a script has no `if __name__ == "__main__"`.
    """

    def __init__(self, work: Callable[[Any, Report], Any]) -> None:
        self.pipe, other_end = Pipe()
        program = (
            f"import sys; sys.path[:] = {sys.path!r}; from ngramscan.processes.pool import serve"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{program}; serve({other_end.fileno()})"],
            pass_fds=[other_end.fileno()],
            stdin=subprocess.DEVNULL,
            # Ctrl-C goes to a whole group; the parent decides what it means.
            process_group=0,
        )
        # Only the process has the other end now, so the pipe ends when it does.
        other_end.close()
        self.pipe.send(work)
        self.task: int | None = None
        self.reported = 0

    def give(self, number: int, task: object) -> None:
        self.task, self.reported = number, 0
        self.pipe.send((number, task))

    def end(self) -> int:
        """End the process, if it has not ended itself, and return its exit code."""
        self.pipe.close()
        try:
            # It may be ending by itself, and how is worth knowing.
            return self.process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def serve(descriptor: int) -> None:
    """Do tasks until the pipe ends; what a worker process does."""
    pipe: Connection[Any, Any] = Connection(descriptor)
    try:
        work = pipe.recv()
        report = _Reporter(pipe)
        while True:
            number, task = pipe.recv()
            try:
                answer = ("done", work(task, report))
            except NgramscanError as error:
                answer = ("failed", error)
            except Exception:  # noqa: BLE001 - a mistake of ours: raised again in the parent
                answer = ("crashed", traceback.format_exc())
            report.flush()
            pipe.send((number, *answer))
    except (EOFError, OSError):
        return  # the parent has ended


class _Reporter:
    """Sends amounts through a pipe, some at a time."""

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe
        self._amount = 0
        self._sent_at = time.monotonic()

    def __call__(self, amount: int) -> None:
        self._amount += amount
        if time.monotonic() - self._sent_at > _REPORT_EVERY_S:
            self.flush()

    def flush(self) -> None:
        if self._amount:
            self._pipe.send((None, "report", self._amount))
        self._amount, self._sent_at = 0, time.monotonic()


def usable_cores() -> int:
    """Return how many cores this process may use; under Slurm fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_on_processes(
    work: Callable[[T, Report], R], tasks: Sequence[T], workers: int, watch: Watch
) -> Iterator[Done[R]]:
    """Do tasks on some processes and yield each as it is done, in any order.

    Parameters
    ----------
    work : callable
        A function of a module: it is called in the processes with a task and a `Report`.
    tasks : sequence
        What it is called with; small, as it is sent.
    workers : int
        Processes at once. With one, or one task, all is done in this process.
    watch : Watch
        Told of progress and lost processes.
    """
    if min(workers, len(tasks)) <= 1:
        yield from _run_here(work, tasks, watch)
        return
    run = _Run(work, tasks, watch)
    try:
        run.start(min(workers, len(tasks)))
        while run.open:
            yield from run.collect()
    finally:
        run.end()


def _run_here(
    work: Callable[[T, Report], R], tasks: Sequence[T], watch: Watch
) -> Iterator[Done[R]]:
    for number, task in enumerate(tasks):
        try:
            yield Done(number, work(task, watch.report))
        except NgramscanError as error:
            yield Done(number, None, error)


class _Run(Generic[T, R]):
    """The tasks of one call, and the processes that do them."""

    def __init__(self, work: Callable[[T, Report], R], tasks: Sequence[T], watch: Watch) -> None:
        self._work = work
        self._tasks = tasks
        self._watch = watch
        self._waiting = deque(range(len(tasks)))
        self._losses = [0] * len(tasks)
        self._workers: list[_Worker] = []
        self.open = len(tasks)
        """How many tasks are not done."""

    def start(self, workers: int) -> None:
        for _ in range(workers):
            self._hire()

    def _hire(self) -> None:
        worker = _Worker(self._work)
        self._workers.append(worker)
        self._give_next(worker)

    def _give_next(self, worker: _Worker) -> None:
        worker.task = None
        if self._waiting:
            number = self._waiting.popleft()
            try:
                worker.give(number, self._tasks[number])
            except OSError:  # it was killed while it had nothing to do
                worker.task = number

    def collect(self) -> Iterator[Done[R]]:
        """Wait for something to happen, and yield what was done."""
        pipes = {worker.pipe: worker for worker in self._workers}
        for pipe in wait(list(pipes)):
            worker = pipes[pipe]  # type: ignore[index]
            try:
                while worker.pipe.poll():
                    yield from self._take(worker, worker.pipe.recv())
            except (EOFError, OSError):
                yield from self._lose(worker)

    def _take(self, worker: _Worker, message: tuple[int, str, Any]) -> Iterator[Done[R]]:
        number, kind, content = message
        if kind == "report":
            worker.reported += content
            self._watch.report(content)
            return
        if kind == "crashed":
            raise RuntimeError(f"a worker process failed:\n{content}")
        self.open -= 1
        self._give_next(worker)
        yield Done(number, content) if kind == "done" else Done(number, None, content)

    def _lose(self, worker: _Worker) -> Iterator[Done[R]]:
        self._workers.remove(worker)
        how = _how(worker.end())
        number = worker.task
        if number is not None:
            self._losses[number] += 1
            self._watch.report(-worker.reported)
            if self._losses[number] < LOSSES_PER_TASK:
                self._waiting.appendleft(number)
                self._watch.notice(f"a worker process was lost ({how}); another does its task")
            else:
                self.open -= 1
                problem = (
                    f"a worker process was lost {LOSSES_PER_TASK} times at the same task ({how})"
                )
                hint = "if memory ran out, --workers 1 needs less"
                yield Done(number, None, WorkerLostError(f"{problem}; {hint}"))
        if self._waiting:
            self._hire()

    def end(self) -> None:
        for worker in self._workers:
            worker.end()


def _how(code: int) -> str:
    if code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"
