"""Where the bytes of remote files come from: HTTP, and whatever else fsspec reads.

aiohttp, which fsspec brings along, opens files and understands errors; httpx takes 25 times its
processor time for a small request when many are under way.
"""

from __future__ import annotations

import asyncio
import email.utils
import posixpath
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, TypeVar

import aiohttp
import fsspec
from yarl import URL

from ngramscan.errors import IndexChangedError, InputError, NgramscanError, RemoteRefused, reason_of
from ngramscan.messages import OptionUse, Text
from ngramscan.remote import requester_pays as paying
from ngramscan.remote.exchange import (
    NoConnectionError,
    RateLimitedError,
    TransientError,
    retry_after_s,
)
from ngramscan.remote.range_connections import Connections, OddAnswerError
from ngramscan.remote.stores import (
    CREDENTIALS_CURE,
    encoded,
    is_http,
    open_store,
    problem_of,
    shown,
    version_of,
)
from ngramscan.remote.transport import proxy_for

HEAD_BYTES = 4096
"""A file is opened by reading this much of its beginning."""
_CONNECT_TIMEOUT_S = 10.0
_ADDRESS_AGE_S = 60.0
"""A refusal at an address that is older may mean that it has expired."""
_SIGNED_FOR_S = 12 * 3600
_ERROR_BYTES = 4000
_OF_STORES = ("x-amz", "x-goog-", "x-ms-")
"""Headers of object stores: of Amazon and its likes, Google and Azure."""
_RECENT_S = 2.0
"""A file that changed so shortly before may change again within the resolution of its date."""
_PAGE = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
"""The beginning of an HTML page."""
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
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of all requests at the address: those that its signature covers."""
    asked_at: float = field(default_factory=time.monotonic)
    """When the address was asked for."""
    is_recent: bool = False
    """Whether it changed so shortly before it was opened that the same tag may be of two files."""
    filename: str = ""
    """The name that the server gives it; empty: none."""
    has_parts: bool = True
    """Whether the server sends parts of it."""

    @property
    def stamp(self) -> str:
        """A text that other contents of this size do not have; empty if no such text is known."""
        return "" if self.is_recent else self.etag


class NoFileError(RemoteRefused):
    """A server has no file of this name."""

    def __init__(self, message: str, is_page: bool = False) -> None:
        super().__init__(message)
        self.is_page = is_page
        """Whether the server sends an HTML page instead, as some do for every unknown name."""


class Source:
    """Remote files; made and used on one event loop. Errors are TransientErrors or final.

    A signed URL of S3 is read as fast as any other over HTTP, and the server itself checks that the
    file is the same. It is asked anonymously at first: a public bucket needs no
    credentials. One who pays for reading signs every request. Files of other protocols are read in
    threads.

    Parameters
    ----------
    concurrency : int
        Most connections at a time.
    requester_pays : bool
        The user pays for reading from S3 where a bucket's owner wants that.
    paying_buckets : frozenset of str
        Buckets of S3 that get no request unless the user pays.
    """

    def __init__(
        self,
        concurrency: int,
        *,
        requester_pays: bool = False,
        paying_buckets: frozenset[str] = frozenset(),
    ) -> None:
        self._pays = requester_pays or paying.is_configured()
        self._paying_buckets = paying_buckets
        self._threads = ThreadPoolExecutor(concurrency)
        self._proxy = cache(proxy_for)  # aiohttp would look in a thread each time
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

    async def open(self, url: str, needs_parts: bool = True) -> RemoteFile:
        """Return a file with its head; raise a NoFileError if there is none.

        Where the server can't send parts of it, this is an error too if it `needs_parts`.
        """
        if is_http(url):
            return await self._open_http(url, shown(url), {}, needs_parts)
        paying.refuse_unpaid(url, self._pays, self._paying_buckets)
        if not url.startswith("s3://"):
            return await self._in_thread(url, _open, reader_pays=self._pays)
        file = await self._with_login(url, self._open_signed)
        file.origin = url
        return file

    async def fetch(self, file: RemoteFile, start: int, stop: int) -> bytes:
        """Return exactly these bytes of the file that was opened."""
        if not file.origin.startswith(("http://", "https://", "s3://")):
            part = {"file": file, "start": start, "stop": stop, "reader_pays": self._pays}
            return await self._in_thread(file.origin, _fetch, **part)
        if file.address.startswith("s3://"):  # its signature has expired
            try:
                again = await self._with_login(file.origin, self._open_signed)
            except NoFileError:
                raise changed(file) from None
            if again.etag != file.etag:
                raise changed(file)
            file.address, file.headers = again.address, again.headers
        address = URL(file.address, encoded=True)
        is_odd = not file.etag.startswith('"') or address.user
        if is_odd or self._careful or self._proxy(address.scheme, address.host, address.port):
            self._careful = max(0, self._careful - 1)
            return await self._fetch_carefully(file, start, stop)
        try:
            got = await self._connections.get(
                address, file.headers, file.etag, start, stop, file.size
            )
        except OddAnswerError as error:  # aiohttp finds out what the matter is
            self._odd_in_a_row += 1
            self._careful += self._odd_in_a_row
            raise TransientError(str(error)) from error
        self._odd_in_a_row = 0
        return got

    async def entries(self, url: str) -> list[str] | None:
        """Return the names of files and folders there, these with a slash; None: not listed."""
        paying.refuse_unpaid(url, self._pays, self._paying_buckets)
        try:
            if url.startswith("s3://"):
                return await self._with_login(url, partial(self._in_thread, action=_entries))
            return await self._in_thread(url, _entries, reader_pays=self._pays)
        except RemoteRefused:  # files may be public where a listing is not
            return None

    # Over HTTP

    async def _open_http(
        self, url: str, name: str, headers: Mapping[str, str], needs_parts: bool = True
    ) -> RemoteFile:
        """Return the file at a URL, which messages call `name`; the headers are sent with all."""
        url = encoded(url)
        async with self._get(url, name, 0, HEAD_BYTES, headers) as response:
            # Where it wasn't redirected, aiohttp returns the address without the login.
            address = str(response.url) if response.history else url
            file = RemoteFile(name, 0, validator(response), b"", url, address, headers)
            file.is_recent, file.filename = _is_recent(response), _filename(response)
            if response.status == 200 and not needs_parts and not _says_page(response):
                file.size, file.has_parts = response.content_length or 0, False
                file.head = await response.content.read(HEAD_BYTES)
            elif response.status != 416 or response.headers.get("Content-Range") != "bytes */0":
                file.size, file.head = await self._read_part(response, name, 0, HEAD_BYTES)
            if _PAGE.match(file.head) and not _names_page(name):
                raise _no_file(response, name)
            return file

    def _address(self, url: str) -> dict[str, Any]:
        """Return the address to which a request for a URL is sent."""
        address = URL(url, encoded=True)
        return {"url": address, "proxy": self._proxy(address.scheme, address.host, address.port)}

    async def begin(
        self, url: str, start: int, version: str, is_page: bool = False
    ) -> aiohttp.ClientResponse:
        """Return the response with the bytes of a file from `start` on; its reader closes it.

        One of status 200 has all bytes. `version` is the tag or date that the file must still have,
        unless it is empty. An HTML page is an error unless it `is_page`.
        """
        headers = _unless_changed(version)
        if start:
            headers["Range"] = f"bytes={start}-"
        with translated(shown(url)):
            response = await self._session.get(**self._address(encoded(url)), headers=headers)
        try:
            if response.status not in {200, 206, 412} or (_says_page(response) and not is_page):
                raise await self._refusal(response, shown(url))
        except BaseException:
            response.close()
            raise
        return response

    async def _fetch_carefully(self, file: RemoteFile, start: int, stop: int) -> bytes:
        headers = {**file.headers, **_unless_changed(file.etag)}
        async with self._get(file.address, file.url, start, stop, headers) as response:
            status = response.status
            is_old = time.monotonic() - file.asked_at > _ADDRESS_AGE_S
            if status in {401, 403, 404, 410} and is_old and file.address != file.origin:
                file.address, file.asked_at = file.origin, time.monotonic()
                raise TransientError(f"HTTP {status}")
            if status in {404, 410, 412} or (status == 206 and validator(response) != file.etag):
                raise changed(file)
            size, content = await self._read_part(response, file.url, start, stop)
            if size != file.size and not file.etag:
                raise changed(file)
            if size != file.size:
                raise TransientError(f"a file of {size:,} bytes, not {file.size:,}")
            if response.history:
                file.address = str(response.url)
            return content

    @asynccontextmanager
    async def _get(
        self, url: str, name: str, start: int, stop: int, headers: Mapping[str, str]
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        headers_with_range = {**headers, "Range": f"bytes={start}-{stop - 1}"}
        with translated(name):
            async with self._session.get(
                **self._address(url), headers=headers_with_range
            ) as response:
                yield response

    async def _read_part(
        self, response: aiohttp.ClientResponse, name: str, start: int, stop: int
    ) -> tuple[int, bytes]:
        """Return the stated size of the whole file, and just the bytes asked for, or raise."""
        if response.status != 206:
            raise await self._refusal(response, name)
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise RemoteRefused(f"{name}: the server sends parts of files compressed")
        stated = response.headers.get("Content-Range", "")
        match = _CONTENT_RANGE.fullmatch(stated)
        first, last, size = map(int, match.groups()) if match else (-1, -1, -1)
        if first != start or last != min(stop, size) - 1:
            sent = stated[:80] or "others"
            raise TransientError(f"bytes {start}-{stop - 1} asked for, {sent} sent")
        body, expected = b"", last + 1 - first
        while len(body) <= expected and (
            more := await response.content.read(expected + 1 - len(body))
        ):
            body += more
        if len(body) != expected:
            raise TransientError(f"a body of {len(body):,} bytes in place of {expected:,}")
        return size, body

    async def _refusal(self, response: aiohttp.ClientResponse, name: str) -> Exception:
        """Return the error that an answer stands for which has no bytes of the file."""
        status = response.status
        if status in {404, 410} or _says_page(response):
            return _no_file(response, name)
        if status in {429, 503}:
            return RateLimitedError(f"HTTP {status}", retry_after_s(response.headers))
        if status >= 500 or status == 408:
            return TransientError(f"HTTP {status}", retry_after_s(response.headers))
        if status in {400, 401, 403}:
            error_text = await response.content.read(_ERROR_BYTES)
            return RemoteRefused(f"{name}: " + self._denial(response, name, error_text))
        return RemoteRefused(f"{name}: {_final_problem(response)}")

    def _denial(self, response: aiohttp.ClientResponse, name: str, error_text: bytes) -> Text:
        """Return why access is denied, and what may help."""
        code = _CODE.search(error_text)
        if code and code[1].decode() in _CREDENTIALS_REFUSED:
            problem = f"HTTP {response.status}, S3 refuses the credentials ({code[1].decode()})"
            return f"{problem}; {CREDENTIALS_CURE}"
        if response.status == 403 and name.startswith("s3://"):
            return "HTTP 403, access denied; " + paying.cure_of_refusal(self._pays)
        cure = "use s3://… with " + OptionUse("requester_pays")
        if _PAYS in error_text.lower():
            problem = "the bucket's owner has the reader pay"
            return f"HTTP {response.status}: {problem}, {paying.CHARGES}; " + cure
        problem = _final_problem(response)
        if response.status == 403 and "x-amz-request-id" in response.headers:
            return f"{problem} If the bucket's owner has the reader pay, " + cure
        return problem

    # Through fsspec

    async def _open_signed(self, url: str, **login: bool) -> RemoteFile:
        address, headers = await self._in_thread(url, _sign, **login)
        return await self._open_http(address, shown(url), headers)

    async def _with_login(self, url: str, action: Callable[..., Awaitable[T]]) -> T:
        """Do something anonymously, and if that is refused, with the user's credentials.

        One who pays uses them at once: no request without them is answered where readers pay.
        """
        if self._pays:
            return await action(url, reader_pays=True)
        if _bucket(url) in self._needs_login or _LOGIN & fsspec.config.conf.get("s3", {}).keys():
            return await action(url)
        try:
            return await action(url, anon=True)
        except NoFileError:
            raise
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
            if found.kind == "credentials" and self._pays:
                problem = "who pays must sign, and there are no credentials"
                raise RemoteRefused(f"{shown(url)}: {problem}; {CREDENTIALS_CURE}") from error
            if found.is_final:
                raise RemoteRefused(f"{shown(url)}: can't be read ({found.reason})") from error
            kind = NoConnectionError if found.kind == "no connection" else TransientError
            raise kind(found.reason) from error

    async def close(self) -> None:
        """Close all connections, and end all threads that wait for nothing."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self._connections.close()
        await self._session.close()


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Translate the errors of aiohttp while a file is asked for or read."""
    try:
        yield
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise _connection_error(error, name) from error
    except (aiohttp.InvalidURL, ValueError) as error:
        raise InputError(name, "not a URL; expected https://…") from error
    except aiohttp.TooManyRedirects as error:
        raise RemoteRefused(f"{name}: redirected in a circle") from error
    except aiohttp.ClientHttpProxyError as error:
        raise _proxy_error(error, name) from error
    except aiohttp.ClientResponseError as error:
        reason = error.message.partition("\n")[0].rstrip(":")
        raise TransientError(f"not valid HTTP ({reason})") from error
    except aiohttp.ClientError as error:
        raise TransientError(f"connection lost ({type(error).__name__})") from error


def _connection_error(error: Exception, name: str) -> Exception:
    """Return the error of a connection that could not be made."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return NoConnectionError(f"no connection (there is no host {error.host})")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = getattr(error.certificate_error, "verify_message", "") or "it is not valid"
        cure = "SSL_CERT_FILE names the authorities of your network"
        return RemoteRefused(f"{name}: its certificate is refused ({reason}); {cure}")
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        reason = getattr(error, "reason", None) or reason_of(error)
        return RemoteRefused(f"{name}: TLS failed ({reason}); is it http://… instead?")
    return NoConnectionError(f"no connection ({reason_of(error)})")


def _proxy_error(error: aiohttp.ClientHttpProxyError, name: str) -> Exception:
    """Return the error of a proxy that makes no connection."""
    problem = f"the proxy answers HTTP {error.status}"
    if error.status == 407:
        return RemoteRefused(f"{name}: {problem}; {_PROXY_LOGIN}")
    is_final = 400 <= error.status < 500 and error.status not in {408, 429}
    return RemoteRefused(f"{name}: {problem}") if is_final else TransientError(problem)


def _unless_changed(version: str) -> dict[str, str]:
    """Return the header that has a server refuse another version of a file; none for most tags."""
    # A weak one doesn't match by definition, and aiohttp would send others as UTF-8.
    if not version or not version.isascii() or version.startswith("W/"):
        return {}
    return {"If-Match" if version.startswith('"') else "If-Unmodified-Since": version}


def changed(file: RemoteFile) -> IndexChangedError:
    """Return the error of a file that is not the one that was opened."""
    return IndexChangedError(file.url, "it changed while it was read; start again")


def validator(response: aiohttp.ClientResponse) -> str:
    """Return the tag of a file, or else the time of its last change; empty: neither."""
    tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    return tag.encode(errors="surrogateescape").decode("latin-1")


def _is_recent(response: aiohttp.ClientResponse) -> bool:
    """Tell whether a file changed just before, by the clock of its server.

    Servers make tags of dates in whole seconds, too; object stores make them of the content.
    """
    if any(name.lower().startswith(_OF_STORES) for name in response.headers):
        return False
    dates = (response.headers.get(name, "") for name in ("Date", "Last-Modified"))
    try:
        asked_at, changed_at = (email.utils.parsedate_to_datetime(date) for date in dates)
        return (asked_at - changed_at).total_seconds() < _RECENT_S
    except (TypeError, ValueError):  # without a date, or one without a zone
        return False


def _filename(response: aiohttp.ClientResponse) -> str:
    """Return the name that a server gives a file, or that is in its address after redirects."""
    stated = response.content_disposition
    named = stated.filename if stated else None
    return posixpath.basename(named or (response.url.path if response.history else ""))


def _says_page(response: aiohttp.ClientResponse) -> bool:
    """Tell whether an answer is an HTML page, and not one that was asked for."""
    is_page = "html" in response.headers.get("Content-Type", "").lower()
    return response.status == 200 and is_page and not _names_page(str(response.url))


def _names_page(url: str) -> bool:
    return shown(url).lower().endswith((".html", ".htm"))


def _no_file(response: aiohttp.ClientResponse, name: str) -> NoFileError:
    """Return the error of a server that has no such file."""
    if response.status not in {404, 410}:
        problem = "an HTML page, not a file; check the address, and whether it needs a login"
        return NoFileError(f"{name}: {problem}", is_page=True)
    reason = "there is no such file" if response.status == 404 else "it is gone"
    return NoFileError(f"{name}: HTTP {response.status}, {reason}")


def _final_problem(response: aiohttp.ClientResponse) -> str:
    """Return what an answer says that no other attempt would change."""
    status = response.status
    if status == 200:
        return "the server can't send a part of a file; download the file, or ask its owner"
    if status == 301 and (region := response.headers.get("x-amz-bucket-region")):
        return f"the bucket is in the region {region}; set AWS_DEFAULT_REGION={region}"
    return f"HTTP {status}{_WORDS.get(status, '')}"


_PAYS = b"requester pays"
_CODE = re.compile(rb"<Code>(\w{1,60})</Code>")
_CREDENTIALS_REFUSED = {
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "SignatureDoesNotMatch",
}
"""Codes of errors by which S3 refuses credentials, whatever they ask for."""
_PROXY_LOGIN = "it needs a login: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT"
_WORDS = {
    401: ", access denied; it needs a login: https://NAME:PASSWORD@HOST/…",
    403: ", access denied; is it public, is its name right, or has a signed URL expired?",
    407: f": the proxy refuses; {_PROXY_LOGIN}",
}
_SIGNATURE = {"signature_version": "s3v4"}
_LOGIN = {"anon", "key", "secret", "token", "profile"}
"""Options of s3fs; with one of them in fsspec's configuration it is the user who decides."""


def _bucket(url: str) -> str:
    """Return the bucket or host of a URL."""
    return url.split("/")[2]


def _store(url: str, **options: Any) -> tuple[Any, str]:
    """Return fsspec's file system; without its cache of listings, which would hide a change."""
    return open_store(url, use_listings_cache=False, **options)


def _sign(url: str, **login: bool) -> tuple[str, Mapping[str, str]]:
    """Return the address of a file on S3 for HTTP, and the headers that its signature covers.

    The address of a public file has no signature.
    """
    # New buckets take no older signature; each bucket is asked in its own region.
    signed = {**fsspec.config.conf.get("s3", {}).get("config_kwargs", {}), **_SIGNATURE}
    store, path = _store(url, config_kwargs=signed, cache_regions=True, **login)
    address = str(store.sign(path, expiration=_SIGNED_FOR_S, **store.req_kw))
    return address, paying.PAYER_HEADERS if store.req_kw else {}


def _entries(url: str, **login: bool) -> list[str]:
    try:
        store, path = _store(url, **login)
        entries = store.ls(path, detail=True)
    except FileNotFoundError:
        return []
    ends = {"directory": "/"}
    return [
        posixpath.basename(entry["name"].rstrip("/")) + ends.get(entry["type"], "")
        for entry in entries
    ]


def _open(url: str, reader_pays: bool) -> RemoteFile:
    store, path = _store(url, reader_pays=reader_pays)
    try:
        info = store.info(path)
        is_file = info["type"] == "file"
        head = store.cat_file(path, 0, min(HEAD_BYTES, info["size"])) if is_file else b""
    except (FileNotFoundError, IsADirectoryError):
        is_file = False
    if not is_file:
        raise NoFileError(f"{shown(url)}: there is no such file")
    return RemoteFile(shown(url), info["size"], version_of(info), head, url, url)


def _fetch(url: str, file: RemoteFile, start: int, stop: int, reader_pays: bool) -> bytes:
    store, path = _store(url, reader_pays=reader_pays)
    try:
        content = bytes(store.cat_file(path, start, stop))
        info = store.info(path)
    except FileNotFoundError:
        raise changed(file) from None
    # Looked at afterwards: the bytes were still those of the file that was opened.
    if (info["size"], version_of(info)) != (file.size, file.etag):
        raise changed(file)
    if len(content) != stop - start:
        raise TransientError(f"{len(content):,} bytes in place of {stop - start:,}")
    return content
