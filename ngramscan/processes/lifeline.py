"""Processes that end with the one that started them, however that ends and whatever they do.

The process that starts another keeps one end of a pipe, to which nothing is ever written; the
kernel ends the other process when that end is closed.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal


def end_with(life: int) -> None:
    """Have the kernel end this process when nothing holds the other end of a pipe any more.

    A thread that looks for the parent would have to wait for a long step of compiled code.
    """
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends a process
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([life], [], [], 0)[0]:  # it ended before
        os._exit(1)
