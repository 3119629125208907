"""Slopes corrected for noise: another library, brute force, and data whose slope is known."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.sandbox.regression.gmm import IV2SLS
from statsmodels.tools import add_constant

from benchmarks.levels_links import NOISES, TRUE_SLOPE, corrected
from ngramscan.statistics.instrumental_slopes import instrumental_slope
from ngramscan.statistics.slopes import SlopeErrors, residuals
from tests.support.sizes import sets


def measured(n: int, noise: float, other: float, seed: int = 3) -> tuple[Any, Any, Any]:
    """Return x and a second measurement with noise, and y, which rises by .1 with the truth."""
    random = np.random.default_rng(seed)
    true = random.normal(2, 1, n)
    y = 0.1 * true + random.normal(0, 0.1, n)
    return true + random.normal(0, noise, n), y, true + random.normal(0, other, n)


def test_the_slope_is_that_of_two_stages() -> None:
    x, y, instrument = measured(60, 0.5, 0.5)
    covariate = np.random.default_rng(1).normal(size=60)
    found = instrumental_slope(x, y, instrument, [covariate])
    assert found
    given, by = (add_constant(np.column_stack([values, covariate])) for values in (x, instrument))
    assert found.value == pytest.approx(IV2SLS(y, given, by).fit().params[1])


def test_a_slope_by_hand() -> None:
    """The counts 1, 2, 3, 6 have the mean 3; about the means Σ x2 y is 16 and Σ x2 x1 is 8."""
    x, y, instrument = [0, 4, 2, 6, 3], [0, 8, 4, 12, 6], [1, 2, 3, 6, 3]
    found = instrumental_slope(x, y, instrument)
    assert found
    assert found.value == pytest.approx(2)


@pytest.mark.parametrize("has_clusters", [False, True], ids=["groups", "clusters"])
def test_the_interval_has_the_slopes_that_the_instrument_does_not_refute(
    has_clusters: bool,
) -> None:
    x, y, instrument = measured(40, 0.6, 0.6)
    clusters = np.arange(40) // 2 if has_clusters else np.arange(40)
    found = instrumental_slope(x, y, instrument, clusters=clusters, level=0.9)
    assert found
    design = residuals(instrument, y, np.ones(40))
    assert design
    errors = SlopeErrors(design, clusters)
    grid = np.linspace(-0.5, 0.5, 4001)
    accepted = []
    for slope in grid:
        rest = y - slope * x
        distance = OLS(rest, add_constant(instrument)).fit().params[1]
        distance /= np.linalg.norm(errors.sums(rest - rest.mean()))
        if abs(distance) <= stats.t.ppf(0.95, errors.degrees):
            accepted.append(slope)
    assert found.limits == pytest.approx((min(accepted), max(accepted)), abs=3e-4)


def test_a_weak_instrument_has_no_limits_and_a_note() -> None:
    x, y, instrument = measured(25, 0.9, 6.0, seed=4)
    found = instrumental_slope(x, y, instrument)
    assert found
    assert (found.low, found.high) == (None, None)
    assert found.note.startswith(
        "no limits of the corrected slope: the counts of the two corpora are too weakly related; "
        "it may have any value"
    )


def test_an_instrument_that_falls_with_x_corrects_nothing() -> None:
    x, y, _ = measured(25, 0.3, 0.3)
    assert instrumental_slope(x, y, -x) is None
    assert instrumental_slope(x, y, np.ones(25)) is None


@pytest.mark.parametrize(("groups", "noise", "other"), NOISES[:4])
def test_noise_of_either_corpus_is_corrected(groups: int, noise: float, other: float) -> None:
    runs = sets(200)
    value, covers, _ = corrected(groups, noise, other, runs)
    assert value == pytest.approx(TRUE_SLOPE, abs=0.008)
    assert 0.93 - 3 * (0.05 * 0.95 / runs) ** 0.5 < covers


def test_noise_that_both_share_is_not_corrected() -> None:
    random = np.random.default_rng(6)
    true = random.normal(2, 1, 3000)
    shared = true + random.normal(0, 1, 3000)
    x, instrument = (shared + random.normal(0, 0.3, 3000) for _ in range(2))
    found = instrumental_slope(x, 0.1 * true, instrument)
    assert found
    assert found.value == pytest.approx(0.05, abs=0.005)
