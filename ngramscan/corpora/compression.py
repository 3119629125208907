"""Files, compressed or not, as one stream of bytes in which nothing is missing.

A cut file must not look like a short one. So streams are decompressed here, member by member, and
the end of the file inside a member is an error; all that came before was yielded by then, and the
reader of records can name the one that is cut.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from isal import igzip_lib, isal_zlib

from ngramscan.errors import CorpusError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_PLAIN_CHUNK_BYTES = 1 << 20
_COMPRESSED_CHUNK_BYTES = 1 << 16  # a chunk may grow a thousandfold
_GZIP_WINDOW = 31  # with a gzip header

# The stubs of isal do not say that its error is an exception.
_CORRUPT: tuple[type[Exception], ...] = (
    igzip_lib.IsalError,  # type: ignore[assignment]
    zstd.ZstdError,
    OSError,
)


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


def read_chunks(path: str) -> Iterator[tuple[bytes, int]]:
    """Yield the decompressed content in chunks, each with the file's bytes read for it.

    Raises
    ------
    CorpusError
        The file can't be opened, is cut or corrupt; `where` is the path alone.
    """
    try:
        with Path(path).open("rb") as file:
            if path.endswith(".gz"):
                yield from _decompress(
                    path, file, lambda: isal_zlib.decompressobj(wbits=_GZIP_WINDOW)
                )
            elif path.endswith(".zst"):
                yield from _decompress(path, file, zstd.ZstdDecompressor)
            else:
                while chunk := file.read(_PLAIN_CHUNK_BYTES):
                    yield chunk, len(chunk)
    except _CORRUPT as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CorpusError(path, f"can't be read ({reason})") from error


def _decompress(
    path: str, file: BinaryIO, new_member: Callable[[], _Decompressor]
) -> Iterator[tuple[bytes, int]]:
    member: _Decompressor | None = None
    while data := file.read(_COMPRESSED_CHUNK_BYTES):
        consumed = len(data)
        while data:
            if member is None:
                if not data.strip(b"\0"):
                    break  # padding behind the last member, as tapes leave it
                member = new_member()
            chunk = member.decompress(data)
            data = b""
            if member.eof:
                data, member = member.unused_data, None
            yield chunk, consumed
            consumed = 0
    if member is not None:
        raise CorpusError(path, "the file is cut: its compressed data ends too early")
