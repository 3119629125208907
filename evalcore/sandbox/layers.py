"""The layers of the sandbox: which of them this machine has, and putting them up."""

import contextlib
import fcntl
import math
import os
import resource
import socket
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evalcore.sandbox import kernel, seccomp

OK, MISSING = "ok", "missing: "
RESULT = 3
"""The descriptor for the result, beside 0, 1 and 2; a program finds no others open."""
CONFINED = b"+"
"""The first byte on it. Anything else says why the program can't be confined."""


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of one program: its result is JSON, its files are those of its own folder."""

    seconds: float = 30.0
    memory_bytes: int = 1 << 30
    result_bytes: int = 1 << 16
    files_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class World:
    """The surroundings of all programs; `active` are the layers to use."""

    active: set[str]
    readable: list[str]
    base: str | None
    """Where folders to work in are made; None: each program has a file system of its own."""
    mapped: int | None
    """A descriptor that tells how much address space is in use; None where no system tells."""


def confine(world: World, limits: ProgramLimits, work: str, output: int, result: int) -> None:
    """Take all rights from this process but those that computing needs; or say why not, and end.

    `work` is the only folder that it may write; `output` and `result` are its descriptors.
    """
    try:
        pages = 0 if world.mapped is None else int(os.pread(world.mapped, 100, 0).split()[0])
        arrange_descriptors(output, result)
        result = RESULT
        os.chdir(work)
        os.environ.update(HOME=work, TMPDIR=work)
        in_all = limits.memory_bytes + pages * resource.getpagesize()
        # The processes before this one have entered the namespaces already.
        names, writable = world.active - {"namespaces"}, [work, *kernel.DEVICES]
        put_up(names, world.readable, writable, replace(limits, memory_bytes=in_all))
    except (OSError, ValueError) as error:
        os.write(result, str(error).encode(errors="replace")[:1000])
        os._exit(1)
    os.write(RESULT, CONFINED)


def arrange_descriptors(output: int, result: int) -> None:
    """Give the descriptors 0 to 3 their meaning, and close all others."""
    empty = os.open(os.devnull, os.O_RDWR)
    # Copies above the four numbers, lest one be overwritten before it has been copied.
    copies = [fcntl.fcntl(end, fcntl.F_DUPFD, RESULT + 1) for end in (empty, output, empty, result)]
    for number, copy in enumerate(copies):
        os.dup2(copy, number, inheritable=False)
    os.closerange(RESULT + 1, os.sysconf("SC_OPEN_MAX"))


def put_up(
    names: set[str], readable: list[str], writable: list[str], limits: ProgramLimits
) -> None:
    """Put up some layers around this process, for good."""
    if "namespaces" in names:
        kernel.enter_namespaces(readable)
        kernel.enter_for_program(limits.files_bytes)
    if "privileges" in names:
        kernel.drop_privileges()
    if "landlock" in names:
        kernel.apply_landlock(readable, writable)
    if "limits" in names:
        apply_limits(limits)
    if "seccomp" in names:
        seccomp.apply()


def apply_limits(limits: ProgramLimits) -> None:
    """Limit this process and its children; memory is all the address space.

    Computing gets a second more than the clock, which is watched elsewhere. Address space is
    limited on Linux only: other systems don't keep that limit.
    """
    wanted = {
        resource.RLIMIT_CPU: math.ceil(limits.seconds) + 1,
        resource.RLIMIT_FSIZE: limits.files_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 64,
    }
    if kernel.LINUX:
        wanted[resource.RLIMIT_AS] = limits.memory_bytes
    for which, most in wanted.items():
        _, hard = resource.getrlimit(which)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (bound, bound))


def find_old_world() -> None:
    """Raise PermissionError where a new child finds no processes and files but its own."""
    child = os.fork()
    if child == 0:
        alone = os.getpid() == 1 and not os.listdir(kernel.WORK)
        os._exit(0 if alone and not os.path.exists("/proc/self") else 1)
    if os.waitpid(child, 0)[1] == 0:
        raise PermissionError


FORBIDDEN: dict[str, dict[str, Callable[[], Any]]] = {
    "limits": {"memory beyond the limit was given": partial(bytearray, 1 << 37)},
    "privileges": {},
    "namespaces": {"the new world shows the old one": find_old_world},
    "landlock": {"the root folder can be listed": partial(os.listdir, "/")},
    "seccomp": {
        "a socket could be made": partial(socket.socket, socket.AF_UNIX),
        "a process could be started": os.fork,
    },
}
"""The layers, each with what must fail behind it, and what to say where that does not."""
NAMES = tuple(FORBIDDEN)


def probe(name: str, readable: list[str], leave_out: Collection[str]) -> str:
    """Return `ok`, or `missing: ` and why a layer does not hold around a child, which then ends."""
    if name in leave_out:
        return f"{MISSING}left out on request"
    if not kernel.LINUX:
        return f"{MISSING}{sys.platform} does not have it; it needs Linux"
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            put_up({name}, readable, [], ProgramLimits(memory_bytes=1 << 36))
            for what, action in FORBIDDEN[name].items():
                with contextlib.suppress(PermissionError, MemoryError):
                    action()
                    raise OSError(f"accepted, but {what}")
            os.write(writing, OK.encode())
        except (OSError, ValueError, AttributeError, KeyError) as error:
            # Where the C library lacks a function, ctypes raises AttributeError.
            reason = str(getattr(error, "strerror", None) or error)
            os.write(writing, (MISSING + " ".join(reason.split())).encode()[:1000])
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8", errors="replace") as file:
        answer = file.read()
    _, status = os.waitpid(child, 0)
    return answer or f"{MISSING}the trial ended with status {os.waitstatus_to_exitcode(status)}"
