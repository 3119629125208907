"""How far judges agree beyond chance: labels as numbers in, coefficients with intervals out.

Every coefficient is 1 minus the disagreement that was observed over the one that chance would give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalcore.statistics import (
    ITEMS_FOR_AN_INTERVAL,
    Resampling,
    Studentized,
    studentized_limits,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Shape (n_items, n_judges): which label, from 0; -1 where there is none."""
Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["linear", "quadratic"]
_VALUES_AT_ONCE = 1_000_000
_ZERO = 1e-9
"""A standard error below it is a rounding error."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """How far judges agree on some items; None where it is not defined, or has no interval."""

    n: int
    value: float | None
    low: float | None
    high: float | None
    note: str = ""


class _Disagreement(NamedTuple):
    """Of some tables: what was observed over what chance gives, and what each item adds to it."""

    ratios: Floats
    """Shape (tables,); nan where chance gives none."""
    influences: Floats
    """Shape (tables, patterns), of the logarithm of the ratio."""


_Measure = Callable[[Floats], _Disagreement]
"""From how many items have each pattern of labels, shape (tables, patterns)."""


def cohen_kappa(
    codes: Codes, values: Floats, resampling: Resampling, weights: Weights | None = None
) -> Coefficient:
    """Estimate the agreement of two judges.

    Parameters
    ----------
    codes : array of int, shape (n_items, 2)
        Items without both labels are left out.
    values : array of float, shape (n_labels,)
        What each label is worth, for weights.
    resampling : Resampling
        Of items.
    weights : str, optional
        Disagreement grows with the difference of the labels' values, or with its square; by default
        two labels are the same or not.

    Returns
    -------
    Coefficient

    Notes
    -----
    Sources: Cohen 1960, doi:10.1177/001316446002000104; weighted, Cohen 1968,
    doi:10.1037/h0026256.
    """
    known = codes[(codes >= 0).all(axis=1)]
    seen = np.unique(known)
    cells, counts = _patterns(known, np.column_stack([seen, seen]))
    first, second = cells.T
    apart = _weighted(values, weights)
    own = apart[first, second]
    n = len(known)

    def measure(tables: Floats) -> _Disagreement:
        rows, columns = tables @ np.eye(len(values))[first], tables @ np.eye(len(values))[second]
        to_columns, to_rows = columns @ apart, rows @ apart
        observed, expected = tables @ own, (rows * to_columns).sum(axis=1)
        by_chance = to_columns[:, first] + to_rows[:, second]
        with np.errstate(divide="ignore", invalid="ignore"):
            influences = own / observed[:, None] - by_chance / expected[:, None] + 1 / n
        return _Disagreement(_ratio(n * observed, expected), influences)

    return _estimate(counts, measure, resampling)


def fleiss_kappa(codes: Codes, n_labels: int, resampling: Resampling) -> Coefficient:
    """Estimate the agreement of several judges on the items that all of them labelled.

    Parameters
    ----------
    codes : array of int, shape (n_items, n_judges)
        At least two judges.
    n_labels : int
        How many labels there are.
    resampling : Resampling
        Of items.

    Returns
    -------
    Coefficient

    Notes
    -----
    Source: Fleiss 1971, doi:10.1037/h0031619.
    """
    known = codes[(codes >= 0).all(axis=1)]
    return _between(known, np.zeros(n_labels), "nominal", resampling)


def krippendorff_alpha(
    codes: Codes, values: Floats, level: Level, resampling: Resampling
) -> Coefficient:
    """Estimate the agreement of any number of judges, with labels missing.

    Parameters
    ----------
    codes : array of int, shape (n_items, n_judges)
        Items with fewer than two labels are left out: they can't be compared.
    values : array of float, shape (n_labels,)
        What each label is worth, for the level `interval`; in their order, for `ordinal`.
    level : str
        How far two labels are apart: different or not, by the labels between them, or by the
        square of their difference.
    resampling : Resampling
        Of items.

    Returns
    -------
    Coefficient

    Notes
    -----
    Source: Krippendorff 2019, Content Analysis, 4th edition, chapter 12. The interval is of items
    drawn again, not of pairs as in his own procedure.
    """
    comparable = codes[(codes >= 0).sum(axis=1) >= 2]
    return _between(comparable, values, level, resampling, surplus=1)


def label_counts(codes: Codes, n_labels: int) -> Floats:
    """Return how many judges gave each label to each item.

    Parameters
    ----------
    codes : array of int, shape (n_items, n_judges)
        Labels.
    n_labels : int
        How many labels there are.

    Returns
    -------
    array of float, shape (n_items, n_labels)
    """
    counts = np.zeros((len(codes), n_labels))
    items, judges = np.nonzero(codes >= 0)
    np.add.at(counts, (items, codes[items, judges]), 1)
    return counts


def _between(
    codes: Codes, values: Floats, level: Level, resampling: Resampling, surplus: int = 0
) -> Coefficient:
    """Return 1 minus the disagreement within items over that between any two labels.

    The surplus is how many labels are taken off all of them, as alpha does for small samples.
    """
    n_judges, n_labels = codes.shape[1], len(values)
    labels = label_counts(codes, n_labels).astype(np.int64)
    seen = np.flatnonzero(labels.sum(axis=0))
    given, counts = _patterns(labels, n_judges * np.eye(n_labels, dtype=np.int64)[seen])
    pairs = given[:, :, None] * given[:, None, :] / (given.sum(axis=1) - 1)[:, None, None]
    flat = pairs.reshape(len(given), n_labels**2)

    def measure(tables: Floats) -> _Disagreement:
        totals = tables @ given
        n = totals.sum(axis=1)
        places = np.cumsum(totals, axis=1) - totals / 2
        apart = _distances(places, values, level)
        own = apart.reshape(len(apart), -1) @ flat.T
        to_totals = (apart @ totals[:, :, None])[:, :, 0]
        observed, expected = (tables * own).sum(axis=1), (totals * to_totals).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = (1 / n)[:, None] - 2 * to_totals / expected[:, None]
            if level == "ordinal":
                within = (tables @ flat).reshape(-1, n_labels, n_labels) / observed[:, None, None]
                by_chance = totals[:, :, None] * totals[:, None, :] / expected[:, None, None]
                slopes += _place_slopes(within - by_chance, places)
            influences = own / observed[:, None] + slopes @ given.T
        return _Disagreement(_ratio((n - surplus) * observed, expected), influences)

    return _estimate(counts, measure, resampling)


def _place_slopes(excess: Floats, places: Floats) -> Floats:
    """Return what one more of each label adds by moving the places of the labels above it."""
    gaps = places[:, :, None] - places[:, None, :]
    moved = 4 * (excess * gaps).sum(axis=2)
    return np.asarray(np.cumsum(moved[:, ::-1], axis=1)[:, ::-1] - moved / 2)


def _distances(places: Floats, values: Floats, level: Level) -> Floats:
    """Return how far labels are apart, shape (1 or tables, n_labels, n_labels)."""
    if level == "nominal":
        return (1 - np.eye(len(values)))[None]
    # An ordinal label stands in the middle of its own among all labels in their order.
    stand = places if level == "ordinal" else values[None]
    return np.asarray((stand[:, :, None] - stand[:, None, :]) ** 2)


def _weighted(values: Floats, weights: Weights | None) -> Floats:
    if weights is None:
        return 1 - np.eye(len(values))
    gaps = np.abs(values[:, None] - values)
    return gaps if weights == "linear" else gaps**2


def _patterns(rows: Codes, possible: Codes) -> tuple[Codes, Floats]:
    """Return the different rows and how often each occurs: 0 times, if it is only possible."""
    both = np.concatenate([rows, possible])
    patterns, where = np.unique(both, axis=0, return_inverse=True)
    counts = np.bincount(where.ravel()[: len(rows)], minlength=len(patterns))
    return patterns, counts.astype(np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    quotients = np.full(above.shape, np.nan)
    np.divide(above, below, out=quotients, where=below > 0)
    return quotients


def _estimate(counts: Floats, measure: _Measure, resampling: Resampling) -> Coefficient:
    """Return the coefficient of some items, how many of which have each pattern of labels."""
    n = int(counts.sum())
    if not n:
        return Coefficient(0, None, None, None, "there are no items")
    data, influences = _studentized(counts[None], measure)
    value = 1 - float(data.values[0])
    if np.isnan(value):
        return Coefficient(n, None, None, None, "not defined: all labels are the same")
    reason = _reason_for_none(n, data)
    if reason:
        return Coefficient(n, value, None, None, f"no interval: {reason}")
    parts = [_studentized(tables, measure)[0] for tables in _tables(counts, resampling)]
    drawn = Studentized(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    # The most extreme item may be one that few samples have, on which all judges agree.
    most = float(np.abs(influences).max())
    low, high = studentized_limits(data.log(), drawn.log(), n, resampling.level, most)
    return Coefficient(n, value, max(-1.0, 1 - float(np.exp(high))), 1 - float(np.exp(low)))


def _reason_for_none(n: int, data: Studentized) -> str:
    if n < ITEMS_FOR_AN_INTERVAL:
        return f"{n} items; {ITEMS_FOR_AN_INTERVAL} are needed"
    if data.values[0] == 0:
        return "the judges never disagree"
    return "" if data.errors[0] > _ZERO else "all items give the same value"


def _studentized(tables: Floats, measure: _Measure) -> tuple[Studentized, Floats]:
    """Return ratios of disagreement with their standard errors, and what each item adds."""
    n = tables[0].sum()
    ratios, influences = measure(tables)
    with np.errstate(invalid="ignore"):
        spread = np.sqrt(n / max(n - 1, 1) * (tables * influences**2).sum(axis=1))
    return Studentized(ratios, ratios * spread), influences


def _tables(counts: Floats, resampling: Resampling) -> Iterator[Floats]:
    """Yield how many items of each draw have each pattern."""
    n = int(counts.sum())
    generator = np.random.default_rng(resampling.seed)
    at_once = max(1, _VALUES_AT_ONCE // counts.size)
    for start in range(0, resampling.draws, at_once):
        size = min(at_once, resampling.draws - start)
        yield generator.multinomial(n, counts / n, size=size).astype(np.float64)
