"""Power and detectable differences, against statsmodels, enumeration and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, ttest_1samp
from statsmodels.stats.power import TTestPower

from evalcore.statistics import mcnemar_detectable, mcnemar_power, t_detectable, t_power


def enumerated_power(n: int, better: float, worse: float) -> float:
    """Add up the probability of every table of n pairs in which the test finds a difference."""
    same, power = 1 - better - worse, 0.0
    for b in range(n + 1):
        for c in range(not b, n + 1 - b):
            as_far = binom.pmf(b, b + c, 0.5) * (0.5 if b == c else 1)
            if binomtest(b, b + c).pvalue - as_far <= 0.05:
                ways = math.comb(n, b) * math.comb(n - b, c)
                power += ways * better**b * worse**c * same ** (n - b - c)
    return power


def test_power_is_the_probability_of_all_tables_that_count() -> None:
    cases = ((12, 0.4, 0.1), (20, 0.05, 0.3), (15, 0.5, 0.5), (18, 0.6, 0.0), (5, 0.9, 0.05))
    for n, better, worse in cases:
        found = mcnemar_power(n, better + worse, better - worse)
        assert found == pytest.approx(enumerated_power(n, better, worse), abs=1e-10)


def test_without_an_effect_the_mid_p_test_finds_no_more_than_alpha() -> None:
    for n in (10, 20, 30, 50, 100, 200, 300, 2000):
        for discordance in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7):
            assert mcnemar_power(n, discordance, 0.0) <= 0.05
    # Where all pairs differ, it errs a little more often.
    found = {n: mcnemar_power(n, 1.0, 0.0) for n in range(5, 200)}
    assert max(found.values()) == found[16] == pytest.approx(0.0768, abs=1e-4)
    assert mcnemar_detectable(100, 0.0) is None


@given(st.integers(20, 800), st.floats(0.05, 1.0))
@settings(max_examples=25, deadline=None)
def test_a_detectable_difference_has_a_power_of_80_percent(n: int, discordance: float) -> None:
    found = mcnemar_detectable(n, discordance)
    if found is None:
        assert mcnemar_power(n, discordance, discordance) < 0.8
    else:
        assert mcnemar_power(n, discordance, found) == pytest.approx(0.8, abs=1e-9)
        assert mcnemar_power(n, discordance, 0.99 * found) < 0.8


@given(st.integers(2, 400), st.floats(-2, 2))
@settings(max_examples=60, deadline=None)
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


def test_impossible_questions_are_refused() -> None:
    for n, effect in ((1, 0.5), (5, math.nan)):
        with pytest.raises(ValueError, match="enough pairs"):
            t_power(n, effect)
    with pytest.raises(ValueError, match="a power between"):
        t_detectable(18, 0.01)
