"""The limits that every Unix has, on one process: memory, time, files, descriptors."""

from __future__ import annotations

import math
import os
import resource

from evalcore.sandbox import kernel

DESCRIPTORS_AT_MOST = 64
MAPPED = "/proc/self/statm"


def mapped_bytes(descriptor: int) -> int:
    """Return the address space in use by the process whose `statm` file is open here."""
    pages = int(os.pread(descriptor, 100, 0).split()[0])
    return pages * resource.getpagesize()


def apply(seconds: float, memory_bytes: int, files_bytes: int) -> None:
    """Limit this process and its children.

    Parameters
    ----------
    seconds : float
        Of the clock; computing gets a second more, since the clock is watched elsewhere.
    memory_bytes : int
        Of address space, all that is in use already included.
    files_bytes : int
        Of each file.

    Raises
    ------
    OSError, ValueError
        The system refused.

    Notes
    -----
    Address space is limited on Linux only: elsewhere the system does not keep that limit.
    """
    computing = math.ceil(seconds) + 1
    lower(resource.RLIMIT_CPU, computing)
    lower(resource.RLIMIT_FSIZE, files_bytes)
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_NOFILE, DESCRIPTORS_AT_MOST)
    if kernel.LINUX:
        lower(resource.RLIMIT_AS, memory_bytes)


def lower(which: int, wanted: int) -> None:
    """Set a limit, for good; where a lower one is in force already, keep that."""
    _, hard = resource.getrlimit(which)
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (bound, bound))
