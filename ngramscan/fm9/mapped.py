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
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import IndexChangedError, IndexFormatError

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_FAILED = ctypes.c_void_p(-1).value

MISSING = "missing; copy it here, or build the index again"
_TOO_MANY = (
    "no memory left to map it; with very many shards, raise the limit of mapped files: "
    "sysctl -w vm.max_map_count=1000000"
)


class FileState(NamedTuple):
    """What tells whether a file was replaced or changed."""

    device: int
    inode: int
    size: int
    changed_ns: int


def state_of(found: os.stat_result) -> FileState:
    """Return the state of a file."""
    return FileState(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class _Mapping:
    """The content of a file in memory, until no array refers to it any more."""

    def __init__(self, descriptor: int, size: int) -> None:
        address = _LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address == _FAILED:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self._place = address, size
        # Threads may still read when the interpreter exits.
        weakref.finalize(self, _LIBC.munmap, address, size).atexit = False

    @property
    def __array_interface__(self) -> dict[str, Any]:
        address, size = self._place
        return {"version": 3, "shape": (size,), "typestr": "|u1", "data": (address, True)}


class MappedFile:
    """A file that is mapped into memory, as it was when it was opened.

    Where its state was `known` before, an IndexChangedError says that it is another file now.
    """

    def __init__(self, path: Path, known: FileState | None = None) -> None:
        self.path = path
        self._data: NDArray[np.uint8] = np.zeros(0, np.uint8)  # an empty file can't be mapped
        try:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                state = state_of(os.fstat(descriptor))
                if state.size:
                    self._data = np.asarray(_Mapping(descriptor, state.size))
            finally:
                os.close(descriptor)
        except FileNotFoundError as error:
            raise self._corrupt(MISSING) from error
        except OSError as error:
            is_full = error.errno == errno.ENOMEM
            problem = _TOO_MANY if is_full else f"can't be read: {error.strerror}"
            raise self._corrupt(problem) from error
        if known not in (None, state):
            problem = "was changed while the index was open; open the index again"
            raise IndexChangedError(str(path), problem)
        self._file = state.device, state.inode

    def _check_size(self) -> None:
        """Raise an IndexChangedError if the file has become shorter since it was mapped.

        Reading past the end of a mapped file kills the process. The file could still be cut in the
        microseconds between this check and the read. A file that was removed or replaced by another
        one is still there for those who have mapped it.
        """
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._corrupt(f"can't be read: {error.strerror}") from error
        if now.st_size < len(self._data) and (now.st_dev, now.st_ino) == self._file:
            problem = "became shorter while it was open; open the index again"
            raise IndexChangedError(str(self.path), problem)

    def _corrupt(self, problem: str) -> IndexFormatError:
        return IndexFormatError(str(self.path), problem)
