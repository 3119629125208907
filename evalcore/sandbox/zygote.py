"""The process that all programs are copies of: it holds Python and libraries, and no secrets.

It starts with an empty environment, reads no program (the copy does) and is told nothing but which
libraries to have ready. So there is nothing in its memory that a program could find.
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
from collections.abc import Iterable
from typing import Any, NoReturn

from evalcore.sandbox import files, kernel, layers, seccomp, supervisor
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
LOOK_FOR_PARENT_EVERY_S = 1.0


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

    The arguments are JSON: `control` (the number of a connected socket), `parent` (the process
    that it belongs to), `packages` (folders), `temporary` (a folder for temporary ones, used where
    there are no namespaces), `leave_out` (names of layers).
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
    base = None
    if "namespaces" in active:
        files.enter_namespaces(readable)
    else:
        base = tempfile.mkdtemp(prefix="evalcore-", dir=config["temporary"])
    return World(frozenset(active), tuple(readable), base, mapped)


def serve(control: socket.socket, world: World, parent: int) -> None:
    """Start a supervisor for each request, until nobody is there to make any.

    `control` brings, for each program, a byte that names libraries, and a connection. Copies of
    the process `parent`, which makes the requests, may hold it open when that is dead.
    """
    zygote = os.getpid()
    while os.getppid() == parent:
        readable, _, _ = select.select([control], [], [], LOOK_FOR_PARENT_EVERY_S)
        if not readable:
            continue
        wanted, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not wanted:
            return
        load(name for bit, name in enumerate(LIBRARIES) if wanted[0] >> bit & 1)
        gc.freeze()
        with socket.socket(fileno=descriptors[0]) as connection:
            if os.fork() == 0:
                become_supervisor(connection, control, world, zygote)


def become_supervisor(
    connection: socket.socket, control: socket.socket, world: World, zygote: int
) -> NoReturn:
    """See to the program that is asked for on a connection, in a copy of the zygote."""
    try:
        kernel.control(kernel.DEATH_SIGNAL, "parent death signal", signal.SIGKILL)
        if os.getppid() == zygote:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            supervisor.serve(connection, world)
    finally:
        os._exit(1)
