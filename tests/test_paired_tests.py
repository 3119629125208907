"""Comparisons of made-up answers, and the power of their tests, against other software."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from statsmodels.stats.power import TTestPower

from evalcore.paired_tests import Settings, compare_pairs
from ngramscan.statistics.power import mcnemar_detectable, mcnemar_power, t_detectable, t_power
from ngramscan.statistics.resampling import bootstrap_t

NAN = float("nan")


def test_values_that_cannot_be_compared() -> None:
    cases: list[Any] = [([1], [1, 0]), ([1, float("inf")], [1, 0]), ([], []), ([NAN], [1])]
    draw, chosen = np.random.default_rng(0), Settings(no_answer="exclude")
    for first, second, *problems in [*cases, ([1, 0], [1, 0], ["a"])]:
        with pytest.raises(ValueError, match=r"same shape|two finite lists of one length"):
            compare_pairs(first, second, draw, chosen, *problems)


# Power


@given(st.integers(20, 800), st.floats(0.05, 1.0))
@settings(max_examples=12)
def test_a_detectable_difference_has_a_power_of_80_percent(n: int, discordance: float) -> None:
    found = mcnemar_detectable(n, discordance)
    if found is None:
        assert mcnemar_power(n, discordance, discordance) < 0.8
    else:
        assert mcnemar_power(n, discordance, found) == pytest.approx(0.8, abs=1e-9)
        assert mcnemar_power(n, discordance, 0.99 * found) < 0.8


@given(st.integers(2, 400), st.floats(-2, 2))
@settings(max_examples=25)
def test_the_power_of_t_is_statsmodels_s(n: int, effect: float) -> None:
    theirs = TTestPower().power(abs(effect), n, 0.05)
    if not math.isnan(theirs):
        assert t_power(n, effect) == pytest.approx(theirs, abs=1e-10)


def test_the_detectable_effect_is_statsmodels_s() -> None:
    for n in (3, 18, 100, 5000):
        # Their solver stops earlier than their power is exact, so that their power is asked.
        assert TTestPower().power(t_detectable(n), n, 0.05) == pytest.approx(0.8, abs=1e-10)
    assert t_detectable(18) == pytest.approx(0.701, abs=5e-4), "as published"


def test_the_power_of_t_is_how_often_it_finds_the_effect() -> None:
    for n, effect in ((30, 0.4), (4, 6.0)):
        draws = np.random.default_rng(8).normal(effect, 1, (4000, n))
        share = np.mean(np.asarray(ttest_1samp(draws, 0, axis=1).pvalue) <= 0.05)
        assert t_power(n, effect) == pytest.approx(float(share), abs=0.025)
    assert math.isnan(TTestPower().power(3.0, 18, 0.05)), "statsmodels has no number here"
    assert t_power(18, 3.0) == pytest.approx(1.0, abs=1e-12)


def test_limits_by_bootstrap_are_within_the_largest_difference() -> None:
    treatment = np.array([1.0] * 29 + [0.2])
    found = compare_pairs(
        np.zeros(30),
        treatment,
        np.random.default_rng(0),
        Settings(graded_test="bootstrap-t", resamples=500),
    )
    limits = bootstrap_t(treatment, np.random.default_rng(0), None, 500, 0.95)[0].limits
    assert limits[1] > 1, "else nothing is cut"
    low, high = found.difference.limits
    assert (low, high) == pytest.approx((limits[0], 1.0))
