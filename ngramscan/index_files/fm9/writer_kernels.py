"""The compiled inner loops of the writer.

numba turns a mix of signed and unsigned 64-bit integers into floats, so words, and the amounts that
shift them, are `uint64` throughout. Kernels are long where a call per bit would cost more than the
bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscan.index_files.compiled import kernel
from ngramscan.index_files.fm9.kernels import COEFFICIENTS_HIGH, COEFFICIENTS_LOW

U64 = np.uint64

# Each power of two times this number has different top six bits.
_DE_BRUIJN = 0x03F79D71B4CB0A89
_BIT_PLACES = np.zeros(64, np.int64)
_BIT_PLACES[[(_DE_BRUIJN << bit) % (1 << 64) >> 58 for bit in range(64)]] = np.arange(64)


@kernel
def count_bytes(text: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    """Count bytes in two alternating rows, so that equal neighbours don't wait for each other."""
    for i in range(0, text.shape[0] - 1, 2):
        counts[0, text[i]] += 1
        counts[1, text[i + 1]] += 1
    if text.shape[0] & 1:
        counts[0, text[text.shape[0] - 1]] += 1


@kernel
def take_bwt(
    text: NDArray[np.uint8],
    suffixes: NDArray[np.signedinteger[Any]],
    first: int,
    bwt: NDArray[np.uint8],
    ranks: NDArray[np.signedinteger[Any]],
) -> None:
    """Write the bytes before some suffixes, and the ranks of every 64th position of the text.

    `suffixes` is a run of the suffix array from rank `first`; `bwt` has its length, and is filled.
    """
    last = text.shape[0] - 1
    for i in range(suffixes.shape[0]):
        position = suffixes[i]
        bwt[i] = text[position - 1] if position else text[last]
        if position & 63 == 0:
            ranks[position >> 6] = first + i


@kernel
def split_node(
    symbols: NDArray[np.uint8],
    goes_right: NDArray[np.uint8],
    bits: NDArray[np.uint64],
    first_bit: int,
    children: NDArray[np.uint8],
    child: NDArray[np.int64],
) -> None:
    """Write the bits of a node of the wavelet tree, and the symbols of its children.

    `goes_right` has 0 or 1 per byte; `bits` are 0 after `first_bit`. `child` has a row for the left
    and one for the right child: its start in `children`, and 1; for a leaf, which has no symbols
    there, an unused place, and 0.
    """
    left_place, left_step = child[0, 0], child[0, 1]
    right_place, right_step = child[1, 0], child[1, 1]
    word_number = first_bit >> 6
    bits_used = first_bit & 63
    word = bits[word_number]
    for i in range(symbols.shape[0]):
        symbol = symbols[i]
        bit = goes_right[symbol]
        word |= U64(bit) << U64(bits_used)
        # Both are written, to avoid a branch; the unwanted one is overwritten later.
        if bit:
            children[right_place] = symbol
            right_place += right_step
        else:
            children[left_place] = symbol
            left_place += left_step
        bits_used += 1
        if bits_used == 64:
            bits[word_number] = word
            word_number += 1
            word = U64(0)
            bits_used = 0
    if bits_used:
        bits[word_number] = word


@kernel
def _count_ones(word: np.uint64) -> np.uint64:
    word -= (word >> U64(1)) & U64(0x5555555555555555)
    word = (word & U64(0x3333333333333333)) + ((word >> U64(2)) & U64(0x3333333333333333))
    word = (word + (word >> U64(4))) & U64(0x0F0F0F0F0F0F0F0F)
    return (word * U64(0x0101010101010101)) >> U64(56)


@kernel
def _block_words(bits: NDArray[np.uint64], block: int) -> tuple[np.uint64, np.uint64]:
    """Return the 127 bits of a block as two words; `bits` has two more words than it needs."""
    first_bit = block * 127
    word = first_bit >> 6
    shift = U64(first_bit & 63)
    low, high = bits[word], bits[word + 1]
    if shift:
        back = U64(64) - shift
        low = (low >> shift) | (high << back)
        high = (high >> shift) | (bits[word + 2] << back)
    return low, high & U64(0x7FFFFFFFFFFFFFFF)


@kernel
def count_blocks(bits: NDArray[np.uint64], ones: NDArray[np.uint8]) -> None:
    """Count the ones of each block."""
    for block in range(ones.shape[0]):
        low, high = _block_words(bits, block)
        ones[block] = _count_ones(low) + _count_ones(high)


@kernel
def append_numbers(
    bits: NDArray[np.uint64],
    ones: NDArray[np.uint8],
    number_bits: NDArray[np.int64],
    out: NDArray[np.uint64],
) -> None:
    """Write the combinatorial numbers of all blocks, one after the other.

    The number of a block with ones at p1 < p2 < … < pk is the sum of C(126 - pj, k - j + 1). It has
    `number_bits[k]` bits. `out` has zeros, and two more words than the numbers need.
    """
    position = 0
    for block in range(ones.shape[0]):
        ones_left = np.int64(ones[block])
        width = number_bits[ones_left]
        if width == 0:
            continue
        low, high = U64(0), U64(0)
        words = _block_words(bits, block)
        for half in range(2):
            word = words[half]
            while word:
                lowest = word & (~word + U64(1))
                row = 126 - 64 * half - _BIT_PLACES[(lowest * U64(_DE_BRUIJN)) >> U64(58)]
                term = COEFFICIENTS_LOW[ones_left, row]
                low += term
                high += COEFFICIENTS_HIGH[ones_left, row] + U64(low < term)
                ones_left -= 1
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


@kernel
def pack(values: NDArray[np.integer[Any]], width: int, words: NDArray[np.uint64]) -> None:
    """Write values of `width` bits each, at most 64, one after the other; `words` has zeros."""
    position = 0
    for i in range(values.shape[0]):
        value = U64(values[i])
        number = position >> 6
        shift = position & 63
        words[number] |= value << U64(shift)
        if shift + width > 64:
            words[number + 1] |= value >> U64(64 - shift)
        position += width
