"""The loops of the writer over every byte and bit, compiled.

Whole numbers of numba change their kind when signed meets unsigned 64 bits, so words, and what
they are shifted by, are `uint64` throughout. Kernels are long where a call per bit would cost more
than the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

U64 = np.uint64
BLOCK_BITS = 127

_ALL_ONES = 0xFFFFFFFFFFFFFFFF
# A power of two times this has other top six bits than every other power of two.
_DE_BRUIJN = 0x03F79D71B4CB0A89


def compiled(kernel: Kernel) -> Kernel:
    """Compile a kernel once per machine; it lets go of the interpreter while it runs."""
    return cast("Kernel", numba.njit(cache=True, nogil=True)(kernel))


def _bit_places() -> NDArray[np.int64]:
    places = np.zeros(64, np.int64)
    for bit in range(64):
        places[((_DE_BRUIJN << bit) & _ALL_ONES) >> 58] = bit
    return places


def _binomials(shift: int) -> NDArray[np.uint64]:
    """Return 64 bits of C(n, k) for n < 127 and k <= 127: they need 124 at most."""
    rows = [
        [(comb(n, k) >> shift) & _ALL_ONES for k in range(BLOCK_BITS + 1)]
        for n in range(BLOCK_BITS)
    ]
    return np.array(rows, np.uint64)


BIT_PLACES = _bit_places()
BINOMIALS_LOW = _binomials(0)
BINOMIALS_HIGH = _binomials(64)
NUMBER_BITS: NDArray[np.int64] = np.array(
    [
        0 if comb(BLOCK_BITS, k) == 1 else comb(BLOCK_BITS, k).bit_length()
        for k in range(BLOCK_BITS + 1)
    ],
    np.int64,
)
"""Bits of the number of a block by how many ones it has."""


@compiled
def take_bwt(
    text: NDArray[np.uint8],
    suffixes: NDArray[np.int32],
    first: int,
    bwt: NDArray[np.uint8],
    ranks: NDArray[np.int32],
) -> None:
    """Write the bytes before some suffixes, and the ranks of every 64th position of the text.

    Parameters
    ----------
    text : array
        All of it.
    suffixes : array
        A run of the suffix array, from rank `first`.
    bwt : array
        Filled; as long as the run.
    ranks : array
        Filled where the run has such a position.
    """
    last = text.shape[0] - 1
    for i in range(suffixes.shape[0]):
        position = suffixes[i]
        bwt[i] = text[position - 1] if position else text[last]
        if position & 63 == 0:
            ranks[position >> 6] = first + i


@compiled
def split_node(
    symbols: NDArray[np.uint8],
    goes_right: NDArray[np.uint8],
    bits: NDArray[np.uint64],
    first_bit: int,
    children: NDArray[np.uint8],
    child: NDArray[np.int64],
) -> None:
    """Write the bits of a node of the wavelet tree, and the symbols of its children.

    Parameters
    ----------
    symbols : array
        Of the node, in order.
    goes_right : array, shape (256,)
        0 or 1 per byte.
    bits : array
        Bits behind `first_bit` are not written yet, and 0.
    children : array
        Where the symbols of the children go.
    child : array, shape (2, 2)
        For the left and the right child: where it begins in `children`, and 1; for a leaf, which
        has no symbols there, a place that nothing else uses, and 0.
    """
    left, left_step = child[0, 0], child[0, 1]
    right, right_step = child[1, 0], child[1, 1]
    word_number = first_bit >> 6
    used = first_bit & 63
    word = bits[word_number]
    for i in range(symbols.shape[0]):
        symbol = symbols[i]
        bit = goes_right[symbol]
        word |= U64(bit) << U64(used)
        # Both are written, so that there is no branch: what is not wanted is overwritten.
        if bit:
            children[right] = symbol
            right += right_step
        else:
            children[left] = symbol
            left += left_step
        used += 1
        if used == 64:
            bits[word_number] = word
            word_number += 1
            word = U64(0)
            used = 0
    if used:
        bits[word_number] = word


@compiled
def _count_ones(word: np.uint64) -> np.uint64:
    word -= (word >> U64(1)) & U64(0x5555555555555555)
    word = (word & U64(0x3333333333333333)) + ((word >> U64(2)) & U64(0x3333333333333333))
    word = (word + (word >> U64(4))) & U64(0x0F0F0F0F0F0F0F0F)
    return (word * U64(0x0101010101010101)) >> U64(56)


@compiled
def _block_words(bits: NDArray[np.uint64], block: int) -> tuple[np.uint64, np.uint64]:
    """Return the 127 bits of a block as two words; `bits` goes on for two words behind its end."""
    first_bit = block * 127
    word = first_bit >> 6
    shift = U64(first_bit & 63)
    low, high = bits[word], bits[word + 1]
    if shift:
        back = U64(64) - shift
        low = (low >> shift) | (high << back)
        high = (high >> shift) | (bits[word + 2] << back)
    return low, high & U64(0x7FFFFFFFFFFFFFFF)


@compiled
def count_blocks(bits: NDArray[np.uint64], ones: NDArray[np.uint8]) -> None:
    """Count the ones of each block."""
    for block in range(ones.shape[0]):
        low, high = _block_words(bits, block)
        ones[block] = _count_ones(low) + _count_ones(high)


@compiled
def append_numbers(
    bits: NDArray[np.uint64],
    ones: NDArray[np.uint8],
    number_bits: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    """Write the combinatorial number of each block behind that of the one before.

    The number of a block with ones at p1 < p2 < … < pk is the sum of C(126 - pj, k - j + 1).

    Parameters
    ----------
    ones : array
        Of each block.
    number_bits : array, shape (128,)
        By ones.
    out : array
        Zeros; two words longer than the numbers.
    """
    position = 0
    for block in range(ones.shape[0]):
        left = np.int64(ones[block])
        width = number_bits[left]
        if width == 0:
            continue
        low, high = U64(0), U64(0)
        words = _block_words(bits, block)
        for half in range(2):
            word = words[half]
            while word:
                lowest = word & (~word + U64(1))
                row = 126 - 64 * half - BIT_PLACES[(lowest * U64(_DE_BRUIJN)) >> U64(58)]
                term = BINOMIALS_LOW[row, left]
                low += term
                high += BINOMIALS_HIGH[row, left] + U64(low < term)
                left -= 1
                word ^= lowest
        number = position >> 6
        shift = U64(position & 63)
        out[number] |= low << shift
        if shift:
            back = U64(64) - shift
            out[number + 1] |= (low >> back) | (high << shift)
            out[number + 2] |= high >> back
        else:
            out[number + 1] |= high
        position += width


@compiled
def pack(values: NDArray[np.integer[Any]], width: int, words: NDArray[np.uint64]) -> None:
    """Write values of `width` bits each, at most 64, one behind the other; `words` is zeros."""
    position = 0
    for i in range(values.shape[0]):
        value = U64(values[i])
        number = position >> 6
        shift = position & 63
        words[number] |= value << U64(shift)
        if shift + width > 64:
            words[number + 1] |= value >> U64(64 - shift)
        position += width
