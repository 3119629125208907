"""Members of a zip file, read whole and checked; also those that are compressed by zstd.

The zipfile module of Python 3.11 to 3.13 lists members that are compressed by zstd but can't read
them. So only the list is taken from it. Of several members with one name the last one counts, as
it does for that module.
"""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from evalcore.log_files.decoding import too_long, unreadable
from ngramscan.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_ENCRYPTED = 0x1


def _inflate(data: bytes, most: int) -> bytes:
    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, most)


def _unpack(data: bytes, most: int) -> bytes:
    parts: list[bytes] = []
    while data and most > 0:
        frame = zstd.ZstdDecompressor()
        parts.append(frame.decompress(data, most))
        most -= len(parts[-1])
        data = frame.unused_data if frame.eof else b""
    return b"".join(parts)


_DECOMPRESS: Mapping[int, Callable[[bytes, int], bytes]] = {
    0: lambda data, _: data,
    8: _inflate,
    93: _unpack,
}
"""By the method's number in the zip format: data, and how much to make of it at most."""

_NO_ZIP_FILE = (
    zipfile.BadZipFile,
    NotImplementedError,  # a version of the format, or a feature, that the module does not know
    ValueError,
    struct.error,
    EOFError,
)


@dataclass(frozen=True, slots=True)
class Archive:
    """An open zip file."""

    path: Path
    file: BinaryIO
    members: Mapping[str, zipfile.ZipInfo]
    most: int
    """Bytes of a member."""

    def place(self, name: str) -> str:
        """Return how a member is named in messages."""
        return f"{self.path}:{name}"

    def read(self, name: str) -> bytes:
        """Return the content of a member.

        Raises
        ------
        InputError
            It is not there, or not whole, too long, or can't be decompressed.
        """
        member = self.members.get(name)
        if member is None:
            raise InputError(str(self.path), f"no member {name}; the file is not whole")
        if member.flag_bits & _ENCRYPTED or member.compress_type not in _DECOMPRESS:
            raise InputError(self.place(name), "encrypted, or compressed by an unknown method")
        if max(member.file_size, member.compress_size) > self.most:
            raise too_long(self.place(name), self.most)
        try:
            # One byte more than the list says is enough to see that it is wrong.
            compressed = self._compressed(name, member)
            content = _DECOMPRESS[member.compress_type](compressed, member.file_size + 1)
        except (zlib.error, zstd.ZstdError) as error:
            raise InputError(self.place(name), f"damaged ({error})") from error
        if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
            raise InputError(self.place(name), "damaged: its size or checksum is another")
        return content

    def _compressed(self, name: str, member: zipfile.ZipInfo) -> bytes:
        # The numbers may be damaged too, and as much memory as they say would be asked for.
        size = self.file.seek(0, io.SEEK_END)
        if not 0 <= member.header_offset <= size or member.compress_size > size:
            raise InputError(self.place(name), "damaged: the list has it outside of the file")
        self.file.seek(member.header_offset)
        header = self.file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(_LOCAL_MAGIC):
            raise InputError(self.place(name), "damaged: no member where the list says")
        # The extra field here may be longer than the one in the list.
        _, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
        self.file.seek(name_bytes + extra_bytes, io.SEEK_CUR)
        data = self.file.read(member.compress_size)
        if len(data) < member.compress_size:
            raise InputError(self.place(name), "cut: the file ends within it")
        return data


@contextmanager
def open_archive(path: Path, most: int) -> Iterator[Archive]:
    """Open a zip file with members of some length at most; raise an InputError where it is none."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from error
    with file:
        yield Archive(path, file, _members(path, file), most)


def _members(path: Path, file: BinaryIO) -> dict[str, zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(file) as listed:
            return {member.filename: member for member in listed.infolist()}
    except (*_NO_ZIP_FILE, OSError) as error:
        reason = " ".join(str(error).split())
        raise InputError(str(path), f"no zip file, or not a whole one ({reason})") from error
