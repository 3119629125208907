"""Makes a folder completely or not at all.

The folder is made next to its place under a hidden name and renamed at the end. If a process is
killed, the next one that makes the same folder removes the leftovers, while it holds a lock: a lock
ends with its process, so no other process can be using them.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ngramscan.errors import InputError
from ngramscan.fm9.places import as_input_error, sync

_MARKER = "made-by-ngramscan"


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder to work in; its folder `content` then becomes `path`.

    An InputError says that the folder exists and is not empty, that another process is making it,
    or that it can't be written.
    """
    path = path.resolve()
    with as_input_error(path):
        _check_free(path)
        with _lock_of(path):
            _remove_leftovers(path)
            _check_free(path)
            work = Path(tempfile.mkdtemp(dir=path.parent, prefix=_prefix(path)))
            try:
                (work / _MARKER).touch()
                yield work
                content = work / "content"
                for folder in (content, *filter(Path.is_dir, content.iterdir())):
                    sync(folder)
                content.rename(path)
                sync(path.parent)
            finally:
                shutil.rmtree(work, ignore_errors=True)


def _check_free(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(str(path), f"there is no folder {path.parent}")
    if not path.exists():
        return
    if not path.is_dir():
        raise InputError(str(path), "it is a file; a new folder was expected")
    if any(path.iterdir()):
        raise InputError(str(path), "the folder is not empty; a new or an empty one was expected")


@contextmanager
def _lock_of(path: Path) -> Iterator[None]:
    lock = path.with_name(f".{path.name}.building.lock")
    with lock.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last owner may just have removed the file; then another process locks a new one.
            is_ours = os.path.samestat(os.fstat(file.fileno()), lock.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise InputError(str(path), "another process is building it right now")
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _prefix(path: Path) -> str:
    return f".{path.name}.building-"


def _remove_leftovers(path: Path) -> None:
    """Remove the leftovers of killed processes; the lock is held."""
    ours = re.compile(re.escape(_prefix(path)) + "[a-z0-9_]{8}")
    for folder in path.parent.iterdir():
        if ours.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
            if (folder / _MARKER).is_file():
                # A child of the killed process may still write there: the next build removes that.
                shutil.rmtree(folder, ignore_errors=True)
            elif not any(folder.iterdir()):
                folder.rmdir()
