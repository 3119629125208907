"""The compressions: their names, suffixes, first bytes, decompressors and compressors.

The first bytes of an input say how to decompress it, whatever its name says: files get wrong names
on servers and by hand. A name that promises a compression which is not there is an error.
"""

from __future__ import annotations

import bz2
import lzma
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from isal import igzip_lib, isal_zlib

from ngramscan.errors import needs_extra

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# The stubs of isal do not say that its error is an exception.
CORRUPT: tuple[type[Exception], ...] = (
    igzip_lib.IsalError,  # type: ignore[assignment]
    zstd.ZstdError,
    lzma.LZMAError,
    EOFError,
    OSError,
)
"""Errors of decompressing and reading."""
HEAD_BYTES = 18
"""First bytes of an input: enough to recognise compressions and for the header of a zstd frame."""
USUAL_WINDOW_BYTES = 1 << 27
"""The window of zstd up to which its own tool decompresses without an option."""

_ZSTD_FRAME = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY = b"\x37\xa4\x30\xec"
_DICTIONARY_FRAME = b"\x5d\x2a\x4d\x18"
_SKIPPABLE_FRAMES = tuple(bytes([kind]) + b"\x2a\x4d\x18" for kind in range(0x50, 0x60))
_LONGEST_WINDOW_LOG = 31


class Member(Protocol):
    """Decompresses one member of an input, a part at a time."""

    @property
    def eof(self) -> bool:
        """Tell whether the member ended."""

    @property
    def needs_input(self) -> bool:
        """Tell whether there is nothing left to give before more data comes."""

    @property
    def unused_data(self) -> bytes:
        """Return the data after the end of the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Take data and return at most this many decompressed bytes."""


class Packer(Protocol):
    """Compresses one member, a part at a time; the same content gives the same bytes."""

    def compress(self, data: bytes, /) -> bytes:
        """Take data and return what is ready."""

    def flush(self) -> bytes:
        """Return what is left, with the end of the member."""


MemberOpener = Callable[[bytes], Member]
"""Returns a decompressor for the member that begins with some bytes."""


@dataclass(frozen=True)
class Compression:
    """One compression."""

    name: str
    suffixes: tuple[str, ...]
    starts: tuple[bytes, ...]
    """The beginnings that a member may have."""
    open_file: Callable[[str], MemberOpener]
    """Returns what opens the members of one input, given what messages call it."""
    new_packer: Callable[[], Packer]
    """Returns a compressor for a new member."""
    allows_trailing_bytes: bool = False
    """Whether its own tool ignores bytes after the last member, with a warning."""

    def begins(self, data: bytes) -> bool:
        """Tell whether a member begins with some bytes, which may be cut short."""
        return any(data.startswith(start) or start.startswith(data) for start in self.starts)


def _every_member(new_member: Callable[[], Member]) -> Callable[[str], MemberOpener]:
    """Return an opener for compressions in which all members are alike."""
    return lambda _where: lambda _start: new_member()


class _ZstdFrames:
    """Opens the frames of one file, which share a dictionary at its start.

    That is how crawlers compress WARC: https://iipc.github.io/warc-specifications/
    """

    def __init__(self) -> None:
        self._dictionary: zstd.ZstdDict | None = None

    def __call__(self, start: bytes) -> Member:
        if start.startswith(_DICTIONARY_FRAME) and self._dictionary is None:
            return _DictionaryFrame(self._keep)
        window: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _LONGEST_WINDOW_LOG}
        return zstd.ZstdDecompressor(zstd_dict=self._dictionary, options=window)

    def _keep(self, content: bytes) -> None:
        if content.startswith(_ZSTD_FRAME):
            content = zstd.decompress(content)
        if content.startswith(_ZSTD_DICTIONARY):  # else any program's own notes
            self._dictionary = zstd.ZstdDict(content)


class _DictionaryFrame:
    """A frame that holds a dictionary and no text."""

    _HEADER_BYTES = 8

    def __init__(self, keep: Callable[[bytes], None]) -> None:
        self.eof = False
        self.needs_input = True
        self.unused_data = b""
        self._keep = keep
        self._content = b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Take a part of the frame; it gives no text."""
        del max_length
        self._content += data
        length = int.from_bytes(self._content[4 : self._HEADER_BYTES], "little")
        end = self._HEADER_BYTES + length
        if len(self._content) >= max(end, self._HEADER_BYTES):
            self._keep(self._content[self._HEADER_BYTES : end])
            self.unused_data, self.eof = self._content[end:], True
        return b""


class _Lz4Frame:
    """A frame of LZ4, whose library has a general error for data that is damaged."""

    def __init__(self) -> None:
        import lz4.frame

        self._frame = lz4.frame.LZ4FrameDecompressor()

    @property
    def eof(self) -> bool:
        """Tell whether the frame ended."""
        return bool(self._frame.eof)

    @property
    def needs_input(self) -> bool:
        """Tell whether there is nothing left to give before more data comes."""
        return bool(self._frame.needs_input)

    @property
    def unused_data(self) -> bytes:
        """Return the data after the end of the frame."""
        return self._frame.unused_data or b""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Take data and return at most this many decompressed bytes."""
        try:
            return bytes(self._frame.decompress(data, max_length))
        except RuntimeError as error:
            raise OSError(str(error)) from error


def _open_lz4(where: str) -> MemberOpener:
    with needs_extra(where, "lz4"):
        _Lz4Frame()
    return lambda _start: _Lz4Frame()


class _Lz4Packer:
    """A frame of LZ4, whose library writes the header by another call."""

    def __init__(self) -> None:
        import lz4.frame

        self._compressor = lz4.frame.LZ4FrameCompressor(content_checksum=True)
        self._header = self._compressor.begin()

    def compress(self, data: bytes, /) -> bytes:
        """Take data and return what is ready."""
        header, self._header = self._header, b""
        return bytes(header + self._compressor.compress(data))

    def flush(self) -> bytes:
        """Return what is left, with the end of the frame."""
        header, self._header = self._header, b""
        return bytes(header + self._compressor.flush())


def _new_gzip_packer() -> Packer:
    """Return a compressor whose header has no time and no name, so that bytes are repeatable.

    It is about ten times as fast as `gzip` with its default level, for a tenth more bytes.
    """
    packer: Packer = isal_zlib.compressobj(level=3, wbits=16 + isal_zlib.MAX_WBITS)
    return packer


def _new_zstd_packer() -> Packer:
    return zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: 1})


GZIP = Compression(
    name="gzip",
    suffixes=(".gz",),
    starts=(b"\x1f\x8b",),
    open_file=_every_member(partial(igzip_lib.IgzipDecompressor, igzip_lib.DECOMP_GZIP)),
    new_packer=_new_gzip_packer,
    allows_trailing_bytes=True,
)
ZSTD = Compression(
    name="zstd",
    suffixes=(".zst", ".zstd"),
    starts=(_ZSTD_FRAME, *_SKIPPABLE_FRAMES),
    open_file=lambda _where: _ZstdFrames(),
    new_packer=_new_zstd_packer,
)
COMPRESSIONS = (
    GZIP,
    ZSTD,
    Compression(
        name="bzip2",
        suffixes=(".bz2",),
        starts=tuple(b"BZh%d1AY&SY" % level for level in range(1, 10))
        + tuple(b"BZh%d\x17\x72\x45\x38\x50\x90" % level for level in range(1, 10)),
        open_file=_every_member(bz2.BZ2Decompressor),
        new_packer=bz2.BZ2Compressor,
        allows_trailing_bytes=True,
    ),
    Compression(
        name="xz",
        suffixes=(".xz",),
        starts=(b"\xfd7zXZ\0",),
        open_file=_every_member(lzma.LZMADecompressor),
        new_packer=lzma.LZMACompressor,
    ),
    Compression(
        name="LZ4",
        suffixes=(".lz4",),
        starts=(b"\x04\x22\x4d\x18",),
        open_file=_open_lz4,
        new_packer=_Lz4Packer,
    ),
)
PACKED = tuple(suffix for compression in COMPRESSIONS for suffix in compression.suffixes)
"""Suffixes of compressed files, in small letters."""


def packed_suffix(path: object) -> str:
    """Return the suffix of a compression at the end of a path, as written; empty if none."""
    name = str(path)
    if not name.lower().endswith(PACKED):  # as most of many files
        return ""
    length = next(len(suffix) for suffix in PACKED if name.lower().endswith(suffix))
    return name[len(name) - length :]


def compression_of(path: object, head: bytes) -> Compression | None:
    """Return how an input is compressed, by the bytes that it begins with or else by its name.

    None if it is not compressed.
    """
    suffix = packed_suffix(path).lower()
    by_name = next(
        (compression for compression in COMPRESSIONS if suffix in compression.suffixes), None
    )
    if head and (by_name is None or not by_name.begins(head)):
        complete = (
            compression for compression in COMPRESSIONS if head.startswith(compression.starts)
        )
        if by_content := next(complete, None):
            return by_content
    return by_name


def window_bytes(head: bytes) -> int:
    """Return the window of the zstd frame at the start of some bytes; 0 if there is no window.

    The header is described in RFC 8878, section 3.1.1.1.
    """
    if not head.startswith(_ZSTD_FRAME) or len(head) < len(_ZSTD_FRAME) + 2:
        return 0
    descriptor, window = head[len(_ZSTD_FRAME)], head[len(_ZSTD_FRAME) + 1]
    is_single_segment = bool(
        descriptor & 0b10_0000
    )  # the window is the content, whose size is there
    if is_single_segment:
        return 0
    base = 1 << (10 + (window >> 3))
    return base + (base >> 3) * (window & 0b111)
