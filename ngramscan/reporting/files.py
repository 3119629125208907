"""Files that commands write: whole or not at all, and nothing that is not a file is replaced."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from ngramscan.errors import DiskFullError, InputError

_STREAMS = ("/dev/", "/proc/")
_FILES_AMONG_THEM = "/dev/shm/"
TAKES_NO_MORE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""How a device says that nothing more can be written."""


def check_writable(path: Path) -> None:
    """Raise an InputError where a file can't be written."""
    if path.is_dir():
        raise InputError(str(path), "it is a folder; expected a file")
    if _is_stream(path):
        return
    if _real(path).is_symlink():
        raise InputError(str(path), "a symbolic link that leads to itself; remove it")
    folder = (_real(path) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise InputError(str(path), f"no such folder: {folder}")
    try:
        # Asking the system for permission is no proof: a folder may be of a kind without files.
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a new file and move it to `path` when it is done.

    Symbolic links are followed. A device, a pipe or anything else that is not a regular file is
    written to when all is done, not replaced. Leftovers of a killed process that was writing the
    same file are removed. If writing fails, the old file stays.
    """
    try:
        if _is_stream(path):
            _write_stream(path, write)
        else:
            _replace(_real(path), write)
    except OSError as error:
        raise _unwritable(path, error) from error


def _is_stream(path: Path) -> bool:
    """Tell whether a path names something that is written to, not replaced."""
    if not path.exists():
        return False
    name = str(path.absolute())
    is_named_so = name.startswith(_STREAMS) and not name.startswith(_FILES_AMONG_THEM)
    return is_named_so or not stat.S_ISREG(path.stat().st_mode)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _unwritable(path: Path, error: OSError) -> InputError:
    kind = DiskFullError if error.errno in TAKES_NO_MORE else InputError
    return kind(str(path), f"can't be written ({(error.strerror or str(error)).lower()})")


def _write_stream(path: Path, write: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory(prefix="ngramscan-") as folder:
        filled = Path(folder, "rows")
        write(filled)
        with filled.open("rb") as source, path.open("wb", buffering=0) as stream:
            shutil.copyfileobj(source, stream)


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    marked = f".{path.name[:60]}.{os.uname().nodename}."
    for name in os.listdir(path.parent):
        number = name.removeprefix(marked).removesuffix(".tmp")
        if name == f"{marked}{number}.tmp" and number.isdigit() and not _is_running(int(number)):
            path.with_name(name).unlink(missing_ok=True)
    temporary = path.with_name(f"{marked}{os.getpid()}.tmp")
    try:
        temporary.touch(0o600, exist_ok=False)
        write(temporary)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(path.stat().st_mode if path.exists() else 0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if process == os.getpid():
        return False  # ours are all gone by now: this one is of an earlier process of that number
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
