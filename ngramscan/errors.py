"""All errors of both packages, as one tree.

A message is one line: `where: what is wrong[; what to do]`. Errors of other libraries are
translated where they enter, with `raise … from`, so that a caller needs one `except`. An error
names options with `OptionUse`, and the command that stops says them as the terminal or Python does.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ngramscan.messages import (
    Message,
    OptionFlags,
    OptionUse,
    Text,
    in_python,
    in_terminal,
    message_of,
)

if TYPE_CHECKING:
    import pandas as pd


_MOST_NAMES, _LONGEST_NAME = 40, 100
"""Limits of lists of names in messages, the second in characters."""
_FULL = {errno.ENOSPC, errno.EDQUOT}


class NgramscanError(Exception):
    """Base class of all errors that this package raises on purpose."""

    exit_code = 1
    """The exit code of a command that this error stops."""

    def __init__(self, message: Text = "") -> None:
        self.message = message_of(message)
        super().__init__(str(self.message))

    def __reduce__(self) -> tuple[type[NgramscanError], tuple[Any, ...]]:
        """Pickle the message; by default only its text would reach another process."""
        return type(self), (self.message,)

    def name_flags(self, flags: OptionFlags) -> None:
        """Let the text name options by the flags of a command."""
        self.args = (in_terminal(self.message, flags),)

    def name_keywords(self) -> None:
        """Let the text name options as in Python."""
        self.args = (in_python(self.message),)


class InputError(NgramscanError):
    """An input can't be used: `where` names the place, `problem` says what is wrong there.

    The place may be an option and its value: `InputError(OptionUse("tier", "T9"), "unknown")`.
    """

    exit_code = 2

    def __init__(self, where: object, problem: Text) -> None:
        self.where = message_of(where if isinstance(where, OptionUse | Message) else str(where))
        self.problem = message_of(problem)
        super().__init__(self.where + ": " + self.problem)

    def __reduce__(self) -> tuple[type[InputError], tuple[Message, Message]]:
        """Pickle both fields."""
        return type(self), (self.where, self.problem)

    @property
    def option(self) -> OptionUse | None:
        """Return the option that the error is about; None if it is about another place."""
        first = self.where.parts[0]
        return first if isinstance(first, OptionUse) else None


class NoRowsError(InputError):
    """A table has no rows; its columns may be unknown."""


def reason_of(error: Exception) -> str:
    """Return the message of a foreign error, on one line."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(reason.split())


@contextmanager
def needs_extra(where: Text, extra: str) -> Iterator[None]:
    """If a library of an extra is missing, name it and say what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        problem = f"{error.name} is not installed; pip install 'ngramscan[{extra}]'"
        raise InputError(where, problem) from error


def nearest(value: str, candidates: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the name that was probably meant, in upper or lower case; empty: none is near.

    Long texts aren't names, and to compare them would take the square of their length.
    """
    if len(value) > _LONGEST_NAME:
        return ""
    names = {name.lower(): name for name in candidates if len(name) <= _LONGEST_NAME}
    return next((names[near] for near in get_close_matches(value.lower(), names, 1, cutoff)), "")


def some_of(names: Iterable[object]) -> str:
    """Return names with commas between them; the first of many, the beginning of long ones."""
    texts = [str(name) for name in names]
    shortened_texts = [
        f"{name[:_LONGEST_NAME]}…" if len(name) > _LONGEST_NAME else name for name in texts
    ]
    more = f" and {len(texts) - _MOST_NAMES:,} more" if len(texts) > _MOST_NAMES else ""
    return ", ".join(shortened_texts[:_MOST_NAMES]) + more


class FileChangedError(InputError):
    """A file was written by another program while it was read."""

    exit_code = 1


class CorpusError(InputError):
    """A document of a corpus can't be read."""

    exit_code = 1


class BadFileError(CorpusError):
    """A file of a corpus can't be read as what it is: truncated, or of another format.

    Files that have changed, records without a text and servers that fail have other errors.
    """


class DiskFullError(InputError):
    """The disk is full; a file that was to be replaced is unchanged."""

    exit_code = 1


@contextmanager
def as_input_error(path: object) -> Iterator[None]:
    """Translate errors of writing to a path."""
    try:
        yield
    except OSError as error:
        kind = DiskFullError if error.errno in _FULL else InputError
        raise kind(str(path), f"can't be written ({reason_of(error).lower()})") from error


class IndexFormatError(InputError):
    """A local index is corrupt or incomplete: `where` is the file, `problem` names the field."""

    exit_code = 1


class IndexChangedError(IndexFormatError):
    """A file of an index was changed, replaced or removed while it was open; open it again."""


class RemoteError(NgramscanError):
    """A service gave no usable answer."""


class RemoteRefused(RemoteError):
    """A service refused, or its answer makes no sense; retrying won't help."""


class RemoteUnavailable(RemoteError):
    """A service can't be reached or is overloaded; retrying later may help."""


class RemoteUnreachable(RemoteUnavailable):
    """No connection to a service was ever made; perhaps there is no network."""


class WorkerLostError(NgramscanError):
    """Worker processes were killed repeatedly at the same task."""


class SandboxError(NgramscanError):
    """A program can't be run safely on this machine, or the sandbox itself failed."""


class IncompleteError(NgramscanError):
    """A part of the work failed; the rest was done, and its rows are in `rows`."""

    def __init__(self, message: Text, rows: pd.DataFrame) -> None:
        super().__init__(message)
        self.rows = rows

    def __reduce__(self) -> tuple[type[IncompleteError], tuple[Any, ...]]:
        """Pickle the message and the rows."""
        return type(self), (self.message, self.rows)


class EngineError(NgramscanError):
    """The matching engine disagrees with a brute-force count."""
