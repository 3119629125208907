"""Tests as papers print them, from the few figures that they print."""

from __future__ import annotations

import math
from functools import cache

from ngramscan.statistics.proportions import mcnemar
from ngramscan.statistics.sign_tests import signed_rank_test

EXACT_BELOW = 25


def usual_mcnemar(net: int, pairs: int) -> float:
    """Return McNemar's p-value as many programs compute it.

    Parameters
    ----------
    net : int
        Pairs in which only the one is right, minus those in which only the other is.
    pairs : int
        Both together, at least as many.

    Returns
    -------
    float
        Two-sided; exact below 25 pairs, otherwise of chi-square with continuity correction.

    Raises
    ------
    ValueError
        There are no such counts.

    Notes
    -----
    Source: Edwards 1948, doi:10.1007/BF02289261.
    """
    if pairs < abs(net) or (pairs < EXACT_BELOW and (pairs - net) % 2):
        raise ValueError(f"no two counts have the sum {pairs} and the difference {net}")
    if pairs < EXACT_BELOW:
        return mcnemar((pairs + net) // 2, (pairs - net) // 2)
    return math.erfc(max(abs(net) - 1, 0) / math.sqrt(2 * pairs))


@cache
def exact_signed_rank(n: int, rank_sum: int) -> float:
    """Return the exact p-value of n differences, none equal in size; the ranks of one sign sum."""
    if not 0 <= rank_sum <= n * (n + 1) // 2:
        raise ValueError(f"no ranks of {n} differences have the sum {rank_sum}")
    differences = []
    for rank in range(n, 0, -1):
        differences.append(rank if rank > rank_sum else -rank)
        rank_sum -= 0 if rank > rank_sum else rank
    return signed_rank_test(differences).value if n else 1.0


def normal_signed_rank(n: int, rank_sum: int) -> float:
    """Return what the normal approximation without correction gives in the place of that."""
    if n < 1:
        raise ValueError("one difference or more was expected")
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return math.erfc(abs(rank_sum - n * (n + 1) / 4) / spread / math.sqrt(2))
