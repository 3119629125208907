"""Replies kept in SQLite: what was asked once is not asked again.

Corpora do not change, so a reply stays true; a run that was stopped goes on where it was, and a
second run asks only what is new. One file serves any number of runs on one machine at a time. It is
in WAL mode, so that a killed process loses no reply that was put; keep it off network file systems,
which do not support that mode.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from ngramscan.errors import DiskFullError, InputError

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    source TEXT NOT NULL,       -- who answered: an endpoint
    name TEXT NOT NULL,         -- about what: an index
    request TEXT NOT NULL,
    reply TEXT NOT NULL,
    asked_at TEXT NOT NULL,     -- ISO 8601, UTC
    PRIMARY KEY (source, name, request)
) WITHOUT ROWID
"""


def now() -> str:
    """Return the time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _stored(name: str) -> str:
    """Return a name as SQLite takes it: names of files need not be UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Reply:
    """What was answered, and when it was asked."""

    text: str
    asked_at: str


class Journal:
    """A store of replies; safe to use from several threads and processes.

    >>> with Journal(path) as journal:
    ...     journal.put("https://example.org/", "v2_dclm_all", request, reply)
    ...     journal.get("https://example.org/", "v2_dclm_all", [request])

    Parameters
    ----------
    path : Path or None
        The file; it is made where it is missing. None: replies are kept only in memory.

    Raises
    ------
    InputError
        The file can't be opened, or is something else.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
                # Replies may be of unpublished corpora: for no one else's eyes.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            # Autocommit: every reply is on its own, and a kill loses none that was put.
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=30, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            self._prepare()
        except sqlite3.Error as error:
            self.close()
            raise self._unusable(error) from error
        except InputError:
            self.close()
            raise

    def _unusable(self, error: Exception) -> InputError:
        problem = f"can't be opened as a journal ({error}); name another file"
        kind = DiskFullError if _takes_no_more(error) else InputError
        return kind(f"--journal {self.path}", problem)

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._check_version()
        self._connection.execute(_SCHEMA)

    def _check_version(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise InputError(f"--journal {self.path}", "written by a newer ngramscan")
        if version == 0:
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if tables:
                raise InputError(f"--journal {self.path}", "a database, but no journal")
            self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    def get(self, source: str, name: str, requests: Iterable[str]) -> dict[str, Reply]:
        """Return the replies that are there for some requests to one index of one source."""
        found: dict[str, Reply] = {}
        try:
            with self._lock:
                for request in requests:
                    row = self._connection.execute(
                        "SELECT reply, asked_at FROM replies"
                        " WHERE source = ? AND name = ? AND request = ?",
                        (source, _stored(name), request),
                    ).fetchone()
                    if row:
                        found[request] = Reply(*row)
        except sqlite3.Error as error:
            problem = f"damaged ({error}); delete it, or name another file"
            raise InputError(f"--journal {self.path}", problem) from error
        return found

    def get_each(self, source: str, names: Iterable[str], request: str) -> dict[str, Reply]:
        """Return the replies that are there for one request to some names, by name."""
        found = {name: self.get(source, name, [request]) for name in names}
        return {name: replies[request] for name, replies in found.items() if request in replies}

    def put(self, source: str, name: str, request: str, reply: str) -> str:
        """Keep a reply, in the place of an older one; return the time that it is kept under."""
        asked_at = now()
        try:
            with self._lock:
                self._connection.execute(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)",
                    (source, _stored(name), request, reply, asked_at),
                )
        except sqlite3.Error as error:
            kind = DiskFullError if _takes_no_more(error) else InputError
            raise kind(f"--journal {self.path}", f"can't be written ({error})") from error
        return asked_at

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _takes_no_more(error: Exception) -> bool:
    """Tell whether it is the disk that refuses."""
    name = getattr(error, "sqlite_errorname", "") or ""
    return name.startswith(("SQLITE_FULL", "SQLITE_IOERR"))
