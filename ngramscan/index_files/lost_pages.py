"""Survival of SIGBUS when a mapped file is truncated: reads return zeros, and the file is marked.

The system sends a SIGBUS to a thread that reads a page which a file no longer has, or which the
disk can't deliver; that ends the process. No check before a read can exclude it, because a file can
be cut at any moment. `survive` installs a handler that maps zeros over the file and marks it as
lost, so that readers find the mark after the read and reject the result.
"""

from __future__ import annotations

import ctypes
import mmap
import signal
import sys
from itertools import count
from typing import Any

import numpy as np

_MOST = 1 << 20
"""Maximum of watched files; faults in others end the process. A process can't map as many files
unless the limit of the system is raised."""
_watched = np.zeros((_MOST, 3), np.int64)
"""Addresses [start, stop) and whether they are lost; the first row has the number of the rows."""
_rows = count(1)
_free: list[int] = []

_ADDRESS_ERROR = 2  # BUS_ADRERR of siginfo_t
_WITH_DETAILS = 4  # SA_SIGINFO
_ZEROS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10  # MAP_FIXED


class _Action(ctypes.Structure):
    """`struct sigaction` of Linux."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_byte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def watch(address: int, size: int) -> int:
    """Watch a mapped file; return its row."""
    row = _free.pop() if _free else next(_rows)
    if row < _MOST:
        _watched[row] = address, address + size, 0
        _watched[0, 0] = max(row, _watched[0, 0])
    return row


def forget(row: int) -> None:
    """Stop watching a file, since its addresses may be reused."""
    if row < _MOST:
        _watched[row] = 0
    _free.append(row)


def is_lost(row: int) -> bool:
    """Tell whether a file has been replaced by zeros."""
    return row < _MOST and bool(_watched[row, 2])


def survive() -> None:
    """Make this process survive files that are cut while they are read; Linux only."""
    if sys.platform != "linux" or _keep:
        return
    before = ctypes.create_string_buffer(ctypes.sizeof(_Action))
    handler = _compile_handler(ctypes.addressof(before))
    action = _Action(handler.address, (ctypes.c_byte * 128)(), _WITH_DETAILS, None)
    ctypes.CDLL(None).sigaction(int(signal.SIGBUS), ctypes.byref(action), before)
    _keep.extend([handler, before])


_keep: list[object] = []
"""Objects that the handler needs as long as the process lives."""


def _compile_handler(before: int) -> Any:
    """Return the handler in machine code, since it can interrupt anything, also the interpreter.

    A fault at any other address gets the action at the address `before`.
    """
    import numba  # only servers wait for it
    from numba import types
    from numba.extending import intrinsic

    libc, size, integer = ctypes.CDLL(None), ctypes.c_ssize_t, ctypes.c_int
    map_again = ctypes.CFUNCTYPE(size, size, size, integer, integer, integer, size)(("mmap", libc))
    restore = ctypes.CFUNCTYPE(integer, integer, size, size)(("sigaction", libc))
    words: Any = types.CPointer(types.int64)  # type: ignore[no-untyped-call]  # numba has no types

    def pointer(_: Any, address: Any) -> Any:  # noqa: ARG001  numba reads its name
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(words))

        return words(types.int64), generate

    at_address: Any = intrinsic(pointer)
    table, bus, only_read = _watched.ctypes.data, int(signal.SIGBUS), int(mmap.PROT_READ)

    def handle(_: Any, details: Any, __: Any) -> None:
        watched = at_address(table)
        # siginfo_t: the signal, an error number and the code with 32 bits each; then the address.
        if details[1] & 0xFFFFFFFF == _ADDRESS_ERROR:
            for row in range(1, watched[0] + 1):
                start, stop = watched[3 * row], watched[3 * row + 1]
                if start <= details[2] < stop:
                    watched[3 * row + 2] = 1
                    if map_again(start, stop - start, only_read, _ZEROS, -1, 0) == start:
                        return
        restore(bus, before, 0)  # the read is tried again, and has the consequence it had before

    return numba.cfunc(types.void(types.int32, words, types.voidptr))(handle)
