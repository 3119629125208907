"""Right and wrong answers in pairs: their counts, McNemar's test, and Clopper-Pearson's limits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from evalcore.statistics.p_values import PValue
from ngramscan.estimates import Estimate
from ngramscan.proportions import Pairs, mcnemar


def paired_counts(baseline: ArrayLike, treatment: ArrayLike) -> Pairs:
    """Count how pairs of right and wrong fall out.

    Parameters
    ----------
    baseline, treatment : array of 0 and 1, shape (n,)
        Whether the answers to the same problems are right, without gaps.

    Returns
    -------
    Pairs
        The baseline is the first of a pair.

    Raises
    ------
    ValueError
        The lengths differ, there are no pairs, or a value is neither 0 nor 1.
    """
    first, second = np.asarray(baseline), np.asarray(treatment)
    if first.shape != second.shape or not first.size:
        raise ValueError("two lists of the same length, not empty, were expected")
    if not np.isin(first, (0, 1)).all() or not np.isin(second, (0, 1)).all():
        raise ValueError("a value is neither 0 nor 1; graded values need another comparison")
    right, right_second = first == 1, second == 1
    return Pairs(
        both=int((right & right_second).sum()),
        only_first=int((right & ~right_second).sum()),
        only_second=int((~right & right_second).sum()),
        neither=int((~right & ~right_second).sum()),
    )


def mcnemar_test(better: int, worse: int) -> PValue:
    """Test whether two methods are right equally often, from the pairs in which they differ.

    Parameters
    ----------
    better, worse : int
        Pairs in which only the treatment, or only the baseline, is right.

    Returns
    -------
    PValue
        The mid-p value; 1 where no pair differs. `ngramscan.proportions.mcnemar` is the exact one.

    Raises
    ------
    ValueError
        A count is negative.

    Notes
    -----
    Tables as far from equal as the one seen count half, which takes away most of the exact test's
    excess of caution. Source: Fagerland, Lydersen & Laake 2013, doi:10.1186/1471-2288-13-91.
    """
    if min(better, worse) < 0:
        raise ValueError("counts of pairs cannot be negative")
    n = better + worse
    if not n:
        return PValue(1.0, "mid-p McNemar", 0, note="no pair differs")
    seen = math.comb(n, better) / 2**n
    p = 1 - seen / 2 if better == worse else mcnemar(worse, better) - seen
    return PValue(p, "mid-p McNemar", n)


def clopper_pearson(k: int, n: int, level: float = 0.95) -> Estimate:
    """Estimate a share with limits that cover it at least as often as stated, whatever it is.

    Parameters
    ----------
    k, n : int
        How many of how many.
    level : float
        Least probability that the interval covers the share.

    Returns
    -------
    Estimate
        In [0, 1].

    Raises
    ------
    ValueError
        n is not positive, or k not in [0, n].

    Notes
    -----
    Wider than Wilson's. Source: Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404.
    """
    if not 0 <= k <= n or n < 1:
        raise ValueError("0 <= k <= n and n > 0 were expected")
    tail = (1 - level) / 2
    low = float(special.betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(special.betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Estimate(k / n, low, high, level)
