"""Rules of Landlock: which files a process may read and write, for the rest of its life."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

from evalcore.sandbox import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = 1
PATH_BENEATH = 1

WRITE_FILE, READ_FILE, READ_FOLDER = 1 << 1, 1 << 2, 1 << 3
REMOVE_FOLDER, REMOVE_FILE, MAKE_FOLDER, MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
TRUNCATE = 1 << 14
READ = READ_FILE | READ_FOLDER
OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE
WRITE = READ | WRITE_FILE | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE | TRUNCATE
"""Neither links nor sockets, pipes and devices can be made."""

FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Version of the interface to the number of rights over files that it knows."""
NETWORK_SINCE, ALL_TCP = 4, 0b11
SCOPES_SINCE, ALL_SCOPES = 6, 0b11
"""Abstract sockets and signals: only within the same rules."""


class Ruleset(ctypes.Structure):
    """What is forbidden where no rule allows it."""

    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class Rule(ctypes.Structure):
    """What is allowed below a folder."""

    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Return the version of the kernel's interface; OSError where there is no Landlock."""
    return kernel.call(
        CREATE_RULESET, "landlock", None, ctypes.c_size_t(0), ctypes.c_uint(ASK_VERSION)
    )


def handled(known: int) -> Ruleset:
    """Return all that a version of the interface can forbid."""
    rights = max(count for since, count in FILE_RIGHTS.items() if since <= known)
    return Ruleset(
        (1 << rights) - 1,
        ALL_TCP if known >= NETWORK_SINCE else 0,
        ALL_SCOPES if known >= SCOPES_SINCE else 0,
    )


def apply(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Forbid this process, for good, all files but those below some folders, and the network.

    Parameters
    ----------
    readable : iterable of str
        Folders and files; those that don't exist are passed over.
    writable : iterable of str
        Folders where files and folders can be made, written and removed; and device files.

    Raises
    ------
    OSError
        The kernel has no Landlock or refused.
    """
    known = version()
    ruleset = handled(known)
    size = 24 if known >= SCOPES_SINCE else 16 if known >= NETWORK_SINCE else 8
    made = kernel.call(
        CREATE_RULESET, "landlock", ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint(0)
    )
    try:
        for path in readable:
            allow(made, path, READ)
        for path in writable:
            allow(made, path, WRITE & ruleset.files)
        kernel.forbid_new_privileges()
        kernel.call(RESTRICT_SELF, "landlock", ctypes.c_int(made), ctypes.c_uint(0))
    finally:
        os.close(made)


def allow(ruleset: int, path: str, rights: int) -> None:
    """Add a rule to a set.

    Parameters
    ----------
    ruleset : int
        The descriptor of the set.
    path : str
        A folder or a file; one that doesn't exist adds no rule.
    rights : int
        The bits of what is allowed there; for a file, only those that files have.

    Raises
    ------
    OSError
        The kernel refused.
    """
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rule = Rule(rights if os.path.isdir(path) else rights & OF_FILES, place)
        where = ctypes.c_int(PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint(0)
        kernel.call(ADD_RULE, f"landlock {path}", ctypes.c_int(ruleset), *where)
    finally:
        os.close(place)
