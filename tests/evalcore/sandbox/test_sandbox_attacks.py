"""Programs that try to do harm, as root and as an ordinary user, with and without some layers.

The attacks are in tests/support/programs/attacks.py: each says in its answer what it achieved. And
what becomes of the sandbox's own processes.
"""

import contextlib
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.programs import attacks
from tests.support.sandboxed import SECRET, USERS, WITHIN_S, Person, person_of

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the layers are Linux's"),
]

BOTH_WAYS = pytest.mark.parametrize(
    "leave_out", [[], ["namespaces"]], ids=["full", "no namespaces"]
)
OF_EACH_USER = pytest.mark.parametrize("user", USERS)


class Attack(NamedTuple):
    """A program, and the statuses and answers that are no success of it."""

    program: Callable[[], object]
    harmless_ends: tuple[str, ...] = ("stopped",)
    needs: str = ""
    """The layer without which it would succeed."""


ATTACKS = [
    Attack(attacks.reads_and_reaches_others),
    Attack(attacks.reads_by_other_ways),
    Attack(attacks.finds_secrets),
    Attack(attacks.writes_outside_and_lifts_limits),
    Attack(attacks.writes_many_files, needs="namespaces"),
    Attack(attacks.starts_threads_and_hides_memory, needs="seccomp"),
    Attack(attacks.calls_what_the_filter_refuses, needs="seccomp"),
    Attack(attacks.makes_rare_calls),
    Attack(attacks.talks_through_files_that_all_can_read, needs="seccomp"),
    Attack(attacks.asks_what_the_machine_is_used_for, needs="seccomp"),
    Attack(attacks.asks_about_other_processes, needs="seccomp"),
    # Without the filter they begin, and end with the program.
    Attack(attacks.detaches_processes, ("stopped", "achieved everything")),
    Attack(attacks.uses_its_own_folder, ("mine",)),
    Attack(attacks.nests_thousands_of_folders, ("stopped", "error", "timeout")),
    Attack(attacks.closes_its_folders),
    Attack(attacks.takes_memory_at_once, ("memory",)),
    Attack(attacks.takes_memory_in_pieces, ("memory",)),
    Attack(attacks.recurses, ("killed", "memory", "error", "timeout")),
    Attack(attacks.recurses_in_its_text, ("killed", "memory", "error", "timeout")),
    Attack(attacks.writes_nonsense_everywhere, ("no result",)),
    Attack(attacks.closes_its_result, ("no result",)),
    Attack(attacks.forges_its_answer, ("1",)),  # only its own
    Attack(attacks.replaces_the_json_library, ("5", "no result")),
    Attack(attacks.replaces_its_output, ("7", "error")),
    Attack(attacks.rings_during_its_answer, ("stopped", "error", "no result", "killed")),
    Attack(attacks.lies_about_its_value, ("error", "no result")),
]
ENDLESS_ATTACKS = [
    Attack(attacks.loops, ("timeout",)),
    Attack(attacks.loops_in_one_call, ("timeout",)),
    Attack(attacks.prints_without_end, ("timeout",)),
    Attack(attacks.reports_without_end, ("timeout",)),
    Attack(attacks.loops_without_descriptors, ("timeout",)),
    Attack(attacks.loops_without_signals, ("timeout",)),
    Attack(attacks.answers_without_end, ("timeout",)),
]
ATTACKS_AS_TEXT = Path(attacks.__file__).read_text()


def program_of(function: Callable[[], object], *settings: str) -> tuple[str, str]:
    """Return a program that calls a function of the attacks, and where its answer is."""
    lines = [ATTACKS_AS_TEXT, *settings, f"answer = {function.__name__}()"]
    return "\n".join(lines), "answer"


@pytest.fixture(scope="module", params=USERS)
def person(request: pytest.FixtureRequest) -> Iterator[Person]:
    with person_of(request.param) as made:
        yield made


def attack_with(
    person: Person, chosen: list[Attack], seconds: float, arriving: int = 0, **options: Any
) -> dict[str, str]:
    """Make attacks with what they need to know; return how each ended."""
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
        tcp, udp = made[0].getsockname()[1], made[3].getsockname()[1]
        settings = (
            f"HOME, ABSTRACT = {str(person.home)!r}, {abstract!r}",
            f"PERSON, TCP, UDP = {person.process.pid}, {tcp}, {udp}",
        )
        programs = [program_of(attack.program, *settings) for attack in chosen]
        limits = {"seconds": seconds, "memory_bytes": 128 << 20, "files_bytes": 1 << 20}
        person.send(programs, limits, **options)
        answer = person.receive()
        arrived = len(select.select(made, [], [], 0)[0])
    states = answer.get("layers", {"sandbox": answer.get("error")})
    if any(state != "ok" and "left out" not in state for state in states.values()):
        pytest.skip(f"this machine lacks a layer: {states}")
    assert arrived == arriving
    ends = {}
    for attack, outcome in zip(chosen, answer["outcomes"], strict=True):
        value = outcome["value"] if outcome["status"] == "ok" else outcome["status"]
        ends[attack.program.__name__] = str(value)
    return ends


def successes(chosen: list[Attack], ends: dict[str, str]) -> dict[str, str]:
    """Return the attacks that did not end without harm, and how they ended."""
    harmless = {attack.program.__name__: attack.harmless_ends for attack in chosen}
    return {name: end for name, end in ends.items() if end not in harmless[name]}


@pytest.mark.parametrize(
    "leave_out",
    [
        pytest.param([], id="full"),
        pytest.param(["namespaces"], id="no namespaces"),
        pytest.param(["landlock"], id="no Landlock"),
        pytest.param(["seccomp"], id="no seccomp"),
    ],
)
def test_attacks_are_stopped_or_harmless(leave_out: list[str], person: Person) -> None:
    stopped = [attack for attack in ATTACKS if attack.needs not in leave_out]
    ends = attack_with(person, stopped, WITHIN_S, leave_out=leave_out, workers=2)
    assert successes(stopped, ends) == {}
    # All at once: what takes its whole time costs no more than one of them.
    workers = len(ENDLESS_ATTACKS)
    ends = attack_with(person, ENDLESS_ATTACKS, 0.4, leave_out=leave_out, workers=workers)
    assert successes(ENDLESS_ATTACKS, ends) == {}
    places = ("", "/tmp", "/etc", "/dev", "/dev/shm", "/var/tmp", "/run")
    assert [place for place in places if os.path.exists(f"{place}/written-outside")] == []
    person.assert_nothing_left()
    # Endless printing fills no memory.
    status = Path(f"/proc/{person.process.pid}/status").read_text()
    assert int(status.partition("VmHWM:")[2].split()[0]) * 1024 < 100 << 20


def test_the_attacks_would_succeed_if_nothing_stopped_them(person: Person) -> None:
    on_others = [
        Attack(attacks.reads_and_reaches_others, ("achieved everything",)),
        Attack(attacks.starts_threads_and_hides_memory, ("achieved everything",)),
        Attack(attacks.detaches_processes, ("achieved everything",)),
        Attack(attacks.finds_secrets, ("stopped",)),
        Attack(attacks.takes_memory_at_once, ("memory",)),
    ]
    without = ["namespaces", "landlock", "seccomp", "privileges"]
    ends = attack_with(person, on_others, WITHIN_S, 5, leave_out=without, allow_weak=True)
    assert successes(on_others, ends) == {}
    endless = [Attack(attacks.loops, ("timeout",))]
    ends = attack_with(person, endless, 0.4, leave_out=without, allow_weak=True)
    assert successes(endless, ends) == {}
    person.assert_nothing_left()


@BOTH_WAYS
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@OF_EACH_USER
def test_nothing_is_left_when_the_one_who_asks_is_ended(
    user: int, number: int, leave_out: list[str]
) -> None:
    with person_of(user) as asking:
        endless = ("open('left', 'w').close()\nwhile True: pass", "answer")
        asking.send([endless] * 3, workers=2, leave_out=leave_out)
        asking.wait_for_processes(5)  # the zygote; for each program, one that watches and itself
        asking.process.send_signal(number)
        asking.process.wait(WITHIN_S)
        asking.assert_nothing_left()


LATE_S = 6.0
# One after the other they run for longer than a program may, so that one of them always runs when
# the other worker's program is late.
NEIGHBOURS = [("import time\ntime.sleep(1)\nanswer = 1", "answer")] * (int(LATE_S) + 1)


@BOTH_WAYS
def test_a_folder_that_takes_long_to_remove_costs_nobody_an_outcome(
    person: Person, leave_out: list[str]
) -> None:
    programs = [program_of(attacks.fills_its_folder), *NEIGHBOURS]
    person.send(programs, {"seconds": LATE_S}, grace=0.05, workers=2, leave_out=leave_out)
    outcomes = person.receive()["outcomes"]
    ends = [outcome["status"] for outcome in outcomes]
    assert ends == ["timeout", *["ok"] * len(NEIGHBOURS)]
    person.assert_nothing_left()


@BOTH_WAYS
def test_a_supervisor_that_is_late_ends_alone_and_its_program_is_late(
    person: Person, leave_out: list[str]
) -> None:
    programs = [program_of(attacks.sleeps), *NEIGHBOURS]
    person.send(programs, {"seconds": LATE_S}, grace=0.1, workers=2, leave_out=leave_out)
    person.wait_for_processes(5)
    os.kill(person.processes()[1], signal.SIGSTOP)
    outcomes = person.receive()["outcomes"]
    ends = [outcome["status"] for outcome in outcomes]
    assert ends == ["timeout", *["ok"] * len(NEIGHBOURS)]
    assert outcomes[0]["message"] == "not done within 6 s"
    person.assert_nothing_left()


@BOTH_WAYS
@pytest.mark.parametrize("without_filter", [False, True], ids=["filtered", "without a filter"])
@OF_EACH_USER
def test_a_program_ends_with_the_process_that_watches_it(
    user: int, without_filter: bool, leave_out: list[str]
) -> None:
    without = [*leave_out, "seccomp"] if without_filter else leave_out
    with person_of(user) as asking:
        programs = [program_of(attacks.survives), program_of(attacks.sleeps)]
        asking.send(programs, workers=1, leave_out=without)
        first, watching, program = asking.wait_for_a_ready_program()
        os.kill(watching, signal.SIGKILL)
        asking.wait_for_the_end_of(program)
        assert first in asking.processes()
        # The next program runs, as somebody is left who wants it.
        assert asking.wait_for_a_ready_program()[0] == first
        asking.process.kill()
        asking.process.wait(WITHIN_S)
        asking.assert_nothing_left()


@BOTH_WAYS
@OF_EACH_USER
def test_a_program_ends_when_all_who_started_it_are_killed(user: int, leave_out: list[str]) -> None:
    with person_of(user) as asking:
        programs = [program_of(attacks.survives), program_of(attacks.sleeps)]
        asking.send(programs, workers=1, leave_out=leave_out)
        first, watching, program = asking.wait_for_a_ready_program()
        for process in (watching, first, asking.process.pid):
            os.kill(process, signal.SIGKILL)
        asking.wait_for_the_end_of(program)
        asking.process.wait(WITHIN_S)
        # What was just being started ends, too. Nobody is left to remove the folder that programs
        # had on disk.
        for process in asking.processes():
            asking.wait_for_the_end_of(process)
        assert asking.processes() == []


# Messages when the first process or the program is killed.
KILLED = {0: "the process that watched the program ended", 2: "ended by the signal SIGKILL"}


@BOTH_WAYS
@pytest.mark.parametrize("which", KILLED, ids=["first process", "program"])
def test_processes_hold_no_secret_and_a_killed_one_loses_only_what_runs(
    person: Person, which: int, leave_out: list[str]
) -> None:
    programs = [
        program_of(attacks.sleeps),
        ("answer = 2", "answer"),
        ("import time\nanswer = 1", "answer"),
    ]
    person.send(programs, workers=1, leave_out=leave_out)
    processes = person.wait_for_a_ready_program()
    of_all = [b"".join(writable_memory(process)) for process in (*processes, person.process.pid)]
    assert [SECRET.encode() in memory for memory in of_all] == [False, False, False, True]
    assert [Path(f"/proc/{process}/environ").read_bytes() for process in processes] == [b""] * 3
    os.kill(processes[which], signal.SIGKILL)
    outcomes = person.receive()["outcomes"]
    assert outcomes[0]["status"] == ("killed" if which else "lost")
    assert outcomes[0]["message"] == KILLED[which]
    assert [outcome["value"] for outcome in outcomes] == [None, 2, 1]
    person.assert_nothing_left()


def writable_memory(number: int) -> Iterator[bytes]:
    with open(f"/proc/{number}/mem", "rb", buffering=0) as file:
        for region in Path(f"/proc/{number}/maps").read_text().splitlines():
            start, stop = (int(end, 16) for end in region.split()[0].split("-"))
            if " rw" in region and stop - start < 64 << 20:
                file.seek(start)
                yield file.read(stop - start)
