"""Limits of ranks from pairwise tests, by hand and in simulation."""

from itertools import combinations

import pytest

from benchmarks.levels_judged import rank_coverage
from ngramscan.statistics.ranks import PairTest, Rank, estimate_ranks


def ranks_of(means: list[float], p: dict[tuple[int, int], float | None]) -> list[Rank]:
    places = combinations(range(len(means)), 2)
    tests = {(i, j): PairTest(means[i] - means[j], p.get((i, j), 1.0)) for i, j in places}
    return estimate_ranks(means, tests)


def test_ranks_without_any_finding_may_be_all() -> None:
    assert ranks_of([0.5, 0.7, 0.6], {}) == [Rank(3, 1, 3), Rank(1, 1, 3), Rank(2, 1, 3)]


def test_each_finding_takes_one_place_from_both() -> None:
    found = ranks_of([0.9, 0.5, 0.4], {(0, 1): 0.01, (0, 2): 0.001})
    assert found == [Rank(1, 1, 1), Rank(2, 2, 3), Rank(3, 2, 3)]


def test_p_values_are_adjusted_for_all_pairs() -> None:
    assert ranks_of([0.9, 0.5, 0.4], {(0, 1): 0.02})[0] == Rank(1, 1, 3)
    assert ranks_of([0.9, 0.5], {(0, 1): 0.02})[0] == Rank(1, 1, 1)


def test_equal_means_share_a_rank() -> None:
    assert [rank.value for rank in ranks_of([0.5, 0.7, 0.7, 0.1], {})] == [3, 1, 1, 4]


def test_a_pair_that_was_not_tested_takes_no_place() -> None:
    assert ranks_of([0.9, 0.1], {(0, 1): None}) == [Rank(1, 1, 2), Rank(2, 1, 2)]


def test_one_mean_alone_is_the_first() -> None:
    assert estimate_ranks([0.3], {}) == [Rank(1, 1, 1)]


@pytest.mark.parametrize(
    "shares",
    [
        pytest.param([0.6] * 5, id="all equal"),
        pytest.param([0.5, 0.5, 0.6, 0.6, 0.8], id="ties and one ahead"),
    ],
)
def test_limits_cover_all_true_ranks_at_once(shares: list[float]) -> None:
    assert rank_coverage(shares, 60, sets=200) >= 0.95 - 2.5 * 0.015
