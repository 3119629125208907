"""The process that all programs are copies of: it holds Python and libraries, and no secrets.

It starts with an empty environment, reads no program (the copy does) and is told nothing but which
libraries to have ready. So there is nothing in its memory that a program could find.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import site
import socket
import sys
import tempfile
from typing import Any

from evalcore.sandbox import (
    folders,
    kernel,
    layers,
    libraries,
    namespaces,
    removal,
    rlimits,
    seccomp,
    supervisor,
)
from evalcore.sandbox.confinement import World

SINGLE_THREADED = (
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "OMP_THREAD_LIMIT", "RAYON_NUM_THREADS"),
)
"""Programs may start no threads; libraries must not try."""
LOOK_FOR_PARENT_EVERY_S = 1.0


def main(arguments: list[str]) -> None:
    """Find out which layers there are, tell them, and run programs until nobody asks any more.

    The only argument is JSON: `control` (the number of a connected socket), `parent` (the process
    that it belongs to), `packages` (folders), `temporary` (a folder for temporary ones, used where
    there are no namespaces), `leave_out` (names of layers).
    """
    config = json.loads(arguments[0])
    control = socket.socket(fileno=config["control"])
    sys.argv = [""]
    sys.path.extend(config["packages"])
    site.setquit()
    os.environ.update(dict.fromkeys(SINGLE_THREADED, "1"), LANG="C.UTF-8", PATH="")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    readable = folders.readable_folders(config["packages"])
    found = layers.probe_all(readable, config["leave_out"])
    try:
        world = enter(found, readable, config)
    except OSError as error:
        control.sendall(json.dumps({"failed": str(error)}).encode() + b"\n")
        return
    libraries.load_always()
    control.sendall(json.dumps({"layers": found, "base": world.base}).encode() + b"\n")
    # The children end by themselves and are not waited for one by one.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        serve(control, world, config["parent"])
    finally:
        finish(world.base)


def enter(found: dict[str, str], readable: list[str], config: dict[str, Any]) -> World:
    """Move into the world that programs will be in.

    Parameters
    ----------
    found : dict
        The layers, as `layers.probe_all` reports them.
    readable : list of str
        Folders and files that a program will see.
    config : dict
        What this process was started with.

    Returns
    -------
    World
        The same for all programs.

    Raises
    ------
    OSError
        A layer that was found can't be used.
    """
    active = {name for name, state in found.items() if state == layers.OK}
    if "limits" not in config["leave_out"]:
        # Where memory can't be limited, the other limits are still worth having.
        active.add("limits")
    if "seccomp" in active:
        seccomp.built()
    mapped = os.open(rlimits.MAPPED, os.O_RDONLY) if kernel.LINUX else None
    if "namespaces" in active:
        namespaces.enter(readable)
        base = None
    else:
        base = tempfile.mkdtemp(prefix="evalcore-", dir=config["temporary"])
    return World(frozenset(active), tuple(readable), base, mapped)


def serve(control: socket.socket, world: World, parent: int) -> None:
    """Start a supervisor for each request, until nobody is there to make any.

    Parameters
    ----------
    control : socket
        Brings, for each program, a byte that names libraries, and a connection.
    world : World
        Which layers there are.
    parent : int
        The number of the process that makes requests. Copies of it may hold the other end of
        `control` open when it is dead.
    """
    while os.getppid() == parent:
        readable, _, _ = select.select([control], [], [], LOOK_FOR_PARENT_EVERY_S)
        if not readable:
            continue
        wanted, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not wanted:
            return
        libraries.load(wanted[0])
        gc.freeze()
        with socket.socket(fileno=descriptors[0]) as connection:
            start(connection, control, world)


def start(connection: socket.socket, control: socket.socket, world: World) -> None:
    """Copy this process; the copy sees to one program.

    Parameters
    ----------
    connection : socket
        To the one who wants the program run.
    control : socket
        Not for the copy.
    world : World
        Which layers there are.
    """
    zygote = os.getpid()
    if os.fork() == 0:
        try:
            kernel.die_with_parent(signal.SIGKILL)
            if os.getppid() != zygote:
                os._exit(1)
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            supervisor.serve(connection, world)
        finally:
            os._exit(1)


def finish(base: str | None) -> None:
    """End all supervisors, which end their programs, and remove the folder of their folders."""
    os.killpg(0, signal.SIGTERM)
    with contextlib.suppress(ChildProcessError):
        os.wait()
    if base is not None:
        with contextlib.suppress(OSError):
            removal.remove_tree(base)
