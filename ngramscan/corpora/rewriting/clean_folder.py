"""The folder that a copy of a corpus is written to, file by file, so that a killed run resumes.

A file appears under its name when it is complete. The manifest says which job the folder belongs
to, and has a line for each finished file, so that it grows and is never rewritten.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ngramscan.corpora.folders import MANIFEST
from ngramscan.errors import InputError, as_input_error

_PART_SUFFIX = ".ngramscan-part"
_VERSION = 1
_CURE = "name a new or empty folder"


class CleanFolder:
    """An open folder, which no other process writes to."""

    def __init__(self, folder: Path, manifest: BinaryIO, sizes: Mapping[str, int]) -> None:
        self._folder = folder
        self._manifest = manifest
        self._sizes = sizes

    def finished_size(self, name: str) -> int | None:
        """Return the bytes of a file that an earlier run finished.

        None: there is no such file, or it is not as it was left.
        """
        try:
            size = os.stat(self._folder / name).st_size
        except OSError:
            return None
        return size if size == self._sizes.get(name) else None

    @contextmanager
    def new_file(self, name: str) -> Iterator[Path]:
        """Yield the path of an empty file, which gets its name when the block ends without error.

        An InputError says that it can't be written; then nothing is left of it.
        """
        final = self._folder / name
        # The name of a file may be as long as names can be, so that nothing can be added to it.
        digest = hashlib.sha256(final.name.encode("utf-8", "surrogateescape")).hexdigest()
        part = final.with_name(f".{digest[:16]}{_PART_SUFFIX}")
        with as_input_error(final):
            final.parent.mkdir(parents=True, exist_ok=True)
            try:
                yield part
                _sync(part)
                part.replace(final)
            finally:
                part.unlink(missing_ok=True)

    def finish(self, name: str, size: int) -> None:
        """Note that a file is complete, and how many bytes it has."""
        with as_input_error(self._folder / MANIFEST):
            self._manifest.write(_line({"file": name, "size": size}))
            self._manifest.flush()


@contextmanager
def open_clean_folder(folder: Path, job: str, names: Collection[str]) -> Iterator[CleanFolder]:
    """Open a folder that is new or empty, or that has an unfinished run of the same job.

    Parameters
    ----------
    folder : Path
        It is made if only it is missing, and removed again if nothing was written to it.
    job : str
        Identifies the files, what is removed of them and how they are read.
    names : collection of str
        All files that the job may write.

    Raises
    ------
    InputError
        The folder can't be written, has other files, or belongs to another job; or another process
        is writing to it.
    """
    is_new = _make(folder)
    try:
        path = folder / MANIFEST
        if not is_new and not path.exists():
            _refuse_files(folder, set())
        elif path.exists() and not path.is_file():
            raise InputError(path, f"damaged; {_CURE}")
        with as_input_error(path), path.open("ab+") as manifest:
            _lock(manifest, folder)
            sizes = _read_manifest(manifest, job, folder)
            _remove_parts(folder)
            _refuse_files(folder, {MANIFEST, *names})
            yield CleanFolder(folder, manifest, sizes)
    finally:
        if is_new:
            with suppress(OSError):  # it has files
                folder.rmdir()


def _make(folder: Path) -> bool:
    """Make a folder, if it is missing, and tell whether it was."""
    if folder.exists() and not folder.is_dir():
        raise InputError(folder, f"it is a file; {_CURE}")
    if not folder.parent.is_dir():
        raise InputError(folder, f"no such folder: {folder.parent}")
    is_new = not folder.exists()
    with as_input_error(folder):
        folder.mkdir(exist_ok=True)
    return is_new


def _lock(manifest: BinaryIO, folder: Path) -> None:
    try:
        fcntl.flock(manifest, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(folder, "another process is writing to it right now") from error


def _read_manifest(manifest: BinaryIO, job: str, folder: Path) -> dict[str, int]:
    """Return the sizes of the finished files, by name.

    A line that a killed process left unfinished is removed.
    """
    manifest.seek(0)
    content = manifest.read()
    complete = content[: content.rfind(b"\n") + 1]
    manifest.truncate(len(complete))
    try:
        head, *lines = [json.loads(line) for line in complete.splitlines()] or [None]
        sizes = {str(line["file"]): int(line["size"]) for line in lines}
        is_same_job = head is None or head == _head(job)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(folder / MANIFEST, f"damaged; {_CURE}") from error
    if not is_same_job:
        problem = "it has files of another job: the corpus, its removals or options were others"
        raise InputError(folder, f"{problem}; {_CURE}")
    if head is None:
        manifest.write(_line(_head(job)))
        manifest.flush()
    return sizes


def _head(job: str) -> dict[str, object]:
    return {"ngramscan": "a corpus without some documents", "version": _VERSION, "job": job}


def _line(values: dict[str, object]) -> bytes:
    return json.dumps(values).encode() + b"\n"


def _remove_parts(folder: Path) -> None:
    """Remove the unfinished files of a killed process."""
    for path in _files_below(folder):
        if path.endswith(_PART_SUFFIX):
            os.unlink(path)


def _refuse_files(folder: Path, expected: Collection[str]) -> None:
    """Raise an InputError if a folder has a file that is not expected there."""
    for path in _files_below(folder):
        name = os.path.relpath(path, folder)
        if name not in expected:
            raise InputError(folder, f"it has other files, such as {name}; {_CURE}")


def _files_below(folder: Path) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        yield from (os.path.join(parent, name) for name in sorted(names))


def _sync(path: Path) -> None:
    """Have the system write a file to the disk, before its name says that it is complete."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
