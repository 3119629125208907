"""Tests, counts and adjustments of paired answers, against scipy, statsmodels and hand counts."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from evalcore.statistics import (
    clopper_pearson,
    compare_binary,
    holm,
    mcnemar_test,
    paired_counts,
)
from evalcore.statistics.pairing import Missing, pair
from ngramscan.proportions import Pairs, paired_difference, wilson
from ngramscan.proportions import mcnemar as exact_mcnemar

NAN = float("nan")


def mid_p(better: int, worse: int) -> Fraction:
    """Return the share of sign assignments further from equal, with half of those as far."""
    n, distance = better + worse, abs(better - worse)
    ways = {k: comb(n, k) for k in range(n + 1)}
    further = sum(way for k, way in ways.items() if abs(2 * k - n) > distance)
    as_far = sum(way for k, way in ways.items() if abs(2 * k - n) == distance)
    return Fraction(2 * further + as_far, 2 ** (n + 1))


@given(better=st.integers(0, 400), worse=st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_the_mid_p_value_counts_tables_as_far_from_equal_half(better: int, worse: int) -> None:
    found = mcnemar_test(better, worse)
    assert (found.procedure, found.n) == ("mid-p McNemar", better + worse)
    if found.n:
        assert found.value == pytest.approx(float(mid_p(better, worse)), rel=1e-10)
    else:
        assert (found.value, found.note) == (1.0, "no pair differs")


def test_the_published_example_of_the_mid_p_value() -> None:
    # Fagerland, Lydersen & Laake 2013, table 1: 1 child against 7 changed.
    assert mcnemar_test(1, 7).value == mcnemar_test(7, 1).value == 0.0390625
    assert exact_mcnemar(1, 7) == 0.0703125


@given(better=st.integers(0, 400), worse=st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_the_exact_p_value_beside_it_is_statsmodels_and_the_binomial_test_s(
    better: int, worse: int
) -> None:
    answers = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [3, worse, better, 5], axis=0)
    found = compare_binary(answers[:, 0], answers[:, 1])
    theirs = statsmodels_mcnemar([[3, worse], [better, 5]], exact=True).pvalue
    assert found.mcnemar_exact == pytest.approx(theirs, rel=1e-10)
    if better + worse:
        binomial = binomtest(better, better + worse).pvalue
        assert found.mcnemar_exact == pytest.approx(binomial, rel=1e-10)
    assert found.mcnemar.value == mcnemar_test(better, worse).value


def test_p_values_of_many_pairs_are_in_full() -> None:
    for better, worse in ((700, 560), (1500, 0)):
        found = mcnemar_test(better, worse)
        assert found.value == pytest.approx(float(mid_p(better, worse)), rel=1e-10)


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
        mid, exact = mcnemar_test(better, worse).value, exact_mcnemar(better, worse)
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


def test_mcnemar_refuses_a_negative_count() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        mcnemar_test(-1, 3)


@given(
    counts=st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    level=st.sampled_from([0.8, 0.9, 0.95, 0.99, 0.999]),
)
@settings(max_examples=60, deadline=None)
def test_intervals_of_a_share_are_statsmodels_s(counts: tuple[int, int], level: float) -> None:
    k, n = counts
    for estimate, method in (
        (clopper_pearson(k, n, level), "beta"),
        (wilson(k, n, level), "wilson"),
    ):
        theirs = proportion_confint(k, n, alpha=1 - level, method=method)
        assert (estimate.low, estimate.high) == pytest.approx(theirs, abs=1e-10)
        assert (estimate.value, estimate.level) == (k / n, level)


@pytest.mark.parametrize(("k", "n"), [(0, 0), (-1, 2), (3, 2)])
def test_clopper_and_pearson_have_no_share_of_nothing(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        clopper_pearson(k, n)


@pytest.mark.parametrize(
    ("cells", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, 2635-2650, table II, method 10: the published
        # limits to four places, of the first share minus the second.
        pytest.param((36, 12, 2, 0), 0.0569, 0.3404, id="36, 12, 2, 0"),
        pytest.param((20, 12, 2, 16), 0.0562, 0.3292, id="20, 12, 2, 16"),
        # In closed form, from Wilson's lower limit of 54 of 54: 1 - sqrt(2) z² / (54 + z²).
        pytest.param((0, 54, 0, 0), 0.90608, 1.0, id="0, 54, 0, 0"),
    ],
)
def test_newcombe_s_published_intervals(
    cells: tuple[int, int, int, int], low: float, high: float
) -> None:
    found = paired_difference(Pairs(*cells))
    assert found.low is not None
    assert found.high is not None
    assert (-found.high, -found.low) == pytest.approx((low, high), abs=6e-5)


def test_pairs_are_counted_by_who_is_right() -> None:
    counts = paired_counts([1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 1, 0])
    assert counts == Pairs(both=1, only_first=2, only_second=3, neither=1)


@pytest.mark.parametrize(
    ("baseline", "treatment", "problem"),
    [
        pytest.param([1, 0], [1], "same length", id="different lengths"),
        pytest.param([], [], "not empty", id="nothing"),
        pytest.param([1, 0.5], [1, 0], "neither 0 nor 1", id="graded values"),
        pytest.param([1, 0], [1, NAN], "neither 0 nor 1", id="a gap"),
    ],
)
def test_pairs_that_cannot_be_counted(
    baseline: list[float], treatment: list[float], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        paired_counts(baseline, treatment)


@given(st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.5, 1.0]), min_size=1, max_size=30))
@settings(max_examples=25, deadline=None)
def test_holm_is_statsmodels_s(p_values: list[float]) -> None:
    theirs = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(theirs), abs=1e-10)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_a_test_that_was_not_made_is_none_and_no_member_of_the_family() -> None:
    assert holm([0.02, None, 0.5]) == [0.04, None, 0.5]


@pytest.mark.parametrize("wrong", [NAN, -0.1, 1.1])
def test_holm_refuses_what_is_no_p_value(wrong: float) -> None:
    with pytest.raises(ValueError, match="outside 0 to 1"):
        holm([0.2, wrong, 0.1])


@pytest.mark.parametrize(
    ("missing", "baseline", "treatment", "problems"),
    [
        pytest.param("wrong", [1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 2, 3], id="a gap counts as 0"),
        pytest.param("dropped", [1], [1], [0], id="a pair with a gap is dropped"),
    ],
)
def test_missing_values_are_wrong_or_dropped(
    missing: Missing, baseline: list[float], treatment: list[float], problems: list[int]
) -> None:
    paired = pair([1, NAN, 1, NAN], [NAN, 1, 1, NAN], missing)
    assert paired.baseline.tolist() == baseline
    assert paired.treatment.tolist() == treatment
    assert paired.problems.tolist() == problems
    assert paired.missing == 3


def test_the_rows_of_a_table_are_problems() -> None:
    baseline: list[list[float]] = [[1, 0], [NAN, 1]]
    paired = pair(baseline, [[0, 0], [1, 1]], "dropped")
    assert paired.problems.tolist() == [0, 0, 1]
    assert paired.differences.tolist() == [-1, 0, 0]


def test_a_list_says_which_problem_an_answer_is_to() -> None:
    paired = pair([1, 0, 1], [0, 0, 0], problems=["p7", "p1", "p7"])
    assert paired.problems.tolist() == [1, 0, 1]


def test_a_rounding_error_makes_no_value_better() -> None:
    paired = pair([0.3, 0.1, 0.2], [0.1 + 0.2, 0.4, 0.1])
    assert (paired.better, paired.worse) == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param(([1], [1, 0]), "different shapes", id="different lengths"),
        pytest.param(([1, float("inf")], [1, 0]), "infinite", id="an infinite value"),
        pytest.param(([], []), "no pairs", id="nothing"),
        pytest.param(([NAN], [1], "dropped"), "no pairs", id="nothing is left"),
        pytest.param(([1], [1], "ignored"), "'wrong' or 'dropped'", id="an unknown rule"),
        pytest.param(([1, 0], [1, 0], "wrong", ["a"]), "one problem for each", id="few problems"),
        pytest.param(([[1]], [[0]], "wrong", [["a"]]), "plain list", id="problems of a table"),
        pytest.param((1.0, 0.0), "a row for each problem", id="no list"),
    ],
)
def test_values_that_cannot_be_paired(arguments: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        pair(*arguments)


def test_pairs_do_not_change_what_they_were_made_of() -> None:
    values = np.array([1.0, NAN])
    pair(values, values)
    assert np.isnan(values[1])
