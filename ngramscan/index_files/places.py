"""The places that an index is written to: a folder, or a URL of an object store.

Readers never see half a file there, or the manifest of a shard before its other files. In a folder,
files are renamed once they are synced; in a store, an upload appears when it is complete. A store
has no locks: two builds of one index must not run there at the same time.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ngramscan.errors import InputError, RemoteUnavailable, as_input_error, reason_of
from ngramscan.remote.retries import Retries, RetryPolicy
from ngramscan.remote.stores import CREDENTIALS_CURE, is_remote, open_store, problem_of

T = TypeVar("T")

RETRIES = RetryPolicy(
    retryable=RemoteUnavailable,
    attempts=3,
    first_pause_s=2.0,  # s3fs has retried for some seconds by then
    growth=5.0,
)
"""For one request to a store."""
_RIGHTS = (
    "the credentials must allow listing, reading, writing and deleting there, and a requester-pays "
    "bucket needs FSSPEC_S3_REQUESTER_PAYS=true"
)


def join(place: str, name: str) -> str:
    """Return the place of a file or folder in another; an empty name means the place itself."""
    return f"{place.rstrip('/')}/{name}" if name else place


def read(place: str, name: str) -> bytes | None:
    """Return a small file; None if it doesn't exist."""
    if is_remote(place):
        return _on_store(join(place, name), _get)
    path = Path(place, name)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(str(path), f"can't be read ({reason_of(error).lower()})") from error


def write(place: str, name: str, content: bytes) -> None:
    """Write or replace a small file; the folder is made if only it is missing."""
    if is_remote(place):
        _on_store(join(place, name), lambda store, path: store.pipe_file(path, content))
        return
    path = Path(place, name)
    with as_input_error(path):
        path.parent.mkdir(exist_ok=True)
        new = path.with_name(f".{name}.new")
        new.write_bytes(content)
        sync(new)
        new.replace(path)
        sync(path.parent)


def publish(work: Path, place: str, names: Sequence[str]) -> None:
    """Publish the files of a finished shard at a place, the last of `names` after the others.

    To a store, they are uploaded and stay in `work`. Otherwise `work` must be on the same disk: it
    becomes the folder `place`, or, if that has files, they are moved into it and replace others.
    """
    if is_remote(place):
        for name in names:
            _on_store(join(place, name), partial(_upload, work / name))
        return
    folder = Path(place)
    with as_input_error(folder):
        for path in (*(work / name for name in names), work):
            sync(path)
        try:
            work.rename(folder)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            _replace(work, folder, names)
            work.rmdir()
        sync(folder.parent)


def remove(place: str, name: str) -> None:
    """Remove a file, if it is there."""
    if is_remote(place):
        _on_store(join(place, name), _delete)
        return
    path = Path(place, name)
    with as_input_error(path):
        path.unlink(missing_ok=True)
        sync(path.parent)


def move(place: str, source: str, target: str, names: Sequence[str]) -> None:
    """Move the files of a shard from one folder of an index to another; empty: its own.

    An interrupted call leaves what it has moved, so that the same call resumes.
    """
    old, new = join(place, source), join(place, target)
    if is_remote(place):
        for name in names:
            _on_store(join(old, name), partial(_rename, join(new, name)))
        return
    with as_input_error(Path(new)):
        Path(new).mkdir(exist_ok=True)
        _replace(Path(old), Path(new), names)
        sync(Path(old))


# Folders


def sync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(source: Path, target: Path, names: Sequence[str]) -> None:
    """Rename the files of a shard in a folder, the last one after the others are synced."""
    for part in (names[:-1], names[-1:]):
        for name in part:
            if (source / name).exists():
                (source / name).replace(target / name)
        sync(target)


# Stores


def _on_store(url: str, action: Callable[[Any, str], T]) -> T:
    """Repeat an idempotent operation on a file in a store after transient failures."""
    location, _, query = url.partition("?")
    if query:
        raise InputError(location, "a query can't be written to, and a token in it would be shown")
    # Without a cache of listings: it would hide what other processes write.
    store, path = open_store(url, use_listings_cache=False)
    retries = Retries(RETRIES)
    while True:
        with retries, _translated(url):
            return action(store, path)
        if retries.are_exhausted():
            raise retries.error
        time.sleep(RETRIES.pause_s(retries.failures))


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Translate the exceptions of a call into fsspec."""
    try:
        yield
    except Exception as error:
        kind, reason = store_problem = problem_of(error)
        if not store_problem.is_final:
            problem = f"the store failed ({reason}); later, the same command resumes"
            raise RemoteUnavailable(f"{url}: {problem}") from error
        problem = {
            "credentials": f"no credentials ({reason}); {CREDENTIALS_CURE}",
            "denied": f"access is denied ({reason}); {_RIGHTS}",
            "missing": f"can't be written ({reason}); the bucket must be there",
        }.get(kind, f"can't be written ({reason})")
        raise InputError(url, problem) from error


def _get(store: Any, path: str) -> bytes | None:
    with suppress(FileNotFoundError):
        return bytes(store.cat_file(path))
    return None


def _delete(store: Any, path: str) -> None:
    with suppress(FileNotFoundError):
        store.rm_file(path)


def _upload(file: Path, store: Any, path: str) -> None:
    store.put_file(str(file), path)
    expected, arrived = file.stat().st_size, store.info(path)["size"]
    if arrived != expected:
        raise OSError(f"{arrived} of {expected} bytes arrived")


def _rename(target: str, store: Any, path: str) -> None:
    if store.exists(path):
        store.cp_file(path, target)
        store.rm_file(path)
