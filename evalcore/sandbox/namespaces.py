"""A world of its own: users, files, processes, network and messages that no one else sees."""

from __future__ import annotations

import os

from evalcore.sandbox import kernel
from evalcore.sandbox.folders import DEVICES

WORK = "/box"
"""The only folder that can be written, in the world of a program."""
NOBODY = 65534
FILES_AT_MOST = 4096
OLD = "/old"


def enter(readable: list[str]) -> None:
    """Move this process to a world where only some folders are, none of them writable.

    Parameters
    ----------
    readable : list of str
        Folders and files to be seen, at their usual places; none inside another.

    Raises
    ------
    OSError
        The kernel refused a step; the process is then in a half-made world and must end.

    Notes
    -----
    There is no `/proc` in that world: nothing about other processes can be asked.
    """
    sources = {path: os.path.realpath(path) for path in (*readable, *DEVICES)}
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(
        kernel.NEW_USERS
        | kernel.NEW_MOUNTS
        | kernel.NEW_NETWORK
        | kernel.NEW_IPC
        | kernel.NEW_HOST_NAME
    )
    tell("setgroups", "deny")
    tell("uid_map", f"{NOBODY} {user} 1")
    tell("gid_map", f"{NOBODY} {group} 1")
    kernel.mount("", "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "size=1m,mode=755")
    os.mkdir("/tmp" + OLD)
    kernel.pivot_root("/tmp", "/tmp" + OLD)
    os.chdir("/")
    for path, source in sources.items():
        show(source, path)
    os.mkdir(WORK)
    kernel.unmount(OLD)
    os.rmdir(OLD)
    kernel.make_read_only("/")


def tell(name: str, text: str) -> None:
    """Write one of the kernel's settings for this process."""
    with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
        file.write(text)


def show(source: str, path: str) -> None:
    """Make a folder or file of the old world appear in the new one; nothing if it isn't there."""
    old = OLD + source
    if os.path.isdir(old):
        os.makedirs(path, mode=0o755, exist_ok=True)
    elif os.path.exists(old):
        os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
        with open(path, "wb"):
            """The kernel lays a file over a file."""
    else:
        return
    kernel.mount(old, path, None, kernel.BIND | kernel.RECURSIVE)


def enter_for_program(files_bytes: int) -> None:
    """Have the next child be the first process of yet another world, with an empty folder.

    Parameters
    ----------
    files_bytes : int
        What the files in the folder may hold together; their number is limited too.

    Raises
    ------
    OSError
        The kernel refused.
    """
    kernel.unshare(kernel.NEW_MOUNTS | kernel.NEW_PROCESSES | kernel.NEW_NETWORK | kernel.NEW_IPC)
    options = f"size={files_bytes},nr_inodes={FILES_AT_MOST},mode=700,uid={NOBODY},gid={NOBODY}"
    kernel.mount("tmpfs", WORK, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, options)
