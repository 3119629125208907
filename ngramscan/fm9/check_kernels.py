"""The inner loops of a full check, compiled.

Not kept on disk: a cache would not see that the functions of `kernels` that are part of them have
changed. A full check takes longer than compiling.
"""

from __future__ import annotations

import numba
import numpy as np

from ngramscan.fm9 import kernels as k
from ngramscan.fm9.kernels import Bytes, Int, Tables
from ngramscan.fm9.layout import BLOCK, ISA_STEP, SA_STEP, SUPERBLOCK

SOUND, WRONG_POINTER, WRONG_RANK, WRONG_INVERT, WRONG_NUMBER, WRONG_STEP, WRONG_SA, WRONG_ISA = (
    range(8)
)


def _superblocks(  # noqa: C901, PLR0911, PLR0912 - compiled; each check leaves its one loop
    t: Tables, first: Int, last: Int
) -> tuple[Int, Int, Int]:
    """Check superblocks from `first` up to, not including, `last`, which is not the last of all.

    Returns
    -------
    problem, superblock, stop : int
        What is wrong where; and where in `btnr` the last of them ends.
    """
    blocks = t.at[k.BITS] // BLOCK + 1
    pointer = np.int64(0)
    for superblock in range(first, last):
        pointer = k.read_entry(t.data, t.at[k.BTNRP], t.at[k.BTNRP_WIDTH], superblock)
        ones = k.read_entry(t.data, t.at[k.RANK], t.at[k.RANK_WIDTH], superblock)
        if superblock == 0 and pointer != 0:
            return WRONG_POINTER, superblock, pointer
        if superblock == 0 and ones != 0:
            return WRONG_RANK, superblock, pointer
        flags = t.data[np.uint64(t.at[k.INVERT] + (superblock >> 3))]
        inverted = (flags >> (superblock & 7)) & 1 == 1
        dense = 0
        stop = min(blocks, superblock * SUPERBLOCK + SUPERBLOCK)
        for block in range(superblock * SUPERBLOCK, stop):
            kind = np.int64(k.read_bits(t.data, t.at[k.BT], block * 7) & np.uint64(127))
            true_kind = 127 - kind if inverted else kind
            if true_kind > 63:
                dense += 1
            if k.ones_in_block(t, 0, pointer, kind, inverted, 126) < 0:
                return WRONG_NUMBER, superblock, pointer
            if t.at[k.BITS] < (block + 1) * BLOCK:
                # The last block: behind the last bit there are no ones.
                used = t.at[k.BITS] - block * BLOCK
                if k.ones_in_block(t, 0, pointer, kind, inverted, used) >> 1 != true_kind:
                    return WRONG_NUMBER, superblock, pointer
            pointer += t.space[kind]
            ones += true_kind
        full = stop - superblock * SUPERBLOCK == SUPERBLOCK
        full = full and (superblock * SUPERBLOCK + 1) * BLOCK <= t.at[k.BITS]
        if inverted != (full and dense > SUPERBLOCK // 2):
            return WRONG_INVERT, superblock, pointer
        if superblock * SUPERBLOCK * BLOCK == t.at[k.BITS]:
            continue
        after = k.read_entry(t.data, t.at[k.RANK], t.at[k.RANK_WIDTH], superblock + 1)
        if after != ones:
            return WRONG_RANK, superblock, pointer
        if (superblock + 1) * SUPERBLOCK * BLOCK < t.at[k.BITS]:
            after = k.read_entry(t.data, t.at[k.BTNRP], t.at[k.BTNRP_WIDTH], superblock + 1)
            if after != pointer:
                return WRONG_POINTER, superblock, pointer
    return SOUND, last, pointer


def _walk(t: Tables, first: Int, last: Int, text: Bytes) -> tuple[Int, Int, Int]:
    """Walk between samples of ranks, from `first` up to, not including, `last`.

    Parameters
    ----------
    t : Tables
        Of the file.
    first, last : int
        Numbers of samples.
    text : array of uint8
        Is filled with the text from the first sample on.

    Returns
    -------
    problem, place, met : int
        What is wrong at which position; and how many samples of positions were met.
    """
    n = t.at[k.TEXT]
    met = 0
    for sample in range(first, last):
        start = sample * ISA_STEP
        position = min(n, start + ISA_STEP)
        after = 0 if position == n else sample + 1
        rank = k.read_entry(t.data, t.at[k.ISA], t.at[k.TEXT_WIDTH], after)
        if rank >= n:
            return WRONG_ISA, position, met
        while position > start:
            got = k.previous(t, rank)
            if got < 0:
                return WRONG_STEP, position, met
            rank = got >> 8
            position -= 1
            text[position - first * ISA_STEP] = np.uint8(got & 255)
            if rank % SA_STEP == 0:
                met += 1
                there = k.read_entry(t.data, t.at[k.SA], t.at[k.TEXT_WIDTH], rank // SA_STEP)
                if there != position:
                    return WRONG_SA, position, met
        if rank != k.read_entry(t.data, t.at[k.ISA], t.at[k.TEXT_WIDTH], sample):
            return WRONG_ISA, start, met
    return SOUND, 0, met


def _samples(t: Tables) -> tuple[Int, Int]:  # noqa: C901 - compiled; two loops of one shape
    """Check that sampled positions and ranks are in the text, and agree where both say the same.

    Returns
    -------
    problem, number : int
        What is wrong, and the number of the sample.
    """
    n = t.at[k.TEXT]
    for number in range((n + SA_STEP - 1) // SA_STEP):
        position = k.read_entry(t.data, t.at[k.SA], t.at[k.TEXT_WIDTH], number)
        if position >= n:
            return WRONG_SA, number
        if position % ISA_STEP == 0:
            sample = position // ISA_STEP
            rank = k.read_entry(t.data, t.at[k.ISA], t.at[k.TEXT_WIDTH], sample)
            if rank != number * SA_STEP:
                return WRONG_SA, number
    for number in range(t.at[k.ISA_ENTRIES]):
        rank = k.read_entry(t.data, t.at[k.ISA], t.at[k.TEXT_WIDTH], number)
        if rank >= n:
            return WRONG_ISA, number
        if rank % SA_STEP == 0:
            sample = rank // SA_STEP
            position = k.read_entry(t.data, t.at[k.SA], t.at[k.TEXT_WIDTH], sample)
            if position != number * ISA_STEP:
                return WRONG_ISA, number
    return SOUND, 0


samples = numba.njit(nogil=True, error_model="numpy")(_samples)
superblocks = numba.njit(nogil=True, error_model="numpy")(_superblocks)
walk = numba.njit(nogil=True, error_model="numpy")(_walk)
