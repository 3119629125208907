"""Shares and differences between shares: counts in, values and intervals out."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from ngramscan.statistics.estimates import Estimate


@dataclass(frozen=True, slots=True)
class Pairs:
    """Counts of pairs of yes and no."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both + self.only_first + self.only_second + self.neither


def wilson(k: float, n: float, level: float = 0.95) -> Estimate:
    """Estimate a share, k of n, with the score interval without continuity correction.

    Neither has to be an integer, since n may be an effective size. If n is not positive or k not in
    [0, n], that is a ValueError. Source: Wilson 1927, doi:10.1080/01621459.1927.10502953.
    """
    if not 0 <= k <= n or n <= 0:
        raise ValueError("0 <= k <= n and n > 0 are needed")
    share, z = k / n, normal_quantile(level)
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half_width = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # Exact at the ends, where rounding could put the share outside its interval.
    low = 0.0 if k == 0 else min(middle - half_width, share)
    high = 1.0 if k == n else max(middle + half_width, share)
    return Estimate(share, low, high, level)


def clopper_pearson(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the exact limits of a share that was seen in n draws; n need not be an integer.

    Without limit, n leaves the share itself. Source: Clopper & Pearson 1934,
    doi:10.1093/biomet/26.4.404.
    """
    if math.isinf(n):
        return share, share
    from scipy.special import betaincinv  # slow to import

    hits, tail = share * n, (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


@lru_cache(maxsize=4096)
def finite_share(k: int, n: int, population: int, level: float = 0.95) -> Estimate:
    """Estimate the share in a finite population from k of n that were drawn without replacement.

    The limits are the shares of whole numbers of members that the data allow and that neither
    one-sided hypergeometric test rejects by its mid-p value. With n = population the share is
    known, and both limits are equal to it. A ValueError unless 0 <= k <= n <= population and n > 0.
    On average over shares the interval covers a little more than `level`; with Wilson's and a
    finite population correction, one marked member is missed too often.
    Sources: Buonaccorsi 1987, doi:10.1080/00031305.1987.10475484 (exact limits); Berry & Armitage
    1995, doi:10.2307/2348891 (mid-p).
    """
    from scipy.stats import hypergeom  # slow to import

    if not 0 <= k <= n <= population or not n:
        raise ValueError("0 <= k <= n <= population and n > 0 are needed")

    def at_least_k(marked: int) -> float:
        parameters = population, marked, n
        return float(hypergeom.sf(k, *parameters) + hypergeom.pmf(k, *parameters) / 2)

    tail, possible = (1 - level) / 2, range(k, population - n + k + 1)
    low = possible[bisect_right(possible, tail, key=at_least_k)] / population
    high = possible[bisect_left(possible, 1 - tail, key=at_least_k) - 1] / population
    # With few members, no whole number of them may be as near as the share of those drawn.
    return Estimate(k / n, min(low, k / n), max(high, k / n), level)


def stratified_share(strata: Sequence[tuple[int, int, int]], level: float = 0.95) -> Estimate:
    """Estimate a share in a finite population from samples of its strata.

    Each stratum is (k, n, size): k of n > 0 that were drawn from `size` without replacement. Their
    shares are weighted by size. The interval is Wilson's, with the number of independent draws that
    would have the variance of the estimate; a fully drawn stratum adds no variance.
    Few draws often show no variance, so each stratum is given one more draw, of the share of all,
    and there are never more draws than if all strata had one share. That makes the interval wider
    than need be where strata differ: a 95% interval covers 93-98% if their shares are alike, and up
    to 100% otherwise; 91% of a share of 1% in strata with one draw each
    (`tests/ngramscan/statistics/test_proportions.py`). No strata are a ValueError.
    Sources: Cochran 1977, Sampling Techniques, 5.3-5.9 (estimate, variance); Korn & Graubard 1998,
    Survey Methodology 24, 193-201 (effective size). The added draw and the bound are our own.
    """
    if not strata or not all(0 <= k <= n <= size and n for k, n, size in strata):
        raise ValueError("strata with 0 <= k <= n <= size and n > 0 are needed")
    population = sum(size for _, _, size in strata)
    share = math.fsum(size * k / n for k, n, size in strata) / population
    variance = variance_of_draws = 0.0
    for k, n, size in strata:
        of_draw = (size / population) ** 2 * (1 - n / size) / n
        expected = (k + share) / (n + 1)
        # k varies, so expected * (1 - expected) is too small on average, by this factor.
        variance += of_draw * expected * (1 - expected) / (1 - n / (n + 1) ** 2)
        variance_of_draws += of_draw
    if not variance_of_draws:
        return Estimate(share, share, share, level)
    draws = 1 / variance_of_draws
    if 0 < share < 1:
        draws = min(draws, share * (1 - share) / variance)
    return wilson(share * draws, draws, level)


def paired_difference(pairs: Pairs, level: float = 0.95) -> Estimate:
    """Estimate the difference between two shares of the same pairs, second minus first, in [-1, 1].

    Squares of the Wilson limits, corrected for the correlation of the pairs; without any pair, a
    ValueError. Source: Newcombe 1998, method 10, Statistics in Medicine 17, 2635-2650.
    """
    n = pairs.n
    first = wilson(pairs.both + pairs.only_first, n, level)
    second = wilson(pairs.both + pairs.only_second, n, level)
    return correlated_difference(first, second, _phi(pairs))


def correlated_difference(first: Estimate, second: Estimate, correlation: float) -> Estimate:
    """Estimate the difference between two shares that are correlated, second minus first.

    The squares of the distances to their limits are combined as variances are. Source: Zou &
    Donner 2008, doi:10.1002/sim.3095; Newcombe's interval for pairs is a special case.
    """
    down, up = first.value - first.limits[0], first.limits[1] - first.value
    down_second, up_second = second.value - second.limits[0], second.limits[1] - second.value
    difference = second.value - first.value
    low = difference - _combine(down_second, up, correlation)
    high = difference + _combine(up_second, down, correlation)
    return Estimate(difference, low, high, first.level)


def independent_difference(first: Estimate, second: Estimate) -> Estimate:
    """Estimate the difference between two shares of independent samples, second minus first.

    The squares of the distances to their limits are added; with Wilson's limits this is Newcombe's
    hybrid score interval. Sources: Newcombe 1998, method 10, Statistics in Medicine 17, 873-890;
    Zou & Donner 2008, doi:10.1002/sim.3095 (other limits).
    """
    (low, high), (low_second, high_second) = first.limits, second.limits
    difference = second.value - first.value
    below = math.hypot(second.value - low_second, high - first.value)
    above = math.hypot(high_second - second.value, first.value - low)
    return Estimate(difference, difference - below, difference + above, first.level)


def _phi(pairs: Pairs) -> float:
    """Return the correlation; above zero, with Newcombe's continuity correction."""
    product = pairs.both * pairs.neither - pairs.only_first * pairs.only_second
    corrected = max(product - pairs.n / 2, 0.0) if product > 0 else float(product)
    margins = (
        (pairs.both + pairs.only_first)
        * (pairs.only_second + pairs.neither)
        * (pairs.both + pairs.only_second)
        * (pairs.only_first + pairs.neither)
    )
    return corrected / math.sqrt(margins) if margins else 0.0


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value of equal shares, from the numbers of pairs that differ.

    Twice the smaller binomial tail, at most 1; 1 if no pair differs. Source: McNemar 1947,
    doi:10.1007/BF02295996, in the exact form.
    """
    n = only_first + only_second
    ways = tail = 1
    for i in range(min(only_first, only_second)):
        ways = ways * (n - i) // (i + 1)
        tail += ways
    return min(1.0, float(2 * tail / 2**n))


def mid_p_mcnemar(only_first: int, only_second: int) -> float:
    """Return the mid-p value of equal shares, from the numbers of pairs that differ.

    Tables as far from equal as the observed one count half, which makes the exact test less
    conservative. 1 if no pair differs; a negative count is a ValueError.
    Source: Fagerland, Lydersen & Laake 2013, doi:10.1186/1471-2288-13-91.
    """
    if min(only_first, only_second) < 0:
        raise ValueError("counts of pairs cannot be negative")
    n = only_first + only_second
    if not n:
        return 1.0
    probability: float = math.comb(n, only_second) / 2**n
    if only_first == only_second:
        return 1 - probability / 2
    return mcnemar(only_first, only_second) - probability


def share_ratio(
    counts: tuple[float, float],
    others: tuple[float, float],
    level: float,
    sizes: tuple[float, float],
    correlation: float,
) -> Estimate:
    """Estimate the ratio of the shares of two samples, each k of n.

    `sizes` are the effective sizes of the samples, those themselves if all observations are
    independent, and `correlation` is that of the shares. The interval combines the Wilson intervals
    of both shares on the log scale. If a share is zero, a half is added to all four numbers, and
    the interval is the log interval. An empty sample is a ValueError.
    Sources: Zou & Donner 2008, doi:10.1002/sim.3095 (combined intervals); Walter 1975,
    doi:10.1093/biomet/62.2.371 (halves); Katz et al. 1978, doi:10.2307/2530610 (log interval).
    """
    (k, n), (k_other, n_other) = counts, others
    if min(n, n_other) < 1:
        raise ValueError("neither of the two samples may be empty")
    size, size_other = sizes
    share, share_other = k / n, k_other / n_other
    if not (share and share_other):
        ratio = (k + 0.5) / (n + 0.5) / ((k_other + 0.5) / (n_other + 0.5))
        ends = (share * size, size), (share_other * size_other, size_other)
        variance = sum(1 / (part + 0.5) - 1 / (size_of_share + 0.5) for part, size_of_share in ends)
        factor = math.exp(normal_quantile(level) * math.sqrt(variance))
        note = "a half is added, since a share is zero"
        return Estimate(ratio, low=ratio / factor, high=ratio * factor, level=level, note=note)
    low, high = wilson(share * size, size, level).limits
    low_other, high_other = wilson(share_other * size_other, size_other, level).limits
    below = _combine(math.log(share / low), math.log(high_other / share_other), correlation)
    above = _combine(math.log(high / share), math.log(share_other / low_other), correlation)
    ratio = share / share_other
    return Estimate(ratio, ratio * math.exp(-below), ratio * math.exp(above), level)


def _combine(distance: float, other_distance: float, correlation: float) -> float:
    """Return a limit's distance from a difference, from the distances of its terms' limits."""
    square = distance**2 - 2 * correlation * distance * other_distance + other_distance**2
    return math.sqrt(max(square, 0.0))


def normal_quantile(level: float) -> float:
    """Return the half width of a two-sided normal interval, in standard errors."""
    return NormalDist().inv_cdf((1 + level) / 2)
