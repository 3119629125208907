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
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

from ngramscan.errors import NgramscanError, WorkerLostError

T = TypeVar("T")
R = TypeVar("R")
Report = Callable[[int], None]
"""Takes how much more of a task is done, in a unit of the task's own."""

LOSSES_PER_TASK = 3
"""A task is given up after so many lost processes: it may be what kills them."""

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
    """Callbacks for progress and lost workers."""

    report: Report
    notice: Callable[[str], None]


class _Worker:
    """One process, its pipe, and the task that it has.

    The process is a new interpreter that imports nothing but what the work needs. One that
    multiprocessing starts would import the user's main module too, and so call whoever called us
    once more where a script has no `if __name__ == "__main__"`.
    """

    def __init__(self, work: Callable[[Any, Report], Any]) -> None:
        self.pipe, other_end = Pipe()
        end = other_end.fileno()
        imports = f"import sys; sys.path[:] = {sys.path!r}; from ngramscan.processes import pool"
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{imports}; pool.do_tasks({end})"],
            pass_fds=[end],
            stdin=subprocess.DEVNULL,
            # Ctrl-C goes to a whole group; the parent decides what it means.
            process_group=0,
        )
        # Only the process has the other end now, so the pipe ends when it does.
        other_end.close()
        self.pipe.send(work)
        self.task: int | None = None
        self.reported = 0

    def end(self) -> str:
        """End the process, if it has not ended itself, and return how it ended."""
        self.pipe.close()
        try:
            # It may be ending by itself, and how is worth knowing.
            code = self.process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def do_task(work: Callable[[T, Report], R], number: int, task: T, report: Report) -> Done[R]:
    """Do one task in this process."""
    try:
        return Done(number, work(task, report))
    except NgramscanError as error:
        return Done(number, None, error)


def do_tasks(descriptor: int) -> None:
    """Do tasks until the pipe ends; what a worker process does.

    It answers with numbers, which are reports, a `Done` per task, or the traceback of a crash.
    """
    pipe: Connection[Any, Any] = Connection(descriptor)
    amount, sent_at = 0, time.monotonic()

    def report(more: int) -> None:
        nonlocal amount, sent_at
        amount += more
        if time.monotonic() - sent_at > _REPORT_EVERY_S:
            pipe.send(amount)
            amount, sent_at = 0, time.monotonic()

    try:
        work = pipe.recv()
        while True:
            number, task = pipe.recv()
            try:
                answer: Done[Any] | str = do_task(work, number, task, report)
            except Exception:  # noqa: BLE001 - a mistake of ours: raised again in the parent
                answer = traceback.format_exc()
            pipe.send(amount)
            amount = 0
            pipe.send(answer)
    except (EOFError, OSError):
        return  # the parent has ended


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
        A function of a module, called in the processes with a task and a `Report`.
    tasks : sequence
        What it is called with; small, since it is sent.
    workers : int
        Processes at once. With one, or one task, all is done in this process.
    watch : Watch
        Hears of progress and lost processes.
    """
    if min(workers, len(tasks)) <= 1:
        yield from (do_task(work, n, task, watch.report) for n, task in enumerate(tasks))
        return
    run = _Run(work, tasks, watch)
    try:
        for _ in range(min(workers, len(tasks))):
            run.hire()
        while run.open:
            yield from run.collect()
    finally:
        for worker in run.workers:
            worker.end()


class _Run(Generic[T, R]):
    """The tasks of one call, and the processes that do them."""

    def __init__(self, work: Callable[[T, Report], R], tasks: Sequence[T], watch: Watch) -> None:
        self._work = work
        self._tasks = tasks
        self._watch = watch
        self._waiting = deque(range(len(tasks)))
        self._losses = [0] * len(tasks)
        self.workers: list[_Worker] = []
        self.open = len(tasks)
        """How many tasks are not done."""

    def hire(self) -> None:
        self.workers.append(_Worker(self._work))
        self._give_next(self.workers[-1])

    def _give_next(self, worker: _Worker) -> None:
        worker.task = self._waiting.popleft() if self._waiting else None
        worker.reported = 0
        if worker.task is not None:
            # It may have been killed while it had nothing to do: that shows when it is read from.
            with suppress(OSError):
                worker.pipe.send((worker.task, self._tasks[worker.task]))

    def collect(self) -> Iterator[Done[R]]:
        """Wait for something to happen, and yield what was done."""
        pipes = {worker.pipe: worker for worker in self.workers}
        for pipe in wait(list(pipes)):
            worker = pipes[pipe]  # type: ignore[index]
            try:
                while worker.pipe.poll():
                    yield from self._take(worker, worker.pipe.recv())
            except (EOFError, OSError):
                yield from self._lose(worker)

    def _take(self, worker: _Worker, answer: int | str | Done[R]) -> Iterator[Done[R]]:
        if isinstance(answer, int):
            worker.reported += answer
            self._watch.report(answer)
        elif isinstance(answer, str):
            raise RuntimeError(f"a worker process failed:\n{answer}")
        else:
            self.open -= 1
            self._give_next(worker)
            yield answer

    def _lose(self, worker: _Worker) -> Iterator[Done[R]]:
        self.workers.remove(worker)
        how, task = worker.end(), worker.task
        if task is not None:
            self._losses[task] += 1
            self._watch.report(-worker.reported)
            if self._losses[task] < LOSSES_PER_TASK:
                self._waiting.appendleft(task)
                self._watch.notice(f"a worker process was lost ({how}); another does its task")
            else:
                self.open -= 1
                problem = f"lost {LOSSES_PER_TASK} times at the same task ({how})"
                hint = "if memory ran out, --workers 1 needs less"
                yield Done(task, None, WorkerLostError(f"a worker process was {problem}; {hint}"))
        if self._waiting:
            self.hire()
