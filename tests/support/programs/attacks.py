"""Programs that try to do harm: a function each, which returns what it achieved.

The text of this module runs in a sandbox, where the names below are set and one function is called
last. All are bounded, so that a sandbox that does not hold does no harm to who tests it.
"""

import ctypes
import fcntl
import gc
import json
import mmap
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

HOME = ""
"""The home of the person who has the programs run, with a file that is dear to that person."""
ABSTRACT = ""
"""The beginning of the names of sockets without a file, on which that person listens."""
PERSON = 0
"""The process of that person."""
TCP = 0
UDP = 0
"""The ports on which that person listens."""

C = ctypes.CDLL(None, use_errno=True)
page = ctypes.create_string_buffer(256)


def tried(*actions: Callable[[], object]) -> str:
    """Return which actions raise no exception, by their lines in this file."""
    lines = []
    for action in actions:
        try:
            action()
        except (OSError, RuntimeError, ValueError, MemoryError, EOFError):
            continue
        lines.append(action.__code__.co_firstlineno)
    if not lines:
        return "stopped"
    return "achieved everything" if len(lines) == len(actions) else f"achieved lines {lines}"


def called(function: Callable[..., int], *arguments: object) -> int:
    """Call a function of the C library; raise OSError where it fails."""
    result = function(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def write(path: str, text: str = "x") -> int:
    with open(path, "w") as file:
        return file.write(text)


def read(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


def look(name: str, process: int | None = None) -> None:
    read(f"/proc/{process or PERSON}/{name}")


def dear() -> str:
    return HOME + "/dear.txt"


def connect(kind: int, address: Any) -> None:
    with socket.socket(kind, socket.SOCK_STREAM) as made:
        made.settimeout(0.3)
        made.connect(address)


def send(kind: int, address: Any) -> None:
    with socket.socket(kind, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", address)


def through(make: Callable[[str, str], None], target: str) -> None:
    """Read a file by a link to it."""
    link = str(time.monotonic_ns())
    make(target, link)
    read(link)


def outside(place: str) -> None:
    write(place + "/written-outside")


# What others have


def reads_and_reaches_others() -> str:
    return tried(
        lambda: os.listdir(HOME),
        lambda: read(dear()),
        lambda: os.open(HOME, os.O_RDONLY),
        lambda: read("/etc/passwd"),
        lambda: look("environ"),
        lambda: look("maps"),
        lambda: look("cmdline"),
        lambda: os.kill(PERSON, 0),
        lambda: connect(socket.AF_INET, ("127.0.0.1", TCP)),
        lambda: connect(socket.AF_UNIX, HOME + "/socket"),
        lambda: connect(socket.AF_UNIX, ABSTRACT),
        lambda: send(socket.AF_INET, ("127.0.0.1", UDP)),
        lambda: send(socket.AF_UNIX, ABSTRACT + "-datagrams"),
        lambda: through(os.symlink, "/etc/passwd"),
        lambda: through(os.symlink, dear()),
    )


def reads_by_other_ways() -> str:
    return tried(
        lambda: through(os.link, "/etc/passwd"),
        lambda: through(os.link, dear()),
        lambda: read("../../../../etc/passwd"),
        lambda: read("/etc/shadow"),
        lambda: look("mem"),
        lambda: look("fd"),
        lambda: look("root/etc/passwd"),
        lambda: look("cwd/etc/passwd"),
        lambda: os.listdir(f"/proc/{PERSON}/fd"),
        lambda: look("environ", os.getppid()),
    )


def finds_secrets() -> str:
    first, second = "secret-", "5b1f" + "8a"
    places = [repr(dict(os.environ)), repr(sys.argv), repr(sys.orig_argv)]
    for found in gc.get_objects():
        if isinstance(found, dict):
            places += [value for value in found.values() if isinstance(value, str)]
    return "found" if any(first + second in place for place in places) else "stopped"


def writes_outside_and_lifts_limits() -> str:
    high = resource.RLIM_INFINITY, resource.RLIM_INFINITY
    return tried(
        lambda: outside(HOME),
        lambda: outside(""),
        lambda: outside("/tmp"),
        lambda: outside("/etc"),
        lambda: outside("/dev"),
        lambda: outside("/dev/shm"),
        lambda: outside("/var/tmp"),
        lambda: outside("/run"),
        lambda: outside(sys.prefix),
        lambda: outside(".."),
        lambda: outside(os.path.dirname(os.__file__)),
        lambda: os.mkdir(HOME + "/new"),
        lambda: write(dear()),
        lambda: open(os.__file__, "a").close(),
        lambda: os.kill(PERSON, signal.SIGTERM),
        lambda: os.killpg(PERSON, signal.SIGTERM),
        lambda: os.setuid(1),
        lambda: os.setgroups([0]),
        lambda: os.setgid(1),
        lambda: resource.setrlimit(resource.RLIMIT_AS, high),
        lambda: resource.setrlimit(resource.RLIMIT_CPU, high),
        lambda: resource.prlimit(PERSON, resource.RLIMIT_NOFILE),
        lambda: mmap.mmap(-1, 2 << 30),
        lambda: write("large", "x" * (4 << 20)),
        lambda: [os.open("/dev/null", 0) for _ in range(10_000)],
    )


def writes_many_files() -> str:
    return tried(lambda: [write(f"{number}") for number in range(20_000)])


# Calls to the kernel


def starts_threads_and_hides_memory() -> str:
    return tried(
        lambda: threading.Thread(target=time.sleep, args=[60]).start(),
        lambda: os.memfd_create("x"),
    )


def sleep_in_a_child() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    return child


def calls_what_the_filter_refuses() -> str:
    here, _ = os.pipe()
    vector = (ctypes.c_uint64 * 2)(ctypes.addressof(page), 64)
    parent = ctypes.c_int(os.getppid())
    return tried(
        lambda: [sleep_in_a_child() for _ in range(40)],
        lambda: called(C.syscall, 57),
        lambda: called(C.fork),
        lambda: subprocess.run(["/bin/true"], check=False),
        lambda: os.execv("/bin/true", ["true"]),
        lambda: os.posix_spawn("/bin/true", ["true"], {}),
        lambda: os.execv(sys.executable, ["python"]),
        lambda: called(C.setns, 0, 0),
        lambda: fcntl.fcntl(here, fcntl.F_SETOWN, os.getppid()),
        lambda: fcntl.fcntl(here, fcntl.F_SETOWN, -1),
        lambda: fcntl.fcntl(here, 10, signal.SIGKILL),
        lambda: called(C.fcntl, here, 15, bytes(8)),
        lambda: called(C.ioctl, here, 0x8901, ctypes.byref(parent)),
        lambda: fcntl.ioctl(here, 0x5452, bytes([1, 0, 0, 0])),
        lambda: called(C.ptrace, 16, PERSON, 0, 0),
        lambda: called(C.process_vm_readv, PERSON, vector, 1, vector, 1, 0),
        lambda: called(C.ptrace, 0x4206, PERSON, 0, 0),
        lambda: called(C.syscall, 434, PERSON, 0),
        lambda: os.remove(dear()),
        lambda: shutil.rmtree(HOME),
        lambda: os.rename(dear(), "x"),
        lambda: os.truncate(dear(), 0),
        lambda: os.chmod(dear(), 0),
        lambda: os.utime(dear(), (0, 0)),
        lambda: os.chown(dear(), os.getuid(), -1),
        lambda: called(C.prctl, 1, 0, 0, 0, 0),
        lambda: called(C.prctl, 36, 1, 0, 0, 0),
        lambda: os.setregid(-1, -1),
        lambda: called(C.prctl, 4, 1, 0, 0, 0),
        lambda: called(C.prctl, 0x59616D61, -1, 0, 0, 0),
        lambda: os.setuid(0),
        lambda: os.setxattr(dear(), "user.x", b"x"),
        lambda: called(C.mount, b"x", b".", b"tmpfs", 0, None),
        lambda: os.chroot("."),
        lambda: called(C.unshare, 0x10000000),
        lambda: called(C.umount2, b"/box", 2),
    )


def makes_rare_calls() -> str:
    """Rings of requests, mounts, other processes, the page cache, and what is newer than these."""
    return tried(
        lambda: called(C.syscall, 425, page, page, 0),
        lambda: called(C.syscall, 427, page, page, 0),
        lambda: called(C.syscall, 428, page, page, 0),
        lambda: called(C.syscall, 434, page, page, 0),
        lambda: called(C.syscall, 438, page, page, 0),
        lambda: called(C.syscall, 448, page, page, 0),
        lambda: called(C.syscall, 451, page, page, 0),
        lambda: called(C.syscall, 463, page, page, 0),
        lambda: called(C.syscall, 500, page, page, 0),
        lambda: called(C.syscall, 0x40000000 + 39, page, page, 0),
    )


def talks_through_files_that_all_can_read() -> str:
    shared = os.open(os.__file__, os.O_RDONLY)
    folder = os.open(os.path.dirname(os.__file__), os.O_RDONLY)
    lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)
    would = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    C.mmap.restype = ctypes.c_void_p
    numbers = [ctypes.c_int] * 3
    C.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *numbers, ctypes.c_long]
    mapped = C.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, shared, 0)
    address, length = ctypes.c_void_p(mapped), ctypes.c_size_t(4096)
    cached_only = struct.pack("QQQ", 0, 0, 0x20)
    return tried(
        lambda: fcntl.flock(shared, fcntl.LOCK_SH),
        lambda: fcntl.flock(shared, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda: fcntl.fcntl(shared, fcntl.F_SETLK, lock),
        lambda: fcntl.fcntl(shared, fcntl.F_GETLK, would),
        lambda: fcntl.fcntl(shared, 37, lock),
        lambda: fcntl.fcntl(shared, 36, would),
        lambda: fcntl.fcntl(shared, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        lambda: fcntl.fcntl(shared, fcntl.F_GETLEASE),
        lambda: fcntl.fcntl(folder, fcntl.F_NOTIFY, 1),
        lambda: fcntl.fcntl(shared, 1036, struct.pack("Q", 3)),
        lambda: fcntl.ioctl(shared, 0x40086602, struct.pack("l", 0)),
        lambda: called(C.inotify_init),
        lambda: called(C.inotify_init1, 0),
        lambda: called(C.fanotify_init, 0, 0),
        lambda: os.posix_fadvise(shared, 0, 0, os.POSIX_FADV_DONTNEED),
        lambda: called(C.readahead, shared, ctypes.c_long(0), length),
        lambda: called(C.mincore, address, length, page),
        lambda: called(C.madvise, address, length, 21),
        lambda: os.preadv(shared, [bytearray(16)], 0, os.RWF_NOWAIT),
        lambda: called(C.syscall, 202, address, 1, 1, None, None, 0),
        lambda: called(C.syscall, 449, None, 0, 0, None, 0),
        lambda: called(C.syscall, 451, shared, page, page, 0),
        lambda: called(C.syscall, 437, -100, os.__file__.encode(), cached_only, 24),
        lambda: called(C.syscall, 206, 1, page),
        lambda: called(C.syscall, 239, page, None, 0, address, 3),
    )


def asks_what_the_machine_is_used_for() -> str:
    return tried(
        lambda: called(C.sysinfo, ctypes.create_string_buffer(512)),
        lambda: os.statvfs("/usr/lib"),
        lambda: os.statvfs("."),
        lambda: os.fstatvfs(os.open(os.__file__, os.O_RDONLY)),
        lambda: os.getpriority(os.PRIO_USER, 0),
        lambda: called(C.syscall, 252, 3, 0),
    )


def asks_about_other_processes() -> str:
    others = [PERSON, os.getppid() or PERSON, 1]
    clocks = [(~other << 3) | 2 for other in others]
    return tried(
        lambda: [os.getpgid(other) for other in others],
        lambda: [os.getsid(other) for other in others],
        lambda: [os.sched_getaffinity(other) for other in others],
        lambda: [os.sched_getscheduler(other) for other in others],
        lambda: [os.sched_getparam(other) for other in others],
        lambda: [os.getpriority(os.PRIO_PROCESS, other) for other in others],
        lambda: [time.clock_gettime(clock) for clock in clocks],
        lambda: [time.clock_getres(clock) for clock in clocks],
        lambda: [resource.prlimit(other, resource.RLIMIT_CPU) for other in others],
        lambda: [called(C.capget, struct.pack("Ii", 0x20080522, other), page) for other in others],
    )


def detach() -> None:
    for _ in range(8):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)


def detaches_processes() -> str:
    return tried(detach)


def is_ready() -> None:
    """Tell who looks at processes that this one is so far, by its name."""
    C.prctl(15, b"ready")


def sleeps() -> None:
    is_ready()
    time.sleep(600)


def ignores_signals() -> None:
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue


def survives() -> None:
    """Ignore signals, and ask the kernel not to end this process with the one that started it."""
    ignores_signals()
    C.prctl(1, 0, 0, 0, 0)
    is_ready()
    loops()


# What it leaves behind


def fills_its_folder() -> None:
    for number in range(2000):
        os.mkdir(str(number))
    time.sleep(600)


def uses_its_own_folder() -> str:
    """No attack: files can be written there, and descriptors have other uses."""
    reading, _ = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK)
    write("own.txt", "mine")
    os.mkdir("deeper")
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
    with open(os.path.expanduser("~/own.txt")) as own:
        return own.read()


def nests_thousands_of_folders() -> str:
    for _ in range(1010):  # deeper than recursion, and longer than a path can be
        os.mkdir("deeper")
        os.chdir("deeper")
    return "stopped"


def closes_its_folders() -> str:
    os.mkdir("closed", 0)
    for name, mode, inner in (("hidden", 0o700, 0o300), ("unlisted", 0o300, 0o500)):
        os.mkdir(name, mode)
        write(name + "/file", "x" * 1000)
        os.mkdir(name + "/inner", inner)
    return "stopped"


# Too much


def takes_memory_at_once() -> int:
    return len(bytearray(2 << 30))


def takes_memory_in_pieces() -> int:
    return len([bytearray(1 << 16) for _ in range(1 << 16)])


def loops() -> None:
    while True:
        pass


def loops_in_one_call() -> int:
    return sum(iter(int, 1))


def prints_without_end() -> None:
    while True:
        sys.stdout.write("x" * 10000 + "\n")


def reports_without_end() -> None:
    while True:
        os.write(3, b"x" * 65536)


def loops_without_descriptors() -> int:
    os.closerange(0, 10_000)
    return sum(iter(int, 1))


def loops_without_signals() -> int:
    ignores_signals()
    return sum(iter(int, 1))


def answers_without_end() -> object:
    return type("Endless", (), {"__str__": lambda _: sum(iter(int, 1))})()


def deeper() -> list[Any]:
    return [deeper()]


def recurses() -> object:
    sys.setrecursionlimit(10**9)
    return deeper()


def text_of_itself(value: object) -> str:
    return repr(value)


def recurses_in_its_text() -> str:
    sys.setrecursionlimit(10**9)
    return repr(type("Deep", (), {"__repr__": text_of_itself})())


# Its result


def writes_nonsense_everywhere() -> None:
    for number in range(64):
        try:
            os.write(number, b'{"failed": "x"} nonsense')
        except OSError:
            continue


def closes_its_result() -> None:
    os.closerange(0, 10_000)


def forges_its_answer() -> None:
    os.write(3, b'{"status": "ok", "value": 1, "kind": "int", "seconds": 0, "failed": "x"}')
    os._exit(0)


def replaces_the_json_library() -> int:
    for owner, name in ((json, "dumps"), (json, "loads"), (json.JSONEncoder, "encode")):
        setattr(owner, name, None)
    return 5


def replaces_its_output() -> None:
    sys.stdout.write("7\n")
    for name, value in {"stdout": None, "stderr": None, "__stdout__": 5}.items():
        setattr(sys, name, value)


def rings_during_its_answer() -> object:
    def ring(*_: object) -> None:
        raise RuntimeError("ring")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
    return type("Slow", (), {"__str__": lambda _: "x" * 10_000_000})()


def exits(_: object) -> None:
    raise SystemExit


def lies_about_its_value() -> object:
    is_integer = property(lambda self: int)
    names = {"__len__": lambda self: -1, "__str__": exits, "__class__": is_integer}
    return type("Liar", (str,), names)()
