"""Formulas compared in processes of our own, which may be ended: algebra may take any time.

They are started as commands, not forked or spawned by `multiprocessing`: a fork would carry the
caller's threads and locks, a spawn would run the caller's script again. An alarm of the kernel
ends one whose task takes too long, without help from Python, which may be deep in a multiplication.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from evalcore.formats import Problem
from evalcore.rules import Item, Verdict
from evalcore.rules.notation import levels, squeezed, why_a_judge
from ngramscan.errors import InputError, WorkerLostError

MAX_CHARACTERS = 10_000
MAX_DEPTH = 60  # of brackets
MEMORY_BYTES = 2 << 30  # of one process; SymPy itself takes a tenth of it
START_SECONDS = 120.0  # in which a process must have begun to answer
_COMMAND = (
    "import sys; sys.path[:] = sys.argv[3:]; from evalcore.rules.formula_pool import serve; "
    "serve(int(sys.argv[1]), float(sys.argv[2]))"
)
_FIRST = Item(Problem("", "", "y+1"), "x+1")
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # no keys


def compare_all(
    items: Iterable[Item], seconds: float = 10.0, workers: int | None = None
) -> Generator[Verdict, None, None]:
    """Yield the verdict on each answer, in their order, while later ones are being compared.

    It is `failed` where a process crashed, was killed or took more than `seconds`.
    """
    if importlib.util.find_spec("math_verify") is None:
        raise InputError("mathematics", "grading needs math-verify: pip install 'ngramscan[eval]'")
    own, started = threading.local(), list[_Worker]()

    def compare(item: Item) -> Verdict:
        if (verdict := compare_texts(item)) is not None:
            return verdict
        worker: _Worker | None = getattr(own, "worker", None)
        if worker is None or worker.process.poll() is not None:
            worker = own.worker = _Worker(seconds)
            started.append(worker)
        return worker.compare(item)

    threads = ThreadPoolExecutor(workers or os.cpu_count() or 1)
    try:
        yield from threads.map(compare, items)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in list(started):
            worker.process.kill()  # a thread that waits for it hears so
        threads.shutdown()
        for worker in started:
            worker.close()


def compare_texts(item: Item) -> Verdict | None:
    """Return the verdict where the text alone decides; None where algebra is needed."""
    answer, gold = str(item.value), item.problem.gold or ""
    if len(answer) > MAX_CHARACTERS:
        return Verdict(0.0, f"longer than {MAX_CHARACTERS:,} characters")
    if max(levels(answer), default=0) > MAX_DEPTH:
        return Verdict(0.0, f"brackets nested deeper than {MAX_DEPTH}")
    if squeezed(answer) == squeezed(gold) != "":
        return Verdict(1.0, "the same text")
    why = why_a_judge(gold)
    return Verdict(None, f"needs a judge: the reference answer is {why}") if why else None


class _Worker:
    """One process, which compares one pair of formulas after the other."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.connection, theirs = Pipe()
        arguments = [str(theirs.fileno()), str(seconds), *sys.path]
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                start_new_session=True,  # Ctrl-C is the parent's to handle
            )
        if (ready := self.compare(_FIRST)).failed:
            problem = ready.reason.removeprefix("grader: ")
            raise WorkerLostError(f"grader: a process could not start: {problem}")

    def compare(self, item: Item) -> Verdict:
        said: Verdict | str = "the process does not answer"
        with suppress(OSError):  # it ended; that is heard below
            self.connection.send(item)
        try:
            if self.connection.poll(START_SECONDS + self.seconds):
                said = self.connection.recv()
        except (EOFError, OSError):
            status = self.process.wait()
            said = f"the process ended with exit status {status}"
            if status < 0:
                said = f"the process was killed by {signal.Signals(-status).name}"
            if status == -signal.SIGALRM:
                said = f"time-out after {self.seconds:g} s"
        if isinstance(said, Verdict):
            return said
        self.close()
        return Verdict(None, f"grader: {said}", failed=True)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.connection.close()


def serve(descriptor: int, seconds: float) -> None:
    """Be such a process: compare what comes in until the caller is gone; `seconds` for each."""
    warnings.simplefilter("ignore")
    logging.disable()
    with suppress(ValueError, OSError):  # macOS knows the limit but sets it only sometimes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    sys.set_int_max_str_digits(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    caller = Connection(descriptor)
    sys.excepthook = lambda kind, error, _: caller.send(
        f"{kind.__name__}: {' '.join(str(error).split())[:200]}".rstrip(": ")
    )
    from evalcore.rules.mathematics import compare_formulas

    compare_formulas(_FIRST)  # imports what takes long
    while True:
        item = caller.recv()
        signal.setitimer(signal.ITIMER_REAL, seconds)
        verdict = compare_formulas(item)
        signal.setitimer(signal.ITIMER_REAL, 0)
        caller.send(verdict)
