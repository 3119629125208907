"""Remote files as fsspec reads and writes them: opening their store, and what its errors mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from ngramscan.errors import InputError, reason_of
from ngramscan.remote import requester_pays

CREDENTIALS_CURE = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run: aws configure"
"""Stands in messages where S3 gets no credentials, or wrong ones."""
_IN_URLS = "!#$%&'()*+,/:;=?@[]~"
_VERSION_KEYS = (
    "ETag",  # S3, HTTP
    "etag",  # Google, Azure, WebDAV
    "md5Hash",
    "blob_id",  # Hugging Face
    "sha",  # GitHub
    "content_hash",  # Dropbox
    "CRC",  # an archive
    "LastModified",
    "Last-Modified",
    "last_modified",
    "modified",
    "modify",  # FTP
    "mtime",
    "modificationTime",  # Hadoop
    "server_modified",
    "updated",
    "created",
)
"""Fields in which file systems of fsspec say which version a file is, the safest first."""
_FINAL = (TypeError, ValueError, NotImplementedError)
_REFUSALS = {*range(400, 500)} - {408, 429}  # of HTTP


class StoreProblem(NamedTuple):
    """The meaning of an error of a store."""

    kind: Literal["credentials", "denied", "missing", "refused", "no connection", "failed"]
    """Only the last two may be temporary."""
    reason: str

    @property
    def is_final(self) -> bool:
        """Whether the same request would fail again."""
        return self.kind not in {"no connection", "failed"}


def problem_of(error: Exception) -> StoreProblem:
    """Return the meaning of an error of fsspec, or of a library that it uses."""
    reason, name = reason_of(error), type(error).__name__
    if name.endswith("CredentialsError"):  # of botocore
        return StoreProblem("credentials", reason)
    if isinstance(error, PermissionError) or reason.startswith("Forbidden"):  # gcsfs
        return StoreProblem("denied", reason)
    if isinstance(error, FileNotFoundError):
        return StoreProblem("missing", reason)
    if isinstance(error, _FINAL) or getattr(error, "status", 0) in _REFUSALS:
        return StoreProblem("refused", reason)
    # Its name alone tells that there is no connection, whatever the library.
    return StoreProblem("no connection" if "Connect" in name else "failed", reason)


def is_remote(path: str) -> bool:
    """Tell whether a path is a URL."""
    return "://" in path


def is_http(path: str) -> bool:
    """Tell whether a path is a URL that is read over HTTP."""
    return path.startswith(("http://", "https://"))


def shown(url: str) -> str:
    """Return a URL without what may be secret: login, query (it may be a signature), fragment."""
    return re.sub(r"//[^/]*@", "//", url).partition("?")[0].partition("#")[0]


def encoded(url: str) -> str:
    """Return a URL with what must be escaped in it escaped; a signature may cover what is."""
    escaped = quote(url, safe=_IN_URLS)
    return re.sub("%(?![0-9A-Fa-f]{2})", "%25", escaped)


def version_of(info: Mapping[str, Any]) -> str:
    """Return what a store says that changes with a file's content; empty if it says nothing."""
    return str(next((info[key] for key in _VERSION_KEYS if info.get(key)), ""))


def open_store(url: str, *, reader_pays: bool = False, **options: Any) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path there.

    An InputError says which library it needs. A password in the URL is refused, since it would be
    shown.

    Parameters
    ----------
    url : str
        A URL of any protocol of fsspec, or a chain of them.
    reader_pays : bool
        The user pays for reading from S3 where a bucket's owner wants that; the configuration of
        fsspec may say so, too.
    options : object
        Options of the file system.
    """
    import fsspec

    parts = urlsplit(url)
    if parts.password is not None:
        problem = "a password in it would be shown; put it into the configuration of fsspec"
        raise InputError(f"{parts.scheme}://{parts.hostname}/…", problem)
    pays = reader_pays or requester_pays.is_configured()
    options.update(requester_pays.store_options(url, pays))
    try:
        store, path = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        library = getattr(error.__cause__, "name", None)
        problem = f"{library} is not installed; pip install {library}" if library else str(error)
        raise InputError(url, problem) from error
    except ValueError as error:
        raise InputError(url, " ".join(str(error).split())) from error
    return store, path
