"""The files that a program may use: what it can read, namespaces, Landlock, and removing the rest.

A program reads what Python itself needs, and writes one folder of its own.
"""

from __future__ import annotations

import os
import platform
import secrets
import stat
import struct
import sys
from collections.abc import Iterable

from evalcore.sandbox import kernel

SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
"""Shared libraries, time zones, and where the loader finds libraries."""
DEVICES = ("/dev/null", "/dev/urandom")

WORK = "/box"
"""The only folder that can be written, in the namespaces of a program."""
FILES_AT_MOST = 4096
OLD = "/old"
NOBODY = 65534
NEW_MOUNTS, NEW_HOST_NAME, NEW_IPC = 0x0002_0000, 0x0400_0000, 0x0800_0000
NEW_USERS, NEW_PROCESSES, NEW_NETWORK = 0x1000_0000, 0x2000_0000, 0x4000_0000
READ_ONLY, NO_SUID, NO_DEVICES, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 1 << 12, 1 << 14, 1 << 18
DETACH, AT_FDCWD, AT_RECURSIVE = 2, -100, 0x8000
PIVOT_ROOT, MOUNT_SETATTR = {"x86_64": 155, "aarch64": 41}, 442

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION = PATH_BENEATH = 1
WRITE_FILE, READ_FILE, READ_FOLDER, TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
REMOVE_FOLDER, REMOVE_FILE, MAKE_FOLDER, MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
READ = READ_FILE | READ_FOLDER
OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE
WRITE = READ | OF_FILES | REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE
"""Neither links nor sockets, pipes and devices can be made."""
FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
"""Version of Landlock → number of rights over files that it knows."""
NETWORK_SINCE, SCOPES_SINCE, ALL = 4, 6, 0b11
"""TCP in both directions; abstract sockets and signals only within the same rules."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def package_folders() -> list[str]:
    """Return the folders of installed packages that this Python knows.

    Other folders of the path (the current one, those of packages installed for development) are
    left out: they are the user's, and may hold data.
    """
    names = {"site-packages", "dist-packages"}
    return [path for path in sys.path if os.path.basename(path) in names and os.path.isdir(path)]


def readable_folders(packages: list[str]) -> list[str]:
    """Return what a program may read, given the folders of packages; none lies in another."""
    python = [os.path.dirname(os.__file__)]
    if sys.base_prefix != "/":
        python.append(os.path.join(sys.base_prefix, "lib"))
    chosen: list[str] = []
    for path in sorted({os.path.abspath(p) for p in (*SYSTEM, *python, *packages)}, key=len):
        inside = any(path.startswith(folder + "/") for folder in chosen)
        if not inside and os.path.exists(path):
            chosen.append(path)
    return chosen


def enter_namespaces(readable: list[str]) -> None:
    """Move this process to a world where only some folders are, none of them writable.

    There is no `/proc` in that world: nothing about other processes can be asked. Where the kernel
    refuses a step, OSError is raised; the process is then in a half-made world and must end.
    """
    sources = {path: os.path.realpath(path) for path in (*readable, *DEVICES)}
    user, group = os.geteuid(), os.getegid()
    flags = NEW_USERS | NEW_MOUNTS | NEW_NETWORK | NEW_IPC | NEW_HOST_NAME
    kernel.call("unshare", "unshare", flags)
    maps = ("uid_map", f"{NOBODY} {user} 1"), ("gid_map", f"{NOBODY} {group} 1")
    for name, text in (("setgroups", "deny"), *maps):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    mount("", "/", None, RECURSIVE | PRIVATE)
    mount("tmpfs", "/tmp", "tmpfs", NO_SUID | NO_DEVICES, "size=1m,mode=755")
    os.mkdir("/tmp" + OLD)
    pivot = PIVOT_ROOT[platform.machine()]
    kernel.call("syscall", "pivot_root", pivot, b"/tmp", b"/tmp" + OLD.encode())
    os.chdir("/")
    for path, source in sources.items():
        show(OLD + source, path)
    os.mkdir(WORK)
    kernel.call("umount2", f"umount {OLD}", OLD.encode(), DETACH)
    os.rmdir(OLD)
    wanted = struct.pack("4Q", READ_ONLY | NO_SUID, 0, 0, 0)
    where = AT_FDCWD, b"/", AT_RECURSIVE
    kernel.call("syscall", "mount_setattr /", MOUNT_SETATTR, *where, wanted, len(wanted))


def enter_for_program(files_bytes: int) -> None:
    """Have the next child be the first process of yet another world, with an empty folder.

    `files_bytes` is what all files in the folder may hold; their number is limited too.
    """
    flags = NEW_MOUNTS | NEW_PROCESSES | NEW_NETWORK | NEW_IPC
    kernel.call("unshare", "unshare", flags)
    options = f"size={files_bytes},nr_inodes={FILES_AT_MOST},mode=700,uid={NOBODY},gid={NOBODY}"
    mount("tmpfs", WORK, "tmpfs", NO_SUID | NO_DEVICES, options)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system, or, without a kind, change how a mounted one is seen."""
    words = source.encode(), target.encode(), kind.encode() if kind else None
    kernel.call("mount", f"mount {target}", *words, flags, options.encode() or None)


def show(old: str, path: str) -> None:
    """Make a folder or file of the old world appear in the new one; nothing if it isn't there."""
    if not os.path.exists(old):
        return
    is_folder = os.path.isdir(old)
    os.makedirs(path if is_folder else os.path.dirname(path), mode=0o755, exist_ok=True)
    if not is_folder:
        # The kernel lays a file over a file.
        os.close(os.open(path, os.O_CREAT))
    mount(old, path, None, BIND | RECURSIVE)


def apply_landlock(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Forbid this process, for good, all files but those below some folders, and the network.

    Paths that don't exist are passed over.
    """
    version = kernel.call("syscall", "landlock", CREATE_RULESET, None, 0, ASK_VERSION)
    rights = (1 << max(n for since, n in FILE_RIGHTS.items() if since <= version)) - 1
    handled = [rights]
    handled += [ALL] * ((version >= NETWORK_SINCE) + (version >= SCOPES_SINCE))
    words = struct.pack(f"{len(handled)}Q", *handled)
    ruleset = kernel.call("syscall", "landlock", CREATE_RULESET, words, len(words), 0)
    try:
        for path in readable:
            allow(ruleset, path, READ)
        for path in writable:
            allow(ruleset, path, WRITE & rights)
        kernel.forbid_new_privileges()
        kernel.call("syscall", "landlock", RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def allow(ruleset: int, path: str, rights: int) -> None:
    """Allow what is in `rights` below a folder, or for a file as far as files have such rights."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        rule = struct.pack("=Qi", rights if os.path.isdir(path) else rights & OF_FILES, place)
        kernel.call("syscall", f"landlock {path}", ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
    finally:
        os.close(place)


def remove_tree(path: str) -> None:
    """Remove a folder with all that a program left in it, of any depth, rights and names.

    Folders within folders are moved up until none is deep: a path of thousands of names is longer
    than the system takes, and recursion ends early. OSError: something could not be removed.
    """
    try:
        os.chmod(path, stat.S_IRWXU)
    except FileNotFoundError:
        return
    top = os.open(path, _FOLDER)
    try:
        while os.listdir(top):
            _clear(top, top)
    finally:
        os.close(top)
    os.rmdir(path)


def _clear(folder: int, top: int) -> None:
    """Remove files, and the folders in the topmost one; those inside them move up beside them."""
    for name in os.listdir(folder):
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=folder)
            continue
        os.chmod(name, stat.S_IRWXU, dir_fd=folder)
        if folder != top:
            os.rename(name, secrets.token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
            continue
        inner = os.open(name, _FOLDER, dir_fd=top)
        try:
            _clear(inner, top)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)
