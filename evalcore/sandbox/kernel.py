"""Calls to Linux that Python's library does not offer."""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys

LINUX = sys.platform == "linux"
SET_DEATH_SIGNAL, SET_SECCOMP, SET_SUBREAPER, SET_NO_NEW_PRIVILEGES = 1, 22, 36, 38


@functools.cache
def library() -> ctypes.CDLL:
    """Return the C library that this process uses already."""
    return ctypes.CDLL(None, use_errno=True)


def call(function: str, what: str, *arguments: int | bytes | None) -> int:
    """Call a function of the C library; raise OSError, which names `what`, where it fails."""
    # Whole registers, since the kernel reads them so: ctypes would fill half of each.
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = int(getattr(library(), function)(*words))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def control(option: int, what: str, *arguments: int | bytes) -> None:
    """Set a property of this process with `prctl`."""
    call("prctl", what, option, *arguments, *[0] * (4 - len(arguments)))


def drop_capabilities() -> None:
    """Give up the powers of the superuser, for good: see also `forbid_new_privileges`."""
    version_3_of_this_process = struct.pack("Ii", 0x2008_0522, 0)
    call("capset", "capset", version_3_of_this_process, bytes(24))


def forbid_new_privileges() -> None:
    """Make sure that no program started from here has more rights than this one."""
    control(SET_NO_NEW_PRIVILEGES, "no_new_privs", 1)


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this signal to the process when its parent ends."""
    if LINUX:
        control(SET_DEATH_SIGNAL, "parent death signal", signal_number)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    if LINUX:
        control(SET_SUBREAPER, "child subreaper", 1)
