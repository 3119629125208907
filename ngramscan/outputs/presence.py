"""Tests whether more outputs of a method than of others have something, with problems as clusters.

Outputs that answer the same problem are not independent. Where both sides answer the same
problems, the two shares of outputs that have the thing are compared problem by problem; with one
output per side that is McNemar's exact test. Where they answer different problems, or share only a
few, outputs are compared, and count the less the more those to one problem are alike; with one
output per problem that is Fisher's exact test. That test is conservative if some problems are on
both sides.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ngramscan.outputs.tokens import AnyIntegers, Booleans, Floats, Ints, runs_of

FEWEST_PAIRS = 40
"""With fewer pairs, not even differences all in one direction are evidence among many tests."""
PAIRED = 0.9
"""Minimum share of the information in all problems that pairs must keep to be used alone."""
_NEGLIGIBLE = 0.01
"""Relative difference of the two variances below which neither is adjusted."""
_ALIKE = 1.25
"""Pseudo-count of outputs that have something if another output to their problem has it. In the
tests' simulations, fewer increased false discoveries and more reduced power."""


class Sides:
    """Outputs of a method (`is_own`) and of others, sorted by the number of their problem.

    The method's outputs come first in each problem. A unit is the outputs of one side to one
    problem; units and their problems are numbered from 0, ascending. A ValueError says that a side
    is empty, or that the outputs are not sorted.
    """

    def __init__(self, is_own: ArrayLike, problems: ArrayLike) -> None:
        self.is_own: Booleans = np.asarray(is_own, dtype=bool)
        keys = 2 * np.asarray(problems, dtype=np.int64) + ~self.is_own
        if self.is_own.all() or not self.is_own.any() or (np.diff(keys) < 0).any():
            raise ValueError("expected outputs of both sides, sorted by problem")
        unit_keys, first, self.units, self.unit_outputs = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        self.unit_is_own = self.is_own[first]
        self.unit_problems = np.unique(unit_keys // 2, return_inverse=True)[1]
        self.problems = int(self.unit_is_own.sum()), int((~self.unit_is_own).sum())
        """How many problems each side answers, the method's first."""


class PresenceTest:
    """A one-sided test of whether something is in more outputs of the method.

    In pairs: under the null hypothesis the two sides of each problem are exchangeable, and the
    differences d of their shares have random signs. Differences count as (Σ|d|)² / Σd² equal ones
    (Kish's effective number); if all are 0 or 1 the test is exact. Shares of the side with more
    outputs per problem vary less; their part in Σd² is increased to what fewer outputs would give.

    Not in pairs: the outputs of a side are counted by their effective sample size, the number of
    independent outputs whose mean has the same variance. With an intraclass correlation ρ and m
    outputs to each problem, that is their number divided by 1 + (m - 1) ρ. ρ is estimated from how
    often an output has something if another output to the same problem has it, with a pseudo-count.
    The hypergeometric distribution of these numbers is exact for one output per problem, and for
    copies.

    If both sides answer the same problems with different numbers of outputs, each test takes the
    approach with the smaller variance: pairs, unless outputs to a problem are hardly alike.

    Longer outputs contain more. If the method's outputs are longer, an output with c occurrences
    counts as 1 - (1 - part)^c, the probability that a random part of it, as long as an output of
    the others, has one.

    Sources: McNemar 1947, doi:10.1007/BF02295996; Fisher 1935, doi:10.2307/2342435; Kish 1965,
    Survey Sampling, 11.7; Rao & Scott 1992, doi:10.2307/2532311.
    """

    def __init__(self, sides: Sides, sizes: ArrayLike | None = None) -> None:
        """Choose the test; by default all outputs have the same size."""
        pairs = (np.bincount(sides.unit_problems) == 2)[sides.unit_problems]
        enough = max(FEWEST_PAIRS, PAIRED * 2 / sum(1 / n for n in sides.problems))
        self.sides, self.paired = sides, bool(pairs.sum() / 2 >= enough)
        self._used = pairs if self.paired else np.ones_like(pairs)
        own_units, others = self._used & sides.unit_is_own, self._used & ~sides.unit_is_own
        self.problems = int(own_units.sum()), int(others.sum())
        """How many problems are tested, of the method and of the others."""
        lengths = np.ones(sides.units.size) if sizes is None else np.asarray(sizes)
        means = np.bincount(sides.units, weights=lengths) / sides.unit_outputs
        self.part = _part(means[own_units], means[others], self.paired)
        """Mean length of the others' outputs over that of the method's, plus one standard error, so
        that chance is not taken for a difference; at most 1."""
        self._rates = _rate(sides.unit_outputs[own_units]), _rate(sides.unit_outputs[others])
        difference = abs(self._rates[0] - self._rates[1])
        self._has_equal_rates = difference <= _NEGLIGIBLE * max(self._rates)

    def p_values(self, starts: Ints, outputs: AnyIntegers, counts: Ints) -> Floats:
        """Return one-sided p-values of things whose entries begin at `starts`.

        An entry is an output that has the thing, by its position in the sides, ascending; and the
        thing's occurrences in it.
        """
        shares = self._shares(starts, outputs, counts)
        if not self.paired:
            return self._unpaired(shares)[0]
        p, variances = self._in_pairs(shares)
        if self._has_equal_rates:
            return p
        unpaired, others = self._unpaired(shares)
        return np.where(variances < others, p, unpaired)

    def _shares(self, starts: Ints, outputs: AnyIntegers, counts: Ints) -> _Shares:
        units = self.sides.units[outputs]
        at, firsts = runs_of(units, starts)
        values = (self._used / self.sides.unit_outputs)[units]
        if self.part < 1:
            chances = 1 - (1 - self.part) ** np.arange(counts.max(initial=0) + 1)
            values *= np.where(self.sides.is_own[outputs], chances[counts], 1.0)
        sums, squares = np.add.reduceat(values, at), np.add.reduceat(values**2, at)
        return _Shares(firsts, units[at], sums, squares)

    def _in_pairs(self, shares: _Shares) -> tuple[Floats, Floats]:
        """Return p-values, and variances of the mean difference of a problem."""
        units, m = shares.units, self.sides.unit_outputs[shares.units]
        is_own = self.sides.unit_is_own[units]
        more = shares.values / m - shares.squares  # the variance of drawing parts of outputs
        if not self._has_equal_rates:
            # A share of m outputs with probability π has variance π (1 - π) / m, and
            # v (1 - v) m / (m - 1) estimates π (1 - π) without bias.
            with_more = (is_own == (self._rates[0] < self._rates[1])) & (m > 1)
            lacking = abs(self._rates[0] - self._rates[1]) * with_more * m / np.maximum(m - 1, 1)
            more += lacking * shares.values * (1 - shares.values)
        at, firsts = runs_of(self.sides.unit_problems[units], shares.starts)
        differences = np.add.reduceat(np.where(is_own, shares.values, -shares.values), at)
        squares = np.add.reduceat(differences**2, firsts) + np.add.reduceat(more, shares.starts)
        sizes = np.add.reduceat(np.abs(differences), firsts)
        p = _binomial_tail(np.add.reduceat(differences, firsts), sizes, squares)
        return p, squares / self.problems[0] ** 2

    def _unpaired(self, shares: _Shares) -> tuple[Floats, Floats]:
        """Return p-values, and variances of the difference of the mean shares."""
        m = self.sides.unit_outputs
        has_several, is_own = m[shares.units] > 1, self.sides.unit_is_own[shares.units]
        # Σv², as if an output had the thing independently of itself.
        products = has_several * (shares.values**2 - shares.squares)
        products /= (1 - 1 / np.maximum(m, 2))[shares.units]
        values = (
            shares.values * is_own,
            shares.values * ~is_own,
            products,
            shares.values * has_several,
        )
        own_sums, others, products, single = (
            np.add.reduceat(column, shares.starts) for column in values
        )
        mean = (own_sums + others) / sum(self.problems)
        added = _ALIKE * _rate(m[self._used & (m > 1)])
        agreement = (products + added) / (single + added)
        rho = np.clip((agreement - mean) / np.maximum(1 - mean, _NEGLIGIBLE), 0, 1)
        per_problem = [rate + rho * (1 - rate) for rate in self._rates]
        sizes = [
            n / n_per_problem for n, n_per_problem in zip(self.problems, per_problem, strict=True)
        ]
        own_present = own_sums / per_problem[0]
        p = hypergeometric_tail(own_present, own_present + others / per_problem[1], *sizes)
        return p, mean * (1 - mean) * sum(1 / size for size in sizes)


class _Shares(NamedTuple):
    """The shares of outputs that have something, of the units where some have it."""

    starts: Ints
    """Where each thing begins."""
    units: Ints
    values: Floats
    squares: Floats
    """Sums of the squares of what each output adds to the share."""


def _rate(outputs: Ints) -> float:
    """Return the mean of 1/m over problems, where m is the number of outputs."""
    return float((1 / outputs).mean()) if outputs.size else 1.0


def _part(own_shares: Floats, others: Floats, paired: bool) -> float:
    """Return the ratio of two mean lengths plus its standard error, at most 1."""
    mean = max(float(own_shares.mean()), 1e-9)
    ratio = float(others.mean()) / mean
    residuals = [others - ratio * own_shares] if paired else [others, ratio * own_shares]
    variance = sum(float(values.var()) / max(values.size - 1, 1) for values in residuals)
    return min(ratio + math.sqrt(variance) / mean, 1.0)


def _binomial_tail(sums: Floats, sizes: Floats, squares: Floats) -> Floats:
    """Return the probability of sums of differences at least as large, under random signs.

    `sizes` and `squares` are the sums of their absolute values and of their squares.
    """
    from scipy.special import betainc

    nonzero = np.where(sizes > 0, sizes, 1.0)
    number = sizes * nonzero / np.where(sizes > 0, squares, 1.0)
    positive = number * (1 + sums / nonzero) / 2
    p = betainc(np.maximum(positive, 1e-300), np.maximum(number - positive, 0.0) + 1, 0.5)
    return np.where(positive > 0, p, 1.0)


def hypergeometric_tail(
    marked_drawn: ArrayLike, marked: ArrayLike, sample_size: ArrayLike, others: ArrayLike
) -> Floats:
    """Return the probability that at least `marked_drawn` of a random sample are `marked`.

    `others` are not in the sample. Between integers, the gamma function interpolates the terms of
    the hypergeometric distribution.
    """
    arrays = (
        np.asarray(values, dtype=np.float64)
        for values in (marked_drawn, marked, sample_size, others)
    )
    x, k, n, not_drawn = np.broadcast_arrays(*arrays)
    p = np.ones(x.size)
    upper = x > n * k / (n + not_drawn)
    p[upper] = _sum_of_terms(x[upper], k[upper], n[upper], not_drawn[upper])
    # The complement: at least n - x + 1 of those not marked are drawn.
    lower = ~upper & (x >= 1) & (x - 1 >= k - not_drawn)
    x, k, n, not_drawn = x[lower], k[lower], n[lower], not_drawn[lower]
    p[lower] = 1 - _sum_of_terms(n - x + 1, n + not_drawn - k, n, not_drawn)
    return np.clip(p, 0.0, 1.0)


def _sum_of_terms(x: Floats, k: Floats, n: Floats, others: Floats) -> Floats:
    """Return the sum of hypergeometric terms from x on, for x above the mean."""
    from scipy.special import gammaln

    def log_binomial(n: Floats, k: Floats) -> Any:
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    term = log_binomial(n, x) + log_binomial(others, k - x) - log_binomial(n + others, k)
    term = np.exp(term)
    sums: Floats = term.copy()
    unfinished = np.arange(x.size)
    while unfinished.size:
        term = term * (n - x) * (k - x) / ((x + 1) * (others - k + x + 1))
        x = x + 1
        more = (term > 1e-14 * sums[unfinished]) & (x < np.minimum(n, k) + 1)
        unfinished = unfinished[more]
        term, x, k, n, others = (array[more] for array in (term, x, k, n, others))
        sums[unfinished] += term
    return sums
