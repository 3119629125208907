"""Formulas compared in processes of our own, which may be ended: algebra may take any time.

They are started as commands, not forked or spawned by `multiprocessing`: a fork would carry the
caller's threads and locks, a spawn would run the caller's script again. A task that takes too long
ends its process by an alarm: it is the kernel's and needs no help from Python, which may be deep in
one multiplication. So no process outlives its parent by more than that.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import resource
import signal
import subprocess
import sys
import warnings
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any

from evalcore.rules.base import Verdict
from evalcore.rules.mathematics import MathGold, MathTask, compare_formulas, compare_texts
from ngramscan.errors import InputError, WorkerLostError

MEMORY_BYTES = 2 << 30
"""Of one process; SymPy itself takes a tenth of it."""
START_SECONDS = 120.0
"""In which a process must have begun to answer."""
_COMMAND = (
    "import sys; sys.path[:] = sys.argv[2:]; from evalcore.rules.formula_pool import serve; "
    "serve(float(sys.argv[1]))"
)
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What a process gets to know of ours: no keys."""


def compare_all(
    tasks: Iterable[MathTask], seconds: float = 10.0, workers: int | None = None
) -> Generator[Verdict, None, None]:
    """Yield the verdict on each answer, in their order, while later ones are being compared.

    Parameters
    ----------
    tasks : iterable of MathTask
        Answers and golds.
    seconds : float
        How long one comparison may take.
    workers : int, optional
        Number of processes; by default one for each processor.

    Yields
    ------
    Verdict
        `failed` where the process crashed, was killed or took too long; the others go on.

    Raises
    ------
    InputError
        math-verify is not installed.
    WorkerLostError
        A process can't even start.
    """
    if importlib.util.find_spec("math_verify") is None:
        problem = "grading needs math-verify: pip install 'ngramscan[eval]'"
        raise InputError("mathematics", problem)
    idle: deque[_Worker] = deque()
    started: set[_Worker] = set()

    def compare(task: MathTask) -> Verdict:
        verdict = compare_texts(task)
        while verdict is None:
            try:
                worker = idle.pop()
            except IndexError:
                worker = _Worker(seconds)
                started.add(worker)
            verdict = worker.compare(task)
            if worker.is_usable:
                idle.append(worker)
            else:
                worker.close()
        return verdict

    threads = ThreadPoolExecutor(workers or os.cpu_count() or 1)
    try:
        yield from threads.map(compare, tasks)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in list(started):
            worker.kill()
        threads.shutdown()
        for worker in started:
            worker.close()


class _Worker:
    """One process, which compares one pair of formulas after the other."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND, repr(seconds), *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._is_new = True
        self.is_usable = True

    def compare(self, task: MathTask) -> Verdict | None:
        """Return the verdict; None: the process was gone before, and another must be asked."""
        if self._is_new and (crash := self._hear().get("crash")) is not None:
            raise WorkerLostError(f"grader: a process could not start: {crash}")
        self._is_new = self.is_usable = False
        answer, gold = task
        try:
            self._input.write(json.dumps([answer, *gold]).encode() + b"\n")
            self._input.flush()
        except BrokenPipeError:
            return None
        message = self._hear()
        if "crash" in message:
            return Verdict(None, f"grader: {message['crash']}", failed=True)
        self.is_usable = True
        return Verdict(**message)

    def _hear(self) -> dict[str, Any]:
        """Return what the process says next, or what became of it."""
        if not wait([self._output.fileno()], START_SECONDS + self._seconds):
            return {"crash": "the process does not answer"}
        line = self._output.readline()
        if line.endswith(b"\n"):
            return dict(json.loads(line))
        status = self._process.wait()
        if status == -signal.SIGALRM:
            return {"crash": f"time-out after {self._seconds:g} s"}
        if status < 0:
            return {"crash": f"the process was killed by {signal.Signals(-status).name}"}
        return {"crash": f"the process ended with exit status {status}"}

    def kill(self) -> None:
        """End the process; a thread that waits for it hears so."""
        self._process.kill()

    def close(self) -> None:
        """End the process and give back what it took."""
        self._process.kill()
        self._process.wait()
        self._output.close()
        with suppress(BrokenPipeError):
            self._input.close()


# In the process


def serve(seconds: float) -> None:
    """Compare what comes in, a JSON list a line, until the input ends; `seconds` for each."""
    warnings.simplefilter("ignore")
    logging.disable()
    with suppress(ValueError, OSError):  # macOS knows the limit but sets it only sometimes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.set_int_max_str_digits(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    sys.excepthook = _last_words
    compare_formulas(MathTask("x+1", MathGold("y+1")))  # imports what takes long
    _say({})
    for line in sys.stdin:
        answer, *gold = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        verdict = compare_formulas(MathTask(answer, MathGold(*gold)))
        signal.setitimer(signal.ITIMER_REAL, 0)
        _say(verdict._asdict())


def _last_words(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Say in one line what ends the process."""
    text = " ".join(str(error).split())[:200]
    _say({"crash": f"{kind.__name__}: {text}".rstrip(": ")})


def _say(message: dict[str, Any]) -> None:
    """Write one line at once."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
