"""Slopes and rank correlations over groups of observations, such as problems of one prevalence.

Each group counts as one value, whatever its number of observations. Groups may come in clusters,
which are then the independent units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported where they are first used
from numpy.typing import ArrayLike, NDArray

from ngramscan.statistics.estimates import Estimate, no_interval, t_quantile
from ngramscan.statistics.p_values import ComputedPValue
from ngramscan.statistics.sign_tests import sign_flip_test

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
_NEGLIGIBLE = 1e-9
"""Relative to what it is a part of: such a remainder is a rounding error."""
OTHERS_FOR_AN_INTERVAL = 3
"""Minimum number of groups that differ in y from all others, for an interval."""
_VALUES_AT_ONCE = 1_000_000


class Residuals(NamedTuple):
    """Weighted residuals of two variables given covariates, shape (groups,)."""

    x: Floats
    y: Floats
    basis: Floats
    """Orthonormal columns that span the covariates and a constant, shape (groups, columns)."""
    others: int
    """Groups whose y, before any adjustment, is not the most frequent one."""

    @property
    def slope(self) -> float:
        """The slope of y on x, given the covariates."""
        return float(self.x @ self.y / (self.x @ self.x))

    @property
    def one_minus_leverage(self) -> Floats:
        """1 minus the leverage of each group: the share of its error that is in its residual."""
        leverage = (self.basis**2).sum(axis=1) + self.x**2 / (self.x @ self.x)
        return np.asarray(1 - leverage)

    @property
    def correlation(self) -> float | None:
        """The partial correlation of x and y; None if y does not vary."""
        scale = float(self.x @ self.x) * float(self.y @ self.y)
        return float(self.x @ self.y) / scale**0.5 if scale else None


def residuals(
    x: ArrayLike, y: ArrayLike, weights: ArrayLike, covariates: ArrayLike = ()
) -> Residuals | None:
    """Return the residuals of x and y on a constant and covariates.

    `x`, `y` and the positive `weights` have the shape (groups,), `covariates` (number, groups).
    Returns None if x has no residual variation or there are fewer than three groups. The residuals
    are multiplied by the roots of the weights, so that their sums of squares and products are
    weighted.
    Source: Frisch & Waugh 1933, Econometrica 1, 387-401.
    """
    root = np.sqrt(np.asarray(weights, dtype=np.float64))
    data = np.stack([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)]) * root
    regressors = (
        np.vstack([np.ones(root.size), np.asarray(covariates).reshape(-1, root.size)]) * root
    )
    # Scaled, so that no unit decides which covariates are combinations of others.
    regressors = regressors / np.maximum(np.linalg.norm(regressors, axis=1, keepdims=True), 1e-300)
    directions, sizes, _ = np.linalg.svd(regressors.T, full_matrices=False)
    basis = directions[:, sizes > _NEGLIGIBLE * sizes[0]]
    unexplained = data - data @ basis @ basis.T
    unexplained[
        np.linalg.norm(unexplained, axis=1) <= _NEGLIGIBLE * np.linalg.norm(data, axis=1)
    ] = 0.0
    if root.size < 3 or not unexplained[0].any():
        return None
    _, repeated = np.unique(np.asarray(y, dtype=np.float64).round(10), return_counts=True)
    return Residuals(unexplained[0], unexplained[1], basis, root.size - int(repeated.max()))


def rank_correlation(x: ArrayLike, y: ArrayLike, covariates: ArrayLike = ()) -> float | None:
    """Return Spearman's rho of groups, given the ranks of covariates; None if undefined.

    Values that are equal up to rounding errors share a mean rank.
    """
    values = np.vstack(
        [np.atleast_2d(variable) for variable in (x, y, covariates) if np.size(variable)]
    )
    ranks = scipy.stats.rankdata(values.round(10), axis=1)
    rank_residuals = residuals(ranks[0], ranks[1], np.ones(ranks.shape[1]), ranks[2:])
    return rank_residuals.correlation if rank_residuals else None


class SlopeErrors:
    """The standard error of a slope whose clusters are independent, and its degrees of freedom.

    The variance is the cluster-robust one with a correction for leverage (CV2; HC2 if each group is
    a cluster). The degrees of freedom are Satterthwaite's for independent errors of equal variance;
    they are few where few clusters determine the slope.
    Sources: Bell & McCaffrey 2002, Survey Methodology 28, 169-181; Imbens & Kolesár 2016,
    doi:10.1162/REST_a_00552.
    """

    def __init__(self, design: Residuals, clusters: ArrayLike | None = None) -> None:
        """Take the design (its y is ignored) and the cluster of each group."""
        labels = np.arange(design.x.size) if clusters is None else np.asarray(clusters)
        names, self._numbers = np.unique(labels, return_inverse=True)
        self.clusters = names.size
        self._x = design.x / (design.x @ design.x)
        self._direction = design.x
        basis = np.column_stack([design.basis, design.x / np.linalg.norm(design.x)])
        members = np.split(np.argsort(self._numbers, kind="stable"), self._ends())
        corrected = [_corrected(self._x[groups], basis[groups]) for groups in members]
        self.is_determined = all(column is not None for column in corrected)
        """Whether there is a slope without any one of the clusters."""
        self._weights = np.zeros_like(self._x)
        for groups, weights in zip(members, corrected, strict=True):
            if weights is not None:
                self._weights[groups] = weights
        self.degrees = self._degrees(basis) if self.is_determined else 0.0

    def _ends(self) -> Indices:
        """Return where each cluster but the last ends, in the order of clusters."""
        return np.asarray(np.cumsum(np.bincount(self._numbers))[:-1])

    def sums(self, values: Floats) -> Floats:
        """Return each cluster's contribution to the slope.

        The standard error is the root of the sum of their squares.
        """
        unexplained = values - self._direction * (self._x @ values)
        return np.bincount(self._numbers, self._weights * unexplained).astype(np.float64)

    def _degrees(self, basis: Floats) -> float:
        """Return the degrees of freedom by Satterthwaite's approximation.

        The variance is a quadratic form of errors; its matrix has the eigenvalues of D - P'P, where
        D has the squared weights of clusters and P their products with the basis.
        """
        squares = np.bincount(self._numbers, self._weights**2)
        parts = [np.bincount(self._numbers, self._weights * column) for column in basis.T]
        products = np.stack(parts)
        trace = float(squares.sum() - (products**2).sum())
        crossed = float(squares @ (products**2).sum(axis=0))
        of_square = (squares @ squares) - 2 * crossed + ((products @ products.T) ** 2).sum()
        return trace**2 / float(of_square)


def _corrected(x: Floats, basis: Floats) -> Floats | None:
    """Return (I - H)^(-1/2) x of one cluster, with H = basis basis'; None if it is singular."""
    directions, sizes, _ = np.linalg.svd(basis, full_matrices=False)
    scales = 1 - sizes**2
    if scales.min() <= _NEGLIGIBLE:
        return None
    return np.asarray(x + directions @ ((scales**-0.5 - 1) * (directions.T @ x)))


def slope_test(
    design: Residuals | None,
    generator: np.random.Generator,
    is_difference: bool = False,
    draws: int = 10_000,
    level: float = 0.95,
    clusters: ArrayLike | None = None,
) -> tuple[Estimate | None, ComputedPValue | None]:
    """Estimate and test a slope, if there is one; clusters, by default the groups, are independent.

    The interval is Student's, with the errors of `SlopeErrors`. The p-value is the larger of that
    of the same t test, which holds where the spread of y depends on x, and that of a test by
    draws, which holds however y is distributed: groups are permuted, or, if y is the difference of
    two paired values or there are clusters, the products of residuals change sign by clusters.
    There is no interval if fewer than three groups have another y than all others, since it would
    be too narrow. docs/methods/comparing.md has the coverage and the error rates.
    """
    if design is None:
        return None, None
    value, errors = design.slope, SlopeErrors(design, clusters)
    unit = "group" if clusters is None else "cluster"
    if not errors.is_determined or not design.y.any():
        note = f"no interval, no p: accuracies are equal, or but for one {unit} the counts are"
        return no_interval(value, level, note), None
    if is_difference or clusters is not None:
        p = sign_flip_test(_sums_by(clusters, design.x * design.y), generator, draws)
    else:
        p = permutation_test(design, generator, draws)
    if design.others < OTHERS_FOR_AN_INTERVAL:
        fewer = f"fewer than {OTHERS_FOR_AN_INTERVAL} groups"
        note = f"no interval: {fewer} have another accuracy than all others"
        return no_interval(value, level, note), p
    error = float(np.linalg.norm(errors.sums(design.y)))
    if error <= _NEGLIGIBLE * abs(value):
        return no_interval(value, level, "no interval: accuracies are on one line"), p
    half = t_quantile(level, errors.degrees) * error
    student = _student_test(value / error, errors)
    larger = student if student.value >= p.value else p
    return Estimate(value, value - half, value + half, level), larger


def _student_test(distance: float, errors: SlopeErrors) -> ComputedPValue:
    """Test a slope by its distance from zero, in standard errors."""
    p = 2 * float(scipy.special.stdtr(errors.degrees, -abs(distance)))
    procedure = f"t, {errors.degrees:.1f} degrees of freedom"
    return ComputedPValue(p, procedure, errors.clusters)


def _sums_by(clusters: ArrayLike | None, values: Floats) -> Floats:
    """Return the sum of the values of each cluster; without clusters the values themselves."""
    if clusters is None:
        return values
    _, numbers = np.unique(np.asarray(clusters), return_inverse=True)
    return np.bincount(numbers, values).astype(np.float64)


def permutation_test(
    design: Residuals, generator: np.random.Generator, draws: int = 10_000
) -> ComputedPValue:
    """Test whether y has nothing to do with x, given the covariates.

    The residuals of y are permuted over the groups, and p is (r + 1) / (draws + 1), where r draws
    have a slope at least as far from zero, in standard errors (HC3), so that a spread of y that
    depends on x matters little. There must be a slope without any one of the groups.
    Sources: Freedman & Lane 1983, doi:10.2307/1391660; DiCiccio & Romano 2017,
    doi:10.1080/01621459.2016.1202117; Phipson & Smyth 2010, doi:10.2202/1544-6115.1585.
    """
    x, n, far = design.x, design.y.size, 0
    (least,) = _distances(design.y[None], x, design.one_minus_leverage) * (1 - 1e-9)
    for start in range(0, draws, at_once := max(1, _VALUES_AT_ONCE // n)):
        copies = np.tile(design.y, (min(at_once, draws - start), 1))
        permuted = generator.permuted(copies, axis=1)
        far += int((_distances(permuted, x, design.one_minus_leverage) >= least).sum())
    p = (far + 1) / (draws + 1)
    error = float(np.sqrt(p * (1 - p) / draws))
    return ComputedPValue(p, f"permutation, {draws} draws", n, standard_error=error)


def _distances(permuted: Floats, x: Floats, one_minus_leverage: Floats) -> Floats:
    """Return how many standard errors the slope of each row is from zero."""
    products = permuted @ x
    unexplained = permuted - products[:, None] * (x / (x @ x))
    return np.asarray(np.abs(products) / np.sqrt(unexplained**2 @ (x / one_minus_leverage) ** 2))
