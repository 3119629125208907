"""Slopes and rank correlations over groups of observations, such as problems of one prevalence.

A group counts as one value, however many observations it has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.estimates import Estimate, no_interval
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.resampling import bootstrap_t
from ngramscan.statistics.sign_tests import sign_flip_test

Floats = NDArray[np.float64]
_NEGLIGIBLE = 1e-9
"""Relative to what it is a part of: such a remainder is a rounding error."""
_VALUES_AT_ONCE = 1_000_000


class Residuals(NamedTuple):
    """Weighted residuals of two variables given covariates, shape (groups,)."""

    x: Floats
    y: Floats
    leverage: Floats
    """Diagonal of the hat matrix of the covariates and a constant."""

    @property
    def slope(self) -> float:
        """The slope of y on x, given the covariates."""
        return float(self.x @ self.y / (self.x @ self.x))

    @property
    def kept(self) -> Floats:
        """The share of a group's error that is left in its residual; near 0, it has no other."""
        return np.asarray(1 - self.leverage - self.x**2 / (self.x @ self.x))

    @property
    def correlation(self) -> float | None:
        """The partial correlation of x and y; None: y does not vary."""
        scale = float(self.x @ self.x) * float(self.y @ self.y)
        return float(self.x @ self.y) / scale**0.5 if scale else None


def residuals(
    x: ArrayLike, y: ArrayLike, weights: ArrayLike, covariates: ArrayLike = ()
) -> Residuals | None:
    """Return what a constant and covariates leave of x and y.

    `x`, `y` and the positive `weights` have the shape (groups,), `covariates` (number, groups).
    None: they leave nothing of x, or there are fewer than three groups. The residuals are
    multiplied by the roots of the weights, so that sums of squares and products are weighted ones.
    Source: Frisch & Waugh 1933, Econometrica 1, 387-401.
    """
    root = np.sqrt(np.asarray(weights, dtype=np.float64))
    both = np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)]) * root
    given = np.vstack([np.ones(root.size), np.asarray(covariates).reshape(-1, root.size)]) * root
    # Scaled, so that no unit decides which covariates are combinations of others.
    given = given / np.maximum(np.linalg.norm(given, axis=1, keepdims=True), 1e-300)
    left, sizes, _ = np.linalg.svd(given.T, full_matrices=False)
    basis = left[:, sizes > _NEGLIGIBLE * sizes[0]]
    rest = both - both @ basis @ basis.T
    rest[np.linalg.norm(rest, axis=1) <= _NEGLIGIBLE * np.linalg.norm(both, axis=1)] = 0.0
    if root.size < 3 or not rest[0].any():
        return None
    return Residuals(rest[0], rest[1], (basis**2).sum(axis=1))


def rank_correlation(x: ArrayLike, y: ArrayLike, covariates: ArrayLike = ()) -> float | None:
    """Return Spearman's rho of groups, given the ranks of covariates; None: there is none.

    Values that are equal up to rounding errors share a mean rank.
    """
    values = np.vstack([np.atleast_2d(each) for each in (x, y, covariates) if np.size(each)])
    ranks = scipy.stats.rankdata(values.round(10), axis=1)
    found = residuals(ranks[0], ranks[1], np.ones(ranks.shape[1]), ranks[2:])
    return found.correlation if found else None


def pseudo_values(found: Residuals) -> Floats | None:
    """Return the jackknife's pseudo-values of the slope, whose mean is moved to the slope itself.

    Their variance over their number is the jackknife's variance by clusters (CV3), which is not
    too small where few groups are far from the others. None: y does not vary, or without one of
    the groups there is no slope.
    Sources: Tukey 1958, Annals of Mathematical Statistics 29, 614; MacKinnon, Nielsen & Webb 2023,
    Journal of Econometrics 232, 272-299.
    """
    if found.kept.min() <= _NEGLIGIBLE or not found.y.any():
        return None
    moved = found.x * (found.y - found.slope * found.x) / found.kept / (found.x @ found.x)
    return np.asarray(found.slope + (moved.size - 1) * (moved - moved.mean()))


def slope_test(
    found: Residuals | None,
    generator: np.random.Generator,
    is_difference: bool = False,
    draws: int = 10_000,
    level: float = 0.95,
) -> tuple[Estimate | None, PValue | None]:
    """Estimate and test a slope, if there is one; groups are resampled and permuted as a whole.

    The interval is by the bootstrap-t of pseudo-values. If y is the difference of two paired
    values, the products of residuals change sign instead of being permuted.
    docs/comparing.md has the coverage and the error rates.
    """
    if found is None:
        return None, None
    values = pseudo_values(found)
    if values is None:
        note = "no interval, no p: accuracies are equal, or but for one group the counts are"
        return no_interval(found.slope, level, note), None
    slope = bootstrap_t(values, generator, None, draws, level).estimate
    slope = replace(slope, note=slope.note.replace("problem", "group"))
    if is_difference:
        return slope, sign_flip_test(found.x * found.y, generator, draws)
    return slope, permutation_test(found, generator, draws)


def permutation_test(
    found: Residuals, generator: np.random.Generator, draws: int = 10_000
) -> PValue:
    """Test whether y has nothing to do with x, given the covariates.

    The residuals of y are permuted over the groups, and p is (r + 1) / (draws + 1), where r draws
    have a slope at least as far from zero, in standard errors. These are those of pseudo-values
    without the correction by their mean, so that a spread of y that depends on x matters little.
    There must be pseudo-values.
    Sources: Freedman & Lane 1983, doi:10.2307/1391660; DiCiccio & Romano 2017,
    doi:10.1080/01621459.2016.1202117; Phipson & Smyth 2010, doi:10.2202/1544-6115.1585.
    """
    x, n, far = found.x, found.y.size, 0
    (least,) = _distances(found.y[None], x, found.kept) * (1 - 1e-9)
    for start in range(0, draws, at_once := max(1, _VALUES_AT_ONCE // n)):
        copies = np.tile(found.y, (min(at_once, draws - start), 1))
        permuted = generator.permuted(copies, axis=1)
        far += int((_distances(permuted, x, found.kept) >= least).sum())
    p = (far + 1) / (draws + 1)
    error = float(np.sqrt(p * (1 - p) / draws))
    return PValue(p, f"permutation, {draws} draws", n, standard_error=error)


def _distances(permuted: Floats, x: Floats, kept: Floats) -> Floats:
    """Return how many standard errors the slope of each row is from zero."""
    products = permuted @ x
    rest = permuted - products[:, None] * (x / (x @ x))
    return np.asarray(np.abs(products) / np.sqrt(rest**2 @ (x / kept) ** 2))
