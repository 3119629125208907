"""Where the fields of an .fm9 file stand, and whether they can be what they claim.

Opening reads only lengths and the small tables at the end, a few kB: the large fields stay on disk
until a query asks for them. What is checked here is all that is needed so that no later read can
leave the file.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from ngramscan.errors import IndexFormatError

BLOCK = 127
"""Bits of one block of the compressed bit vector."""
SUPERBLOCK = 32
"""Blocks that share one pointer and one rank."""
SA_STEP = 32
"""Every so many ranks there is a position."""
ISA_STEP = 64
"""Every so many positions there is a rank."""
NONE = 0xFFFF
"""Instead of the number of a node."""
LONGEST = 1 << 48
"""Bytes of a text: more than any machine keeps, and few enough that no sum overflows."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a vector stands in the file."""

    offset: int
    """Of its payload, in bytes."""
    bits: int
    width: int
    """Bits of one entry."""

    @property
    def entries(self) -> int:
        """How many there are."""
        return self.bits // self.width


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the wavelet tree."""

    start: int
    """Of its bits in the bit vector."""
    value: int
    """Ones before `start`; of a leaf: its byte."""
    parent: int
    left: int
    right: int

    @property
    def is_leaf(self) -> bool:
        """Tell whether it stands for a byte."""
        return self.left == NONE


@dataclass(frozen=True, slots=True)
class Layout:
    """The header of an .fm9 file; names of fields are those of the format."""

    n: int
    sigma: int
    size: int
    """Bits of the wavelet tree."""
    ones: int
    """Of them."""
    bt: Field
    btnr: Field
    btnrp: Field
    rank: Field
    invert: Field
    nodes: tuple[Node, ...]
    sizes: tuple[int, ...]
    """Of each node: the bits it has, or as a leaf would have."""
    leaf_of: tuple[int, ...]
    codes: tuple[int, ...]
    """For each byte: the length of its code in the top 8 bits, and the code from its lowest bit."""
    sa: Field
    isa: Field
    comp2char: bytes
    c: tuple[int, ...]

    def occurrences(self, byte: int) -> int:
        """Return how often a byte occurs in the text."""
        number = self.comp2char.find(byte)
        return 0 if number < 0 else self.c[number + 1] - self.c[number]


def bits_for(value: int) -> int:
    """Return the bits that a value takes, at least one."""
    return max(1, value.bit_length())


def read_layout(data: memoryview, path: str) -> Layout:
    """Read the header of a file.

    Parameters
    ----------
    data : memoryview
        The whole file, as bytes; mapped, not read.
    path : str
        For messages.

    Raises
    ------
    IndexFormatError
        A field is not as the format has it.
    """
    return _Parser(data, path).parse()


class _Parser:
    def __init__(self, data: memoryview, path: str) -> None:
        self._data = data
        self._path = path
        self._at = 0

    def parse(self) -> Layout:
        n, sigma, size = (self._number(name) for name in ("n", "sigma", "rrr.size"))
        self._require("n", 2 <= n < LONGEST, f"{n}, a text has 2 to 2^48 bytes")
        self._require("sigma", 2 <= sigma <= 256, f"{sigma}, a text has 2 to 256 kinds of bytes")
        self._require("rrr.size", n <= size <= 56 * n, f"{size}, for a text of {n} bytes")
        bt, btnr, btnrp, rank, invert = self._bit_vector(size)
        ones = self._entry(rank, rank.entries - 1)
        self._require("rrr.rank", ones <= size, f"{ones} ones in {size} bits")
        self._width("rrr.rank", rank, bits_for(ones))
        nodes = self._nodes(2 * sigma - 1)
        leaf_of = self._table("leaf_of", "H")
        codes = self._table("path", "Q")
        sa, isa = self._samples(n)
        comp2char, c = self._alphabet(n, sigma)
        layout = Layout(
            *(n, sigma, size, ones, bt, btnr, btnrp, rank, invert, nodes, ()),
            *(leaf_of, codes, sa, isa, comp2char, c),
        )
        sizes = _Tree(layout, self._require).sizes()
        return Layout(
            *(n, sigma, size, ones, bt, btnr, btnrp, rank, invert, nodes, sizes),
            *(leaf_of, codes, sa, isa, comp2char, c),
        )

    def _bit_vector(self, size: int) -> tuple[Field, Field, Field, Field, Field]:
        blocks = size // BLOCK + 1
        superblocks = -(-blocks // SUPERBLOCK)
        bt = self._vector("rrr.bt", None, blocks)
        self._width("rrr.bt", bt, 7)
        btnr = self._vector("rrr.btnr", 1, None)
        fits = 64 <= btnr.bits <= max(64, 124 * blocks)
        self._require("rrr.btnr", fits, f"{btnr.bits} bits for {blocks} blocks")
        btnrp = self._vector("rrr.btnrp", None, superblocks)
        least = bits_for(btnr.bits)
        fits = btnrp.width == least or (btnr.bits == 64 and btnrp.width < least)
        self._require("rrr.btnrp", fits, f"{btnrp.width} bits wide, expected {least}")
        last = 1 if size % (BLOCK * SUPERBLOCK) else 0
        rank = self._vector("rrr.rank", None, superblocks + last)
        invert = self._vector("rrr.invert", 1, superblocks)
        return bt, btnr, btnrp, rank, invert

    def _nodes(self, expected: int) -> tuple[Node, ...]:
        count = self._number("nodes")
        self._require("nodes", count == expected, f"{count} nodes, expected {expected}")
        raw = self._take("node", 22 * count)
        return tuple(Node(*fields) for fields in struct.iter_unpack("<QQHHH", raw))

    def _samples(self, n: int) -> tuple[Field, Field]:
        sa = self._vector("sa_sample", None, -(-n // SA_STEP))
        self._width("sa_sample", sa, bits_for(n))
        isa = self._vector("isa_sample", None, (n - 1) // ISA_STEP + 1)
        self._width("isa_sample", isa, bits_for(n))
        return sa, isa

    def _alphabet(self, n: int, sigma: int) -> tuple[bytes, tuple[int, ...]]:
        char2comp = self._payload(self._vector("char2comp", 8, 256))
        comp2char = self._payload(self._vector("comp2char", 8, sigma))[:sigma]
        field = self._vector("C", 64, sigma + 1)
        c = struct.unpack(f"<{sigma + 1}Q", self._payload(field))
        self._require("comp2char", _increases(comp2char), "the bytes are not in order")
        numbers = bytearray(256)
        for number, byte in enumerate(comp2char):
            numbers[byte] = number
        self._require("char2comp", char2comp == bytes(numbers), "contradicts comp2char")
        self._require("C", _increases(c), "the counts do not increase")
        self._require("C", (c[0], c[-1]) == (0, n), f"from {c[0]} to {c[-1]}, expected 0 to {n}")
        (again,) = struct.unpack("<H", self._take("sigma16", 2))
        self._require("sigma16", again == sigma, f"{again}, but sigma is {sigma}")
        behind = len(self._data) - self._at
        self._require("end of file", behind == 0, f"{behind} bytes too many")
        return comp2char, c

    def _take(self, name: str, length: int) -> bytes:
        """Read small fields whole."""
        raw = bytes(self._data[self._at : self._at + length])
        self._require(name, len(raw) == length, "the file ends within it")
        self._at += length
        return raw

    def _number(self, name: str) -> int:
        return int.from_bytes(self._take(name, 8), "little")

    def _table(self, name: str, code: str) -> tuple[int, ...]:
        form = f"<256{code}"
        return struct.unpack(form, self._take(name, struct.calcsize(form)))

    def _vector(self, name: str, width: int | None, entries: int | None) -> Field:
        bits = self._number(name)
        if width is None:
            width = self._take(name, 1)[0]
            self._require(name, 1 <= width <= 64, f"{width} bits wide")
        if entries is not None:
            fits = bits == entries * width
            self._require(name, fits, f"{bits} bits, expected {entries} entries of {width}")
        length = -(-bits // 64) * 8
        self._require(name, length <= len(self._data) - self._at, "the file ends within it")
        field = Field(self._at, bits, width)
        self._at += length
        return field

    def _payload(self, field: Field) -> bytes:
        return bytes(self._data[field.offset : field.offset + -(-field.bits // 64) * 8])

    def _entry(self, field: Field, number: int) -> int:
        first = number * field.width
        stop = first + field.width
        raw = self._data[field.offset + first // 8 : field.offset + -(-stop // 8)]
        return int.from_bytes(raw, "little") >> first % 8 & ((1 << field.width) - 1)

    def _width(self, name: str, field: Field, expected: int) -> None:
        fits = field.width == expected
        self._require(name, fits, f"{field.width} bits wide, expected {expected}")

    def _require(self, name: str, holds: bool, problem: str) -> None:
        if not holds:
            raise IndexFormatError(self._path, f"field {name}: {problem}")


class _Require(Protocol):
    def __call__(self, name: str, holds: bool, problem: str) -> None: ...


class _Tree:
    """Whether the nodes are one tree that has the bytes of the text as its leaves."""

    def __init__(self, layout: Layout, require: _Require) -> None:
        self._layout = layout
        self._nodes = layout.nodes
        self._require = require

    def sizes(self) -> tuple[int, ...]:
        """Return the size of each node, as all that is known of them agrees."""
        self._check_links()
        self._check_codes()
        sizes = self._sizes()
        self._check_sums(sizes)
        return sizes

    def _check_links(self) -> None:
        """Check that each node but the root is the child of just its parent, which has a lower id.

        So there are no cycles, and all nodes hang on the root.
        """
        self._require("node", self._nodes[0].parent == NONE, "the root has a parent")
        seen: set[int] = set()
        for number, node in enumerate(self._nodes):
            if node.is_leaf:
                self._require("node", node.right == NONE, f"{number} has one child")
                continue
            for child in (node.left, node.right):
                fits = number < child < len(self._nodes) and child not in seen
                fits = fits and self._nodes[child].parent == number
                self._require("node", fits, f"{number} can't have {child} as its child")
                seen.add(child)
        fits = len(seen) == len(self._nodes) - 1
        self._require("node", fits, "some nodes hang on none")

    def _check_codes(self) -> None:
        """Check that a byte's leaf is where its code leads, and that no other byte has one."""
        present = self._layout.comp2char
        below = 0
        for byte, (leaf, code) in enumerate(
            zip(self._layout.leaf_of, self._layout.codes, strict=True)
        ):
            if byte not in present:
                self._require("leaf_of", leaf == NONE, f"byte {byte} is not in the text")
                fits = code == below
                self._require("path", fits, f"byte {byte} is not in the text, but has a code")
                continue
            below = byte
            fits = leaf < len(self._nodes) and self._nodes[leaf].is_leaf
            fits = fits and self._nodes[leaf].value == byte
            self._require("leaf_of", fits, f"byte {byte} has no leaf at {leaf}")
            self._require("path", code == self._code(leaf), f"byte {byte} has a wrong code")

    def _code(self, leaf: int) -> int:
        """Return the code of a leaf."""
        bits = length = 0
        node = leaf
        while node:
            parent = self._nodes[node].parent
            bits = bits << 1 | (self._nodes[parent].right == node)
            length += 1
            node = parent
        return bits | length << 56

    def _sizes(self) -> tuple[int, ...]:
        """Return sizes by where the next node starts, or by how often the byte occurs."""
        starts = [node.start for node in self._nodes] + [self._layout.size]
        self._require("node", starts[0] == 0, "the root does not start at bit 0")
        sizes = []
        for number, (node, (start, stop)) in enumerate(
            zip(self._nodes, pairwise(starts), strict=True)
        ):
            if node.is_leaf:
                self._require("node", start == stop, f"{number} is a leaf, but has bits")
                sizes.append(self._layout.occurrences(node.value))
            else:
                self._require("node", start < stop, f"{number} has no bits")
                sizes.append(stop - start)
        return tuple(sizes)

    def _check_sums(self, sizes: tuple[int, ...]) -> None:
        """Check that each node has as many bits as its children, and as many ones as the right."""
        self._require("node", sizes[0] == self._layout.n, "the root's bits are not n")
        ones = 0
        for number, node in enumerate(self._nodes):
            if node.is_leaf:
                continue
            fits = node.value == ones
            self._require("node", fits, f"{number} has {node.value} ones before it, not {ones}")
            fits = sizes[number] == sizes[node.left] + sizes[node.right]
            self._require("node", fits, f"{number} has more or less bits than its children")
            ones += sizes[node.right]
        fits = ones == self._layout.ones
        self._require("rrr.rank", fits, f"{self._layout.ones} ones, but the nodes have {ones}")


def _increases(values: Sequence[int]) -> bool:
    return all(low < high for low, high in pairwise(values))
