"""How a sum falls out when the sign of each of its terms is tossed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def settled(values: Floats) -> Floats:
    """Return the values rounded to ten digits of the largest of them.

    0.3 - 0.2 and 0.2 - 0.1 are one number, which matters to tests that ask for ties and zeros.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return values
    # A power of two, so that scaling adds no rounding error of its own.
    scale = 2.0 ** np.ceil(np.log2(largest))
    rounded: Floats = np.round(values / scale, 10) * scale
    return rounded


def two_sided_p(sizes: Integers, observed: int) -> float:
    """Return how probable a sum at least as far from zero is, when all signs are tossed.

    Parameters
    ----------
    sizes : array of int, shape (n,)
        What the terms are without their signs, all positive.
    observed : int
        The sum with the signs as they are.

    Returns
    -------
    float
        Exact, up to the rounding of floating point: there are 2 to the n equally probable sums.

    Notes
    -----
    The terms that turn out negative have a sum in 0 … S. Its distribution is built up term by term,
    each of which is in or out, as far as the smaller tail; the other tail is the same.
    """
    limit = (int(sizes.sum()) - abs(observed)) // 2
    if not observed:
        return 1.0
    tail = np.zeros(limit + 1)
    tail[0] = 1.0
    filled = 0
    for size in np.sort(sizes):
        filled = min(filled + int(size), limit)
        if size <= limit:
            tail[size : filled + 1] += tail[: filled + 1 - size].copy()
        tail[: filled + 1] *= 0.5
    return min(1.0, 2 * float(tail.sum()))


def work(sizes: Integers) -> float:
    """Return how many additions the exact distribution takes."""
    return sizes.size * float(sizes.sum()) / 2


def common_unit(sizes: Floats) -> Integers | None:
    """Return positive values as whole numbers of the largest unit that divides all of them.

    None where there is none, or only one so small that rounding errors might make it up.
    """
    largest = float(sizes.max())
    negligible = 1e-9 * largest
    unit = largest
    for size in np.unique(sizes):
        unit = _common_divisor(unit, float(size), negligible)
        if unit < 1e-5 * largest:
            return None
    multiples = sizes / unit
    whole = np.rint(multiples).astype(np.int64)
    return whole if np.abs(multiples - whole).max() < 1e-4 else None


def _common_divisor(one: float, other: float, negligible: float) -> float:
    """Return Euclid's divisor, where a remainder that rounding errors explain counts as none."""
    while other > negligible:
        one, other = other, one % other
        if one - other <= negligible:
            return one
    return one
