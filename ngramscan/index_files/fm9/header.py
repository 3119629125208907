"""The header of an .fm9 file, and checks that its fields are consistent.

Opening a file reads only lengths and the small tables at its end, a few kB: the large fields stay
on disk until a query needs them. These checks ensure that no later read can leave the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.layout import (
    BLOCK,
    ISA_STEP,
    LONGEST,
    NONE,
    SA_STEP,
    SUPERBLOCK,
    FileLayout,
    HeaderField,
    TreeNode,
    bits_for,
)

Integers = NDArray[np.int64]
Numbers = NDArray[np.uint16]
Words = NDArray[np.uint64]
NODE = np.dtype({"names": TreeNode._fields, "formats": ["<u8", "<u8", "<u2", "<u2", "<u2"]})


def byte_tables(tree: NDArray[Any]) -> tuple[Numbers, Words]:
    """Return `leaf_of` and `codes`; the code of an absent byte is the last present byte before."""
    numbers = np.arange(len(tree))
    above = tree["parent"].astype(np.int64)
    above[0] = 0
    codes = (tree["right"][above] == numbers).astype(np.uint64)
    lengths = (numbers > 0).astype(np.uint64)
    while above.any():  # each round doubles the number of steps towards the root
        codes = codes[above] | codes << lengths[above]
        lengths, above = lengths + lengths[above], above[above]
    leaves = np.flatnonzero(tree["left"] == NONE)
    in_text = tree["value"][leaves].astype(np.int64)
    leaf_of = np.full(256, NONE, np.uint16)
    leaf_of[in_text] = leaves
    before = np.maximum.accumulate(np.where(leaf_of == NONE, 0, np.arange(256)))
    by_byte = before.astype(np.uint64)
    by_byte[in_text] = (lengths << np.uint64(56) | codes)[leaves]
    return leaf_of, by_byte


def read_layout(data: memoryview, path: str) -> FileLayout:
    """Read the header of a mapped file; an IndexFormatError names a field that is wrong."""
    return _HeaderParser(data, path).parse()


class _HeaderParser:
    def __init__(self, data: memoryview, path: str) -> None:
        self._data = data
        self._path = path
        self._at = 0

    def parse(self) -> FileLayout:
        n, sigma, size = (self._number(name) for name in ("n", "sigma", "rrr.size"))
        self._require("n", 2 <= n < LONGEST, f"{n}, a text has 2 to 2^48 bytes")
        self._require("sigma", 2 <= sigma <= 256, f"{sigma}, a text has 2 to 256 kinds of bytes")
        self._require("rrr.size", n <= size <= 56 * n, f"{size}, for a text of {n} bytes")
        bits = self._bit_vector(size)
        rank = bits[3]
        ones = self._entry(rank, rank.entries - 1)
        self._require("rrr.rank", ones <= size, f"{ones} ones in {size} bits")
        self._check_width("rrr.rank", rank, bits_for(ones))
        tree = self._tree(2 * sigma - 1)
        leaf_of = np.frombuffer(self._take("leaf_of", 512), "<u2")
        codes = np.frombuffer(self._take("path", 2048), "<u8")
        sa = self._vector("sa_sample", None, -(-n // SA_STEP))
        self._check_width("sa_sample", sa, bits_for(n))
        isa = self._vector("isa_sample", None, (n - 1) // ISA_STEP + 1)
        self._check_width("isa_sample", isa, bits_for(n))
        comp2char, c = self._alphabet(n, sigma)
        self._check_links(tree)
        leaf_of, codes = self._check_codes(tree, comp2char, leaf_of, codes)
        sizes = self._sizes(tree, leaf_of[[*comp2char]], np.diff(c), (n, size, ones))
        return FileLayout(
            *(n, size, ones, *bits, tree, leaf_of, codes, sa, isa, comp2char, c, sizes)
        )

    def _bit_vector(
        self, size: int
    ) -> tuple[HeaderField, HeaderField, HeaderField, HeaderField, HeaderField]:
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
        rank = self._vector("rrr.rank", None, superblocks + (size % (BLOCK * SUPERBLOCK) > 0))
        return bt, btnr, btnrp, rank, self._vector("rrr.invert", 1, superblocks)

    def _tree(self, expected: int) -> NDArray[Any]:
        count = self._number("nodes")
        self._require("nodes", count == expected, f"{count} nodes, expected {expected}")
        return np.frombuffer(self._take("node", NODE.itemsize * count), NODE)

    def _alphabet(self, n: int, sigma: int) -> tuple[bytes, NDArray[np.int64]]:
        char2comp = self._payload(self._vector("char2comp", 8, 256))
        comp2char = self._payload(self._vector("comp2char", 8, sigma))[:sigma]
        c = np.frombuffer(self._payload(self._vector("C", 64, sigma + 1)), "<u8")
        in_order = comp2char == bytes(sorted({*comp2char}))
        self._require("comp2char", in_order, "the bytes are not in order")
        numbers = bytearray(256)
        for number, byte in enumerate(comp2char):
            numbers[byte] = number
        self._require("char2comp", char2comp == numbers, "contradicts comp2char")
        self._require("C", bool((c[:-1] < c[1:]).all()), "the counts do not increase")
        self._require("C", (c[0], c[-1]) == (0, n), f"from {c[0]} to {c[-1]}, expected 0 to {n}")
        repeated = int.from_bytes(self._take("sigma16", 2), "little")
        self._require("sigma16", repeated == sigma, f"{repeated}, but sigma is {sigma}")
        extra_bytes = len(self._data) - self._at
        self._require("end of file", extra_bytes == 0, f"{extra_bytes} bytes too many")
        return comp2char, c.astype(np.int64)

    # The wavelet tree: its leaves are the bytes of the text

    def _check_links(self, tree: NDArray[Any]) -> None:
        """Check that each node but the root is a child of its parent only, which has a lower id.

        So there are no cycles, and all nodes are connected to the root.
        """
        parents, is_leaf = tree["parent"], tree["left"] == NONE
        self._require("node", parents[0] == NONE, "the root has a parent")
        is_wrong = is_leaf & (tree["right"] != NONE)
        self._refuse("node", is_wrong, lambda number: f"{number} has one child")
        inner = np.flatnonzero(~is_leaf)
        self._require("node", 2 * len(inner) == len(tree) - 1, "some nodes have no parent")
        children = np.stack((tree["left"], tree["right"]), axis=1)[inner]
        fits = (children > inner[:, None]) & (children < len(tree))
        fits &= parents[np.where(fits, children, 0)] == inner[:, None]
        fits[:, 1] &= children[:, 0] != children[:, 1]
        self._refuse(
            *("node", ~fits.ravel()),
            lambda at: f"{inner[at // 2]} can't have {children.ravel()[at]} as its child",
        )

    def _check_codes(
        self, tree: NDArray[Any], comp2char: bytes, leaf_of: Numbers, codes: Words
    ) -> tuple[Numbers, Words]:
        """Check that the code of each byte leads to its leaf, and that other bytes have none."""
        leaves = np.sort(tree["value"][tree["left"] == NONE])
        self._require("node", leaves.tolist() == [*comp2char], "the leaves are not the alphabet")
        known_leaves, known_codes = byte_tables(tree)

        def wrong(byte: int, problem: str) -> str:
            return f"byte {byte} {problem if byte in comp2char else 'is not in the text'}"

        self._refuse(
            *("leaf_of", leaf_of != known_leaves),
            lambda byte: wrong(byte, f"has no leaf at {leaf_of[byte]}"),
        )
        self._refuse("path", codes != known_codes, lambda byte: wrong(byte, "has a wrong code"))
        return known_leaves, known_codes

    def _sizes(
        self, tree: NDArray[Any], leaves: Numbers, counts: Integers, totals: tuple[int, int, int]
    ) -> Integers:
        """Return the size of each node, and check that all fields agree on it.

        A node ends where the next one starts; it has as many bits as both of its children, and as
        many ones as its right child has bits. `leaves` are those of the bytes with `counts`;
        `totals` are the bytes of the text, the bits of all nodes, and the ones among them.
        """
        n, bits, ones = totals
        self._refuse("node", tree["start"] > bits, lambda number: f"{number} starts after the end")
        starts = np.append(tree["start"].astype(np.int64), bits)
        self._require("node", starts[0] == 0, "the root does not start at bit 0")
        sizes, is_leaf = np.diff(starts), tree["left"] == NONE
        is_wrong = is_leaf & (sizes != 0)
        self._refuse("node", is_wrong, lambda number: f"{number} is a leaf, but has bits")
        self._refuse("node", ~is_leaf & (sizes <= 0), lambda number: f"{number} has no bits")
        sizes[leaves] = counts
        self._require("node", sizes[0] == n, "the root's bits are not n")
        inner = np.flatnonzero(~is_leaf)
        left_bits, right_bits = sizes[tree["left"][inner]], sizes[tree["right"][inner]]
        before, stated = np.cumsum(right_bits) - right_bits, tree["value"][inner]
        self._refuse(
            *("node", stated != before.astype(np.uint64)),
            lambda at: f"{inner[at]} has {stated[at]} ones before it, not {before[at]}",
        )
        problem = "has more or less bits than its children"
        self._refuse(
            "node", sizes[inner] != left_bits + right_bits, lambda at: f"{inner[at]} {problem}"
        )
        counted_ones = right_bits.sum()
        self._require(
            "rrr.rank", counted_ones == ones, f"{ones} ones, but the nodes have {counted_ones}"
        )
        return sizes

    def _take(self, name: str, length: int) -> bytes:
        raw = bytes(self._data[self._at : self._at + length])
        self._require(name, len(raw) == length, "the file ends within it")
        self._at += length
        return raw

    def _number(self, name: str) -> int:
        return int.from_bytes(self._take(name, 8), "little")

    def _vector(self, name: str, width: int | None, entries: int | None) -> HeaderField:
        """Skip a vector; without a `width` the file says how wide its entries are."""
        bits = self._number(name)
        if width is None:
            width = self._take(name, 1)[0]
            self._require(name, 1 <= width <= 64, f"{width} bits wide")
        if entries is not None:
            fits = bits == entries * width
            self._require(name, fits, f"{bits} bits, expected {entries} entries of {width}")
        field = HeaderField(self._at, bits, width)
        self._require(name, field.bytes <= len(self._data) - self._at, "the file ends within it")
        self._at += field.bytes
        return field

    def _payload(self, field: HeaderField) -> bytes:
        return bytes(self._data[field.offset : field.offset + field.bytes])

    def _entry(self, field: HeaderField, number: int) -> int:
        first = number * field.width
        at = field.offset + first // 8
        raw = self._data[at : at + 9]
        return int.from_bytes(raw, "little") >> first % 8 & ((1 << field.width) - 1)

    def _check_width(self, name: str, field: HeaderField, expected: int) -> None:
        fits = field.width == expected
        self._require(name, fits, f"{field.width} bits wide, expected {expected}")

    def _require(self, name: str, holds: bool, problem: str) -> None:
        if not holds:
            raise IndexFormatError(self._path, f"field {name}: {problem}")

    def _refuse(
        self, name: str, is_wrong: NDArray[np.bool_], problem: Callable[[int], str]
    ) -> None:
        """Refuse the file for the first entry that is wrong."""
        if is_wrong.any():
            raise IndexFormatError(self._path, f"field {name}: {problem(int(is_wrong.argmax()))}")
