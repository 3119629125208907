"""Ratios of geometric means and chances of superiority: by hand and as scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ngramscan.statistics.estimates import geometric_mean_ratio, probability_of_superiority
from tests.support.sizes import holds, sets

COUNTS = st.lists(st.integers(0, 10**9), min_size=2, max_size=30)


def test_a_case_done_by_hand() -> None:
    # exp of the mean log: counts + 0.5 are 1, 4 and 2, so 2 over 2.
    estimate = geometric_mean_ratio([0.5, 3.5], [1.5])
    assert estimate.value == pytest.approx(1.0)
    assert (estimate.low, estimate.high) == (None, None)
    assert estimate.note == "no interval: a list has a single pattern"


@pytest.mark.parametrize("counts", [[], [-1, 2]], ids=["empty", "negative"])
def test_lists_that_are_empty_or_negative_are_refused(counts: list[float]) -> None:
    with pytest.raises(ValueError, match="not negative"):
        geometric_mean_ratio(counts, [1, 2])


def test_the_interval_is_welch_s_of_logarithms() -> None:
    one, other = [0, 3, 17, 250, 8], [4, 1, 90]
    logs = [np.log(np.array(counts) + 0.5) for counts in (one, other)]
    levels = (0.9, 0.95)
    test = stats.ttest_ind(*logs, equal_var=False)
    theirs = [np.exp(test.confidence_interval(level)) for level in levels]
    found = [geometric_mean_ratio(one, other, level).limits for level in levels]
    assert np.array(found) == pytest.approx(np.array(theirs))
    assert geometric_mean_ratio([3, 3], [5, 5]).note == "no interval: the counts do not vary"
    assert geometric_mean_ratio([3, 3], [5, 6]).low is not None


@given(COUNTS, COUNTS)
@settings(max_examples=30)
def test_superiority_is_the_mann_whitney_statistic(one: list[int], other: list[int]) -> None:
    expected = stats.mannwhitneyu(one, other).statistic / len(one) / len(other)
    assert probability_of_superiority(one, other) == pytest.approx(expected)


def test_the_interval_of_a_ratio_of_geometric_means_covers_it() -> None:
    random, covered = np.random.default_rng(20261120), []
    for _ in range(sets(400)):
        counts = np.exp(random.normal(8.0, 2.5, 27)).round()
        other_counts = np.exp(random.normal(7.0, 1.5, 8)).round()
        covered.append(holds(geometric_mean_ratio(counts, other_counts), np.e))
    assert abs(np.mean(covered) - 0.95) <= 3 * (0.95 * 0.05 / len(covered)) ** 0.5
