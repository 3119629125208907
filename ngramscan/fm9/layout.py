"""The places of the fields in an .fm9 file, and checks that they are consistent.

Opening a file reads only lengths and the small tables at its end, a few kB: the large fields stay
on disk until a query needs them. These checks make sure that no later read can leave the file.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from ngramscan.errors import IndexFormatError

FILES = ("data.fm9", "data_offset", "meta.fm9", "meta_offset")
"""The files of a shard: its documents, their metadata, and the offsets of both."""
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
"""Ranks from one stored position to the next."""
ISA_STEP = 64
"""Positions from one stored rank to the next."""
NONE = 0xFFFF
"""Stands for a missing node."""
NODE = struct.Struct("<QQHHH")
LONGEST = 1 << 48
"""Bytes of a text: more than any machine holds, but few enough that no sum overflows."""


class Field(NamedTuple):
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


class Node(NamedTuple):
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
class Layout:
    """The header of an .fm9 file; the names of fields are those of the format."""

    n: int
    size: int
    """Bits of the wavelet tree."""
    ones: int
    """Number of bits that are set."""
    bt: Field
    btnr: Field
    btnrp: Field
    rank: Field
    invert: Field
    nodes: Sequence[Node]
    leaf_of: Sequence[int]
    codes: Sequence[int]
    """For each byte: the length of its code in the top 8 bits, and the code in the lowest ones."""
    sa: Field
    isa: Field
    comp2char: bytes
    c: Sequence[int]
    sizes: Sequence[int] = ()
    """Bits of each node; for a leaf: the number of its bytes."""

    def occurrences(self, byte: int) -> int:
        """Return the number of times that a byte occurs in the text."""
        number = self.comp2char.find(byte)
        return 0 if number < 0 else self.c[number + 1] - self.c[number]


def bits_for(value: int) -> int:
    """Return the number of bits of a value, at least one."""
    return max(1, value.bit_length())


def byte_tables(nodes: Sequence[Node]) -> tuple[list[int], list[int]]:
    """Return `leaf_of` and `codes`; the code of an absent byte is the last present byte before."""
    leaves = {node.value: number for number, node in enumerate(nodes) if node.is_leaf}
    codes, present = [], 0
    for byte in range(256):
        present = byte if byte in leaves else present
        codes.append(_code(nodes, leaves[byte]) if byte in leaves else present)
    return [leaves.get(byte, NONE) for byte in range(256)], codes


def _code(nodes: Sequence[Node], leaf: int) -> int:
    bits, length, number = 0, 0, leaf
    while number:
        parent = nodes[number].parent
        bits = bits << 1 | (nodes[parent].right == number)
        length, number = length + 1, parent
    return length << 56 | bits


def read_layout(data: memoryview, path: str) -> Layout:
    """Read the header of a mapped file; an IndexFormatError names a field that is wrong."""
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
        self._check_width("rrr.rank", rank, bits_for(ones))
        nodes = self._nodes(2 * sigma - 1)
        leaf_of = struct.unpack("<256H", self._take("leaf_of", 512))
        codes = struct.unpack("<256Q", self._take("path", 2048))
        sa = self._vector("sa_sample", None, -(-n // SA_STEP))
        self._check_width("sa_sample", sa, bits_for(n))
        isa = self._vector("isa_sample", None, (n - 1) // ISA_STEP + 1)
        self._check_width("isa_sample", isa, bits_for(n))
        bits = (bt, btnr, btnrp, rank, invert)
        alphabet = self._alphabet(n, sigma)
        layout = Layout(n, size, ones, *bits, nodes, leaf_of, codes, sa, isa, *alphabet)
        self._check_links(nodes)
        self._check_codes(layout)
        return replace(layout, sizes=self._sizes(layout))

    def _bit_vector(self, size: int) -> tuple[Field, Field, Field, Field, Field]:
        blocks = size // BLOCK + 1
        superblocks = -(-blocks // SUPERBLOCK)
        bt = self._vector("rrr.bt", None, blocks)
        self._check_width("rrr.bt", bt, 7)
        btnr = self._vector("rrr.btnr", 1, None)
        fits = 64 <= btnr.bits <= max(64, 124 * blocks)
        self._require("rrr.btnr", fits, f"{btnr.bits} bits for {blocks} blocks")
        btnrp = self._vector("rrr.btnrp", None, superblocks)
        least = bits_for(btnr.bits)
        if btnr.bits > 64 or btnrp.width > least:
            self._check_width("rrr.btnrp", btnrp, least)
        last = 1 if size % (BLOCK * SUPERBLOCK) else 0
        rank = self._vector("rrr.rank", None, superblocks + last)
        return bt, btnr, btnrp, rank, self._vector("rrr.invert", 1, superblocks)

    def _nodes(self, expected: int) -> list[Node]:
        count = self._number("nodes")
        self._require("nodes", count == expected, f"{count} nodes, expected {expected}")
        return [Node(*fields) for fields in NODE.iter_unpack(self._take("node", 22 * count))]

    def _alphabet(self, n: int, sigma: int) -> tuple[bytes, Sequence[int]]:
        char2comp = self._payload(self._vector("char2comp", 8, 256))
        comp2char = self._payload(self._vector("comp2char", 8, sigma))[:sigma]
        c = struct.unpack(f"<{sigma + 1}Q", self._payload(self._vector("C", 64, sigma + 1)))
        self._require("comp2char", _increases(comp2char), "the bytes are not in order")
        numbers = bytearray(256)
        for number, byte in enumerate(comp2char):
            numbers[byte] = number
        self._require("char2comp", char2comp == bytes(numbers), "contradicts comp2char")
        self._require("C", _increases(c), "the counts do not increase")
        self._require("C", (c[0], c[-1]) == (0, n), f"from {c[0]} to {c[-1]}, expected 0 to {n}")
        again = int.from_bytes(self._take("sigma16", 2), "little")
        self._require("sigma16", again == sigma, f"{again}, but sigma is {sigma}")
        behind = len(self._data) - self._at
        self._require("end of file", behind == 0, f"{behind} bytes too many")
        return comp2char, c

    # The wavelet tree: its leaves are the bytes of the text

    def _check_links(self, nodes: Sequence[Node]) -> None:
        """Check that each node but the root is a child of its parent only, which has a lower id.

        So there are no cycles, and all nodes are connected to the root.
        """
        self._require("node", nodes[0].parent == NONE, "the root has a parent")
        seen: set[int] = set()
        for number, node in enumerate(nodes):
            if node.is_leaf:
                self._require("node", node.right == NONE, f"{number} has one child")
                continue
            for child in (node.left, node.right):
                fits = number < child < len(nodes) and child not in seen
                fits = fits and nodes[child].parent == number
                self._require("node", fits, f"{number} can't have {child} as its child")
                seen.add(child)
        self._require("node", len(seen) == len(nodes) - 1, "some nodes have no parent")

    def _check_codes(self, layout: Layout) -> None:
        """Check that the code of each byte leads to its leaf, and that other bytes have none."""
        leaves, codes = byte_tables(layout.nodes)
        for byte in range(256):
            leaf, code = layout.leaf_of[byte], layout.codes[byte]
            if byte in layout.comp2char:
                fits = leaf == leaves[byte] != NONE
                self._require("leaf_of", fits, f"byte {byte} has no leaf at {leaf}")
                self._require("path", code == codes[byte], f"byte {byte} has a wrong code")
            else:
                self._require("leaf_of", leaf == NONE, f"byte {byte} is not in the text")
                problem = f"byte {byte} is not in the text, but has a code"
                self._require("path", code == codes[byte], problem)

    def _sizes(self, layout: Layout) -> list[int]:
        """Return the size of each node, and check that all fields agree on it.

        A node ends where the next one starts; it has as many bits as both of its children, and as
        many ones as its right child has bits.
        """
        nodes = layout.nodes
        starts = [node.start for node in nodes] + [layout.size]
        self._require("node", starts[0] == 0, "the root does not start at bit 0")
        sizes = [stop - start for start, stop in pairwise(starts)]
        for number, node in enumerate(nodes):
            if node.is_leaf:
                self._require("node", sizes[number] == 0, f"{number} is a leaf, but has bits")
                sizes[number] = layout.occurrences(node.value)
            else:
                self._require("node", sizes[number] > 0, f"{number} has no bits")
        self._require("node", sizes[0] == layout.n, "the root's bits are not n")
        ones = 0
        for number, node in enumerate(nodes):
            if node.is_leaf:
                continue
            fits = node.value == ones
            self._require("node", fits, f"{number} has {node.value} ones before it, not {ones}")
            fits = sizes[number] == sizes[node.left] + sizes[node.right]
            self._require("node", fits, f"{number} has more or less bits than its children")
            ones += sizes[node.right]
        fits = ones == layout.ones
        self._require("rrr.rank", fits, f"{layout.ones} ones, but the nodes have {ones}")
        return sizes

    def _take(self, name: str, length: int) -> bytes:
        raw = bytes(self._data[self._at : self._at + length])
        self._require(name, len(raw) == length, "the file ends within it")
        self._at += length
        return raw

    def _number(self, name: str) -> int:
        return int.from_bytes(self._take(name, 8), "little")

    def _vector(self, name: str, width: int | None, entries: int | None) -> Field:
        """Skip a vector; without a `width` the file says how wide its entries are."""
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
        raw = self._data[field.offset + first // 8 :][:9]
        return int.from_bytes(raw, "little") >> first % 8 & ((1 << field.width) - 1)

    def _check_width(self, name: str, field: Field, expected: int) -> None:
        fits = field.width == expected
        self._require(name, fits, f"{field.width} bits wide, expected {expected}")

    def _require(self, name: str, holds: bool, problem: str) -> None:
        if not holds:
            raise IndexFormatError(self._path, f"field {name}: {problem}")


def _increases(values: Sequence[int]) -> bool:
    return all(low < high for low, high in pairwise(values))
