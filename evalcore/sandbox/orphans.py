"""Ends what a program left running, where no namespace ends it.

On Linux, a process whose parent has ended becomes a child of the supervisor, so that nothing gets
away; elsewhere only the program's own group of processes is known. A
program that starts processes faster than they are found here can't be stopped in this way: the
filter of system calls is what forbids it to start any.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from evalcore.sandbox import kernel

GIVE_UP_AFTER_S = 5.0


def kill_all(group: int) -> None:
    """Kill all descendants of this process, and wait for them; `group` is that of the program."""
    if not kernel.LINUX:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    until = time.monotonic() + GIVE_UP_AFTER_S
    while time.monotonic() < until:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not ended:
            for child in children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            time.sleep(0.001)


def children() -> list[int]:
    """Return the numbers of this process's children, as the kernel lists them."""
    own = os.getpid()
    try:
        with open(f"/proc/{own}/task/{own}/children", encoding="ascii") as file:
            return [int(number) for number in file.read().split()]
    except OSError:
        return []
