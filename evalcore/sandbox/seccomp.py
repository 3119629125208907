"""A filter of system calls for the rest of a process's life."""

from __future__ import annotations

import ctypes
import errno
import functools
import platform
from collections.abc import Sequence

from evalcore.sandbox import kernel, system_calls

LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24
"""Where the kernel puts them in the record that a filter reads, in bytes."""
ALLOW, FAIL, KILL_PROCESS = 0x7FFF_0000, 0x0005_0000, 0x8000_0000
FILTER_MODE = 2


class Instruction(ctypes.Structure):
    """One step of a filter."""

    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class FilterProgram(ctypes.Structure):
    """A whole filter."""

    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.POINTER(Instruction)))


def steps(machine: str) -> list[Instruction]:
    """Return the filter for an architecture, as `platform.machine()` names it.

    An unknown call fails with ENOSYS, so that the C library falls back to an older one; a denied
    call fails with EPERM, which Python turns into an exception. Calls made in the manner of another
    architecture, whose numbers mean other things, end the process.
    """
    column = list(system_calls.AUDIT_ARCHITECTURES).index(machine)
    limits = system_calls.SET_LIMITS[column]
    made = [
        Instruction(LOAD_WORD, 0, 0, ARCHITECTURE),
        Instruction(JUMP_IF_EQUAL, 1, 0, system_calls.AUDIT_ARCHITECTURES[machine]),
        Instruction(RETURN, 0, 0, KILL_PROCESS),
        Instruction(LOAD_WORD, 0, 0, NUMBER),
        Instruction(JUMP_IF_AT_LEAST, 0, 1, system_calls.LAST_KNOWN + 1),
        Instruction(RETURN, 0, 0, FAIL | errno.ENOSYS),
    ]
    for first, last in ranges(column):
        made.append(Instruction(JUMP_IF_AT_LEAST, 0, 2, first))
        made.append(Instruction(JUMP_IF_AT_LEAST, 1, 0, last + 1))
        made.append(Instruction(RETURN, 0, 0, FAIL | errno.EPERM))
    for call, values in system_calls.DENIED_COMMANDS:
        made += deny_commands(call[column], values)
    return [
        *made,
        Instruction(JUMP_IF_EQUAL, 0, 3, limits),
        Instruction(LOAD_WORD, 0, 0, FIRST_ARGUMENT),
        Instruction(JUMP_IF_EQUAL, 1, 0, 0),
        Instruction(RETURN, 0, 0, FAIL | errno.EPERM),
        Instruction(RETURN, 0, 0, ALLOW),
    ]


def deny_commands(call: int, values: Sequence[int]) -> list[Instruction]:
    """Return the steps that deny a call with some values of its second argument, and allow others.

    The kernel takes only the lower half of these arguments.
    """
    count = len(values)
    return [
        Instruction(JUMP_IF_EQUAL, 0, count + 3, call),
        Instruction(LOAD_WORD, 0, 0, SECOND_ARGUMENT),
        *(
            Instruction(JUMP_IF_EQUAL, count - place, 0, value)
            for place, value in enumerate(values)
        ),
        Instruction(RETURN, 0, 0, ALLOW),
        Instruction(RETURN, 0, 0, FAIL | errno.EPERM),
    ]


def ranges(column: int) -> list[tuple[int, int]]:
    """Return the first and last numbers of runs of denied calls, for one of the architectures."""
    numbers = [row[column] for row in system_calls.DENIED.values()]
    found: list[tuple[int, int]] = []
    for number in sorted(number for number in numbers if number is not None):
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found


def apply() -> None:
    """Filter the system calls of this process from now on.

    Raises
    ------
    OSError
        The architecture is none of those whose numbers are known, or the kernel refused.
    """
    made = built()
    kernel.control(kernel.SET_SECCOMP, "seccomp", FILTER_MODE, ctypes.byref(made))


@functools.cache
def built() -> FilterProgram:
    """Return the filter for this machine; made once, for this process and its copies."""
    machine = platform.machine()
    if machine not in system_calls.AUDIT_ARCHITECTURES or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise OSError(errno.ENOSYS, f"the system calls of {machine} are not known")
    made = steps(machine)
    return FilterProgram(len(made), (Instruction * len(made))(*made))
