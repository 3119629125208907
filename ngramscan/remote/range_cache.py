"""Pieces of remote files, kept on disk for later runs.

A piece belongs to one version of a file: its URL, validator, size and first bytes. Each run opens a
file anew, and what belongs to another version is then removed. SQLite makes it safe when several
processes use it, or one is killed. A cache whose file fails is left alone: it never stops a run.
"""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from ngramscan.errors import InputError
from ngramscan.messages import OptionUse
from ngramscan.progress import Progress
from ngramscan.remote.files import RemoteFile

_NAME = "ranges-1.sqlite"
_WAITING_BYTES = 1_000_000
"""New pieces are stored when they have this many bytes, and at the end."""
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS files (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,          -- a digest: a URL may hold a login
    etag TEXT NOT NULL,
    size INTEGER NOT NULL,
    head BLOB NOT NULL,
    opened_at REAL NOT NULL,    -- seconds since 1970
    UNIQUE (url, etag, size)
);
CREATE TABLE IF NOT EXISTS pieces (
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (file, start, stop)
) WITHOUT ROWID;
"""


class RangeCache:
    """Pieces of remote files in a folder, up to `most_bytes`; used by one thread at a time.

    At the limit nothing more is stored; the next run removes the files that were opened longest
    ago. An InputError says that the folder can't be used.
    """

    def __init__(self, folder: Path, most_bytes: int, progress: Progress) -> None:
        self._path, self._most_bytes, self._progress = folder / _NAME, most_bytes, progress
        self._ids: dict[RemoteFile, int] = {}
        self._waiting: list[tuple[int, int, bytes, int]] = []
        self._waiting_bytes = 0
        self._is_usable = True
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Private: an index may be of an unpublished corpus.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            # Autocommit, unless a transaction is begun.
            self._connection = sqlite3.connect(
                self._path, timeout=5, isolation_level=None, check_same_thread=False
            )
            with ExitStack() as stack:
                stack.callback(self._connection.close)
                self._connection.executescript(_SCHEMA)
                self._make_room()
                stack.pop_all()
        except (OSError, sqlite3.Error) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            problem = f"can't be used as a cache ({reason}); remove the file, or name a folder"
            raise InputError(OptionUse("index_cache", self._path), problem) from error

    def _make_room(self) -> None:
        tables = "pragma_page_count, pragma_freelist_count, pragma_page_size"
        space = f"SELECT (page_count - freelist_count) * page_size FROM {tables}"
        oldest = "DELETE FROM files WHERE id = (SELECT id FROM files ORDER BY opened_at LIMIT 1)"
        while True:
            (used,) = self._connection.execute(space).fetchone()
            self._room_bytes = self._most_bytes - used
            if used <= self._most_bytes * 3 // 4 or not self._connection.execute(oldest).rowcount:
                return

    def _ask(self, statement: str, *values: object) -> list[Any]:
        """Return the rows of a statement; after an error of the file, none for any statement."""
        try:
            return self._connection.execute(statement, values).fetchall() if self._is_usable else []
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):  # others must not wait for what was begun
                self._connection.rollback()
            if isinstance(error, sqlite3.ProgrammingError):  # a fault of this code, which must show
                raise
            self._is_usable = False
            self._progress.notice(f"{self._path}: {error}; this run continues without this cache")
            return []

    def add(self, file: RemoteFile) -> bool:
        """Take note of a file that was opened just now; True: it has changed since an earlier run.

        Without a validator, nothing is kept.
        """
        version = _digest(file.origin), file.etag, file.size, file.head
        remove = "DELETE FROM files WHERE url = ? AND (etag, size, head) != (?, ?, ?) RETURNING id"
        is_changed = bool(self._ask(remove, *version))
        if file.etag:
            insert = "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (url, etag, size)"
            insert += " DO UPDATE SET opened_at = excluded.opened_at RETURNING id"
            # Drawn: SQLite itself gives the number of a removed file to the next one, while another
            # process may still read by it.
            row = random.getrandbits(62), *version, time.time()
            for (number,) in self._ask(insert, *row):
                self._ids[file] = number
        return is_changed

    def forget(self, file: RemoteFile) -> None:
        """Remove a file that has changed."""
        self._ask("DELETE FROM files WHERE id = ?", self._ids.pop(file, None))

    def get(self, file: RemoteFile, start: int, stop: int) -> bytes | None:
        """Return a piece of a file; None: it is not here."""
        select = "SELECT content FROM pieces WHERE file = ? AND start = ? AND stop = ?"
        number = self._ids.get(file)
        rows = self._ask(select, number, start, stop) if number else []
        content: bytes | None = rows[0][0] if rows else None
        return content if content is not None and len(content) == stop - start else None

    def put(self, file: RemoteFile, start: int, content: bytes) -> None:
        """Store a piece of a file, soon."""
        number = self._ids.get(file)
        if number is None or not self._is_usable or self._room_bytes < len(content):
            return
        self._waiting.append((start, start + len(content), content, number))
        self._room_bytes -= len(content)
        self._waiting_bytes += len(content)
        if self._waiting_bytes >= _WAITING_BYTES:
            self._store()

    def _store(self) -> None:
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        self._ask("BEGIN IMMEDIATE")
        insert = "INSERT OR IGNORE INTO pieces SELECT id, ?, ?, ? FROM files WHERE id = ?"
        for piece in waiting:
            self._ask(insert, *piece)
        self._ask("COMMIT")

    def close(self) -> None:
        """Store what waits for it, and close the database."""
        with closing(self._connection):
            self._store()


def _digest(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()
