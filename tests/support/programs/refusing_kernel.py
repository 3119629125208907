"""Run first in a sandbox's own process: its kernel refuses each layer, in a way of its own."""

import ctypes
import os
import resource

from evalcore.sandbox import kernel


def refuse(function: str, what: str, *arguments: int | bytes | None) -> int:
    if function == "unshare":
        os._exit(3)
    if function == "capset":
        raise OSError(1, "nope")
    if function == "prctl":
        return int(ctypes.CDLL(None).no_such_function())
    os.kill(os.getpid(), 9)
    return 0


def setrlimit(which: int, limits: tuple[int, int], /) -> None:
    raise ValueError("a\nb")


kernel.call = refuse
resource.setrlimit = setrlimit
