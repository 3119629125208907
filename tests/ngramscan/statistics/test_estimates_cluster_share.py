"""Shares in clusters that were drawn without replacement, against formulas written out."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from ngramscan.statistics.estimates import cluster_share

COUNTS = [3, 0, 8, 1, 4, 2, 2, 9, 1, 5, 3, 1, 2, 6]
TOTALS = [9, 2, 9, 6, 7, 5, 2, 20, 8, 6, 4, 5, 3, 7]
SIZES = [90, 40, 80, 70, 60, 50, 40, 150, 60, 70, 50, 60, 20, 80]


def test_with_equal_chances_it_is_the_ratio_of_sums() -> None:
    n, n_all, chance = len(COUNTS), 56, 0.25
    estimate = cluster_share(COUNTS, TOTALS, [1] * n, [chance] * n, n_all)
    share = sum(COUNTS) / sum(TOTALS)
    squares = [(y - share * t) ** 2 for y, t in zip(COUNTS, TOTALS, strict=True)]
    # The largest square counts three times, as in totals.
    variance = n / (n - 1) * (1 - chance) * (sum(squares) + 2 * max(squares)) / sum(TOTALS) ** 2
    log_odds = math.log(share / (1 - share))
    arm = stats.t.ppf(0.975, n - 1) * math.sqrt(variance) / (share * (1 - share))
    assert estimate.value == pytest.approx(share)
    assert estimate.limits == pytest.approx(
        (1 / (1 + math.exp(arm - log_odds)), 1 / (1 + math.exp(-arm - log_odds)))
    )
    assert estimate.note == "unreliable interval: one file makes up 19% of the estimate"


def test_clusters_that_are_certain_count_once_and_add_no_error() -> None:
    chances = [1.0 if size > 100 else 0.5 for size in SIZES]
    estimate = cluster_share(COUNTS, TOTALS, SIZES, chances, 1600)
    others = 1600 - 150
    weight = others / sum(size for size in SIZES if size < 100)
    y = [count * (weight if size < 100 else 1) for count, size in zip(COUNTS, SIZES, strict=True)]
    t = [total * (weight if size < 100 else 1) for total, size in zip(TOTALS, SIZES, strict=True)]
    assert estimate.value == pytest.approx(sum(y) / sum(t))
    larger = cluster_share([*COUNTS, 400], [*TOTALS, 1000], [*SIZES, 1], [*chances, 1.0], 1601)
    low, high = estimate.limits
    low_of_larger, high_of_larger = larger.limits
    assert high_of_larger - low_of_larger < (high - low) / 4


def test_the_limits_of_the_rest_are_the_complements() -> None:
    chances = [0.3] * len(COUNTS)
    rest = [total - count for count, total in zip(COUNTS, TOTALS, strict=True)]
    share = cluster_share(COUNTS, TOTALS, SIZES, chances, 3000, 0.99)
    other_share = cluster_share(rest, TOTALS, SIZES, chances, 3000, 0.99)
    low, high = share.limits
    assert other_share.limits == pytest.approx((1 - high, 1 - low))
    assert share.value + other_share.value == pytest.approx(1)
    assert share.level == 0.99


def test_the_variance_is_near_that_of_all_samples() -> None:
    """All samples of 11 of 14 clusters with equal chances, with their true standard deviation."""
    n = 11
    shares, half_widths = [], []
    for chosen in combinations(range(len(COUNTS)), n):
        y, t = [COUNTS[at] for at in chosen], [TOTALS[at] for at in chosen]
        estimate = cluster_share(y, t, [1] * n, [n / len(COUNTS)] * n, len(COUNTS))
        shares.append(estimate.value)
        if estimate.low is not None:
            low, high = estimate.limits
            half_widths.append((high - low) / 2 / stats.t.ppf(0.975, n - 1))
    assert len(half_widths) > len(shares) / 2
    ratio = float(np.mean(half_widths)) / float(np.std(shares))
    # The largest square counts three times, so that limits are rather too wide.
    assert 1 <= ratio <= 1.5


def test_all_clusters_are_exact() -> None:
    estimate = cluster_share([1, 0], [2, 1], [5, 5], [1.0, 1.0], 10)
    assert (estimate.value, *estimate.limits) == pytest.approx((1 / 3, 1 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("counts", "totals", "note"),
    [
        pytest.param([1] * 9, [2] * 9, "no interval: only 9 files were read", id="few files"),
        pytest.param(
            [1, 2, 3] + [0] * 11,
            TOTALS,
            "no interval: it is in 3 of 14 files, too rare for this sample",
            id="rare",
        ),
        pytest.param(
            [total - (at < 3) for at, total in enumerate(TOTALS)],
            TOTALS,
            "no interval: the rest is in 3 of 14 files, too rare for this sample",
            id="the rest is rare",
        ),
        pytest.param(
            TOTALS,
            TOTALS,
            "no interval: the counts of the files do not vary",
            id="all in one source",
        ),
    ],
)
def test_why_there_is_no_interval(counts: list[int], totals: list[int], note: str) -> None:
    n = len(counts)
    estimate = cluster_share(counts, totals, [1] * n, [0.5] * n, 2 * n)
    assert (estimate.low, estimate.high, estimate.note) == (None, None, note)


def test_one_file_that_outweighs_the_others_is_said() -> None:
    counts, totals = [*COUNTS[:-1], 60], [*TOTALS[:-1], 80]
    estimate = cluster_share(counts, totals, [1] * 14, [0.5] * 14, 28)
    assert estimate.note.startswith("unreliable interval: one file makes up ")
    assert not estimate.is_trusted


def test_counts_above_their_totals_are_refused() -> None:
    with pytest.raises(ValueError, match="no count can be larger than its total"):
        cluster_share([3], [2], [1], [0.5], 2)
