"""Programs that try to do harm, as root and as an ordinary user, with and without some layers.

All are bounded, so that a sandbox that does not hold does no harm to who tests it. An attack says
in its answer what it achieved. And what becomes of the sandbox's own processes.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.cases import file_text, tables
from tests.support.sandboxed import SECRET, USERS, Person, person_of
from tests.support.sizes import slow

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the layers are Linux's"),
]

ORDINARY = [*map(slow, USERS[:-1]), USERS[-1]]
AS_ORDINARY = pytest.mark.parametrize("person", ORDINARY, indirect=True, scope="module")
BOTH_WAYS = pytest.mark.parametrize(
    "leave_out", [[], ["namespaces"]], ids=["full", "no namespaces"]
)
BEFORE = file_text("sandbox_attacks_before")


class Attack(NamedTuple):
    source: str
    harmless_ends: Sequence[str]
    needs: str


def attacks_of(
    name: str,
    program: str = "",
    tries: Sequence[str] = (),
    alone: Sequence[str] = (),
    ends: Sequence[str] = ("stopped",),
    needs: str = "",
) -> dict[str, Attack]:
    sources = {f"{name}: {source}": source for source in alone}
    if tries:
        program += f"\nanswer = tried({', '.join(f'lambda: {each}' for each in tries)})"
    sources |= {name: program} if program else {}
    return {name: Attack(source, ends, needs) for name, source in sources.items()}


BLOCKS = (attacks_of(**each) for each in tables("attacks")["attacks"])
ATTACKS = {name: attack for block in BLOCKS for name, attack in block.items()}


@pytest.fixture(scope="module", params=USERS)
def person(request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_of(request.param) as made:
        yield made


def attack_with(
    person: Person, names: list[str], seconds: float, arriving: int = 0, **options: Any
) -> dict[str, Any]:
    """Make attacks with what they need to know; return the outcomes, each with its `end`."""
    abstract, path, anywhere = f"\0{person.temporary}", person.home / "socket", ("127.0.0.1", 0)
    kinds = [socket.SOCK_STREAM] * 3 + [socket.SOCK_DGRAM] * 2
    addresses: list[Any] = [anywhere, str(path), abstract, anywhere, abstract + "-datagrams"]
    with contextlib.ExitStack() as stack:
        made = []
        for address, way in zip(addresses, kinds, strict=True):
            family = socket.AF_INET if address == anywhere else socket.AF_UNIX
            made.append(stack.enter_context(socket.socket(family, way)))
            made[-1].bind(address)
            if way == socket.SOCK_STREAM:
                made[-1].listen()
        path.chmod(0o777)
        # Should it be gone, what removed it shows elsewhere: this must not hide that.
        stack.callback(path.unlink, missing_ok=True)
        tcp, udp = (each.getsockname()[1] for each in made[::3])
        before = f"HOME, ABSTRACT = {str(person.home)!r}, {abstract!r}\n"
        before += f"PERSON, TCP, UDP = {person.process.pid}, {tcp}, {udp}\n{BEFORE}"
        programs = [(before + ATTACKS[name].source, "answer") for name in names]
        limits = {"seconds": seconds, "memory_bytes": 128 << 20, "files_bytes": 1 << 20}
        person.send(programs, limits, **options)
        answer = person.receive()
        arrived = len(select.select(made, [], [], 0)[0])
    states = answer.get("layers", {"sandbox": answer.get("error")})
    if any(state != "ok" and "left out" not in state for state in states.values()):
        pytest.skip(f"this machine lacks a layer: {states}")
    assert arrived == arriving
    for each in answer["outcomes"]:
        each["end"] = str(each["value"] if each["status"] == "ok" else each["status"])
    return dict(zip(names, answer["outcomes"], strict=True))


@pytest.mark.parametrize(
    "leave_out", [[], ["namespaces"], slow(["landlock"]), slow(["seccomp"])], ids=" ".join
)
def test_attacks_are_stopped_or_harmless(leave_out: list[str], person: Person) -> None:
    names = [name for name, attack in ATTACKS.items() if attack.needs not in leave_out]
    endless = [name for name in names if "timeout" in ATTACKS[name].harmless_ends]
    quick = [name for name in names if name not in endless]
    outcomes = attack_with(person, quick, 10, leave_out=leave_out, workers=2)
    # All at once: what takes its whole time costs no more than one of them.
    outcomes |= attack_with(person, endless, 0.4, leave_out=leave_out, workers=len(endless))
    assert {n: o for n, o in outcomes.items() if o["end"] not in ATTACKS[n].harmless_ends} == {}
    places = ("", "/tmp", "/etc", "/dev", "/dev/shm", "/var/tmp", "/run")
    assert [each for each in places if os.path.exists(f"{each}/written-outside")] == []
    person.assert_nothing_left()
    # Endless printing fills no memory.
    status = Path(f"/proc/{person.process.pid}/status").read_text()
    assert int(status.partition("VmHWM:")[2].split()[0]) * 1024 < 100 << 20


# How attacks end on the weakest sandbox, or begin to: most of them succeed.
WEAKEST = {
    "nothing of others can be read, found or reached": f"achieved {[*range(15)]}"[:-1],
    "no thread is started, and no memory had in the disguise of files": "achieved [0, 1]",
    "detached processes do not begin, or go with the program": "achieved [0]",
    "no secret is in the environment or in Python's objects": "stopped",
    "what is endless is ended: while True: pass": "timeout",
    "too much memory is refused: x = bytearray(2 << 30)": "memory",
}


def test_the_attacks_would_succeed_if_nothing_stopped_them(person: Person) -> None:
    without = ["namespaces", "landlock", "seccomp", "privileges"]
    outcomes = attack_with(person, list(WEAKEST), 1, 5, leave_out=without, allow_weak=True)
    assert {n: o for n, o in outcomes.items() if not o["end"].startswith(WEAKEST[n])} == {}
    person.assert_nothing_left()


@BOTH_WAYS
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("user", ORDINARY)
def test_nothing_is_left_when_the_one_who_asks_is_ended(
    user: int, number: int, leave_out: list[str]
) -> None:
    with person_of(user) as asking:
        endless = ("open('left', 'w').close()\nwhile True: pass", "answer")
        asking.send([endless] * 3, workers=2, leave_out=leave_out)
        asking.wait_for_processes(5)  # the zygote; for each program, one that watches and itself
        asking.process.send_signal(number)
        asking.process.wait(10)
        asking.assert_nothing_left()


FILLS_ITS_FOLDER = """
for number in range(2000):
    os.mkdir(str(number))
time.sleep(60)
"""


@AS_ORDINARY
@BOTH_WAYS
def test_a_folder_that_takes_long_to_remove_costs_neither_its_program_nor_a_neighbour_its_outcome(
    person: Person, leave_out: list[str]
) -> None:
    sources = "time.sleep(2)", FILLS_ITS_FOLDER, "time.sleep(1.3)", ""
    programs = [(f"import os, time\n{source}\nanswer = 1", "answer") for source in sources]
    # The second ends after 3 s and is removed while the third, begun after 2 s, still runs.
    person.send(programs, {"seconds": 3}, grace=0.05, workers=2, leave_out=leave_out)
    outcomes = person.receive()["outcomes"]
    assert [each["status"] for each in outcomes] == ["ok", "timeout", "ok", "ok"]
    person.assert_nothing_left()


@AS_ORDINARY
@BOTH_WAYS
def test_a_supervisor_that_is_late_ends_alone_and_its_program_is_late(
    person: Person, leave_out: list[str]
) -> None:
    sleeps = [(f"import time\ntime.sleep({s})\nanswer = 1", "answer") for s in (60, 1.5, 2)]
    person.send(sleeps, {"seconds": 3}, grace=0.1, workers=2, leave_out=leave_out)
    person.wait_for_processes(5)
    os.kill(person.processes()[1], signal.SIGSTOP)
    outcomes = person.receive()["outcomes"]
    assert [each["status"] for each in outcomes] == ["timeout", "ok", "ok"]
    assert outcomes[0]["message"] == "not done within 3 s"
    person.assert_nothing_left()


SURVIVOR = """
import ctypes, signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
while True: pass
"""


@BOTH_WAYS
@pytest.mark.parametrize("killed", ["supervisor", slow("supervisor, without a filter"), "all"])
@pytest.mark.parametrize("user", ORDINARY)
def test_a_program_ends_with_those_who_started_it_whatever_it_asks_for(
    user: int, killed: str, leave_out: list[str]
) -> None:
    without = [*leave_out, *["seccomp"] * killed.endswith("filter")]
    with person_of(user) as asking:
        sources = [SURVIVOR, "import time\ntime.sleep(60)"]
        asking.send([(each, "answer") for each in sources], workers=1, leave_out=without)
        asking.wait_for_processes(3)
        time.sleep(0.3)
        # The first process, the one that watches the program, and the program.
        first, watching, program = asking.processes()
        for number in (watching, *[first, asking.process.pid] * (killed == "all")):
            os.kill(number, signal.SIGKILL)
        until = time.monotonic() + 5
        while program in asking.processes():
            assert time.monotonic() < until, "the program lives on"
            time.sleep(0.02)
        # The next program still runs, where anybody is left who wants it.
        if killed != "all":
            assert first in asking.processes()
        asking.process.kill()
        asking.process.wait(10)
        if killed != "all":
            asking.assert_nothing_left()
        # Without a process there is nobody to remove the folder that programs had on disk. What was
        # just being started ends, too.
        while left := asking.processes():
            assert time.monotonic() < until, f"processes live on: {left}"
            time.sleep(0.02)


# Messages when the first process or the program is killed.
KILLED = {0: "the process that watched the program ended", 2: "ended by the signal SIGKILL"}


@BOTH_WAYS
@pytest.mark.parametrize("which", KILLED)
def test_processes_hold_no_secret_and_one_killed_from_outside_loses_only_what_runs(
    person: Person, which: int, leave_out: list[str]
) -> None:
    sources = ("import time\ntime.sleep(60)", "answer = 2", "import time\nanswer = 1")
    person.send([(each, "answer") for each in sources], workers=1, leave_out=leave_out)
    person.wait_for_processes(3)
    time.sleep(0.2)
    processes = person.processes()
    of_all = [b"".join(writable_memory(each)) for each in (*processes, person.process.pid)]
    assert [SECRET.encode() in each for each in of_all] == [False, False, False, True]
    assert [Path(f"/proc/{each}/environ").read_bytes() for each in processes] == [b""] * 3
    os.kill(processes[which], signal.SIGKILL)
    outcomes = person.receive()["outcomes"]
    assert outcomes[0]["status"] == ("killed" if which else "lost")
    assert outcomes[0]["message"] == KILLED[which]
    assert [each["value"] for each in outcomes] == [None, 2, 1]
    person.assert_nothing_left()


def writable_memory(number: int) -> Iterator[bytes]:
    with open(f"/proc/{number}/mem", "rb", buffering=0) as file:
        for region in Path(f"/proc/{number}/maps").read_text().splitlines():
            start, stop = (int(end, 16) for end in region.split()[0].split("-"))
            if " rw" in region and stop - start < 64 << 20:
                file.seek(start)
                yield file.read(stop - start)
