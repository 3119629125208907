"""Comparisons of made-up answers, and the power of their tests, against other software."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, binomtest, ttest_1samp, wilcoxon
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower

from evalcore.paired_tests import DEFAULTS, Comparison, GradedTest, Settings, compare_pairs
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.p_values import PValue
from ngramscan.statistics.power import (
    mcnemar_detectable,
    mcnemar_power,
    t_detectable,
    t_power,
)
from ngramscan.statistics.proportions import Pairs, mid_p_mcnemar, paired_difference
from ngramscan.statistics.resampling import bootstrap_t
from tests.support.sizes import sets
from tests.test_resampling import graded, right_or_wrong

Floats = NDArray[np.float64]
NAN = float("nan")


def graded_scores(
    draw: np.random.Generator, problems: int, models: int, correlation: float, effect: float = 0.0
) -> tuple[Floats, Floats]:
    """Return values from 0 to 1 of two methods; the effect is in tenths."""
    values = graded(draw, problems, models, correlation, effect)
    first, second = (np.clip(0.5 + own / 10, 0, 1) for own in values)
    return first, second


def compare_models(
    baseline: Floats, treatment: Floats, draw: np.random.Generator, chosen: Settings = DEFAULTS
) -> Comparison:
    """Compare two methods of which each row has the answers of all models to one problem."""
    problems = np.repeat(np.arange(len(baseline)), baseline.shape[1])
    return compare_pairs(baseline.ravel(), treatment.ravel(), draw, chosen, problems)


def test_a_pooled_test_that_ignores_problems_errs_and_ours_do_not() -> None:
    draw, found, runs = np.random.default_rng(1), Counter[str](), sets(250)
    tests: tuple[GradedTest, ...] = ("sign-flip", "bootstrap-t", "tilting")
    for _ in range(runs):
        baseline, treatment = graded_scores(draw, 18, 5, 0.5)
        naive = float(wilcoxon((treatment - baseline).ravel(), method="approx").pvalue)
        found["naive"] += naive <= 0.05
        for test in tests:
            chosen = Settings(resamples=499, graded_test=test)
            found[test] += compare_models(baseline, treatment, draw, chosen).p.value <= 0.05
        binary = compare_models(
            *right_or_wrong(draw, 60, 5, (0.6, 0.6)), draw, Settings(resamples=99)
        )
        naive = mid_p_mcnemar(binary.treatment_only, binary.baseline_only)
        found["naive, binary"] += naive <= 0.05
        found["binary"] += binary.p.value <= 0.05
    rates = {name: count / runs for name, count in found.items()}
    assert min(rates["naive"], rates["naive, binary"]) > 0.2
    chance = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert max(rates[name] for name in (*tests, "binary")) <= 0.05 + chance
    assert min(rates["sign-flip"], rates["bootstrap-t"]) >= 0.045 - chance
    assert rates["naive"] == pytest.approx(0.25, abs=2 * chance)


@pytest.mark.parametrize("problems", [30, 50, 100])
def test_lopsided_right_and_wrong_answers_have_no_difference(problems: int) -> None:
    """A twentieth of the problems is gained by all five models, a few of the others lost."""
    draw, found, runs = np.random.default_rng(12), 0, sets(150)
    for _ in range(runs):
        gained = draw.random((problems, 1)) < 0.05
        lost = ~gained & (draw.random((problems, 5)) < 0.05 / 0.95)
        treatment = np.broadcast_to(gained, lost.shape).astype(float)
        found += compare_models(lost.astype(float), treatment, draw).p.value <= 0.05
    assert found / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_graded_answers_compared() -> None:
    baseline, treatment = np.array([[0, 3, 7, 7, NAN], [7, 5, 6, 7, 1]]) / 7
    tests = {
        test: compare_pairs(
            baseline, treatment, np.random.default_rng(0), Settings(graded_test=test)
        )
        for test in get_args(GradedTest)
    }
    found = tests["tilting"]
    assert (found.n, found.treatment_only, found.baseline_only) == (5, 3, 1)
    assert (found.baseline, found.treatment) == pytest.approx((3.4 / 7, 5.2 / 7))
    mean = BoundedMean(np.array([7, 2, -1, 0, 1]) / 7, -1, 1)
    assert found.difference.limits == pytest.approx(mean.estimate().limits)
    assert found.p.value == pytest.approx(mean.test(0.0).value)
    assert found.p.procedure == "nonparametric tilting"
    # Of the sums of 7, 2, 1 and 1 with all signs, ±11 once each and ±9 twice are as far as 9.
    assert tests["sign-flip"].p.value == pytest.approx(6 / 16)
    # Of the sums of the ranks 4, 3, 1.5 and 1.5, ±10 once each and ±7 twice are as far as 7.
    assert tests["signed-rank"].p.value == pytest.approx(6 / 16)
    assert tests["bootstrap-t"].p == found.p, "too few problems to draw"
    assert {one.difference for one in tests.values()} == {found.difference}


def test_the_answers_of_several_models_compared() -> None:
    baseline = np.array([[0, 0, 1], [1, NAN, 1], [0, 0, 0]])
    treatment = np.array([[1, 1, 1], [0, 1, 1], [0, 1, 0.0]])
    found = compare_models(baseline, treatment, np.random.default_rng(0))
    assert (found.n, found.treatment_only, found.baseline_only) == (9, 4, 1)
    assert (found.baseline, found.treatment) == pytest.approx((3 / 9, 6 / 9))
    assert found.difference.value == pytest.approx(3 / 9)
    assert found.p == BoundedMean([2, 0, 1], -1, 1, [3, 3, 3]).test(0.0)
    chosen = Settings(graded_test="sign-flip")
    flipped = compare_models(baseline, treatment, np.random.default_rng(0), chosen).p
    assert (flipped.value, flipped.n, flipped.procedure) == (0.5, 2, "exact sign flips")
    assert (found.p_exact, found.spread) == (None, None)
    chosen = Settings(no_answer="exclude")
    dropped = compare_models(baseline, treatment, np.random.default_rng(0), chosen)
    assert (dropped.n, dropped.treatment_only, dropped.baseline_only) == (8, 3, 1)


def test_graded_answers_of_several_models_are_compared_by_problem() -> None:
    draw = np.random.default_rng(6)
    baseline, treatment = graded_scores(draw, 40, 3, 0.5, 0.3)
    chosen = Settings(graded_test="bootstrap-t")
    found, drawn = (compare_models(baseline, treatment, draw, own) for own in (DEFAULTS, chosen))
    sums = (treatment - baseline).sum(axis=1)
    estimate, p = bootstrap_t(sums, np.random.default_rng(1), np.full(40, 3), draws=40_000)
    assert drawn.p.procedure == "bootstrap-t, 10000 draws"
    assert drawn.p.value == pytest.approx(p and p.value, abs=0.01)
    assert drawn.difference.limits == pytest.approx(estimate.limits, abs=0.01)
    limits = BoundedMean(sums / 3, -1, 1).estimate().limits
    assert found.difference.limits == pytest.approx(limits)


@given(better=st.integers(0, 400), worse=st.integers(0, 400))
@settings(max_examples=25)
def test_right_and_wrong_answers_have_the_p_values_of_statsmodels(better: int, worse: int) -> None:
    answers = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [3, worse, better, 5], axis=0)
    found = compare_pairs(answers[:, 0], answers[:, 1], np.random.default_rng(0))
    theirs = mcnemar([[3, worse], [better, 5]], exact=True).pvalue
    assert found.p_exact == pytest.approx(theirs, rel=1e-10)
    assert (found.treatment_only, found.baseline_only) == (better, worse)
    assert found.difference == paired_difference(Pairs(3, worse, better, 5))
    assert found.spread == pytest.approx(np.std(answers[:, 1] - answers[:, 0], ddof=1))
    note = "no pair differs" * (not better + worse)
    p = PValue(mid_p_mcnemar(worse, better), "mid-p McNemar", better + worse, note=note)
    assert found.p == p


def test_missing_values_are_not_changed_and_a_rounding_error_makes_no_value_better() -> None:
    first, draw = [1, NAN, 1, NAN], np.random.default_rng(0)
    found = compare_pairs(first, [NAN, 1, 1, NAN], draw, Settings(no_answer="exclude"))
    assert (found.n, found.baseline, found.treatment, found.p.note) == (1, 1, 1, "no pair differs")
    assert np.isnan(first[1])
    found = compare_pairs([0.3, 0.1, 0.2], [0.1 + 0.2, 0.4, 0.1], draw)
    assert (found.treatment_only, found.baseline_only) == (1, 1)


def test_values_that_cannot_be_compared() -> None:
    cases: list[Any] = [([1], [1, 0]), ([1, float("inf")], [1, 0]), ([], []), ([NAN], [1])]
    draw, chosen = np.random.default_rng(0), Settings(no_answer="exclude")
    for first, second, *problems in [*cases, ([1, 0], [1, 0], ["a"])]:
        with pytest.raises(ValueError, match=r"same shape|two finite lists of one length"):
            compare_pairs(first, second, draw, chosen, *problems)


# Power


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
    found = {n: mcnemar_power(n, 1.0, 0.0) for n in range(5, 60)}
    assert max(found.values()) == found[16] == pytest.approx(0.0768, abs=1e-4)
    assert mcnemar_detectable(100, 0.0) is None


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


def test_impossible_questions_are_refused() -> None:
    for n, effect in ((1, 0.5), (5, math.nan)):
        with pytest.raises(ValueError, match="enough pairs"):
            t_power(n, effect)
    with pytest.raises(ValueError, match="a power between"):
        t_detectable(18, 0.01)


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
