"""Replies kept in SQLite, so that no request is sent twice.

Corpora don't change, so a reply stays true: a run that was stopped resumes where it was, and a
second run asks only for what is new. Any number of runs on one machine can share a file. It is in
WAL mode, so a killed process loses no reply that was stored; network file systems don't support
that mode.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

import platformdirs

from ngramscan.clock import now
from ngramscan.errors import DiskFullError, InputError
from ngramscan.messages import OptionUse

DAMAGED = (AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""Errors of reading a stored reply that is damaged."""
_VERSION = 1
_INSERT = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)"
_NAMES_AT_ONCE = 500
"""SQLite takes 999 values in a statement at least."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    source TEXT NOT NULL,       -- the endpoint that answered
    name TEXT NOT NULL,         -- the index that was asked
    request TEXT NOT NULL,
    reply TEXT NOT NULL,
    asked_at TEXT NOT NULL,     -- ISO 8601, UTC
    PRIMARY KEY (source, name, request)
) WITHOUT ROWID
"""


def default_path() -> Path:
    """Return the path of the default journal, in the user's cache folder."""
    return platformdirs.user_cache_path("ngramscan") / "replies.sqlite"


class StoredReply(NamedTuple):
    """An answer, and when it was asked for."""

    text: str
    asked_at: str


NameFilter = Callable[[str, str], bool]
"""Tells whether a source and a stored name are chosen."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """The replies about one index that a journal has."""

    source: str
    """Address of the service, or `scan` for a corpus that was read."""
    index: str
    """Name of the index; for a corpus the folder of its files."""
    replies: int
    oldest: str
    """ISO 8601, UTC."""
    newest: str


class Journal:
    """A store of replies; safe to use from several threads and processes.

    A missing file is made; without a `path`, replies are kept in memory only.

    >>> with Journal(path) as journal:
    ...     journal.put("https://example.org/", "v2_dclm_all", request, reply)
    ...     journal.get("https://example.org/", "v2_dclm_all", [request])
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
                # Private: replies may come from unpublished corpora.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            # Autocommit: each reply is stored at once, and a kill loses none.
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=30, isolation_level=None, check_same_thread=False
            )
            with ExitStack() as stack:
                stack.callback(self._connection.close)
                self._prepare()
                stack.pop_all()
        except (OSError, sqlite3.Error) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            problem = f"can't be opened as a journal ({reason}); name another file"
            raise self._error(error, problem) from error

    def _error(self, error: Exception, problem: str) -> InputError:
        name = getattr(error, "sqlite_errorname", "") or ""
        is_disk_full = name.startswith(("SQLITE_FULL", "SQLITE_IOERR"))
        return (DiskFullError if is_disk_full else InputError)(
            OptionUse("journal", self.path), problem
        )

    @contextmanager
    def _locked(self, is_writing: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield the connection to one thread at a time, and translate its errors."""
        try:
            with self._lock:
                yield self._connection
        except sqlite3.Error as error:
            if is_writing:
                raise self._error(error, f"can't be written ({error})") from error
            problem = f"damaged ({error}); delete it, or name another file"
            raise InputError(OptionUse("journal", self.path), problem) from error

    def _prepare(self) -> None:
        execute = self._connection.execute
        (version,) = execute("PRAGMA user_version").fetchone()
        (tables,) = execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version > _VERSION or (tables and not version):
            contents = (
                "written by a newer ngramscan" if version else "a database, but not a journal"
            )
            raise InputError(OptionUse("journal", self.path), f"{contents}; name another file")
        # Only now, so that a file that is not a journal stays as it was.
        self._use_wal()
        execute("PRAGMA synchronous = NORMAL")
        if version != _VERSION:
            execute(f"PRAGMA user_version = {_VERSION}")
        execute(_SCHEMA)
        self._connection.create_function("shown", 2, _shown)

    def _use_wal(self) -> None:
        """Change the mode; SQLite doesn't wait for another process that does the same."""
        for wait_s in (0.01, 0.03, 0.1, 0.3, 1.0, None):
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:
                if wait_s is None:
                    raise
                time.sleep(wait_s)

    def get(self, source: str, name: str, requests: Iterable[str]) -> dict[str, StoredReply]:
        """Return the stored replies to some requests to one index of one source."""
        select = "SELECT reply, asked_at FROM replies WHERE source = ? AND name = ? AND request = ?"
        replies = {}
        with self._locked() as connection:
            for request in requests:
                key = (source, _stored(name), request)
                if row := connection.execute(select, key).fetchone():
                    replies[request] = StoredReply(*row)
        return replies

    def get_each(self, source: str, names: Iterable[str], request: str) -> dict[str, StoredReply]:
        """Return the stored replies to one request to several names, by name."""
        select = "SELECT name, reply, asked_at FROM replies WHERE source = ? AND request = ?"
        name_of = {_stored(name): name for name in names}
        replies: dict[str, StoredReply] = {}
        with self._locked() as connection:
            for stored in _batches(name_of):
                marks = ", ".join("?" * len(stored))
                values = (source, request, *stored)
                for name, *reply in connection.execute(f"{select} AND name IN ({marks})", values):
                    replies[name_of[name]] = StoredReply(*reply)
        return replies

    def put(self, source: str, name: str, request: str, reply: str) -> None:
        """Store a reply; it replaces an older one."""
        self.put_each(source, request, {name: reply})

    def put_each(self, source: str, request: str, replies: Mapping[str, str]) -> None:
        """Store replies to one request to several names, by name: all of them or none."""
        asked_at = now()
        rows = (
            (source, _stored(name), request, reply, asked_at) for name, reply in replies.items()
        )
        with self._locked(is_writing=True) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(
                    "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)", rows
                )
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def rows(self, chosen: NameFilter | None = None) -> list[JournalRow]:
        """Return the stored replies of some names or of all, one row per source and index."""
        select = "SELECT source, shown(source, name), count(*), min(asked_at), max(asked_at)"
        with self._locked() as connection:
            connection.create_function("chosen", 2, chosen or _is_any)
            query = f"{select} FROM replies WHERE chosen(source, name) GROUP BY 1, 2"
            records = connection.execute(query).fetchall()
        return [JournalRow(*row) for row in records]

    def clear(self, chosen: NameFilter | None = None) -> None:
        """Remove the replies of some names or of all, and free their space."""
        with self._locked(is_writing=True) as connection:
            connection.create_function("chosen", 2, chosen or _is_any)
            connection.execute("DELETE FROM replies WHERE chosen(source, name)")
            connection.execute("VACUUM")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _batches(names: Iterable[str]) -> Iterator[Sequence[str]]:
    """Yield names in batches that fit into one statement."""
    remaining_names = iter(names)
    while some := list(islice(remaining_names, _NAMES_AT_ONCE)):
        yield some


def _stored(name: str) -> str:
    """Return a name that SQLite accepts: file names need not be UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def _is_any(_source: str, _name: str) -> bool:
    return True


def names_of(indexes: Collection[str], files: Collection[str]) -> NameFilter:
    """Return a filter for the stored names of some indexes, or of pieces of some files."""
    stored = {_stored(file) for file in files}

    def is_one(source: str, name: str) -> bool:
        return _shown(source, name) in indexes or (source == "scan" and _file(name) in stored)

    return is_one


def _file(name: str) -> str:
    """Return the file of a piece, as a scan stores it."""
    return name.rsplit("|", 4)[0]


def _shown(source: str, name: str) -> str:
    """Return the index of a stored name; of a scan the folder of the piece's file."""
    return f"scan:{os.path.dirname(_file(name)) or '.'}" if source == "scan" else name
