"""What can go wrong, as one tree.

NgramscanError
├── InputError             what the user gave is wrong: an argument, a file's place, a pattern set
│   ├── CorpusError        a document of a corpus can't be read
│   ├── DiskFullError      there is no room for what is to be written
│   └── IndexFormatError   a local index is corrupt, or not one
│       └── IndexChangedError  its files became shorter while it was open
├── RemoteError            a service gave no usable answer
│   ├── RemoteRefused      asking again will not help
│   └── RemoteUnavailable  asking again later may help
├── WorkerLostError        processes that did a task were killed, again and again
├── SandboxError           a program can't be run safely on this machine
├── IncompleteError        a part of the work failed; the other part was done and kept
└── EngineError            the matching engine disagrees with a brute-force count

A message is one line: `where: what is wrong[; what was expected]`. Errors of other libraries are
translated where they enter, with `raise … from`, so that a caller needs one `except`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class NgramscanError(Exception):
    """Anything that this package raises on purpose."""

    exit_code = 1
    """What a command ends with when this error stops it."""


class InputError(NgramscanError):
    """What the user gave can't be used: `where` names the place, `problem` what is wrong there."""

    exit_code = 2

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")
        self.where = where
        self.problem = problem

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        """Let it travel between processes: by default only the message would."""
        return type(self), (self.where, self.problem)


class CorpusError(InputError):
    """A document of a corpus can't be read."""

    exit_code = 1


class DiskFullError(InputError):
    """There is no room for what is to be written; what stood there before still does."""

    exit_code = 1


class IndexFormatError(InputError):
    """A local index is corrupt or not one: `where` is its file, `problem` names the field."""

    exit_code = 1


class IndexChangedError(IndexFormatError):
    """A file of a local index became shorter while it was open; open the index again."""


class RemoteError(NgramscanError):
    """A service gave no usable answer."""


class RemoteRefused(RemoteError):
    """A service refused, or answered what no such service answers; asking again will not help."""


class RemoteUnavailable(RemoteError):
    """A service can't be reached or is in trouble; asking again later may help."""


class WorkerLostError(NgramscanError):
    """Processes that did a task were killed, again and again."""


class SandboxError(NgramscanError):
    """A program can't be run safely here, or the sandbox itself failed."""


class IncompleteError(NgramscanError):
    """A part of the work failed; what was done is kept, and its rows are in `rows`."""

    def __init__(self, message: str, rows: pd.DataFrame) -> None:
        super().__init__(message)
        self.rows = rows


class EngineError(NgramscanError):
    """The matching engine disagrees with a brute-force count."""
