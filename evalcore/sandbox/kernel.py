"""System calls of Linux that Python lacks: process properties, namespaces, and Landlock."""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable

LINUX = sys.platform == "linux"
DEVICES = ("/dev/null", "/dev/urandom")
WORK = "/box"
"""The only folder that can be written, in the namespaces of a program."""

# For `prctl`: the signal when the parent ends; the filter of system calls; being the parent of all
# descendants whose own parent ends; that no program started from here has more rights.
DEATH_SIGNAL, SECCOMP, ADOPT_ORPHANS, NO_NEW_PRIVILEGES = 1, 22, 36, 38

FILES_AT_MOST, NOBODY, OLD = 4096, 65534, "/old"
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
FIRST_RIGHTS, ONE_MORE_RIGHT_SINCE = 13, (2, 3, 5)
"""How many rights over files Landlock knows in version 1, and when it learned another."""
NETWORK_SINCE, SCOPES_SINCE, BOTH = 4, 6, 0b11
"""TCP in both directions; abstract sockets and signals only within the same rules."""

LIBRARY = ctypes.CDLL(None, use_errno=True)


def call(function: str, what: str, *arguments: int | bytes | None) -> int:
    """Call a function of the C library; raise OSError, which names `what`, where it fails."""
    # Whole registers, since the kernel reads them so: ctypes would fill half of each.
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result = int(getattr(LIBRARY, function)(*words))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def control(option: int, what: str, *arguments: int | bytes) -> None:
    """Set a property of this process, for good, where the system has such properties."""
    if LINUX:
        call("prctl", what, option, *arguments, *[0] * (4 - len(arguments)))


def drop_privileges() -> None:
    """Give up the powers of the superuser, for good."""
    version_3_of_this_process = struct.pack("Ii", 0x2008_0522, 0)
    call("capset", "capset", version_3_of_this_process, bytes(24))
    control(NO_NEW_PRIVILEGES, "no_new_privs", 1)


def enter_namespaces(readable: Iterable[str]) -> None:
    """Move this process to a world where only some folders are, none of them writable.

    There is no `/proc` in that world: nothing about other processes can be seen. Where the kernel
    refuses a step, OSError is raised; the process is then in a half-made world and must end.
    """
    sources = {path: os.path.realpath(path) for path in (*readable, *DEVICES)}
    identity = {
        "setgroups": "deny",
        "uid_map": f"{NOBODY} {os.geteuid()} 1",
        "gid_map": f"{NOBODY} {os.getegid()} 1",
    }
    call("unshare", "unshare", NEW_USERS | NEW_MOUNTS | NEW_NETWORK | NEW_IPC | NEW_HOST_NAME)
    for name, text in identity.items():
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    mount("", "/", None, RECURSIVE | PRIVATE)
    mount("tmpfs", "/tmp", "tmpfs", NO_SUID | NO_DEVICES, "size=1m,mode=755")
    os.mkdir("/tmp" + OLD)
    pivot = PIVOT_ROOT[platform.machine()]
    call("syscall", "pivot_root", pivot, b"/tmp", b"/tmp" + OLD.encode())
    os.chdir("/")
    for path, source in sources.items():
        if os.path.isdir(OLD + source):
            os.makedirs(path, mode=0o755, exist_ok=True)
        elif os.path.exists(OLD + source):
            os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
            os.close(os.open(path, os.O_CREAT))  # over which the kernel lays the file
        else:
            continue
        mount(OLD + source, path, None, BIND | RECURSIVE)
    os.mkdir(WORK)
    call("umount2", f"umount {OLD}", OLD.encode(), DETACH)
    os.rmdir(OLD)
    wanted = struct.pack("4Q", READ_ONLY | NO_SUID, 0, 0, 0)
    where = AT_FDCWD, b"/", AT_RECURSIVE
    call("syscall", "mount_setattr /", MOUNT_SETATTR, *where, wanted, len(wanted))


def enter_for_program(files_bytes: int) -> None:
    """Have the next child be the first process of yet another world, with an empty folder.

    `files_bytes` is what all files in the folder may hold; their number is limited too.
    """
    call("unshare", "unshare", NEW_MOUNTS | NEW_PROCESSES | NEW_NETWORK | NEW_IPC)
    options = f"size={files_bytes},nr_inodes={FILES_AT_MOST},mode=700,uid={NOBODY},gid={NOBODY}"
    mount("tmpfs", WORK, "tmpfs", NO_SUID | NO_DEVICES, options)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Mount a file system, or, without a kind, change how a mounted one is seen."""
    words = source.encode(), target.encode(), kind.encode() if kind else None
    call("mount", f"mount {target}", *words, flags, options.encode() or None)


def apply_landlock(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Forbid this process, for good, all files but those below some folders, and the network.

    Paths that don't exist are passed over. A process for which OSError is raised must end.
    """
    version = call("syscall", "landlock", CREATE_RULESET, None, 0, ASK_VERSION)
    rights = (1 << FIRST_RIGHTS + sum(version >= since for since in ONE_MORE_RIGHT_SINCE)) - 1
    handled = [rights, *(BOTH for since in (NETWORK_SINCE, SCOPES_SINCE) if version >= since)]
    words = struct.pack(f"{len(handled)}Q", *handled)
    ruleset = call("syscall", "landlock", CREATE_RULESET, words, len(words), 0)
    allowed = [(path, READ) for path in readable] + [(path, WRITE & rights) for path in writable]
    for path, granted in allowed:
        if os.path.exists(path):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = struct.pack("=Qi", granted if os.path.isdir(path) else granted & OF_FILES, place)
            call("syscall", f"landlock {path}", ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
            os.close(place)
    control(NO_NEW_PRIVILEGES, "no_new_privs", 1)
    call("syscall", "landlock", RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
