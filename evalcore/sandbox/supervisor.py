"""Watches one program: gives it a world, ends it in time, and tells what became of it.

A process of its own for each program, since a process can enter a new world of processes only once,
and since the one who asks may be busy elsewhere when the time is over.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from typing import Any, NoReturn

from evalcore.sandbox import files, kernel, layers, program
from evalcore.sandbox.layers import Limits, World

STARTED = b"+"
"""Sent as soon as the request has been read: from then on the program counts as started."""
LOOK_EVERY_S, SHORT_WAIT_S = 0.05, 0.001
GIVE_UP_AFTER_S = 5.0
CHUNK = 1 << 16


def serve(connection: socket.socket, world: World) -> NoReturn:
    """Run the program that is asked for on a connection, answer there, and end this process.

    The request is a line of JSON: `source`, `answer_from`, `limits`. The answer is `STARTED`, then
    the outcome as JSON, or `failed`, where the sandbox itself failed. When the other side closes
    the connection, the program is ended.
    """
    signal.signal(signal.SIGTERM, abandon)
    try:
        with connection.makefile("rb") as file:
            line = file.readline()
        if not line.endswith(b"\n"):
            abandon()
        connection.sendall(STARTED)
        reply = attend(json.loads(line), connection, world)
    except (OSError, ValueError, MemoryError) as error:
        reply = {"failed": f"{type(error).__name__}: {error}"}
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(reply).encode())
    os._exit(0)


def attend(request: dict[str, Any], connection: socket.socket, world: World) -> dict[str, Any]:
    """Run a program to its end, and return its outcome."""
    limits = Limits(**request["limits"])
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

    def __init__(self, request: dict[str, Any], limits: Limits, world: World, work: str) -> None:
        self._limits = limits
        self._printed = self._told = b""
        self._printed_is_cut = False
        self._status: int | None = None
        """As `os.waitpid` gives it; None while the program runs."""
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
        self._wait_until_confined()
        self._open = {self._output, self._result}
        self.started = time.monotonic()

    def _wait_until_confined(self) -> None:
        first = os.read(self._result, 1)
        if first != layers.CONFINED:
            with open(self._result, "rb") as file:
                reason = (first + file.read()).decode(errors="replace")
            os.waitpid(self._pid, 0)
            raise OSError(reason or "its process ended while being confined")

    def watch(self, connection: socket.socket) -> bool:
        """Read until the program ends or its time is over; return whether it ended in time."""
        deadline = self.started + self._limits.seconds
        while self._status is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            wait = LOOK_EVERY_S if self._open else SHORT_WAIT_S
            self._take_from(self._readable(min(wait, left), connection))
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            if ended:
                self._status = status
        # Another process may still write to what the program left open: not for ever.
        while time.monotonic() < deadline and (rest := self._readable(0)):
            self._take_from(rest)
        return True

    def _readable(self, wait: float, connection: socket.socket | None = None) -> list[int]:
        others = [] if connection is None else [connection.fileno()]
        ready = select.select([*self._open, *others], [], [], wait)[0]
        if not self._open.issuperset(ready):
            abandon()
        return ready

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


def abandon(*_: object) -> NoReturn:
    """End this process, since nobody waits for the outcome any more, tidying up on the way."""
    sys.exit(1)


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
