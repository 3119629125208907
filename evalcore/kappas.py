"""How far judges agree beyond chance: labels as numbers in, coefficients with intervals out.

Each coefficient is a function of sums over items, so that its bootstrap needs nothing but sums.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evalcore.resampling import Floats, Resampled, Resampling, ratio, resample

Codes = NDArray[np.int64]
"""Shape (n_items, n_judges): which label, from 0; -1 where there is none."""
Level = Literal["nominal", "ordinal", "interval"]
_ALL_THE_SAME = "not defined: all labels are the same"


def cohen_kappa(codes: Codes, n_labels: int, resampling: Resampling) -> Resampled:
    """Estimate the agreement of two judges.

    Parameters
    ----------
    codes : array of int, shape (n_items, 2)
        Items without both labels are left out.
    n_labels : int
        How many labels there are.
    resampling : Resampling
        Of items.

    Returns
    -------
    Resampled

    Notes
    -----
    Source: Cohen 1960, doi:10.1177/001316446002000104; unweighted.
    """
    known = codes[(codes >= 0).all(axis=1)]
    cells = np.zeros((len(known), n_labels * n_labels))
    cells[np.arange(len(known)), known[:, 0] * n_labels + known[:, 1]] = 1

    def kappa(sums: Floats) -> Floats:
        tables = sums.reshape(-1, n_labels, n_labels)
        n = tables.sum(axis=(1, 2))
        agreed = np.trace(tables, axis1=1, axis2=2) / n
        by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
        return _beyond_chance(agreed, by_chance)

    return resample(cells, kappa, resampling, _ALL_THE_SAME)


def fleiss_kappa(codes: Codes, n_labels: int, resampling: Resampling) -> Resampled:
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
    Resampled

    Notes
    -----
    Source: Fleiss 1971, doi:10.1037/h0031619.
    """
    known = codes[(codes >= 0).all(axis=1)]
    n_judges = codes.shape[1]
    counts = label_counts(known, n_labels)
    agreed = (counts * (counts - 1)).sum(axis=1) / (n_judges * (n_judges - 1))
    columns = np.column_stack([counts, agreed, np.ones(len(known))])

    def kappa(sums: Floats) -> Floats:
        labels, pairs, n = sums[:, :-2], sums[:, -2], sums[:, -1]
        shares = labels / (n * n_judges)[:, None]
        return _beyond_chance(pairs / n, (shares**2).sum(axis=1))

    return resample(columns, kappa, resampling, _ALL_THE_SAME)


def krippendorff_alpha(
    codes: Codes, values: Floats, level: Level, resampling: Resampling
) -> Resampled:
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
    Resampled

    Notes
    -----
    Source: Krippendorff 2019, Content Analysis, 4th edition, chapter 12. The interval is of items
    drawn again, not of pairs as in his own procedure.
    """
    n_labels = len(values)
    counts = label_counts(codes, n_labels)
    counts = counts[counts.sum(axis=1) >= 2]
    sizes = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs -= counts[:, :, None] * np.eye(n_labels)
    columns = (pairs / (sizes - 1)[:, None, None]).reshape(len(counts), n_labels**2)

    def alpha(sums: Floats) -> Floats:
        coincidences = sums.reshape(-1, n_labels, n_labels)
        totals = coincidences.sum(axis=2)
        n = totals.sum(axis=1)
        apart = _distances(totals, values, level)
        observed = (coincidences * apart).sum(axis=(1, 2))
        expected = np.einsum("di,dj,dij->d", totals, totals, apart)
        return 1 - ratio((n - 1) * observed, expected)

    return resample(columns, alpha, resampling, _ALL_THE_SAME)


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


def _distances(totals: Floats, values: Floats, level: Level) -> Floats:
    if level == "nominal":
        return (1 - np.eye(len(values)))[None]
    # An ordinal label stands in the middle of its own among all labels in their order.
    places = np.cumsum(totals, axis=1) - totals / 2 if level == "ordinal" else values[None]
    return np.asarray((places[:, :, None] - places[:, None, :]) ** 2)


def _beyond_chance(agreed: Floats, by_chance: Floats) -> Floats:
    # Rounding leaves a chance of 1 a little below it, and kappa would be noise over noise.
    possible = np.where(by_chance > 1 - 1e-12, 0.0, 1 - by_chance)
    return ratio(agreed - by_chance, possible)
