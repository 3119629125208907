"""Work for tests of `processes`: functions that a worker process can import."""

import ctypes
import os
import signal
import time
from pathlib import Path

from ngramscan.errors import CorpusError
from ngramscan.processes.pool import Report, Watch
from tests.support.recorder import Recorder


def ignore(_: object) -> None:
    """Hear what tasks report, and do nothing."""


def square(number: int, report: Report) -> int:
    report(1)
    return number * number


def slow_square(number: int, report: Report) -> int:
    time.sleep(0.02)
    return number * number


def hold_the_interpreter(seconds: int, report: Report) -> int:
    """Report, and then do what compiled code may do: let no other thread of Python run."""
    time.sleep(0.2)
    report(1)
    ctypes.PyDLL(None).sleep(seconds)
    return seconds


def take_memory(size: int, _report: Report) -> int:
    return len(bytes(size))


def odd_ones_fail(number: int, report: Report) -> int:
    report(1)
    if number % 2:
        raise CorpusError(f"file{number}", "it is odd")
    return number


def crash(number: int, report: Report) -> int:
    return number // 0


def die(task: tuple[int, str], report: Report) -> int:
    """End this process in the middle of a task: at 1 always, at 0 and 5 the first time."""
    number, folder = task
    marker = Path(folder) / str(number)
    if number == 1:
        os._exit(3)
    if number % 5 == 0 and not marker.exists():
        marker.touch()
        report(7)  # must be taken back
        os.kill(os.getpid(), signal.SIGKILL)
    report(1)
    return number


def watch_of(seen: Recorder) -> Watch:
    """Return callbacks that tell a recorder what tasks report."""
    return Watch(lambda amount: seen.advance(amount, "tasks"), seen.notice)
