"""Slopes on values that are measured with noise, from a second measurement as an instrument.

Noise in x biases a slope towards zero. A second measurement of the same quantity has independent
noise, so it correlates with x and y only through that quantity. Neither its scale nor its amount of
noise matters; noise that both measurements share is not corrected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ngramscan.statistics.estimates import Estimate, no_interval, t_quantile
from ngramscan.statistics.slopes import SlopeErrors, residuals


def instrumental_slope(
    x: ArrayLike,
    y: ArrayLike,
    instrument: ArrayLike,
    covariates: ArrayLike = (),
    level: float = 0.95,
    clusters: ArrayLike | None = None,
) -> Estimate | None:
    """Estimate the slope of y on the quantity that x measures, from a second measurement of it.

    All have the shape (groups,), `covariates` (number, groups). The estimate is the slope of y on
    the instrument over that of x on it. The interval has the slopes b for which the instrument has
    no significant slope with y - b x, by Student's t with the errors of `SlopeErrors`, so that it
    holds for weak instruments, too. It may be unbounded; then there are no limits, and `note` says
    which slopes it has. Returns None if there is no slope, or if the instrument is not positively
    correlated with x.
    Source: Anderson & Rubin 1949, doi:10.1214/aoms/1177730090.
    """
    weights = np.ones(np.size(x))
    reduced = residuals(instrument, y, weights, covariates)
    first = residuals(instrument, x, weights, covariates)
    if reduced is None or first is None or first.slope <= 0:
        return None
    value = reduced.slope / first.slope
    errors = SlopeErrors(reduced, clusters)
    if not errors.is_determined:
        return no_interval(value, level, "no corrected interval: too few groups have other counts")
    t = t_quantile(level, errors.degrees)
    of_y, of_x = t * errors.sums(reduced.y), t * errors.sums(first.y)
    # (reduced - b first)^2 <= |of_y - b of_x|^2 as square b^2 - 2 middle b + constant <= 0
    square = first.slope**2 - float(of_x @ of_x)
    middle = reduced.slope * first.slope - float(of_y @ of_x)
    constant = reduced.slope**2 - float(of_y @ of_y)
    root = max(middle**2 - square * constant, 0.0) ** 0.5
    if square > 0:
        return Estimate(value, (middle - root) / square, (middle + root) / square, level)
    return no_interval(value, level, _unbounded(square, middle, root))


def _unbounded(square: float, middle: float, root: float) -> str:
    """Say which slopes an unbounded set has, in percentage points."""
    weak = "no limits of the corrected slope: the counts of the two corpora are too weakly related"
    if not square or not root:
        return f"{weak}; it may have any value"
    low, high = (100 * (middle + sign * root) / square for sign in (1, -1))
    return f"{weak}; it may have any value but those from {low:.1f} to {high:.1f} points"
