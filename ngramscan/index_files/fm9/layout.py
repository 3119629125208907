"""The file format: its constants, and the places of the fields in an .fm9 file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ngramscan.index_files.formats import FM9_FILES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FILES = FM9_FILES
END = 0xFA
"""The last byte of a text. UTF-8 has neither this byte nor the next one."""
SEPARATOR = 0xFF
"""In front of each document."""
NEWLINE = 0x0A
"""After each line of metadata."""

BLOCK = 127
"""Bits per block of the compressed bit vector."""
SUPERBLOCK = 32
"""Blocks that share one pointer and one rank."""
SA_STEP = 32
"""Every this many ranks, the position is stored."""
ISA_STEP = 64
"""Every this many positions, the rank is stored."""
NONE = 0xFFFF
"""Stands for a missing node."""
LONGEST = 1 << 48
"""Maximum bytes of a text: more than any machine holds, few enough that no sum overflows."""


class HeaderField(NamedTuple):
    """The place of a vector in the file."""

    offset: int
    """Start of its payload, in bytes."""
    bits: int
    width: int
    """Bits of one entry."""

    @property
    def entries(self) -> int:
        """The number of entries."""
        return self.bits // self.width

    @property
    def bytes(self) -> int:
        """Length of its payload: whole words of 64 bits."""
        return -(-self.bits // 64) * 8


class TreeNode(NamedTuple):
    """A node of the wavelet tree, as in the file; nodes are numbered breadth first."""

    start: int
    """Start of its bits in the bit vector."""
    value: int
    """Number of ones before `start`; for a leaf: its byte."""
    parent: int
    left: int = NONE
    right: int = NONE

    @property
    def is_leaf(self) -> bool:
        """Whether it stands for a byte."""
        return self.left == NONE


@dataclass(frozen=True, slots=True)
class FileLayout:
    """The header of an .fm9 file; the names of fields are those of the format."""

    n: int
    size: int
    """Bits of the wavelet tree."""
    ones: int
    """Number of bits that are set."""
    bt: HeaderField
    btnr: HeaderField
    btnrp: HeaderField
    rank: HeaderField
    invert: HeaderField
    tree: NDArray[Any]
    """The nodes of the wavelet tree, as in the file."""
    leaf_of: NDArray[np.uint16]
    """The node of each byte."""
    codes: NDArray[np.uint64]
    """For each byte: the length of its code in the top 8 bits, and the code in the lowest ones."""
    sa: HeaderField
    isa: HeaderField
    comp2char: bytes
    c: NDArray[np.int64]
    sizes: NDArray[np.int64]
    """Bits of each node; for a leaf: the number of its bytes."""

    def occurrences(self, byte: int) -> int:
        """Return the number of times that a byte occurs in the text."""
        number = self.comp2char.find(byte)
        return 0 if number < 0 else int(self.c[number + 1] - self.c[number])


def bits_for(value: int) -> int:
    """Return the number of bits of a value, at least one."""
    return max(1, value.bit_length())
