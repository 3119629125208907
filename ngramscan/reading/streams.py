"""Named inputs as bytes: files, pipes and standard input, decompressed as their first bytes say.

Truncated data must not look like short data, so an end inside a compressed member is an error.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import Any

from ngramscan.errors import InputError, nearest, reason_of, some_of
from ngramscan.messages import Text, Wording
from ngramscan.reading.compressions import (
    CORRUPT,
    HEAD_BYTES,
    Compression,
    Member,
    compression_of,
    packed_suffix,
)
from ngramscan.reading.versions import unchanged_while_read

Chunks = Iterator[tuple[bytes, int]]
"""Chunks of decompressed bytes, each with the number of raw bytes that were read for it."""
_STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
STANDARD_INPUT = Path("/dev/stdin")
"""Where the system shows what standard input is: a pipe, or a file."""
_READ_BYTES = 1 << 16
_YIELD_BYTES = 1_000_000  # some members grow thirty thousandfold
_OPEN_PIPES = ("/dev/", "/proc/")  # as shells make them for <(…), with a program at the other end
_WRITER_WAIT_S = 30.0
_LOOK_EVERY_S = 0.02
_taken: list[object] = []  # the standard input that is being read already


MAX_BYTES: ContextVar[int] = ContextVar("MAX_BYTES", default=2_000_000_000)
"""Bytes that an input which is read whole may have, decompressed; `--max-bytes` sets it."""


def is_stream(path: object) -> bool:
    """Tell whether a path is `-`, a pipe or a device: it can be read once, from its start."""
    try:
        mode = 0 if str(path) in _STANDARD_INPUT else os.stat(str(path)).st_mode
    except (OSError, ValueError):
        return False
    return not mode or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def names_standard_input(path: object) -> bool:
    """Tell whether a path is `-`, or another name of standard input."""
    return str(path) in _STANDARD_INPUT


def name_of(path: object) -> str:
    """Return the name of an input in messages."""
    return "standard input" if names_standard_input(path) else str(path)


def unpacked_path(path: object) -> Path:
    """Return a path without the suffix of its compression."""
    return Path(str(path).removesuffix(packed_suffix(path)))


def missing(path: Path, expected: str) -> str:
    """Return a "no such file" message, with a suggestion or what is expected."""
    near = nearest(
        path.name, sorted({neighbour.name for neighbour in path.parent.glob("*")} - {path.name})
    )
    cure = f"did you mean {path.with_name(near)}?" if near else f"expected {expected}"
    return f"no such file or folder; {cure}"


def is_within(path: object, folder: object) -> bool:
    """Tell whether a path, with its links resolved, is in a folder."""
    return Path(os.path.realpath(str(path))).is_relative_to(os.path.realpath(str(folder)))


def refuse_impossible(path: object) -> None:
    """Raise an InputError for a path that no system takes, as it is too long or has a NUL."""
    name = str(path)
    try:
        os.stat(name)
    except ValueError as error:  # which is how Python refuses it
        cause = "a NUL character" if "\0" in name else "half of a character"
        problem = f"it has {cause}, which no file's name can have"
        raise InputError(some_of([name]), problem) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            problem = "too long for the name of a file; expected the path of one"
            raise InputError(some_of([name]), problem) from error


def read_bytes(path: object) -> bytes:
    """Return the decompressed content of a file or pipe, or raise InputError."""
    try:
        return whole((chunk for chunk, _ in unpacked(read_raw(path), path)), path)
    except CORRUPT as error:
        raise InputError(name_of(path), problem_of(error)) from error


def whole(chunks: Iterable[bytes], path: object, most: int | None = None) -> bytes:
    """Return chunks as one; an InputError says that they are more than `most` or MAX_BYTES."""
    most = MAX_BYTES.get() if most is None else most
    collected, size = [], 0
    for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise InputError(name_of(path), too_long(most))
        collected.append(chunk)
    return b"".join(collected)


def too_long(most: int) -> Text:
    """Return the message for an input that is too long."""
    cure = Wording(terminal="; --max-bytes N takes more", python="")
    return f"more than {most:,} bytes, decompressed" + cure


def read_raw(path: object) -> Iterator[bytes]:
    """Yield the bytes of an input as they are."""
    if str(path) not in _STANDARD_INPUT:
        refuse_impossible(path)
        if _is_named_pipe(str(path)):
            yield from _read_named_pipe(str(path))
            return
        with Path(str(path)).open("rb") as file, unchanged_while_read(file, path):
            while chunk := file.read(_READ_BYTES):
                yield chunk
        return
    problem = "it is closed" if sys.stdin is None else ""
    if not problem and sys.stdin.isatty():
        problem = "expected a pipe or file, not a terminal: cat FILE | ngramscan …"
    if not problem and sys.stdin in _taken:
        problem = "two inputs are `-`, but it can be read only once"
    if problem:
        raise InputError(name_of(path), problem)
    _taken[:] = [sys.stdin]
    while chunk := sys.stdin.buffer.read(_READ_BYTES):
        yield chunk


def _is_named_pipe(path: str) -> bool:
    """Tell whether opening a path would wait for a program that writes to it."""
    return not path.startswith(_OPEN_PIPES) and stat.S_ISFIFO(os.stat(path).st_mode)


def _read_named_pipe(path: str) -> Iterator[bytes]:
    """Yield the bytes of a named pipe; an InputError says that no program writes to it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        give_up_at = time.monotonic() + _WRITER_WAIT_S
        # Nothing: no program has it open. None: one has, and may take its time.
        while (chunk := file.read(_READ_BYTES)) == b"":
            if time.monotonic() > give_up_at:
                problem = f"no program wrote to this pipe in {_WRITER_WAIT_S:g} seconds"
                raise InputError(path, f"{problem}; start that one first")
            time.sleep(_LOOK_EVERY_S)
        os.set_blocking(descriptor, True)
        if chunk:
            yield chunk
        while chunk := file.read(_READ_BYTES):
            yield chunk


class _UnpackedFile(io.RawIOBase):
    """Decompressed chunks of an input as a file that is read from its start."""

    def __init__(self, path: object) -> None:
        self._path = path
        self._chunks = unpacked(read_raw(path), path)
        self._rest = b""

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of a buffer and return its length; 0 at the end."""
        try:
            while not self._rest:
                self._rest, _ = next(self._chunks)
        except StopIteration:
            return 0
        except CORRUPT as error:
            raise InputError(name_of(self._path), problem_of(error)) from error
        length = min(len(buffer), len(self._rest))
        buffer[:length] = self._rest[:length]
        self._rest = self._rest[length:]
        return length


def open_unpacked(path: object) -> io.BufferedReader:
    """Open an input to read its decompressed bytes, or only some of them."""
    return io.BufferedReader(_UnpackedFile(path), _READ_BYTES)


def unpacked(raw: Iterator[bytes], path: object, skipped: Counter[str] | None = None) -> Chunks:
    """Yield decompressed chunks.

    The first bytes decide how to decompress; a suffix that names another compression is an error.
    Corrupt and truncated data raise one of `CORRUPT`, after everything before them was yielded.
    Bytes after compressed data that its own tool ignores are counted in `skipped`; without
    `skipped` they are an error.
    """
    first_chunks = [next(raw, b"")]
    while len(head := b"".join(first_chunks)) < HEAD_BYTES and (chunk := next(raw, b"")):
        first_chunks.append(chunk)
    raw = chain([head], raw)
    compression = compression_of(path, head[:HEAD_BYTES])
    if compression is None:
        return ((chunk, len(chunk)) for chunk in raw)
    return _Unpacker(compression, name_of(path), skipped).chunks(raw)


class _Unpacker:
    """Decompresses an input member by member, a part of each at a time."""

    def __init__(self, compression: Compression, where: str, skipped: Counter[str] | None) -> None:
        self._compression = compression
        self._open_member = compression.open_file(where)
        self._skipped = skipped
        self._member: Member | None = None
        self._has_ended_one = False
        self._is_trailing = False

    def chunks(self, raw: Iterator[bytes]) -> Chunks:
        """Yield decompressed chunks."""
        head = next(raw)
        self._refuse_other(head)
        for data in chain([head], raw):
            consumed = len(data)
            for chunk in self._decompress(data):
                yield chunk, consumed
                consumed = 0
            if consumed:
                yield b"", consumed
            if self._is_trailing:
                break
        for data in raw:
            self._count_trailing(data)
            yield b"", len(data)
        if self._member is not None:
            raise EOFError("its compressed data ends too early")

    def _refuse_other(self, head: bytes) -> None:
        """Raise an error for an input whose name names another compression."""
        if not head:
            raise EOFError("it is empty")
        if not self._compression.begins(head[:HEAD_BYTES]):
            raise OSError(f"it is not {self._compression.name}, whatever its name says; rename it")

    def _decompress(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed content of some data."""
        while data:
            if self._member is None:
                data = data.lstrip(b"\0")  # padding behind a member, as tapes leave it
                if not data:
                    return
                if self._begins_trailing_bytes(data):
                    self._is_trailing = True
                    self._count_trailing(data)
                    return
                self._member = self._open_member(data)
            member = self._member
            yield member.decompress(data, _YIELD_BYTES)
            while not (member.eof or member.needs_input):
                yield member.decompress(b"", _YIELD_BYTES)
            if not member.eof:
                return
            data, self._member, self._has_ended_one = member.unused_data, None, True

    def _begins_trailing_bytes(self, data: bytes) -> bool:
        may_trail = self._has_ended_one and self._compression.allows_trailing_bytes
        return self._skipped is not None and may_trail and not self._compression.begins(data)

    def _count_trailing(self, data: bytes) -> None:
        assert self._skipped is not None
        self._skipped[f"bytes behind the end of {self._compression.name} data"] += len(data)


def problem_of(error: Exception) -> str:
    """Return the message for an input that can't be read to its end."""
    if isinstance(error, EOFError):
        return f"the file is truncated: {reason_of(error)}"
    return f"can't be read ({reason_of(error)})"
