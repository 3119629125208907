"""How files of rows were made: the command line, remembered under the content of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command that wrote rows."""

    command: str
    """The command line, or the call in Python, without passwords."""
    version: str
    finished_at: str
    """ISO 8601, UTC."""
    failures: tuple[str, ...] = ()
    """Lines about rows that are missing, and why."""
    sizes: Mapping[str, str] | None = None
    """The size of each index, in words."""


def remember(content: bytes, run: Run) -> None:
    """Keep how a file with this content was made; in vain where the cache can't be written."""
    raise NotImplementedError


def recall(content: bytes) -> Run | None:
    """Return how a file with this content was made; None: it isn't known, or was changed."""
    raise NotImplementedError
