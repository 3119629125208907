"""The file that a run writes: appended to, one line per answer, by one run at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evalcore.records import Record, is_torn, read_lines
from ngramscan.errors import InputError


class RecordFile:
    """An open file of records, and those that were there when it was opened.

    Each record is handed to the system as it comes, so that a killed process loses none; a line
    that was being written then is dropped the next time.
    """

    def __init__(self, path: Path, descriptor: int, records: list[Record]) -> None:
        self.path = path
        self.records = records
        self._descriptor = descriptor

    def write(self, record: Record) -> None:
        """Append a record; raise InputError where the disk does not take it."""
        remaining = memoryview(record.line())
        try:
            while remaining:
                remaining = remaining[os.write(self._descriptor, remaining) :]
        except OSError as error:
            problem = f"can't be written ({error.strerror})"
            raise InputError(str(self.path), problem) from error


@contextmanager
def open_records(path: Path, on_notice: Callable[[str], None]) -> Iterator[RecordFile]:
    """Open a file of records to append to it; it and its folders are made where they are missing.

    Parameters
    ----------
    path : Path
        The file.
    on_notice : callable
        Told when a line was dropped that a killed run had not written to its end.

    Raises
    ------
    InputError
        Another run has the file open, it can't be opened, or a line is malformed.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(str(path), f"can't be opened ({error.strerror})") from error
    try:
        _lock(path, descriptor)
        yield RecordFile(path, descriptor, _read(path, descriptor, on_notice))
    finally:
        os.close(descriptor)


def _lock(path: Path, descriptor: int) -> None:
    """Keep other runs out; the lock goes when the process ends, however it ends."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(str(path), "another run is writing it") from error
    except OSError as error:
        problem = f"can't be locked ({error.strerror}); a local folder was expected"
        raise InputError(str(path), problem) from error


def _read(path: Path, descriptor: int, on_notice: Callable[[str], None]) -> list[Record]:
    content = path.read_bytes()
    whole, tail = content[: content.rfind(b"\n") + 1], content[content.rfind(b"\n") + 1 :]
    records = [record for _, record in read_lines(path, whole)]
    if is_torn(tail):
        os.ftruncate(descriptor, len(whole))
        on_notice(f"{path}: the last line was not written to its end; it is dropped")
    elif tail:
        number = whole.count(b"\n") + 1
        # Read at its own line number; an empty line gives no record.
        records += [record for _, record in read_lines(path, b"\n" * (number - 1) + tail)]
        os.write(descriptor, b"\n")
    return records
