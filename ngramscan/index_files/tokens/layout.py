"""The widths that the sizes of a shard's files tell: no file names them."""

from __future__ import annotations

from typing import NamedTuple

from ngramscan.errors import IndexFormatError

WIDTHS = (1, 2, 4)
"""Bytes that a token can take."""


class SizedFile(NamedTuple):
    """A file of a shard."""

    where: str
    """Its path or address, for messages."""
    name: str
    bytes: int


class TokenLayout(NamedTuple):
    """The numbers of a shard that its sizes tell."""

    documents: int
    tokens: int
    """With separators."""
    width: int
    """Bytes of a token; 0 for a shard without documents, which fits any width."""
    pointer_bytes: int


def pointer_bytes_for(text_bytes: int) -> int:
    """Return the bytes of a pointer into a text, as many as the text's length needs."""
    return max(1, -(-(text_bytes - 1).bit_length() // 8))


def read_layout(text: SizedFile, table: SizedFile, offsets: SizedFile) -> TokenLayout:
    """Return the numbers of a shard; an IndexFormatError names a file that must be cut."""
    if offsets.bytes % 8:
        raise IndexFormatError(offsets.where, f"{offsets.bytes} bytes, expected a multiple of 8")
    documents, pointer = offsets.bytes // 8, pointer_bytes_for(text.bytes)
    if not text.bytes + table.bytes + documents:
        return TokenLayout(0, 0, 0, pointer)
    for width in WIDTHS if documents and text.bytes else ():
        if table.bytes * width == text.bytes * pointer:
            return TokenLayout(documents, text.bytes // width, width, pointer)
    expected = " or ".join(str(text.bytes * pointer // width) for width in WIDTHS)
    sizes = f"{text.name} has {text.bytes} bytes and {offsets.name} {documents} documents"
    problem = f"{table.bytes} bytes, but {sizes}: expected {expected}; one of them is cut"
    raise IndexFormatError(table.where, problem)
