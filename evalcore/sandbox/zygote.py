"""The process that all programs are copies of: it holds Python and libraries, and no secrets.

It starts with an empty environment, reads no program (the copy does) and is told nothing but which
libraries to have ready. So there is nothing in its memory that a program could find.

A copy, the supervisor, watches each program: gives it a world, ends it in time, and tells what
became of it. It is a process of its own, since a process can enter a new world of processes only
once, and since the one who asks may be busy elsewhere when the time is over.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import re
import select
import signal
import site
import socket
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import Any, NoReturn

from evalcore.sandbox import files, kernel, layers, program, seccomp
from evalcore.sandbox.layers import World

SMALL_LIBRARIES = (
    *("cmath", "collections", "dataclasses", "datetime", "decimal", "fractions", "functools"),
    *("itertools", "json", "math", "random", "re", "statistics", "string", "typing"),
)
LIBRARIES = ("numpy", "scipy.stats", "scipy.optimize", "sympy", "pandas")
"""Loaded once for all programs that name them: loading SymPy takes longer than running most
programs. At most eight: a request is one byte, with a bit for each."""
SINGLE_THREADED = (
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "OMP_THREAD_LIMIT", "RAYON_NUM_THREADS"),
)
"""Programs may start no threads; libraries must not try."""
STARTED = b"+"
"""Sent as soon as a request has been read: from then on the program counts as started."""
LOOK_FOR_PARENT_EVERY_S, LOOK_EVERY_S, SHORT_WAIT_S, GIVE_UP_AFTER_S = 1.0, 0.05, 0.001, 5.0
CHUNK = 1 << 16


def wanted_libraries(source: str) -> int:
    """Return the libraries that a program seems to use, as bits; too many only cost time."""
    words = set(re.findall(r"[A-Za-z_]+", source))
    return sum(1 << bit for bit, name in enumerate(LIBRARIES) if words.issuperset(name.split(".")))


def load(names: Iterable[str]) -> None:
    """Load libraries; one that isn't installed, the program will miss itself."""
    for name in names:
        with contextlib.suppress(ImportError, OSError):
            importlib.import_module(name)


def main(arguments: str) -> None:
    """Find out which layers there are, tell them, and run programs until nobody asks any more.

    The arguments are JSON, made by `Zygote` in the process that asks.
    """
    config = json.loads(arguments)
    control = socket.socket(fileno=config["control"])
    sys.argv = [""]
    sys.path.extend(config["packages"])
    site.setquit()
    os.environ.update(dict.fromkeys(SINGLE_THREADED, "1"), LANG="C.UTF-8", PATH="")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    readable = files.readable_folders(config["packages"])
    found = layers.probe_all(readable, config["leave_out"])
    try:
        world = enter(found, readable, config)
    except OSError as error:
        control.sendall(json.dumps({"failed": str(error)}).encode() + b"\n")
        return
    load(SMALL_LIBRARIES)
    control.sendall(json.dumps({"layers": found, "base": world.base}).encode() + b"\n")
    # The children end by themselves and are not waited for one by one.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        serve(control, world, config["parent"])
    finally:
        # All supervisors end, and end their programs.
        os.killpg(0, signal.SIGTERM)
        with contextlib.suppress(ChildProcessError):
            os.wait()
        if world.base is not None:
            with contextlib.suppress(OSError):
                files.remove_tree(world.base)


def enter(found: dict[str, str], readable: list[str], config: dict[str, Any]) -> World:
    """Move into the world that programs will be in; OSError where a layer can't be used."""
    active = {name for name, state in found.items() if state == layers.OK}
    if "limits" not in config["leave_out"]:
        # Where memory can't be limited, the other limits are still worth having.
        active.add("limits")
    if "seccomp" in active:
        seccomp.built()
    mapped = os.open("/proc/self/statm", os.O_RDONLY) if kernel.LINUX else None
    if "namespaces" in active:
        files.enter_namespaces(readable)
        return World(active, readable, None, mapped)
    base = tempfile.mkdtemp(prefix="evalcore-", dir=config["temporary"])
    return World(active, readable, base, mapped)


def serve(control: socket.socket, world: World, parent: int) -> None:
    """Start a supervisor for each request, until nobody is there to make any.

    `control` brings, for each program, a byte that names libraries, and a connection. Copies of
    the process `parent`, which makes the requests, may hold it open when that is dead.
    """
    zygote = os.getpid()
    while os.getppid() == parent:
        if not select.select([control], [], [], LOOK_FOR_PARENT_EVERY_S)[0]:
            continue
        wanted, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not wanted:
            return
        load(name for bit, name in enumerate(LIBRARIES) if wanted[0] >> bit & 1)
        gc.freeze()
        with socket.socket(fileno=descriptors[0]) as connection:
            if os.fork() != 0:
                continue
            try:
                kernel.control(kernel.DEATH_SIGNAL, "parent death signal", signal.SIGKILL)
                if os.getppid() == zygote:
                    control.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    supervise(connection, world)
            finally:
                os._exit(1)


def supervise(connection: socket.socket, world: World) -> NoReturn:
    """Run the program that is asked for on a connection, answer there, and end this process.

    The request is a line of JSON: `source`, `answer_from`, `limits`. The answer is `STARTED`, then
    the outcome as JSON, or `failed`: why the sandbox itself failed. When the other side closes the
    connection, or the zygote asks to end, nobody waits for the outcome any more.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with connection.makefile("rb") as file:
            line = file.readline()
        if not line.endswith(b"\n"):
            sys.exit(1)
        connection.sendall(STARTED)
        reply = attend(json.loads(line), connection, world)
    except (OSError, ValueError, MemoryError) as error:
        reply = {"failed": f"{type(error).__name__}: {error}"}
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(reply).encode())
    os._exit(0)


def attend(request: dict[str, Any], connection: socket.socket, world: World) -> dict[str, Any]:
    """Run a program to its end, and return its outcome."""
    limits = layers.Limits(**request["limits"])
    if world.base is None:
        files.enter_for_program(limits.files_bytes)
        work = files.WORK
    else:
        kernel.control(kernel.ADOPT_ORPHANS, "child subreaper", 1)
        work = tempfile.mkdtemp(dir=world.base)
    try:
        running = Running(request, limits, world, work)
        try:
            in_time = running.watch(connection)
            seconds = time.monotonic() - running.started
        finally:
            running.end()
    finally:
        if world.base is not None:
            with contextlib.suppress(OSError):
                files.remove_tree(work)
    if not in_time:
        message = f"not done within {limits.seconds:g} s"
        return {"status": "timeout", "message": message, "seconds": seconds}
    return running.report() | {"seconds": seconds}


class Running:
    """A running program, and what has been read from it.

    OSError where a layer of the sandbox can't be put up; the program is not run then.
    """

    def __init__(
        self, request: dict[str, Any], limits: layers.Limits, world: World, work: str
    ) -> None:
        self._limits = limits
        self._printed = self._told = b""
        self._printed_is_cut = False
        self._status: int | None = None
        self._output, output_end = os.pipe()
        self._result, result_end = os.pipe()
        ready, go = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(go)
                os.setsid()
                for number in (signal.SIGTERM, signal.SIGCHLD):
                    signal.signal(number, signal.SIG_DFL)
                kernel.control(kernel.DEATH_SIGNAL, "parent death signal", signal.SIGKILL)
                # Nothing comes if the supervisor died before the kernel knew of the tie.
                if os.read(ready, 1):
                    layers.confine(world, limits, work, output_end, result_end)
                    program.run(request["source"], request["answer_from"], limits.result_bytes)
            finally:
                os._exit(1)
        for descriptor in (output_end, result_end, ready):
            os.close(descriptor)
        os.write(go, b"+")
        os.close(go)
        first = os.read(self._result, 1)
        if first != layers.CONFINED:
            with open(self._result, "rb") as file:
                reason = (first + file.read()).decode(errors="replace")
            os.waitpid(self._pid, 0)
            raise OSError(reason or "its process ended while being confined")
        self._open = {self._output, self._result}
        self.started = time.monotonic()

    def watch(self, connection: socket.socket) -> bool:
        """Read until the program ends or its time is over; return whether it ended in time."""
        deadline, asked = self.started + self._limits.seconds, connection.fileno()
        while self._status is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            wait = min(LOOK_EVERY_S if self._open else SHORT_WAIT_S, left)
            ready, _, _ = select.select([*self._open, asked], [], [], wait)
            if asked in ready:
                sys.exit(1)  # tidying up on the way
            self._take_from(ready)
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            if ended:
                self._status = status
        # Another process may still write to what the program left open: not for ever.
        while time.monotonic() < deadline and (rest := select.select(self._open, [], [], 0)[0]):
            self._take_from(rest)
        return True

    def _take_from(self, descriptors: list[int]) -> None:
        """Read a piece; keep the end of what was printed, and the beginning of what was told."""
        most = self._limits.result_bytes
        for descriptor in descriptors:
            piece = os.read(descriptor, CHUNK)
            if not piece:
                self._open.discard(descriptor)
            elif descriptor == self._output:
                kept = self._printed + piece
                self._printed_is_cut = self._printed_is_cut or len(kept) > most
                self._printed = kept[-most:]
            else:
                # One byte more than allowed shows that it was too much.
                self._told = (self._told + piece)[: most + 1]

    def end(self) -> None:
        """Kill the program and all that it started, and wait for it."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self._status is None:
            os.kill(self._pid, signal.SIGKILL)
            _, self._status = os.waitpid(self._pid, 0)
        kill_descendants(self._pid)

    def report(self) -> dict[str, Any]:
        """Return the status, value, kind and message of the outcome, when the program has ended."""
        printed = self._printed.decode(errors="replace")
        most = self._limits.result_bytes
        try:
            return program.read_report(self._told, printed, self._printed_is_cut, most)
        except program.MalformedError as error:
            code = os.waitstatus_to_exitcode(self._status or 0)
            if self._told or code >= 0:
                return {"status": "no result", "message": str(error)}
        known = {each.value: each.name for each in signal.Signals}
        return {"status": "killed", "message": f"ended by the signal {known.get(-code, -code)}"}


def kill_descendants(group: int) -> None:
    """Kill what a program left running, and wait for it; `group` is that of the program.

    On Linux, a process whose parent has ended becomes a child of this one, so that nothing gets
    away; elsewhere only the group is known. A program that starts processes faster than they are
    found here can't be stopped in this way: the filter of system calls forbids it to start any.
    """
    if not kernel.LINUX:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    listed = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    until = time.monotonic() + GIVE_UP_AFTER_S
    while time.monotonic() < until:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            # A child that has just ended ends this round, too; the next one is soon.
            with contextlib.suppress(OSError), open(listed, encoding="ascii") as file:
                for child in file.read().split():
                    os.kill(int(child), signal.SIGKILL)
            time.sleep(0.001)
