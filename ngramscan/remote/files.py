"""Where the bytes of remote files come from: HTTP, and whatever else fsspec reads.

aiohttp, which fsspec brings along, opens files and understands errors; httpx takes 25 times its
processor time for a small request when many are under way.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp
import fsspec
from yarl import URL

from ngramscan.errors import IndexChangedError, InputError, NgramscanError, RemoteRefused, reason_of
from ngramscan.remote.exchange import (
    NoConnectionError,
    RateLimitedError,
    TransientError,
    retry_after_s,
)
from ngramscan.remote.range_connections import Connections, OddAnswerError
from ngramscan.remote.stores import open_store, problem_of, shown
from ngramscan.remote.transport import proxy_for

HEAD_BYTES = 4096
"""A file is opened by reading this much of its beginning."""
_CONNECT_TIMEOUT_S = 10.0
_ADDRESS_AGE_S = 60.0
"""A refusal at an address that is older may mean that it has expired."""
_SIGNED_FOR_S = 12 * 3600
_IN_URLS = "!#$%&'()*+,/:;=?@[]~"
_ERROR_BYTES = 4000
_CONTENT_RANGE = re.compile(r"bytes (\d{1,20})-(\d{1,20})/(\d{1,20})")

T = TypeVar("T")


@dataclass(eq=False, slots=True)
class RemoteFile:
    """A remote file as it was when it was opened."""

    url: str
    """As it was named, without login and signature."""
    size: int
    etag: str
    """ETag, or else the time of the last change; empty: the server tells neither.

    Its bytes as Latin-1: they may be any.
    """
    head: bytes = field(default=b"", repr=False)
    """Its first bytes."""
    origin: str = field(default="", repr=False)
    """The URL that opened it; may hold a login."""
    address: str = field(default="", repr=False)
    """Where its bytes are read, after redirects; may hold a signature."""
    asked_at: float = field(default_factory=time.monotonic)
    """When the address was asked for."""


class Source:
    """Remote files; made and used on one event loop. Errors are TransientErrors or final.

    A signed URL of S3 is read as fast as any other over HTTP, and the server itself checks that the
    file is the same. It is asked anonymously at first: a public bucket needs no
    credentials. Files of other protocols are read in threads.
    """

    def __init__(self, concurrency: int) -> None:
        self._threads = ThreadPoolExecutor(concurrency)
        self._needs_login: set[str] = set()
        self._connections = Connections()
        self._careful = self._odd_in_a_row = 0
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=concurrency),
            timeout=aiohttp.ClientTimeout(sock_connect=_CONNECT_TIMEOUT_S),
            headers={"Accept-Encoding": "identity", "User-Agent": "ngramscan"},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )

    async def open(self, url: str) -> RemoteFile | None:
        """Return a file with its head; None: there is none."""
        if _is_http(url):
            return await self._open_http(url)
        if not url.startswith("s3://"):
            return await self._in_thread(url, _open)
        if file := await self._with_login(url, self._open_signed):
            file.url, file.origin = shown(url), url
        return file

    async def fetch(self, file: RemoteFile, start: int, stop: int) -> bytes:
        """Return exactly these bytes of the file that was opened."""
        if not file.origin.startswith(("http://", "https://", "s3://")):
            return await self._in_thread(file.origin, _fetch, file=file, start=start, stop=stop)
        if file.address.startswith("s3://"):  # its signature has expired
            again = await self._with_login(file.origin, self._open_signed)
            if again is None or again.etag != file.etag:
                raise changed(file)
            file.address = again.address
        address = URL(file.address, encoded=True)
        is_odd = not file.etag.startswith('"') or address.user
        if is_odd or self._careful or _proxy(address.scheme, address.host):
            self._careful = max(0, self._careful - 1)
            return await self._fetch_carefully(file, start, stop)
        try:
            got = await self._connections.get(address, file.etag, start, stop, file.size)
        except OddAnswerError as error:  # aiohttp finds out what the matter is
            self._odd_in_a_row += 1
            self._careful += self._odd_in_a_row
            raise TransientError(str(error)) from error
        self._odd_in_a_row = 0
        return got

    async def folders(self, url: str) -> list[str] | None:
        """Return the names of the folders there; None: they can't be listed."""
        if _is_http(url):
            return None
        try:
            if url.startswith("s3://"):
                return await self._with_login(url, partial(self._in_thread, action=_folders))
            return await self._in_thread(url, _folders)
        except RemoteRefused:  # files may be public where a listing is not
            return None

    # Over HTTP

    async def _open_http(self, url: str) -> RemoteFile | None:
        name = shown(url)
        url = quote(url, safe=_IN_URLS)  # what is escaped stays so: a signature may cover it
        async with self._get(url, name, 0, HEAD_BYTES, {}) as response:
            if response.status in {404, 410}:
                return None
            # Where it wasn't redirected, aiohttp returns the address without the login.
            address = str(response.url) if response.history else url
            file = RemoteFile(name, 0, _validator(response), b"", url, address)
            if response.status != 416 or response.headers.get("Content-Range") != "bytes */0":
                file.size, file.head = await _read_part(response, name, 0, HEAD_BYTES)
            return file

    async def _fetch_carefully(self, file: RemoteFile, start: int, stop: int) -> bytes:
        etag, unchanged = file.etag, {}
        # A weak one doesn't match by definition, and aiohttp would send others as UTF-8.
        if etag.isascii() and etag and not etag.startswith("W/"):
            unchanged["If-Match" if etag.startswith('"') else "If-Unmodified-Since"] = etag
        async with self._get(file.address, file.url, start, stop, unchanged) as response:
            status = response.status
            is_old = time.monotonic() - file.asked_at > _ADDRESS_AGE_S
            if status in {401, 403, 404, 410} and is_old and file.address != file.origin:
                file.address, file.asked_at = file.origin, time.monotonic()
                raise TransientError(f"HTTP {status}")
            if status in {404, 410, 412} or (status == 206 and _validator(response) != file.etag):
                raise changed(file)
            size, content = await _read_part(response, file.url, start, stop)
            if size != file.size and not file.etag:
                raise changed(file)
            if size != file.size:
                raise TransientError(f"a file of {size:,} bytes, not {file.size:,}")
            if response.history:
                file.address = str(response.url)
            return content

    @asynccontextmanager
    async def _get(
        self, url: str, name: str, start: int, stop: int, headers: dict[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        headers["Range"] = f"bytes={start}-{stop - 1}"
        try:
            address = URL(url, encoded=True)
            proxy = _proxy(address.scheme, address.host)
            async with self._session.get(address, headers=headers, proxy=proxy) as response:
                yield response
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NoConnectionError(f"no connection ({reason_of(error)})") from error
        except (aiohttp.InvalidURL, ValueError) as error:
            raise InputError(name, "not a URL; expected https://…") from error
        except aiohttp.TooManyRedirects as error:
            raise RemoteRefused(f"{name}: redirected in a circle") from error
        except aiohttp.ClientResponseError as error:
            reason = error.message.partition("\n")[0].rstrip(":")
            raise TransientError(f"not valid HTTP ({reason})") from error
        except aiohttp.ClientError as error:
            raise TransientError(f"connection lost ({type(error).__name__})") from error

    # Through fsspec

    async def _open_signed(self, url: str, **login: bool) -> RemoteFile | None:
        return await self._open_http(await self._in_thread(url, _sign, **login))

    async def _with_login(self, url: str, action: Callable[..., Awaitable[T]]) -> T:
        """Do something anonymously, and if that is refused, with the user's credentials."""
        if _bucket(url) in self._needs_login or _LOGIN & fsspec.config.conf.get("s3", {}).keys():
            return await action(url)
        try:
            return await action(url, anon=True)
        except RemoteRefused as refused:
            try:
                answer = await action(url)
            except RemoteRefused:  # or there are no credentials
                raise refused from None
        self._needs_login.add(_bucket(url))
        return answer

    async def _in_thread(self, url: str, action: Callable[..., T], **options: Any) -> T:
        run = asyncio.get_running_loop().run_in_executor
        if "@" in _bucket(url):
            problem = "a login is in it; put it into the configuration of fsspec"
            raise InputError(shown(url), problem)
        try:
            return await run(self._threads, partial(action, url, **options))
        except NgramscanError:
            raise
        except Exception as error:
            found = problem_of(error)
            if found.is_final:
                raise RemoteRefused(f"{shown(url)}: can't be read ({found.reason})") from error
            kind = NoConnectionError if found.kind == "no connection" else TransientError
            raise kind(found.reason) from error

    async def close(self) -> None:
        """Close all connections, and end all threads that wait for nothing."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._connections.close()
        await self._session.close()


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def changed(file: RemoteFile) -> IndexChangedError:
    """Return the error of a file that is not the one that was opened."""
    return IndexChangedError(file.url, "it changed while it was read; start again")


_proxy = cache(proxy_for)  # aiohttp would look in a thread each time


def _validator(response: aiohttp.ClientResponse) -> str:
    found = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    return found.encode(errors="surrogateescape").decode("latin-1")


async def _read_part(
    response: aiohttp.ClientResponse, name: str, start: int, stop: int
) -> tuple[int, bytes]:
    """Return the stated size of the whole file, and just the bytes asked for, or else raise."""
    if response.status != 206:
        raise await _refusal(response, name)
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise RemoteRefused(f"{name}: the server sends parts of files compressed")
    stated = response.headers.get("Content-Range", "")
    found = _CONTENT_RANGE.fullmatch(stated)
    first, last, size = map(int, found.groups()) if found else (-1, -1, -1)
    if first != start or last != min(stop, size) - 1:
        raise TransientError(f"bytes {start}-{stop - 1} asked for, {stated[:80] or 'others'} sent")
    body, expected = b"", last + 1 - first
    while len(body) <= expected and (more := await response.content.read(expected + 1 - len(body))):
        body += more
    if len(body) != expected:
        raise TransientError(f"a body of {len(body):,} bytes in place of {expected:,}")
    return size, body


async def _refusal(response: aiohttp.ClientResponse, name: str) -> Exception:
    """Return the error that an answer stands for which has no bytes of the file."""
    status = response.status
    if status in {429, 503}:
        return RateLimitedError(f"HTTP {status}", retry_after_s(response.headers))
    if status >= 500 or status == 408:
        return TransientError(f"HTTP {status}", retry_after_s(response.headers))
    problem = f"HTTP {status}"
    if status == 200:
        problem = "the server can't send a part of a file; download the index, or ask its owner"
        if "html" in response.content_type:
            problem = "an HTML page, not a file; check the address"
    elif status == 301 and (region := response.headers.get("x-amz-bucket-region")):
        problem = f"the bucket is in the region {region}; set AWS_DEFAULT_REGION={region}"
    elif status in {401, 403}:
        problem += ", access denied; is it public, and its name right?"
        if b"requester pays" in (await response.content.read(_ERROR_BYTES)).lower():
            cure = "use s3://… with credentials, and FSSPEC_S3_REQUESTER_PAYS=true"
            problem = f"HTTP {status}: its owner has the requester pay; {cure}"
    return RemoteRefused(f"{name}: {problem}")


_SIGNATURE = {"signature_version": "s3v4"}
_LOGIN = {"anon", "key", "secret", "token", "profile"}
"""Options of s3fs; with one of them in fsspec's configuration it is the user who decides."""


def _bucket(url: str) -> str:
    """Return the bucket or host of a URL."""
    return url.split("/")[2]


def _store(url: str, **options: Any) -> tuple[Any, str]:
    """Return fsspec's file system; without its cache of listings, which would hide a change."""
    return open_store(url, use_listings_cache=False, **options)


def _sign(url: str, **login: bool) -> str:
    """Return the address of a file on S3 for HTTP; of a public one it has no signature."""
    # New buckets take no older signature; each bucket is asked in its own region.
    signed = {**fsspec.config.conf.get("s3", {}).get("config_kwargs", {}), **_SIGNATURE}
    store, path = _store(url, config_kwargs=signed, cache_regions=True, **login)
    return str(store.sign(path, expiration=_SIGNED_FOR_S, **store.req_kw))


def _folders(url: str, **login: bool) -> list[str]:
    try:
        store, path = _store(url, **login)
        found = store.ls(path, detail=True)
    except FileNotFoundError:
        return []
    names = (each["name"].rstrip("/") for each in found if each["type"] == "directory")
    return [posixpath.basename(name) for name in names]


def _open(url: str) -> RemoteFile | None:
    store, path = _store(url)
    try:
        info = store.info(path)
        if info["type"] != "file":
            return None
        head = store.cat_file(path, 0, min(HEAD_BYTES, info["size"]))
    except (FileNotFoundError, IsADirectoryError):
        return None
    return RemoteFile(shown(url), info["size"], _version(info), head, url, url)


def _fetch(url: str, file: RemoteFile, start: int, stop: int) -> bytes:
    store, path = _store(url)
    try:
        content = bytes(store.cat_file(path, start, stop))
        info = store.info(path)
    except FileNotFoundError:
        raise changed(file) from None
    # Looked at afterwards: the bytes were still those of the file that was opened.
    if (info["size"], _version(info)) != (file.size, file.etag):
        raise changed(file)
    if len(content) != stop - start:
        raise TransientError(f"{len(content):,} bytes in place of {stop - start:,}")
    return content


def _version(info: dict[str, Any]) -> str:
    keys = ("ETag", "etag", "md5Hash", "mtime", "created")
    return str(next((info[key] for key in keys if info.get(key)), ""))
