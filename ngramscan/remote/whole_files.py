"""A file on a web server from its first byte to its last, even if connections drop.

Where it drops, the rest is asked for: of the same version, if the server tags versions. Otherwise
what came before is compared with what comes now, by its last bytes, or where the server only sends
whole files, by a checksum of all of it.
"""

from __future__ import annotations

import asyncio
import re
import zlib

import aiohttp

from ngramscan.errors import RemoteRefused
from ngramscan.reading.compressions import packed_suffix
from ngramscan.remote.exchange import TransientError
from ngramscan.remote.files import RemoteFile, Source, changed, translated, validator
from ngramscan.remote.stores import shown

_CHUNK_BYTES = 1 << 20
_GATHER_S = 0.5
"""A chunk is handed on after this time, though it may be small."""
_OVERLAP_BYTES = 4096
"""Bytes before the rest that are read once more, to compare them."""
_START = re.compile(r"bytes (\d{1,20})-\d{1,20}/(\d{1,20}|\*)")


class WholeFile:
    """Reads a file in chunks; made and used on the event loop of its source."""

    def __init__(self, source: Source, url: str, stamp: str = "", is_page: bool = False) -> None:
        self._source, self._url, self._stamp, self._is_page = source, url, stamp, is_page
        self.name = shown(url)
        self.at_end = False
        self._file: RemoteFile | None = None
        self._response: aiohttp.ClientResponse | None = None
        self._position = self._checksum = 0
        self._to_skip = self._skipped_checksum = 0
        self._tail = b""
        self._compared = b""
        """Bytes that the response must begin with."""

    async def more(self) -> bytes:
        """Return the next bytes; empty if none of them are new, or at the end.

        After a TransientError, another call may help.
        """
        try:
            response = self._response = self._response or await self._begin()
            with translated(self.name):
                chunk, is_last = await _gather(response)
            return self._accept(chunk, is_last)
        except BaseException:
            self.close()
            raise

    async def _begin(self) -> aiohttp.ClientResponse:
        """Ask for the file, or for the rest of it."""
        overlap = min(self._position, _OVERLAP_BYTES)
        version = self._file.etag if self._file else ""
        start = self._position - overlap
        response = await self._source.begin(self._url, start, version, self._is_page)
        try:
            self._check(response, start)
        except BaseException:
            response.close()
            raise
        return response

    def _check(self, response: aiohttp.ClientResponse, start: int) -> None:
        """Raise unless a response has the file that was begun, and from where it must be."""
        self._refuse_encoded(response)
        first, size = _extent(response)
        if self._file is None:
            self._file = RemoteFile(self.name, size, validator(response))
            if self._stamp and self._file.etag != self._stamp:
                raise changed(self._file)
        is_other = self._file.etag != validator(response) or _differ(size, self._file.size)
        if response.status == 412 or is_other:
            raise changed(self._file)
        if first not in {0, start}:
            raise TransientError(f"bytes from {start} on asked for, from {first} on sent")
        self._compared = b"" if first == 0 else self._tail
        self._to_skip = self._position if first == 0 else 0
        self._skipped_checksum = 0

    def _refuse_encoded(self, response: aiohttp.ClientResponse) -> None:
        encoding = response.headers.get("Content-Encoding", "identity").lower()
        # Of files that are compressed themselves, some servers say that they compressed them.
        if encoding != "identity" and not packed_suffix(self.name):
            problem = f"the server sends it compressed ({encoding[:20]}), which wasn't asked for"
            raise RemoteRefused(f"{self.name}: {problem}; download it and read the copy")

    def _accept(self, chunk: bytes, is_last: bool) -> bytes:
        """Return the bytes of a chunk that are new, after comparing the others."""
        assert self._file is not None
        new = self._without_skipped(self._without_overlap(chunk))
        self._position += len(new)
        self._checksum = zlib.crc32(new, self._checksum)
        self._tail = (self._tail + new[-_OVERLAP_BYTES:])[-_OVERLAP_BYTES:]
        if is_last:
            if self._compared or self._to_skip or _differ(self._file.size, self._position):
                raise changed(self._file)
            self.at_end = True
            self.close()
        return new

    def _without_overlap(self, chunk: bytes) -> bytes:
        length = min(len(chunk), len(self._compared))
        if chunk[:length] != self._compared[:length]:
            assert self._file is not None
            raise changed(self._file)
        self._compared = self._compared[length:]
        return chunk[length:]

    def _without_skipped(self, chunk: bytes) -> bytes:
        length = min(len(chunk), self._to_skip)
        if not length:
            return chunk
        self._skipped_checksum = zlib.crc32(chunk[:length], self._skipped_checksum)
        self._to_skip -= length
        if not self._to_skip and self._skipped_checksum != self._checksum:
            assert self._file is not None
            raise changed(self._file)
        return chunk[length:]

    def close(self) -> None:
        """End the request under way."""
        if self._response is not None:
            self._response.close()
            self._response = None


def _differ(size: int, other: int) -> bool:
    """Tell whether two sizes are known and different."""
    return -1 not in {size, other} and size != other


def _extent(response: aiohttp.ClientResponse) -> tuple[int, int]:
    """Return the first byte that a response has, and the size of the whole file; -1: unknown."""
    if response.status == 206:
        stated = _START.fullmatch(response.headers.get("Content-Range", ""))
        if stated is None:
            raise TransientError("a part of the file without its place in it")
        return int(stated[1]), -1 if stated[2] == "*" else int(stated[2])
    length = response.content_length
    return 0, -1 if length is None else length


async def _gather(response: aiohttp.ClientResponse) -> tuple[bytes, bool]:
    """Return bytes that have come within a short time, at least one, and whether they end it."""
    loop, body = asyncio.get_running_loop(), bytearray()
    until = loop.time() + _GATHER_S
    while len(body) < _CHUNK_BYTES and (not body or loop.time() < until):
        part = await response.content.readany()
        if not part:
            return bytes(body), True
        body += part
    return bytes(body), False
