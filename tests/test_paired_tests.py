"""Tests, counts and adjustments of paired answers, against scipy, statsmodels and hand counts."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from ngramscan.statistics.p_values import holm
from ngramscan.statistics.proportions import Pairs, mcnemar, mid_p_mcnemar, paired_difference
from tests.test_resampling import limits


def mid_p(better: int, worse: int) -> Fraction:
    """Return the share of sign assignments further from equal, with half of those as far."""
    n, distance = better + worse, abs(better - worse)
    ways = {k: comb(n, k) for k in range(n + 1)}
    further = sum(way for k, way in ways.items() if abs(2 * k - n) > distance)
    as_far = sum(way for k, way in ways.items() if abs(2 * k - n) == distance)
    return Fraction(2 * further + as_far, 2 ** (n + 1))


@given(better=st.integers(0, 400), worse=st.integers(0, 400))
@example(better=700, worse=560)
@example(better=1500, worse=0)
@settings(max_examples=60, deadline=None)
def test_the_mid_p_value_counts_tables_as_far_from_equal_half(better: int, worse: int) -> None:
    expected = float(mid_p(better, worse)) if better + worse else 1.0
    assert mid_p_mcnemar(worse, better) == pytest.approx(expected, rel=1e-10)


def test_the_published_example_of_the_mid_p_value() -> None:
    # Fagerland, Lydersen & Laake 2013, table 1: 1 child against 7 changed.
    assert mid_p_mcnemar(1, 7) == mid_p_mcnemar(7, 1) == 0.0390625
    assert mcnemar(1, 7) == 0.0703125


CELLS = {
    # both right, only the baseline, only the treatment, neither
    "equal, a tenth differ": (0.85, 0.05, 0.05, 0.05),
    "equal, a third differ": (0.35, 0.15, 0.15, 0.35),
    "equal, seven tenths differ": (0.15, 0.35, 0.35, 0.15),
    "55 % against 67 %": (0.48, 0.07, 0.19, 0.26),
    "85 % against 95 %": (0.83, 0.02, 0.12, 0.03),
    "30 % against 40 %": (0.10, 0.20, 0.30, 0.40),
}


def simulated(name: str, n: int, runs: int) -> dict[str, float]:
    """Return how often tests err or find something, and disagree with Newcombe's interval."""
    drawn = np.random.default_rng(13).multinomial(n, CELLS[name], size=runs)
    tables, times = np.unique(drawn, axis=0, return_counts=True)
    rates = dict.fromkeys(("mid", "exact", "mid disagrees", "exact disagrees"), 0.0)
    for (both, worse, better, neither), count in zip(tables.tolist(), times, strict=True):
        low, high = limits(paired_difference(Pairs(both, worse, better, neither)))
        excludes = not low <= 0 <= high
        for test, made in (("mid", mid_p_mcnemar), ("exact", mcnemar)):
            p = made(worse, better)
            rates[test] += (p <= 0.05) * count / runs
            rates[f"{test} disagrees"] += (excludes != (p <= 0.05)) * count / runs
    return rates


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("name", [name for name in CELLS if name.startswith("equal")])
def test_the_mid_p_test_errs_no_more_often_than_it_says(name: str, n: int) -> None:
    rates = simulated(name, n, runs=3000)
    assert rates["exact"] <= rates["mid"] <= 0.05 + 0.012, "three standard errors"


@pytest.mark.parametrize("name", [name for name in CELLS if not name.startswith("equal")])
def test_the_interval_rarely_contradicts_the_mid_p_test(name: str) -> None:
    rates = simulated(name, 50, runs=3000)
    assert rates["mid disagrees"] <= 0.03
    assert rates["exact disagrees"] > rates["mid disagrees"] + 0.02


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50, 100, 200])
@pytest.mark.parametrize("name", CELLS)
def test_error_and_disagreement_in_many_runs(name: str, n: int) -> None:
    rates = simulated(name, n, runs=100_000)
    if name.startswith("equal"):
        assert rates["mid"] <= 0.052
    assert rates["mid disagrees"] <= 0.025


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.5, 1.0]), min_size=1, max_size=30))
@settings(max_examples=25, deadline=None)
def test_holm_is_statsmodels_s(p_values: list[float]) -> None:
    theirs = multipletests(p_values, method="holm")[1]
    *found, not_made = holm([*p_values, None])
    assert found == pytest.approx(list(theirs), abs=1e-10)
    assert (not_made, holm([])) == (None, [])


def test_what_is_no_p_value_or_no_count_is_refused() -> None:
    for wrong in (float("nan"), -0.1, 1.1):
        with pytest.raises(ValueError, match="outside 0 to 1"):
            holm([0.2, wrong, 0.1])
    with pytest.raises(ValueError, match="cannot be negative"):
        mid_p_mcnemar(-1, 3)
