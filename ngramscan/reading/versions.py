"""Detect files that another program writes while they are read, and refuse their content.

A mixture of two contents can look like a valid file. So the state of a file is compared before and
after it is read. Because a program may take long to write, it is compared with its first state
whenever a command reads it again, and when the command ends.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import IO, Any, NamedTuple

from ngramscan.errors import FileChangedError

_SETTLED_S = 0.02
"""Twice the step of the clock that stamps files, 10 ms at most: two writes within a step have the
same time. A write is stamped when it begins, and a busy machine may interrupt it for a while."""
_MOST_WAITS = 25
_CURE = "run the same command again when no other program writes it"


class _FirstState(NamedTuple):
    """The state of a file when a command first read it."""

    path: str
    status: os.stat_result


class _FirstStates:
    """The files that the command has read so far, by absolute path."""

    def __init__(self) -> None:
        self.states: dict[str, _FirstState] = {}
        self._places: dict[str, str] = {}

    def first_of(self, state: _FirstState) -> _FirstState:
        """Return the first recorded state of a file; record this one if there is none yet."""
        folder, slash, name = state.path.rpartition("/")
        folder += slash
        # Of folders with thousands of files; the working directory stays the same.
        if folder not in self._places:
            self._places[folder] = os.path.join(os.path.abspath(folder), "")
        return self.states.setdefault(self._places[folder] + name, state)


_first_states: ContextVar[_FirstStates | None] = ContextVar("states", default=None)
"""None outside of a command."""


@contextmanager
def one_version_each() -> Iterator[None]:
    """Refuse files that are not the same whenever a command reads them, and until it ends.

    A file that was replaced by another was read whole, if it was read once.
    """
    first_states = _FirstStates()
    token = _first_states.set(first_states)
    try:
        yield
    finally:
        _first_states.reset(token)
    for path, before in first_states.states.values():
        with suppress(OSError):  # it was removed
            now = os.stat(path)
            if os.path.samestat(before, now):
                _refuse_changed(path, before, now)


@contextmanager
def unchanged_while_read(file: IO[Any], path: object) -> Iterator[None]:
    """Raise a FileChangedError if a file is written while it is read, whatever else is wrong.

    Pipes and devices have no state that could be compared.
    """
    before = settled_status(file.fileno(), path)
    if not stat.S_ISREG(before.st_mode):
        yield
        return
    try:
        yield
    except GeneratorExit:  # no more of it is needed
        raise
    except BaseException:
        _refuse_changed(path, before, os.fstat(file.fileno()))  # which may be the reason
        raise
    _refuse_changed(path, before, os.fstat(file.fileno()))


def settled_status(target: int | str | os.PathLike[str], path: object) -> os.stat_result:
    """Wait until a file's last change is old enough to differ from a later one; return its status.

    A FileChangedError says that another program writes it all the time, or that this command has
    read it in another state before.
    """
    for _ in range(_MOST_WAITS):
        status = os.stat(target)
        age_s = (time.time_ns() - status.st_ctime_ns) / 1e9
        is_recent = 0 <= age_s <= _SETTLED_S  # the clock of a file server may be ahead
        if not stat.S_ISREG(status.st_mode):
            return status
        if not is_recent:
            _compare_with_first(path, status)
            return status
        time.sleep(_SETTLED_S - age_s)
    raise FileChangedError(str(path), f"another program is writing it; {_CURE}")


def is_same_content(before: os.stat_result, after: os.stat_result) -> bool:
    """Tell whether a file is the same in two states.

    The time of modification can be set back, the time of change (ctime) can't; but ctime also
    changes with mode, owner and name.
    """
    if _content_marks(before) != _content_marks(after):
        return False
    return before.st_ctime_ns == after.st_ctime_ns or _other_marks(before) != _other_marks(after)


def _content_marks(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _other_marks(status: os.stat_result) -> tuple[int, ...]:
    return status.st_mode, status.st_uid, status.st_gid, status.st_nlink


def _compare_with_first(path: object, status: os.stat_result) -> None:
    """Raise a FileChangedError if the same command has read the file in another state before."""
    first_states = _first_states.get()
    if first_states is not None:
        first = first_states.first_of(_FirstState(str(path), status))
        if first.status is status:
            return
        _refuse_changed(path, first.status, status)


def _refuse_changed(path: object, before: os.stat_result, after: os.stat_result) -> None:
    if not is_same_content(before, after):
        raise FileChangedError(str(path), f"it changed while it was read; {_CURE}")
