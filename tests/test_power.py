"""Power and detectable differences, against statsmodels, enumeration and simulation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, ttest_1samp
from statsmodels.stats.power import TTestPower

from evalcore.statistics import mcnemar_detectable, mcnemar_power, t_detectable, t_power


def mid_p(b: int, c: int) -> float:
    """Return the mid-p value from scipy's exact test."""
    distribution = binom(b + c, 0.5)
    as_far = distribution.pmf(b) if b == c else 2 * distribution.pmf(b)
    return float(binomtest(b, b + c).pvalue - as_far / 2)


def enumerated_power(n: int, better: float, worse: float, alpha: float) -> float:
    """Add up the probability of every table of n pairs in which the test finds a difference."""
    same, power = 1 - better - worse, 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            if b + c and mid_p(b, c) <= alpha:
                ways = math.comb(n, b) * math.comb(n - b, c)
                power += ways * better**b * worse**c * same ** (n - b - c)
    return power


@pytest.mark.parametrize(
    ("n", "better", "worse", "alpha"),
    [
        pytest.param(12, 0.4, 0.1, 0.05, id="12 pairs"),
        pytest.param(20, 0.05, 0.3, 0.05, id="a treatment that is worse"),
        pytest.param(15, 0.5, 0.5, 0.1, id="all pairs differ, no effect"),
        pytest.param(18, 0.6, 0.0, 0.0625, id="a p-value of exactly alpha counts as found"),
        pytest.param(12, 0.3, 0.3, 0.6, id="an alpha that nobody uses"),
        pytest.param(5, 0.9, 0.05, 0.05, id="so few that p never gets there"),
    ],
)
def test_power_is_the_probability_of_all_tables_that_count(
    n: int, better: float, worse: float, alpha: float
) -> None:
    found = mcnemar_power(n, better + worse, better - worse, alpha)
    assert found == pytest.approx(enumerated_power(n, better, worse, alpha), abs=1e-10)


def test_without_an_effect_the_mid_p_test_finds_no_more_than_alpha() -> None:
    for n in (10, 20, 30, 50, 100, 200, 300, 2000):
        for discordance in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7):
            assert mcnemar_power(n, discordance, 0.0) <= 0.05
    # Where all pairs differ, it errs a little more often.
    found = {n: mcnemar_power(n, 1.0, 0.0) for n in range(5, 200)}
    assert max(found.values()) == found[16] == pytest.approx(0.0768, abs=1e-4)
    assert mcnemar_power(100, 0.0, 0.0) == 0
    assert mcnemar_detectable(100, 0.0) is None


@given(st.integers(20, 800), st.floats(0.05, 1.0), st.sampled_from([0.01, 0.05]))
@settings(max_examples=25, deadline=None)
def test_a_detectable_difference_has_the_power_that_was_asked_for(
    n: int, discordance: float, alpha: float
) -> None:
    found = mcnemar_detectable(n, discordance, 0.8, alpha)
    if found is None:
        assert mcnemar_power(n, discordance, discordance, alpha) < 0.8
    else:
        assert mcnemar_power(n, discordance, found, alpha) == pytest.approx(0.8, abs=1e-9)
        assert mcnemar_power(n, discordance, 0.99 * found, alpha) < 0.8


@given(
    n=st.integers(2, 400),
    effect=st.floats(-2, 2),
    alpha=st.sampled_from([0.001, 0.01, 0.05, 0.2]),
)
@settings(max_examples=60, deadline=None)
def test_the_power_of_t_is_statsmodels_s(n: int, effect: float, alpha: float) -> None:
    theirs = TTestPower().power(abs(effect), n, alpha)
    if not math.isnan(theirs):
        assert t_power(n, effect, alpha) == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("n", [3, 18, 100, 5000])
def test_the_detectable_effect_is_statsmodels_s(n: int) -> None:
    found = t_detectable(n)
    assert t_power(n, found) == pytest.approx(0.8, abs=1e-10)
    # Their solver stops earlier than their power is exact, so that their power is asked.
    assert TTestPower().power(found, n, 0.05) == pytest.approx(0.8, abs=1e-10)
    if n == 18:
        assert found == pytest.approx(0.701, abs=5e-4), "as published"


def test_the_power_of_t_is_how_often_it_finds_the_effect() -> None:
    draws = np.random.default_rng(8).normal(0.4, 1, (4000, 30))
    share = np.mean(np.asarray(ttest_1samp(draws, 0, axis=1).pvalue) <= 0.05)
    assert t_power(30, 0.4) == pytest.approx(float(share), abs=0.025)
    assert math.isnan(TTestPower().power(3.0, 18, 0.05)), "statsmodels has no number here"
    assert t_power(18, 3.0) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (mcnemar_power, (0, 0.2, 0.1)),
        (mcnemar_power, (10, 0.2, 0.3)),
        (mcnemar_power, (10, 1.2, 0.3)),
        (mcnemar_power, (10, math.nan, 0.1)),
        (mcnemar_power, (10, 0.2, 0.1, 0.0)),
        (mcnemar_detectable, (10, 0.2, 1.0)),
        (t_power, (1, 0.5)),
        (t_power, (5, math.nan)),
        (t_detectable, (18, 0.01)),
    ],
)
def test_impossible_questions_are_refused(
    function: Callable[..., float], arguments: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="expected"):
        function(*arguments)
