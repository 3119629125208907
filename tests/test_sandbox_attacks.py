"""Programs that try to do harm, as root and as an ordinary user, with and without some layers.

All are bounded, so that a sandbox that does not hold does no harm to who tests it. An attack says
in its answer what it achieved.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.sandboxed import SECRET, USERS, Person, person_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layers are Linux's")

LIMITS = {"seconds": 10.0, "memory_bytes": 128 << 20, "files_bytes": 1 << 20}
SHORT = LIMITS | {"seconds": 0.6}
LEFT_OUT: list[list[str]] = [[], ["namespaces"], ["landlock"], ["seccomp"]]

BEFORE = """
import ctypes, errno, fcntl, mmap, os, resource, shutil, signal, socket, subprocess, sys, threading
import time
C = ctypes.CDLL(None, use_errno=True)
page = ctypes.create_string_buffer(256)
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
# Each after its name, and the statuses and answers that are no success. What follows a `?` must
# raise an exception.
ATTACKS_AS_TEXT = r"""
### a fork bomb starts no process | not without: seccomp
def bomb():
    for _ in range(40):
        if os.fork() == 0:
            time.sleep(60)
? bomb() ;; called(C.syscall, 57) ;; called(C.fork)
### no other program is started | not without: seccomp
? subprocess.run(["/bin/true"]) ;; os.execv("/bin/true", ["true"])
? os.execv(sys.executable, ["python"]) ;; os.posix_spawn("/bin/true", ["true"], {})
### no other process is sent a signal when something can be read | not without: seccomp
here, there = os.pipe()
? fcntl.fcntl(here, fcntl.F_SETOWN, os.getppid()) ;; fcntl.fcntl(here, fcntl.F_SETOWN, -1)
? fcntl.fcntl(here, 10, signal.SIGKILL) ;; called(C.fcntl, here, 15, bytes(8))
? called(C.ioctl, here, 0x8901, ctypes.byref(ctypes.c_int(os.getppid())))
? fcntl.ioctl(here, 0x5452, bytes([1, 0, 0, 0]))
### other uses of descriptors are allowed
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
### no thread is started | not without: seccomp
? threading.Thread(target=time.sleep, args=[60]).start()
### one large piece of memory is refused | ends: memory
x = bytearray(2 << 30)
### many small pieces of memory are refused | ends: memory
x = [bytearray(1 << 16) for _ in range(1 << 16)]
### memory shared with nobody is refused
? mmap.mmap(-1, 2 << 30)
### an endless loop is ended | ends: timeout
while True: pass
### a program that ignores all signals is ended | ends: timeout
tried(*[lambda number=number: signal.signal(number, signal.SIG_IGN) for number in range(1, 65)])
while True: time.sleep(1)
### an endless loop in C is ended | ends: timeout
sum(iter(int, 1))
### endless printing is ended | ends: timeout
while True: print('x' * 10000)
### endless writing to the result is ended | ends: timeout
while True: os.write(3, b'x' * 65536)
### the home folder can't be read
? os.listdir(HOME) ;; open(HOME + "/dear.txt").read() ;; os.open(HOME, os.O_RDONLY)
### the list of users can't be read
? open("/etc/passwd").read() ;; open("/etc/shadow").read()
### other processes can't be asked about their environment and memory
def look(name, process=PERSON):
    with open(f"/proc/{process}/{name}", "rb") as file:
        file.read(1)
? look("environ") ;; look("mem") ;; look("maps") ;; look("cmdline") ;; look("root/etc/passwd")
? look("cwd/etc/passwd") ;; look("fd") ;; os.listdir(f"/proc/{PERSON}/fd")
? look("environ", os.getppid())
### other processes' memory can't be read by calls | not without: seccomp
vector = (ctypes.c_uint64 * 2)(ctypes.addressof(page), 64)
? called(C.process_vm_readv, PERSON, vector, 1, vector, 1, 0) ;; called(C.ptrace, 16, PERSON, 0, 0)
? called(C.ptrace, 0x4206, PERSON, 0, 0) ;; called(C.syscall, 434, PERSON, 0)
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
? connect(socket.AF_INET, ("127.0.0.1", TCP)) ;; connect(socket.AF_UNIX, HOME + "/socket")
? connect(socket.AF_UNIX, ABSTRACT)
### a UDP packet does not arrive
def send(kind, address):
    with socket.socket(kind, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", address)
? send(socket.AF_INET, ("127.0.0.1", UDP)) ;; send(socket.AF_UNIX, ABSTRACT + "-datagrams")
### no file is written outside
def outside(place): write(place + "/written-outside")
? outside(HOME) ;; outside("") ;; outside("/tmp") ;; outside("/etc") ;; outside("/dev")
? outside("/dev/shm") ;; outside("/var/tmp") ;; outside("/run") ;; outside(sys.prefix)
? outside("..") ;; outside(os.path.dirname(os.__file__)) ;; os.mkdir(HOME + "/new")
? write(HOME + "/dear.txt") ;; open(os.__file__, "a").close()
### own files can be written, in the own folder | answers: "mine"
import tempfile
write("own.txt", "mine")
os.mkdir("deeper")
with tempfile.TemporaryFile() as file:
    file.write(b"x")
answer = open(os.path.expanduser("~/own.txt")).read()
### many small files are refused | not without: namespaces
? [write(f"{number}") for number in range(20_000)]
### a large file is refused
? write("large", "x" * (4 << 20))
### memory can't be had in the disguise of files | not without: seccomp
? os.memfd_create("x")
### no other process can be signalled
? os.kill(PERSON, signal.SIGTERM) ;; os.killpg(PERSON, signal.SIGTERM)
### no other process can be found by a signal
? os.kill(PERSON, 0)
### a detached process does not begin, or goes with the program | answers: "stopped", "achieved [0]"
def detach():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(2)
            write(HOME + "/later")
        os._exit(0)
? detach()
### nothing outside is removed, renamed or changed | not without: seccomp
dear = HOME + "/dear.txt"
? os.remove(dear) ;; shutil.rmtree(HOME) ;; os.rename(dear, "x") ;; os.truncate(dear, 0)
? os.chmod(dear, 0) ;; os.utime(dear, (0, 0)) ;; os.chown(dear, os.getuid(), -1)
? os.setxattr(dear, "user.x", b"x")
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
tried(*[lambda n=n: os.write(n, b'{"failed": "x"} nonsense') for n in range(64)])
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
? through(os.symlink, "/etc/passwd") ;; through(os.link, "/etc/passwd")
? through(os.symlink, HOME + "/dear.txt") ;; through(os.link, HOME + "/dear.txt")
? open("../../../../etc/passwd")
### no other root folder, namespace or file system can be had | not without: seccomp
? os.chroot(".") ;; called(C.unshare, 0x10000000) ;; called(C.mount, b"x", b".", b"tmpfs", 0, None)
? called(C.umount2, b"/box", 2) ;; called(C.setns, 0, 0)
### rare calls to the kernel are refused
rare = (425, 427, 428, 434, 438, 448, 451, 463, 500, 0x40000000 + 39)
answer = tried(*[lambda number=number: called(C.syscall, number, page, page, 0) for number in rare])
### other users can't be had
? os.setuid(1) ;; os.setgroups([0]) ;; os.setgid(1)
### limits can't be lifted
high = resource.RLIM_INFINITY, resource.RLIM_INFINITY
? resource.setrlimit(resource.RLIMIT_AS, high) ;; resource.setrlimit(resource.RLIMIT_CPU, high)
? resource.prlimit(PERSON, resource.RLIMIT_NOFILE)
### descriptors run out for the program alone
? [os.open("/dev/null", 0) for _ in range(10_000)]
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
    answers: list[object]
    needs: list[str | None]


def read_attack(text: str) -> tuple[str, Attack]:
    header, *lines = text.splitlines()
    name, *pairs = header.split(" | ")
    notes = {"ends": "ok", "answers": '"stopped"'} | dict(pair.split(": ") for pair in pairs)
    source = "\n".join(line for line in lines if not line.startswith("? "))
    actions = " ;; ".join(line[2:] for line in lines if line.startswith("? ")).split(" ;; ")
    if actions != [""]:
        source += f"\nanswer = tried({', '.join(f'lambda: {each}' for each in actions)})"
    answers = json.loads(f"[{notes['answers']}]")
    return name, Attack(source, notes["ends"].split(", "), answers, [notes.get("not without")])


ATTACKS = dict(map(read_attack, ATTACKS_AS_TEXT.split("\n### ")[1:]))


@pytest.fixture(scope="module", params=USERS)
def person(request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_of(request.param) as made:
        yield made


@contextlib.contextmanager
def listeners(person: Person) -> Iterator[list[socket.socket]]:
    """Sockets of all kinds that a program may try to reach."""
    abstract, made = f"\0{person.temporary}", []
    with contextlib.ExitStack() as stack:
        for family, kind, address in (
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            (socket.AF_UNIX, socket.SOCK_STREAM, str(person.home / "socket")),
            (socket.AF_UNIX, socket.SOCK_STREAM, abstract),
            (socket.AF_UNIX, socket.SOCK_DGRAM, abstract + "-datagrams"),
        ):
            made.append(stack.enter_context(socket.socket(family, kind)))
            made[-1].bind(address)
            if kind == socket.SOCK_STREAM:
                made[-1].listen()
        (person.home / "socket").chmod(0o777)
        # Should it be gone, what removed it shows elsewhere: this must not hide that.
        stack.callback((person.home / "socket").unlink, missing_ok=True)
        yield made


def attack_with(
    person: Person, names: list[str], limits: dict[str, float], **options: Any
) -> tuple[dict[str, Any], int]:
    """Make attacks with what they need to know; return the outcomes, and how much arrived."""
    with listeners(person) as reachable:
        known = {
            "HOME": str(person.home),
            "PERSON": person.process.pid,
            "TCP": reachable[0].getsockname()[1],
            "UDP": reachable[1].getsockname()[1],
            "ABSTRACT": f"\0{person.temporary}",
        }
        before = "\n".join(f"{name} = {value!r}" for name, value in known.items()) + BEFORE
        programs = [(before + ATTACKS[name].source, "answer") for name in names]
        answer = person.ask(programs, limits, **options)
        arrived = len(select.select(reachable, [], [], 0)[0])
    states = answer.get("layers", {"sandbox": answer.get("error")})
    if any(state != "ok" and "left out" not in state for state in states.values()):
        pytest.skip(f"this machine lacks a layer: {states}")
    return dict(zip(names, answer["outcomes"], strict=True)), arrived


@pytest.mark.parametrize("leave_out", LEFT_OUT, ids=" ".join)
def test_attacks_are_stopped_or_harmless(leave_out: list[str], person: Person) -> None:
    names = [name for name, attack in ATTACKS.items() if attack.needs != leave_out]
    endless = [name for name in names if ATTACKS[name].ends == ["timeout"]]
    quick = [name for name in names if name not in endless]
    outcomes, arrived = attack_with(person, quick, LIMITS, leave_out=leave_out, workers=2)
    # All at once: what takes its whole time costs no more than one of them.
    options = {"leave_out": leave_out, "workers": len(endless)}
    more, later = attack_with(person, endless, SHORT, **options)
    outcomes |= more
    successful = {
        name: outcome
        for name, outcome in outcomes.items()
        if outcome["status"] not in ATTACKS[name].ends
        or (outcome["status"] == "ok" and outcome["value"] not in ATTACKS[name].answers)
    }
    assert successful == {}
    assert len(outcomes) == len(names)
    assert arrived + later == 0
    places = ("", "/tmp", "/etc", "/dev", "/dev/shm", "/var/tmp", "/run")
    assert [each for each in places if os.path.exists(f"{each}/written-outside")] == []
    person.assert_nothing_left()


WEAK = ["namespaces", "landlock", "seccomp"]
DETACHED = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: time.sleep(60)
        os._exit(0)
answer = 'processes can be started but go with the program'
"""
HELD_BY_THE_WEAKEST = [
    ("open('/etc/passwd').read(1)\nanswer = 'files can be read'", "ok", "files can be read"),
    ("import socket\nsocket.socket().close()\nanswer = 'sockets'", "ok", "sockets"),
    ("import os\nanswer = sorted(set(os.environ) & {'API_KEY'})", "ok", "[]"),
    ("while True: pass", "timeout", None),
    ("x = bytearray(2 << 30)", "memory", None),
    ("input()", "error", None),
    (DETACHED, "ok", "processes can be started but go with the program"),
]


def test_the_weakest_sandbox_holds_only_this(person: Person) -> None:
    programs = [(source, "answer") for source, _, _ in HELD_BY_THE_WEAKEST]
    limits = LIMITS | {"seconds": 2.0}
    outcomes = person.ask(programs, limits, leave_out=WEAK, allow_weak=True)["outcomes"]
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
    options = {"leave_out": [*WEAK, "privileges"], "allow_weak": True}
    outcomes, arrived = attack_with(person, list(REAL), LIMITS, **options)
    found = {name: str(outcome["value"]) for name, outcome in outcomes.items()}
    assert {name: found[name] for name in REAL if not found[name].startswith(REAL[name])} == {}
    assert arrived == 5


def test_no_process_of_the_sandbox_holds_a_secret(person: Person) -> None:
    person.send([("import time\ntime.sleep(60)", "answer")] * 2, workers=2)
    person.wait_for_processes(5)  # the zygote; for each program, one that watches and itself
    processes = sorted(person.processes())
    assert all(SECRET.encode() not in memory(number) for number in processes)
    assert SECRET.encode() in memory(person.process.pid)
    assert [Path(f"/proc/{each}/environ").read_bytes() for each in processes] == [b""] * 5
    for number in processes[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    assert person.receive()["outcomes"][0]["status"] in {"killed", "lost"}


def memory(number: int) -> bytes:
    """All that a process can write of its memory."""
    found = []
    with open(f"/proc/{number}/mem", "rb", buffering=0) as file:
        for region in Path(f"/proc/{number}/maps").read_text(encoding="utf-8").splitlines():
            ends, rights = region.split()[:2]
            start, stop = (int(end, 16) for end in ends.split("-"))
            if rights.startswith("rw") and stop - start < 64 << 20:
                file.seek(start)
                found.append(file.read(stop - start))
    return b"".join(found)


def test_endless_printing_fills_no_memory(person: Person) -> None:
    person.ask([("while True: print('x' * 10000)", "answer")] * 4, SHORT, workers=4)
    status = Path(f"/proc/{person.process.pid}/status").read_text(encoding="utf-8")
    assert int(status.partition("VmHWM:")[2].split()[0]) * 1024 < 100 << 20
