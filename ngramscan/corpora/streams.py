"""Files, local or remote, compressed or not, as one complete stream of bytes.

A truncated file must not look like a short one. So the end of a file inside a compressed member is
an error, and so is an unexpected size. Everything before the error is yielded first, so the reader
of records can name the truncated one.
"""

from __future__ import annotations

import io
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from isal import igzip

from ngramscan.corpora.base import CHANGED, CorpusFile
from ngramscan.errors import CorpusError, reason_of
from ngramscan.messages import Text
from ngramscan.reading.compressions import CORRUPT, GZIP, HEAD_BYTES, compression_of, packed_suffix
from ngramscan.reading.streams import (
    Chunks,
    name_of,
    problem_of,
    read_raw,
    unpacked,
)
from ngramscan.remote.requester_pays import cure_of_refusal, is_on_s3
from ngramscan.remote.stores import CREDENTIALS_CURE, is_http, is_remote, open_store, version_of
from ngramscan.remote.stores import problem_of as store_problem_of

T = TypeVar("T")

_PLAIN_CHUNK_BYTES = 1_000_000
_GZIP_CHUNK_BYTES = 1 << 18
_ITEMS_AHEAD = 4
_SMALL_BYTES = 1 << 16


def read_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield the items of an iterator that runs in a thread, at most a few ahead.

    Decompressors, Arrow and the matching engine do not hold the interpreter's lock, so that text is
    decompressed while the text before it is searched.
    """
    end = object()
    thread = ThreadPoolExecutor(1)
    thread_id = thread.submit(threading.get_ident).result()
    try:
        ahead = deque(thread.submit(next, items, end) for _ in range(_ITEMS_AHEAD))
        while (item := ahead.popleft().result()) is not end:
            ahead.append(thread.submit(next, items, end))
            yield cast("T", item)
    finally:
        # A dropped iterator is closed by whichever thread collects garbage, perhaps by its own.
        thread.shutdown(wait=threading.get_ident() != thread_id, cancel_futures=True)


@contextmanager
def open_file(file: CorpusFile, streaming: bool = True) -> Iterator[BinaryIO]:
    """Open a local file or a URL to read bytes: once from the start, or (not `streaming`) anywhere.

    Failures of opening and reading are CorpusErrors that name the path alone.
    """
    path = file.path
    if is_http(file.location):
        from ngramscan.corpora.web_files import open_web_file  # slow to import

        with open_web_file(file, streaming) as opened:
            yield opened
        return
    if is_remote(path):
        with _open_on_store(file) as opened:
            yield opened
        return
    try:
        with Path(path).open("rb") as local:
            yield local
    except OSError as error:
        raise CorpusError(path, f"can't be read ({reason_of(error)})") from error


@contextmanager
def _open_on_store(file: CorpusFile) -> Iterator[BinaryIO]:
    """Open a file of another protocol, and check at the end that it is still the same."""
    store, inside = open_store(file.location, reader_pays=file.reader_pays)
    with _translated(file):
        version = version_of(store.info(inside))
        remote = store.open(inside, "rb")
    with closing(_TranslatedFile(file, remote)) as opened:
        yield cast("BinaryIO", opened)
    with _translated(file):
        store.invalidate_cache()
        is_other = version_of(store.info(inside)) != version
    if is_other:
        raise CorpusError(file.path, CHANGED)


@contextmanager
def _translated(file: CorpusFile) -> Iterator[None]:
    """Translate the exceptions of a call into fsspec, which can be of any library below it."""
    try:
        yield
    except Exception as error:
        cure = cure_where_denied(error, file.location, file.reader_pays)
        raise CorpusError(file.path, f"can't be read ({reason_of(error)})" + cure) from error


def cure_where_denied(error: Exception, url: str, reader_pays: bool) -> Text:
    """Return what to do where S3 denies access, as the end of a message; empty for others."""
    if not is_on_s3(url):
        return ""
    kind = store_problem_of(error).kind
    if kind == "credentials":
        return f"; {CREDENTIALS_CURE}"
    return "; " + cure_of_refusal(reader_pays) if kind == "denied" else ""


class _TranslatedFile:
    """A file of fsspec whose own errors are translated."""

    def __init__(self, file: CorpusFile, remote: BinaryIO) -> None:
        self._file = file
        self._remote = remote

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._remote, name)
        return _translated(self._file)(attribute) if callable(attribute) else attribute


def read_chunks(file: CorpusFile, skipped: Counter[str]) -> Chunks:
    """Yield the decompressed content in chunks, each with the bytes on disk read for it.

    Bytes outside the content are counted in `skipped`, all of them when the content
    ends. A CorpusError says why a file can't be opened, is truncated or corrupt; it names the path
    alone.
    """
    total = 0
    if is_small(file):
        yield from _unpack_small(file.path, read_small(file), skipped)
        return
    chunks = file.stream if file.stream is not None else _read_chunks(file, skipped)
    if packed_suffix(file.path):
        chunks = read_ahead(chunks)
    for chunk, consumed in chunks:
        total += consumed
        yield chunk, consumed
    _refuse_other_size(file, total)
    if file.stream is not None:
        skipped.update(file.stream_skipped)


def _refuse_other_size(file: CorpusFile, size: int) -> None:
    if file.size is not None and size != file.size:
        problem = f"the file is truncated or changed: {size} of {file.size} bytes came"
        raise CorpusError(file.path, problem)


def is_small(file: CorpusFile) -> bool:
    """Tell whether a file is local and small, so that it is read at once (there may be 100,000)."""
    is_local = file.stream is None and not is_remote(file.path)
    return is_local and file.size is not None and file.size <= _SMALL_BYTES


def read_small(file: CorpusFile) -> bytes:
    """Return the raw content of a small file; errors are the same as of `read_chunks`."""
    try:
        with open(file.path, "rb", buffering=0) as opened:
            content = opened.readall()
    except OSError as error:
        raise CorpusError(file.path, problem_of(error)) from error
    _refuse_other_size(file, len(content))
    return content


def _unpack_small(path: str, content: bytes, skipped: Counter[str]) -> Chunks:
    try:
        yield from unpacked(iter([content]), path, skipped)
    except CORRUPT as error:
        raise CorpusError(path, problem_of(error)) from error


def stream_chunks(path: str, skipped: Counter[str]) -> Chunks:
    """Yield the chunks of a pipe or standard input, as `read_chunks` does."""
    try:
        yield from unpacked(read_raw(path), path, skipped)
    except CORRUPT as error:
        raise CorpusError(name_of(path), problem_of(error)) from error


def _read_chunks(file: CorpusFile, skipped: Counter[str]) -> Generator[tuple[bytes, int]]:
    path = file.path
    with open_file(file) as stream:
        try:
            if _is_gzip(path, stream):
                yield from _gunzip(file, stream, skipped)
            else:
                raw = iter(partial(stream.read, _PLAIN_CHUNK_BYTES), b"")
                yield from unpacked(raw, path, skipped)
        except CORRUPT as error:
            raise CorpusError(path, problem_of(error)) from error


def _is_gzip(path: str, stream: BinaryIO) -> bool:
    """Tell whether a file just opened is gzip, by its first bytes, or else by its name."""
    if isinstance(stream, io.BufferedReader):
        return compression_of(path, stream.peek(HEAD_BYTES)[:HEAD_BYTES]) is GZIP
    return packed_suffix(path).lower() in GZIP.suffixes


def _gunzip(file: CorpusFile, stream: BinaryIO, skipped: Counter[str]) -> Chunks:
    """Decompress gzip with isal's reader, which is fast also for many small members.

    When it fails, it has discarded a part of the chunk. So the file is then read again, by a slower
    method that yields everything before the error, and recognises bytes after the last member.
    """
    position = yielded = 0
    try:
        with igzip.open(stream, "rb") as unzipped:  # type: ignore[no-untyped-call]
            while chunk := unzipped.read(_GZIP_CHUNK_BYTES):
                yield chunk, stream.tell() - position
                position, yielded = stream.tell(), yielded + len(chunk)
            yield b"", stream.tell() - position
            position = stream.tell()
        if not position:
            raise EOFError("it is empty")
    except CORRUPT:
        consumed_again = 0
        with open_file(file) as again:
            raw = iter(partial(again.read, _GZIP_CHUNK_BYTES), b"")
            for chunk, consumed in unpacked(raw, file.path, skipped):
                consumed_again += consumed
                yield chunk[yielded:], max(0, consumed_again - position)
                position, yielded = max(position, consumed_again), max(0, yielded - len(chunk))


def read_head(file: CorpusFile, length: int = 64) -> bytes:
    """Return the first bytes of a file, decompressed, after white space; empty for a pipe."""
    if file.stream is not None:
        return b""
    with closing(_read_chunks(file, Counter())) as chunks:
        return first_bytes(chunks, length)[0].lstrip()


def first_bytes(chunks: Chunks, length: int) -> tuple[bytes, Chunks]:
    """Return the first bytes of some chunks, at least as many as wanted, and all chunks.

    An error is raised in its place, after the chunks before it.
    """
    begun, head = [], b""
    try:
        while len(head) < length and (item := next(chunks, None)):
            begun.append(item)
            head += item[0]
    except CorpusError as error:
        chunks = _failing(error)
    return head, chain(begun, chunks)


def _failing(error: CorpusError) -> Chunks:
    """Raise an error in place of the first chunk."""
    raise error
    yield


class ChunkStream(io.RawIOBase):
    """Chunks as a file, for libraries that read from one."""

    def __init__(self, chunks: Iterator[tuple[bytes, int]]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._position = 0
        self.consumed = 0
        """Bytes of the file that were read."""
        self.tail = b""
        """The last bytes that were read, four at most."""

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def taken(self) -> int:
        """Return the bytes of the file that were read since the last call."""
        consumed, self.consumed = self.consumed, 0
        return consumed

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the current chunk goes."""
        while not self._rest:
            chunk, consumed = next(self._chunks, (None, 0))
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
            self.consumed += consumed
        amount = min(len(buffer), len(self._rest))
        buffer[:amount] = self._rest[:amount]
        self.tail = (self.tail + bytes(self._rest[max(0, amount - 4) : amount]))[-4:]
        self._rest = self._rest[amount:]
        self._position += amount
        return amount
