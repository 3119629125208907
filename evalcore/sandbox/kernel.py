"""The calls to Linux that Python's library does not offer."""

from __future__ import annotations

import ctypes
import os
import platform
import sys

NEW_MOUNTS = 0x0002_0000
NEW_HOST_NAME = 0x0400_0000
NEW_IPC = 0x0800_0000
NEW_USERS = 0x1000_0000
NEW_PROCESSES = 0x2000_0000
NEW_NETWORK = 0x4000_0000

SET_DEATH_SIGNAL = 1
SET_SECCOMP = 22
SET_SUBREAPER = 36
SET_NO_NEW_PRIVILEGES = 38

PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
MOUNT_SETATTR = 442

READ_ONLY, NO_SUID, NO_DEVICES, BIND = 1, 2, 4, 4096
RECURSIVE, PRIVATE = 1 << 14, 1 << 18
DETACH = 2
AT_FDCWD, AT_RECURSIVE = -100, 0x8000

LINUX = sys.platform == "linux"


def library() -> ctypes.CDLL:
    """Return the C library that this process uses already."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """Return what a C function returned, or raise OSError where it tells of a failure."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(number: int, what: str, *arguments: object) -> int:
    """Make a system call by its number.

    Parameters
    ----------
    number : int
        Of the call, on this machine's architecture.
    what : str
        The name for the message of an error.
    arguments : int, bytes or ctypes object
        As the call needs them.

    Returns
    -------
    int
        What the call returned.

    Raises
    ------
    OSError
        The call failed.
    """
    syscall = library().syscall
    syscall.restype = ctypes.c_long
    return checked(syscall(ctypes.c_long(number), *arguments), what)


def control(option: int, what: str, *arguments: object) -> None:
    """Set a property of this process with `prctl`; `what` names it in the message of an error."""
    words = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    padding = [ctypes.c_ulong(0)] * (4 - len(words))
    checked(library().prctl(option, *words, *padding), what)


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for new ones."""
    checked(library().unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system, or change how it is mounted.

    Parameters
    ----------
    source, target : str
        What, and where.
    kind : str or None
        Of the file system; None where `flags` ask for another view of a mounted one.
    flags : int
        The kernel's `MS_` bits.
    options : str
        What the file system itself understands.

    Raises
    ------
    OSError
        The kernel refused.
    """
    words = [source.encode(), target.encode(), kind.encode() if kind else None]
    result = library().mount(*words, ctypes.c_ulong(flags), options.encode() or None)
    checked(result, f"mount {target}")


def unmount(target: str) -> None:
    """Take a mounted file system out of sight."""
    checked(library().umount2(target.encode(), DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root folder, and have the present one at `old` below it."""
    call(PIVOT_ROOT[platform.machine()], "pivot_root", new.encode(), old.encode())


def make_read_only(path: str) -> None:
    """Allow no writing through a mount and all below it, nor programs that change the user."""
    wanted = (ctypes.c_uint64 * 4)(READ_ONLY | NO_SUID, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    where = ctypes.c_int(AT_FDCWD), path.encode(), ctypes.c_uint(AT_RECURSIVE)
    call(MOUNT_SETATTR, f"mount_setattr {path}", *where, ctypes.byref(wanted), size)


def drop_capabilities() -> None:
    """Give up the powers of the superuser, for good: see also `forbid_new_privileges`."""
    header = (ctypes.c_uint32 * 2)(0x2008_0522, 0)
    none = (ctypes.c_uint32 * 6)()
    checked(library().capset(ctypes.byref(header), ctypes.byref(none)), "capset")


def forbid_new_privileges() -> None:
    """See to it that no program started from here has more rights than this one."""
    control(SET_NO_NEW_PRIVILEGES, "no_new_privs", 1)


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this signal to the process when its parent ends."""
    if LINUX:
        control(SET_DEATH_SIGNAL, "parent death signal", signal_number)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    if LINUX:
        control(SET_SUBREAPER, "child subreaper", 1)
