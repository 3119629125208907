"""The places that an index is written to: a folder, or a URL of an object store.

Nobody sees half a file there, or the manifest of a shard before its other files. In a folder, files
are renamed when they are on the disk; on a store, an upload appears when it is complete. A store
has no locks: two builds of one index must not run there at the same time.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ngramscan.corpora import streams
from ngramscan.errors import DiskFullError, InputError, RemoteUnavailable
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.manifest import MANIFEST
from ngramscan.reading.streams import reason_of

T = TypeVar("T")

_NAMES = (*FILES, MANIFEST)
_PAUSES_S = (2.0, 10.0)
"""Before a store is asked again; s3fs has retried for some seconds by then."""
_FULL = {errno.ENOSPC, errno.EDQUOT}
_NOT_TRANSIENT = (TypeError, ValueError, NotImplementedError)
_REFUSALS = {*range(400, 500)} - {408, 429}  # of HTTP
_RIGHTS = (
    "the credentials must allow listing, reading, writing and deleting there, and a requester-pays "
    "bucket needs FSSPEC_S3_REQUESTER_PAYS=true"
)
_KEYS = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run: aws configure"

is_remote = streams.is_remote


def join(place: str, name: str) -> str:
    """Return the place of a file or folder in another; an empty name means the place itself."""
    return f"{place.rstrip('/')}/{name}" if name else place


def read(place: str, name: str) -> bytes | None:
    """Return a small file; None: there is none."""
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
        _on_store(join(place, name), lambda store, url: store.pipe_file(url, content))
        return
    path = Path(place, name)
    with as_input_error(path):
        path.parent.mkdir(exist_ok=True)
        new = path.with_name(f".{name}.new")
        new.write_bytes(content)
        sync(new)
        new.replace(path)
        sync(path.parent)


def publish(work: Path, place: str) -> None:
    """Make the files of a finished shard, its manifest among them, appear at a place.

    On a store, they are uploaded and stay in `work`. Otherwise `work` must be on the same disk: it
    becomes the folder `place`, or, where that has files, its own replace those of the same name.
    """
    if is_remote(place):
        for name in _NAMES:
            _on_store(join(place, name), partial(_upload, work / name))
        return
    folder = Path(place)
    with as_input_error(folder):
        for path in (*(work / name for name in _NAMES), work):
            sync(path)
        try:
            work.rename(folder)
        except OSError as error:
            if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                raise
            _replace(work, folder)
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


def move(place: str, source: str, target: str) -> None:
    """Move the files of a shard from one folder of an index to another; empty: its own.

    An interrupted call leaves what it has moved, so that the same call goes on.
    """
    old, new = join(place, source), join(place, target)
    if is_remote(place):
        for name in _NAMES:
            _on_store(join(old, name), partial(_rename, join(new, name)))
        return
    with as_input_error(Path(new)):
        Path(new).mkdir(exist_ok=True)
        _replace(Path(old), Path(new))
        sync(Path(old))


# Folders


@contextmanager
def as_input_error(path: Path) -> Iterator[None]:
    """Translate errors of writing to a path."""
    try:
        yield
    except OSError as error:
        kind = DiskFullError if error.errno in _FULL else InputError
        raise kind(str(path), f"can't be written ({reason_of(error).lower()})") from error


def sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(source: Path, target: Path) -> None:
    """Rename the files of a shard that are in a folder, the manifest when the others are kept."""
    for names in (FILES, (MANIFEST,)):
        for name in names:
            if (source / name).exists():
                (source / name).replace(target / name)
        sync(target)


# Stores


def _on_store(url: str, action: Callable[[Any, str], T]) -> T:
    """Do something idempotent with a file on a store, again after a transient failure."""
    location, _, query = url.partition("?")
    if query:
        raise InputError(location, "a query can't be written to, and a token in it would be shown")
    # Without a cache of listings: it would hide what other processes write.
    store = streams.file_system(url, use_listings_cache=False)
    attempt = _translated(url)(action)
    for pause in _PAUSES_S:
        with suppress(RemoteUnavailable):
            return attempt(store, url)
        time.sleep(pause)
    return attempt(store, url)


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Translate what a call into fsspec raises: whatever the library below it does."""
    try:
        yield
    except Exception as error:
        reason = reason_of(error)
        if type(error).__name__.endswith("CredentialsError"):  # of botocore
            problem = f"there are no credentials ({reason}); {_KEYS}"
        elif isinstance(error, PermissionError) or reason.startswith("Forbidden"):  # gcsfs
            problem = f"access is denied ({reason}); {_RIGHTS}"
        elif isinstance(error, FileNotFoundError):
            problem = f"can't be written ({reason}); the bucket must be there"
        elif isinstance(error, _NOT_TRANSIENT) or getattr(error, "status", 0) in _REFUSALS:
            problem = f"can't be written ({reason})"
        else:
            problem = f"the store failed ({reason}); later, the same command goes on"
            raise RemoteUnavailable(f"{url}: {problem}") from error
        raise InputError(url, problem) from error


def _get(store: Any, url: str) -> bytes | None:
    with suppress(FileNotFoundError):
        return bytes(store.cat_file(url))
    return None


def _delete(store: Any, url: str) -> None:
    with suppress(FileNotFoundError):
        store.rm_file(url)


def _upload(file: Path, store: Any, url: str) -> None:
    store.put_file(str(file), url)
    expected, arrived = file.stat().st_size, store.info(url)["size"]
    if arrived != expected:
        raise OSError(f"{arrived} of {expected} bytes arrived")


def _rename(target: str, store: Any, url: str) -> None:
    if store.exists(url):
        store.cp_file(url, target)
        store.rm_file(url)
