"""Watches one program: gives it a world, ends it in time, and passes on what it told."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, NoReturn

from evalcore.sandbox import confinement, kernel, namespaces, orphans, program, removal
from evalcore.sandbox.confinement import Bounds, Channels, World

STARTED = b"+"
"""Sent as soon as the request has been read: from then on the program counts as started."""
LOOK_EVERY_S = 0.05
SHORT_WAIT_S = 0.001
CHUNK = 1 << 16


class AbandonedError(Exception):
    """Nobody waits for the result any more."""


@dataclass(slots=True)
class Watched:
    """A running program, and what has been read from it."""

    pid: int
    output: int
    result: int
    bounds: Bounds
    started: float = field(default_factory=time.monotonic)
    printed: bytes = b""
    printed_cut: bool = False
    told: bytes = b""
    open: set[int] = field(default_factory=set)
    status: int | None = None
    """As `os.waitpid` gives it; None while the program runs."""


def serve(connection: socket.socket, world: World) -> NoReturn:
    """Run the program that is asked for on a connection, answer there, and end this process.

    Parameters
    ----------
    connection : socket
        To the one who asked; when it closes, the program is ended.
    world : World
        Which layers there are.
    """
    signal.signal(signal.SIGTERM, raise_abandoned)
    try:
        request = read_request(connection)
        connection.sendall(STARTED)
        reply = attend(request, connection, world)
    except (OSError, ValueError, MemoryError) as error:
        reply = {"failed": f"{type(error).__name__}: {error}"}
    except AbandonedError:
        os._exit(1)
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(reply).encode())
    os._exit(0)


def raise_abandoned(*_: object) -> NoReturn:
    """End the work, tidying up on the way."""
    raise AbandonedError


def read_request(connection: socket.socket) -> dict[str, Any]:
    """Return what is asked for: one line of JSON."""
    with connection.makefile("rb") as file:
        line = file.readline()
    if not line.endswith(b"\n"):
        raise AbandonedError
    return dict(json.loads(line))


def attend(request: dict[str, Any], connection: socket.socket, world: World) -> dict[str, Any]:
    """Run a program to its end, and return what is to be told about it.

    Parameters
    ----------
    request : dict
        `source`, `answer_from` and `bounds`, as the other side wrote them.
    connection : socket
        Closed by the other side when the result is no longer wanted.
    world : World
        Which layers there are.

    Returns
    -------
    dict
        `ended` (`by itself` or `time`), `code` (negative: the number of a signal), `seconds`,
        `told` (the program's own words, as bytes in Latin-1), `printed`, `printed_cut`.
    """
    bounds = Bounds(**request["bounds"])
    work = make_work_folder(world, bounds)
    try:
        watched = start(request, bounds, world, work)
        try:
            ended = watch(watched, connection)
            seconds = time.monotonic() - watched.started
        finally:
            end(watched)
    finally:
        if work != namespaces.WORK:
            with contextlib.suppress(OSError):
                removal.remove_tree(work)
    assert watched.status is not None
    return {
        "ended": ended,
        "code": os.waitstatus_to_exitcode(watched.status),
        "seconds": seconds,
        "told": watched.told.decode("latin-1"),
        "printed": watched.printed.decode(errors="replace"),
        "printed_cut": watched.printed_cut,
    }


def make_work_folder(world: World, bounds: Bounds) -> str:
    """Return a new, empty folder for a program."""
    if world.base is None:
        namespaces.enter_for_program(bounds.files_bytes)
        return namespaces.WORK
    kernel.adopt_orphans()
    return tempfile.mkdtemp(dir=world.base)


def start(request: dict[str, Any], bounds: Bounds, world: World, work: str) -> Watched:
    """Start a program in a child process.

    Parameters
    ----------
    request : dict
        `source` and `answer_from`.
    bounds : Bounds
        What it may use.
    world : World
        Which layers there are.
    work : str
        The folder that it may write.

    Returns
    -------
    Watched
        The running program.

    Raises
    ------
    OSError
        A layer of the sandbox could not be put up; the program was not run.
    """
    (output, output_end), (result, result_end) = os.pipe(), os.pipe()
    (ready, ready_end), (confined, confined_end) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(ready_end)
            channels = Channels(output_end, result_end, ready, confined_end)
            confinement.confine(world, bounds, work, channels)
            program.run(request["source"], request["answer_from"], bounds.result_bytes)
        finally:
            os._exit(1)
    for descriptor in (output_end, result_end, ready, confined_end):
        os.close(descriptor)
    os.write(ready_end, b"+")
    os.close(ready_end)
    with open(confined, "rb") as file:
        told = file.read()
    if told != confinement.CONFINED:
        os.waitpid(pid, 0)
        raise OSError(told.decode(errors="replace") or "its process ended while being confined")
    return Watched(pid, output, result, bounds, open={output, result})


def watch(watched: Watched, connection: socket.socket) -> str:
    """Read from a program until it ends or its time is over; return which of both it was."""
    deadline = watched.started + watched.bounds.seconds
    while watched.status is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return "time"
        wait = LOOK_EVERY_S if watched.open else SHORT_WAIT_S
        sources = [*watched.open, connection.fileno()]
        for descriptor in select.select(sources, [], [], min(wait, left))[0]:
            if descriptor == connection.fileno():
                raise AbandonedError
            take(watched, descriptor)
        reap(watched)
    # Another process may still write to what the program left open: not for ever.
    while time.monotonic() < deadline and (rest := readable_now(watched)):
        for descriptor in rest:
            take(watched, descriptor)
    return "by itself"


def readable_now(watched: Watched) -> list[int]:
    """Return the descriptors on which something waits to be read."""
    return select.select(list(watched.open), [], [], 0)[0]


def take(watched: Watched, descriptor: int) -> None:
    """Read a piece; keep the end of what was printed, and the beginning of what was told."""
    piece = os.read(descriptor, CHUNK)
    most = watched.bounds.result_bytes
    if not piece:
        watched.open.discard(descriptor)
    elif descriptor == watched.output:
        kept = watched.printed + piece
        watched.printed_cut = watched.printed_cut or len(kept) > most
        watched.printed = kept[-most:]
    else:
        # One byte more than allowed shows that it was too much.
        watched.told = (watched.told + piece)[: most + 1]


def reap(watched: Watched) -> None:
    """Notice the end of the program, if it has ended."""
    ended, status = os.waitpid(watched.pid, os.WNOHANG)
    if ended:
        watched.status = status


def end(watched: Watched) -> None:
    """Kill the program and all that it started, and wait for it."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if watched.status is None:
        os.kill(watched.pid, signal.SIGKILL)
        _, watched.status = os.waitpid(watched.pid, 0)
    orphans.kill_all(watched.pid)
