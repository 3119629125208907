"""The filter of system calls: what it refuses, and what it leaves to programs."""

import errno
import functools
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from evalcore.sandbox import seccomp
from evalcore.sandbox.sandbox import Sandbox
from tests.support.sandbox_programs import answer_of_file

ALLOWED, REFUSED, UNKNOWN = 0x7FFF0000, 0x00050000 + errno.EPERM, 0x00050000 + errno.ENOSYS
"""What the kernel takes from a filter; and the error of a call that it does not know."""
BOTH_MACHINES = pytest.mark.parametrize(
    ("machine", "column"),
    [pytest.param("x86_64", 0, id="x86_64"), pytest.param("aarch64", 1, id="aarch64")],
)


def filtered(steps: list[Any], machine: str, call: int, *arguments: int) -> int:
    """What a filter makes of a call: the kernel's virtual machine, as far as it is used."""
    record = {0: call, 4: seccomp.AUDIT_ARCHITECTURES[machine], 16: 0, 24: 0, 32: 0}
    record |= {16 + 8 * number: value for number, value in enumerate(arguments)}
    place = word = 0
    while True:
        code, if_true, if_false, operand = steps[place]
        if code == 0x06:
            return int(operand)
        word = record[operand] if code == 0x20 else word
        holds = {0x15: word == operand, 0x35: word >= operand, 0x20: False}[code]
        place += 1 + (if_true if holds else if_false)


@BOTH_MACHINES
def test_every_denied_call_is_refused_and_no_other(machine: str, column: int) -> None:
    steps = list(struct.iter_unpack("=HBBI", seccomp.steps(machine)))
    made_of = functools.partial(filtered, steps, machine)
    denied = {int(row[column]) for row in seccomp.DENIED.values() if row[column] != "-"}
    # 0 is not among the values that these are allowed with.
    denied |= {seccomp.ALLOWED_VALUES[name].numbers[column] for name in ("prctl", "ioctl", "futex")}
    ends = {call: made_of(call) for call in range(seccomp.LAST_KNOWN + 1)}
    wrong = {
        call: end for call, end in ends.items() if end != (REFUSED if call in denied else ALLOWED)
    }
    assert wrong == {}
    assert made_of(seccomp.LAST_KNOWN + 1) == UNKNOWN


@BOTH_MACHINES
@pytest.mark.parametrize("name", seccomp.ALLOWED_VALUES)
def test_a_call_is_allowed_with_some_values_and_with_no_others(
    name: str, machine: str, column: int
) -> None:
    steps = list(struct.iter_unpack("=HBBI", seccomp.steps(machine)))
    numbers, argument, values = seccomp.ALLOWED_VALUES[name]
    before = [7] * argument
    ends = {
        value: filtered(steps, machine, numbers[column], *before, value)
        for value in {*range(2048), *FOR_OTHERS, *values}
    }
    assert {value for value, end in ends.items() if end == ALLOWED} == set(values)
    assert {end for value, end in ends.items() if value not in values} == {REFUSED}


HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@BOTH_MACHINES
def test_the_numbers_of_calls_are_those_of_the_system(machine: str, column: int) -> None:
    header = HEADERS[machine]
    if not header.is_file():
        pytest.skip(f"the headers of the kernel are not installed: {header}")
    defined = re.findall(r"define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    known = {name: int(number) for name, number in defined}
    assert len(known) > 300
    numbers = {name: row[column] for name, row in seccomp.DENIED.items()}
    stated = {name: int(number) for name, number in numbers.items() if number != "-"}
    stated |= {name: row.numbers[column] for name, row in seccomp.ALLOWED_VALUES.items()}
    # An older header lacks newer calls.
    wrong = {
        name: (number, known[name])
        for name, number in stated.items()
        if known.get(name, number) != number
    }
    assert wrong == {}


# By their numbers in the kernel's prctl.h: PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_GET_KEEPCAPS,
# PR_SET_NAME, PR_GET_NAME, PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_TIMERSLACK,
# PR_GET_NO_NEW_PRIVS, PR_GET_THP_DISABLE, PR_SET_VMA
HARMLESS_PROPERTIES = {2, 3, 7, 15, 16, 21, 23, 30, 39, 42, 0x53564D41}


def test_a_program_changes_no_property_of_its_process_but_names() -> None:
    steps = list(struct.iter_unpack("=HBBI", seccomp.steps("x86_64")))
    prctl = 157
    tried = {*range(100), 0x53564D41, 0x59616D61}
    ends = {option: filtered(steps, "x86_64", prctl, option) for option in tried}
    assert {option for option, end in ends.items() if end == ALLOWED} == HARMLESS_PROPERTIES
    assert {end for option, end in ends.items() if option not in HARMLESS_PROPERTIES} == {REFUSED}


# PR_SET_PTRACER, FIOSETOWN, SIOCSPGRP, FIOASYNC, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, a clock of
# the process 1
FOR_OTHERS = (
    0x59616D61,
    0x8901,
    0x8902,
    0x5452,
    0x40086602,
    0x401C5820,
    (~1 << 3 | 2) & 0xFFFFFFFF,
)
DENIED_ARGUMENTS = [
    *(("fcntl", 1, command) for command in (5, 6, 7, 8, 10, 15, 36, 37, 38)),
    *(("fcntl", 1, command) for command in (1024, 1025, 1026, 1029, 1033, 1035, 1036, 1038)),
    *(("ioctl", 1, command) for command in FOR_OTHERS),
    *(("madvise", 2, advice) for advice in (9, 12, 20, 21)),
    *(("futex", 1, operation) for operation in (0, 1, 3, 4, 9, 10)),
    *((name, 0, 1234) for name in ("prlimit64", "getpgid", "getsid", "sched_getaffinity")),
    *(
        ("clock_gettime", 0, FOR_OTHERS[-1]),
        ("timer_create", 0, FOR_OTHERS[-1]),
    ),
]


@pytest.mark.parametrize(("name", "argument", "value"), DENIED_ARGUMENTS)
def test_what_would_reach_others_by_a_value_is_denied(name: str, argument: int, value: int) -> None:
    """Locks, leases and watches of files, waiting on memory of a file, and other processes."""
    steps = list(struct.iter_unpack("=HBBI", seccomp.steps("x86_64")))
    call = seccomp.ALLOWED_VALUES[name].numbers[0]
    assert filtered(steps, "x86_64", call, *[0] * argument, value) == REFUSED


@pytest.mark.parametrize("leave_out", [[], ["namespaces"]], ids=["full", "no namespaces"])
def test_programs_do_what_programs_of_models_do(leave_out: list[str]) -> None:
    with Sandbox(leave_out=leave_out, allow_weak=True) as sandbox:
        (found,) = sandbox.run([answer_of_file("usual_program.py")])
    assert found.value == "[5, 2, 100, True, False, True, True, True, True]", found.message
