"""Child processes that always end with their parent.

The parent keeps one end of a pipe, to which nothing is ever written; the kernel ends the child when
that end is closed.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal


def end_with(life: int) -> None:
    """Have the kernel end this process when the other end of a pipe is closed.

    A thread that watches the parent would have to wait for long steps of compiled code.
    """
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # which ends a process
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([life], [], [], 0)[0]:  # it ended before
        os._exit(1)
