"""Sums over items that were drawn again and again, and the intervals that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEWEST_ITEMS = 10
"""Fewer say too little about others like them."""
_MOST_UNDEFINED = 0.01
_WEIGHTS_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class Resampling:
    """How often items are drawn again."""

    draws: int = 2000
    seed: int = 1
    level: float = 0.95
    """The share of intervals that cover the truth."""


@dataclass(frozen=True, slots=True)
class Limits:
    """An interval; None and a note where there is none."""

    low: float | None
    high: float | None
    note: str = ""


def resampled_sums(columns: Floats, resampling: Resampling) -> Floats:
    """Return the sums of columns over items drawn with replacement, as many as there are.

    Parameters
    ----------
    columns : array of float, shape (n_items, n_columns)
        At least one item.
    resampling : Resampling
        The same seed gives the same draws, whatever the columns are.

    Returns
    -------
    array of float, shape (draws, n_columns)

    Notes
    -----
    How often each item is drawn is multinomial: a draw is one product with the columns, and no
    item is copied.
    """
    n = len(columns)
    generator = np.random.default_rng(resampling.seed)
    chances = np.full(n, 1 / n)
    at_once = max(1, _WEIGHTS_AT_ONCE // n)
    parts = []
    for start in range(0, resampling.draws, at_once):
        size = min(at_once, resampling.draws - start)
        parts.append(generator.multinomial(n, chances, size=size).astype(np.float64) @ columns)
    return np.concatenate(parts)


def percentile_limits(values: Floats, n_items: int, level: float) -> Limits:
    """Return the percentile interval of a statistic.

    Parameters
    ----------
    values : array of float, shape (draws,)
        The statistic of each draw; nan where it is not defined.
    n_items : int
        Of how many items each draw is.
    level : float
        The share of intervals that cover the truth.

    Returns
    -------
    Limits
        None of fewer than ten items, where more than one draw in a hundred is undefined, or where
        all draws are equal, which would pretend certainty.

    Notes
    -----
    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13.
    """
    if n_items < FEWEST_ITEMS:
        return Limits(None, None, f"no interval: {n_items} items; {FEWEST_ITEMS} are needed")
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if undefined > _MOST_UNDEFINED * len(values):
        return Limits(None, None, f"no interval: undefined in {undefined} of {len(values)} draws")
    if np.ptp(defined) <= 1e-12 * max(1.0, float(np.abs(defined).max())):
        return Limits(None, None, "no interval: all draws give the same value")
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Limits(float(low), float(high))


def ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients; nan where the divisor is zero."""
    quotients = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=below != 0)
    return quotients


@dataclass(frozen=True, slots=True)
class Resampled:
    """A statistic of some items, with its interval; None where it is not defined."""

    n: int
    value: float | None
    low: float | None
    high: float | None
    note: str = ""


def resample(
    columns: Floats, statistic: Callable[[Floats], Floats], resampling: Resampling, undefined: str
) -> Resampled:
    """Return a statistic of sums over items, with its percentile interval.

    Parameters
    ----------
    columns : array of float, shape (n_items, n_columns)
        What is summed.
    statistic : callable
        From sums of shape (m, n_columns) to m values; nan where it is not defined.
    resampling : Resampling
        How often items are drawn.
    undefined : str
        The note where the statistic of all items is not defined.
    """
    n = len(columns)
    if n == 0:
        return Resampled(0, None, None, None, "there are no items")
    value = float(statistic(columns.sum(axis=0)[None])[0])
    if np.isnan(value):
        return Resampled(n, None, None, None, undefined)
    if n < FEWEST_ITEMS:
        limits = percentile_limits(np.empty(0), n, resampling.level)
    else:
        draws = statistic(resampled_sums(columns, resampling))
        limits = percentile_limits(draws, n, resampling.level)
    return Resampled(n, value, limits.low, limits.high, limits.note)
