"""Where the bytes of remote files come from: HTTP, and whatever else fsspec reads.

Requests go through aiohttp, which fsspec brings along: httpx takes 25 times its processor time for
a small request when many are under way.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from ngramscan.errors import IndexChangedError, InputError, RemoteRefused
from ngramscan.pace.exchange import (
    NoConnectionError,
    RateLimitedError,
    TransientError,
    retry_after_s,
)

HEAD_BYTES = 4096
"""A file is opened by reading this much of its beginning."""
_CONNECT_TIMEOUT_S = 10.0
_ADDRESS_AGE_S = 60.0
"""A refusal at an address that is older may mean that it has expired."""
_MOST_OF_ERROR = 4000
_CONTENT_RANGE = re.compile(r"bytes (?:(\d{1,20})-(\d{1,20})|\*)/(\d{1,20})")


@dataclass(eq=False, slots=True)
class RemoteFile:
    """A remote file as it was when it was opened."""

    url: str
    """As it was named, without login and signature."""
    size: int
    etag: str
    """ETag, or else the time of the last change; empty: the server tells neither."""
    head: bytes
    """Its first bytes."""
    source: Source
    origin: str
    """What it was opened by; may hold a login."""
    address: str
    """Where its bytes are read, after redirects."""
    asked_at: float = field(default_factory=time.monotonic)
    """When the address was found."""


class Source(Protocol):
    """One way to get bytes: its errors are TransientErrors, and final ones."""

    async def open(self, url: str) -> RemoteFile | None:
        """Return a file with its head; None: there is none."""

    async def fetch(self, file: RemoteFile, start: int, stop: int) -> bytes:
        """Return exactly these bytes of the file that was opened."""

    async def names(self, url: str) -> list[str] | None:
        """Return the names of the folders there; None: they can't be listed."""

    async def close(self) -> None:
        """Close all connections."""


def shown(url: str) -> str:
    """Return a URL without what may be secret: login, query (it may be a signature), fragment."""
    return re.sub(r"//[^/]*@", "//", url).partition("?")[0].partition("#")[0]


class HttpSource:
    """Files over HTTP; made and used on one event loop."""

    def __init__(self, timeout_s: float, concurrency: int) -> None:
        self._timeout_s = timeout_s
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=concurrency),
            timeout=aiohttp.ClientTimeout(timeout_s, sock_connect=_CONNECT_TIMEOUT_S),
            headers={"Accept-Encoding": "identity", "User-Agent": "ngramscan"},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )

    async def open(self, url: str) -> RemoteFile | None:
        """Return a file with its head; None: there is none."""
        name = shown(url)
        async with self._get(url, name, 0, HEAD_BYTES, {}) as response:
            if response.status in {404, 410}:
                return None
            address, etag = str(response.url), _validator(response)
            if response.status == 416 and response.headers.get("Content-Range") == "bytes */0":
                return RemoteFile(name, 0, etag, b"", self, url, address)
            size = await _check(response, name, 0, HEAD_BYTES)
            head = await _read_exactly(response, min(HEAD_BYTES, size))
            return RemoteFile(name, size, etag, head, self, url, address)

    async def fetch(self, file: RemoteFile, start: int, stop: int) -> bytes:
        """Return exactly these bytes of the file that was opened."""
        async with self._get(
            file.address, file.url, start, stop, _condition(file.etag)
        ) as response:
            status = response.status
            if status in {401, 403, 404, 410} and self._may_be_expired(file):
                file.address, file.asked_at = file.origin, time.monotonic()
                raise TransientError(f"HTTP {status}")
            if status in {404, 410, 412} or (status == 206 and _validator(response) != file.etag):
                raise IndexChangedError(file.url, "it changed while it was read; start again")
            size = await _check(response, file.url, start, stop)
            if size != file.size:
                raise TransientError(f"a Content-Range of {size:,} bytes in all, not {file.size:,}")
            file.address = str(response.url)
            return await _read_exactly(response, stop - start)

    def _may_be_expired(self, file: RemoteFile) -> bool:
        is_old = time.monotonic() - file.asked_at > _ADDRESS_AGE_S
        return file.address != file.origin and is_old

    @asynccontextmanager
    async def _get(
        self, url: str, name: str, start: int, stop: int, headers: dict[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        headers["Range"] = f"bytes={start}-{stop - 1}"
        try:
            address = URL(url, encoded=True)
            proxy = _proxy(address.scheme, address.host or "")
            async with self._session.get(address, headers=headers, proxy=proxy) as response:
                yield response
        except (aiohttp.InvalidURL, ValueError) as error:
            raise InputError(name, "not a URL; https://… was expected") from error
        except aiohttp.TooManyRedirects as error:
            raise RemoteRefused(f"{name}: redirected in a circle") from error
        except aiohttp.ClientConnectorError as error:
            reason = error.strerror or str(error.os_error)
            raise NoConnectionError(f"no connection ({reason})") from error
        except TimeoutError as error:
            raise TransientError(f"no answer in {self._timeout_s:g} s") from error
        except aiohttp.ClientError as error:
            raise TransientError(f"connection lost ({type(error).__name__})") from error

    async def names(self, url: str) -> None:
        """Return None: HTTP lists no folders."""

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


@cache
def _proxy(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment names; aiohttp would look in a thread each time."""
    return None if proxy_bypass(host) else getproxies().get(scheme)


def _validator(response: aiohttp.ClientResponse) -> str:
    return response.headers.get("ETag") or response.headers.get("Last-Modified", "")


def _condition(etag: str) -> dict[str, str]:
    """Return the header that has a changed file refused; weak ETags don't match by definition."""
    if etag.startswith('"'):
        return {"If-Match": etag}
    return {"If-Unmodified-Since": etag} if etag and not etag.startswith("W/") else {}


async def _check(response: aiohttp.ClientResponse, name: str, start: int, stop: int) -> int:
    """Return the size of the whole file that an answer states; raise if the answer is another."""
    if response.status != 206:
        raise await _refusal(response, name)
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise RemoteRefused(f"{name}: the server sends parts of files compressed")
    stated = response.headers.get("Content-Range", "")
    found = _CONTENT_RANGE.fullmatch(stated)
    first, last, size = (int(each or -1) for each in found.groups()) if found else (-1, -1, -1)
    if first != start or last != min(stop, size) - 1:
        raise TransientError(f"bytes {start}-{stop - 1} asked for, {stated[:80] or 'others'} sent")
    return size


async def _read_exactly(response: aiohttp.ClientResponse, size: int) -> bytes:
    """Return a body of a known size; never more of it is read."""
    body = await response.content.read(size + 1) if size else b""
    while len(body) < size and (more := await response.content.read(size + 1 - len(body))):
        body += more
    if len(body) != size:
        raise TransientError(f"a body of {len(body):,} bytes in place of {size:,}")
    return body


async def _refusal(response: aiohttp.ClientResponse, name: str) -> Exception:
    """Return the error that an answer stands for which has no bytes of the file."""
    status = response.status
    if status in {429, 503}:
        return RateLimitedError(f"HTTP {status}", retry_after_s(response.headers))
    if status >= 500 or status == 408:
        return TransientError(f"HTTP {status}", retry_after_s(response.headers))
    return RemoteRefused(f"{name}: {await _problem(response)}")


async def _problem(response: aiohttp.ClientResponse) -> str:
    status = response.status
    if status == 200:
        if "html" in response.content_type:
            return "an HTML page, not a file; check the address"
        return "the server can't send a part of a file; copy the index here, or to another server"
    if status == 301 and (region := response.headers.get("x-amz-bucket-region")):
        return f"the bucket is in the region {region}; name it in the address"
    if status in {401, 403}:
        said = await response.content.read(_MOST_OF_ERROR)
        if b"requester pays" in said.lower() or "x-amz-request-charged" in response.headers:
            return "its owner has the requester pay (requester pays); copy it with your own account"
        return f"HTTP {status}, access denied; is it public, and its name right?"
    return f"HTTP {status}"
