"""Tests, counts and adjustments of paired answers, against scipy, statsmodels and hand counts."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests

from evalcore.statistics import Settings, compare_pairs
from ngramscan.statistics.p_values import holm
from ngramscan.statistics.proportions import (
    Pairs,
    mcnemar,
    mid_p_mcnemar,
    paired_difference,
)

NAN = float("nan")
DRAW = np.random.default_rng(0)


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


@given(better=st.integers(0, 400), worse=st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_the_exact_p_value_beside_it_is_statsmodels_and_the_binomial_test_s(
    better: int, worse: int
) -> None:
    answers = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [3, worse, better, 5], axis=0)
    found = compare_pairs(answers[:, 0], answers[:, 1], DRAW)
    theirs = statsmodels_mcnemar([[3, worse], [better, 5]], exact=True).pvalue
    assert found.p_exact == pytest.approx(theirs, rel=1e-10)
    if better + worse:
        assert found.p_exact == pytest.approx(binomtest(better, better + worse).pvalue, rel=1e-10)
    assert (found.treatment_only, found.baseline_only) == (better, worse)
    assert (found.p.value, found.p.n) == (mid_p_mcnemar(worse, better), better + worse)
    assert found.p.procedure == "mid-p McNemar"
    assert found.p.note == "no pair differs" * (not found.p.n)


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
    draw = np.random.default_rng(13)
    tables, times = np.unique(
        draw.multinomial(n, CELLS[name], size=runs), axis=0, return_counts=True
    )
    rates = dict.fromkeys(("mid", "exact", "mid disagrees", "exact disagrees"), 0.0)
    for (both, worse, better, neither), count in zip(tables.tolist(), times, strict=True):
        interval = paired_difference(Pairs(both, worse, better, neither))
        assert interval.low is not None
        assert interval.high is not None
        excludes = not interval.low <= 0 <= interval.high
        mid, exact = mid_p_mcnemar(worse, better), mcnemar(worse, better)
        for test, p in (("mid", mid), ("exact", exact)):
            rates[test] += (p <= 0.05) * count / runs
            rates[f"{test} disagrees"] += (excludes != (p <= 0.05)) * count / runs
    return rates


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("name", [name for name in CELLS if name.startswith("equal")])
def test_the_mid_p_test_errs_no_more_often_than_it_says(name: str, n: int) -> None:
    rates = simulated(name, n, runs=3000)
    # Three standard errors of the simulation.
    assert rates["exact"] <= rates["mid"] <= 0.05 + 0.012


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
    assert holm(p_values) == pytest.approx(list(theirs), abs=1e-10)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.02, None, 0.5]) == [0.04, None, 0.5], "a test that was not made is no member"
    assert holm([]) == []


@pytest.mark.parametrize("wrong", [NAN, -0.1, 1.1])
def test_what_is_no_p_value_or_no_count_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        holm([0.2, wrong, 0.1])
    with pytest.raises(ValueError, match="cannot be negative"):
        mid_p_mcnemar(-1, 3)


def test_missing_values_are_wrong_or_dropped() -> None:
    first, second = [1, NAN, 1, NAN], [NAN, 1, 1, NAN]
    found = compare_pairs(first, second, DRAW)
    assert (found.n, found.treatment_only, found.baseline_only) == (4, 1, 1)
    assert (found.baseline, found.treatment) == (0.5, 0.5)
    found = compare_pairs(first, second, DRAW, Settings(no_answer="exclude"))
    assert (found.n, found.baseline, found.treatment, found.p.note) == (1, 1, 1, "no pair differs")
    assert np.isnan(first[1]), "what was given is not changed"


def test_a_rounding_error_makes_no_value_better() -> None:
    found = compare_pairs([0.3, 0.1, 0.2], [0.1 + 0.2, 0.4, 0.1], DRAW)
    assert (found.treatment_only, found.baseline_only) == (1, 1)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (([1], [1, 0]), "same length"),
        (([1, float("inf")], [1, 0]), "infinite"),
        (([], []), "no pairs"),
        (([NAN], [1]), "no pairs"),
        (([1, 0], [1, 0], ["a"]), "same length"),
        (([[1, 0]], [[0, 1]]), "lists"),
    ],
)
def test_values_that_cannot_be_compared(values: tuple[Any, ...], problem: str) -> None:
    first, second, *problems = values
    with pytest.raises(ValueError, match=problem):
        compare_pairs(first, second, DRAW, Settings(no_answer="exclude"), *problems)
