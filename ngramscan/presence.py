"""Tests whether more outputs of a method than of others have something, with problems as clusters.

Outputs that answer the same problem are not independent. So each problem counts once, with the
share of its outputs that have the thing. Where both sides answer the same problems, the two shares
of a problem are compared; with one output per side that is McNemar's exact test. Where they answer
different problems, or share only a few, the problems of one side are compared with those of the
other; with one output per problem that is Fisher's exact test. That test is conservative if some
problems are on both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Integers = NDArray[np.integer]
Flags = NDArray[np.bool_]

FEWEST_PAIRS = 40
"""With fewer pairs, not even differences all in one direction are evidence among many tests."""
PAIRED = 0.9
"""Least share of the information in all problems that the pairs must keep to be used alone."""
_NEGLIGIBLE = 0.01
"""Relative difference of the two variances below which neither is adjusted."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Outputs of a method and of others, sorted by problem; the method's come first in each.

    A unit is the outputs of one side to one problem.
    """

    is_own: Flags
    """Whether each output is the method's."""
    units: Ints
    """The unit of each output, numbered from 0, ascending."""
    unit_is_own: Flags
    unit_problems: Ints
    """The problem of each unit, numbered from 0, ascending."""
    unit_outputs: Ints
    """The number of outputs in each unit."""

    @classmethod
    def of(cls, is_own: ArrayLike, problems: ArrayLike) -> Sides:
        """Group outputs into units.

        Parameters
        ----------
        is_own : array of bool, shape (n,)
            Which outputs are the method's; some, but not all.
        problems : array of int, shape (n,)
            The problem that each output answers: ascending, with the method's outputs first within
            a problem.

        Raises
        ------
        ValueError
            One side is empty, or the outputs are not sorted.
        """
        own = np.asarray(is_own, dtype=bool)
        keys = 2 * np.asarray(problems, dtype=np.int64) + ~own
        if own.all() or not own.any() or (np.diff(keys) < 0).any():
            raise ValueError("expected outputs of both sides, sorted by problem")
        known, first, units, outputs = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        numbers = np.unique(known // 2, return_inverse=True)[1]
        return cls(own, units, own[first], numbers, outputs)

    @property
    def problems(self) -> tuple[int, int]:
        """The number of problems that each side answers, the method's first."""
        return int(self.unit_is_own.sum()), int((~self.unit_is_own).sum())

    @property
    def in_pairs(self) -> Flags:
        """Which units belong to problems that both sides answer."""
        both: Flags = np.bincount(self.unit_problems) == 2
        return both[self.unit_problems]


@dataclass(frozen=True, slots=True)
class PresenceTest:
    """A one-sided test of whether something is in the outputs of more problems of the method.

    Notes
    -----
    Under the null hypothesis the two sides of each pair, or all problems, are exchangeable. If all
    shares are 0 or 1 the test is exact: binomial over the pairs that differ, hypergeometric over
    problems. Other shares v count as (Σv)² / Σv² equal ones (Kish's effective number), which keeps
    the variance and the largest value of their sum. Shares of the side with more outputs per
    problem vary less; their v² are increased to what fewer outputs would give.

    Longer outputs contain more. If the method's outputs are longer, an output with c occurrences
    counts as 1 - (1 - part)^c, the probability that a random part of it, as long as an output of
    the others, has one.

    Sources: McNemar 1947, doi:10.1007/BF02295996; Fisher 1935, doi:10.2307/2342435; Kish 1965,
    Survey Sampling, 11.7.
    """

    sides: Sides
    paired: bool
    """Only problems that both sides answer are tested, in pairs."""
    problems: tuple[int, int]
    """The number of problems tested, of the method and of the others."""
    part: float
    """Mean length of the others' outputs over that of the method's, plus one standard error, so
    that chance is not taken for a difference; at most 1."""
    _cells: Ints
    """The pair, or the unit, of each output."""
    _weights: Floats
    """What each output adds to the share of its unit; negative for the others in pairs."""
    _missing: Floats
    """The multiple of v (1 - v) that is added to v² of each unit."""

    @classmethod
    def of(cls, sides: Sides, sizes: ArrayLike | None = None) -> PresenceTest:
        """Choose the test: paired if there are many pairs and few other problems.

        Parameters
        ----------
        sides : Sides
            The outputs.
        sizes : array of int, optional
            The length of each output; by default all have the same.
        """
        pairs = sides.in_pairs
        enough = max(FEWEST_PAIRS, PAIRED * 2 / sum(1 / n for n in sides.problems))
        paired = bool(pairs.sum() / 2 >= enough)
        used = pairs if paired else np.ones_like(pairs)
        own, others = used & sides.unit_is_own, used & ~sides.unit_is_own
        lengths = np.ones(sides.units.size) if sizes is None else np.asarray(sizes)
        means = np.bincount(sides.units, weights=lengths) / sides.unit_outputs
        signs = np.where(sides.unit_is_own, 1, -1) if paired else 1
        return cls(
            sides,
            paired,
            (int(own.sum()), int(others.sum())),
            _part(means[own], means[others], paired),
            (sides.unit_problems if paired else np.arange(own.size))[sides.units],
            (signs * used / sides.unit_outputs)[sides.units],
            _missing(sides, own, others),
        )

    def p_values(self, starts: Ints, outputs: Integers, counts: Ints) -> Floats:
        """Return one-sided p-values.

        Parameters
        ----------
        starts : array of int, shape (n,)
            Where the entries of each tested thing start in `outputs` and `counts`.
        outputs : array of int
            The outputs that have the thing, by their position in the sides; ascending.
        counts : array of int
            Its occurrences in each of these outputs.
        """
        values = self._weights[outputs]
        more = np.zeros(starts.size)
        if self.part < 1:
            chances = 1 - (1 - self.part) ** np.arange(counts.max(initial=0) + 1)
            has = np.where(self.sides.is_own[outputs], chances[counts], 1.0)
            more += np.add.reduceat(values**2 * has * (1 - has), starts)
            values *= has
        if self._missing.any():
            more += self._missing_squares(values, starts, outputs)
        at, firsts = runs_of(self._cells[outputs], starts)
        shares = np.add.reduceat(values, at)
        squares = np.add.reduceat(shares**2, firsts) + more
        every = np.add.reduceat(np.abs(shares), firsts)
        if self.paired:
            return _binomial_tail(np.add.reduceat(values, starts), every, squares)
        own = np.add.reduceat(values * self.sides.is_own[outputs], starts)
        return hypergeometric_tail(own * every / squares, every * every / squares, *self.problems)

    def _missing_squares(self, values: Floats, starts: Ints, outputs: Integers) -> Floats:
        """Return what is added to the sums of squared shares."""
        units = self.sides.units[outputs]
        at, firsts = runs_of(units, starts)
        shares = np.abs(np.add.reduceat(values, at))
        added: Floats = np.add.reduceat(self._missing[units[at]] * shares * (1 - shares), firsts)
        return added


def _part(own: Floats, others: Floats, paired: bool) -> float:
    """Return the ratio of two mean lengths plus its standard error, at most 1."""
    mean = max(float(own.mean()), 1e-9)
    ratio = float(others.mean()) / mean
    residuals = [others - ratio * own] if paired else [others, ratio * own]
    variance = sum(float(values.var()) / max(values.size - 1, 1) for values in residuals)
    return min(ratio + math.sqrt(variance) / mean, 1.0)


def _missing(sides: Sides, own: Flags, others: Flags) -> Floats:
    """Return the multiple of v (1 - v) that units with more outputs lack in variance.

    The share of a problem with m outputs and probability π has variance π (1 - π) / m, and
    v (1 - v) m / (m - 1) estimates π (1 - π) without bias. The two sides differ by the mean of 1/m.
    """
    m = sides.unit_outputs
    rates = [float((1 / m[chosen]).mean()) for chosen in (own, others)]
    if abs(rates[0] - rates[1]) <= _NEGLIGIBLE * max(rates):
        return np.zeros(m.size)
    with_more = own if rates[0] < rates[1] else others
    return abs(rates[0] - rates[1]) * (with_more & (m > 1)) * m / np.maximum(m - 1, 1)


def runs_of(values: Integers, starts: Ints) -> tuple[Ints, Ints]:
    """Return where a new value or thing begins, and which of these places are the `starts`."""
    new = np.ones(values.size, dtype=bool)
    new[1:] = values[1:] != values[:-1]
    new[starts] = True
    at = np.flatnonzero(new)
    return at, np.searchsorted(at, starts)


def _binomial_tail(sums: Floats, sizes: Floats, squares: Floats) -> Floats:
    """Return the probability of sums of differences at least as large, under random signs.

    Parameters
    ----------
    sums, sizes, squares : array of float, shape (n,)
        Sums of the differences, of their absolute values, and of their squares.
    """
    from scipy.special import betainc

    some = np.where(sizes > 0, sizes, 1.0)
    number = sizes * some / np.where(sizes > 0, squares, 1.0)
    positive = number * (1 + sums / some) / 2
    p = betainc(np.maximum(positive, 1e-300), np.maximum(number - positive, 0.0) + 1, 0.5)
    result: Floats = np.where(positive > 0, p, 1.0)
    return result


def hypergeometric_tail(found: ArrayLike, marked: ArrayLike, drawn: int, others: int) -> Floats:
    """Return the probability that at least `found` of those drawn are marked.

    Parameters
    ----------
    found, marked : array of float, shape (n,)
        The number of marked ones among those drawn, and among all. For numbers that are not
        integers the gamma function interpolates the terms of the distribution.
    drawn, others : int
        How many are drawn, and how many are not.
    """
    pairs, inverse = np.unique(
        np.asarray(found, dtype=np.float64) + 1j * np.asarray(marked, dtype=np.float64),
        return_inverse=True,
    )
    x, k = pairs.real, pairs.imag
    n, total = drawn, drawn + others
    p = np.ones(x.size)
    upper = x > n * k / total
    p[upper] = _sum_of_terms(x[upper], k[upper], (n, others))
    # The complement: at least n - x + 1 of those not marked are drawn.
    lower = ~upper & (x >= 1) & (x - 1 >= k - others)
    p[lower] = 1 - _sum_of_terms(n - x[lower] + 1, total - k[lower], (n, others))
    return np.clip(p, 0.0, 1.0)[inverse]


def _sum_of_terms(x: Floats, k: Floats, sizes: tuple[int, int]) -> Floats:
    """Return the sum of hypergeometric terms from x on, for x above the mean."""
    from scipy.special import gammaln

    def log_binomial(n: Floats | int, k: Floats) -> Floats:
        result: Floats = gammaln(n + 1.0) - gammaln(k + 1) - gammaln(n - k + 1)
        return result

    n, others = sizes
    term = log_binomial(n, x) + log_binomial(others, k - x) - log_binomial(n + others, k)
    term = np.exp(term)
    sums, x, left = term.copy(), x.copy(), np.arange(x.size)
    while left.size:
        term = term * (n - x) * (k - x) / ((x + 1) * (others - k + x + 1))
        x = x + 1
        more = (term > 1e-14 * sums[left]) & (x < np.minimum(n, k) + 1)
        left, term, x, k = left[more], term[more], x[more], k[more]
        sums[left] += term
    return sums
