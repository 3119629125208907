"""Tests that flip the signs of differences: of a mean, or of ranks (Wilcoxon); exact with ties."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.p_values import ComputedPValue

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Zeros = Literal["dropped", "pratt"]
EXACT_UP_TO = 1000
"""Pairs that differ. With more, the exact p-value takes seconds, and the normal approximation is
within half a percent of it, if it is 0.02 or more."""
ENUMERATED_UP_TO = 20
"""Problems that differ, if the differences have no common unit: about a million sums."""
EXACT_WORK = 2e8
"""A number of additions that takes about a quarter of a second."""
VALUES_AT_ONCE = 2_000_000


def sign_flip_test(
    sums: ArrayLike, generator: np.random.Generator, draws: int = 10_000
) -> ComputedPValue:
    """Test whether the differences of problems are equally likely to have the opposite sign.

    `sums` has the sum of the differences of each problem. All answers to a problem flip together,
    so the test is valid even if they are alike. The p-value holds for the sum, and so for the mean.
    It is exact if the values are multiples of a unit, as with right and wrong answers, or if at
    most 20 are not zero; otherwise (r + 1) / (draws + 1), where r draws are at least as far from
    zero. It is 1 if no problem differs. No sums, one that is missing or infinite, or no draws are a
    ValueError.

    Sources: Fisher 1935, The Design of Experiments, section 21; Phipson & Smyth 2010,
    doi:10.2202/1544-6115.1585 (why one is added).
    """
    values = np.asarray(sums, dtype=np.float64)
    if not values.size or not np.isfinite(values).all() or draws < 1:
        raise ValueError("needs at least one sum, none missing or infinite, and a draw")
    values = differing(values)
    if not values.size:
        return ComputedPValue(1.0, "exact sign flips", 0, note="no problem differs")
    multiples = _common_unit(np.abs(values))
    if multiples is not None and multiples.size * float(multiples.sum()) / 2 <= EXACT_WORK:
        observed = round(float((np.sign(values) * multiples).sum()))
        p = two_sided_p(multiples, observed)
        return ComputedPValue(p, "exact sign flips", values.size)
    if values.size <= ENUMERATED_UP_TO:
        return ComputedPValue(_enumerated(values), "exact sign flips", values.size)
    return _drawn(values, generator, draws)


def mid_p_sign_flips(sums: ArrayLike) -> float:
    """Return the mid-p value of the sign-flip test, from at most 20 sums that are not zero.

    Sums as far from zero as the observed one count half, so that with differences of one size it
    is McNemar's mid-p value. It is 1 if all are zero; more than 20 others are a ValueError.
    """
    values = differing(np.asarray(sums, dtype=np.float64))
    if values.size > ENUMERATED_UP_TO:
        raise ValueError(f"{values.size} sums differ from zero; at most {ENUMERATED_UP_TO} can")
    if not values.size:
        return 1.0
    observed = abs(float(values.sum()))
    rounding = 1e-9 * float(np.abs(values).sum())
    if observed <= rounding:
        return 1.0
    totals = _flipped_totals(values)
    farther = float((totals > observed + rounding).mean())
    return (farther + float((totals >= observed - rounding).mean())) / 2


def differing(sums: Floats) -> Floats:
    """Return the sums that are not zero, up to rounding errors."""
    nonzero: Floats = sums[np.abs(sums) > 1e-10 * np.abs(sums).max(initial=0.0)]
    return nonzero


def _enumerated(values: Floats) -> float:
    """Return the share of all sums that are as far from zero."""
    return float(_as_far(_flipped_totals(values), values).mean())


def _flipped_totals(values: Floats) -> Floats:
    """Return the distance from zero of the sums with all signs; by symmetry, one is fixed."""
    totals = np.abs(values[:1])
    for size in np.abs(values[1:]):
        totals = np.concatenate([totals - size, totals + size])
    return np.abs(totals)


def _drawn(values: Floats, generator: np.random.Generator, draws: int) -> ComputedPValue:
    n = values.size
    # Whole bytes of random bits; the last bits of a row are not used.
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
    return ComputedPValue(p, f"sign flips, {draws} draws", n, standard_error=error)


def _as_far(totals: Floats, values: Floats) -> NDArray[np.bool_]:
    # The same terms, added in another order, may differ by a rounding error.
    least = abs(float(values.sum())) - 1e-9 * float(np.abs(values).sum())
    return np.asarray(np.abs(totals) >= least)


def signed_rank_test(differences: ArrayLike, zeros: Zeros = "dropped") -> ComputedPValue:
    """Test whether paired differences are symmetric around zero.

    Those that are equal up to rounding errors share a mean rank; `zeros` says whether those of zero
    are left out before ranking ("dropped") or after ("pratt"). Exact, over all signs of the
    observed ranks, for up to 1,000 pairs that differ; for more, by the normal approximation with
    the variance of tied ranks and continuity correction. 1 if no pair differs. No differences, one
    that is missing or infinite, and another rule for zeros are ValueErrors.
    Sources: Wilcoxon 1945, doi:10.2307/3001968; Pratt 1959, doi:10.1080/01621459.1959.10501526.
    """
    values = np.asarray(differences, dtype=np.float64)
    if not values.size or not np.isfinite(values).all():
        raise ValueError("at least one difference is needed, none missing or infinite")
    if zeros not in {"dropped", "pratt"}:
        raise ValueError(f"zeros are 'dropped' or 'pratt', not {zeros!r}")
    values = round_float_noise(values)
    if zeros == "dropped":
        values = values[values != 0]
    # Doubled, as a mean rank may end in a half.
    ranks = np.rint(2 * scipy.stats.rankdata(np.abs(values))).astype(np.int64)
    signs = np.sign(values).astype(np.int64)
    return _p_value(ranks[signs != 0], int((signs * ranks).sum()), zeros)


def _p_value(ranks: NDArray[np.int64], observed: int, zeros: Zeros) -> ComputedPValue:
    n = ranks.size
    rule = "zeros dropped" if zeros == "dropped" else "zeros by Pratt"
    if not n:
        return ComputedPValue(1.0, f"exact signed-rank, {rule}", 0, note="no pair differs")
    if n <= EXACT_UP_TO:
        divisor = int(np.gcd.reduce(ranks))
        p = two_sided_p(ranks // divisor, observed // divisor)
        return ComputedPValue(p, f"exact signed-rank, {rule}", n)
    # The correction by a half of a rank sum is two here: the ranks are doubled, and the sum of
    # the signed ranks changes by twice a rank when its sign does.
    spread = math.sqrt(float((ranks.astype(np.float64) ** 2).sum()))
    distance = max(abs(observed) - 2.0, 0.0) / spread
    p = min(1.0, 2 * float(scipy.special.ndtr(-distance)))
    return ComputedPValue(p, f"signed-rank, normal approximation, {rule}", n)


# The distribution of a sum whose terms have random signs


def round_float_noise(values: Floats) -> Floats:
    """Return the values rounded to ten digits of the largest of them.

    So 0.3 - 0.2 and 0.2 - 0.1 are equal, which matters where ties and zeros count.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return values
    # A power of two, so that scaling adds no rounding error of its own.
    scale = 2.0 ** np.ceil(np.log2(largest))
    rounded: Floats = np.round(values / scale, 10) * scale
    return rounded


def two_sided_p(sizes: Integers, observed: int) -> float:
    """Return the probability of a sum at least as far from zero, if all signs are random.

    `sizes` are the terms without their signs, all positive, shape (n,); `observed` is their sum
    with the observed signs. Exact, up to rounding: 2 to the n sums are equally probable. The
    negative terms have a sum in 0 … S; its distribution is built up term by term, up to the smaller
    tail, and the other tail is the same.
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


def _common_unit(sizes: Floats) -> Integers | None:
    """Return positive values as whole numbers of the largest unit that divides all of them.

    None if there is no common divisor, or only one as small as a rounding error.
    """
    largest = float(sizes.max())
    negligible = 1e-9 * largest
    unit = largest
    for size in np.unique(sizes):
        unit = _common_divisor(unit, float(size), negligible)
        if unit < 1e-5 * largest:
            return None
    multiples = sizes / unit
    rounded = np.rint(multiples).astype(np.int64)
    return rounded if np.abs(multiples - rounded).max() < 1e-4 else None


def _common_divisor(divisor: float, remainder: float, negligible: float) -> float:
    """Return the divisor by Euclid's algorithm; a remainder within rounding errors counts as 0."""
    while remainder > negligible:
        divisor, remainder = remainder, divisor % remainder
        if divisor - remainder <= negligible:
            return divisor
    return divisor
