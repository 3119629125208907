"""The layers of the sandbox: which of them this machine has, and putting them up."""

from __future__ import annotations

import fcntl
import math
import os
import resource
import socket
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from evalcore.sandbox import files, kernel, seccomp

NAMES = ("limits", "privileges", "namespaces", "landlock", "seccomp")
OK, MISSING = "ok", "missing: "
DESCRIPTORS_AT_MOST = 64

RESULT = 3
"""The descriptor for the result, beside 0, 1 and 2; a program finds no others open."""
CONFINED = b"+"
"""The first byte on it. Anything else says why the program can't be confined."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use: its result is JSON, its files are those of its own folder."""

    seconds: float = 30.0
    memory_bytes: int = 1 << 30
    result_bytes: int = 1 << 16
    files_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class World:
    """What is the same for all programs."""

    active: set[str]
    """Names of the layers that are to be used."""
    readable: list[str]
    base: str | None
    """Where folders to work in are made; None: each program has a file system of its own."""
    mapped: int | None
    """A descriptor that tells how much address space is in use; None where no system tells."""


def confine(world: World, limits: Limits, work: str, output: int, result: int) -> None:
    """Take all rights from this process but those that computing needs; or say why not, and end.

    `work` is the only folder that it may write; `output` and `result` are its descriptors.
    """
    try:
        pages = 0 if world.mapped is None else int(os.pread(world.mapped, 100, 0).split()[0])
        arrange_descriptors(output, result)
        result = RESULT
        os.chdir(work)
        os.environ.update(HOME=work, TMPDIR=work)
        if "privileges" in world.active:
            kernel.drop_privileges()
        if "landlock" in world.active:
            files.apply_landlock(world.readable, (work, *files.DEVICES))
        if "limits" in world.active:
            memory_bytes = pages * resource.getpagesize() + limits.memory_bytes
            apply_limits(limits.seconds, memory_bytes, limits.files_bytes)
        if "seccomp" in world.active:
            seccomp.apply()
    except (OSError, ValueError) as error:
        os.write(result, str(error).encode(errors="replace")[:1000])
        os._exit(1)
    os.write(RESULT, CONFINED)


def arrange_descriptors(output: int, result: int) -> None:
    """Give the descriptors 0 to 3 their meaning, and close all others."""
    empty = os.open(os.devnull, os.O_RDWR)
    # Copies above the four numbers, lest one be overwritten before it has been copied.
    sources = empty, output, empty, result
    copies = [fcntl.fcntl(source, fcntl.F_DUPFD, RESULT + 1) for source in sources]
    for number, copy in enumerate(copies):
        os.dup2(copy, number, inheritable=False)
    os.closerange(RESULT + 1, os.sysconf("SC_OPEN_MAX"))


def apply_limits(seconds: float, memory_bytes: int, files_bytes: int) -> None:
    """Limit this process and its children; `memory_bytes` is all its address space.

    Computing gets a second more than the clock, which is watched elsewhere. Address space is
    limited on Linux only: other systems don't keep that limit.
    """
    wanted = {
        resource.RLIMIT_CPU: math.ceil(seconds) + 1,
        resource.RLIMIT_FSIZE: files_bytes,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: DESCRIPTORS_AT_MOST,
    }
    if kernel.LINUX:
        wanted[resource.RLIMIT_AS] = memory_bytes
    for which, most in wanted.items():
        _, hard = resource.getrlimit(which)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (bound, bound))


def probe_all(readable: list[str], leave_out: Collection[str]) -> dict[str, str]:
    """Try each layer; return for each of `NAMES` `ok`, or `missing: ` and the reason.

    `readable` are the folders and files that a program will see.
    """
    attempts: dict[str, Callable[[], None]] = {
        "limits": try_limits,
        "privileges": kernel.drop_privileges,
        "namespaces": partial(try_namespaces, readable),
        "landlock": partial(try_landlock, readable),
        "seccomp": try_seccomp,
    }
    return {
        name: f"{MISSING}left out on request" if name in leave_out else probed(attempt)
        for name, attempt in attempts.items()
    }


def probed(attempt: Callable[[], None]) -> str:
    """Return `ok`, or `missing: ` and why the attempt failed, made in a child that then ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, state_after(attempt).encode()[:1000])
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        answer = file.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return answer or f"{MISSING}the trial ended with status {code}"


def state_after(attempt: Callable[[], None]) -> str:
    """Return `ok`, or `missing: ` and the message of the failure."""
    try:
        if not kernel.LINUX:
            raise OSError(f"{sys.platform} does not have it; it needs Linux")
        attempt()
    except (OSError, ValueError, AttributeError, KeyError) as error:
        # Where the C library lacks a function, ctypes raises AttributeError.
        reason = error.strerror if isinstance(error, OSError) else None
        return MISSING + " ".join((reason or str(error)).split())
    return OK


def must_fail(action: Callable[[], object], what: str) -> None:
    """Raise OSError where a layer was accepted by the kernel but does not do its work."""
    try:
        action()
    except (PermissionError, MemoryError):
        return
    raise OSError(f"accepted, but {what}")


def try_limits() -> None:
    """Limit this process, which then must not get a lot of memory."""
    apply_limits(10, 1 << 36, 1 << 20)
    must_fail(partial(bytearray, 1 << 37), "memory beyond the limit was given")


def try_namespaces(readable: list[str]) -> None:
    """Enter both worlds, and look around from within."""
    files.enter_namespaces(readable)
    files.enter_for_program(1 << 20)
    child = os.fork()
    if child == 0:
        alone = os.getpid() == 1 and os.listdir(files.WORK) == []
        os._exit(0 if alone and not os.path.exists("/proc/self") else 1)
    if os.waitpid(child, 0)[1] != 0:
        raise OSError("accepted, but the new world shows the old one")


def try_landlock(readable: list[str]) -> None:
    """Forbid all but some folders, then look at the root folder."""
    files.apply_landlock(readable, [])
    must_fail(partial(os.listdir, "/"), "the root folder can be listed")


def try_seccomp() -> None:
    """Filter system calls, then open a socket and start a process."""
    seccomp.apply()
    must_fail(partial(socket.socket, socket.AF_UNIX), "a socket could be made")
    must_fail(os.fork, "a process could be started")
