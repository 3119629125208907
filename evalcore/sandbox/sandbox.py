"""Runs model-written programs, several at once, in the order in which they come."""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from evalcore.sandbox import layers, libraries, replies
from evalcore.sandbox.base import Limits, Outcome, Program
from evalcore.sandbox.zygote_process import Zygote
from ngramscan.errors import SandboxError

GRACE_S = 30.0
"""A supervisor ends its program in time; if none answers so long after, it is taken for dead."""
ATTEMPTS_AT_MOST = 3
CHUNK = 1 << 16
AHEAD_AT_MOST = 32
"""Programs per worker that may be done while an earlier one still runs."""


@dataclass(slots=True)
class Job:
    """A program on its way through the sandbox."""

    program: Program
    attempts: int = 0
    outcome: Outcome | None = None
    received: bytearray = field(default_factory=bytearray)
    deadline: float = 0.0


class Sandbox:
    """A place where programs can be run that must do no harm. Use it with `with`, in one thread.

    | layer        | what it stops                                                               |
    |--------------|-----------------------------------------------------------------------------|
    | `limits`     | too much memory or computing, large files, many descriptors, core dumps     |
    | `privileges` | what only the superuser may do                                              |
    | `namespaces` | seeing other processes, files, the network; processes that go on; many files |
    | `landlock`   | reading and writing files outside, TCP, signals and abstract sockets         |
    | `seccomp`    | starting processes and threads, sockets, other ways to reach the kernel      |

    In every case a program is a copy of a process with an empty environment that never held
    anything of this one; it has a session of its own, an empty input, no descriptor but its own,
    and is ended when its time is over or when this process ends.

    Without namespaces but with Landlock and `seccomp`, a program can still fill the disk with many
    small files (removed afterwards) and see that files outside exist, without reading them.
    Without Landlock and namespaces (only with `allow_weak`) it can also read, write and remove
    whatever the user can; without `seccomp` too, it can use the network, signal the user's
    processes, read their memory and environment, and start more processes than can be ended.
    Its own answer it can always forge: nothing distinguishes that from computing it.

    Parameters
    ----------
    limits : Limits
        What each program may use.
    allow_weak : bool
        Run programs even where neither namespaces nor Landlock are to be had.
    workers : int or None
        Programs that run at once; None: as many as there are processors for this process.
    leave_out : collection of str
        Names of layers that shall not be used.

    Raises
    ------
    ValueError
        No layer has such a name, or there are no workers.
    SandboxError
        Neither Landlock nor namespaces are to be had and `allow_weak` is false, or no Python can
        be started.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        allow_weak: bool = False,
        workers: int | None = None,
        leave_out: Collection[str] = (),
    ) -> None:
        unknown = sorted(set(leave_out) - set(layers.NAMES))
        if unknown:
            raise ValueError(f"no layer of the sandbox is named {unknown[0]!r}")
        if workers is not None and workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self._limits = limits or Limits()
        self._workers = workers or usable_processors()
        self._leave_out = tuple(leave_out)
        # One for programs that need no libraries, and when first needed another for those that do:
        # a process that has loaded libraries takes several times longer to copy.
        self._zygotes = {False: Zygote.start(self._leave_out)}
        self.layers: Mapping[str, str] = self._zygotes[False].layers
        if not allow_weak:
            try:
                refuse_weak(self.layers)
            except SandboxError:
                self.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all programs and processes; nothing can be run afterwards."""
        for zygote in self._zygotes.values():
            zygote.close()

    def run(self, programs: Iterable[Program]) -> Generator[Outcome, None, None]:
        """Run programs.

        Parameters
        ----------
        programs : iterable of Program
            Read no further than needed to keep all workers busy.

        Yields
        ------
        Outcome
            One for each program, in the same order.

        Raises
        ------
        SandboxError
            The sandbox itself failed.
        """
        waiting = (Job(program) for program in programs)
        order: deque[Job] = deque()
        with selectors.DefaultSelector() as selector:
            try:
                exhausted = False
                while order or not exhausted:
                    exhausted = self._fill(waiting, order, selector)
                    while order and (outcome := order[0].outcome) is not None:
                        order.popleft()
                        yield outcome
                    self._advance(selector)
            finally:
                for key in list(selector.get_map().values()):
                    connection_of(key).close()

    def _fill(
        self, waiting: Iterator[Job], order: deque[Job], selector: selectors.BaseSelector
    ) -> bool:
        """Start programs until all workers are busy; return whether there are no more."""
        ahead = AHEAD_AT_MOST * self._workers
        while len(selector.get_map()) < self._workers and len(order) < ahead:
            job = next(waiting, None)
            if job is None:
                return True
            order.append(job)
            self._start(job, selector)
        return False

    def _start(self, job: Job, selector: selectors.BaseSelector) -> None:
        """Have a program run, in a new zygote if the old one has ended."""
        while job.attempts < ATTEMPTS_AT_MOST:
            job.attempts += 1
            try:
                connection = self._zygote_for(job.program).ask(job.program, self._limits)
            except OSError:
                # The zygote has just ended.
                continue
            job.deadline = time.monotonic() + self._limits.seconds + GRACE_S
            selector.register(connection, selectors.EVENT_READ, job)
            return
        raise SandboxError(
            f"sandbox: its first process ended {ATTEMPTS_AT_MOST} times before a program started"
        )

    def _zygote_for(self, program: Program) -> Zygote:
        """Return a running zygote that suits a program."""
        loaded = libraries.wanted(program.source) != 0
        zygote = self._zygotes.get(loaded)
        if zygote is not None and not zygote.alive:
            zygote.close()
            zygote = None
        if zygote is None:
            zygote = self._zygotes[loaded] = Zygote.start(self._leave_out)
        return zygote

    def _advance(self, selector: selectors.BaseSelector) -> None:
        """Wait for news of running programs, and note the outcomes."""
        for key, _ in selector.select(1.0) if selector.get_map() else ():
            job, connection = key.data, connection_of(key)
            piece = receive(connection)
            job.received += piece
            if not piece:
                selector.unregister(connection)
                connection.close()
                self._finish(job, selector)
        now = time.monotonic()
        if any(key.data.deadline < now for key in selector.get_map().values()):
            # The supervisors end with their zygote, so that all connections close.
            for zygote in self._zygotes.values():
                zygote.kill()

    def _finish(self, job: Job, selector: selectors.BaseSelector) -> None:
        """Read the reply for a program whose connection has closed."""
        if not job.received:
            self._start(job, selector)
        elif job.received.endswith(b"}"):
            job.outcome = replies.outcome(bytes(job.received[1:]), self._limits, self.layers)
        else:
            message = "the process that watched the program ended"
            job.outcome = Outcome("lost", message=message, layers=self.layers)


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def connection_of(key: selectors.SelectorKey) -> socket.socket:
    """Return the connection that was registered."""
    assert isinstance(key.fileobj, socket.socket)
    return key.fileobj


def receive(connection: socket.socket) -> bytes:
    """Return what has come; nothing where the other side is gone."""
    try:
        return connection.recv(CHUNK)
    except ConnectionResetError:
        return b""


def refuse_weak(found: Mapping[str, str]) -> None:
    """Raise SandboxError where nothing keeps a program from the user's files."""
    needed = ("namespaces", "landlock")
    if all(found[name] != layers.OK for name in needed):
        missing = "; ".join(
            f"{name} {state}" for name, state in found.items() if state != layers.OK
        )
        raise SandboxError(
            f"sandbox: programs can't be run safely on this machine: {missing}; "
            "--allow-weak-sandbox runs them with what there is"
        )
