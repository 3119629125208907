"""Calls to Linux that Python's library does not offer."""

from __future__ import annotations

import ctypes
import os
import struct
import sys

LINUX = sys.platform == "linux"
DEATH_SIGNAL, SECCOMP, ADOPT_ORPHANS, NO_NEW_PRIVILEGES = 1, 22, 36, 38
"""Properties of a process, by their numbers for `prctl`: the signal that it gets when its parent
ends; its filter of system calls; being the parent of all descendants whose own parent ends; no
program started from it has more rights than it."""

library = ctypes.CDLL(None, use_errno=True)
"""The C library that this process uses already."""


def call(function: str, what: str, *arguments: int | bytes | None) -> int:
    """Call a function of the C library; raise OSError, which names `what`, where it fails."""
    # Whole registers, since the kernel reads them so: ctypes would fill half of each.
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result = int(getattr(library, function)(*words))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def control(option: int, what: str, *arguments: int | bytes) -> None:
    """Set a property of this process, for good, where the system has such properties."""
    if LINUX:
        call("prctl", what, option, *arguments, *[0] * (4 - len(arguments)))


def forbid_new_privileges() -> None:
    """Make sure that no program started from here has more rights than this process."""
    control(NO_NEW_PRIVILEGES, "no_new_privs", 1)


def drop_privileges() -> None:
    """Give up the powers of the superuser, for good."""
    version_3_of_this_process = struct.pack("Ii", 0x2008_0522, 0)
    call("capset", "capset", version_3_of_this_process, bytes(24))
    forbid_new_privileges()
