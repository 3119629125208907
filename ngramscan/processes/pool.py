"""Tasks spread over processes of this machine; each is done exactly once, even if some are killed.

A ProcessPoolExecutor gives up all its tasks when one process is killed, and doesn't say which task
that process had. Here each process has its own pipe, so the task of a lost process is known, and
another process gets it.
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
from pathlib import Path
from typing import Any, Generic, TypeVar

from ngramscan.errors import NgramscanError, WorkerLostError
from ngramscan.messages import OptionUse

T = TypeVar("T")
R = TypeVar("R")
Report = Callable[[int], None]
"""Called with how much more of a task is done, in the task's own unit."""

LOSSES_PER_TASK = 3
"""A task fails after this many lost processes: it may be what kills them."""

_REPORT_EVERY_S = 0.1
_ENDING_S = 0.1


@dataclass(frozen=True, slots=True)
class Done(Generic[R]):
    """A task that was done, or that failed with an error of ours."""

    task: int
    result: R | None
    error: NgramscanError | None = None

    def value(self) -> R:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result


@dataclass(slots=True)
class Watch:
    """Callbacks for progress and lost workers."""

    report: Report
    notice: Callable[[str], None]


class _Worker:
    """One process, its pipe and its task.

    The process is a new interpreter that imports only what the work needs. A process started by
    multiprocessing would also import the user's main module, and so run a script without
    `if __name__ == "__main__"` again.
    """

    def __init__(self, work: Callable[[Any, Report], Any], threads: int) -> None:
        self.pipe, other_end = Pipe()
        end = other_end.fileno()
        life, self._life = os.pipe()
        imports = (
            f"import sys; sys.path[:] = {sys.path!r}; from ngramscan.processes import lifeline"
        )
        ends = f"lifeline.end_with({life})"
        works = f"from ngramscan.processes import pool; pool.do_tasks({end})"
        self.process = subprocess.Popen(
            [sys.executable, "-c", f"{imports}; {ends}; {works}"],
            pass_fds=[end, life],
            stdin=subprocess.DEVNULL,
            # Otherwise libraries start a thread per core in each process.
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
            # Ctrl-C reaches a whole group; the parent decides what it means.
            process_group=0,
        )
        # Now only the process has the other end, so the pipe ends when it does.
        other_end.close()
        os.close(life)
        self.pipe.send(work)
        self.task: int | None = None
        self.reported = 0

    def end(self) -> str:
        """End the process if it is still running; return how it ended."""
        self.pipe.close()
        try:
            # It may be ending by itself; how it ends is worth knowing.
            code = self.process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        os.close(self._life)
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def do_task(work: Callable[[T, Report], R], number: int, task: T, report: Report) -> Done[R]:
    """Do one task in this process."""
    try:
        return Done(number, work(task, report))
    except NgramscanError as error:
        return Done(number, None, error)
    except MemoryError:
        fewer = "use fewer " + OptionUse("workers")
        problem = "out of memory; " + fewer + ", or a machine with more memory"
        return Done(number, None, WorkerLostError(problem))


def do_tasks(descriptor: int) -> None:
    """Do tasks until the pipe ends; the main function of a worker process.

    It answers with numbers, which are reports, with a `Done` per task, or with the traceback of a
    crash.
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
        return  # the parent process has ended


def usable_cores() -> int:
    """Return the number of cores that this process may use; under Slurm, those of the job."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usable_memory() -> int | None:
    """Return the bytes of memory that processes may still take; None if the machine can't tell.

    This is the minimum of free memory and the limits of control groups, which batch systems set.
    """
    amounts = []
    with suppress(OSError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        amounts += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvail")]
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kind, path = line.split(":", 2)
            limit = {"": "memory.max", "memory": "memory/memory.limit_in_bytes"}.get(kind)
            root, _, name = f"/sys/fs/cgroup/{limit}".rpartition("/")
            group = Path(root, path.lstrip("/"))
            for folder in (group, *group.parents) if limit else ():
                with suppress(OSError, ValueError):  # no such file, or: max
                    amounts.append(int((folder / name).read_text()))
    return min(amounts, default=None)


def run_on_processes(
    work: Callable[[T, Report], R], tasks: Sequence[T], workers: int, watch: Watch
) -> Iterator[Done[R]]:
    """Do tasks on some processes, and yield each as it is done, in any order.

    `work` is a function of a module; tasks are sent to the processes, so they should be small. With
    one worker, or one task, this process does all.
    """
    if min(workers, len(tasks)) <= 1:
        yield from (do_task(work, n, task, watch.report) for n, task in enumerate(tasks))
        return
    n_processes = min(workers, len(tasks))
    run = _PoolRun(work, tasks, watch, max(1, usable_cores() // n_processes))
    try:
        for _ in range(n_processes):
            run.hire()
        while any(worker.task is not None for worker in run.workers):
            yield from run.collect()
    finally:
        for worker in run.workers:
            worker.end()


class _PoolRun(Generic[T, R]):
    """The tasks of one call, and the processes that do them."""

    def __init__(
        self, work: Callable[[T, Report], R], tasks: Sequence[T], watch: Watch, threads: int
    ) -> None:
        self._work, self._tasks, self._watch, self._threads = work, tasks, watch, threads
        self._waiting = deque(range(len(tasks)))
        self._losses = [0] * len(tasks)
        self.workers: list[_Worker] = []

    def hire(self) -> None:
        self.workers.append(_Worker(self._work, self._threads))
        self._give_next(self.workers[-1])

    def _give_next(self, worker: _Worker) -> None:
        worker.task = self._waiting.popleft() if self._waiting else None
        worker.reported = 0
        if worker.task is not None:
            # It may have been killed while idle: that shows when its pipe is read.
            with suppress(OSError):
                worker.pipe.send((worker.task, self._tasks[worker.task]))

    def collect(self) -> Iterator[Done[R]]:
        """Wait for an answer or a loss, and yield the tasks that are done."""
        ready = wait([worker.pipe for worker in self.workers])
        for worker in [worker for worker in self.workers if worker.pipe in ready]:
            try:
                while worker.pipe.poll():
                    answer = worker.pipe.recv()
                    if isinstance(answer, str):
                        raise RuntimeError(f"a worker process failed:\n{answer}")
                    if isinstance(answer, Done):
                        self._give_next(worker)
                        yield answer
                    else:
                        worker.reported += answer
                        self._watch.report(answer)
            except (EOFError, OSError):
                yield from self._lose(worker)

    def _lose(self, worker: _Worker) -> Iterator[Done[R]]:
        self.workers.remove(worker)
        ending, task = worker.end(), worker.task
        if task is not None:
            self._losses[task] += 1
            self._watch.report(-worker.reported)
            if self._losses[task] < LOSSES_PER_TASK:
                self._waiting.appendleft(task)
                self._watch.notice(f"a worker process was lost ({ending}); another does its task")
            else:
                problem = f"lost {LOSSES_PER_TASK} times at the same task ({ending})"
                hint = "if memory ran out, " + OptionUse("workers", 1) + " needs less"
                yield Done(task, None, WorkerLostError(f"a worker process was {problem}; " + hint))
        if self._waiting:
            self.hire()
