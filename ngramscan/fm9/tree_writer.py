"""Frequencies of bytes → the Huffman-shaped wavelet tree and how the format numbers it."""

from __future__ import annotations

import heapq
import struct
from dataclasses import dataclass
from functools import cached_property

NONE = 0xFFFF
"""Stands for a node that is not there."""

_NODE = struct.Struct("<QQHHH")


@dataclass(slots=True)
class Node:
    """A node, numbered breadth first; its children are numbers too."""

    frequency: int
    symbol: int
    """The byte of a leaf."""
    parent: int
    left: int = NONE
    right: int = NONE
    first_bit: int = 0
    """Where its bits begin; those of a leaf, which has none, would."""
    symbols: tuple[int, ...] = ()
    """All bytes below it."""

    @property
    def is_leaf(self) -> bool:
        """Tell whether it has no children."""
        return self.left == NONE


class Tree:
    """The wavelet tree of some frequencies.

    Parameters
    ----------
    frequencies : list of int
        Of the 256 bytes.
    """

    def __init__(self, frequencies: list[int]) -> None:
        self.nodes = _breadth_first(*_huffman(frequencies))
        self.n_bits = 0
        for node in self.nodes:
            node.first_bit = self.n_bits
            if not node.is_leaf:
                self.n_bits += node.frequency
        for node in reversed(self.nodes):
            node.symbols = (node.symbol,)
            if not node.is_leaf:
                node.symbols = self.nodes[node.left].symbols + self.nodes[node.right].symbols

    def levels(self) -> list[list[Node]]:
        """Return the inner nodes of each level, as they are numbered."""
        levels = [[self.nodes[0]]]
        while levels[-1]:
            inner = [node for node in levels[-1] if not node.is_leaf]
            levels[-1] = inner
            levels.append([self.nodes[n] for node in inner for n in (node.left, node.right)])
        return levels[:-1]

    @cached_property
    def _leaves(self) -> dict[int, int]:
        """The number of the leaf of each byte."""
        return {node.symbol: n for n, node in enumerate(self.nodes) if node.is_leaf}

    def to_bytes(self) -> bytes:
        """Return the fields `nodes`, `node`, `leaf_of` and `path` of the file."""
        leaf_of = [self._leaves.get(symbol, NONE) for symbol in range(256)]
        return b"".join(
            [
                struct.pack("<Q", len(self.nodes)),
                self._packed_nodes(),
                struct.pack("<256H", *leaf_of),
                struct.pack("<256Q", *self._paths()),
            ]
        )

    def _packed_nodes(self) -> bytes:
        packed, ones_before = [], 0
        for node in self.nodes:
            rank_or_symbol = node.symbol if node.is_leaf else ones_before
            packed.append(
                _NODE.pack(node.first_bit, rank_or_symbol, node.parent, node.left, node.right)
            )
            if not node.is_leaf:
                ones_before += self.nodes[node.right].frequency
        return b"".join(packed)

    def _paths(self) -> list[int]:
        """Return the code of each byte; for one that is absent, the last present one before it."""
        paths, last_present = [], 0
        for symbol in range(256):
            if symbol in self._leaves:
                paths.append(self._path(self._leaves[symbol]))
                last_present = symbol
            else:
                paths.append(last_present)
        return paths

    def _path(self, leaf: int) -> int:
        code, length, number = 0, 0, leaf
        while (parent := self.nodes[number].parent) != NONE:
            code = code << 1 | (self.nodes[parent].right == number)
            length, number = length + 1, parent
        return length << 56 | code


def _huffman(frequencies: list[int]) -> tuple[list[Node], int]:
    """Return nodes numbered as they are made, and which of them is the root."""
    made = [Node(count, byte, NONE) for byte, count in enumerate(frequencies) if count]
    heap = [(node.frequency, number) for number, node in enumerate(made)]
    heapq.heapify(heap)
    while len(heap) > 1:
        (rarest, left), (next_rarest, right) = heapq.heappop(heap), heapq.heappop(heap)
        made.append(Node(rarest + next_rarest, 0, NONE, left, right))
        heapq.heappush(heap, (rarest + next_rarest, len(made) - 1))
    return made, heap[0][1]


def _breadth_first(made: list[Node], root: int) -> list[Node]:
    nodes = [made[root]]
    for number, node in enumerate(nodes):  # grows meanwhile
        if not node.is_leaf:
            children = made[node.left], made[node.right]
            node.left, node.right = len(nodes), len(nodes) + 1
            for child in children:
                child.parent = number
                nodes.append(child)
    return nodes
