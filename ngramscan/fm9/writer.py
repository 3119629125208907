"""A text → one `.fm9` file, byte for byte as the original tools write it.

Memory, in bytes per byte of text: 5.2 at most, while the suffix array (4) is there: with the text
(1) and the samples (3/16). The BWT then takes the place of the text. Later there are the BWT and
what is made of it: twice the text, its wavelet tree (its entropy, 0.6 for English) and samples.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pydivsufsort
from numpy.typing import NDArray

from ngramscan.fm9.tree_writer import Node, Tree
from ngramscan.fm9.writer_kernels import (
    BLOCK_BITS,
    NUMBER_BITS,
    append_numbers,
    count_blocks,
    pack,
    split_node,
    take_bwt,
)

LONGEST_TEXT = (1 << 31) - 1
"""Positions are 32 bits while they are sorted."""

MEMORY_PER_BYTE = 5.2

SUFFIX_SAMPLING = 32
RANK_SAMPLING = 64

_SUPERBLOCK = 32
_CHUNK = 1 << 20
# What the steps of a text take of its time.
_SORTED, _SAMPLED, _SPLIT = 0.65, 0.1, 0.1


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, and the seconds of each step."""

    size_bytes: int
    sorting_s: float
    encoding_s: float
    writing_s: float

    @property
    def seconds(self) -> float:
        """Return those of all steps."""
        return self.sorting_s + self.encoding_s + self.writing_s


def write_fm9(
    text: NDArray[np.uint8], path: Path, report: Callable[[int], None] = lambda _: None
) -> Written:
    """Write the index of a text.

    Parameters
    ----------
    text : array of uint8
        Ends with a byte that is nowhere else in it. Is overwritten: for no second one there is
        memory.
    path : Path
        The file; it is on the disk, not only on its way there, on return.
    report : callable
        Told how many bytes of the text are done, as a share of all steps.

    Raises
    ------
    MemoryError
        There is less than the text needs: `MEMORY_PER_BYTE`.
    ValueError
        The text is empty, too long, or its last byte is not unique.
    OSError
        The file can't be written.
    """
    frequencies = _frequencies(text)
    done = _Steps(len(text), report)
    started_at = time.perf_counter()
    suffixes: NDArray[np.int32] = pydivsufsort.divsufsort(text)
    done.until(_SORTED)
    sorted_at = time.perf_counter()
    suffix_samples, rank_samples = _replace_by_bwt(text, suffixes)
    del suffixes
    done.until(_SORTED + _SAMPLED)
    tree = Tree(frequencies)
    bits = _wavelet_bits(tree, text)
    done.until(_SORTED + _SAMPLED + _SPLIT)
    vector = encode_rrr(bits, tree.n_bits)
    del bits
    encoded_at = time.perf_counter()
    width = len(text).bit_length()
    with path.open("wb") as file:
        file.write(struct.pack("<QQ", len(text), sum(map(bool, frequencies))))
        vector.write(file)
        file.write(tree.to_bytes())
        _write_values(file, suffix_samples, width)
        _write_values(file, rank_samples, width)
        file.write(_alphabet(frequencies))
        size_bytes = file.tell()
        file.flush()
        os.fsync(file.fileno())
    done.until(1)
    seconds = (sorted_at - started_at, encoded_at - sorted_at, time.perf_counter() - encoded_at)
    return Written(size_bytes, *seconds)


class _Steps:
    """Reports the share of a text that is done."""

    def __init__(self, amount: int, report: Callable[[int], None]) -> None:
        self._amount = amount
        self._report = report
        self._reported = 0

    def until(self, share: float) -> None:
        now = round(self._amount * share)
        self._report(now - self._reported)
        self._reported = now


def _frequencies(text: NDArray[np.uint8]) -> list[int]:
    if not 0 < len(text) <= LONGEST_TEXT:
        raise ValueError(f"a text of 1 to {LONGEST_TEXT} bytes was expected, not {len(text)}")
    counts = np.zeros(256, np.int64)
    for start in range(0, len(text), _CHUNK):  # bincount makes eight bytes of each
        counts += np.bincount(text[start : start + _CHUNK], minlength=256)
    if counts[text[-1]] != 1:
        raise ValueError("the last byte of the text is not unique")
    return [int(count) for count in counts]


def _replace_by_bwt(
    text: NDArray[np.uint8], suffixes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return samples of the suffix array and of its inverse; overwrite both arrays.

    The BWT is first put where the suffix array has been read already, since the text is needed to
    the end.
    """
    suffix_samples = suffixes[::SUFFIX_SAMPLING].copy()
    rank_samples = np.zeros((len(text) - 1) // RANK_SAMPLING + 1, np.int32)
    read = suffixes.view(np.uint8)
    for start in range(0, len(text), _CHUNK):
        run = suffixes[start : start + _CHUNK]
        bwt = np.empty(len(run), np.uint8)
        take_bwt(text, run, start, bwt, rank_samples)
        read[start : start + len(run)] = bwt
    text[:] = read[: len(text)]
    return suffix_samples, rank_samples


def _wavelet_bits(tree: Tree, symbols: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the bits of all nodes; overwrites the symbols."""
    bits = np.zeros(_words(tree.n_bits) + 2, np.uint64)
    children = np.empty_like(symbols)
    for level in tree.levels():
        start, child_start = 0, 0
        for node in level:
            places, child_stop = _places(tree, node, child_start, len(symbols))
            split_node(
                symbols[start : start + node.frequency],
                _goes_right(tree, node),
                bits,
                node.first_bit,
                children,
                places,
            )
            start, child_start = start + node.frequency, child_stop
        symbols, children = children, symbols
    return bits


def _places(tree: Tree, node: Node, start: int, size: int) -> tuple[NDArray[np.int64], int]:
    """Return where the symbols of the children of a node go, and where they end.

    Those of a leaf go to the last place of all, over each other. Nothing else is there: where a
    level has a leaf, the next has fewer symbols.
    """
    places = []
    for number in (node.left, node.right):
        child = tree.nodes[number]
        places.append((size - 1, 0) if child.is_leaf else (start, 1))
        start += 0 if child.is_leaf else child.frequency
    return np.array(places, np.int64), start


def _goes_right(tree: Tree, node: Node) -> NDArray[np.uint8]:
    goes_right = np.zeros(256, np.uint8)
    goes_right[list(tree.nodes[node.right].symbols)] = 1
    return goes_right


def _alphabet(frequencies: list[int]) -> bytes:
    """Return the fields `char2comp` to `sigma16`."""
    present = [byte for byte, count in enumerate(frequencies) if count]
    char2comp = bytearray(256)
    before = [0]
    for number, byte in enumerate(present):
        char2comp[byte] = number
        before.append(before[-1] + frequencies[byte])
    comp2char = bytes(present) + bytes(-len(present) % 8)
    return b"".join(
        [
            struct.pack("<Q", 8 * 256) + char2comp,
            struct.pack("<Q", 8 * len(present)) + comp2char,
            struct.pack(f"<Q{len(before)}Q", 64 * len(before), *before),
            struct.pack("<H", len(present)),
        ]
    )


# RRR


@dataclass(frozen=True, slots=True)
class RrrVector:
    """A bit vector in blocks, as it is stored."""

    n_bits: int
    types: NDArray[np.uint8]
    numbers: NDArray[np.uint64]
    """Words."""
    n_number_bits: int
    pointers: NDArray[np.int64]
    ranks: NDArray[np.int64]
    inverted: NDArray[np.bool_]

    def write(self, file: BinaryIO) -> None:
        """Write the fields `rrr.size` to `rrr.invert`."""
        file.write(struct.pack("<Q", self.n_bits))
        _write_values(file, self.types, 7)
        stored_bits = max(self.n_number_bits, 64)
        file.write(struct.pack("<Q", stored_bits))
        file.write(self.numbers[: _words(stored_bits)].data)
        _write_values(file, self.pointers, _bits_for(self.n_number_bits))
        _write_values(file, self.ranks, _bits_for(int(self.ranks[-1])))
        file.write(struct.pack("<Q", len(self.inverted)))
        file.write(_packed(self.inverted.astype(np.uint8), 1).data)


def encode_rrr(bits: NDArray[np.uint64], n_bits: int) -> RrrVector:
    """Encode a bit vector.

    Parameters
    ----------
    bits : array of uint64
        Lowest bit first; zeros behind the last bit, at least two words of them.
    n_bits : int
        How many bits.
    """
    n_blocks = n_bits // BLOCK_BITS + 1
    ones = np.zeros(n_blocks, np.uint8)
    count_blocks(bits, ones[: -(-n_bits // BLOCK_BITS)])
    n_number_bits, pointers = _before(NUMBER_BITS, ones)
    n_ones, ranks = _before(np.arange(BLOCK_BITS + 1), ones)
    if n_bits % (BLOCK_BITS * _SUPERBLOCK):
        ranks = np.append(ranks, n_ones)
    elif n_blocks % _SUPERBLOCK == 1:
        pointers[-1] = 0  # there is only the empty block behind the end
    numbers = np.zeros(_words(max(n_number_bits, 64)) + 2, np.uint64)
    append_numbers(bits, ones, NUMBER_BITS, numbers)
    inverted = _invert(ones)
    return RrrVector(n_bits, ones, numbers, n_number_bits, pointers, ranks, inverted)


def _before(amounts: NDArray[np.int64], ones: NDArray[np.uint8]) -> tuple[int, NDArray[np.int64]]:
    """Return the sum of what blocks with so many ones have, and that before each superblock."""
    starts = np.arange(0, len(ones), _SUPERBLOCK)
    # A superblock of 32 blocks has less than 65,536.
    per_superblock = np.add.reduceat(amounts.astype(np.uint16)[ones], starts, dtype=np.int64)
    ends = np.cumsum(per_superblock)
    return int(ends[-1]), ends - per_superblock


def _invert(ones: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Complement the types of whole superblocks that are mostly ones; return which they are."""
    n_whole = len(ones) // _SUPERBLOCK
    whole = ones[: n_whole * _SUPERBLOCK].reshape(n_whole, _SUPERBLOCK)
    inverted = np.zeros(-(-len(ones) // _SUPERBLOCK), np.bool_)
    inverted[:n_whole] = (whole > BLOCK_BITS // 2).sum(axis=1) > _SUPERBLOCK // 2
    whole[inverted[:n_whole]] = BLOCK_BITS - whole[inverted[:n_whole]]
    return inverted


def _write_values(file: BinaryIO, values: NDArray[np.integer[Any]], width: int) -> None:
    file.write(struct.pack("<QB", len(values) * width, width))
    file.write(_packed(values, width).data)


def _packed(values: NDArray[np.integer[Any]], width: int) -> NDArray[np.uint64]:
    words = np.zeros(_words(len(values) * width), np.uint64)
    pack(values, width, words)
    return words


def _words(bits: int) -> int:
    return -(-bits // 64)


def _bits_for(number: int) -> int:
    return max(1, number.bit_length())
