"""Programs that try to do harm, as root and as an ordinary user, with and without some layers.

All are bounded, so that a sandbox that does not hold does no harm to who tests it. An attack says
in its answer what it achieved.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.sandboxed import LINUX, SECRET, Person, person_of, person_params

pytestmark = pytest.mark.skipif(not LINUX, reason="the layers of the sandbox are Linux's")

LIMITS = {"seconds": 10.0, "memory_bytes": 128 << 20, "files_bytes": 1 << 20}
SHORT = LIMITS | {"seconds": 0.6}
NO_NAMESPACES, NO_LANDLOCK, NO_SECCOMP = "without namespaces", "without Landlock", "without seccomp"
MODES: dict[str, dict[str, Any]] = {
    "all layers": {},
    NO_NAMESPACES: {"leave_out": ["namespaces"]},
    NO_LANDLOCK: {"leave_out": ["landlock"]},
    NO_SECCOMP: {"leave_out": ["seccomp"]},
}
TIMED = "all layers", NO_NAMESPACES

BEFORE = """
import ctypes, errno, os, signal, socket, sys, time
C = ctypes.CDLL(None, use_errno=True)
def tried(*actions):
    done = []
    for number, action in enumerate(actions):
        try:
            action()
        except (OSError, RuntimeError, ValueError, MemoryError, EOFError):
            continue
        done.append(number)
    return f"achieved {done}" if done else "stopped"
def called(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def write(path, text="x"):
    with open(path, "w") as file:
        file.write(text)
"""


ATTACKS_AS_TEXT = r"""
### a fork bomb starts no process | not: without seccomp
def bomb():
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(60)
answer = tried(bomb, lambda: called(C.syscall, 57), lambda: called(C.fork))
### no other program is started | not: without seccomp
import subprocess
answer = tried(lambda: subprocess.run(["/bin/true"]), lambda: os.execv("/bin/true", ["true"]),
    lambda: os.execv(sys.executable, ["python"]),
    lambda: os.posix_spawn("/bin/true", ["true"], {}))
### no other process is sent a signal when something can be read | not: without seccomp
import fcntl
here, there = os.pipe()
answer = tried(lambda: fcntl.fcntl(here, fcntl.F_SETOWN, os.getppid()),
    lambda: fcntl.fcntl(here, fcntl.F_SETOWN, -1),
    lambda: fcntl.fcntl(here, 10, signal.SIGKILL),
    lambda: called(C.fcntl, here, 15, bytes(8)),
    lambda: called(C.ioctl, here, 0x8901, ctypes.byref(ctypes.c_int(os.getppid()))),
    lambda: fcntl.ioctl(here, 0x5452, bytes([1, 0, 0, 0])))
### other uses of descriptors are allowed
import fcntl
here, there = os.pipe()
fcntl.fcntl(here, fcntl.F_SETFL, os.O_NONBLOCK)
answer = "stopped" if fcntl.fcntl(here, fcntl.F_GETFL) & os.O_NONBLOCK else "not set"
### thousands of nested folders are removed | ends: ok, error, timeout
for _ in range(1200):
    os.mkdir("d")
    os.chdir("d")
answer = "stopped"
### folders that can't be listed or written are removed
os.mkdir("hidden", 0o700)
write("hidden/file", "x" * 1000)
os.mkdir("hidden/inner", 0o300)
os.mkdir("closed", 0o000)
os.mkdir("unlisted", 0o300)
write("unlisted/file", "x" * 1000)
os.mkdir("unlisted/inner", 0o500)
answer = "stopped"
### no thread is started | not: without seccomp
import threading
answer = tried(lambda: threading.Thread(target=time.sleep, args=[60]).start())
### one large piece of memory is refused | ends: memory
x = bytearray(2 << 30)
### many small pieces of memory are refused | ends: memory
x = [bytearray(1 << 16) for _ in range(1 << 16)]
### memory shared with nobody is refused
import mmap
answer = tried(lambda: mmap.mmap(-1, 2 << 30))
### an endless loop is ended | ends: timeout
while True: pass
### a program that ignores all signals is ended | ends: timeout
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
while True: time.sleep(1)
### an endless loop in C is ended | ends: timeout
sum(iter(int, 1))
### endless printing is ended | ends: timeout
while True: print('x' * 10000)
### endless writing to the result is ended | ends: timeout
while True: os.write(3, b'x' * 65536)
### the home folder can't be read
answer = tried(lambda: os.listdir(HOME), lambda: open(HOME + '/dear.txt').read(),
    lambda: os.open(HOME, os.O_RDONLY))
### the list of users can't be read
answer = tried(lambda: open('/etc/passwd').read(), lambda: open('/etc/shadow').read())
### other processes can't be asked about their environment and memory
names = ("environ", "mem", "maps", "cmdline", "root/etc/passwd", "cwd/etc/passwd", "fd")
def look(name):
    with open(f"/proc/{PERSON}/{name}", "rb") as file:
        file.read(1)
answer = tried(*[lambda name=name: look(name) for name in names],
    lambda: os.listdir(f"/proc/{PERSON}/fd"), lambda: open(f"/proc/{os.getppid()}/environ"))
### other processes' memory can't be read by calls | not: without seccomp
buffer = ctypes.create_string_buffer(64)
vector = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 64)
answer = tried(lambda: called(C.process_vm_readv, PERSON, vector, 1, vector, 1, 0),
    lambda: called(C.ptrace, 16, PERSON, 0, 0), lambda: called(C.ptrace, 0x4206, PERSON, 0, 0),
    lambda: called(C.syscall, 434, PERSON, 0))
### no secret is in the environment or in Python's objects
import gc
first, second = "secret-", "5b1f" + "8a"
places = [repr(dict(os.environ)), repr(sys.argv), repr(sys.orig_argv)]
places += [each for each in gc.get_objects() if isinstance(each, str)]
places += [value for each in gc.get_objects() if isinstance(each, dict)
    for value in each.values() if isinstance(value, str)]
answer = "found" if any(first + second in place for place in places) else "stopped"
### a TCP connection is refused
def connect(kind, address):
    with socket.socket(kind, socket.SOCK_STREAM) as made:
        made.settimeout(0.3)
        made.connect(address)
answer = tried(lambda: connect(socket.AF_INET, ("127.0.0.1", TCP)),
    lambda: connect(socket.AF_UNIX, HOME + "/socket"), lambda: connect(socket.AF_UNIX, ABSTRACT))
### a UDP packet does not arrive
def send(kind, address):
    with socket.socket(kind, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", address)
answer = tried(lambda: send(socket.AF_INET, ("127.0.0.1", UDP)),
    lambda: send(socket.AF_UNIX, ABSTRACT + "-datagrams"))
### no file is written outside
places = (HOME, "/", "/tmp", "/etc", "/dev", "/dev/shm", "/var/tmp", "/run", sys.prefix, "..",
    os.path.dirname(os.__file__))
answer = tried(*[lambda place=place: write(place + "/written-outside") for place in places],
    lambda: write(HOME + "/dear.txt"), lambda: os.mkdir(HOME + "/new"),
    lambda: open(os.__file__, "a").close())  # which harms nothing where it succeeds
### own files can be written, in the own folder | answers: "mine"
import tempfile
write("own.txt", "mine")
os.mkdir("deeper")
with tempfile.TemporaryFile() as file:
    file.write(b"x")
answer = open(os.path.expanduser("~/own.txt")).read()
### many small files are refused | not: without namespaces
answer = tried(lambda: [write(f'{number}') for number in range(20_000)])
### a large file is refused
answer = tried(lambda: write('large', 'x' * (4 << 20)))
### memory can't be had in the disguise of files | not: without seccomp
answer = tried(lambda: os.memfd_create('x'))
### no other process can be signalled
answer = tried(lambda: os.kill(PERSON, signal.SIGTERM), lambda: os.killpg(PERSON, signal.SIGTERM))
### no other process can be found by a signal
answer = tried(lambda: os.kill(PERSON, 0))
### a detached process does not begin, or goes with the program | answers: "stopped", "achieved [0]"
def detach():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(2)
            write(HOME + "/later")
            os._exit(0)
        os._exit(0)
answer = tried(detach)
### nothing outside is removed, renamed or changed | not: without seccomp
import shutil
dear = HOME + "/dear.txt"
answer = tried(lambda: os.remove(dear), lambda: shutil.rmtree(HOME), lambda: os.rename(dear, "x"),
    lambda: os.truncate(dear, 0), lambda: os.chmod(dear, 0), lambda: os.utime(dear, (0, 0)),
    lambda: os.chown(dear, os.getuid(), -1), lambda: os.setxattr(dear, "user.x", b"x"))
### deep recursion ends only the program | ends: killed, memory, error, timeout
sys.setrecursionlimit(10**9)
def deeper(): return [deeper()]
class Deep:
    def __repr__(self): return repr(self)
try:
    repr(Deep())
finally:
    deeper()
### words on all descriptors are no result | ends: no result
for number in range(64):
    try:
        os.write(number, b'{"failed": "x"} nonsense')
    except OSError:
        pass
### only its own answer can be forged | answers: 1
os.write(3, b'{"status": "ok", "value": 1, "kind": "int", "seconds": 0, "failed": "x"}')
os._exit(0)
### a link does not lead outside
def through(make, target):
    make(target, "link")
    try:
        open("link").read()
    finally:
        os.unlink("link")
answer = tried(lambda: through(os.symlink, "/etc/passwd"), lambda: through(os.link, "/etc/passwd"),
    lambda: through(os.symlink, HOME + "/dear.txt"), lambda: through(os.link, HOME + "/dear.txt"),
    lambda: open("../../../../etc/passwd"))
### no other root folder, namespace or file system can be had | not: without seccomp
answer = tried(lambda: os.chroot("."), lambda: called(C.unshare, 0x10000000),
    lambda: called(C.mount, b"x", b".", b"tmpfs", 0, None), lambda: called(C.umount2, b"/box", 2),
    lambda: os.setns(0, 0) if hasattr(os, "setns") else called(C.setns, 0, 0))
### rare calls to the kernel are refused
page = ctypes.create_string_buffer(256)
rare = (425, 427, 428, 434, 438, 448, 451, 463, 500, 0x40000000 + 39)
answer = tried(*[lambda number=number: called(C.syscall, number, page, page, 0) for number in rare])
### other users can't be had
answer = tried(lambda: os.setuid(1), lambda: os.setgroups([0]), lambda: os.setgid(1))
### limits can't be lifted
import resource
high = resource.RLIM_INFINITY, resource.RLIM_INFINITY
answer = tried(lambda: resource.setrlimit(resource.RLIMIT_AS, high),
    lambda: resource.setrlimit(resource.RLIMIT_CPU, high),
    lambda: resource.prlimit(PERSON, resource.RLIMIT_NOFILE))
### descriptors run out for the program alone
answer = tried(lambda: [os.open('/dev/null', 0) for _ in range(10_000)])
### closing all descriptors loses only the own result | ends: no result
os.closerange(0, 10_000)
### closing all descriptors does not lift the time limit | ends: timeout
os.closerange(0, 10_000)
while True: pass
### a replaced JSON library loses only the own result | ends: ok, no result | answers: 5
import json
json.dumps = json.loads = json.JSONEncoder.encode = None
answer = 5
### a replaced output is no matter | ends: ok, error | answers: "7"
print('7')
sys.stdout = sys.stderr = None
sys.__stdout__ = 5
### an alarm while the answer is told loses only the own result | ends: ok, error, no result, killed
def ring(*_): raise RuntimeError("ring")
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
class Slow:
    def __str__(self): return "x" * 10_000_000
answer = Slow()
### a value that lies about itself loses only the own result | ends: error, no result
class Liar(str):
    def __len__(self): return -1
    def __str__(self): raise SystemExit
    __class__ = property(lambda self: int)
answer = Liar()
### a value of endless text is ended | ends: timeout
class Endless:
    def __str__(self):
        while True: pass
answer = Endless()
"""


class Attack(NamedTuple):
    source: str
    ends: list[str]
    """What the status may be."""
    answers: list[object]
    """What the answer may be, where the status is ok."""
    holds_in: list[str]


ATTACKS: dict[str, Attack] = {}
for part in ATTACKS_AS_TEXT.split("\n### ")[1:]:
    header, _, source = part.partition("\n")
    name, *pairs = header.split(" | ")
    notes = dict(pair.split(": ") for pair in pairs)
    ends = notes.get("ends", "ok").split(", ")
    answers = json.loads("[" + notes.get("answers", '"stopped"') + "]")
    # The time limit is kept by the same means in all modes.
    modes = TIMED if ends == ["timeout"] else MODES
    holds_in = [mode for mode in modes if mode != notes.get("not")]
    ATTACKS[name] = Attack(source, ends, answers, holds_in)


class Listeners:
    """Sockets of all kinds that a program may try to reach, and what has arrived."""

    def __init__(self, person: Person) -> None:
        self.abstract = f"\0{person.temporary}"
        self.made = [
            self.listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            self.listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            self.listen(socket.AF_UNIX, socket.SOCK_STREAM, str(person.home / "socket")),
            self.listen(socket.AF_UNIX, socket.SOCK_STREAM, self.abstract),
            self.listen(socket.AF_UNIX, socket.SOCK_DGRAM, self.abstract + "-datagrams"),
        ]
        (person.home / "socket").chmod(0o777)
        self.tcp, self.udp = (each.getsockname()[1] for each in self.made[:2])

    @staticmethod
    def listen(family: int, kind: int, address: Any) -> socket.socket:
        made = socket.socket(family, kind)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen()
        made.setblocking(False)
        return made

    def arrived(self) -> list[str]:
        found = []
        for each in self.made:
            try:
                if each.type == socket.SOCK_STREAM:
                    each.accept()[0].close()
                else:
                    each.recv(100)
            except BlockingIOError:
                continue
            found.append(str(each.getsockname()))
        return found

    def close(self) -> None:
        for each in self.made:
            each.close()


OUTSIDE = [f"{place}/written-outside" for place in ("", "/tmp", "/etc", "/dev", "/dev/shm", "/run")]


@pytest.fixture(scope="module", params=person_params())
def person(request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_of(request.param) as made:
        yield made


def attack_with(
    person: Person, names: list[str], options: dict[str, Any], limits: dict[str, float]
) -> tuple[dict[str, Any], list[str]]:
    """Make attacks with what they need to know; return the outcomes, and what arrived."""
    listeners = Listeners(person)
    known = {
        "HOME": str(person.home),
        "PERSON": person.process.pid,
        "TCP": listeners.tcp,
        "UDP": listeners.udp,
        "ABSTRACT": listeners.abstract,
    }
    before = "\n".join(f"{name} = {value!r}" for name, value in known.items()) + BEFORE
    programs = [(before + ATTACKS[name].source, "answer") for name in names]
    try:
        answer, arrived = person.ask(programs, limits, **options), listeners.arrived()
    finally:
        listeners.close()
        # Should it be gone, what removed it shows elsewhere: this must not hide that.
        (person.home / "socket").unlink(missing_ok=True)
    states = answer.get("layers", {"sandbox": answer.get("error")})
    if any(state != "ok" and "left out" not in state for state in states.values()):
        pytest.skip(f"this machine lacks a layer: {states}")
    return dict(zip(names, answer["outcomes"], strict=True)), arrived


@pytest.mark.parametrize("mode", MODES)
def test_attacks_are_stopped_or_harmless(mode: str, person: Person) -> None:
    chosen = {name: attack for name, attack in ATTACKS.items() if mode in attack.holds_in}
    quick = [name for name, attack in chosen.items() if attack.ends != ["timeout"]]
    endless = [name for name in chosen if name not in quick]
    outcomes, arrived = attack_with(person, quick, MODES[mode] | {"workers": 2}, LIMITS)
    if endless:
        # All at once: what takes its whole time costs no more than one of them.
        options = MODES[mode] | {"workers": len(endless)}
        more, later = attack_with(person, endless, options, SHORT)
        outcomes, arrived = outcomes | more, arrived + later
    successful = {
        name: outcome
        for name, outcome in outcomes.items()
        if outcome["status"] not in chosen[name].ends
        or (outcome["status"] == "ok" and outcome["value"] not in chosen[name].answers)
    }
    assert successful == {}
    assert len(outcomes) == len(chosen)
    assert arrived == []
    assert [path for path in OUTSIDE if os.path.exists(path)] == []
    person.assert_nothing_left()


WEAK: dict[str, Any] = {"leave_out": ["namespaces", "landlock", "seccomp"], "allow_weak": True}
HELD_BY_THE_WEAKEST = [
    ("open('/etc/passwd').read(1)\nanswer = 'files can be read'", "ok", "files can be read"),
    ("import socket\nsocket.socket().close()\nanswer = 'sockets'", "ok", "sockets"),
    ("import os\nanswer = sorted(set(os.environ) & {'API_KEY'})", "ok", "[]"),
    ("while True: pass", "timeout", None),
    ("x = bytearray(2 << 30)", "memory", None),
    ("input()", "error", None),
    (
        "import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0: time.sleep(60)\n        os._exit(0)\n"
        "answer = 'processes can be started but go with the program'",
        "ok",
        "processes can be started but go with the program",
    ),
]


def test_the_weakest_sandbox_holds_only_this(person: Person) -> None:
    programs = [(source, "answer") for source, _, _ in HELD_BY_THE_WEAKEST]
    limits = LIMITS | {"seconds": 2.0}
    outcomes = person.ask(programs, limits, **WEAK)["outcomes"]
    found = [(outcome["status"], outcome["value"]) for outcome in outcomes]
    assert found == [(status, value) for _, status, value in HELD_BY_THE_WEAKEST]
    person.assert_nothing_left()


REAL = {
    "the home folder can't be read": "achieved [0, 1, 2]",
    "the list of users can't be read": "achieved [0",
    "other processes can't be asked about their environment and memory": "achieved [0, 2, 3",
    "a TCP connection is refused": "achieved [0, 1, 2]",
    "a UDP packet does not arrive": "achieved [0, 1]",
    "no other process can be found by a signal": "achieved [0]",
    "a link does not lead outside": "achieved [0",
    "memory can't be had in the disguise of files": "achieved [0]",
    "no thread is started": "achieved [0]",
}


def test_the_attacks_would_succeed_if_nothing_stopped_them(person: Person) -> None:
    options = {"leave_out": [*WEAK["leave_out"], "privileges"], "allow_weak": True}
    outcomes, arrived = attack_with(person, list(REAL), options, LIMITS)
    found = {name: outcome["value"] for name, outcome in outcomes.items()}
    wrong = {name: found[name] for name in REAL if not str(found[name]).startswith(REAL[name])}
    assert wrong == {}
    assert len(arrived) == 5


def test_no_process_of_the_sandbox_holds_a_secret(person: Person) -> None:
    person.send([("import time\ntime.sleep(60)", "answer")] * 2, workers=2)
    person.wait_for_processes(5)  # the zygote; for each program, one that watches and itself
    processes = person.processes()
    held = {number: memory(number) for number in processes}
    assert len(held) >= 5
    assert all(SECRET.encode() not in found for found in held.values())
    assert SECRET.encode() in memory(person.process.pid)
    for number in held:
        with open(f"/proc/{number}/environ", "rb") as file:
            assert file.read() == b""
    for number in sorted(processes)[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    assert person.receive()["outcomes"][0]["status"] in {"killed", "lost"}


def memory(number: int) -> bytes:
    """All that can be read of a process's memory."""
    found = []
    with open(f"/proc/{number}/maps", encoding="utf-8") as maps:
        regions = [line.split() for line in maps]
    with open(f"/proc/{number}/mem", "rb", buffering=0) as file:
        for region in regions:
            start, stop = (int(end, 16) for end in region[0].split("-"))
            writable = region[1].startswith("rw")
            if writable and stop - start < 64 << 20:
                file.seek(start)
                found.append(file.read(stop - start))
    return b"".join(found)


def test_endless_printing_fills_no_memory(person: Person) -> None:
    programs = [("while True: print('x' * 10000)", "answer")] * 4
    person.ask(programs, SHORT, workers=4)
    with open(f"/proc/{person.process.pid}/status", encoding="utf-8") as file:
        peak = next(line for line in file if line.startswith("VmHWM")).split()[1]
    assert int(peak) * 1024 < 100 << 20
