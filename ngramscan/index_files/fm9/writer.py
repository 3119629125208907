"""A text → one `.fm9` file, byte for byte as the original tools write it.

Sorting takes the most memory. Then the BWT replaces the text; later there are the BWT twice, its
wavelet tree (its entropy, 0.6 bytes per byte of English), and the samples.
"""

from __future__ import annotations

import heapq
import os
import struct
import time
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pydivsufsort
from numpy.typing import NDArray

from ngramscan.index_files.fm9.header import NODE, byte_tables
from ngramscan.index_files.fm9.kernels import NUMBER_BITS
from ngramscan.index_files.fm9.layout import (
    BLOCK,
    ISA_STEP,
    NONE,
    SA_STEP,
    SUPERBLOCK,
    TreeNode,
    bits_for,
)
from ngramscan.index_files.fm9.writer_kernels import (
    append_numbers,
    count_blocks,
    count_bytes,
    pack,
    split_node,
    take_bwt,
)
from ngramscan.index_files.sorting import LONGEST_TEXT

_CHUNK = 1 << 20
_SHARES = (0.65, 0.1, 0.1)
"""Shares of sorting, of the BWT and of its bits in the whole time."""

_Buffer = bytes | memoryview
_Positions = NDArray[np.int32] | NDArray[np.int64]


def write_fm9(
    text: NDArray[np.uint8], path: Path, report: Callable[[int], None] = lambda _: None
) -> dict[str, float]:
    """Write the index of a text, synced to the disk; return the seconds of each step.

    The text ends with a byte that occurs nowhere else in it. It is overwritten, to save memory.
    `report` gets the number of bytes done, as a share of all steps. A MemoryError says that it
    needs more memory than there is (`sorting.memory_for`), a ValueError that it is empty, too long,
    or that its last byte is not unique.
    """
    frequencies = _frequencies(text)
    amounts = [round(len(text) * share) for share in _SHARES]
    started_at = time.perf_counter()
    suffixes: _Positions = pydivsufsort.divsufsort(text)
    report(amounts[0])
    sorted_at = time.perf_counter()
    samples = _replace_by_bwt(text, suffixes)
    del suffixes
    report(amounts[1])
    nodes, sizes = _huffman_tree(frequencies)
    bits, n_bits = _wavelet_bits(nodes, sizes, text)
    report(amounts[2])
    vector = encode_rrr(bits, n_bits)
    del bits
    encoded_at = time.perf_counter()
    with path.open("wb") as file:
        file.write(struct.pack("<QQ", len(text), sum(map(bool, frequencies))))
        file.writelines(vector)
        tree = np.array(nodes, NODE)
        file.write(struct.pack("<Q", len(tree)))
        file.writelines(table.tobytes() for table in (tree, *byte_tables(tree)))
        for ranks_or_positions in samples:
            file.writelines(_vector(ranks_or_positions, len(text).bit_length()))
        file.writelines(_alphabet(frequencies))
        file.flush()
        os.fsync(file.fileno())
    report(len(text) - sum(amounts))
    seconds = sorted_at - started_at, encoded_at - sorted_at, time.perf_counter() - encoded_at
    return dict(zip(("sorted", "encoded", "written"), seconds, strict=True))


def _frequencies(text: NDArray[np.uint8]) -> list[int]:
    if not 0 < len(text) <= LONGEST_TEXT:
        raise ValueError(f"expected a text of 1 to {LONGEST_TEXT} bytes, not {len(text)}")
    rows = np.zeros((2, 256), np.int64)
    count_bytes(text, rows)
    counts = [int(count) for count in rows.sum(axis=0)]
    if counts[text[-1]] != 1:
        raise ValueError("the last byte of the text is not unique")
    return counts


def _replace_by_bwt(text: NDArray[np.uint8], suffixes: _Positions) -> tuple[_Positions, _Positions]:
    """Return samples of the suffix array and of its inverse; overwrite both arrays.

    The BWT first goes to the part of the suffix array that has been read, since the text is needed
    to the end.
    """
    suffix_samples = suffixes[::SA_STEP].copy()
    rank_samples = np.zeros((len(text) - 1) // ISA_STEP + 1, suffixes.dtype)
    bwt_bytes = suffixes.view(np.uint8)
    for start in range(0, len(text), _CHUNK):
        run = suffixes[start : start + _CHUNK]
        bwt = np.empty(len(run), np.uint8)
        take_bwt(text, run, start, bwt, rank_samples)
        bwt_bytes[start : start + len(run)] = bwt
    text[:] = bwt_bytes[: len(text)]
    return suffix_samples, rank_samples


# The wavelet tree, shaped by a Huffman code


def _huffman_tree(frequencies: Sequence[int]) -> tuple[list[TreeNode], list[int]]:
    """Return nodes, numbered breadth first, and the number of symbols of each."""
    nodes_made = [(count, byte, NONE, NONE) for byte, count in enumerate(frequencies) if count]
    heap = [(size, number) for number, (size, *_) in enumerate(nodes_made)]
    heapq.heapify(heap)
    while len(heap) > 1:
        (rarest, left_child), (next_rarest, right_child) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (rarest + next_rarest, len(nodes_made)))
        nodes_made.append((rarest + next_rarest, 0, left_child, right_child))
    order, parents = [heap[0][1]], [NONE]
    nodes: list[TreeNode] = []
    start = ones = 0
    for number, in_made in enumerate(order):  # grows in the loop
        size, byte, left_child, right_child = nodes_made[in_made]
        if left_child == NONE:
            nodes.append(TreeNode(start, byte, parents[number]))
            continue
        nodes.append(TreeNode(start, ones, parents[number], len(order), len(order) + 1))
        order += [left_child, right_child]
        parents += [number, number]
        start += size
        ones += nodes_made[right_child][0]
    return nodes, [nodes_made[in_made][0] for in_made in order]


def _wavelet_bits(
    nodes: Sequence[TreeNode], sizes: Sequence[int], symbols: NDArray[np.uint8]
) -> tuple[NDArray[np.uint64], int]:
    """Return the bits of all nodes, and their number; overwrites the symbols."""
    below = [[node.value] if node.is_leaf else [] for node in nodes]
    for number in range(len(nodes) - 1, 0, -1):
        below[nodes[number].parent] += below[number]
    inner = [number for number, node in enumerate(nodes) if not node.is_leaf]
    n_bits = sum(sizes[number] for number in inner)
    bits = np.zeros(_words(n_bits) + 2, np.uint64)
    children = np.empty_like(symbols)
    level = inner[:1]
    while level:
        start = child_start = 0
        next_level = []
        for number in level:
            node, stop = nodes[number], start + sizes[number]
            goes_right = np.zeros(256, np.uint8)
            goes_right[below[node.right]] = 1
            # The symbols of a leaf all go to the very last place, over each other. Nothing else is
            # there: if a level has a leaf, the next level has fewer symbols.
            places = np.array([(len(symbols) - 1, 0)] * 2)
            for place, child in zip(places, (node.left, node.right), strict=True):
                if not nodes[child].is_leaf:
                    place[:] = child_start, 1
                    child_start += sizes[child]
                    next_level.append(child)
            split_node(symbols[start:stop], goes_right, bits, node.start, children, places)
            start = stop
        symbols, children, level = children, symbols, next_level
    return bits, n_bits


def _alphabet(frequencies: Sequence[int]) -> list[bytes]:
    """Return the fields `char2comp` to `sigma16`."""
    present = [byte for byte, count in enumerate(frequencies) if count]
    char2comp = bytearray(256)
    for number, byte in enumerate(present):
        char2comp[byte] = number
    before = 0, *accumulate(filter(None, frequencies))
    return [
        struct.pack("<Q", 8 * 256) + char2comp,
        struct.pack("<Q", 8 * len(present)) + bytes(present) + bytes(-len(present) % 8),
        struct.pack(f"<Q{len(before)}Q", 64 * len(before), *before),
        struct.pack("<H", len(present)),
    ]


# The compressed bit vector


def encode_rrr(bits: NDArray[np.uint64], n_bits: int) -> list[_Buffer]:
    """Return the fields `rrr.size` to `rrr.invert` of a bit vector.

    Its words have the lowest bit first, and at least two words of zeros after the last bit.
    """
    n_blocks = n_bits // BLOCK + 1
    ones = np.zeros(n_blocks, np.uint8)
    count_blocks(bits, ones[: -(-n_bits // BLOCK)])
    n_number_bits, pointers = _before(NUMBER_BITS, ones)
    n_ones, ranks = _before(np.arange(BLOCK + 1), ones)
    if n_bits % (BLOCK * SUPERBLOCK):
        ranks = np.append(ranks, n_ones)
    elif n_blocks % SUPERBLOCK == 1:
        pointers[-1] = 0  # it has only the empty block after the end
    stored_bits = max(n_number_bits, 64)
    numbers = np.zeros(_words(stored_bits) + 2, np.uint64)
    append_numbers(bits, ones, NUMBER_BITS, numbers)
    inverted = _invert(ones)
    return [
        struct.pack("<Q", n_bits),
        *_vector(ones, 7),
        struct.pack("<Q", stored_bits),
        numbers[:-2].data,
        *_vector(pointers, bits_for(n_number_bits)),
        *_vector(ranks, bits_for(int(ranks[-1]))),
        struct.pack("<Q", len(inverted)),
        _packed(inverted.astype(np.uint8), 1),
    ]


def _before(amounts: NDArray[np.int64], ones: NDArray[np.uint8]) -> tuple[int, NDArray[np.int64]]:
    """Return the sum of the blocks' amounts, by their ones, and the sum before each superblock."""
    starts = np.arange(0, len(ones), SUPERBLOCK)
    # A superblock of 32 blocks has less than 65,536.
    per_superblock = np.add.reduceat(amounts.astype(np.uint16)[ones], starts, dtype=np.int64)
    ends = np.cumsum(per_superblock)
    return int(ends[-1]), ends - per_superblock


def _invert(ones: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Complement the types of full superblocks that are mostly ones; return which they are."""
    n_whole = len(ones) // SUPERBLOCK
    whole_superblocks = ones[: n_whole * SUPERBLOCK].reshape(n_whole, SUPERBLOCK)
    inverted = np.zeros(-(-len(ones) // SUPERBLOCK), np.bool_)
    inverted[:n_whole] = (whole_superblocks > BLOCK // 2).sum(axis=1) > SUPERBLOCK // 2
    whole_superblocks[inverted[:n_whole]] = BLOCK - whole_superblocks[inverted[:n_whole]]
    return inverted


def _vector(values: NDArray[np.integer[Any]], width: int) -> tuple[_Buffer, _Buffer]:
    return struct.pack("<QB", len(values) * width, width), _packed(values, width)


def _packed(values: NDArray[np.integer[Any]], width: int) -> memoryview:
    words = np.zeros(_words(len(values) * width), np.uint64)
    pack(values, width, words)
    return words.data


def _words(bits: int) -> int:
    return -(-bits // 64)
