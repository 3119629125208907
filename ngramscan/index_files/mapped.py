"""Files mapped into memory, without a descriptor that stays open.

Python's `mmap` keeps a duplicate of the descriptor, and a process may have 1,024 of them: an index
of 10,000 shards could not be opened.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import IndexChangedError, IndexFormatError
from ngramscan.index_files import lost_pages

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value

FileState = tuple[int, ...]
"""Changes when a file is replaced or written: device, inode, size, time of change."""


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise an IndexFormatError where a file can't be read."""
    try:
        yield
    except FileNotFoundError as error:
        problem = "missing; copy it here, or build the index again"
        raise IndexFormatError(str(path), problem) from error
    except OSError as error:
        problem = f"can't be read: {error.strerror}"
        if error.errno == errno.ENOMEM:
            problem = "no memory left to map it; with very many shards, raise the limit of mapped "
            problem += "files: sysctl -w vm.max_map_count=1000000"
        raise IndexFormatError(str(path), problem) from error


def state_of(path: Path, descriptor: int | None = None) -> FileState:
    """Return the state of a file, by its descriptor where it is open."""
    with _reading(path):
        status = os.stat(path if descriptor is None else descriptor)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _mapped(descriptor: int, size: int) -> tuple[NDArray[np.uint8], int]:
    """Return the content of a file and its row; it stays mapped while an array refers to it."""
    address = _LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    content, row = (ctypes.c_uint8 * size).from_address(address), lost_pages.watch(address, size)
    # Threads may still read when the interpreter exits.
    weakref.finalize(content, _unmap, address, size, row).atexit = False
    return np.frombuffer(memoryview(content).toreadonly(), np.uint8), row


def _unmap(address: int, size: int, row: int) -> None:
    lost_pages.forget(row)
    _LIBC.munmap(address, size)


class MappedFile:
    """A file that is mapped into memory, in its state when it was opened.

    If it differs from `known_state`, that is an IndexChangedError.
    """

    def __init__(self, path: Path, known_state: FileState | None = None) -> None:
        self.path, self._path = path, str(path)
        self._data: NDArray[np.uint8] = np.zeros(0, np.uint8)  # an empty file can't be mapped
        self._row = 0
        if known_state:
            self._check_state(known_state)
        with _reading(path):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait
            try:
                self._state = state_of(path, descriptor)
                if size := self._state[2]:
                    self._data, self._row = _mapped(descriptor, size)
            finally:
                os.close(descriptor)
        if known_state not in (None, self._state):
            raise self._changed()

    def check(self) -> None:
        """Raise an IndexChangedError if the file was written, cut, replaced or removed.

        Bytes that were read before may mix two contents, or be zeros.
        """
        self._check_state(self._state)
        if lost_pages.is_lost(self._row):
            raise self._changed()

    def _check_state(self, known_state: FileState) -> None:
        try:
            now = os.stat(self._path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise self._changed() from error
        except OSError as error:
            raise self.corrupt(f"can't be read: {error.strerror}") from error
        if (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns) != known_state:
            raise self._changed()

    def _changed(self) -> IndexChangedError:
        problem = "was changed or removed while the index was open; open the index again, or start "
        return IndexChangedError(self._path, f"{problem}the server again")

    def corrupt(self, problem: str) -> IndexFormatError:
        """Return an error about the content of the file."""
        return IndexFormatError(str(self.path), problem)


@contextmanager
def unchanged(files: Iterable[MappedFile]) -> Iterator[None]:
    """Raise an IndexChangedError if a file has changed since it was opened, before or afterwards.

    Results that were read meanwhile, and errors about them, are then invalid.
    """
    for file in files:
        file.check()
    try:
        yield
    finally:
        for file in files:
            file.check()
