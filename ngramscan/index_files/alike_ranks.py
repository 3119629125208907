"""Places of a text that are alike, for kernels: what is learned of one is true of the others."""

from __future__ import annotations

from ngramscan.index_files.compiled import Int, Integers, warming_kernel


@warming_kernel
def alike_ranks(shared: Integers, rank: Int, size: Int) -> tuple[Int, Int]:
    """Return the ranks [low, high) of the places that share `size` bytes with the one of a rank.

    `shared` has, by rank, the bytes that each place has in common with the next one.
    """
    low = rank
    while low > 0 and shared[low - 1] >= size:
        low -= 1
    high = rank + 1
    while high <= len(shared) and shared[high - 1] >= size:
        high += 1
    return low, high
