"""A file as the compiled loops read it: its bytes and the offsets of its fields."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ngramscan.index_files.compiled import Bytes, Integers, Words
from ngramscan.index_files.fm9.layout import NONE, FileLayout

# Columns of Tables.at.
BT, BTNR, BTNRP, RANK, INVERT, SA, ISA = range(7)
BTNR_BITS, BTNRP_WIDTH, RANK_WIDTH, TEXT_WIDTH, ISA_ENTRIES = range(7, 12)
TEXT, BITS, ONES = range(12, 15)
# Columns of Tables.nodes.
START, BEFORE, LEFT, RIGHT, SIZE, FIRST, BYTE = range(7)


class TableParts(NamedTuple):
    """The parts of a file that are in memory: superblocks, and entries of `sa` and `isa`."""

    keys: Integers
    """The number of each part, times 8, plus the column of its field: BT, SA or ISA."""
    at: Integers
    """A row per part, like `Tables.at`, that says where its bytes are in `Tables.data`."""
    missing: Integers
    """The number of missing parts, and their keys: at most two in one step."""


class Tables(NamedTuple):
    """A file in the form that the kernels read."""

    data: Bytes
    """The whole file, mapped."""
    at: Integers
    """Offsets and widths."""
    nodes: Integers
    """A row per node; in a leaf, FIRST is the rank of its byte's first suffix, and LEFT is -1."""
    codes: Words
    """For each byte."""
    leaves: Integers
    """For each byte; -1 if it is not in the text."""
    lengths: Integers
    """Bits of each byte's code."""
    parts: TableParts | None = None
    """None if the whole file is in `data`."""


def make_tables(data: Bytes, layout: FileLayout) -> Tables:
    """Return the parts of a file that the kernels need."""
    at = [
        *(field.offset for field in (layout.bt, layout.btnr, layout.btnrp, layout.rank)),
        *(field.offset for field in (layout.invert, layout.sa, layout.isa)),
        *(layout.btnr.bits, layout.btnrp.width, layout.rank.width, layout.sa.width),
        *(layout.isa.entries, layout.n, layout.size, layout.ones),
    ]
    tree = layout.tree
    is_leaf = tree["left"] == NONE
    nodes = np.zeros((len(tree), 8), np.int64)
    nodes[:, START], nodes[:, SIZE] = tree["start"], layout.sizes
    nodes[:, BEFORE] = np.where(is_leaf, 0, tree["value"])
    nodes[:, LEFT], nodes[:, RIGHT] = tree["left"], tree["right"]
    nodes[is_leaf, LEFT:SIZE] = -1
    in_text = np.frombuffer(layout.comp2char, np.uint8)
    in_order = layout.leaf_of[in_text]
    nodes[in_order, FIRST], nodes[in_order, BYTE] = layout.c[:-1], in_text
    leaves = np.where(layout.leaf_of == NONE, -1, layout.leaf_of.astype(np.int64))
    lengths = (layout.codes >> np.uint64(56)).astype(np.int64)
    return Tables(data, np.array(at, np.int64), nodes, layout.codes, leaves, lengths)
