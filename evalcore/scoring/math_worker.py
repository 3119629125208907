"""One grading process: reads tasks from its input, a JSON object a line, and answers each in turn.

A task that takes too long ends the process: the alarm is the kernel's and needs no help from
Python, which may be deep in one multiplication. So no worker outlives its parent by more than that.
"""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
import warnings
from contextlib import suppress
from dataclasses import asdict
from types import TracebackType
from typing import Any, TextIO

from evalcore.scoring.mathematics import MathGold, MathTask, judged_by_algebra


def serve(seconds: float, memory_bytes: int) -> None:
    """Judge tasks until the input ends.

    Parameters
    ----------
    seconds : float
        What one task may take.
    memory_bytes : int
        What the process may use.
    """
    warnings.simplefilter("ignore")
    logging.disable()
    with suppress(ValueError, OSError):  # macOS knows the limit but sets it only sometimes
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    sys.set_int_max_str_digits(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    sys.excepthook = _last_words
    judged_by_algebra(MathTask("x+1", MathGold("y+1")))  # imports what takes long
    _say(sys.stdout, {"ready": True})
    for line in sys.stdin:
        task = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        verdict = judged_by_algebra(MathTask(task["answer"], MathGold(**task["gold"])))
        signal.setitimer(signal.ITIMER_REAL, 0)
        _say(sys.stdout, asdict(verdict))


def _last_words(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Say what ends the process, in one line."""
    text = " ".join(str(error).split())[:200]
    _say(sys.stdout, {"crash": f"{kind.__name__}: {text}".rstrip(": ")})


def _say(output: TextIO, message: dict[str, Any]) -> None:
    """Write one line at once."""
    output.write(json.dumps(message) + "\n")
    output.flush()
