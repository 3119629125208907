"""The test that tosses the signs of differences: of a mean, by problem."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalcore.statistics.p_values import PValue
from evalcore.statistics.sign_distribution import Floats, common_unit, two_sided_p, work

ENUMERATED_UP_TO = 20
"""Problems that differ, where the differences have no common unit: about a million sums."""
EXACT_WORK = 2e8
"""Additions that take about a quarter of a second."""
VALUES_AT_ONCE = 2_000_000


def sign_flip_test(sums: ArrayLike, generator: np.random.Generator, draws: int = 10_000) -> PValue:
    """Test whether the differences of problems are as likely to be turned around.

    Parameters
    ----------
    sums : array of float, shape (problems,)
        The sum of the differences of each problem: all answers to it turn their sign together,
        which makes the test valid however much they resemble each other.
    generator : numpy Generator
        The source of chance, used only where neither of the exact ways is possible.
    draws : int
        How many times all signs are tossed then.

    Returns
    -------
    PValue
        Of the sum, and so of the mean. Exact where the values are multiples of a unit, as with
        right and wrong answers, or at most 20 are not zero; otherwise (r + 1) / (draws + 1), where
        r tosses are at least as far from zero. 1 where no problem differs.

    Raises
    ------
    ValueError
        There are no sums, one is missing or infinite, or there are no draws.

    Notes
    -----
    Sources: Fisher 1935, The Design of Experiments, section 21; Phipson & Smyth 2010,
    doi:10.2202/1544-6115.1585 (why one is added).
    """
    values = np.asarray(sums, dtype=np.float64)
    if not values.size or not np.isfinite(values).all() or draws < 1:
        raise ValueError("at least one sum, none missing or infinite, and a draw were expected")
    values = values[np.abs(values) > 1e-10 * np.abs(values).max()]
    if not values.size:
        return PValue(1.0, "exact sign flips", 0, note="no problem differs")
    whole = common_unit(np.abs(values))
    if whole is not None and work(whole) <= EXACT_WORK:
        observed = round(float((np.sign(values) * whole).sum()))
        p = two_sided_p(whole, observed)
        return PValue(p, "exact sign flips", values.size)
    if values.size <= ENUMERATED_UP_TO:
        return PValue(_enumerated(values), "exact sign flips", values.size)
    return _drawn(values, generator, draws)


def _enumerated(values: Floats) -> float:
    """Return the share of all sums that are as far from zero, one sign being fixed by symmetry."""
    totals = np.abs(values[:1])
    for size in np.abs(values[1:]):
        totals = np.concatenate([totals - size, totals + size])
    return float(_as_far(totals, values).mean())


def _drawn(values: Floats, generator: np.random.Generator, draws: int) -> PValue:
    n = values.size
    # Rounded up to whole bytes of random bits; the last bits of a row are not used.
    width = math.ceil(n / 8)
    at_once = max(1, VALUES_AT_ONCE // n)
    far = 0
    for start in range(0, draws, at_once):
        rows = min(at_once, draws - start)
        random = np.frombuffer(generator.bytes(rows * width), dtype=np.uint8)
        negative = np.unpackbits(random.reshape(rows, width), axis=1, count=n)
        totals = values.sum() - 2 * (negative.astype(np.float64) @ values)
        far += int(_as_far(totals, values).sum())
    p = (far + 1) / (draws + 1)
    error = math.sqrt(p * (1 - p) / draws)
    return PValue(p, f"sign flips, {draws} draws", n, standard_error=error)


def _as_far(totals: Floats, values: Floats) -> NDArray[np.bool_]:
    # A sum of the same size, added up in another order, is as far.
    least = abs(float(values.sum())) - 1e-9 * float(np.abs(values).sum())
    return np.asarray(np.abs(totals) >= least)
