"""Which layers of the sandbox this machine has: each is tried out in a process of its own."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Collection
from functools import partial

from evalcore.sandbox import kernel, landlock, namespaces, rlimits, seccomp

NAMES = ("limits", "privileges", "namespaces", "landlock", "seccomp")
OK = "ok"
MISSING = "missing: "
LEFT_OUT = MISSING + "left out on request"


def probe_all(readable: list[str], leave_out: Collection[str]) -> dict[str, str]:
    """Try each layer.

    Parameters
    ----------
    readable : list of str
        Folders and files that a program will see.
    leave_out : collection of str
        Names of layers that shall be missing.

    Returns
    -------
    dict
        For each of `NAMES`, `ok`, or `missing: ` and the reason.
    """
    attempts: dict[str, Callable[[], None]] = {
        "limits": try_limits,
        "privileges": try_privileges,
        "namespaces": partial(try_namespaces, readable),
        "landlock": partial(try_landlock, readable),
        "seccomp": try_seccomp,
    }
    return {
        name: LEFT_OUT if name in leave_out else probed(attempt)
        for name, attempt in attempts.items()
    }


def probed(attempt: Callable[[], None]) -> str:
    """Return `ok`, or `missing: ` and why the attempt failed, made in a child that then ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, reason_of_failure(attempt).encode()[:1000])
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        answer = file.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    if not answer:
        return f"{MISSING}the trial ended with status {os.waitstatus_to_exitcode(status)}"
    return answer


def reason_of_failure(attempt: Callable[[], None]) -> str:
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


def must(holds: bool, what: str) -> None:
    """Fail where a layer was accepted by the kernel but does not do its work."""
    if not holds:
        raise OSError(f"accepted, but {what}")


def refused(action: Callable[[], object]) -> bool:
    """Return whether an action fails for lack of permission."""
    try:
        action()
    except PermissionError:
        return True
    return False


def try_limits() -> None:
    """Limit this process, which then must not get a lot of memory."""
    rlimits.apply(10, 1 << 36, 1 << 20)
    try:
        bytearray(1 << 37)
    except MemoryError:
        return
    must(False, "memory beyond the limit was given")


def try_privileges() -> None:
    """Give up all privileges."""
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()


def try_namespaces(readable: list[str]) -> None:
    """Enter both worlds, and look around from within."""
    namespaces.enter(readable)
    namespaces.enter_for_program(1 << 20)
    child = os.fork()
    if child == 0:
        alone = os.getpid() == 1 and sorted(os.listdir(namespaces.WORK)) == []
        os._exit(0 if alone and not os.path.exists("/proc/self") else 1)
    _, status = os.waitpid(child, 0)
    must(status == 0, "the new world shows the old one")


def try_landlock(readable: list[str]) -> None:
    """Forbid all but some folders, then look at the root folder."""
    landlock.apply(readable, [])
    must(refused(partial(os.listdir, "/")), "the root folder can be listed")


def try_seccomp() -> None:
    """Filter system calls, then open a socket."""
    kernel.forbid_new_privileges()
    seccomp.apply()
    must(refused(partial(socket.socket, socket.AF_UNIX)), "a socket could be made")
    must(refused(os.fork), "a process could be started")
