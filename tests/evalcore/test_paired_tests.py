"""Comparisons of made-up answers, and the power of their tests, against other software."""

import math
from collections import Counter
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multinomial
from statsmodels.stats.power import TTestPower

from evalcore.paired_tests import Comparison, GradedTest, Settings, compare_pairs
from ngramscan.statistics.bounded_means import BoundedMean
from ngramscan.statistics.power import mcnemar_detectable, mcnemar_power, t_detectable, t_power
from ngramscan.statistics.proportions import mid_p_mcnemar
from ngramscan.statistics.resampling import bootstrap_t
from tests.support.paired_answers import graded, right_or_wrong
from tests.support.sizes import sets

NAN = float("nan")


def test_values_that_cannot_be_compared() -> None:
    cases: list[Any] = [([1], [1, 0]), ([1, float("inf")], [1, 0]), ([], []), ([NAN], [1])]
    draw, chosen = np.random.default_rng(0), Settings(no_answer="exclude")
    for first, second, *problems in [*cases, ([1, 0], [1, 0], ["a"])]:
        with pytest.raises(ValueError, match=r"same shape|two finite lists of equal length"):
            compare_pairs(first, second, draw, chosen, *problems)


@pytest.mark.parametrize("models", [1, 5])
@pytest.mark.parametrize("made", ["graded", "right or wrong", "lopsided"])
def test_p_values_of_no_difference_are_small_as_rarely_as_they_say(made: str, models: int) -> None:
    """Answers of several models to a problem are no independent ones."""
    draw, runs, n, found = np.random.default_rng(1), sets(40), 60, Counter[str]()
    tests = get_args(GradedTest) if made == "graded" and models == 1 else ("tilting", "sign-flip")
    problems = np.repeat(np.arange(n), models)
    for _ in range(runs):
        if made == "graded":
            first, second = (0.5 + own / 10 for own in graded(draw, n, models, 0.5))
        elif made == "right or wrong":
            first, second = right_or_wrong(draw, n, models, (0.6, 0.6))
        else:  # a twentieth of the problems is gained by all models, a few of the others lost
            gained = draw.random((n, 1)) < 0.05
            lost = ~gained & (draw.random((n, models)) < 0.05 / 0.95)
            first, second = lost.astype(float), np.broadcast_to(gained, lost.shape).astype(float)
        first, second = (np.clip(own, 0, 1).ravel() for own in (first, second))
        for test in tests:
            chosen = Settings(resamples=199, graded_test=test)
            compared = compare_pairs(first, second, draw, chosen, problems)
            found[test] += compared.p.value <= 0.05
        naive = mid_p_mcnemar(compared.treatment_only, compared.baseline_only)
        found["naive"] += naive <= 0.05
    chance = 2.5 * math.sqrt(0.05 * 0.95 / runs)
    assert max(found[test] for test in tests) / runs <= 0.05 + chance
    if models == 5 and made == "right or wrong":
        assert found["naive"] / runs > 0.15, "otherwise the simulation shows nothing"
        assert found["sign-flip"] > 0


# Few problems that differ


def compare_repeated(n: int, gains: int, losses: int, level: float = 0.95) -> Comparison:
    """Compare two answers to each of n problems, which are always the same."""
    differences = np.repeat([1.0, -1.0, 0.0], [gains, losses, n - gains - losses])
    baseline, treatment = (np.repeat(own.clip(0), 2) for own in (-differences, differences))
    problems = np.repeat(np.arange(n), 2)
    draw = np.random.default_rng(0)
    return compare_pairs(baseline, treatment, draw, Settings(level=level), problems)


@pytest.mark.parametrize(("n", "share"), [(20, 0.1), (20, 0.2), (40, 0.1), (60, 0.05), (100, 0.05)])
def test_identical_answers_are_rejected_as_rarely_as_they_say(n: int, share: float) -> None:
    """Over all results; tilting alone rejects in .06 to .10 of them."""
    level = 0.0
    for differing in range(17):
        for gains in range(differing + 1):
            if compare_repeated(n, gains, differing - gains).p.value <= 0.05:
                probability = binom.pmf(differing, n, share) * binom.pmf(gains, differing, 0.5)
                level += float(probability)
    assert level <= 0.05


@pytest.mark.parametrize(
    ("gains", "losses"), [(1, 0), (3, 0), (4, 0), (5, 0), (5, 1), (8, 2), (16, 0), (0, 4), (3, 3)]
)
def test_identical_answers_have_at_least_mcnemar_s_p_value(gains: int, losses: int) -> None:
    compared = compare_repeated(40, gains, losses)
    assert compared.p.value >= mid_p_mcnemar(losses, gains) - 1e-12
    assert compared.p.procedure == "nonparametric tilting"


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(("gains", "losses"), [(1, 0), (3, 0), (5, 0), (6, 1), (1, 4)])
def test_intervals_of_few_differences_include_zero_if_they_are_not_found(
    gains: int, losses: int, level: float
) -> None:
    compared = compare_repeated(40, gains, losses, level)
    low, high = compared.difference.limits
    assert (low <= 0 <= high) == (compared.p.value > 1 - level)
    assert compared.difference.level == level


def test_graded_answers_that_usually_differ_keep_their_intervals() -> None:
    draw = np.random.default_rng(4)
    for _ in range(20):
        values = draw.uniform(-0.5, 0.5, 14)
        found = compare_pairs(np.full(14, 0.5), 0.5 + values, draw).difference
        tilted = BoundedMean(values, -1, 1).estimate()
        low, high = found.limits
        least, most = tilted.limits
        assert high - low <= 1.05 * (most - least)


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


def test_the_power_of_mcnemar_s_test_is_that_of_all_tables() -> None:
    n, discordance, difference = 14, 0.6, 0.35
    shares = [(discordance - difference) / 2, (discordance + difference) / 2]
    tables = [(a, b) for a in range(n + 1) for b in range(n + 1 - a) if mid_p_mcnemar(a, b) <= 0.05]
    found = [multinomial.pmf([a, b, n - a - b], n, [*shares, 1 - discordance]) for a, b in tables]
    assert mcnemar_power(n, discordance, difference) == pytest.approx(sum(found))
    assert mcnemar_power(n, 0.0, 0.0) == 0


@given(st.integers(2, 400), st.floats(-2, 2))
@settings(max_examples=25)
def test_the_power_of_t_is_statsmodels_s(n: int, effect: float) -> None:
    theirs = TTestPower().power(abs(effect), n, 0.05)
    if not math.isnan(theirs):
        assert t_power(n, effect) == pytest.approx(theirs, abs=1e-10)


def test_the_detectable_effect_is_statsmodels_s() -> None:
    # Their solver stops earlier than their power is exact, so that their power is asked.
    power = [TTestPower().power(t_detectable(n), n, 0.05) for n in (3, 18, 100, 5000, 200_000)]
    assert power == pytest.approx([0.8] * 5, abs=1e-10)
    assert t_detectable(18) == pytest.approx(0.701, abs=5e-4), "as published"


def test_the_power_of_t_is_known_where_statsmodels_has_none() -> None:
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


def test_bootstrap_draws_of_one_heavy_problem_give_way_to_tilting() -> None:
    generator, points = np.random.default_rng(2), np.ones(41)
    points[0] = 200
    baseline, treatment = generator.integers(0, 2, (2, 41)).astype(float)
    treatment[0], baseline[0] = 1.0, 0.0
    chosen = Settings(graded_test="bootstrap-t", resamples=400)
    found = compare_pairs(baseline, treatment, generator, chosen, None, points)
    assert found.p.procedure == "nonparametric tilting"
    assert found.p.value > 0.3
