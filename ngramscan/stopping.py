"""Work that can be stopped, or asked to wait: all its loops read one flag.

A loop of compiled code reads the flag at every step. Where it is set the loop returns, and its
caller calls `look`, which raises the error that stops the work, or waits and then returns: the
loop continues from where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

GO, PAUSE, STOP = range(3)
"""The values of a flag; a loop that is asked to pause may do a step that it can't take up again."""

_Parameters = ParamSpec("_Parameters")
_T = TypeVar("_T")


class Work:
    """Work that nothing stops, as a command does it."""

    def __init__(self) -> None:
        self.flag: NDArray[np.uint8] = np.zeros(1, np.uint8)
        """GO, PAUSE or STOP."""

    def look(self) -> None:
        """Return when the work may continue, or raise the error that stops it."""

    def check(self) -> None:
        """Look if the flag is set."""
        if self.flag[0]:
            self.look()


_UNSTOPPED = Work()
_WORK: ContextVar[Work] = ContextVar("work", default=_UNSTOPPED)


def current_work() -> Work:
    """Return the work that this code is a part of."""
    return _WORK.get()


@contextmanager
def working_on(work: Work) -> Iterator[None]:
    """Make some work the current one."""
    token = _WORK.set(work)
    try:
        yield
    finally:
        _WORK.reset(token)


def on_any_thread(function: Callable[_Parameters, _T]) -> Callable[_Parameters, _T]:
    """Return a function that is a part of the current work on whatever thread it runs."""
    work = current_work()

    def part(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _T:
        with working_on(work):
            return function(*arguments, **options)

    return part
