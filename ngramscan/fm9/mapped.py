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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import IndexChangedError, IndexFormatError

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value

State = tuple[int, ...]
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


def state_of(path: Path, descriptor: int | None = None) -> State:
    """Return the state of a file, by its descriptor where it is open."""
    with _reading(path):
        found = os.stat(path if descriptor is None else descriptor)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _mapped(descriptor: int, size: int) -> NDArray[np.uint8]:
    """Return the content of a file, mapped until no array refers to it any more."""
    address = _LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    content = (ctypes.c_uint8 * size).from_address(address)
    # Threads may still read when the interpreter exits.
    weakref.finalize(content, _LIBC.munmap, address, size).atexit = False
    return np.frombuffer(memoryview(content).toreadonly(), np.uint8)


class MappedFile:
    """A file that is mapped into memory, as it was when it was opened.

    Where its state was `known` before, an IndexChangedError says that it is another file now.
    """

    def __init__(self, path: Path, known: State | None = None) -> None:
        self.path, self._path = path, str(path)
        self._data: NDArray[np.uint8] = np.zeros(0, np.uint8)  # an empty file can't be mapped
        with _reading(path):
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would wait
            try:
                self._state = state_of(path, descriptor)
                if size := self._state[2]:
                    self._data = _mapped(descriptor, size)
            finally:
                os.close(descriptor)
        if known not in (None, self._state):
            problem = "was changed while the index was open; open the index again"
            raise IndexChangedError(str(path), problem)

    def _check_size(self) -> None:
        """Raise an IndexChangedError if the file has become shorter since it was mapped.

        Reading past the end of a mapped file kills the process. The file could still be cut in the
        microseconds between this check and the read. A file that was removed or replaced by another
        one is still there for those who have mapped it.
        """
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self.corrupt(f"can't be read: {error.strerror}") from error
        if now.st_size < len(self._data) and now.st_ino == self._state[1]:
            problem = "became shorter while it was open; open the index again"
            raise IndexChangedError(str(self.path), problem)

    def corrupt(self, problem: str) -> IndexFormatError:
        """Return the error that says what is wrong in the file."""
        return IndexFormatError(str(self.path), problem)
