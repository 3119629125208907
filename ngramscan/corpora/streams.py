"""Files, here or far away, compressed or not, as one stream of bytes in which nothing is missing.

A cut file must not look like a short one. So streams are decompressed here, member by member, and
the end of the file inside a member is an error, as is a file whose bytes are not as many as they
were said to be. All that came before was yielded by then, and the reader of records can name the
one that is cut.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from isal import igzip, igzip_lib, isal_zlib

from ngramscan.corpora.ahead import read_ahead
from ngramscan.corpora.base import CorpusFile
from ngramscan.errors import CorpusError, InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_PLAIN_CHUNK_BYTES = 1_000_000
_COMPRESSED_CHUNK_BYTES = 1 << 16  # a chunk may grow a thousandfold
_GZIP_CHUNK_BYTES = 1 << 18
_GZIP_WINDOW = 31  # with a gzip header

# The stubs of isal do not say that its error is an exception.
_CORRUPT: tuple[type[Exception], ...] = (
    igzip_lib.IsalError,  # type: ignore[assignment]
    zstd.ZstdError,
    OSError,
)
_CORRUPT_OR_CUT: tuple[type[Exception], ...] = (EOFError, *_CORRUPT)


class _Member(Protocol):
    """What decompresses a part of a file that is compressed by itself."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def pieces(self, data: bytes) -> Iterator[bytes]: ...


class _GzipMember:
    def __init__(self) -> None:
        self._member = isal_zlib.decompressobj(wbits=_GZIP_WINDOW)

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield self._member.decompress(data)


class _ZstdMember:
    """Decompresses in pieces: what is compressed may grow thirty thousandfold."""

    def __init__(self) -> None:
        self._member = zstd.ZstdDecompressor()

    @property
    def eof(self) -> bool:
        return self._member.eof

    @property
    def unused_data(self) -> bytes:
        return self._member.unused_data

    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield self._member.decompress(data, _PLAIN_CHUNK_BYTES)
        while not (self._member.eof or self._member.needs_input):
            yield self._member.decompress(b"", _PLAIN_CHUNK_BYTES)


def is_remote(path: str) -> bool:
    """Tell whether a path is a URL."""
    return "://" in path


def file_system(url: str) -> Any:
    """Return the fsspec file system of a URL.

    Raises
    ------
    InputError
        fsspec does not know the protocol, or the library for it is not installed; says which.
    """
    import fsspec

    try:
        return fsspec.core.url_to_fs(url)[0]
    except (ImportError, ValueError) as error:
        raise InputError(url, " ".join(str(error).split())) from error


@contextmanager
def open_file(path: str, streaming: bool = True) -> Iterator[BinaryIO]:
    """Open a local file or a URL to read bytes.

    Parameters
    ----------
    path : str
        A path, or a URL that fsspec knows.
    streaming : bool
        The file is read once from its start; else it is read here and there.

    Raises
    ------
    CorpusError
        It can't be opened, or reading fails; `where` is the path alone.
    """
    if not is_remote(path):
        try:
            with Path(path).open("rb") as file:
                yield file
        except OSError as error:
            raise CorpusError(path, f"can't be read ({_reason(error)})") from error
        return
    # Over HTTP a stream is one request; without block_size=0 it would be one per 5 MB.
    options = {"block_size": 0} if streaming and path.startswith("http") else {}
    system = file_system(path)
    with _translated(path):
        remote = system.open(path, "rb", **options)
    with cast("BinaryIO", _RemoteFile(path, remote)) as file:
        yield file


@contextmanager
def _translated(path: str) -> Iterator[None]:
    """Translate what a call into fsspec raises: whatever the library below it does."""
    try:
        yield
    except Exception as error:
        raise CorpusError(path, f"can't be read ({_reason(error)})") from error


class _RemoteFile(io.RawIOBase):
    """A file of fsspec whose errors are ours."""

    def __init__(self, path: str, remote: BinaryIO) -> None:
        self._path = path
        self._remote = remote

    def read(self, size: int = -1) -> bytes:
        with _translated(self._path):
            return self._remote.read(size)

    def readinto(self, buffer: Any) -> int:
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with _translated(self._path):
            return self._remote.seek(offset, whence)

    def tell(self) -> int:
        with _translated(self._path):
            return self._remote.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._remote.seekable()

    def close(self) -> None:
        if not self.closed:
            with _translated(self._path):
                self._remote.close()
        super().close()


def _reason(error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(reason.split())


def read_chunks(file: CorpusFile) -> Iterator[tuple[bytes, int]]:
    """Yield the decompressed content in chunks, each with the file's bytes read for it.

    Raises
    ------
    CorpusError
        The file can't be opened, is cut or corrupt; `where` is the path alone.
    """
    consumed = 0
    chunks = _read_chunks(file.path)
    if file.path.endswith((".gz", ".zst")):
        chunks = read_ahead(chunks)
    for chunk, read in chunks:
        consumed += read
        yield chunk, read
    if file.size is not None and consumed != file.size:
        raise CorpusError(
            file.path, f"the file is cut or changed: {consumed} of {file.size} bytes came"
        )


def _read_chunks(path: str) -> Iterator[tuple[bytes, int]]:
    with open_file(path) as stream:
        try:
            if path.endswith(".gz"):
                yield from _gunzip(path, stream)
            elif path.endswith(".zst"):
                yield from _decompress(path, stream, _ZstdMember)
            else:
                while chunk := stream.read(_PLAIN_CHUNK_BYTES):
                    yield chunk, len(chunk)
        except _CORRUPT as error:
            raise CorpusError(path, f"can't be read ({_reason(error)})") from error


class _Counted:
    """A stream that knows how much was read from it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.read_bytes = 0

    def readinto(self, buffer: bytearray) -> int:
        content = self._stream.read(len(buffer))
        buffer[: len(content)] = content
        self.read_bytes += len(content)
        return len(content)

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self.read_bytes += len(content)
        return content


def _gunzip(path: str, stream: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Decompress gzip with isal's reader, which is fast also for many small members.

    Where it fails, it has thrown away what it had of the chunk. So the file is then read again, in
    the slow way that yields all there is before the error.
    """
    counted = _Counted(stream)
    position = yielded = 0
    try:
        with igzip.open(counted, "rb") as unzipped:  # type: ignore[no-untyped-call]
            while chunk := unzipped.read(_GZIP_CHUNK_BYTES):
                yield chunk, counted.read_bytes - position
                position, yielded = counted.read_bytes, yielded + len(chunk)
    except _CORRUPT_OR_CUT:
        yield from _gunzip_again(path, yielded)
    else:
        yield b"", counted.read_bytes - position


def _gunzip_again(path: str, already: int) -> Iterator[tuple[bytes, int]]:
    with open_file(path) as stream:
        for chunk, _ in _decompress(path, stream, _GzipMember):
            yield chunk[already:], 0
            already = max(0, already - len(chunk))


def _decompress(
    path: str, file: BinaryIO, new_member: Callable[[], _Member]
) -> Iterator[tuple[bytes, int]]:
    member: _Member | None = None
    while data := file.read(_COMPRESSED_CHUNK_BYTES):
        consumed = len(data)
        # What is left may be padding behind the last member, as tapes leave it.
        while data and (member or data.strip(b"\0")):
            member = member or new_member()
            for chunk in member.pieces(data):
                yield chunk, consumed
                consumed = 0
            data, member = (member.unused_data, None) if member.eof else (b"", member)
        if consumed:
            yield b"", consumed
    if member is not None:
        raise CorpusError(path, "the file is cut: its compressed data ends too early")


class ChunkStream(io.RawIOBase):
    """Chunks as a file, for libraries that read from one."""

    def __init__(self, chunks: Iterator[tuple[bytes, int]]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._position = 0
        self._consumed = 0
        self.tail = b""
        """The last bytes that were read, four at most."""

    def take_consumed(self) -> int:
        """Return the bytes of the file that were read since this was last asked."""
        consumed, self._consumed = self._consumed, 0
        return consumed

    def readable(self) -> bool:
        """Tell that it is."""
        return True

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._position

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill a buffer as far as the current chunk goes."""
        while not self._rest:
            try:
                chunk, consumed = next(self._chunks)
            except StopIteration:
                return 0
            self._rest = memoryview(chunk)
            self._consumed += consumed
        amount = min(len(buffer), len(self._rest))
        buffer[:amount] = self._rest[:amount]
        self.tail = (self.tail + bytes(self._rest[max(0, amount - 4) : amount]))[-4:]
        self._rest = self._rest[amount:]
        self._position += amount
        return amount
