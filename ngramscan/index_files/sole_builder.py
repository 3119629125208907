"""Locks of folders: one process at a time builds, and removes leftovers of killed builds.

A lock ends with its process, so the process that holds it knows that no other process uses the
leftovers.
"""

from __future__ import annotations

import fcntl
import glob
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ngramscan.errors import InputError, as_input_error
from ngramscan.remote.stores import is_remote

_LOCK = ".building.lock"
_LEFT = re.compile(r"\.\w*\.building-[0-9a-f]{8}|\.\w+\.json\.new")


@contextmanager
def sole_builder(place: str) -> Iterator[None]:
    """Hold the lock of a folder, which is created if missing; a store has no locks.

    An InputError says that it can't be created, or that another process is building in it. If
    nothing was written to a created folder, it is removed.
    """
    if is_remote(place):
        yield
        return
    folder = Path(place)
    is_new = new_folder(folder, place)
    with as_input_error(folder):
        folder.mkdir(exist_ok=True)
        try:
            with _lock_of(folder):
                yield
        finally:
            if is_new:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()


def new_folder(folder: Path, place: str) -> bool:
    """Tell whether a folder is still to be created; an InputError says why it can't be."""
    if not folder.parent.is_dir():
        raise InputError(place, f"no such folder: {folder.parent}")
    if folder.is_symlink():
        raise InputError(place, "a symbolic link that leads to itself")
    if folder.exists() and not folder.is_dir():
        raise InputError(place, "it is a file; expected a new folder")
    return not folder.exists()


@contextmanager
def working_folder(place: str, name: str) -> Iterator[Path]:
    """Yield a folder for unfinished files of a place, on the same disk if that is a folder."""
    if is_remote(place):
        with tempfile.TemporaryDirectory(prefix="ngramscan-") as path:
            yield Path(path)
        return
    folder = leftover_path(place, name, secrets.token_hex(4))
    with as_input_error(folder):
        folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def leftover_path(place: str, name: str, digits: str) -> Path:
    """Return a path for unfinished files, which a later build removes."""
    return Path(place, f".{name}.building-{digits[:8]}")


def files_in(folder: Path) -> list[Path]:
    """Return the entries of a folder, except the files of a running build."""
    return [path for path in folder.iterdir() if path.name != _LOCK and not _is_left(path)]


def _is_left(path: Path) -> bool:
    return _LEFT.fullmatch(path.name) is not None


def _remove_leftovers(folder: Path) -> None:
    for path in filter(_is_left, folder.iterdir()):
        if path.is_dir():
            # A child of the killed process may still write there: the next build removes that.
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def _lock_of(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, and remove leftovers while no other process builds there."""
    lock = folder / _LOCK
    with lock.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last owner may just have removed the file; then another process locks a new one.
            is_ours = os.path.samestat(os.fstat(file.fileno()), lock.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise InputError(str(folder), "another process is building it right now")
        try:
            _remove_leftovers(folder)
            yield
        finally:
            _remove_leftovers(folder)
            lock.unlink(missing_ok=True)


@contextmanager
def locked_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder for unfinished files next to the folder of an index, and remove leftovers.

    So an index can appear all at once. A leftover that isn't locked belongs to a killed build.
    """
    for leftover in folder.parent.glob(f".{glob.escape(folder.name)}.building-*"):
        with suppress(OSError), _locked(leftover):
            shutil.rmtree(leftover, ignore_errors=True)
    with working_folder(str(folder.parent), folder.name) as work, _locked(work):
        yield work


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; an OSError says that another process does."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
