"""P-values as papers print them, which the packages replace by better ones."""

import math
from functools import cache

import numpy as np

from ngramscan.statistics.proportions import mcnemar
from ngramscan.statistics.sign_tests import two_sided_p

EXACT_BELOW = 25
"""Pairs that differ; programs use the binomial distribution for fewer, otherwise chi-square."""


@cache
def usual_mcnemar(net: int, pairs: int) -> float:
    """Return the p-value of equal shares as papers often compute it, from pairs that differ.

    `net` is the difference of their two counts. Exact below 25 pairs, otherwise the chi-square test
    with continuity correction. A ValueError if no two counts have this sum and difference.
    Source: Edwards 1948, doi:10.1007/BF02289261.
    """
    if pairs < abs(net) or (pairs < EXACT_BELOW and (pairs - net) % 2):
        raise ValueError(f"no two counts have the sum {pairs} and the difference {net}")
    if pairs < EXACT_BELOW:
        return mcnemar((pairs + net) // 2, (pairs - net) // 2)
    return math.erfc(max(abs(net) - 1, 0) / math.sqrt(2 * pairs))


@cache
def signed_rank_p(n: int, rank_sum: int) -> float:
    """Return the exact two-sided p-value of Wilcoxon's test, from n differences without ties.

    `rank_sum` is the sum of the ranks of one sign; one that n ranks can't have is a ValueError.
    """
    total = n * (n + 1) // 2
    if rank_sum > total:
        raise ValueError(f"no ranks of {n} differences have the sum {rank_sum}")
    return two_sided_p(np.arange(1, n + 1), total - 2 * rank_sum)


def normal_signed_rank_p(n: int, rank_sum: int) -> float:
    """Return the normal approximation of `signed_rank_p`, without continuity correction."""
    twice_the_variance = n * (n + 1) * (2 * n + 1) / 12
    return math.erfc(abs(rank_sum - n * (n + 1) / 4) / math.sqrt(twice_the_variance))
