"""Runs model-written programs, several at once, in the order in which they come."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Collection, Generator, Iterable, Mapping
from dataclasses import asdict, dataclass
from multiprocessing.connection import wait as first_ready
from typing import Any, Literal

from evalcore.sandbox import kernel, layers, zygote
from evalcore.sandbox.layers import ProgramLimits
from ngramscan.errors import SandboxError
from ngramscan.messages import OptionUse

Status = Literal["ok", "error", "timeout", "memory", "killed", "no result", "lost"]
"""`lost`: the sandbox failed while the program ran, which is not about the program."""

ANSWER_WITHIN_S, END_WITHIN_S, GRACE_S = 60.0, 10.0, 30.0
"""A supervisor ends its program in time; one that hasn't answered so long after is ended, too."""
ATTEMPTS_AT_MOST, AHEAD_AT_MOST = 3, 32
"""Starts of one program; and programs per worker that may end while an earlier one still runs."""
START = """
import sys, types
for name, folder in zip(("evalcore", "evalcore.sandbox"), sys.argv[2:]):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from evalcore.sandbox.zygote import main
main(sys.argv[1])
"""
"""Starts the zygote: its packages appear as empty ones, without what they load for others."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program, and where its answer is."""

    source: str
    answer_from: Literal["solution()", "answer"] = "solution()"
    """The value of `solution()` called without arguments; or of the variable `answer` when the
    program has ended, else its last printed line that is not empty."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of running a program."""

    status: Status
    value: float | int | bool | str | None = None
    """A number (finite ones as such, others as text), a truth value, or text: most of SymPy's
    values as LaTeX, arrays with all digits, everything else by `str`. For `solution()`, SymPy's
    real numbers are numbers too."""
    kind: str = ""
    """The name of the value's type in the program: `float`, `ndarray`."""
    message: str = ""
    """The text of the exception, or the reason why it ended; one line."""
    seconds: float = 0.0
    layers: Mapping[str, str] | None = None
    """For each layer of the sandbox `ok`, or `missing: reason`."""


@dataclass(slots=True, eq=False)
class SandboxJob:
    """A program on its way through the sandbox, and what has been received of its outcome."""

    program: Program
    zygote: Zygote | None = None
    attempts: int = 0
    deadline: float = 0.0
    """For what comes next: its start, its outcome, or the end of the removal of what it left."""
    started: float = 0.0
    received: bytes = b""
    outcome: Outcome | None = None


class Sandbox(contextlib.AbstractContextManager["Sandbox"]):
    """A place where programs can be run that must do no harm. Use it with `with`, in one thread.

    In every case a program is a copy of a process with an empty environment that never held
    anything of this one; it has a session of its own, an empty input, no descriptor but its own,
    and is ended when its time is over or when this process ends. SECURITY.md says what else it can
    do where layers are missing.

    Where there are neither namespaces nor Landlock, SandboxError is raised unless `allow_weak`.
    `workers` programs run at once, by default one per processor; `leave_out` names layers that
    shall not be used.
    """

    def __init__(
        self,
        limits: ProgramLimits | None = None,
        allow_weak: bool = False,
        workers: int | None = None,
        leave_out: Collection[str] = (),
    ) -> None:
        if unknown := sorted(set(leave_out) - set(layers.NAMES)):
            raise ValueError(f"no layer of the sandbox is named {unknown[0]!r}")
        if workers is not None and workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        self._limits = limits or ProgramLimits()
        processors = len(os.sched_getaffinity(0)) if kernel.LINUX else os.cpu_count() or 1
        self._workers = workers or processors
        self._leave_out = sorted(leave_out)
        # One for programs that need no libraries, and when first needed another for those that do:
        # a process that has loaded libraries takes several times longer to copy.
        self._zygotes = {False: Zygote(self._leave_out)}
        self.layers = self._zygotes[False].layers
        if not allow_weak and layers.OK not in (self.layers["namespaces"], self.layers["landlock"]):
            self.close()
            absent = [f"{name} {state}" for name, state in self.layers.items() if state != "ok"]
            problem = f"programs can't be run safely on this machine: {'; '.join(absent)}"
            cure = OptionUse("allow_weak_sandbox") + " runs them with what there is"
            raise SandboxError(f"sandbox: {problem}; " + cure)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all programs and processes; nothing can be run afterwards."""
        for process in self._zygotes.values():
            process.close()

    def run(self, programs: Iterable[Program]) -> Generator[Outcome, None, None]:
        """Run programs; yield an outcome for each, in the same order.

        Programs are read no further than needed to keep all workers busy. A worker is busy until
        what its program left is removed. Raises SandboxError where no program can be started.
        """
        waiting, order = map(SandboxJob, programs), deque[SandboxJob]()
        running: dict[socket.socket, SandboxJob] = {}
        ahead = AHEAD_AT_MOST * self._workers
        try:
            while True:
                room = min(self._workers - len(running), ahead - len(order))
                for job in itertools.islice(waiting, room):
                    order.append(job)
                    self._start(job, running)
                if room > 0 and not order:
                    return
                if order and (outcome := order[0].outcome) is not None:
                    order.popleft()
                    yield outcome
                else:
                    self._advance(running)
        finally:
            for connection in running:
                connection.close()

    def _start(self, job: SandboxJob, running: dict[socket.socket, SandboxJob]) -> None:
        needs_libraries = zygote.wanted_libraries(job.program.source) != 0
        while job.attempts < ATTEMPTS_AT_MOST:
            job.attempts += 1
            with contextlib.suppress(OSError):  # it has just ended
                first_process = self._zygotes.get(needs_libraries)
                if first_process is None or first_process.process.poll() is not None:
                    if first_process is not None:
                        first_process.close()
                    first_process = self._zygotes[needs_libraries] = Zygote(self._leave_out)
                job.zygote = first_process
                running[first_process.ask(job.program, self._limits)] = job
                job.deadline = time.monotonic() + self._limits.seconds + GRACE_S
                return
        ended = f"its first process ended {ATTEMPTS_AT_MOST} times before a program started"
        raise SandboxError(f"sandbox: {ended}")

    def _advance(self, running: dict[socket.socket, SandboxJob]) -> None:
        ready = first_ready(list(running), timeout=1.0)
        for connection, job in list(running.items()):
            if connection in ready:
                piece = b""
                with contextlib.suppress(ConnectionResetError):
                    piece = connection.recv(zygote.CHUNK)
                has_ended = not piece
                self._read(job, piece)
            elif has_ended := job.deadline < time.monotonic():
                self._end_late(job)
            if has_ended:
                connection.close()
                del running[connection]
                if not job.started:
                    self._start(job, running)
                elif job.outcome is None:
                    job.outcome = self._outcome_without_reply(job)

    def _read(self, job: SandboxJob, piece: bytes) -> None:
        """Take what was received; its lines are the supervisor's number and the reply."""
        job.received += piece
        *lines, _ = job.received.split(b"\n")
        now = time.monotonic()
        if lines and not job.started:
            job.started, job.deadline = now, now + self._limits.seconds + GRACE_S
        if len(lines) == 2 and job.outcome is None:
            job.deadline = now + GRACE_S
            reply = json.loads(lines[1])
            if "failed" in reply:
                reply = {"status": "lost", "message": f"it could not be run: {reply['failed']}"}
            job.outcome = Outcome(**reply, layers=self.layers)

    def _end_late(self, job: SandboxJob) -> None:
        """End the supervisor that is late, or the zygote that started none; all its programs end.

        One that has answered is left alone: it still removes what its program left.
        """
        if job.zygote is not None and not job.started:
            job.zygote.kill()
        elif job.outcome is None:
            # It holds its connection open: the number is no other process's yet.
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(job.received.split()[0]), signal.SIGKILL)

    def _outcome_without_reply(self, job: SandboxJob) -> Outcome:
        seconds, most = time.monotonic() - job.started, self._limits.seconds
        if seconds < most:
            message = "the process that watched the program ended"
            return Outcome("lost", message=message, layers=self.layers)
        late = f"not done within {most:g} s"
        return Outcome("timeout", message=late, seconds=seconds, layers=self.layers)


class Zygote:
    """The process that programs are copied from, seen from the one that asks for them."""

    def __init__(self, leave_out: list[str]) -> None:
        self._control, theirs = socket.socketpair()
        # Folders on the path that aren't of installed packages are the user's, and may hold data.
        names = {"site-packages", "dist-packages"}
        config = {
            "control": theirs.fileno(),
            "parent": os.getpid(),
            "packages": [p for p in sys.path if os.path.basename(p) in names and os.path.isdir(p)],
            "temporary": tempfile.gettempdir(),
            "leave_out": leave_out,
        }
        here = os.path.dirname(os.path.abspath(__file__))
        command = [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", START, json.dumps(config)]
        try:
            with theirs:
                # Nothing of this process's environment and descriptors goes into it.
                self.process = subprocess.Popen(
                    [*command, os.path.dirname(here), here],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except OSError as error:
            self._control.close()
            raise SandboxError(f"{sys.executable}: can't be started: {error.strerror}") from error
        try:
            hello = self._first_word()
        except BaseException:
            self.kill()
            self._control.close()
            raise
        self.layers: Mapping[str, str] = hello["layers"]
        self._base: str | None = hello["base"]

    def _first_word(self) -> dict[str, Any]:
        """Return what a new zygote says of itself: `layers`, and `base`, the folder it made."""
        self._control.settimeout(ANSWER_WITHIN_S)
        try:
            with self._control.makefile("rb") as file:
                hello = json.loads(file.readline() or '{"failed": "it ended at once"}')
        except TimeoutError:
            hello = {"failed": f"no answer within {ANSWER_WITHIN_S:.0f} s"}
        if "failed" in hello:
            raise SandboxError(f"sandbox: its first process can't be started: {hello['failed']}")
        return dict(hello)

    def ask(self, program: Program, limits: ProgramLimits) -> socket.socket:
        """Have a program run; return where the reply will come. Closing that ends the program."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                wanted = bytes([zygote.wanted_libraries(program.source)])
                socket.send_fds(self._control, [wanted], [theirs.fileno()])
            ours.settimeout(ANSWER_WITHIN_S)
            request = {**asdict(program), "limits": asdict(limits)}
            ours.sendall(json.dumps(request).encode() + b"\n")
        except BaseException:
            ours.close()
            raise
        return ours

    def kill(self) -> None:
        """End it at once; its supervisors and programs end with it."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """End it, with all that it started, and remove what it may have left."""
        self._control.close()
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(END_WITHIN_S)
        finally:
            self.kill()
            if self._base is not None:
                zygote.remove_tree(self._base)
