"""Grading in processes of our own, which may be ended: answers are compared by algebra of any cost.

They are started as commands, not forked or spawned by `multiprocessing`: a fork would carry the
caller's threads and locks, a spawn would run the caller's script again.
"""

from __future__ import annotations

import importlib.util
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Self

from evalcore.scoring.base import Verdict
from evalcore.scoring.mathematics import MathTask, judged_by_text
from ngramscan.errors import InputError, WorkerLostError

MEMORY_BYTES = 2 << 30
"""Of one process; SymPy itself takes a tenth of it."""
START_SECONDS = 120.0
"""In which a process must have begun to answer."""
_COMMAND = (
    "import sys; sys.path[:] = sys.argv[3:]; from evalcore.scoring.math_worker import serve; "
    "serve(float(sys.argv[1]), int(sys.argv[2]))"
)

_ENVIRONMENT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What a process gets to know of ours: no keys."""


class Worker:
    """One process, and the task it is busy with."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        arguments = [repr(seconds), str(MEMORY_BYTES), *sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._heard = b""
        self._ready = False
        self.deadline = 0.0
        """When it must have answered, on the monotonic clock; its own alarm rings before."""
        self.usable = True
        """It has not crashed, ended or been found too slow."""
        self.task: int | None = None
        """The number of the task it is busy with."""

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def fileno(self) -> int:
        """Return what to wait for."""
        return self._output.fileno()

    def begin(self, number: int, task: MathTask) -> bool:
        """Hand it a task.

        Parameters
        ----------
        number : int
            By which the caller knows the task.
        task : MathTask
            What to judge.

        Returns
        -------
        bool
            False: the process is gone, and another must be asked.
        """
        line = json.dumps(asdict(task)) + "\n"
        try:
            self._input.write(line.encode())
            self._input.flush()
        except BrokenPipeError:
            return False
        self.task = number
        self.deadline = time.monotonic() + self._seconds + START_SECONDS
        return True

    def hear(self) -> Verdict | None:
        """Read what has arrived; return the verdict when it is complete."""
        arrived = os.read(self.fileno(), 1 << 16)
        self._heard += arrived
        while b"\n" in self._heard:
            line, _, self._heard = self._heard.partition(b"\n")
            message = json.loads(line)
            if "crash" in message:
                return self._failed(message["crash"])
            if "ready" not in message:
                return Verdict(**message)
            self._ready = True
        return None if arrived else self._failed(self._how_it_ended())

    def _failed(self, what: str) -> Verdict:
        """Return the verdict on a task that nobody could judge; raise if none ever will be."""
        self.usable = False
        if not self._ready:
            raise WorkerLostError(f"grader: a process could not start: {what}")
        return Verdict(None, f"grader: {what}", failed=True)

    def _how_it_ended(self) -> str:
        """Return what became of the process, which has closed its output."""
        status = self._process.wait()
        if status == -signal.SIGALRM:
            return f"time-out after {self._seconds:g} s"
        if status < 0:
            return f"the process was killed by {signal.Signals(-status).name}"
        return f"the process ended with exit status {status}"

    def close(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
        self._output.close()
        with suppress(BrokenPipeError):
            self._input.close()


@dataclass
class _Progress:
    """Where one run through the tasks stands."""

    waiting: deque[tuple[int, MathTask]] = field(default_factory=deque)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    taken: int = 0
    given: int = 0


class Graders:
    """Processes that judge answers, kept from one run to the next.

    Parameters
    ----------
    workers : int, optional
        How many processes; by default one for each processor.
    seconds : float
        What the comparison of one answer may take.

    Raises
    ------
    InputError
        math-verify is not installed, or a number is not positive.
    """

    def __init__(self, workers: int | None = None, seconds: float = 10.0) -> None:
        if importlib.util.find_spec("math_verify") is None:
            problem = "grading needs math-verify: pip install 'ngramscan[eval]'"
            raise InputError("mathematics", problem)
        self._size = workers if workers is not None else os.cpu_count() or 1
        if self._size < 1 or seconds <= 0:
            raise InputError("graders", f"{self._size} processes of {seconds:g} s; more than 0")
        self._seconds = seconds
        self._workers: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    @property
    def pids(self) -> list[int]:
        """Of the processes that run."""
        return [worker.pid for worker in self._workers]

    def grade(self, tasks: Iterable[MathTask]) -> Generator[Verdict, None, None]:
        """Yield the verdict on each task, in their order, while later ones are being judged.

        Parameters
        ----------
        tasks : iterable of MathTask
            Read a little ahead of what was yielded.

        Yields
        ------
        Verdict
            `failed` where the grader crashed, was killed or took too long; the others go on.

        Raises
        ------
        WorkerLostError
            A process can't even start.
        """
        coming = iter(tasks)
        state = _Progress()
        try:
            while True:
                self._take(coming, state)
                if state.taken == state.given:
                    return
                self._hand_out(state)
                if state.given not in state.verdicts:
                    self._listen(state)
                while state.given in state.verdicts:
                    state.given += 1
                    yield state.verdicts.pop(state.given - 1)
        finally:
            for worker in [one for one in self._workers if one.task is not None]:
                self._discard(worker)

    def _take(self, coming: Iterator[MathTask], state: _Progress) -> None:
        """Read tasks, enough for every process; those that need no algebra are judged at once."""
        while state.taken - state.given < 8 * self._size:
            task = next(coming, None)
            if task is None:
                return
            verdict = judged_by_text(task)
            if verdict is None:
                state.waiting.append((state.taken, task))
            else:
                state.verdicts[state.taken] = verdict
            state.taken += 1

    def _hand_out(self, state: _Progress) -> None:
        """Give every idle process a task; start one where there are fewer than may be."""
        while state.waiting:
            idle = next((one for one in self._workers if one.task is None), None)
            if idle is None:
                if len(self._workers) == self._size:
                    return
                idle = Worker(self._seconds)
                self._workers.append(idle)
            if idle.begin(*state.waiting[0]):
                state.waiting.popleft()
            else:
                self._discard(idle)

    def _listen(self, state: _Progress) -> None:
        """Wait until a process has said something or is overdue."""
        busy = [worker for worker in self._workers if worker.task is not None]
        with selectors.DefaultSelector() as selector:
            for worker in busy:
                selector.register(worker, selectors.EVENT_READ, worker)
            nearest = min(worker.deadline for worker in busy)
            heard = selector.select(max(0.0, nearest - time.monotonic()))
        speaking = [key.data for key, _ in heard]
        for worker in speaking:
            verdict = worker.hear()
            if verdict is not None:
                self._settle(state, worker, verdict)
        for worker in busy:
            if worker not in speaking and worker.deadline <= time.monotonic():
                overdue = Verdict(None, "grader: the process does not answer", failed=True)
                worker.usable = False
                self._settle(state, worker, overdue)

    def _settle(self, state: _Progress, worker: Worker, verdict: Verdict) -> None:
        """Keep a verdict; a process that is of no more use is replaced."""
        assert worker.task is not None
        state.verdicts[worker.task] = verdict
        worker.task = None
        if not worker.usable:
            self._discard(worker)

    def _discard(self, worker: Worker) -> None:
        """End a process; the next task starts another."""
        worker.close()
        self._workers.remove(worker)
